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
