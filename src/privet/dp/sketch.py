"""What a ledger remembers of data, so that the same data under a second name is noticed.

Whoever opens a second account for the same people gets their budget twice. So each reservation notes keyed
fingerprints of the table: one for each column (all its values, in any order, whatever the column is called),
and a sample of the records that are there once, those with the lowest digests. The same data, or most of
it, has most of its samples in common, in any order of rows and columns; samples are also kept with
each column left out, so that a table less one column is recognised too.

The key is the ledger's own, and nothing of this is published: without the key nobody can test a guess, and
with it the ledger's owner could, who has the data anyway. It notices; it does not prove. A table of which
every record was changed looks new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.domain import Value

SAMPLES = 96  # records of which a digest is kept
FEWEST = 12  # below so many records that occur once, a sample says nothing
# The share of samples in common from which two tables count as the same data. Of two tables of other people
# whose records fall on the same few combinations, at most 23 % of those that occur once do so in both.
ALIKE = 2 / 5
NEAR = 4096  # about so many of the lowest digests are looked at first
MOST_NEAR = NEAR * 16**3  # and so many at most, where they are counted elsewhere
HIGHEST = 2**64 - 1
STRETCH = 1 << 14  # records
VALUES = 8  # different values that a column has at least to be recognised by itself

Words: TypeAlias = NDArray[np.uint64]
Records: TypeAlias = Callable[[slice], Words]  # a word for each record of a stretch
Coded: TypeAlias = tuple[Sequence[Value], NDArray[Any]]  # the values of a column, and which each record has
Times: TypeAlias = tuple[
    Sequence[Value], NDArray[np.int64]
]  # the values of a column, and the records of each
# Combinations, some at a time and each once: by column which value each has, and how many records have it.
Cells: TypeAlias = Callable[[], Iterable[tuple[Mapping[str, NDArray[Any]], NDArray[np.int64]]]]


@dataclass(frozen=True)
class Sketch:
    """Keyed fingerprints of one table; texts, so that a ledger can keep them."""

    columns: tuple[str, ...]  # of each column with enough values, sorted
    samples: tuple[tuple[str, ...], ...]  # of whole records, and with each column left out

    @classmethod
    def of(cls, table: Mapping[str, Coded], key: bytes) -> Sketch:
        """The fingerprints of a table."""
        words = {name: _words(values, key) for name, (values, _) in table.items()}
        columns = sorted(
            _of_column(words[name], np.bincount(codes, minlength=len(values)), key)
            for name, (values, codes) in table.items()
            if len(values) >= VALUES
        )
        each = [(words[name], codes) for name, (_, codes) in table.items() if len(codes)]
        if not each:
            return cls(tuple(columns), ())
        whole = _summed(each)
        parts: list[Records] = [whole.__getitem__]
        if len(each) > 1:
            parts += [_without(whole, *column) for column in each]
        found = dict.fromkeys(sample for part in parts if (sample := _sampled(part, len(whole))))
        return cls(tuple(columns), tuple(found))

    @classmethod
    def of_cells(cls, table: Mapping[str, Times], cells: Cells, key: bytes) -> Sketch:
        """The same fingerprints of a table that is counted elsewhere; never are all its cells held here."""
        words = {name: _words(values, key) for name, (values, _) in table.items()}
        columns = sorted(
            _of_column(words[name], times, key)
            for name, (values, times) in table.items()
            if len(values) >= VALUES
        )
        records = max((int(times.sum()) for _, times in table.values()), default=0)
        parts = [None, *table] if len(table) > 1 else [None]
        found = dict.fromkeys(
            sample for left_out in parts if records and (sample := _met(words, left_out, cells, records))
        )
        return cls(tuple(columns), tuple(found))

    def resembles(self, other: Sketch) -> str | None:
        """What the two have in common, for people; None where they look like different data."""
        same = len(set(self.columns) & set(other.columns))
        if same:
            return f"{same} of {min(len(self.columns), len(other.columns))} columns hold the same values"
        best = max(
            (_share(one, two) for one in self.samples for two in other.samples),
            default=0.0,
        )
        return f"{best:.0%} of sampled records are the same" if best >= ALIKE else None


def _share(one: Sequence[str], two: Sequence[str]) -> float:
    """How much of two sets of records is common to both, from the lowest digests of each."""
    lowest = sorted({*one, *two})[: min(len(one), len(two))]
    return sum(digest in one and digest in two for digest in lowest) / len(lowest)


def _words(values: Sequence[Value], key: bytes) -> Words:
    """A keyed number for each value; a null has one of its own."""
    texts = (b"\x00" if value is None else b"\x01" + str(value).encode() for value in values)
    digests = b"".join(blake2b(text, key=key, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _of_column(words: Words, times: NDArray[Any], key: bytes) -> str:
    """All values with how often each occurs, in an order that is nobody's."""
    order = np.argsort(words)
    found = blake2b(key=key, digest_size=16)
    found.update(words[order].astype("<u8").tobytes())
    found.update(times.astype(np.uint64)[order].astype("<u8").tobytes())
    return found.hexdigest()


