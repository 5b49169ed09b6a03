"""Sets of sequences, as a search finds them: columns again, not objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import numpy as np

from privet import native
from privet.errors import InternalError
from privet.trajectory.paths import Ints, PointCodes, Points


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of points, shorter ones first, and how many records contain each."""

    points: Points = field(repr=False)
    members: PointCodes = field(repr=False)  # one sequence after the other, each in order of time
    starts: Ints = field(repr=False)  # one more than there are sequences
    support: Ints = field(repr=False)

    @classmethod
    def of(cls, points: Points, found: Iterable[tuple[tuple[int, ...], int]]) -> Self:
        """From sequences and their support, in any order."""
        ordered = sorted(found, key=lambda one: (len(one[0]), one[0]))
        lengths = np.array([len(sequence) for sequence, _ in ordered], dtype=np.int64)
        return cls(
            points,
            np.array([point for sequence, _ in ordered for point in sequence], dtype=np.int32),
            np.concatenate(([0], np.cumsum(lengths))),
            np.array([support for _, support in ordered], dtype=np.int64),
        )

    @classmethod
    def taken(cls, points: Points, handle: Ints) -> Self:
        """What a compiled search left behind."""
        count, used = int(handle[1]), int(handle[2])
        members, ends, support = (
            np.empty(used, np.int32),
            np.empty(count, np.int64),
            np.empty(count, np.int64),
        )
        native.call("privet_sequences_take", int(handle[0]), members, ends, support)
        raw = cls(points, members, np.concatenate(([0], ends)), support)
        if not count:
            return raw
        # Sorted by length and then by point, whatever order the search went in.
        columns = raw.padded(fill=-1).T
        return raw.only(np.lexsort((*columns[::-1], raw.lengths)))

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.support) + 1 or self.starts[-1] != len(self.members):
            raise InternalError("the starts of sequences do not fit their members")

    def __len__(self) -> int:
        return len(self.support)

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    def padded(self, fill: int) -> PointCodes:
        """A row for each sequence, filled up at the end."""
        lengths = self.lengths
        table = np.full((len(self), int(lengths.max(initial=0))), fill, dtype=np.int32)
        table[np.arange(table.shape[1]) < lengths[:, None]] = self.members
        return table

    def only(self, chosen: Ints) -> Self:
        """The sequences at these places."""
        lengths = self.lengths[chosen]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        at = np.arange(starts[-1]) + np.repeat(self.starts[:-1][chosen] - starts[:-1], lengths)
        return type(self)(self.points, self.members[at], starts, self.support[chosen])

    def without(self, suppressed: Iterable[int]) -> Self:
        """The sequences that hold none of these points."""
        gone = np.zeros(len(self.points), dtype=bool)
        gone[np.fromiter(suppressed, dtype=np.int64)] = True
        hit = np.concatenate(([0], np.cumsum(gone[self.members])))[self.starts]
        return self.only(np.flatnonzero(np.diff(hit) == 0))

    def tuples(self) -> list[tuple[int, ...]]:
        members = self.members.tolist()
        return [tuple(members[start:end]) for start, end in pairwise(self.starts.tolist())]

    def labels(self) -> list[tuple[str, ...]]:
        """Each sequence as people write it; values from the data, for the steward's own eyes."""
        return [tuple(self.points.labels[point] for point in sequence) for sequence in self.tuples()]
