"""The section on how many columns identify: what that many must cost, and what it did."""

from __future__ import annotations

from collections.abc import Sequence

from privet.evidence.measures import Width
from privet.evidence.values import Evidence
from privet.report.markup import Safe, join, paragraph, switch
from privet.report.numerals import count, percent
from privet.report.plots import Bar, bars


def dimensions(evidence: Evidence) -> Safe | None:
    """How wide values must become, by the number of identifying columns."""
    found = evidence.measures.dimensionality
    return None if found is None else widths(found)


def widths(found: Width, tried: Sequence[float] = ()) -> Safe:
    """What is expected of so many columns; `tried`: what was found in the table itself."""
    rows = [
        Bar(
            f"{at} column{'s' if at > 1 else ''}",
            width,
            percent(width) or "",
            f"With {at} identifying columns about {percent(width)} of every range is expected",
        )
        for at, width in enumerate(found.expected, start=1)
    ]
    observed = percent(found.observed)
    here = [
        Bar(
            f"{at} column{'s' if at > 1 else ''}",
            width,
            percent(width) or "",
            f"{at}: {percent(width)} covered",
        )
        for at, width in enumerate(tried, start=1)
    ]
    return join(
        (
            paragraph(
                "The more columns identify, the wider each value must be before "
                f"{count(found.k)} people share all of them. This is how much of every "
                "range a value would cover if people were spread evenly; they never are, so it is a guide "
                "and no bound."
            ),
            switch(
                "widths",
                ("Expected", bars(rows, name="Expected width by number of identifying columns")),
                ("In this table", bars(here, name="Width in this table by columns") if here else None),
            ),
            paragraph(f"In this release values cover {observed} of their ranges on average (NCP).")
            if observed
            else None,
            paragraph(
                "That is more than half: so many identifying columns leave little. Fewer would keep more.",
                class_="warn",
            )
            if found.too_wide
            else None,
        )
    )
