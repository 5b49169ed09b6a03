"""What was spent: what epsilon means for a person, every payment, and columns that were bought."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp
from typing import Any

from privet.evidence.measures import Marginal
from privet.evidence.values import Evidence, Payment, Promise
from privet.report.claims import Claim, Wording, settings, shown
from privet.report.markup import Safe, behind, facts, join, label, label_text, paragraph, table, tag
from privet.report.numerals import count, decimal, exact, percent
from privet.report.plots import Bar, bars

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
BARS = 20


def differential_privacy(promise: Promise, _quasi: Sequence[str]) -> Wording:
    """The promise in plain words; nobody has checked it, and nobody can."""
    model, achieved = promise.model, promise.achieved
    return Wording(
        f"Differential privacy with {settings(model, epsilon='epsilon')}",
        (),
        (
            Claim(
                "Whatever anybody concludes from this release is about as likely whether or not any one "
                f"record was in the data: at most {times(model.get('epsilon'))} times as likely.",
                f"paid with an epsilon of {shown(achieved.get('epsilon'))}, as the ledger below lists; "
                "made so, not checked",
                None,
            ),
        ),
        "Learning what is true of people in general, such as that smoking makes ill, and applying it.",
    )


def times(epsilon: Any) -> str:
    """exp(epsilon), as people read it.

    >>> times("1/2"), times(1), times(40)
    ('1.65', '2.72', 'more than a million')
    """
    found = exact(epsilon)
    if found is None:
        return "an unknown number of"
    factor = exp(min(float(found), 700.0))
    return (
        "more than a million" if factor > 10**6 else f"{factor:,.3g}" if factor < 1000 else f"{factor:,.0f}"
    )


def most_sure(prior: Fraction, epsilon: Fraction) -> float:
    """How sure somebody can become who thought so before: Bayes, at the worst.

    >>> round(most_sure(Fraction(1, 2), Fraction(1)), 3)
    0.731
    """
    odds = float(prior / (1 - prior)) * exp(min(float(epsilon), 700.0))
    return odds / (1 + odds)


def spent(evidence: Evidence) -> Safe | None:
    """What epsilon means for a person, and where it went."""
    paid, counts = evidence.ledger, evidence.measures.counts
    if paid is None:
        return None
    person, several = exact(paid.person_epsilon) or Fraction(0), paid.records_per_person
    return join(
        (
            paragraph(
                "Noise was added before anything left, so that nobody can tell from this release whether a "
                "given person was in the data at all. Whoever wonders about something that concerns one "
                "person, whatever else they know, can become at most this sure by looking at it:"
            ),
            table(
                ("Somebody who was so sure before", "can be at most so sure after"),
                [(percent(float(p)) or "", percent(most_sure(p, person)) or "") for p in PRIORS],
                caption="How sure somebody can become about one person",
            ),
            paragraph(
                f"This counts with up to {several:,} records for a person: {shown(paid.epsilon)} for "
                f"each, {shown(paid.person_epsilon)} for all of them."
            )
            if several > 1
            else None,
            paragraph(
                "Nobody can check this from the data: it is a property of how the data was made. What can be "
                "checked is that the payments below add up, and that the data keeps to values that were "
                "public before."
            ),
            facts(
                (
                    ("Epsilon for one record", shown(paid.epsilon)),
                    ("Epsilon for a person", shown(paid.person_epsilon)),
                    ("Spent", shown(paid.spent)),
                    ("Noise from", shown(paid.noise)),
                    ("Data set in the ledger", shown(paid.dataset)),
                    ("Release in the ledger", shown(paid.release)),
                    ("Counts published", None if counts is None else count(counts.cells)),
                    ("A count is off on average by", None if counts is None else decimal(counts.error)),
                )
            ),
            _payments(paid.spends),
        )
    )


def _payments(spends: Sequence[Payment]) -> Safe | None:
    rows = [
        (f"{at:,}", shown(s.purpose), shown(s.mechanism), shown(s.epsilon)) for at, s in enumerate(spends, 1)
    ]
    if not rows:
        return None
    return behind(
        f"Every payment: {len(rows):,}",
        paragraph("Each was written to the ledger before its noise was drawn."),
        table(("", "For", "By", "Epsilon"), rows, numeric=(0, 3), caption="Payments from the ledger"),
    )


def marginals(evidence: Evidence) -> Safe | None:
    """Columns by themselves, where they were bought: more exact than adding the counts up."""
    found = evidence.measures.marginals or {}
    cards = [card for name, one in found.items() if (card := _card(name, one)) is not None]
    if not cards:
        return None
    return join(
        (
            paragraph(
                "A part of epsilon bought the number of records with each value, column by column. These "
                "carry noise too: small ones may be off by much, and one below zero is only noise."
            ),
            tag("div", join(cards), class_="grid"),
        )
    )


def _card(name: str, found: Marginal) -> Safe | None:
    known = found.distribution
    if not known:
        return None
    high = max(1, *(number for _, number in known))
    rows = [
        Bar(label_text(value), max(0, number) / high, f"{number:,}", f"{label_text(value)}: about {number:,}")
        for value, number in known[:BARS]
    ]
    more = len(known) - BARS
    return tag(
        "article",
        tag("h3", label(name)),
        bars(rows, name=f"{label_text(name)}, with noise"),
        paragraph(f"{more:,} more in evidence.json.") if more > 0 else None,
        class_="card",
    )
