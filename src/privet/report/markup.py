"""HTML that cannot be broken by what it shows: text is escaped unless it was made here.

`tag` escapes every child and attribute that is not `Safe`, and `Safe` is made only by `tag`, `text`,
`join` and the package's own files. A label of the data can so never become markup, whoever writes the
next section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import Any, TypeAlias

VOID = frozenset({"meta", "input", "br", "col"})
LONGEST = 120  # characters of one label; evidence.json has it whole
# What a file or a screen cannot show as itself: controls, halves of characters, reversals of direction.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]"
)


_SPECIAL = re.compile(f"[<>&\"'{_UNFIT.pattern[1:]}")  # most text has none of these and stays as it is


class Safe(str):
    """Text that is markup already."""

    __slots__ = ()


Content: TypeAlias = str | None


def text(value: object) -> Safe:
    """Anything as text.

    >>> text("a <b> & 'c'")
    'a &lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return Safe(_escaped(value))


def _escaped(value: object) -> str:
    if isinstance(value, Safe):
        return value
    said = str(value)
    return escape(_UNFIT.sub("\ufffd", said)) if _SPECIAL.search(said) else said


def join(parts: Iterable[Content], between: str = "") -> Safe:
    """Several parts as one; None is left out."""
    return Safe(_escaped(between).join([_escaped(part) for part in parts if part is not None]))


def tag(name: str, /, *children: Content, **attributes: str | float | None) -> Safe:
    """An element; `class_` is the attribute class, `aria_label` is aria-label, None is left out.

    >>> tag("p", "1 < 2", tag("br"), class_="note")
    '<p class="note">1 &lt; 2<br></p>'
    """
    said = name
    for key, value in attributes.items():
        if value is not None:
            said += f' {_attribute(key)}="{_escaped(value)}"'
    if name in VOID:
        return Safe(f"<{said}>")
    inner = "".join([_escaped(child) for child in children if child is not None])
    return Safe(f"<{said}>{inner}</{name}>")


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def label_text(label: Any) -> str:
    """A published value in plain text, as a tooltip shows it."""
    if label is None:
        return "(missing)"
    shown = str(label)
    if not shown.strip():
        return "(empty)"
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def label(value: Any) -> Safe:
    """A published value; `bdi` keeps the direction of its script to itself.

    >>> label(None)
    '<em class="none">(missing)</em>'
    """
    if value is None or not str(value).strip():
        return tag("em", label_text(value), class_="none")
    return tag("bdi", label_text(value))


def table(
    headers: Sequence[str], rows: Iterable[Sequence[Content]], *, numeric: Iterable[int] = (), caption: str
) -> Safe:
    """A table whose first column names the rows; `numeric` columns stand at the right."""
    at_right = frozenset(numeric)
    classes = ["n" if at in at_right else None for at in range(len(headers))]
    head = tag("tr", *(tag("th", h, scope="col", class_=c) for h, c in zip(headers, classes, strict=True)))
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row", class_=classes[0]),
            *(tag("td", cell, class_=c) for cell, c in zip(row[1:], classes[1:], strict=True)),
        )
        for row in rows
    ]
    inner = tag(
        "table", tag("caption", caption, class_="unseen"), tag("thead", head), tag("tbody", join(body))
    )
    # A wide table scrolls by itself, also by keyboard; the page never does.
    return tag("div", inner, class_="scroll", tabindex=0, role="region", aria_label=caption)


def behind(summary: str, *children: Content) -> Safe:
    """What stands behind a plot: the same numbers as a table."""
    return tag("details", tag("summary", summary), *children)


def facts(pairs: Iterable[tuple[str, Content]]) -> Safe | None:
    """A list of names and what they are; a pair without an answer is left out."""
    told = [tag("div", tag("dt", name), tag("dd", said)) for name, said in pairs if said is not None]
    return tag("dl", join(told), class_="facts") if told else None


def paragraph(*children: Content, class_: str | None = None) -> Safe:
    return tag("p", *children, class_=class_)


def switch(ident: str, *choices: tuple[str, Safe | None]) -> Safe | None:
    """Several views of one thing; works without scripts, and prints all of them."""
    there = [(name, pane) for name, pane in choices if pane is not None]
    if len(there) < 2:
        return join([pane for _, pane in there]) if there else None
    knobs: list[Content] = []
    for at, (name, _) in enumerate(there):
        knob = {"id": f"{ident}-{at}", "type": "radio", "name": ident, "checked": None if at else ""}
        knobs += [tag("input", **knob), tag("label", name, for_=f"{ident}-{at}")]
    panes = [tag("div", tag("h4", name, class_="printed"), pane, class_="pane") for name, pane in there]
    return tag("div", *knobs, *panes, class_="switch")
