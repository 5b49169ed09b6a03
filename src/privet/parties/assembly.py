"""The rows of all parties as one table that does not tell whose they are.

Every party recodes its own rows. They are handed in as shares, put in an order that nobody knows (`shuffle`)
and opened: each party sees the published table, and not where a row came from. Sending recoded rows to one
place instead would show their origin to it, and a party's own part need not keep the promise.

A row is the codes of its published values, packed into numbers. With `at_most` every party hands in that many
rows, empty ones among them, so that nobody learns how many it has.

Two parties show each other their recoded rows, sorted: the table less one's own rows is the other's anyway.

Whose rows are not among those that were opened says so; of three and more, all learn that somebody does and
not who (`objection`): a party that changes a share would learn whose row it was.

Trust: as `replicated`.
Leaks: without `at_most`, how many rows each party has, to all parties. Of two, the other's rows as published.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError, InternalError, PartyError
from privet.parties.primitives.objection import refuse_objected
from privet.parties.primitives.paired import Two
from privet.parties.primitives.replicated import Three
from privet.parties.primitives.shuffle import by_chance, handed_in, shuffled
from privet.parties.transport import Link, Words

Codes = NDArray[Any]  # rows x columns
ROOM = 1 << 63
MOST = 1 << 26  # rows of one party
NOT_THOSE = "the rows that were opened are not those that the parties handed in"


def assembled(
    link: Link, three: Three | Two | None, mine: Codes, sizes: Sequence[int], at_most: int | None = None
) -> NDArray[np.int64]:
    """The rows of all parties, at every party; `sizes`: how many codes each column has."""
    packed, width = _packed(mine, sizes, at_most)
    if link.parties == 2:
        found = _unpacked(_exchanged(link, packed.reshape(-1, width)), sizes)
        if found is None or _lost(found, mine):
            raise PartyError(NOT_THOSE)
        return found
    if isinstance(three, Two):
        raise InternalError("two parties compute for themselves only")
    counts = _told_counts(link, len(mine), at_most)
    rows = handed_in(link, three, by_chance(packed, width), counts, width)
    if three is None or rows is None:
        opened = link.receive_words(0, "opened", sum(counts) * width, np.uint64)
    else:
        opened = three.open(shuffled(three, rows, width))
        three.tell(opened)
    found = _unpacked(opened.reshape(-1, width), sizes)
    refuse_objected(
        link, opened.astype("<u8").tobytes(), NOT_THOSE, objects=found is None or _lost(found, mine)
    )
    if found is None:  # pragma: no cover - its objection has ended the run
        raise PartyError(NOT_THOSE)
    return found


def _lost(opened: NDArray[np.int64], mine: Codes) -> bool:
    """Is a row of this party's missing? Whoever changes a share changes a row."""
    whose = np.concatenate([np.ones(len(opened)), -np.ones(len(mine))])
    _, which = np.unique(np.concatenate([opened, mine.astype(np.int64)]), axis=0, return_inverse=True)
    return bool((np.bincount(which.reshape(-1), weights=whose) < 0).any())


def _exchanged(link: Link, mine: Words) -> Words:
    """The rows of both: of two, each finds the other's by taking its own off the table, so they are shown."""
    other = 1 - link.me
    link.broadcast_words("count", np.array([len(mine)], dtype=np.uint64))
    count = int(link.receive_words(other, "count", 1, np.uint64)[0])
    link.send_words(other, "rows", mine[np.lexsort(mine.T[::-1])].reshape(-1))
    if count > MOST:
        raise PartyError(f"{link.name(other)}: announces more than {MOST:,} rows")
    theirs = link.receive_words(other, "rows", count * mine.shape[1], np.uint64)
    return np.concatenate([mine, theirs.reshape(count, mine.shape[1])])


def _told_counts(link: Link, mine: int, at_most: int | None) -> list[int]:
    """How many rows each party hands in."""
    if at_most is not None:
        return [at_most] * link.parties
    link.broadcast_words("count", np.array([mine], dtype=np.uint64))
    return [
        mine if party == link.me else int(link.receive_words(party, "count", 1, np.uint64)[0])
        for party in range(link.parties)
    ]


def _words(sizes: Sequence[int]) -> list[list[int]]:
    """Which columns share a number."""
    found: list[list[int]] = [[]]
    for at, size in enumerate(sizes):
        if prod(sizes[one] for one in found[-1]) * size >= ROOM:
            found.append([])
        found[-1].append(at)
    return found


def _packed(rows: Codes, sizes: Sequence[int], at_most: int | None) -> tuple[Words, int]:
    """Rows as numbers, one after the other; 0 in the first stands for a row that is not there."""
    columns = []
    for first, group in enumerate(_words(sizes)):
        key = np.zeros(len(rows), dtype=np.uint64)
        for at in group:
            key = key * np.uint64(sizes[at]) + rows[:, at].astype(np.uint64)
        columns.append(key if first else key + np.uint64(1))
    table = np.stack(columns, axis=1)
    if at_most is not None:
        if len(table) > at_most:
            raise InputError(f"this party has more rows than the {at_most:,} that the contract allows for")
        table = np.concatenate([table, np.zeros((at_most - len(table), table.shape[1]), dtype=np.uint64)])
    return table.reshape(-1), table.shape[1]


def _unpacked(table: Words, sizes: Sequence[int]) -> NDArray[np.int64] | None:
    """The rows; None where there are some that cannot be."""
    there = table[table[:, 0] > 0]
    found = np.zeros((len(there), len(sizes)), dtype=np.int64)
    for first, group in enumerate(_words(sizes)):
        key = there[:, first] if first else there[:, 0] - np.uint64(1)
        for at in reversed(group):
            key, code = np.divmod(key, np.uint64(sizes[at]))
            found[:, at] = code
        if key.any():
            return None
    return found
