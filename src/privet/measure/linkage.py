"""A public list of people linked with a table: who could be which record, and what that gives away.

Every person of the list is compared with every record: by equality where values are raw, by what a label may
stand for where they are generalised. Who matches one record only is identified; who matches records that all
have one sensitive value is found out without being identified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.domain import Value
from privet.errors import InputError, UnsupportedError
from privet.measure.attack import Rows, Translation

ROOM = 1 << 22  # pairs of people and records that are compared at a time
MOST = 1 << 32  # pairs at all: four gigabytes


@dataclass(frozen=True, eq=False)
class Linkage:
    """Who matches what, by kinds: people who know alike, records that read alike. For the steward's eyes."""

    person: NDArray[np.intp] = field(repr=False)  # the kind of each person
    record: NDArray[np.intp] = field(repr=False)  # the kind of each record
    matches: NDArray[np.bool_] = field(repr=False)  # kinds of people x kinds of records
    secrets: Mapping[str, NDArray[np.int64]] = field(repr=False)  # by attribute: kinds of records x values
    values: Mapping[str, tuple[Value, ...]] = field(repr=False)

    def records_of(self, person: int) -> list[int]:
        """The records that may be a person's, by their places from 0 on."""
        found: list[int] = np.flatnonzero(self.matches[self.person[person], self.record]).tolist()
        return found

    def people_of(self, record: int) -> list[int]:
        """The people who may be a record's."""
        found: list[int] = np.flatnonzero(self.matches[self.person, self.record[record]]).tolist()
        return found

    def shares(self, person: int) -> dict[str, dict[Value, Fraction]]:
        """How sensitive values lie among the records that may be a person's, the most frequent first."""
        found: dict[str, dict[Value, Fraction]] = {}
        for name, counts in self.secrets.items():
            times = self.matches[self.person[person]] @ counts
            ranked = sorted(np.flatnonzero(times).tolist(), key=lambda at: -int(times[at]))
            total = int(times.sum())
            found[name] = {self.values[name][at]: Fraction(int(times[at]), total) for at in ranked}
        return found

    def _added(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of matching kinds of records, added up for each kind of people."""
        each = counts.astype(np.float64)  # exact for whole numbers below 2**53, and far faster
        made = [self.matches[part].astype(np.float64) @ each for part in _parts(*self.matches.shape)]
        return np.concatenate([*made, np.zeros((0, counts.shape[1]))]).astype(np.int64)

    def told(self) -> dict[str, Any]:
        """How many are identified and found out: numbers only."""
        people = np.bincount(self.person, minlength=len(self.matches))
        records = np.bincount(self.record, minlength=self.matches.shape[1])
        candidates = self._added(records[:, None])[:, 0]  # records that may be a person's
        owners = sum(
            (people[part].astype(np.float64) @ self.matches[part] for part in _parts(*self.matches.shape)),
            np.zeros(len(records)),
        )
        sure = {
            name: int(people[(self._added(counts) > 0).sum(axis=1) == 1].sum())
            for name, counts in self.secrets.items()
        }
        some = candidates > 0
        return {
            "people": int(people.sum()),
            "records": int(records.sum()),
            "matched": int(people[some].sum()),
            "identified": int(people[candidates == 1].sum()),
            "found_out": sure,
            "records_with_one_person": int(records[owners == 1].sum()),
            "records_with_nobody": int(records[owners == 0].sum()),
            "candidates": _spread(candidates[some], people[some]),
            "expected_right": float((people[some] / candidates[some]).sum()) if some.any() else 0.0,
        }


def linkage(
    people: Rows, table: Rows, on: Sequence[str], translation: Translation, sensitive: Sequence[str]
) -> Linkage:
    """Everybody in a list against every record of a table, by the columns that both have."""
    missing = [f"the list of people has no column {name!r}" for name in on if name not in people]
    missing += [f"the table has no column {name!r}" for name in (*on, *sensitive) if name not in table]
    if missing or not on:
        raise InputError(*missing or ["the list of people and the table have no column in common"])
    person, known = _kinds([people[name] for name in on])
    record, shown = _kinds([table[name] for name in on])
    if len(known) * len(shown) > MOST:
        raise UnsupportedError(
            f"{len(known)} kinds of people and {len(shown)} of records are too many to compare at once; link "
            "a part of the list"
        )
    matches = np.ones((len(known), len(shown)), dtype=bool)
    for at, name in enumerate(on):
        labels, label_of = _numbered([kind[at] for kind in shown])
        values, value_of = _numbered([kind[at] for kind in known])
        may = np.zeros((len(values), len(labels)), dtype=bool)
        for row, value in enumerate(values):
            wanted = translation(name, value)
            may[row] = [label in wanted for label in labels]
        for part in _parts(len(known), len(shown)):
            matches[part] &= may[np.ix_(value_of[part], label_of)]
    secrets, names = {}, {}
    for name in sensitive:
        values, value_of = _numbered(table[name])
        counts = np.zeros((len(shown), len(values)), dtype=np.int64)
        np.add.at(counts, (record, value_of), 1)
        secrets[name], names[name] = counts, tuple(values)
    return Linkage(person, record, matches, secrets, names)


def _kinds(columns: Sequence[Sequence[Value]]) -> tuple[NDArray[np.intp], list[tuple[Value, ...]]]:
    number: dict[tuple[Value, ...], int] = {}
    kinds = [number.setdefault(row, len(number)) for row in zip(*columns, strict=True)]
    return np.array(kinds, dtype=np.intp), list(number)


def _numbered(values: Sequence[Value]) -> tuple[list[Value], NDArray[np.intp]]:
    number: dict[Value, int] = {}
    codes = [number.setdefault(value, len(number)) for value in values]
    return list(number), np.array(codes, dtype=np.intp)


def _parts(rows: int, width: int) -> Iterator[slice]:
    tall = max(1, ROOM // max(1, width))
    return (slice(first, first + tall) for first in range(0, rows, tall))


def _spread(candidates: NDArray[np.int64], people: NDArray[np.int64]) -> dict[str, float | int] | None:
    """How many records people match: at least, in the middle, at most."""
    if not len(candidates):
        return None
    each = np.repeat(candidates, people)
    return {"fewest": int(each.min()), "median": float(np.median(each)), "most": int(each.max())}
