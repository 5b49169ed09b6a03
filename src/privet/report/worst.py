"""The section on what the worst class gives away, whatever was promised."""

from __future__ import annotations

from collections.abc import Mapping

from privet.evidence.measures import WorstClass
from privet.evidence.values import Evidence
from privet.report.markup import Safe, join, label, paragraph, table, tag
from privet.report.numerals import decimal

FIGURES = (
    ("distinct_l", "Distinct l", "values that the class with the fewest has"),
    ("entropy_l", "Entropy l", "values that are as uncertain as those of its surest class"),
    (
        "recursive_c",
        "Recursive c",
        "for l = 2: how much the first value outweighs all others; none: a class has one",
    ),
    ("variational", "Variational t", "share of a class that would have to change to be like the whole table"),
    ("kl", "KL t, nats", "divergence from the whole table, natural logarithm"),
    ("ordered", "Ordered t", "earth mover's distance from the whole table, for numbers"),
)


def worst(evidence: Evidence) -> Safe | None:
    """A column for each sensitive attribute, a row for each measure."""
    found = evidence.measures.worst_classes
    return gives_away(found) if found else None


def gives_away(found: Mapping[str, WorstClass]) -> Safe:
    """By sensitive attribute."""
    rows = [
        (
            join((name, tag("br"), tag("small", meaning))),
            *(decimal(getattr(one, key)) or "none" for one in found.values()),
        )
        for key, name, meaning in FIGURES
        if any(key in one for one in found.values())
    ]
    return join(
        (
            paragraph(
                "For each sensitive column the class that gives away most, by measures that a promise could "
                "be about, whether one was made or not. Only the promises above are kept on purpose."
            ),
            table(
                ("", *(label(name) for name in found)),
                rows,
                numeric=range(1, len(found) + 1),
                caption="What the worst class gives away",
            ),
        )
    )