def _summed(each: Sequence[tuple[Words, NDArray[Any]]]) -> Words:
    """A word for each record: the sum of those of its values."""
    whole = np.zeros(len(each[0][1]), dtype=np.uint64)
    for rows in _stretches(len(whole)):
        for words, codes in each:
            whole[rows] += words[codes[rows]]
    return whole


def _without(whole: Words, words: Words, codes: NDArray[Any]) -> Records:
    """The same records less one column."""
    return lambda rows: whole[rows] - words[codes[rows]]


def _sampled(records: Records, number: int) -> tuple[str, ...]:
    """The lowest digests of the records that occur once; nothing where they are too few to tell.

    Digests are spread evenly, so about `near` of them are below `near / number` of the highest there could
    be: looked for there first, and nowhere is a second table of all of them made.
    """
    near = NEAR
    while True:
        limit = np.uint64(HIGHEST if near >= number else HIGHEST // number * near)
        below = [mixed[mixed <= limit] for rows in _stretches(number) for mixed in [_mixed(records(rows))]]
        found, times = np.unique(np.concatenate(below), return_counts=True)
        once = found[times == 1][:SAMPLES]
        if near >= number or len(once) == SAMPLES:
            return tuple(f"{word:016x}" for word in once.tolist()) if len(once) >= FEWEST else ()
        near *= 16


def _met(words: Mapping[str, Words], left_out: str | None, cells: Cells, number: int) -> tuple[str, ...]:
    """The twin of `_sampled` for records that are met as cells, one column left out."""
    near = NEAR
    while True:
        limit = np.uint64(HIGHEST if near >= number else HIGHEST // number * near)
        digests, times = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.int64)]
        for codes, counts in cells():
            whole = np.zeros(len(counts), dtype=np.uint64)
            for name, each in words.items():
                if name != left_out:
                    whole += each[codes[name]]
            mixed = _mixed(whole)
            below = mixed <= limit
            digests.append(mixed[below])
            times.append(counts[below])
        found, which = np.unique(np.concatenate(digests), return_inverse=True)
        total = np.zeros(len(found), dtype=np.int64)
        np.add.at(total, which, np.concatenate(times))
        once = found[total == 1][:SAMPLES]
        if near >= min(number, MOST_NEAR) or len(once) == SAMPLES:
            return tuple(f"{word:016x}" for word in once.tolist()) if len(once) >= FEWEST else ()
        near *= 16


def _stretches(number: int) -> Iterator[slice]:
    """So many records at a time that what is made of them stays in the cache."""
    return (slice(start, start + STRETCH) for start in range(0, number, STRETCH))


def _mixed(words: Words) -> Words:
    """A permutation of all words (Steele, Lea and Flood 2014): the order tells nothing of a sum's parts."""
    mixed = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
