"""The section on what the worst class gives away, whatever was promised."""

from __future__ import annotations

from privet.report.markup import Safe, join, label, paragraph, table, tag
from privet.report.numerals import decimal, part
from privet.report.sections import Evidence

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
    found = part(evidence, "measures", "worst_classes")
    if not found:
        return None
    rows = [
        (
            join((name, tag("br"), tag("small", meaning))),
            *(decimal(part(found, attribute).get(key)) or "none" for attribute in found),
        )
        for key, name, meaning in FIGURES
        if any(key in part(found, attribute) for attribute in found)
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
