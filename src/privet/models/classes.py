"""Classes of records that agree in every quasi-identifier, and how sensitive values lie in them.

A `Histogram` holds only what occurs: one entry for each value in each class, class by class. So it is
never larger than the tally, however many values there are. `ratios` and `logarithms` decide on its numbers;
everything here is counting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from privet import equality
from privet.core import Column, Nulls, Tally
from privet.domain import Value
from privet.errors import PolicyError, UnsupportedError
from privet.models import persons
from privet.models.groups import DENSE, Counts, group_keys

Mask: TypeAlias = NDArray[np.bool_]

Model = TypeVar("Model")

ROOM = 1 << 21  # places of a dense part of a histogram


@dataclass(frozen=True)
class Histogram:
    """How often each value of an attribute stands in each class; entries are sorted by class, then value."""

    column: Column
    size: Counts  # records of each class
    start: NDArray[np.intp]  # where the entries of each class begin
    owner: NDArray[np.intp]  # the class of each entry
    value: NDArray[np.intp]  # the code of each entry
    count: Counts  # the records of each entry
    table: Counts  # the records of each code in the whole table
    people: int | None = None  # all persons, where they are counted; each may have several values

    @property
    def records(self) -> int:
        """How many there are, of whom `table` says how many have each value."""
        return int(self.table.sum()) if self.people is None else self.people

    @property
    def values(self) -> Counts:
        """How many values occur in each class."""
        return np.bincount(self.owner, minlength=len(self.size)).astype(np.int64)

    @property
    def distinct(self) -> Counts:
        """How many values each class has; one, where persons may have several and all have the same one."""
        found = self.values
        if int(self.count.sum()) > int(self.size.sum()):
            found[self.any(self.count == self.size[self.owner])] = 1
        return found

    def one_each(self) -> Histogram:
        """Counts as if everybody had one value, for promises about how values lie in a class.

        Persons may have several values, so counts add up to more than a class has. The commonest value keeps
        its share of the persons, and the others share the rest in proportion: who has a value that everybody
        in the class has is certain to have it, whatever else they have.
        """
        if self.people is None or not len(self.count):
            return self
        order = np.lexsort((-self.count, self.owner))
        top = np.zeros(len(self.count), dtype=bool)
        top[order[self.start]] = True
        most = self.count[top]  # of each class
        others = self.summed(self.count) - most
        lone = others == 0
        count = np.where(top, self.count * np.maximum(others, 1)[self.owner], 0)
        count = np.where(top, count, self.count * (self.size - most)[self.owner])
        size = np.where(lone, most, self.size * others)
        there = count > 0  # where everybody has the commonest value, the others say nothing more
        owner = self.owner[there]
        return replace(
            self,
            size=size,
            start=np.searchsorted(owner, np.arange(len(size))),
            owner=owner,
            value=self.value[there],
            count=count[there],
        )

    def summed(self, entries: NDArray[Any]) -> NDArray[Any]:
        """A number of each entry, added up by class."""
        return np.asarray(np.add.reduceat(entries, self.start)) if len(self.start) else entries[:0]

    def any(self, entries: Mask) -> Mask:
        """Is it so for some entry of a class?"""
        return self.summed(entries.astype(np.int64)) > 0

    def members(self, at: int) -> slice:
        """Where the entries of a class stand."""
        ends = self.start[at + 1] if at + 1 < len(self.start) else len(self.owner)
        return slice(int(self.start[at]), int(ends))

    def dense(self, place: NDArray[np.intp], width: int) -> Iterator[tuple[slice, Counts]]:
        """The counts as tables of classes by places, a part of the classes at a time.

        `place` says where each code stands; codes in one place are added up.
        """
        tall = max(1, ROOM // max(1, width))
        for first in range(0, len(self.size), tall):
            last = min(first + tall, len(self.size))
            part = slice(self.start[first], self.members(last - 1).stop)
            key = (self.owner[part] - first) * width + place[self.value[part]]
            flat = np.bincount(key, weights=self.count[part], minlength=(last - first) * width)
            yield slice(first, last), flat.astype(np.int64).reshape(-1, width)

    @property
    def occurring(self) -> list[Value]:
        """The values that some record has, in the order of their codes."""
        return [value for value, count in zip(self.column.domain.values, self.table, strict=True) if count]


@dataclass(frozen=True)
class Classes:
    """Which class each cell is in, and how many records each class has."""

    of_cell: NDArray[np.intp]
    size: Counts  # in records, or in persons where the tally has them

    @classmethod
    def of(cls, tally: Tally, model: str) -> Classes:
        """The classes of a tally, for a model that needs each record to be in exactly one."""
        if tally.nulls is Nulls.WILDCARD:
            raise UnsupportedError(
                f'{model} and nulls = "wildcard": a null that matches everything puts a record in several '
                'classes, and this promise is about classes that do not overlap; use nulls = "value"'
            )
        columns = [column for column in tally.quasi if column.domain.size > 1]
        key, room = group_keys(columns, tally.cells)
        found, size = _summed(key, tally.counts, room)
        number = np.zeros(room, dtype=np.intp)
        number[found] = np.arange(len(found))
        if tally.person is not None:
            size = persons.count(number[key], persons.of(tally), len(found))
        return cls(number[key], size)

    def histogram(self, tally: Tally, attribute: str) -> Histogram:
        column = next((c for c in tally.sensitive if c.name == attribute), None)
        if column is None:
            raise PolicyError(f"sensitive: the policy has no sensitive attribute {attribute!r}")
        wide = max(1, column.domain.size)
        key = self.of_cell.astype(np.int64) * wide + column.codes
        if tally.person is None:
            found, count = _summed(key, tally.counts, len(self.size) * wide)
        else:
            found, count = np.unique(persons.pairs(key, persons.of(tally))[0], return_counts=True)
        owner, value = np.divmod(found, wide)
        start = np.searchsorted(owner, np.arange(len(self.size)))
        if tally.person is None:
            table = np.bincount(value, weights=count, minlength=wide).astype(np.int64)
            return Histogram(column, self.size, start, owner, value, count, table)
        table = persons.count(column.codes, persons.of(tally), wide)  # once, in however many classes
        people = persons.total(tally)
        return Histogram(column, self.size, start, owner, value, count, table, people)


def _summed(key: NDArray[Any], counts: Counts, room: int) -> tuple[NDArray[np.intp], Counts]:
    """The keys that occur, ascending, and the sum of the counts of each."""
    if room <= max(DENSE, 4 * len(key)):
        # bincount adds doubles, which are exact for whole numbers below 2**53
        total = np.bincount(key, weights=counts, minlength=room).astype(np.int64)
        found = np.flatnonzero(total)
        return found, total[found]
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    first = np.flatnonzero(np.r_[True, sorted_key[1:] != sorted_key[:-1]])
    return sorted_key[first], np.add.reduceat(counts[order], first)


def histograms(tally: Tally, model: str, sensitive: Sequence[str]) -> list[Histogram]:
    """How the values of each of these attributes lie in classes."""
    classes = Classes.of(tally, model)
    return [classes.histogram(tally, name) for name in sensitive]


def without_bound(model: Model, parameter: str) -> Model:
    """A promise that bounds nothing, for `nearest` where no number would do.

    Neither a policy nor a constructor makes one: a promise without its number is refused when it is signed.
    """
    made = copy(model)
    object.__setattr__(made, parameter, None)
    return made


def attributes(model: str, sensitive: Sequence[str]) -> tuple[str, ...]:
    """The names of sensitive attributes as a model keeps them."""
    if not sensitive:
        raise PolicyError(f"{model}: sensitive names at least one attribute")
    return tuple(dict.fromkeys(map(equality.name, sensitive)))
