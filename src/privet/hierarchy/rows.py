"""Taxonomies as people keep them in spreadsheets: one row for each leaf, `leaf;parent;…;root`.

The form of ARX and its kin: no header, `;` or `,` between fields, every row ends in the same root. A
label that is repeated at the next level (`Other;Other;*`) is one node. Complaints give line numbers.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from itertools import groupby

from privet.errors import HierarchyError

DELIMITERS = (";", ",")


def read_rows(text: str) -> tuple[str, dict[str, list[str]]]:
    """The root, and the children of every node that has any, in the order of the file.

    >>> read_rows("fox;wild;*\\ncat;cat;*\\nwolf;wild;*\\n")
    ('*', {'wild': ['fox', 'wolf'], '*': ['wild', 'cat']})
    """
    rows = _rows(text)
    _complain("an empty label", (line for line, labels in rows if "" in labels))
    root = rows[0][1][-1]
    _complain("does not end in the root of line {first}", (n for n, labels in rows if labels[-1] != root), rows[0][0])
    # What stands twice in a row is one node, so a row is a way up without standing still.
    ways = [(line, [label for label, _ in groupby(labels)]) for line, labels in rows]
    _complain("nothing but the root", (line for line, labels in ways if len(labels) == 1))

    parent: dict[str, tuple[str, int]] = {}
    clashes: list[str] = []
    for line, labels in ways:
        for level, (child, above) in enumerate(zip(labels, labels[1:], strict=False), start=1):
            known, first = parent.setdefault(child, (above, line))
            if known != above:
                clashes.append(f"line {line}, level {level}: the label stands under another parent on line {first}")
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
    return root, children


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Lines that are not blank, with their numbers, split at the delimiter that fits every one of them."""
    lines = text.removeprefix("\ufeff")
    if not lines.strip():
        raise HierarchyError("the hierarchy is empty; give one row for each leaf, as in leaf;parent;*")
    # The delimiter before the root decides: "[20,30[;*" is split at ";" since the root has no comma in it.
    fitting = []
    for delimiter, other in (DELIMITERS, DELIMITERS[::-1]):
        rows = _split(lines, delimiter)
        if all(len(labels) > 1 for _, labels in rows) and not any(other in labels[-1] for _, labels in rows):
            fitting.append(rows)
    if len(fitting) != 1:
        raise HierarchyError("fields are separated by ; or by , and in the same way on every line; quote the others")
    return fitting[0]


def _split(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, labels) for labels in reader if labels]
    except csv.Error:
        raise HierarchyError(f"line {reader.line_num}: a quoted field is not closed or is followed by text") from None


def _complain(what: str, lines: Iterable[int], first: int = 0) -> None:
    found = list(lines)
    if found:
        where = ", ".join(map(str, found[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise HierarchyError(f"{'line' if len(found) == 1 else 'lines'} {where}: {what.format(first=first)}")
