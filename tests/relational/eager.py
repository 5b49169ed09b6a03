"""The top-down algorithm of spec 01, section 3, as naively as it can be said.

Eager: before each step every candidate is tried on the records themselves, and the best of those that
keep every promise is taken. Nothing is kept between steps but the cuts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import TypeAlias

from tests import oracle

from privet.core import Tally
from privet.domain import Domain, Node
from privet.relational.topdown import Score, Splits

Keeps: TypeAlias = Callable[[list[dict[str, str | None]]], bool]
Record: TypeAlias = dict[str, int]  # the code of each quasi-identifier


@dataclass
class Interval:
    """How a cut's value can be split: given children, or halves in the order in which they are tried."""

    ways: list[tuple[Node, ...]]


@dataclass
class Eager:
    """The state of the naive search."""

    tally: Tally
    keeps: Keeps
    score: Score
    splits: Splits
    performed: list[tuple[str, str | None, tuple[str | None, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.domains: dict[str, Domain] = {c.name: c.domain for c in self.tally.quasi}
        self.raw = oracle.rows_of(self.tally)
        self.records: list[Record] = [
            {name: domain.codes[row[name]] for name, domain in self.domains.items()} for row in self.raw
        ]
        self.cuts: dict[str, list[Node]] = {}
        self.ways: dict[tuple[str, int, int, str | None], list[tuple[Node, ...]]] = {}
        for name, domain in self.domains.items():
            self.cuts[name] = [domain.root]
        for name, domain in self.domains.items():
            self._enter(name, domain.root)

    def run(self) -> Eager:
        while (best := self._best()) is not None:
            name, node, children = best
            at = self.cuts[name].index(node)
            self.cuts[name][at : at + 1] = children
            self.performed.append((name, node.label, tuple(child.label for child in children)))
            for child in children:
                self._enter(name, child)
        return self

    # What could be done next, and what it is worth.

    def _best(self) -> tuple[str, Node, tuple[Node, ...]] | None:
        found = []
        for place, (name, nodes) in enumerate(self.cuts.items()):
            for node in nodes:
                for children in self.ways[self._key(name, node)]:
                    if self.keeps(self._published(name, node, children)):
                        rank = (*self._rank(name, node, children), place, node.lo, -node.hi)
                        found.append((rank, (name, node, children)))
                        break
        return min(found, key=lambda pair: pair[0])[1] if found else None

    def _rank(self, name: str, node: Node, children: Sequence[Node]) -> tuple[float, ...]:
        if self.score is Score.INFORMATION_GAIN:
            return (-self._gain(name, node, children),)
        if self.score is Score.GAIN_PER_LOSS:
            loss = min(self._sizes(self.cuts)) - min(self._sizes(self._after(name, node, children)))
            return (-self._gain(name, node, children) / (loss + 1),)
        groups = Counter(self._key_of(record, self.cuts) for record in self.records)
        here = sum(size**2 for group, size in groups.items() if dict(group)[name] == (node.lo, node.hi))
        split = self._after(name, node, children)
        before, after = (sum(s**2 for s in self._sizes(cuts)) for cuts in (self.cuts, split))
        return -here, -(before - after)

    def _gain(self, name: str, node: Node, children: Sequence[Node]) -> float:
        whole = self._classes(name, node)
        rest = sum(
            len(part) / len(whole) * entropy(part)
            for child in children
            if (part := self._classes(name, child))
        )
        return round(entropy(whole) - rest, 12) if whole else 0.0

    def _classes(self, name: str, node: Node) -> list[str | None]:
        return [
            row["t"]
            for row, record in zip(self.raw, self.records, strict=True)
            if node.lo <= record[name] < node.hi
        ]

    # Splits of a value are chosen when it enters the cut.

    def _enter(self, name: str, node: Node) -> None:
        self.ways[self._key(name, node)] = self._ways(name, node)

    def _ways(self, name: str, node: Node) -> list[tuple[Node, ...]]:
        domain = self.domains[name]
        if node.children:
            return [node.children]
        if not domain.grows(node) or domain.scale is None:
            return []
        numbers = domain.scale.numbers
        places = [at for at in range(node.lo + 1, node.hi) if numbers[at - 1] < numbers[at]]
        halves = [domain.split(node, at) for at in places]
        if self.tally.target is not None:
            halves.sort(key=lambda pair: -self._gain(name, node, pair))
        else:
            halves.sort(key=lambda pair: sum(s**2 for s in self._sizes(self._after(name, node, pair))))
        return list(halves) if self.splits is Splits.BEST_VALID else list(halves[:1])

    # The table as it would be published.

    def _after(self, name: str, node: Node, children: Iterable[Node]) -> dict[str, list[Node]]:
        at = self.cuts[name].index(node)
        return {**self.cuts, name: [*self.cuts[name][:at], *children, *self.cuts[name][at + 1 :]]}

    def _published(self, name: str, node: Node, children: Iterable[Node]) -> list[dict[str, str | None]]:
        cuts = self._after(name, node, children)
        return [
            {**row, **{n: covering(cuts[n], code).label for n, code in record.items()}}
            for row, record in zip(self.raw, self.records, strict=True)
        ]

    def _sizes(self, cuts: dict[str, list[Node]]) -> list[int]:
        return list(Counter(self._key_of(record, cuts) for record in self.records).values())

    @staticmethod
    def _key_of(record: Record, cuts: dict[str, list[Node]]) -> tuple[tuple[str, tuple[int, int]], ...]:
        return tuple(
            (name, (node.lo, node.hi))
            for name, code in record.items()
            for node in [covering(cuts[name], code)]
        )

    @staticmethod
    def _key(name: str, node: Node) -> tuple[str, int, int, str | None]:
        return name, node.lo, node.hi, node.label


def covering(cut: Sequence[Node], code: int) -> Node:
    return next(node for node in cut if node.lo <= code < node.hi)


def entropy(classes: Sequence[str | None]) -> float:
    counts = Counter(classes)
    return -sum(n / len(classes) * log2(n / len(classes)) for n in counts.values())
