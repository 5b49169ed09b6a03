"""Every hierarchy of a forest as one numbered list of nodes, so that a generalised value is one number.

A node covers a range of *finest* nodes, those that nothing more special is published for. Loss counts
finest nodes: a single value costs nothing, the root costs 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.document.forest import NONE, Forest, Ints
from privet.domain import Domain, Node, Value


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The nodes of all quasi-identifiers, parents before children, attributes one after the other."""

    labels: tuple[Value, ...] = field(repr=False)
    up: Ints = field(repr=False)  # the parent; a root is its own
    low: Ints = field(repr=False)  # finest nodes [low, high), numbered within the attribute
    high: Ints = field(repr=False)
    sizes: Ints = field(repr=False)  # how many finest nodes the attribute has
    kinds: Ints = field(repr=False)  # of which type the attribute is
    nodes: Ints = field(repr=False)  # [vertices, quasi-identifiers]: the node of each value of the forest

    @cached_property
    def leaves(self) -> Ints:
        """The values of the forest as numbers of finest nodes; 0 where a vertex has no such field."""
        return np.where(self.nodes == NONE, 0, self.low[self.nodes]).astype(np.int32)

    def loss(self, node: int) -> Fraction:
        """LM' of a node: 0 for a finest one, 1 for the root; a hierarchy of one value loses nothing."""
        return Fraction(int(self.high[node] - self.low[node]) - 1, max(int(self.sizes[node]) - 1, 1))

    def covers(self, node: int, other: int) -> bool:
        """Is `other` this node, or below it? Both of one attribute."""
        while other > node:  # parents have smaller numbers
            other = int(self.up[other])
        return node == other

    def mrca(self, one: NDArray[np.integer[Any]], other: NDArray[np.integer[Any]]) -> Ints:
        """The lowest node above both, entry by entry; where both are absent, so is the answer."""
        first, second = one.astype(np.int32), other.astype(np.int32)
        while (apart := first != second).any():
            # The one with the greater number cannot stand above the other: parents come first.
            first, second = np.maximum(first, second), np.minimum(first, second)
            first[apart] = self.up[first[apart]]
        return first


def taxonomy(forest: Forest) -> Taxonomy:
    """Number the nodes of a forest's hierarchies, and put every value at its finest node."""
    labels: list[Value] = []
    up: list[int] = []
    low: list[int] = []
    high: list[int] = []
    sizes: list[int] = []
    kinds: list[int] = []
    width = max((len(kind.quasi) for kind in forest.schema.kinds), default=0)
    nodes = np.full((forest.vertices, width), NONE, dtype=np.int32)
    for number, kind in enumerate(forest.schema.kinds):
        for column, f in enumerate(kind.quasi):
            at, codes, domain = forest.field(kind, f.name)
            begin, finest = len(labels), 0
            of_code = np.zeros(domain.size, dtype=np.int32)
            for node, parent in _walk(domain):
                here = len(labels)
                labels.append(node.label)
                up.append(here if parent is None else begin + parent)
                low.append(finest)
                if not node.children and not domain.grows(node):
                    of_code[node.lo : node.hi] = here
                    finest += 1
                high.append(finest)
            for here in range(len(labels) - 1, begin, -1):  # a parent ends where its last child does
                high[up[here]] = max(high[up[here]], high[here])
            sizes += [finest] * (len(labels) - begin)
            kinds += [number] * (len(labels) - begin)
            nodes[at, column] = of_code[codes]
    above, lows, highs, counts, types = (np.array(x, dtype=np.int32) for x in (up, low, high, sizes, kinds))
    return Taxonomy(tuple(labels), above, lows, highs, counts, types, nodes)


def _walk(domain: Domain) -> Iterator[tuple[Node, int | None]]:
    """Nodes in preorder, each with its parent's place; the children of a growing interval are its values."""
    if not domain.size:
        return
    waiting: list[tuple[Node, int | None]] = [(domain.root, None)]
    place = 0
    while waiting:
        node, parent = waiting.pop()
        yield node, parent
        below = node.children
        if domain.grows(node):
            below = tuple(Node(domain.values[code], code, code + 1) for code in range(node.lo, node.hi))
        waiting.extend((child, place) for child in reversed(below))
        place += 1
