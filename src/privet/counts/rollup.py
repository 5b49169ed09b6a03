"""Counting the classes of a node from those of a finer one: the records are looked at once.

The classes of a generalisation are unions of classes, so their sizes (and how often each sensitive value
stands in them) are sums. A class is remembered by one cell of it, which tells its group at every coarser
level. `Rollups` keeps what was counted, and counts a node from the smallest of what lies below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import le
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.core import PrivacyModel, Tally
from privet.counts.door import Entries, Frequencies, Indexes, Ints, Levels, Mask, Rungs
from privet.errors import InternalError
from privet.recoding import Generalization, Regions

DENSE = 1 << 15  # an array this small is dense however few the keys
LARGE = 1 << 21  # up to here, an array of eight places for each key is quicker than sorting the keys
LIMIT = 2**62
SMALL = 2**31  # sums below it are added in half the memory
WORTH = 8  # increments of a compiled loop for each key: what numbering and adding come to
FEW = 4_000  # classes from which a node is counted without a stop on the way
KEPT = 2_000_000  # classes that are remembered at most, over all nodes
LATE = 3  # nodes besides: one that others are counted from, one that was counted, one in between


def _dense(keys: int, room: int) -> bool:
    """Is an array of this room quicker than sorting so many keys, and small enough?"""
    return room <= max(DENSE, 4 * keys, min(8 * keys, LARGE))


def summed(key: NDArray[Any], counts: Ints, room: int) -> tuple[Indexes, Ints]:
    """The keys that occur, ascending, and the sum of the counts of each."""
    if _dense(len(key), room):
        # bincount adds doubles, which are exact for whole numbers below 2**53
        total = np.bincount(key, weights=counts, minlength=room)
        found = np.flatnonzero(total != 0)  # of a mask, which numpy finds three times quicker than of doubles
        return found, total[found].astype(np.int64)
    if native.pays(WORTH * len(key)):
        number, at = numbered(key, room)
        return key[at].astype(np.int64), added(number, counts, len(at))
    order = np.argsort(key)
    ascending = key[order]
    first = np.flatnonzero(np.diff(ascending, prepend=-1))
    return ascending[first], np.add.reduceat(counts[order], first) if len(first) else counts[:0]


def numbered(key: NDArray[Any], room: int) -> tuple[Indexes, Indexes]:
    """The number of each key among those that occur, ascending, and where each number occurs once."""
    if native.pays(WORTH * len(key)) and (found := _numbered_by_loops(key, room)) is not None:
        return found
    if _dense(len(key), room):
        there = np.zeros(room, dtype=np.bool_)
        there[key] = True
        occurs = np.flatnonzero(there)
        place = np.empty(room, dtype=np.intp)
        place[occurs] = np.arange(len(occurs))
        number = place[key]
        at = np.empty(len(occurs), dtype=np.intp)
        at[number] = np.arange(len(key))
        return number, at
    order = np.argsort(key)
    first = np.diff(key[order], prepend=-1) != 0
    number = np.empty(len(key), dtype=np.intp)
    number[order] = np.cumsum(first) - 1
    return number, order[first]


def _numbered_by_loops(key: NDArray[Any], room: int) -> tuple[Indexes, Indexes] | None:
    plain, dense = np.ascontiguousarray(key, dtype=np.int64), _dense(len(key), room)
    number, at = np.empty(len(key), dtype=np.int64), np.empty(len(key), dtype=np.int64)
    many = native.call("privet_numbered", plain, len(key), room, int(dense), number, at)
    return None if many < 0 else (number, at[:many].copy())  # not a view, which would keep the rest


def added(number: Indexes, counts: Ints, classes: int) -> Ints:
    """The sum of the counts of each number."""
    if not native.pays(WORTH * len(number)):
        # bincount adds doubles, which are exact for whole numbers below 2**53
        return np.bincount(number, weights=counts, minlength=classes).astype(np.int64)
    total = np.empty(classes, dtype=np.int64)
    plain = [np.ascontiguousarray(each, dtype=np.int64) for each in (number, counts)]
    native.call("privet_added", *plain, len(number), total, classes)
    return total


def merged(key: NDArray[Any], counts: Ints, room: int) -> tuple[Indexes, Ints]:
    """Where each key occurs once, the keys ascending, and the sum of its counts, which are at least 1."""
    if native.pays(WORTH * len(key)):
        plain, at = np.ascontiguousarray(key, dtype=np.int64), np.empty(len(key), dtype=np.int64)
        total, size = np.empty_like(at), np.ascontiguousarray(counts, dtype=np.int64)
        dense = _dense(len(key), room) and int(size.sum()) < SMALL
        many = native.call("privet_summed", plain, size, len(key), room, int(dense), at, total)
        if many >= 0:
            return at[:many].copy(), total[:many].copy()  # no views, which would keep the rest
    number, at = numbered(key, room)
    return at, added(number, counts, len(at))


def people(key: NDArray[Any], person: NDArray[Any], room: int) -> Ints:
    """How many persons there are with each key.

    >>> people(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7]), 3).tolist()
    [1, 2, 0]
    """
    wide = int(person.max(initial=0)) + 1
    once = np.unique(key.astype(np.int64) * wide + person)
    return np.bincount(once // wide, minlength=room).astype(np.int64)


class Rollups:
    """The frequencies of every node that is asked for."""

    def __init__(self, tally: Tally, ladders: Sequence[Rungs], sensitive: Sequence[str] = ()) -> None:
        self._tally = tally
        self._ladders = ladders
        self.records = tally.records
        self._codes = [column.codes for column in tally.quasi]
        columns = [next(c for c in tally.sensitive if c.name == name) for name in sensitive]
        cells = np.arange(tally.cells)
        every = Frequencies(
            (-1,) * len(self._codes),
            cells,
            tally.counts,
            tuple(Entries(c, cells, c.codes.astype(np.intp), tally.counts) for c in columns),
            self._codes,
        )
        self._raw = every
        self._known: dict[Levels, Frequencies] = {}
        # The last that were counted or counted from are at hand, though there be no room to remember them.
        self._late: list[Frequencies] = []
        self._total = 0
        self._levels = np.empty((64, len(self._codes)), dtype=np.int16)
        self._sizes = np.empty(64, dtype=np.intp)
        self._sources: list[Frequencies] = []
        self._order = self._by_shrinking()

    @property
    def cells(self) -> int:
        """How many cells everything is counted from."""
        return self._tally.cells

    def at(self, node: Levels) -> Frequencies:
        """The classes of a node."""
        if (late := next((one for one in self._late if one.levels == node), None)) is not None:
            return self._use(late)
        if node in self._known:
            return self._known[node]
        source = self._smallest(node)
        if FEW < len(source) <= KEPT - self._total:
            # A stop on the way serves others too: the same node with its least telling lift undone. Where
            # there is no room to remember it, it would be counted again and again.
            lifted = [at for at in self._order if node[at] > max(source.levels[at], 0)]
            if len(lifted) > 1:
                stop = list(node)
                stop[lifted[-1]] = max(source.levels[lifted[-1]], 0)
                source = self.at(tuple(stop))
        self._use(source)
        found = self._merged(source, node)
        self._remember(node, found)
        return self._use(found)

    def beyond(self, node: Levels, smallest: int) -> None:
        """All classes are shown, however many there are."""

    def of_cells(self, node: Levels) -> Indexes:
        """The class of each cell, numbered as the node's frequencies are."""
        return numbered(*self.keys(self._raw.cell, node))[0]

    def holds(self, node: Levels, bad: Mask, models: Sequence[PrivacyModel]) -> bool:
        """Does the table at a node, without its bad classes, keep these promises about the whole of it?"""
        after = self._cut(node).recode(self._tally)
        if bad.any():
            after = after.where(~bad[self.of_cells(node)])
        return all(model.check(after).holds for model in models)

    def persons(self, node: Levels) -> Ints:
        """How many persons have a record in each class. They do not add up, so cells are looked at."""
        if self._tally.person is None:
            raise InternalError("persons are counted where the policy names them")
        return people(self.of_cells(node), self._tally.person, len(self.at(node)))

    def recoding(self, node: Levels, bad: Mask, trims: Ints | None) -> Generalization | Regions:
        """The table at a node without its bad classes; `trims` (classes x codes): what goes of the others."""
        if not bad.any() and trims is None:
            return self._cut(node)
        of_cells = self.of_cells(node)
        if trims is None:
            return self._regions(node, of_cells, ~bad[of_cells])
        # Records of one cell may part, so this is said record by record.
        class_of = np.repeat(of_cells, self._tally.counts)
        value = np.repeat(self._raw.sensitive[0].value, self._tally.counts)
        kept = ~bad[class_of]
        for one, code in zip(*np.nonzero(trims * ~bad[:, None]), strict=True):
            members = np.flatnonzero((class_of == one) & (value == code))
            kept[spread(members, int(trims[one, code]))] = False
        return self._cut(node) if kept.all() else self._regions(node, class_of, kept, by_record=True)

    def _cut(self, node: Levels) -> Generalization:
        return Generalization({l.name: l.cuts[at] for l, at in zip(self._ladders, node, strict=True)})

    def _regions(self, node: Levels, of_cell: Indexes, kept: Mask, *, by_record: bool = False) -> Regions:
        cuts = self._cut(node).cuts
        member: Indexes | None = self.at(node).cell
        if any(len(set(cut.labels)) < len(cut.nodes) for cut in cuts.values()):
            # Nodes that read alike make one class of several boxes: each cell has one by itself.
            member = np.repeat(np.arange(self._tally.cells), self._tally.counts) if by_record else None
            of_cell = np.arange(len(of_cell))
        return Regions(
            nodes={name: cut.nodes for name, cut in cuts.items()},
            boxes={
                name: cut.positions[codes if member is None else codes[member]].astype(np.intp)
                for (name, cut), codes in zip(cuts.items(), self._codes, strict=True)
            },
            kept=kept,
            by_record=by_record,
            of_cell=of_cell,
        )

    def _smallest(self, node: Levels) -> Frequencies:
        levels = self._levels[: len(self._sources)]
        below = np.flatnonzero((levels <= np.array(node, dtype=np.int16)).all(axis=1))
        at_hand = [one for one in self._late if all(map(le, one.levels, node))]
        if len(below):
            at_hand.append(self._sources[int(below[np.argmin(self._sizes[below])])])
        return min(at_hand, key=len, default=self._raw)

    def _use(self, found: Frequencies) -> Frequencies:
        """Keep it at hand, and let go of what was not used for longest."""
        if found is not self._raw:
            self._late = [found, *(one for one in self._late if one is not found)][:LATE]
        return found

    def _remember(self, node: Levels, found: Frequencies) -> None:
        if self._total + len(found) > KEPT:
            return
        self._total += len(found)
        self._known[node] = found
        if len(self._sources) == len(self._levels):
            self._levels = np.concatenate((self._levels, np.empty_like(self._levels)))
            self._sizes = np.concatenate((self._sizes, np.empty_like(self._sizes)))
        self._levels[len(self._sources)] = node
        self._sizes[len(self._sources)] = len(found)
        self._sources.append(found)

    def _merged(self, source: Frequencies, node: Levels) -> Frequencies:
        key, room = self.keys(source.cell, node)
        if source.sensitive:
            number, at = numbered(key, room)
            size = added(number, source.size, len(at))
            entries = tuple(_joined(e, number, len(at)) for e in source.sensitive)
        else:
            at, size = merged(key, source.size, room)
            entries = ()
        return Frequencies(node, source.cell[at], size, entries, self._codes)

    def keys(self, cell: Indexes, node: Levels) -> tuple[NDArray[Any], int]:
        """A number for each cell, equal where they stand in one class, and one more than the largest."""
        key: NDArray[Any] | None = None
        room, lifts = 1, dict[int, NDArray[Any]]()
        for axis, (ladder, level) in enumerate(zip(self._ladders, node, strict=True)):
            width = ladder.widths[level]
            if width == 1:
                continue
            if room > LIMIT // width:
                key, at = numbered(self._lifted(cell, lifts, key), room)
                room, lifts = len(at), {}
            # The last attribute varies slowest; which one does is the same for every source.
            lifts[axis] = ladder.groups[level] * room
            room *= width
        return self._lifted(cell, lifts, key), room

    def _lifted(
        self, cell: Indexes, lifts: Mapping[int, NDArray[Any]], more: NDArray[Any] | None
    ) -> NDArray[Any]:
        """What stands for each cell at these axes, summed, and what stands for it already."""
        key: NDArray[Any] = np.zeros(len(cell), dtype=np.int64)
        if lifts and native.pays(len(cell) * len(lifts)):
            start = np.full(len(self._codes), -1, dtype=np.int64)
            ends = np.cumsum([0, *(len(lift) for lift in lifts.values())])
            start[list(lifts)] = ends[:-1]
            tables = np.concatenate([lift.astype(np.int64, copy=False) for lift in lifts.values()])
            name = f"privet_keys_{8 * self._rows.itemsize}"
            plain = np.ascontiguousarray(cell, dtype=np.int64)
            if native.call(name, self._rows, len(self._codes), plain, len(cell), tables, start, key) >= 0:
                return key if more is None else key + more
            key[:] = 0
        for axis, lift in lifts.items():
            key += lift[self._codes[axis][cell]]
        return key if more is None else key + more

    @cached_property
    def _rows(self) -> NDArray[Any]:
        """The codes of each cell side by side: a cell is then fetched from memory once, not once an axis."""
        wide = max((int(codes.max(initial=0)) for codes in self._codes), default=0)
        return np.stack(self._codes, axis=1).astype(np.uint16 if wide < 1 << 16 else np.uint32).ravel()

    def _by_shrinking(self) -> list[int]:
        """The attributes, those whose top level merges most values first."""
        wide = [ladder.widths[0] / ladder.widths[len(ladder) - 1] for ladder in self._ladders]
        return sorted(range(len(wide)), key=lambda at: -wide[at])


def _joined(entries: Entries, number: Indexes, classes: int) -> Entries:
    wide = max(1, entries.column.domain.size)
    found, count = summed(number[entries.owner] * wide + entries.value, entries.count, classes * wide)
    owner, value = np.divmod(found, wide)
    return Entries(entries.column, owner, value, count)


def spread(members: Indexes, times: int) -> Indexes:
    """So many of the members, evenly spread over them: no raw value is hit more than its share."""
    return members[(2 * np.arange(times) + 1) * len(members) // (2 * times)]
