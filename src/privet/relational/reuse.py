"""The same recoding on the next batch: cuts rebuilt from an earlier release's evidence."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from privet.core import Tally
from privet.domain import Cut, Domain, Node, Value
from privet.errors import UnsupportedError
from privet.hierarchy.numbers import decimal
from privet.recoding import Generalization


def same_cuts(tally: Tally, evidence: Mapping[str, Any]) -> Generalization:
    """The cuts of an earlier release over this table's values, or a refusal that says what does not fit."""
    notes = evidence["attributes"]
    cuts, complaints = {}, []
    for column in tally.quasi:
        note = notes.get(column.name)
        if note is None or note["role"] != "quasi":
            complaints.append(f"attributes.{column.name}: the earlier release has no such quasi-identifier")
            continue
        if note["published"] == "unchanged":
            nodes, missing = _leaves(column.domain), 0
        else:
            nodes, missing = _rebuilt(column.domain, note.get("values") or ())
        if missing:
            complaints.append(
                f"attributes.{column.name}: {missing} of {column.domain.size} values have no place in the "
                "earlier release's recoding"
            )
            continue
        cuts[column.name] = Cut(column.domain, nodes)
    if complaints:
        raise UnsupportedError(*complaints)
    return Generalization(cuts)


def _leaves(domain: Domain) -> tuple[Node, ...]:
    return tuple(Node(value, code, code + 1) for code, value in enumerate(domain.values))


def _rebuilt(domain: Domain, values: Sequence[Mapping[str, Any]]) -> tuple[tuple[Node, ...], int]:
    """The cut's nodes in this domain, and how many values they leave out."""
    if domain.scale is not None and any("interval" in value for value in values):
        nodes = _intervals(domain, values)
    else:
        nodes = _named(domain, [value["label"] for value in values])
    nodes.sort(key=lambda node: (node.lo, node.hi))
    covered = sum(node.leaves for node in nodes)
    return tuple(nodes), domain.size - covered


def _named(domain: Domain, labels: Sequence[Value]) -> list[Node]:
    """The highest nodes with these labels; one below another of them is part of it already."""
    wanted = set(labels)
    found: list[Node] = []

    def look(node: Node) -> None:
        if node.label in wanted:
            found.append(node)
        else:
            for child in node.children:
                look(child)

    look(domain.root)
    return found


def _intervals(domain: Domain, values: Sequence[Mapping[str, Any]]) -> list[Node]:
    scale = domain.scale
    if scale is None:
        return []
    nodes = []
    for value in values:
        if "interval" in value:
            low, high = (decimal(bound) for bound in value["interval"])
            lo, hi = bisect_left(scale.numbers, low), bisect_left(scale.numbers, high)
            if lo < hi:
                nodes.append(Node(value["label"], lo, hi, interval=(low, high)))
        elif value["label"] is None and domain.null is not None:
            nodes.append(Node(None, domain.null, domain.null + 1))
        elif value["label"] == domain.root.label:
            return [domain.root]
    return nodes
