"""The page of `privet plan`: how much of a noisy table would be wrong, by rounds and by epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

from privet.report.html import page
from privet.report.markup import Safe, facts, join, paragraph, table, tag
from privet.report.numerals import amount, count, decimal, percent, tables
from privet.report.plots import LINE, above, line, mark, pct, picture, shape, words
from privet.report.sections import Section

HIGH = 300  # of the plot
MEANING = (
    "Every count carries noise, and its errors add up over the table; splits of sets also drop records whose "
    "subset seems empty. The curves show all of that together, for each epsilon. More rounds tell more, and "
    "split the records thinner: where the errors are as many as the records, mostly noise is left."
)
SUPPOSED = (
    "No data was read. Which splits are chosen was drawn at random many times. How many records splits of "
    "sets drop supposes that leaves are alike and that the subsets of a node are as unequal as words are: "
    "the second half as frequent as the first, the third a third, and so on."
)


def render(found: Mapping[str, Any]) -> str:
    """The whole file, from what `privet plan` found."""
    parts = (
        Section("curve", "What an epsilon buys", curve),
        Section("plans", "Every plan", plans),
        Section("rounds", "How many rounds", rounds),
    )
    told = [(part, body) for part in parts if (body := part.body(found)) is not None]
    headline = tag(
        "header",
        paragraph("Plan of a noisy release", class_="over"),
        tag("h1", "What to expect before anything is spent"),
        facts(
            (
                ("Algorithm", str(found["algorithm"])),
                ("Epsilon of the policy", str(found["epsilon"])),
                ("Epsilon for a person", str(found["epsilon_of_a_person"])),
                ("Records supposed", count(found["records"])),
            )
        ),
    )
    return page("Plan of a noisy release", headline, told)


def curve(found: Mapping[str, Any]) -> Safe | None:
    """One curve for each epsilon, errors upwards by powers of ten, rounds to the right."""
    records = found["records"]
    points = {one: _wrong(one, records) for one in map(_Plan, tables(found["plans"])) if one.h is not None}
    if not points:
        return None
    across = sorted({one.h for one in points if one.h is not None})
    return join(
        (
            paragraph(MEANING),
            _plot(points, across, relative=records is not None),
            paragraph(SUPPOSED),
        )
    )


class _Plan:
    """One line of the plan: an epsilon, rounds, and the errors to expect."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.epsilon = str(said["epsilon"])
        h = said.get("h")
        self.h = h if isinstance(h, int) else None
        self.total = amount(said["total_error"]) or 0.0


def _wrong(one: _Plan, records: Any) -> float:
    return one.total / records if isinstance(records, int) and records else one.total


def _plot(points: Mapping[_Plan, float], across: Sequence[int], *, relative: bool) -> Safe:
    low = floor(log10(min(max(value, 1e-6) for value in points.values())))
    high = max(ceil(log10(max(max(value, 1e-6) for value in points.values()))), low + 1)

    def up(value: float) -> str:
        return f"{HIGH * (1 - (log10(max(value, 1e-6)) - low) / (high - low)):.1f}"

    def right(h: int) -> str:
        return pct(0.04 + 0.84 * (across.index(h) / max(len(across) - 1, 1)))

    parts = [above("all errors, of all records" if relative else "all errors together", 30)]
    for power in range(low, high + 1):
        y = up(10.0**power)
        name = f"{10.0 ** (power + 2):g}%" if relative else f"{10.0**power:,g}"
        parts += [line("0", y, "100%", y, "grid"), words("0", y, name, "end", dx=-8, dy=4)]
    parts += [words(right(h), str(HIGH), str(h), dy=20) for h in across]
    parts.append(words("46%", str(HIGH), "rounds (h)", dy=40))
    first, marks, ends = True, list[Safe](), list[tuple[float, str, str]]()
    for epsilon in dict.fromkeys([one.epsilon for one in points]):
        along = [(one, value) for one, value in points.items() if one.epsilon == epsilon]
        places = [(right(one.h), up(value)) for one, value in along if one.h is not None]
        parts += [line(*one, *other, "path") for one, other in pairwise(places)]
        for (one, value), (x, y) in zip(along, places, strict=True):
            shown = f"{100 * value:,.0f}% of the records" if relative else f"{value:,.0f} in all"
            tip = f"epsilon {epsilon}, h {one.h}: errors {shown}"
            marks.append(mark(tip, shape("done", x, y), first=first))
            first = False
        ends.append((float(places[-1][1]), places[-1][0], f"epsilon {epsilon}"))
    lowest = -float(LINE)
    for height, x, name in sorted(ends):  # a name that would cover the one above it gives way downwards
        lowest = max(height - 10, lowest + LINE)
        parts.append(words(x, f"{lowest:.1f}", name, "end"))
    return picture(
        "plan-plot",
        "Errors by rounds and epsilon",
        f"{len(points)} plans; the table below has the numbers.",
        *parts,
        *marks,
        height=HIGH + 48,
        class_="left taller",
    )


def plans(found: Mapping[str, Any]) -> Safe | None:
    """All numbers of every plan."""
    rows = [
        (
            str(one["epsilon"]),
            str(one.get("h", "-")),
            count(round(one["counts"])),
            decimal(one["error"]),
            percent(one.get("dropped")) or "-",
            count(round(one["total_error"])),
            f"{100 * one['noise']:,.0f}%" if "noise" in one else "-",
        )
        for one in tables(found["plans"])
    ]
    heads = ("Epsilon", "Rounds", "Counts", "Error of a count", "Dropped", "All errors", "Of the records")
    return table(heads, rows, numeric=range(1, 7), caption="Every plan") if rows else None


def rounds(found: Mapping[str, Any]) -> Safe | None:
    """The most rounds for which the errors are no more than the records."""
    suggested = found.get("suggested")
    if not isinstance(suggested, Mapping) or not suggested:
        return None
    return join(
        (
            paragraph("The most rounds for which all errors together are no more than the records:"),
            table(
                ("Epsilon", "Rounds"),
                [(str(epsilon), str(h)) for epsilon, h in suggested.items()],
                numeric=(1,),
                caption="Rounds to choose",
            ),
        )
    )
