"""Spec 06 said once more and naively: nested objects, fractions, and every mapping tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations

from privet.document.forest import Vertex
from privet.document.schema import Schema
from privet.domain import Value
from privet.hierarchy import Tree

Loss = tuple[Fraction, int]  # what is lost in labels, and how many vertices are gone


class Dgh:
    """A hierarchy as a map from each label to the one above it."""

    def __init__(self, tree: Tree) -> None:
        self.above: dict[Value, Value] = {}
        self.under: dict[Value, int] = {}
        for node in tree.root.walk():
            self.under[node.label] = sum(not below.children for below in node.walk())
            self.above.update({child.label: node.label for child in node.children})
        self.root = tree.root.label

    def line(self, label: Value) -> list[Value]:
        found = [label]
        while found[-1] != self.root:
            found.append(self.above[found[-1]])
        return found

    def mrca(self, one: Value, other: Value) -> Value:
        return next(label for label in self.line(one) if label in self.line(other))

    def loss(self, label: Value) -> Fraction:
        all_leaves = self.under[self.root]
        return Fraction(self.under[label] - 1, all_leaves - 1) if all_leaves > 1 else Fraction(0)


@dataclass
class Part:
    """A vertex of a representative: generalised labels, each member's sensitive value."""

    type: str
    qi: tuple[Value, ...]
    sa: dict[int, tuple[Value, int]]  # by member: the value and its bucket
    children: list[Part] = field(default_factory=list)

    def walk(self) -> list[Part]:
        return [self, *(part for child in self.children for part in child.walk())]


