"""The sentences that words are made of: one claim of a promise, and what was found when it was checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.evidence.values import Promise
from privet.report.markup import label_text
from privet.report.numerals import count, counted, decimal, exact, fraction_percent, listing, whole


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


def size_claim(promise: Promise, opening: str) -> Claim:
    """How many records match what somebody knows."""
    k, found = promise.model.get("k"), promise.achieved.get("k")
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
    achieved, claims = promise.achieved, []
    for attribute, value, bound in protected(promise.model.get("sensitive"), default):
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


def figure(value: Any) -> str:
    """A number for people, and the fraction that is meant where that is not the same.

    >>> figure("1/5"), figure("3/7"), figure(3), figure("1889881/1000000")
    ('0.2', '0.4286 (exactly 3/7)', '3', '1.89')
    """
    found, text = exact(value), decimal(value)
    if found is None or text is None:
        return shown(value)
    same = exact(text.replace(",", "")) == found or 10**6 % found.denominator == 0
    return text if same else f"{text} (exactly {found})"


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
