"""A range of values as it is published: said by what is public, never by a list of what the data holds.

A list of thousands of dates tells which dates nobody has, and makes a small table a large one. So a range
is a node of the hierarchy where there is one; else, where values follow each other, it reaches from one
public bound to another: from the beginning of an interval to the end of one, from a month to a month, from a
prefix to a prefix. Values that have no order are named, few at most, by the widest nodes that hold nothing
else.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from privet.domain import BETWEEN, Domain, Node
from privet.hierarchy.intervals import outward
from privet.relational.coded import codes

FEW = 20  # names in one label; with more of them a set tells what there is rather than what a record has


def labelled(domain: Domain, low: int, high: int, there: NDArray[np.bool_] | None = None) -> Node:
    """The range from one code to another as it is published.

    `there`: the codes that somebody has who is published; nobody else's values are named.
    """
    node = covering(domain.root, low, high)
    if (node.lo, node.hi) == (low, high + 1) and node.label is not None:
        return node
    if low == high:
        return Node(domain.values[low], low, low + 1)
    if domain.scale is not None or domain.ranged:
        if high == domain.null:  # it stands behind all others, and is named beside them
            rest = labelled(domain, low, high - 1)
            return _whole(node, Node(f"{{{rest.label}, null}}", rest.lo, high + 1))
        return (_between if domain.scale is None else _interval)(domain, node, low, high)
    return _named(node, low, high, there)


def keeps_nodes(domain: Domain) -> bool:
    """Where labels are those of the levels: is every one of this attribute a node of its hierarchy?

    Not where the hierarchy says nothing between a value and everything, because it is flat or its intervals
    are still to be grown. Nor where values follow each other, as days, numbers and codes do: a range that
    begins with one of its narrowest groups and ends with another is as true as the node above both, and says
    more. Values that are never told apart stay with the nodes that keep them together.
    """
    if domain.ranged or domain.scale is not None:
        return codes(domain)
    return any(
        node.leaves > 1 and (node is not domain.root or not node.children) for node in domain.root.walk()
    )


def labels_of(
    domain: Domain, low: NDArray[np.intp], high: NDArray[np.intp], *, along: bool
) -> tuple[list[Node], NDArray[np.intp]]:
    """The different labels of ranges, and which of them each has; `along`: nodes of the hierarchy only."""
    size = domain.size
    found, of_range = np.unique(low * size + high, return_inverse=True)
    made = []
    for pair in found.tolist():
        ends = divmod(pair, size)
        node = covering(domain.halved, *ends) if along else labelled(domain, *ends)
        made.append(Node(node.label, node.lo, node.hi, interval=node.interval))
    return made, of_range.reshape(-1)


def covering(node: Node, low: int, high: int) -> Node:
    """The lowest node that stands above both codes."""
    while (below := node.child_with(low)) is not None and high < below.hi:
        node = below
    return node


def groups(domain: Domain) -> list[Node]:
    """Where ranges begin and end, in leaf order: steps, or the narrowest groups that a rule has made."""
    found: list[Node] = []
    while not found or found[-1].hi < domain.size:
        found.append(_group(domain, found[-1].hi if found else 0))
    return found


def _interval(domain: Domain, above: Node, low: int, high: int) -> Node:
    scale = domain.scale
    assert scale is not None
    if scale.grown:
        begin, end = scale.numbers[low], scale.numbers[high] + scale.step
        if scale.said is None:
            return Node(scale.label(begin, end), low, high + 1, interval=(begin, end))
        begin, end = outward(begin, end, scale.said)
        begin, end = max(begin, scale.low), min(end, scale.high)
        lo, hi = bisect_left(scale.numbers, begin), bisect_left(scale.numbers, end)
        return Node(scale.label(begin, end), lo, hi, interval=(begin, end))
    first, last = (_group(domain, code) for code in (low, high))
    if first is last or first.interval is None or last.interval is None:  # an end that is coded has no edge
        return Node(above.label, above.lo, above.hi, interval=above.interval)
    begin, end = first.interval[0], last.interval[1]
    return _whole(above, Node(scale.label(begin, end), first.lo, last.hi, interval=(begin, end)))


def _between(domain: Domain, above: Node, low: int, high: int) -> Node:
    """From one group to another."""
    first, last = (_group(domain, code) for code in (low, high))
    if first is last and not domain.steps:
        return Node(above.label, above.lo, above.hi, interval=above.interval)
    if first is last:
        return _whole(above, first)
    return _whole(above, Node(f"{ends_of(first)[0]}{BETWEEN}{ends_of(last)[1]}", first.lo, last.hi))


def ends_of(group: Node) -> tuple[str, str]:
    """The texts in which a range begins that begins with a group, and ends that ends with it."""
    begin, _, end = str(group.label).partition(BETWEEN)
    return begin, end or begin


def _group(domain: Domain, code: int) -> Node:
    """The narrowest group that holds a code; the value itself only where no group but the root does."""
    at = bisect_right(domain.steps, code, key=lambda step: step.lo) - 1
    if at >= 0 and code < domain.steps[at].hi:
        return domain.steps[at]
    way = [domain.root]
    while (below := way[-1].child_with(code)) is not None:
        way.append(below)
    itself = way[-1].leaves == 1 and way[-1].label == domain.values[code]
    return way[-2] if itself and len(way) > 2 else way[-1]


def _whole(above: Node, made: Node) -> Node:
    """Where a range covers all that the node above it does, or more, it is that node."""
    return above if made.leaves >= above.leaves else made


def _named(above: Node, low: int, high: int, there: NDArray[np.bool_] | None) -> Node:
    for nodes in (list(_cover(above, low, high)), [c for c in above.children if c.hi > low and c.lo <= high]):
        said = [n for n in nodes if there is None or there[n.lo : n.hi].any()]
        if nodes and len(said) <= FEW:
            names = ", ".join("null" if n.label is None else n.label for n in said)
            return _whole(above, Node(f"{{{names}}}", nodes[0].lo, nodes[-1].hi))
    return Node(above.label, above.lo, above.hi)


def _cover(node: Node, low: int, high: int) -> Iterator[Node]:
    """The widest nodes that hold nothing but codes of a range."""
    if not node.children or (low <= node.lo and node.hi <= high + 1):
        yield node
        return
    for child in node.children:
        if child.hi > low and child.lo <= high:
            yield from _cover(child, low, high)