@dataclass
class World:
    schema: Schema
    lsap: bool = True
    members: bool = False  # do representatives count for each member?
    k_only: bool = False
    sa_weight: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        self.dghs = {
            (kind.name, f.name): Dgh(f.hierarchy)
            for kind in self.schema.kinds
            for f in kind.quasi
            if isinstance(f.hierarchy, Tree)
        }

    def part(self, record: Vertex, member: int) -> Part:
        kind = self.schema.kind(record.type)
        by_name = dict(zip([f.name for f in kind.published], record.values, strict=True))
        sa = {}
        if kind.sensitive:
            value = by_name[kind.sensitive.name]
            cut = kind.sensitive.buckets
            bucket = hash(value) if cut is None else cut.bucket(value)
            sa = {member: (value, -1 if bucket is None else bucket)}
        quasi = tuple(by_name[f.name] for f in kind.quasi)
        return Part(record.type, quasi, sa, [self.part(child, member) for child in record.children])

    def lost(self, part: Part, weight: int) -> Loss:
        kinds = [self.schema.kind(p.type) for p in part.walk()]
        labels = sum(
            (k.weight * len(k.quasi) + (self.sa_weight if k.sensitive else 0) for k in kinds), Fraction(0)
        )
        return weight * labels, weight * len(kinds)

    def diverse(self, a: Part, b: Part) -> bool:
        if a.type != b.type:
            return False
        return self.k_only or not {s for _, s in a.sa.values()} & {s for _, s in b.sa.values()}

    def label_loss(self, part: Part) -> Fraction:
        kind = self.schema.kind(part.type)
        losses = (
            self.dghs[part.type, f.name].loss(label) for f, label in zip(kind.quasi, part.qi, strict=True)
        )
        return kind.weight * sum(losses, Fraction(0))

    def pair(self, a: Part, b: Part, wa: int = 1, wb: int = 1) -> tuple[Loss, Part | None]:
        if not self.diverse(a, b):
            return plus(self.lost(a, wa), self.lost(b, wb)), None
        kind = self.schema.kind(a.type)
        labels = tuple(
            self.dghs[a.type, f.name].mrca(x, y) for f, x, y in zip(kind.quasi, a.qi, b.qi, strict=True)
        )
        merged = Part(a.type, labels, {**a.sa, **b.sa})
        loss: Loss = ((wa + wb) * self.label_loss(merged), 0)
        swapped = len(a.children) > len(b.children)
        rows, columns = (b.children, a.children) if swapped else (a.children, b.children)
        weight = wa if swapped else wb
        alone = [self.lost(column, weight) for column in columns]
        tried = [
            [self.pair(c, r, wa, wb) if swapped else self.pair(r, c, wa, wb) for c in columns] for r in rows
        ]
        chosen = (self.best if self.lsap else self.greedy)(
            [[loss for loss, _ in row] for row in tried], alone
        )
        for row, column in enumerate(chosen):
            loss = plus(loss, tried[row][column][0])
            child = tried[row][column][1]
            if child is not None:
                merged.children.append(child)
        for column in set(range(len(columns))) - set(chosen):
            loss = plus(loss, alone[column])
        return loss, merged

    @staticmethod
    def greedy(losses: list[list[Loss]], alone: list[Loss]) -> tuple[int, ...]:
        left = list(range(len(alone)))
        chosen: list[int] = []
        for row in losses:
            best = min(left, key=lambda column: row[column])
            left.remove(best)
            chosen.append(best)
        return tuple(chosen)

    @staticmethod
    def best(losses: list[list[Loss]], alone: list[Loss]) -> tuple[int, ...]:
        def total(columns: tuple[int, ...]) -> tuple[Loss, tuple[int, ...]]:
            loss: Loss = (Fraction(0), 0)
            for row, column in enumerate(columns):
                loss = plus(loss, losses[row][column])
            for column in set(range(len(alone))) - set(columns):
                loss = plus(loss, alone[column])
            return loss, columns

        return min(permutations(range(len(alone)), len(losses)), key=total)

    def create_cluster(
        self, pool: Sequence[int], parts: Sequence[Part], size: int, seed: int
    ) -> Cluster | None:
        rep, members, left = parts[seed], [seed], [at for at in pool if at != seed]
        while len(members) < size:
            weight = len(members) if self.members else 1
            tried = [(self.pair(rep, parts[at], weight), at) for at in left]
            feasible = [(loss, at, merged) for (loss, merged), at in tried if merged is not None]
            if not feasible:
                return None
            _, at, merged = min(feasible, key=lambda each: each[:2])
            rep = merged
            members.append(at)
            left.remove(at)
        return Cluster(members, rep, self.class_cost([parts[at] for at in members], rep))

    def class_cost(self, members: Sequence[Part], rep: Part) -> Loss:
        """Vertex by vertex: every published label of everybody, and whatever is gone."""
        kept = rep.walk()
        loss: Loss = (len(members) * sum((self.label_loss(part) for part in kept), Fraction(0)), 0)
        for member in members:
            before, now = self.lost(member, 1), self.lost(rep, 1)
            loss = plus(loss, (before[0] - now[0], before[1] - now[1]))
        return loss

    def clustree(
        self, records: Sequence[Vertex], size: int, step: Fraction, ceiling: Fraction, first: Fraction | None
    ) -> tuple[list[Cluster], list[int], int]:
        """Clusters, who is suppressed, and how many passes; `first=None` accepts everything at once."""
        parts = [self.part(record, at) for at, record in enumerate(records)]
        pool = list(range(len(parts)))
        found: list[Cluster] = []
        suppressed: list[int] = []
        chi, passes = first, 0
        while True:
            passes += 1
            for seed in list(pool):
                if len(pool) < size:
                    return found, sorted(suppressed + pool), passes
                if seed not in pool:
                    continue
                cluster = self.create_cluster(pool, parts, size, seed)
                if cluster is None:
                    if chi is None:
                        suppressed.append(seed)
                        pool.remove(seed)
                    continue
                if len(found) > 1 and chi is not None and self.dear(cluster, found, chi):
                    continue
                found.append(cluster)
                pool = [at for at in pool if at not in cluster.members]
            if not pool:
                return found, sorted(suppressed), passes
            if chi is not None:
                chi += step
                if chi >= ceiling:
                    chi = None

    @staticmethod
    def dear(cluster: Cluster, found: Sequence[Cluster], chi: Fraction) -> bool:
        costs = [each.cost[0] for each in found]
        mean = sum(costs, Fraction(0)) / len(costs)
        spread = sum(((cost - mean) ** 2 for cost in costs), Fraction(0)) / len(costs)
        over = cluster.cost[0] - mean
        return over > 0 and over**2 > chi**2 * spread


@dataclass
class Cluster:
    members: list[int]
    rep: Part
    cost: Loss


def plus(one: Loss, other: Loss) -> Loss:
    return one[0] + other[0], one[1] + other[1]


def same(part: Part, other: Part, equal: Callable[[Part, Part], bool]) -> bool:
    """Are two representatives equal, children in order?"""
    if not equal(part, other) or len(part.children) != len(other.children):
        return False
    return all(same(a, b, equal) for a, b in zip(part.children, other.children, strict=True))
