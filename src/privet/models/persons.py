"""People, not records: distinct persons in groups, for tables in which a person may have several rows.

A class of five records may be one person. With a person for each cell of a tally, a size is a number of
persons, and the share of a value is that of the persons who have it in any of their rows in the group.

A lemma of records does not hold here. Sizes still only grow when groups merge, but shares may grow, too: a
person without the value in one group may have it in another, so a union of groups that keep a bound may
break it. Whoever knows fewer values sees such a union, so every number of known values is looked at, none
included.

`across`: an adversary may know values from several rows of one person. Whatever set of up to l pairs of an
attribute and a value somebody has, in whichever of their rows, at least k persons have it, and at most a
share of them has a protected value in any row at all. Sets of one row are among these, but match more people
here than in one row; so both are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet import effort
from privet.core import Column, Tally
from privet.errors import InternalError, UnsupportedError
from privet.models.groups import Held, Holders, Survey, breaking, group_keys
from privet.models.template import Protected

Counts: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

MOST = 20_000_000  # sets of pairs, over all persons, that are counted at most
LARGEST = 2**62


def of(tally: Tally) -> NDArray[np.int64]:
    """The person of each cell, as a number."""
    if tally.person is None:
        raise InternalError("persons are counted where the policy names them")
    return tally.person.astype(np.int64)


def pairs(key: NDArray[Any], person: NDArray[np.int64]) -> tuple[Counts, NDArray[np.int64]]:
    """Each key with each person that it occurs with, once: by key, then person."""
    if not len(key):
        return np.zeros(0, dtype=np.int64), person[:0]
    wide = int(person.max()) + 1
    if int(key.max()) >= LARGEST // wide:
        raise InternalError("keys are numbered before persons are counted")
    found = np.unique(key.astype(np.int64) * wide + person)
    keys, persons = np.divmod(found, wide)
    return keys, persons


def count(key: NDArray[Any], person: NDArray[np.int64], room: int) -> Counts:
    """How many persons there are with each key.

    >>> count(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7]), 3).tolist()
    [1, 2, 0]
    """
    return np.bincount(pairs(key, person)[0], minlength=room).astype(np.int64)


def total(tally: Tally) -> int:
    return len(np.unique(of(tally)))


@dataclass(frozen=True)
class Group:
    """The groups of one sort: their persons, and those of them who have each protected value."""

    size: Counts
    having: tuple[Held, ...]  # for each bound
    key: Counts  # every group with each of its persons: the groups
    person: NDArray[np.int64]  # and the persons


def of_rows(tally: Tally, key: NDArray[Any], room: int, bounds: Sequence[Protected]) -> Group:
    """Groups of persons with a row in cells of equal keys."""
    person = of(tally)
    keys, persons = pairs(key, person)
    having = tuple(_held(key, person, Holders.of(tally, bound)) for bound in bounds)
    return Group(np.bincount(keys, minlength=room).astype(np.int64), having, keys, persons)


def _held(key: NDArray[Any], person: NDArray[np.int64], holders: Holders) -> Held:
    """How many persons of each group have each value in a row there."""
    both = key[holders.cells].astype(np.int64) * holders.values + holders.value
    found, count = np.unique(pairs(both, person[holders.cells])[0], return_counts=True)
    return Held(found // holders.values, count.astype(np.int64))


def across(
    tally: Tally, columns: Sequence[Column], most: int, bounds: Sequence[Protected]
) -> Iterator[Group]:
    """Groups of persons who have a set of pairs among all their rows, for sets of up to `most` pairs."""
    person = of(tally)
    offset, items = 0, []
    for column in columns:
        items.append(column.codes.astype(np.int64) + offset)
        offset += column.domain.size
    everybody = np.unique(person)
    owner, item = (
        pairs(np.tile(person, len(columns)), np.concatenate(items)) if columns else (person[:0],) * 2
    )
    first = np.searchsorted(owner, np.arange(int(person.max(initial=0)) + 2))  # where a person's items begin
    holders = [
        [np.unique(person[tally.sensitive[bound.column].codes == code]) for code in bound.codes]
        for bound in bounds
    ]
    # Every set once for each person who has it: its number, the person, and where its last item stands.
    number, who, last = np.zeros(len(everybody), dtype=np.int64), everybody, first[everybody] - 1
    between = effort.between()
    for size in range(most + 1):
        between()
        if size:
            ends = first[who + 1]
            more = ends - last - 1
            if int(more.sum()) > MOST:
                raise UnsupportedError(
                    f"across: {int(more.sum()):,} sets of {size} values would have to be counted; make l "
                    "smaller, or name fewer quasi-identifiers"
                )
            at = np.repeat(np.arange(len(who)), more)
            step = np.arange(len(at)) - np.repeat(np.cumsum(more) - more, more)
            last, who, old = last[at] + 1 + step, who[at], number[at]
            if not len(who):
                break
            number = np.unique(old * max(offset, 1) + item[last], return_inverse=True)[1].astype(np.int64)
        room = int(number.max(initial=-1)) + 1
        having = tuple(
            Held.of(
                np.bincount(number[np.isin(who, some)], minlength=room).astype(np.int64) for some in of_bound
            )
            for of_bound in holders
        )
        yield Group(np.bincount(number, minlength=room).astype(np.int64), having, number, who)


def survey(  # noqa: PLR0917 - as `groups.survey`, and how much is known over all rows
    tally: Tally,
    columns: Sequence[Column],
    sizes: Sequence[int],
    k: int,
    bounds: Sequence[Protected],
    most: int,
) -> Survey:
    """Every group of persons, against `k` and the bounds; over all rows of a person where the tally asks."""
    columns = [column for column in columns if column.domain.size > 1]
    reach = sorted({min(size, len(columns)) for size in sizes})
    smallest, broken = total(tally), 0
    shares = [Fraction(0)] * len(bounds)
    risky = np.zeros(int(of(tally).max(initial=-1)) + 1, dtype=bool)
    for group in _groups(tally, columns, reach, bounds, most):
        smallest = min(smallest, int(group.size[group.size > 0].min(initial=smallest)))
        bad = breaking(group.size, group.having, k, bounds, shares)
        broken += int(bad.sum())
        risky[group.person[bad[group.key]]] = True
    return Survey(smallest, tuple(shares), broken, int(risky.sum()))


def _groups(
    tally: Tally, columns: Sequence[Column], sizes: Sequence[int], bounds: Sequence[Protected], most: int
) -> Iterator[Group]:
    between = effort.between()
    for size in sizes:
        for some in combinations(columns, size):
            between()
            yield of_rows(tally, *group_keys(some, tally.cells), bounds)
    if tally.across:
        yield from across(tally, columns, most, bounds)
