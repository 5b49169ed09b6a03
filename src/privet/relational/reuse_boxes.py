"""The boxes of an earlier release on other records: each goes to a box that holds it, or is not published.

A box is read from what was published: the labels of one class, one for each attribute, and the values of this
table that each label stands for. Nothing is widened: a record that no box holds is outside. Where several do
(boxes of local recoding may overlap), the one that spans fewest values is taken, and of equals the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.domain import BETWEEN, Domain, Node, Value
from privet.errors import UnsupportedError
from privet.recoding import Regions
from privet.relational.ranges import ends_of, groups

Mask: TypeAlias = NDArray[np.bool_]
_ENDS = re.compile(r"\[(-?[0-9.]+?)(?:-|\.\.)(-?[0-9.]+)\)")

# Searches whose classes are boxes of values. Others publish means, or groups that no other table would have.
BOXES = ("auto", "mondrian", "local", "optimal", "samarati", "incognito", "suppression")


def refuse_other_than_boxes(evidence: Mapping[str, Any]) -> None:
    """Refuse what is published as something else than ranges of values."""
    algorithm = evidence["algorithm"]
    if algorithm["type"] not in BOXES or algorithm.get("output") == "means":
        raise UnsupportedError(
            f"the earlier release is of {algorithm['type']}, whose groups are not ranges of values that "
            "other records could be in: publish without --like"
        )


def same_boxes(
    tally: Tally, evidence: Mapping[str, Any], published: Tally, may_go: Fraction = Fraction(0)
) -> Regions:
    """The earlier boxes over this table's values; records outside go where the policy allows so many."""
    refuse_other_than_boxes(evidence)
    shown = [next(c for c in published.quasi if c.name == column.name) for column in tally.quasi]
    notes = evidence["attributes"]
    meant = [_meant(column, label, notes) for column, label in zip(tally.quasi, shown, strict=True)]
    rows = np.unique(np.stack([c.codes.astype(np.intp) for c in shown], axis=1), axis=0)
    of_cell = located([column.codes for column in tally.quasi], rows, meant)
    outside = of_cell < 0
    records = int(tally.counts[outside].sum())
    if records > may_go * tally.records:
        raise UnsupportedError(
            f"{records:,} of {tally.records:,} records are in no box of the earlier release, and the policy "
            f"lets {may_go} of them be suppressed; publish without --like"
        )
    nodes = {c.name: _nodes(c.domain, s, m, notes) for c, s, m in zip(tally.quasi, shown, meant, strict=True)}
    boxes = {column.name: rows[:, at] for at, column in enumerate(tally.quasi)}
    return Regions(nodes, boxes, ~outside if outside.any() else None, of_cell=np.maximum(of_cell, 0))


def located(codes: Sequence[NDArray[Any]], rows: NDArray[np.intp], meant: Sequence[Mask]) -> NDArray[np.intp]:
    """The box of each cell, -1 where there is none; `rows` has a label of each attribute for each box."""
    spans = sum((mask.sum(axis=1) / max(1, mask.shape[1]))[rows[:, at]] for at, mask in enumerate(meant))
    found = np.full(len(codes[0]), -1, dtype=np.intp)
    least = np.full(len(codes[0]), np.inf)

    def look(cells: NDArray[np.intp], boxes: NDArray[np.intp], at: int) -> None:
        """Boxes that agree so far share one look at the cells that fit so far."""
        if not len(cells):
            return
        if at == len(codes):
            (box,) = boxes  # no two boxes read alike
            better = cells[spans[box] < least[cells]]
            found[better], least[better] = box, spans[box]
            return
        for label in np.unique(rows[boxes, at]):
            here = meant[at][label][codes[at][cells]]
            look(cells[here], boxes[rows[boxes, at] == label], at + 1)

    look(np.arange(len(codes[0])), np.arange(len(rows)), 0)
    return found


def _meant(column: Column, shown: Column, notes: Mapping[str, Any]) -> Mask:
    """For each published label, the codes of this table that it stands for."""
    note = notes.get(column.name)
    if note is None or note["role"] != "quasi":
        raise UnsupportedError(f"attributes.{column.name}: the earlier release has no such quasi-identifier")
    intervals = {v["label"]: v["interval"] for v in note.get("values", ()) if "interval" in v}
    return np.stack(
        [_stands_for(column.domain, label, intervals.get(label)) for label in shown.domain.values]
    )


def _stands_for(domain: Domain, label: Value, interval: Sequence[str] | None) -> Mask:
    mask = np.zeros(domain.size, dtype=bool)
    if interval is not None and domain.scale is not None:
        low, high = map(Decimal, interval)
        mask[: len(domain.scale.numbers)] = [low <= number < high for number in domain.scale.numbers]
    elif (node := next((n for n in domain.root.walk() if n.label == label), None)) is not None:
        mask[node.lo : node.hi] = True
    elif label in domain.codes:
        mask[domain.codes[label]] = True
    elif label is not None and label.startswith("{") and label.endswith("}"):
        # A range of categories names them all. A name with a comma in it is found in none, and so is outside.
        for name in label[1:-1].split(", "):
            ends = _ENDS.fullmatch(name) if domain.scale is not None else None
            mask |= _stands_for(domain, name, None if ends is None else ends.groups())
        if domain.null is not None and "null" in label[1:-1].split(", "):
            mask[domain.null] = True
    elif label is not None and domain.ranged and BETWEEN in label:
        first, _, last = label.partition(BETWEEN)
        for group in groups(domain):  # of one length, so that they stand in the order of their texts
            begin, end = ends_of(group)
            if group.label is not None and len(begin) == len(first) and first <= begin and end <= last:
                mask[group.lo : group.hi] = True
    return mask


def _nodes(domain: Domain, shown: Column, meant: Mask, notes: Mapping[str, Any]) -> tuple[Node, ...]:
    """The labels as nodes: as wide as the values of this table that they stand for."""
    intervals = {v["label"]: v["interval"] for v in notes[shown.name].get("values", ()) if "interval" in v}
    found = []
    for label, mask in zip(shown.domain.values, meant, strict=True):
        inside = np.flatnonzero(mask)
        lo, hi = (int(inside[0]), int(inside[-1]) + 1) if len(inside) else (0, 1)  # nobody here has it
        interval = intervals.get(label) if domain.scale is not None else None
        ends = None if interval is None else (Decimal(interval[0]), Decimal(interval[1]))
        found.append(Node(label, lo, hi, interval=ends))
    return tuple(found)
