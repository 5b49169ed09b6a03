"""Promises about a population in plain words; nobody can check them from a release alone."""

from __future__ import annotations

from collections.abc import Sequence

from privet.evidence.values import Promise
from privet.report.claims import Claim, Wording, in_order, shown, these
from privet.report.numerals import count, counted, fraction_percent, whole

ALONE = "This was checked with the whole population, which is not in the release. "


def k_map(promise: Promise, quasi: Sequence[str]) -> Wording:
    k, found = promise.model.get("k"), promise.achieved.get("k")
    reached = whole(found)
    told = "not stated" if reached is None else f"never fewer than {counted(reached, 'person', 'people')}"
    sentence = (
        f"Every record that is published shares {these(quasi)} with at least {count(k) or shown(k)} people "
        "of the population it was drawn from."
    )
    limits = "Finding a person's record for somebody who knows that the person is in the release."
    return Wording("k-map", quasi, (Claim(sentence, told, in_order(k, found)),), ALONE + limits)


def delta_presence(promise: Promise, quasi: Sequence[str]) -> Wording:
    model, achieved = promise.model, promise.achieved
    claims = []
    for key, word, sign in (("low", "fewer", 1), ("high", "more", -1)):
        asked, found = model.get(key), achieved.get(key)
        bound, told = fraction_percent(asked), fraction_percent(found)
        claims.append(
            Claim(
                f"Of the people who share {these(quasi)}, no {word} than {bound or shown(asked)} are in the "
                "release.",
                "not stated" if told is None else f"never {word} than {told}",
                in_order(asked, found) if sign > 0 else in_order(found, asked),
            )
        )
    limits = "Finding the record of a person who is known to be in the release."
    return Wording("Delta-presence", quasi, tuple(claims), ALONE + limits)
