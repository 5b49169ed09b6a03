"""A tree as pages show it: a part of bounded size, so that many thousand nodes are edited like a few.

Nodes are named by their number in the walk, not by their label: a label may be a value of the data, and no
address holds one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from privet.hierarchy.tree import Branch

MOST = 240  # nodes on a page
PAGE = 120  # children of one node on a page, where the tree does not fit
FEW = 6  # children of those below it, then
STEPS = 24  # of a bar
NOTHING: Mapping[str, int] = {}  # where it is not known how many records have a value
KEPT = 4  # outlines that are remembered


@dataclass(frozen=True)
class Seen:
    """A node as it is drawn."""

    number: int
    label: str
    below: int  # its children in the tree
    records: int | None  # that stand below it; None: not known
    step: int  # of its bar
    children: tuple[Seen, ...] = ()  # those that are drawn

    @property
    def more(self) -> int:
        return self.below - len(self.children)


@dataclass(frozen=True)
class Part:
    """What a page shows of a tree: a node with some of what is below it, or what was searched for."""

    way: tuple[tuple[int, str], ...]  # from the root to the node, both included
    top: Seen
    first: int  # of its children that is drawn, from 0
    nodes: int  # of the whole tree
    page: int = PAGE
    found: tuple[tuple[Seen, str], ...] = ()  # each with the label of the node above it
    matching: int = 0

    @property
    def whole(self) -> bool:
        """Is all of the tree drawn?"""
        return not self.found and len(self.way) == 1 and not any(one.more for one in _every(self.top))

    @property
    def groups(self) -> list[str]:
        """Labels of groups that are drawn, and of those above."""
        drawn = [one.label for one in _every(self.top) if one.below]
        return list(dict.fromkeys([*(label for _, label in self.way), *drawn]))


class Outline:
    """A tree with a number, a parent and a count of records for each node."""

    def __init__(self, root: Branch, many: Mapping[str, int], records: int) -> None:
        self.root = root
        self.nodes = list(root.walk())
        self.number = {node.label: at for at, node in enumerate(self.nodes)}
        self.above = [-1] * len(self.nodes)
        for at, node in enumerate(self.nodes):
            for child in node.children:
                self.above[self.number[child.label]] = at
        self.records = max(records, 1)
        self.counts = _counted(self.nodes, self.above, many) if many else []

    @property
    def groups(self) -> list[str]:
        return [node.label for node in self.nodes if node.children]

    def way(self, at: int) -> list[int]:
        """The numbers from the root to a node, both included."""
        found = [at]
        while (at := self.above[at]) >= 0:
            found.append(at)
        return found[::-1]

    def there(self, at: int) -> int:
        """The number of a node; the root's, where the tree has no such node any more."""
        return at if at < len(self.nodes) else 0

    def label(self, at: int) -> str:
        return self.nodes[at].label

    def ways(self, values: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Every label from a leaf up to the root, for each value that is one."""
        known = {value: self.number[value] for value in values if value in self.number}
        return {
            value: tuple(self.nodes[one].label for one in reversed(self.way(at)))
            for value, at in known.items()
            if at and not self.nodes[at].children
        }

    def part(self, at: int = 0, first: int = 0) -> Part:
        """A node and what is below it: all, where that fits, else the first of them and of theirs."""
        at = self.there(at)
        top, below = self.nodes[at], len(self.nodes[at].children)
        first = first if first < below else 0
        fits = first == 0 and sum(1 for _ in _some(top, MOST + 1)) <= MOST
        drawn: dict[str, int] = {}  # how many children of each are drawn
        left, row = MOST, deque([(top, first, below if fits else PAGE)])
        while row and left:
            node, start, most = row.popleft()
            some = node.children[start : start + min(most, left)]
            drawn[node.label] = len(some)
            left -= len(some)
            row.extend((child, 0, MOST if fits else FEW) for child in some if child.children)
        return Part(
            tuple((one, self.nodes[one].label) for one in self.way(at)),
            self._seen(top, drawn, first),
            first,
            len(self.nodes),
        )

    def _seen(self, node: Branch, drawn: Mapping[str, int], first: int = 0) -> Seen:
        at = self.number[node.label]
        some = node.children[first : first + drawn.get(node.label, 0)]
        count = self.counts[at] if self.counts else None
        step = 0 if not count else -(-STEPS * count // self.records)
        return Seen(
            at, node.label, len(node.children), count, step, tuple(self._seen(one, drawn) for one in some)
        )

    def search(self, said: str) -> Part:
        """The nodes whose label holds a text, as many as a page has room for."""
        wanted = said.strip().casefold()
        found = [at for at, node in enumerate(self.nodes) if wanted in node.label.casefold()]
        some = tuple(
            (self._seen(self.nodes[at], {}), self.nodes[self.above[at]].label if at else "")
            for at in found[:PAGE]
        )
        top = self._seen(self.root, {})
        return Part(((0, self.root.label),), top, 0, len(self.nodes), found=some, matching=len(found))


class Outlines:
    """The outlines of the trees that were shown last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[int, int], tuple[Outline, Mapping[str, int]]] = {}

    def of(self, root: Branch, many: Mapping[str, int], records: int) -> Outline:
        """The outline of this very tree, whose values so many records have."""
        key = (id(root), id(many))  # kept with what they are of, so that no other can have these
        with self._lock:
            known = self._known.pop(key, None)
            found = (Outline(root, many, records), many) if known is None else known
            self._known[key] = found
            for old in list(self._known)[:-KEPT]:
                del self._known[old]
            return found[0]


def _counted(nodes: list[Branch], above: list[int], many: Mapping[str, int]) -> list[int]:
    """How many records stand below each node; parents come first in the walk, so it is gone backwards."""
    found = [0 if node.children else many.get(node.label, 0) for node in nodes]
    for at in range(len(nodes) - 1, 0, -1):
        found[above[at]] += found[at]
    return found


def _some(node: Branch, most: int) -> Iterator[Branch]:
    for at, one in enumerate(node.walk()):
        if at >= most:
            return
        yield one


def _every(node: Seen) -> Iterator[Seen]:
    yield node
    for child in node.children:
        yield from _every(child)
