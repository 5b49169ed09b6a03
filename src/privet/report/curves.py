"""Two more plots: risk against loss, and the search step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from privet.report.markup import Safe, tag
from privet.report.plots import MARKS, Axis, above, line, mark, pct, picture, shape, words

LINE = 15  # how far apart lines of small text stand


@dataclass(frozen=True, slots=True)
class Point:
    """A table somewhere between raw and empty: how much it loses, how much it risks."""

    name: str
    loss: float
    risk: float
    shape: str
    tip: str


def scatter(ident: str, points: Sequence[Point], *, title: str, description: str, upwards: str) -> Safe:
    """Risk upwards, loss to the right, the points joined in the order given."""
    axis, base = Axis.over([point.risk for point in points]), 220
    parts = [above(upwards, 30)]  # names stand just above the axis
    for place, name in axis.ticks():
        y = f"{base * (1 - place):.1f}"
        parts += [line("0", y, "100%", y, "grid"), words("0", y, name, "end", dx=-12, dy=4)]
    for step in range(5):
        parts.append(words(f"{25 * step}%", str(base), f"{25 * step}%", dy=20))
    parts.append(words("50%", str(base), "information lost (LM)", dy=40))
    places = [(pct(p.loss), f"{base * (1 - axis.at(p.risk)):.1f}") for p in points]
    for (x1, y1), (x2, y2) in pairwise(places):
        parts.append(line(x1, y1, x2, y2, "path dashed"))
    for at, (point, (x, y)) in enumerate(zip(points, places, strict=True)):
        parts.append(mark(point.tip, shape(point.shape, x, y), first=at == 0))
    parts += _names(points, base, axis)
    return picture(ident, title, description, *parts, height=base + 48, class_="left taller")


def _names(points: Sequence[Point], base: int, axis: Axis) -> list[Safe]:
    """Names beside their points, to the side that has room; a name that would cover another gives way."""
    parts: list[Safe] = []
    taken: list[tuple[bool, float]] = []  # on the left half?, height
    for point in points:
        left, y = point.loss < 0.5, base * (1 - axis.at(point.risk)) - 10
        while any(side == left and abs(y - other) < LINE for side, other in taken):
            y -= LINE
        taken.append((left, y))
        anchor, dx = ("start", 13) if left else ("end", -13)
        parts.append(words(pct(point.loss), f"{y:.1f}", point.name, anchor, dx=dx))
    return parts


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of a search, or several neighbours."""

    gained: float  # the sum of all scores so far
    performed: bool
    tip: str


def timeline(ident: str, moments: Sequence[Moment], *, title: str, description: str) -> Safe:
    """The sum of scores as a staircase; refused steps as crosses on the ground."""
    base, ground = 150, 176
    high = max((moment.gained for moment in moments), default=0) or 1
    count = len(moments)
    parts = [
        above("sum of scores"),
        line("0", "0", "100%", "0", "grid"),
        words("0", "0", f"{high:,.3g}", "end", dx=-8, dy=4),
        line("0", str(base), "100%", str(base), "axis"),
        words("0", str(base), "0", "end", dx=-8, dy=4),
        words("0", str(ground), "refused", "end", dx=-8, dy=4),
    ]
    last_y, marks = f"{base}", []
    for at, moment in enumerate(moments):
        left, middle, right = pct(at / count), pct((at + 0.5) / count), pct((at + 1) / count)
        y = f"{base * (1 - moment.gained / high):.1f}"
        parts += [
            line(left, last_y, middle, last_y, "stair"),
            line(middle, last_y, middle, y, "stair"),
            line(middle, y, right, y, "stair"),
        ]
        where = shape("done", middle, y) if moment.performed else shape("refused", middle, str(ground))
        marks.append(mark(moment.tip, where, first=at == 0))
        last_y = y
    parts += [*marks, words("50%", str(ground), "steps of the search, first to last", dy=34)]
    return picture(ident, title, description, *parts, height=ground + 42, class_="left tall")


def buckets(count: int) -> list[range]:
    """Steps that share a mark, so that a long search stays a small file.

    >>> buckets(3)
    [range(0, 1), range(1, 2), range(2, 3)]
    """
    size = max(1, -(-count // MARKS))
    return [range(at, min(at + size, count)) for at in range(0, count, size)]


def legend(*entries: tuple[str, str]) -> Safe:
    """Which shape means what."""
    return tag(
        "p",
        *(
            tag("span", tag("svg", shape(name, "50%", "50%"), class_="key", aria_hidden="true"), f" {said} ")
            for name, said in entries
        ),
        class_="legend",
    )
