"""What each promise means, in plain words: what was promised, what was found, what it does not cover.

`MODELS` says which function words which model; a room that brings a model adds its own. A model that
nobody words is shown by its parameters: `unworded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from privet.report.markup import label_text
from privet.report.numerals import count, counted, exact, fraction_percent, listing, part, whole

Promise: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """One line of a promise, and what was found when it was checked."""

    promised: str
    found: str
    kept: bool | None  # None: the evidence does not say


@dataclass(frozen=True, slots=True)
class Wording:
    """A promise for people."""

    title: str
    known: Sequence[str]  # the columns whose values somebody may know
    claims: tuple[Claim, ...]
    limits: str = ""  # what the promise does not cover


NULLS = {
    "value": (
        "A missing value counts as a value of its own: two missing values are alike and differ from "
        "every other value. This is the strict reading."
    ),
    "wildcard": (
        "A missing value was read as matching every value. This is the looser reading: a record with "
        "missing values counts towards several groups at once."
    ),
}
ROLE_NAMES = {"quasi": "quasi-identifier"}
ROLES = {
    "identifier": "names a person by itself",
    "quasi": "may name a person together with others",
    "sensitive": "must not be learnt about a person",
    "target": "what the recipient wants to predict",
    "other": "neither identifying nor protected",
}
PUBLISHED = {
    "dropped": "left out of the release",
    "unchanged": "published unchanged",
    "generalised": "published in more general values",
    "pseudonym": "published as pseudonyms: the same value gets the same invented code",
    "hash": "published as keyed digests: the same value gets the same digest",
    "mask": "published with characters masked",
    "shift": "dates published shifted, each person's by one secret distance",
}


def kept(promise: Promise) -> bool:
    """Is the promise kept, by the verdict and by every number that can be compared?"""
    return promise.get("holds") is True and all(c.kept is not False for c in wording(promise, ()).claims)


def wording(promise: Promise, quasi: Sequence[str]) -> Wording:
    """A promise in plain words; `quasi` are the columns an adversary may know."""
    return MODELS.get(str(part(promise, "model").get("type")), unworded)(promise, quasi)


def lkc(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = part(promise, "model")
    l = whole(model.get("l"))
    everything = l is not None and 0 < len(quasi) <= l
    known = these(quasi) if everything else f"up to {shown(l)} of {these(quasi)}"
    beyond = "" if everything else f"Somebody who knows more than {shown(l)} of these values. "
    return Wording(
        f"LKC-privacy with {settings(model, L='l', K='k', C='c')}",
        quasi,
        (
            size_claim(promise, f"Anybody who knows {known} finds at least"),
            *share_claims(promise, "Among the records they find,", model.get("c")),
        ),
        beyond + "Learning a sensitive value that is not named here.",
    )


def k_anonymity(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = part(promise, "model")
    return Wording(
        f"k-anonymity with {settings(model, k='k')}",
        quasi,
        (size_claim(promise, f"Anybody who knows {these(quasi)} finds at least"),),
        "Learning a sensitive value that everybody in such a group shares.",
    )


def confidence(promise: Promise, quasi: Sequence[str]) -> Wording:
    named = [str(name) for name in listing(part(promise, "model").get("quasi"))] or quasi
    return Wording(
        "Confidence bounding",
        named,
        share_claims(promise, f"Among records that agree in {these(named)},", None),
        "Finding which record is a person's: a group may have one member.",
    )


def alpha_k(promise: Promise, quasi: Sequence[str]) -> Wording:
    model = part(promise, "model")
    return Wording(
        f"(alpha, k)-anonymity with {settings(model, alpha='alpha', k='k')}",
        quasi,
        (
            size_claim(promise, f"Anybody who knows {these(quasi)} finds at least"),
            *share_claims(promise, "Among the records they find,", model.get("alpha")),
        ),
        "A rare value that is more common in one group than elsewhere, as long as it stays below its bound.",
    )


def unworded(promise: Promise, _quasi: Sequence[str]) -> Wording:
    """A model this version has no sentence for: its parameters and what was found, as they stand."""
    model = part(promise, "model")
    asked = ", ".join(f"{name} = {shown(value)}" for name, value in model.items() if name != "type")
    found = ", ".join(f"{name} = {shown(value)}" for name, value in part(promise, "achieved").items())
    holds = promise.get("holds")
    claim = Claim(asked or "no parameters", found or "not stated", holds if isinstance(holds, bool) else None)
    return Wording(str(model.get("type") or "A promise of an unknown kind"), (), (claim,))


Worder: TypeAlias = Callable[[Promise, Sequence[str]], Wording]
MODELS: dict[str, Worder] = {
    "lkc-privacy": lkc,
    "k-anonymity": k_anonymity,
    "confidence-bounding": confidence,
    "alpha-k-anonymity": alpha_k,
}


def size_claim(promise: Promise, opening: str) -> Claim:
    """How many records match what somebody knows."""
    k, found = part(promise, "model").get("k"), part(promise, "achieved").get("k")
    reached = whole(found)
    if reached is None:
        told = "not stated"
    elif reached == 0:
        told = "no records to find"
    else:
        told = f"never fewer than {counted(reached, 'record')}"
    return Claim(f"{opening} {count(k) or shown(k)} matching records.", told, in_order(k, found))


def share_claims(promise: Promise, opening: str, default: Any) -> tuple[Claim, ...]:
    """How sure somebody can become of each protected value."""
    achieved, claims = part(promise, "achieved"), []
    for attribute, value, bound in protected(part(promise, "model").get("sensitive"), default):
        if value is EVERY:
            key, have = attribute, f"any one value of “{attribute}”"
        else:
            key = f"{attribute}={'null' if value is None else value}"
            have = f"“{attribute}” = “{label_text(value)}”"
        found = achieved.get(f"c of {key}", achieved.get("c"))
        most = fraction_percent(bound) or shown(bound)
        if exact(bound) == 1:  # no share is above 1: such a bound is never looked at
            claims.append(Claim(f"{opening} any number may have {have}.", "not limited", kept=True))
            continue
        told = fraction_percent(found)
        claims.append(
            Claim(
                f"{opening} at most {most} have {have}.",
                "not stated" if told is None else f"never more than {told}",
                in_order(found, bound),
            )
        )
    return tuple(claims)


EVERY = object()


def protected(sensitive: Any, default: Any) -> Iterator[tuple[str, Any, Any]]:
    """Each protected value with its bound, from every way a policy may write it."""
    if not isinstance(sensitive, Mapping):
        yield from ((str(attribute), EVERY, default) for attribute in listing(sensitive))
        return
    for attribute, values in sensitive.items():
        if isinstance(values, Mapping):
            yield from ((str(attribute), value, bound) for value, bound in values.items())
        elif isinstance(values, (list, tuple)):
            for value in values:
                entry = value if isinstance(value, Mapping) else {"value": value}
                named = EVERY if "every" in entry else entry.get("value")  # neither: null
                yield str(attribute), named, entry.get("at_most", default)
        else:
            yield str(attribute), EVERY, default


def in_order(less: Any, more: Any) -> bool | None:
    """Is the one at most the other, exactly?"""
    first, second = exact(less), exact(more)
    return None if first is None or second is None else first <= second


def settings(model: Mapping[str, Any], **letters: str) -> str:
    """Parameters by their letters; the blanks around the sign do not break a line."""
    return ", ".join(f"{letter}\u00a0=\u00a0{shown(model.get(key))}" for letter, key in letters.items())


def refusal(step: Mapping[str, Any]) -> str | None:
    """Why a step of a search was not made; None where it was."""
    if "refused" not in step:
        return None
    return f"refused: would break {shown(step['refused'])}" if step["refused"] else "refused"


def these(names: Sequence[str]) -> str:
    """The values somebody may know; the report lists the columns beside the sentence."""
    if len(names) == 1:
        return "this value of a person"
    return f"these {len(names)} values of a person" if names else "a person's identifying values"


def shown(value: Any) -> str:
    """Whatever the evidence holds, on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{label_text(key)}: {shown(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(inner) for inner in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (Fraction, float)):
        return f"{value}"
    return "not stated" if value is None else label_text(value)
