"""The section on what less risk has cost, and how the search got there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from privet.evidence.values import Evidence, StepNote
from privet.report.markup import Safe, behind, join, label_text, paragraph, switch, table, tag
from privet.report.numerals import amount, counted, decimal, percent, risk, share
from privet.report.plots import Moment, Point, buckets, legend, scatter, timeline
from privet.report.words import refusal


def tradeoff(evidence: Evidence) -> Safe | None:
    """How far risk fell, what it cost, and how the search got there."""
    plots = switch(
        "tradeoff",
        ("Highest risk", risk_and_loss(evidence, "highest")),
        ("Average risk", risk_and_loss(evidence, "average")),
    )
    path = search_path(evidence.steps)
    if plots is None:
        return path
    told = paragraph(
        "The original data loses nothing and risks most; a table with everything hidden risks least and "
        "tells nothing. A release stands between them."
    )
    return join((told, plots, path))


def risk_and_loss(evidence: Evidence, key: str) -> Safe | None:
    found, loss = evidence.measures.risk, evidence.measures.loss
    if found is None or found.before is None or loss is None:
        return None
    old, new, lost = share(getattr(found.before, key)), share(getattr(found.after, key)), share(loss.lm)
    if old is None or new is None or lost is None:
        return None
    points = [("original data", 0.0, old, "before"), ("this release", lost, new, "after")]
    if evidence.records:
        points.append(("everything hidden", 1.0, 1 / evidence.records, "hidden"))
    rows = [(name, percent(x), risk(y)) for name, x, y, _ in points]
    return join(
        (
            scatter(
                f"tradeoff-{key}",
                [
                    Point(name, x, y, sign, f"{name}: {percent(x)} lost, {key} risk {risk(y)}")
                    for name, x, y, sign in points
                ],
                title=f"The {key} risk against information lost",
                description="Risk upwards, loss to the right, for the original data and this release.",
                upwards=f"{key} risk",
            ),
            behind(
                "As a table",
                table(
                    ("", "Lost (LM)", f"{key.capitalize()} risk"),
                    rows,
                    numeric=(1, 2),
                    caption="Risk and loss",
                ),
            ),
        )
    )


def search_path(steps: Sequence[StepNote]) -> Safe | None:
    """The staircase of scores; what was refused and why is said by each mark and in the step log."""
    if not steps:
        return None
    gains = [0.0 if refusal(step) else max(0.0, amount(step.score) or 0.0) for step in steps]
    if not any(gains):
        return None  # scores that are a secret, or none: a line along the ground
    reached = list(accumulate(gains))
    moments = []
    for group in buckets(len(steps)):
        told = "\n".join(step_tip(at, steps[at]) for at in group[:4])
        told += f"\nand {len(group) - 4} more" if len(group) > 4 else ""
        done = any(refusal(steps[at]) is None for at in group)
        moments.append(Moment(reached[group.stop - 1], done, told))
    performed = sum(refusal(step) is None for step in steps)
    refused = len(steps) - performed
    said = (
        f"{counted(performed, 'step')} gave detail back; {refused:,} {'was' if refused == 1 else 'were'} "
        "refused because a promise would break."
    )
    return join(
        (
            tag("h3", "The search, step by step"),
            paragraph(said, " Each step that was made adds its score; the step log is in the next section."),
            legend(("done", "made"), ("refused", "refused")),
            timeline("path", moments, title="Steps of the search", description=said),
        )
    )


def step_tip(at: int, step: StepNote) -> str:
    place = f"Step {at + 1:,}: {label_text(step.attribute)} “{label_text(step.label)}”"
    refused = refusal(step)
    return f"{place} {refused or 'split, score ' + (decimal(step.score) or 'not stated')}"
