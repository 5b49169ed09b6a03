"""Values in a notebook: a title and a table of what they hold, every text escaped.

Nothing is shown here that the value does not hold already; a list of many is shown by its first few.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape
from typing import Any

SHOWN = 12  # entries of a list or a table
LONGEST = 200  # characters of one text


def card(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """A value by its parts.

    >>> card("Found", [("<k>", 5)])
    '<table><caption>Found</caption><tr><th>&lt;k&gt;</th><td>5</td></tr></table>'
    """
    return f"<table><caption>{text(title)}</caption>{_rows(rows)}</table>"


def _rows(rows: Iterable[tuple[str, Any]]) -> str:
    return "".join(f"<tr><th>{text(name)}</th><td>{shown(value)}</td></tr>" for name, value in rows)


def grid(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A small table with a head; it may stand inside a card."""
    top = "".join(f"<th>{text(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{shown(one)}</td>" for one in row) + "</tr>" for row in rows)
    return Markup(f"<table><tr>{top}</tr>{body}</table>")


class Markup(str):
    """Text that is markup already, made here."""

    __slots__ = ()


def text(value: object) -> str:
    """A text, escaped, and not too long."""
    said = str(value)
    return escape(said if len(said) <= LONGEST else f"{said[:LONGEST]}…")


def shown(value: Any) -> str:
    """Any value: tables as tables, lists by their first few."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Fraction):
        return text(value)
    if isinstance(value, Mapping):
        rows = [(str(key), one) for key, one in list(value.items())[:SHOWN]]
        more = [("…", f"{len(value) - SHOWN:,} more")] if len(value) > SHOWN else []
        inner = "".join(
            f"<tr><th>{text(name)}</th><td>{shown(one)}</td></tr>" for name, one in [*rows, *more]
        )
        return f"<table>{inner}</table>" if inner else "none"
    if isinstance(value, (list, tuple, set, frozenset)):
        some = [shown(one) for one in list(value)[:SHOWN]]
        some += [f"{len(value) - SHOWN:,} more"] if len(value) > SHOWN else []
        return ", ".join(some) or "none"
    return text(value)


WIDE, LINE, NAMES = 480, 18, 160  # of a drawing: its width, the height of a bar, room for a name


def bars(rows: Iterable[tuple[str, float | None]]) -> Markup:
    """Shares from 0 to 1 as bars, each with its name and its number.

    >>> "<rect" in bars([("age", 0.5)]), bars([])
    (True, '')
    """
    told = [(name, min(1.0, max(0.0, share))) for name, share in list(rows)[:SHOWN] if share is not None]
    parts = []
    for at, (name, share) in enumerate(told):
        y = at * LINE
        parts += [
            _words(NAMES - 6, y + 13, _short(name), "end"),
            f'<rect x="{NAMES}" y="{y + 3}" width="{share * (WIDE - NAMES - 60):.1f}" height="12"></rect>',
            _words(NAMES + 6 + share * (WIDE - NAMES - 60), y + 13, f"{100 * share:.1f} %", "start"),
        ]
    return _drawing(parts, len(told) * LINE)


def points(rows: Iterable[tuple[str, float, float, bool]], across: str, up: str) -> Markup:
    """Shares against each other: a name, how far to the right, how far up, whether it is marked and named."""
    parts, told, high = [], list(rows), 240
    for name, x, y, marked in told:
        right, down = 40 + min(1.0, x) * (WIDE - 200), 20 + (1 - min(1.0, y)) * (high - 50)
        radius, opacity = (5, "1") if marked else (3, "0.4")
        parts.append(
            f'<circle cx="{right:.1f}" cy="{down:.1f}" r="{radius}" fill-opacity="{opacity}"></circle>'
        )
        if marked:
            parts.append(_words(right + 8, down + 4, _short(name), "start"))
    if not told:
        return Markup()
    parts += [
        _words(40, 12, f"{up}, 0 to 100 %", "start"),
        _words(WIDE - 160, high - 6, f"{across}, 0 to 100 %", "end"),
    ]
    return _drawing(parts, high)


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def _words(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12">{text(said)}</text>'


def _drawing(parts: list[str], high: int) -> Markup:
    return Markup(f'<svg width="{WIDE}" height="{high}">{"".join(parts)}</svg>' if parts else "")
