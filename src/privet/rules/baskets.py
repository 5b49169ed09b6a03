"""The tally of set-valued data: for every record, the numbers of its items.

A struct of arrays, as everywhere: record `i` has the items `members[starts[i]:starts[i + 1]]`, each once and
in rising order. Records stay apart, since hiding a rule changes some of those that look alike and not others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet import equality
from privet.errors import InternalError
from privet.trajectory.paths import Paths, Points

Ints: TypeAlias = NDArray[np.int64]
Items: TypeAlias = NDArray[np.int32]
Mask: TypeAlias = NDArray[np.bool_]


def distinct(keys: Ints) -> Ints:
    """Each once and in order; by sorting, which is far quicker here than numpy's table of hashes."""
    keys = np.sort(keys)
    found: Ints = keys[np.diff(keys, prepend=-1) != 0]  # keys are 0 or more
    return found


@dataclass(frozen=True, eq=False)
class Baskets:
    """Records that are sets of items.

    >>> baskets = Baskets.of([["milk", "bread"], ["bread"], []])
    >>> baskets.items, baskets.supports.tolist(), baskets.records
    (('bread', 'milk'), [2, 1], 3)
    """

    items: tuple[str, ...] = field(repr=False)  # what each number stands for; some may occur nowhere
    members: Items = field(repr=False)
    starts: Ints = field(repr=False)  # one more than there are records

    @classmethod
    def of(cls, records: Iterable[Iterable[str]]) -> Self:
        """From records as people write them; an item that stands twice in one counts once."""
        sets = [set(record) for record in records]
        items = tuple(sorted({item for record in sets for item in record}))
        code = {item: at for at, item in enumerate(items)}
        owner = np.repeat(np.arange(len(sets)), [len(record) for record in sets])
        codes = np.array([code[i] for s in sets for i in s], np.int64)
        return cls.gathered(items, owner, codes, len(sets)).spelt()

    @classmethod
    def gathered(cls, items: Sequence[str], owner: NDArray[Any], item: NDArray[Any], records: int) -> Self:
        """From pairs of a record's number and an item's number, in any order and perhaps repeated."""
        keys = distinct(owner.astype(np.int64) * max(len(items), 1) + item)
        owners, members = np.divmod(keys, max(len(items), 1))
        starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=records))))
        return cls(tuple(items), members.astype(np.int32), starts.astype(np.int64))

    def __post_init__(self) -> None:
        if not len(self.starts) or self.starts[0] or self.starts[-1] != len(self.members):
            raise InternalError("the starts of baskets do not fit their items")
        late = np.zeros(len(self.members), dtype=bool)
        late[1:] = self.members[1:] <= self.members[:-1]
        firsts = self.starts[:-1]
        late[firsts[firsts < len(late)]] = False
        if late.any():
            raise InternalError("the items of a basket rise")

    @property
    def records(self) -> int:
        return len(self.starts) - 1

    @property
    def cells(self) -> int:
        """How many items all records have together."""
        return len(self.members)

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    @cached_property
    def owner(self) -> Ints:
        """For each item in a basket, the record that it is in."""
        return np.repeat(np.arange(self.records, dtype=np.int64), self.lengths)

    @cached_property
    def supports(self) -> Ints:
        """For each item, how many records have it."""
        return np.bincount(self.members, minlength=len(self.items)).astype(np.int64)

    @cached_property
    def codes(self) -> dict[str, int]:
        return {item: at for at, item in enumerate(self.items)}

    @cached_property
    def _inverted(self) -> tuple[NDArray[np.int32], Ints]:
        order = np.argsort(self.members, kind="stable")
        return self.owner[order].astype(np.int32), np.concatenate(([0], np.cumsum(self.supports)))

    def having(self, item: int) -> NDArray[np.int32]:
        """The records that have an item, in rising order."""
        owners, begin = self._inverted
        return owners[begin[item] : begin[item + 1]]

    def holding(self, itemset: Iterable[int]) -> NDArray[np.int32]:
        """The records that have every one of these items; of no items, all records."""
        columns = sorted((self.having(item) for item in itemset), key=len)
        if not columns:
            return np.arange(self.records, dtype=np.int32)
        found = columns[0]
        for column in columns[1:]:
            if not len(column):
                return column
            at = np.searchsorted(column, found)
            at[at == len(column)] = 0
            found = found[column[at] == found]
        return found

    def support(self, itemset: Iterable[int]) -> int:
        return len(self.holding(itemset))

    def keeping(self, kept: Mask) -> Self:
        """The same records with only these of their items."""
        before = np.concatenate(([0], np.cumsum(kept)))
        return replace(self, members=self.members[kept], starts=before[self.starts].astype(np.int64))

    def only(self, records: NDArray[Any]) -> Self:
        """These records alone, in this order."""
        lengths = self.lengths[records]
        begin = np.concatenate(([0], np.cumsum(lengths)))
        at = np.arange(begin[-1]) + np.repeat(self.starts[:-1][records] - begin[:-1], lengths)
        return replace(self, members=self.members[at], starts=begin.astype(np.int64))

    def without(self, cells: Iterable[tuple[int, int]]) -> Self:
        """The same records after items were deleted, each as a record and an item."""
        gone = np.array(list(cells), dtype=np.int64).reshape(-1, 2)
        wide = max(len(self.items), 1)
        return self.keeping(~np.isin(self.owner * wide + self.members, gone[:, 0] * wide + gone[:, 1]))

    def renamed(self, items: Sequence[str], of_item: NDArray[Any]) -> Self:
        """The same records with every item replaced by another number; -1 where it is suppressed."""
        number = of_item[self.members]
        stays = number >= 0
        return self.gathered(items, self.owner[stays], number[stays], self.records)

    def spelt(self) -> Self:
        """The same records with equal items as one, in one spelling: 7 and 7.0 are not two things to count.

        For whoever reads data; it is done once for each distinct item, never for each cell.
        """
        alike = equality.classes(self.items)
        if len(alike) == len(self.items):
            return self
        one = {found: equality.spelling(filter(None, spellings)) for found, spellings in alike.items()}
        labels = sorted(one.values())
        at = {label: number for number, label in enumerate(labels)}
        of_item = np.array([at[one[equality.key(item)]] for item in self.items], dtype=np.int64)
        return self.renamed(labels, of_item)

    def tuples(self) -> list[tuple[int, ...]]:
        """Each record as the numbers of its items."""
        members, starts = self.members.tolist(), self.starts.tolist()
        return [tuple(members[a:b]) for a, b in pairwise(starts)]

    @property
    def points(self) -> Points:
        """Items as the points of paths, in the order of their numbers.

        A path is a rising list of points and a sequence a subset of it, so whatever is counted of paths is
        counted of sets: their searches and their auditor serve here.
        """
        every = np.arange(len(self.items), dtype=np.int32)
        return Points(self.items, self.items, tuple(map(str, every.tolist())), every, every)

    def paths(self) -> Paths:
        """The records as paths, one cell each."""
        return Paths(self.points, self.members, self.starts, np.ones(self.records, dtype=np.int64))
