"""Promises about sets in plain words: known items, and rules that nobody finds."""

from __future__ import annotations

from collections.abc import Sequence

from privet.evidence.values import Promise
from privet.report.claims import Claim, Wording, size_claim
from privet.report.numerals import count, exact, fraction_percent, listing


def known_items(promise: Promise, quasi: Sequence[str]) -> Wording:
    """km-anonymity."""
    m = count(promise.model.get("m")) or "?"
    beside = f" and {', '.join(f'“{name}”' for name in quasi)}" if quasi else ""
    return Wording(
        f"km-anonymity with m = {m}, k = {count(promise.model.get('k')) or '?'}",
        quasi,
        (size_claim(promise, f"Anybody who knows up to {m} items of a person{beside} finds at least"),),
        "Somebody who knows more items than that, or that a person does not have one; learning an item that "
        "all matching records share.",
    )


def hidden_rule(promise: Promise, quasi: Sequence[str]) -> Wording:
    """A rule that is not seen."""
    del quasi
    model, achieved = promise.model, promise.achieved
    left = ", ".join(str(item) for item in listing(model.get("antecedent")))
    right = ", ".join(str(item) for item in listing(model.get("consequent")) or listing(model.get("itemset")))
    named = f"{left} ⇒ {right}" if left else right
    asked = exact(model.get("support"))
    least = (
        f"{asked} records"
        if asked is not None and asked >= 1
        else f"{fraction_percent(asked)} of the records"
    )
    share = fraction_percent(model.get("confidence"))
    sure = "" if share is None else f" and a confidence of {share}"
    found = f"support {count(achieved.get('support')) or '?'}"
    if "confidence" in achieved:
        found += f", confidence {fraction_percent(achieved.get('confidence')) or '?'}"
    return Wording(
        "A hidden rule" if left else "A hidden itemset",
        (),
        (
            Claim(
                f"Whoever mines with a support of {least}{sure}, or more, does not find: {named}.",
                found,
                promise.holds,
            ),
        ),
        "Mining with lower thresholds, or suspecting what stands just below them.",
    )
