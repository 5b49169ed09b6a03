"""Taxonomies as people keep them in spreadsheets: one row for each leaf, `leaf;parent;…;root`.

The form of ARX and its kin: no header, `;` or `,` between fields, every row ends in the same root. A
label that is repeated at the next level (`Other;Other;*`) is one node that stands on both. Complaints give
line numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from itertools import groupby, pairwise

from privet.errors import HierarchyError

_QUOTED = re.compile(r'(?:^|(?<=[;,\r\n]))"(?:[^"]|"")*"')
_LAST = re.compile(r".*([;,])[^;,]*")


def read_rows(text: str) -> tuple[str, dict[str, list[str]], dict[str, int]]:
    r"""The root, the children of every node that has any, and the number of levels of nodes on several.

    >>> read_rows("fox;wild;*\ncat;cat;*\nwolf;wild;*\n")
    ('*', {'wild': ['fox', 'wolf'], '*': ['wild', 'cat']}, {'cat': 2})
    """
    rows = _rows(text)
    _complain("an empty label", (line for line, labels in rows if "" in labels))
    root = rows[0][1][-1]
    _complain(
        "does not end in the root of line {first}",
        (n for n, labels in rows if labels[-1] != root),
        rows[0][0],
    )
    # What stands twice in a row is one node, so a row is a way up without standing still.
    ways = [(line, [label for label, _ in groupby(labels)]) for line, labels in rows]
    _complain("nothing but the root", (line for line, labels in ways if len(labels) == 1))

    parent: dict[str, tuple[str, int]] = {}
    clashes: list[str] = []
    for line, labels in ways:
        for level, (child, above) in enumerate(pairwise(labels), start=1):
            known, first = parent.setdefault(child, (above, line))
            if known != above:
                clashes.append(
                    f"line {line}, level {level}: the label stands under another parent on line {first}"
                )
            elif child == root:
                clashes.append(f"line {line}, level {level}: the root stands below another label")
    groups = {above for above, _ in parent.values()}
    for line, labels in ways:
        if labels[0] in groups:
            clashes.append(f"line {line}: the leaf is a group of other leaves elsewhere")
    if clashes:
        shown = clashes[:5] + ([f"and {len(clashes) - 5} lines more"] if len(clashes) > 5 else [])
        raise HierarchyError(*shown, "give each node its own label")

    children: dict[str, list[str]] = {}
    for child, (above, _) in parent.items():
        children.setdefault(above, []).append(child)
    return root, children, _repeated([labels for _, labels in rows])


def _repeated(rows: Sequence[Sequence[str]]) -> dict[str, int]:
    """On how many levels each label stands; nothing where rows differ in length, or in this."""
    if len({len(labels) for labels in rows}) > 1:
        return {}
    times: dict[str, int] = {}
    for labels in rows:
        for label, same in groupby(labels):
            if times.setdefault(label, many := len(list(same))) != many:
                return {}
    return {label: many for label, many in times.items() if many > 1}


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of its (last) line."""
    text = text.removeprefix("\ufeff")
    # The delimiter before the root decides: "29;[20,30[;*" is split at ";".
    last = {_LAST.sub(r"\1", line) for line in _QUOTED.sub("", text).splitlines() if _LAST.fullmatch(line)}
    if len(last) != 1:
        raise HierarchyError("one row for each leaf, as in leaf;parent;*, with ; or , on every line alike")
    reader = csv.reader(StringIO(text, newline=""), delimiter=last.pop(), strict=True)
    try:
        rows = [(reader.line_num, labels) for labels in reader if labels]
    except csv.Error:
        raise HierarchyError(
            f"line {reader.line_num}: a quoted field is not closed, or text follows it"
        ) from None
    _complain(
        "a leaf without a root; end every row in the root, as in leaf;*", (n for n, r in rows if len(r) == 1)
    )
    return rows


def _complain(what: str, lines: Iterable[int], first: int = 0) -> None:
    found = list(lines)
    if found:
        where = ", ".join(map(str, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise HierarchyError(f"{'line' if len(found) == 1 else 'lines'} {where}: {what.format(first=first)}")
