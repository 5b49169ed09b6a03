"""Plots as SVG that keep their text at one size on paper, desk and phone.

Places along a plot are percentages of its width, so nothing is scaled: the browser stretches the
plot and leaves the letters alone. Each mark carries its exact numbers as a title, which hover.js shows
at once and which a browser without scripts shows by itself. Meaning never hangs on colour alone:
before and after, performed and refused differ in shape too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from privet.report.markup import Content, Safe, join, tag

LINE = 15  # how far apart lines of small text stand
MARKS = 160  # marks along one timeline; neighbours share one beyond that


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a bar chart."""

    label: str
    share: float  # of the full width
    shown: str  # the number at its end
    tip: str


def pct(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def bars(rows: Iterable[Bar], *, name: str, tone: str = "count") -> Safe:
    """Horizontal bars; on a narrow screen the name stands above its bar."""
    lines = [
        tag(
            "li",
            tag("span", row.label, class_="name"),
            tag(
                "svg",
                tag("rect", width="100%", height="100%", class_="track"),
                tag("rect", width=pct(max(0.0, min(1.0, row.share))), height="100%", class_="fill"),
                class_="bar",
                aria_hidden="true",
            ),
            tag("span", row.shown, class_="number"),
            class_="mark",
            tabindex=-1 if at else 0,
            title=row.tip,
        )
        for at, row in enumerate(rows)
    ]
    return tag("ul", join(lines), class_=f"bars {tone}", aria_label=name)


def picture(ident: str, title: str, description: str, *children: Content, height: int, class_: str) -> Safe:
    """An SVG with what it shows in words."""
    return tag(
        "div",
        tag(
            "svg",
            tag("title", title, id=f"{ident}-title"),
            tag("desc", description, id=f"{ident}-desc"),
            *children,
            width="100%",
            height=height,
            role="group",
            aria_labelledby=f"{ident}-title {ident}-desc",
        ),
        class_=f"plot {class_}",
    )


def mark(tip: str, *shapes: Content, first: bool, class_: str = "") -> Safe:
    """Something with a number behind it: hovered, focused, read aloud."""
    return tag(
        "g",
        tag("title", tip),
        *shapes,
        class_=f"mark {class_}".strip(),
        tabindex=0 if first else -1,
        role="img",
    )


def line(x1: str, y1: str, x2: str, y2: str, class_: str) -> Safe:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def words(x: str, y: str, said: str, anchor: str = "middle", *, dx: int = 0, dy: int = 0) -> Safe:
    return tag("text", said, x=x, y=y, dx=dx, dy=dy, text_anchor=anchor)


def above(said: str, lift: int = 14) -> Safe:
    """What an axis at the left counts, above its end."""
    return words("0", "0", said, "start", dx=-8, dy=-lift)


SHAPES = {
    "before": tag("circle", r=6, class_="before"),
    "after": tag("path", d="M0-8 8 0 0 8-8 0Z", class_="after"),
    "hidden": tag("rect", x=-5, y=-5, width=10, height=10, class_="hidden"),
    "done": tag("circle", r=4, class_="after"),
    "unseen": Safe(""),  # a number to hover over, where a shape would hide its neighbours
    "refused": tag("path", d="M-4-4 4 4M-4 4 4-4", class_="refused"),
}


def shape(name: str, x: str, y: str) -> Safe:
    """A shape at a place given in percent."""
    reach = tag("rect", x=-11, y=-11, width=22, height=22, class_="reach")  # easier to hit
    return tag("svg", reach, SHAPES[name], x=x, y=y, class_="at")


FEW_TICKS = 5  # whose names stand side by side on the narrowest screen


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a share from 0 to 1 stands: by powers of ten where the smallest would vanish."""

    low: int  # the power of ten at the lower end; 0: an even axis from 0 to 1
    zero: bool  # is there a place for 0 below the lowest power?

    @classmethod
    def over(cls, values: Iterable[float]) -> Axis:
        """The axis that shows all of these.

        >>> Axis.over([1.0, 0.002, 0.0]), Axis.over([0.5, 0.9])
        (Axis(low=-3, zero=True), Axis(low=0, zero=False))
        """
        known = list(values)
        smallest = min((value for value in known if value > 0), default=1.0)
        if smallest >= 0.05:
            return cls(0, zero=False)
        return cls(math.floor(math.log10(smallest) + 1e-9), zero=0 in known)

    def at(self, value: float) -> float:
        if self.low == 0:
            return value
        if value <= 0:
            return 0.0
        start = 0.1 if self.zero else 0.0
        return start + (1 - start) * max(0.0, 1 - math.log10(value) / self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and names."""
        if self.low == 0:
            return [(step / 4, f"{25 * step}%") for step in range(5)]
        every = -(-abs(self.low) // 5)
        named = [(self.at(10.0**power), power_name(power)) for power in range(0, self.low - 1, -every)]
        return [*([(0.0, "0")] if self.zero else []), *reversed(named)]


def power_name(power: int) -> str:
    """A power of ten as a reader of percentages says it.

    >>> power_name(0), power_name(-3), power_name(-7)
    ('100%', '0.1%', '1 in 10M')
    """
    if power >= -6:
        return f"{100 * 10.0**power:.{max(0, -power - 2)}f}%"
    return f"1 in {10 ** (-power) // 10**6:,}M"


@dataclass(frozen=True, slots=True)
class Pair:
    """A number before and after."""

    label: str
    before: float
    after: float
    shown: str  # both numbers
    tips: tuple[str, str]


def dumbbells(ident: str, pairs: Sequence[Pair], *, title: str, description: str) -> Safe:
    """Before and after on one axis, a line between them."""
    axis = Axis.over([value for pair in pairs for value in (pair.before, pair.after)])
    row, top = 58, 26
    bottom = top + row * len(pairs)
    parts = []
    ticks = axis.ticks()
    for at, (place, name) in enumerate(ticks):
        said = words(pct(place), str(bottom), name, dy=16)
        if at > 0 and (len(ticks) - at) % 2 == 0 and len(ticks) > FEW_TICKS:
            said = tag("g", said, class_="spare")  # a narrow screen has no room for it
        parts += [line(pct(place), "12", pct(place), str(bottom), "grid"), said]
    for at, pair in enumerate(pairs):
        y = str(top + row * at + 28)
        a, b = pct(axis.at(pair.before)), pct(axis.at(pair.after))
        parts += [
            tag(
                "text",
                pair.label,
                tag("tspan", pair.shown, dx=8),
                x=0,
                y=y,
                dy=-18,
                class_="title",
            ),
            line(a, y, b, y, "path"),
            mark(pair.tips[0], shape("before", a, y), first=at == 0),
            mark(pair.tips[1], shape("after", b, y), first=False),
        ]
    return picture(ident, title, description, *parts, height=bottom + 26, class_="wide")


@dataclass(frozen=True, slots=True)
class Bin:
    """A column of a histogram: from, up to but not including, how high, what it says."""

    start: str
    end: str
    height: float
    tip: str


def rungs(high: float) -> list[int]:
    """Round numbers from 0 to the first that is no less than `high`, for counts.

    >>> rungs(75), rungs(2), rungs(0), rungs(1189)
    ([0, 20, 40, 60, 80], [0, 1, 2], [0, 1], [0, 500, 1000, 1500])
    """
    step = next(m * 10**power for power in range(400) for m in (1, 2, 5) if 4 * m * 10**power >= max(high, 1))
    return list(range(0, step * max(1, math.ceil(high / step)) + 1, step))


def histogram(
    ident: str, bins: Sequence[Bin], *, title: str, description: str, across: str, upwards: str
) -> Safe:
    """Columns side by side, their bounds below, what is counted at the left."""
    steps = rungs(max((bin_.height for bin_ in bins), default=0))
    high, width, base = steps[-1], 1 / len(bins), 180
    every = -(-len(bins) // 11)
    parts = [above(upwards)]
    for step in steps:
        y = f"{base * (1 - step / high):.1f}"
        parts += [line("0", y, "100%", y, "grid"), words("0", y, f"{step:,}", "end", dx=-8, dy=4)]
    for at, bin_ in enumerate(bins):
        tall = max(2.0 if bin_.height else 0.0, base * bin_.height / high)
        x = pct(width * at)
        column = tag(
            "rect", x=x, y=f"{base - tall:.1f}", width=pct(width), height=f"{tall:.1f}", class_="fill column"
        )
        reach = tag("rect", x=x, y=0, width=pct(width), height=base, class_="reach")
        parts.append(mark(bin_.tip, reach, column, first=at == 0))
        if at % every == 0:
            parts.append(words(x, str(base), bin_.start, dy=18))
    parts += [
        line("0", str(base), "100%", str(base), "axis"),
        words("100%", str(base), bins[-1].end, dy=18) if len(bins) % every == 0 else Safe(""),
        words("50%", str(base), across, dy=38),
    ]
    return picture(ident, title, description, *parts, height=base + 46, class_="left tall")


# Risk against loss, and the search step by step.


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
