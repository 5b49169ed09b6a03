"""Sweeps as people read them: tables, sentences and charts made of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from bench.curves import Chart, Series
from bench.outcome import Cell, Table

Points: TypeAlias = list[tuple[float, float | None]]  # None: no table can keep that promise
Curves: TypeAlias = Mapping[str, Points]


def reached(curves: Curves, *names: str) -> list[float]:
    """Everything that these curves reach."""
    return [y for name in names for _, y in curves[name] if y is not None]


def spread(shares: Sequence[float]) -> str:
    """
    >>> spread([0.16, 0.154]), spread([0.2]), spread([])
    ('15.4 to 16.0', '20.0', '-')
    """
    if not shares:
        return "-"
    low, high = f"{min(shares) * 100:.1f}", f"{max(shares) * 100:.1f}"
    return low if low == high else f"{low} to {high}"


def gaps(baseline: Points, curves: Curves) -> str:
    """How much higher the baseline lies."""
    found = [
        high - low
        for points in curves.values()
        for (_, low), (_, high) in zip(points, baseline, strict=True)
        if low is not None and high is not None
    ]
    return f"{min(found):.3f} to {max(found):.3f}" if found else "-"


def beside(
    said: Mapping[str, Mapping[float, float]], ours: Curves, columns: Curves, place: str
) -> list[list[Cell]]:
    """Our DR beside the one that was found elsewhere, wherever there is one."""
    return [
        [name, f"{place} {x:g}", mine, other, said[name][x]]
        for name, curve in ours.items()
        for (x, mine), (_, other) in zip(curve, columns[name], strict=True)
        if x in said.get(name, {})
    ]


def agreement(compared: Sequence[Sequence[Cell]]) -> str:
    """How the rows of `beside` relate, in a sentence."""
    found = [(mine, other, said) for _, _, mine, other, said in compared]
    equal = sum(isinstance(other, float) and round(other, 3) == said for _, other, said in found)
    pairs = [
        (mine, other) for mine, other, _ in found if isinstance(mine, float) and isinstance(other, float)
    ]
    lower, higher = sum(mine < other for mine, other in pairs), sum(mine > other for mine, other in pairs)
    return (
        f"With ties broken by column, {equal} of {len(found)} values agree with the spec to the third digit. "
        "privet prefers the larger reduction of the cost (spec 01, 3.10), and its DR is lower in "
        f"{lower} of them, higher in {higher}."
    )


def binding(along_c: Curves) -> dict[str, Points]:
    """Without C = 100 %, which bounds nothing and is far away."""
    return {name: [point for point in points if point[0] < 100] for name, points in along_c.items()}


def grid(title: str, across: str, curves: Curves, form: str) -> Table:
    """One line for each x, one column for each curve."""
    xs = [x for x, _ in next(iter(curves.values()))]
    cells = {name: ["infeasible" if y is None else y for _, y in points] for name, points in curves.items()}
    rows: list[list[Cell]] = [[x, *(column[at] for column in cells.values())] for at, x in enumerate(xs)]
    return Table(title, {across: "g", **dict.fromkeys(cells, form)}, rows)


def infeasible(curves: Curves) -> str:
    """Which bounds no table of these records can keep."""
    below = sorted({x for points in curves.values() for x, y in points if y is None})
    shown = ", ".join(f"{x:g} %" for x in below) or "none here"
    return f"Infeasible at C = {shown}: 13.92 % of Adult is Divorced, however general the table."


def error_chart(title: str, x: str, curves: Curves, be: float, ue: float) -> Chart:
    xs = [x for x, _ in next(iter(curves.values()))]
    flat = {"UE": ue, "BE": be}
    return Chart(
        title,
        x,
        "error, %",
        [
            *(Series(name, [(at, y and y * 100) for at, y in points]) for name, points in curves.items()),
            *(
                Series(name, [(at, y * 100) for at in (xs[0], xs[-1])], dashed=True)
                for name, y in flat.items()
            ),
        ],
        from_nought=False,
    )


def ratio_chart(title: str, x: str, curves: Curves, dashed: Curves) -> Chart:
    return Chart(
        title,
        x,
        "DR",
        [
            *(Series(name, points) for name, points in curves.items()),
            *(Series(name, points, dashed=True) for name, points in dashed.items()),
        ],
    )
