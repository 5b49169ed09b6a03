"""A decision tree grown on reconstructed distributions (Agrawal and Srikant 2000).

Global and by-class put every record into a bin once, before the tree is grown; local does so again at every
node, from the records that have come there. Splits are by information gain: of a number, below a bin or
not; of a category, some of its values or the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.collect.assign import assigned
from privet.collect.channels import Unary
from privet.collect.column import Column
from privet.collect.draw import Codes
from privet.collect.iterate import Stop, chi_square
from privet.collect.matrix import Floats, bin_of, bins_of
from privet.collect.training import Strategy, Training
from privet.core import Progress, silent

DEPTH = 6
SMALLEST = 0.01  # of all records, in a leaf
AGAIN = 500  # records of each class, for another reconstruction
CELLS = 20  # of answers, in a test of whether classes differ


@dataclass(frozen=True, slots=True)
class Node:
    """Records by class; and, unless it is a leaf, a column and which of its bins go left."""

    counts: tuple[int, ...]
    column: str | None = None
    left_bins: tuple[int, ...] = ()
    left: Node | None = None
    right: Node | None = None

    def document(self) -> dict[str, Any]:
        if self.left is None or self.right is None:
            return {"counts": list(self.counts)}
        return {
            "counts": list(self.counts),
            "column": self.column,
            "left_bins": list(self.left_bins),
            "left": self.left.document(),
            "right": self.right.document(),
        }


@dataclass(frozen=True)
class Tree:
    """A tree over bins."""

    label: Column
    columns: Mapping[str, Column]
    bins: int
    root: Node

    def predict(self, codes: Mapping[str, Any]) -> Codes:
        """The commonest class of the leaf of each record, from the numbers of its true values."""
        at = {name: bin_of(column, codes[name], self.bins) for name, column in self.columns.items()}
        found = np.zeros(len(next(iter(at.values()))), dtype=np.int64)
        waiting = [(self.root, np.arange(len(found)))]
        while waiting:
            node, rows = waiting.pop()
            if node.left is None or node.right is None or node.column is None:
                found[rows] = int(np.argmax(node.counts))
                continue
            left = np.isin(at[node.column][rows], node.left_bins)
            waiting += [(node.left, rows[left]), (node.right, rows[~left])]
        return found

    def document(self) -> dict[str, Any]:
        return {"model": "tree", "tree": self.root.document()}


def train(
    training: Training,
    strategy: Strategy,
    *,
    bins: int,
    stop: Stop,
    depth: int = DEPTH,
    smallest: float = SMALLEST,
    progress: Progress = silent,
) -> Tree:
    """A tree of at most this depth whose leaves hold at least a share of all records."""
    fewest = max(1, int(smallest * len(training.classes)))
    grower = _Grower(_Task(training, strategy, bins, stop), fewest, progress)
    rows = np.arange(len(training.classes))
    return Tree(
        training.label, training.columns, bins, grower.grown(rows, grower.placed(rows), depth, frozenset())
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """What a tree is grown from, and how."""

    training: Training
    strategy: Strategy
    bins: int
    stop: Stop


class _Grower:
    """Grows one tree; `fewest` are the records that a leaf must have."""

    def __init__(self, task: _Task, fewest: int, progress: Progress) -> None:
        self._training, self._strategy = task.training, task.strategy
        self._bins, self._stop = task.bins, task.stop
        self._fewest = fewest
        self._progress = progress
        self._chance = np.random.default_rng(0)  # of a model, not of anybody's answer: it may repeat
        self._classes = task.training.label.channel.inputs
        self._nodes = 0

    def placed(self, rows: Codes, but: frozenset[str] = frozenset()) -> dict[str, Codes]:
        """The bin of each of these records, column by column."""
        training, made = self._training, {}
        for name, column in training.columns.items():
            if name in but:
                continue
            outputs = training.outputs[name][rows]
            if self._strategy is Strategy.PERTURBED:
                made[name] = self._taken_for_true(column, outputs)
            elif self._strategy is Strategy.GLOBAL:
                made[name] = assigned(column, outputs, self._bins, self._stop, self._chance)
            else:
                at = np.zeros(len(rows), dtype=np.int64)
                for one in range(self._classes):
                    own = training.classes[rows] == one
                    at[own] = assigned(column, outputs[own], self._bins, self._stop, self._chance)
                made[name] = at
        return made

    def _taken_for_true(self, column: Column, outputs: Any) -> Codes:
        if isinstance(column.channel, Unary):
            return np.asarray(np.argmax(outputs, axis=1))
        first = column.channel.first
        return bin_of(column, np.clip(outputs + first, 0, column.channel.inputs - 1), self._bins)

    def grown(self, rows: Codes, at: Mapping[str, Codes], depth: int, split_by: frozenset[str]) -> Node:
        """A node of these records; `split_by` are the columns that decided who came here."""
        self._nodes += 1
        self._progress("search", self._nodes)
        classes = self._training.classes[rows]
        counts = tuple(np.bincount(classes, minlength=self._classes).tolist())
        split = self._best(rows, classes, at) if depth and max(counts) < len(rows) else None
        if split is None:
            return Node(counts)
        column, left_bins = split
        left = np.isin(at[column], left_bins)
        decided = split_by | {column}
        sides = []
        for own in (left, ~left):
            some, placed = rows[own], {name: one[own] for name, one in at.items()}
            if self._strategy is Strategy.LOCAL and depth > 1:
                placed |= self._again(some, decided)
            sides.append(self.grown(some, placed, depth - 1, decided))
        if all(side.left is None for side in sides) and len({np.argmax(side.counts) for side in sides}) == 1:
            return Node(counts)  # whichever way, the same class
        return Node(counts, column, tuple(left_bins), *sides)

    def _again(self, rows: Codes, decided: frozenset[str]) -> dict[str, Codes]:
        """Placed anew, column by column.

        A column that was split keeps its places: who is here was chosen by its answers, so their noise is not
        that of the channel any more. And a class of which few are here would be reconstructed from chance.
        """
        sizes = np.bincount(self._training.classes[rows], minlength=self._classes)
        there = sizes[sizes > 0]
        return self.placed(rows, decided) if len(there) and there.min() >= AGAIN else {}

    def _best(self, rows: Codes, classes: Codes, at: Mapping[str, Codes]) -> tuple[str, list[int]] | None:
        best, chosen = 1e-9, None
        for name, column in self._training.columns.items():
            # Reconstruction class by class makes differences of its own out of noise. If perturbed answers do
            # not differ between classes, there is nothing that could be reconstructed.
            if not differs(self._training.outputs[name][rows], classes, self._classes):
                continue
            width = bins_of(column, self._bins)
            counts = np.bincount(classes * width + at[name], minlength=self._classes * width)
            table: Floats = counts.reshape(self._classes, width).astype(np.float64)
            for left_bins in _candidates(table, numeric=column.numeric):
                left = table[:, left_bins].sum(axis=1)
                gain = _gain(left, table.sum(axis=1) - left, self._fewest)
                if gain > best:
                    best, chosen = gain, (name, left_bins)
        return chosen


def differs(outputs: Any, classes: Codes, number: int) -> bool:
    """Do answers differ between classes by more than chance, by a chi-square test at 1 %?"""
    if outputs.ndim == 2:  # bits, each by itself; together they have a degree of freedom each
        return _distance(outputs, classes, number) > chi_square(outputs.shape[1] * (number - 1), 0.99)
    edges = np.unique(np.quantile(outputs, np.linspace(0, 1, CELLS + 1)[1:-1], method="nearest"))
    cells = np.searchsorted(edges, outputs, side="right")
    some = np.eye(len(edges) + 1, dtype=np.bool_)[cells]
    free = max(int(some.any(axis=0).sum()) - 1, 1) * (number - 1)
    return _distance(some, classes, number, whole=True) > chi_square(free, 0.99)


def _distance(flags: Any, classes: Codes, number: int, *, whole: bool = False) -> float:
    """Chi-square of flags by class; flags that are all of a table leave out what is not set."""
    shares = flags.mean(axis=0)
    there = (shares > 0) & (shares < 1)
    found = 0.0
    for one in range(number):
        own = flags[classes == one]
        if len(own):
            apart = (own.mean(axis=0)[there] - shares[there]) ** 2 / shares[there]
            found += len(own) * float((apart / (1 if whole else 1 - shares[there])).sum())
    return found


def _candidates(table: Floats, *, numeric: bool) -> Iterator[list[int]]:
    """Which bins go left: the lowest of a number; of a category those with the least of the last class."""
    width = table.shape[1]
    if numeric:
        yield from (list(range(cut)) for cut in range(1, width))
    elif len(table) == 2:  # in this order the best of all subsets is one of these (Breiman et al. 1984)
        order = np.argsort(table[1] / np.maximum(table.sum(axis=0), 1e-300), kind="stable").tolist()
        yield from (order[:cut] for cut in range(1, width))
    else:
        yield from ([one] for one in range(width))


def _gain(left: Floats, right: Floats, fewest: int) -> float:
    """Information gain, in bits; nothing for a split with too small a side."""
    if min(left.sum(), right.sum()) < fewest:
        return 0.0
    size = left.sum() + right.sum()
    parts = left.sum() / size * _entropy(left) + right.sum() / size * _entropy(right)
    return _entropy(left + right) - float(parts)


def _entropy(counts: Floats) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())
