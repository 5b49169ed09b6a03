"""Curves as SVG that stands alone: no script, no network, a tooltip on every point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 44, 52  # margins; the legend stands on the right
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")  # Okabe and Ito
TICKS = 6
CROSS = "\u00d7"  # a multiplication sign


@dataclass(frozen=True, slots=True)
class Series:
    """Points in the order of x; a y of None is a point that cannot be reached, and is marked so."""

    name: str
    points: Sequence[tuple[float, float | None]]
    dashed: bool = False
    colour: int | None = None  # where two curves belong together; else the next one


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    x: str
    y: str
    series: Sequence[Series]
    logarithmic: bool = False  # both axes
    from_nought: bool = True  # else the axis begins below the lowest point


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a number stands, in pixels."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, number: float) -> float:
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(number) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def _scaled(self, number: float) -> float:
        return math.log10(number) if self.logarithmic else number

    def ticks(self) -> list[float]:
        """Round numbers, or 1, 2 and 5 times the powers of ten.

        >>> Axis(0, 100, 0, 1).ticks()
        [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        >>> Axis(1, 30, 0, 1, logarithmic=True).ticks()
        [1.0, 2.0, 5.0, 10.0, 20.0]
        """
        if self.logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            every = [step * 10.0**power for power in powers for step in (1, 2, 5)]
            return [tick for tick in every if self.low <= tick <= self.high]
        step = _round_step((self.high - self.low) / (TICKS - 1))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(number * step, 12) for number in range(first, last + 1)]


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= rough * 0.999)


def drawn(chart: Chart) -> str:
    """The chart as an SVG document."""
    across, up = _axes(chart)
    body = [*_frame(chart, across, up)]
    for number, series in enumerate(chart.series):
        colour = COLOURS[(number if series.colour is None else series.colour) % len(COLOURS)]
        body += [*_line(series, colour, across, up), *_legend(series, colour, number)]
    if any(y is None for series in chart.series for _, y in series.points):
        at = TOP + 14 + 20 * len(chart.series)
        body.append(_text(WIDTH - RIGHT + 14, at + 4, f"{CROSS} infeasible", "start"))
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    font = 'font-family="sans-serif" font-size="12"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img">',
            f"<title>{escape(chart.title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            *body,
            "</svg>\n",
        ]
    )


def _axes(chart: Chart) -> tuple[Axis, Axis]:
    xs = [x for series in chart.series for x, _ in series.points]
    ys = [y for series in chart.series for _, y in series.points if y is not None] or [0.0, 1.0]
    low, high = (min(ys), max(ys)) if chart.logarithmic else (min(0.0, *ys), max(0.0, *ys) * 1.05 or 1.0)
    if not chart.from_nought:
        room = (max(ys) - min(ys)) / 20 or 1.0
        low, high = min(ys) - room, max(ys) + room
    return (
        Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, chart.logarithmic),
        Axis(low, high, HEIGHT - BOTTOM, TOP, chart.logarithmic),
    )


def _frame(chart: Chart, across: Axis, up: Axis) -> list[str]:
    shown = [f'<text x="{LEFT}" y="24" font-size="15">{escape(chart.title)}</text>']
    for tick in up.ticks():
        y = up.at(tick)
        shown.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        shown.append(_text(LEFT - 6, y + 4, f"{tick:,g}", "end"))
    for tick in across.ticks():
        x = across.at(tick)
        shown.append(f'<path d="M{x:.1f} {HEIGHT - BOTTOM}v5" stroke="#444"/>')
        shown.append(_text(x, HEIGHT - BOTTOM + 19, f"{tick:,.10g}", "middle"))
    middle, centre = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    shown.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#444"/>')
    shown.append(_text(middle, HEIGHT - 12, chart.x, "middle"))
    turned = f'transform="rotate(-90 16 {centre:.0f})"'
    shown.append(f'<text x="16" y="{centre:.0f}" text-anchor="middle" {turned}>{escape(chart.y)}</text>')
    return shown


def _line(series: Series, colour: str, across: Axis, up: Axis) -> list[str]:
    shown = []
    for run in _runs(series.points):
        path = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in run)
        dash = ' stroke-dasharray="6 4"' if series.dashed else ""
        shown.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    for x, y in series.points:
        said = f"{series.name}, {x:g}: {'infeasible' if y is None else format(y, '.4g')}"
        title = f"<title>{escape(said)}</title>"
        if y is None:
            at = f'x="{across.at(x):.1f}" y="{HEIGHT - BOTTOM - 4}"'
            shown.append(f'<text {at} fill="{colour}" text-anchor="middle">{CROSS}{title}</text>')
        else:
            at = f'cx="{across.at(x):.1f}" cy="{up.at(y):.1f}"'
            shown.append(f'<circle {at} r="3.5" fill="{colour}">{title}</circle>')
    return shown


def _runs(points: Sequence[tuple[float, float | None]]) -> list[list[tuple[float, float]]]:
    """The stretches of a curve between points that cannot be reached.

    >>> _runs([(1, None), (2, 0.5), (3, 0.25)])
    [[(2, 0.5), (3, 0.25)]]
    """
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if y is None:
            runs.append([])
        else:
            runs[-1].append((x, y))
    return [run for run in runs if run]


def _legend(series: Series, colour: str, number: int) -> list[str]:
    x, y = WIDTH - RIGHT + 14, TOP + 14 + 20 * number
    dash = ' stroke-dasharray="6 4"' if series.dashed else ""
    return [
        f'<path d="M{x} {y}h24" stroke="{colour}" stroke-width="2"{dash}/>',
        _text(x + 30, y + 4, series.name, "start"),
    ]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
