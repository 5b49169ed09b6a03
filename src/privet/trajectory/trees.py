"""What a point stands in: how many violating sequences it would remove, how many frequent ones it would cost.

Mohammed 2012, definitions 4.7 and 4.8, keeps both sets as prefix trees with a link through the nodes of
each point. `Remaining` holds the same counts without the nodes: for each point the list of its sequences,
a flag for each sequence that is still there, and the table that the links would add up to. `branches` draws
the tree, for those who want to see it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from privet.trajectory.paths import Ints, PointCodes
from privet.trajectory.sequences import Sequences


class Remaining:
    """Sequences of which some are already gone, counted by point."""

    def __init__(self, sequences: Sequences) -> None:
        points = len(sequences.points)
        self._members = sequences.padded(fill=points)  # a place of no point takes what only fills up
        self._there = np.ones(len(sequences), dtype=bool)
        self._of = np.repeat(np.arange(len(sequences)), sequences.lengths)[
            np.argsort(sequences.members, kind="stable")
        ]
        counts = np.bincount(sequences.members, minlength=points + 1)
        self._starts = np.concatenate(([0], np.cumsum(counts))).tolist()
        self._counts = counts.astype(np.int64)

    @property
    def counts(self) -> Ints:
        """For each point, how many of the sequences that are still there contain it."""
        return self._counts[:-1]

    @property
    def there(self) -> Ints:
        """Which sequences are still there."""
        return np.flatnonzero(self._there)

    def remove(self, point: int) -> PointCodes:
        """Every sequence with this point goes; the points of those that went, perhaps repeated."""
        return self.drop(self.holding(point))

    def holding(self, point: int) -> Ints:
        """Which of the sequences that are still there contain this point."""
        holding = self._of[self._starts[point] : self._starts[point + 1]]
        return holding[self._there[holding]]

    def drop(self, going: Ints) -> PointCodes:
        """These sequences go; their points, perhaps repeated."""
        self._there[going] = False
        touched: PointCodes = self._members[going].ravel()
        np.subtract.at(self._counts, touched, 1)
        return touched[touched < len(self._counts) - 1]


@dataclass(slots=True)
class Branch:
    """A node of a prefix tree: its point, and how many sequences begin like this."""

    label: str
    count: int = 0
    below: dict[int, Branch] = field(default_factory=dict)

    def __str__(self) -> str:
        inner = ", ".join(str(branch) for branch in self.below.values())
        return f"{self.label}:{self.count}" + (f" [{inner}]" if inner else "")


def branches(sequences: Sequences) -> Branch:
    """The prefix tree of a set of sequences."""
    root = Branch("root")
    for sequence in sorted(sequences.tuples()):
        at = root
        at.count += 1
        for point in sequence:
            at = at.below.setdefault(point, Branch(sequences.points.labels[point]))
            at.count += 1
    return root
