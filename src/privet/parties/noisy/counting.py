"""The noisy counts of two parties: each sees the count plus the other's noise, a reader both noises.

Across people every party counts its own records. Across columns each knows in which of its own regions, the
products of its own cuts, every person is: the party with fewer regions encrypts, for every person, a one in
the slot of its region; the other adds up what is in each of its regions and classes (`scalar`). What each
then holds adds up to the counts and is chance alone. Each adds its own noise, says by a digest what it holds,
and only then shows it, so that nobody chooses noise by what the other showed.

Two noises: a party knows its own, and takes it off. What protects against it is the other's alone; a reader
has both against them. The variance is twice that of one.

Trust: two parties that follow the protocol.
Leaks: to each party the counts with the other's noise; to both the numbers of regions, which the cuts show.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Ints
from privet.counts.live import Grid
from privet.dp.coded import CodedTable
from privet.errors import PartyError
from privet.parties.primitives.paillier import PrivateKey
from privet.parties.primitives.scalar import counts_first, counts_second
from privet.parties.transport import Link

NONCE = 32


def opened(link: Link, mine: Ints) -> Ints:
    """The sum of what both hold, modulo 2**64: each says what it holds before it sees the other's."""
    other = 1 - link.me
    words = mine.reshape(-1).astype(np.int64).view(np.uint64)
    nonce = secrets.token_bytes(NONCE)
    link.send(other, "noisy digest", _said(link, link.me, nonce, words))
    digest = link.receive(other, "noisy digest", 32)
    link.send(other, "nonce", nonce)
    link.send_words(other, "noisy", words)
    theirs_nonce = link.receive(other, "nonce", NONCE)
    theirs = link.receive_words(other, "noisy", len(words), np.uint64)
    if _said(link, other, theirs_nonce, theirs) != digest:
        raise PartyError(f"{link.name(other)}: shows other numbers than it said that it holds")
    found: Ints = (words + theirs.astype(np.uint64)).view(np.int64).reshape(mine.shape)
    return found


def _said(link: Link, party: int, nonce: bytes, words: NDArray[np.unsignedinteger]) -> bytes:
    raw = np.ascontiguousarray(words).astype("<u8").tobytes()
    return hashlib.sha256(b"privet-noisy" + bytes([party]) + link.session.id + nonce + raw).digest()


def shared_counts(link: Link, table: CodedTable, owner: Sequence[int], grid: Grid, key_bits: int) -> Ints:
    """This party's summand of the records by leaf and class, modulo 2**64; columns are split."""
    widths = [len(begins) for begins in grid.cuts.begins]
    sides = [[at for at, party in enumerate(owner) if party == side] for side in (0, 1)]
    many = [prod(widths[at] for at in side) for side in sides]
    first = 0 if many[0] <= many[1] else 1
    classes = len(table.classes)
    groups = many[1 - first] * classes
    region = np.zeros(table.records, dtype=np.int64)
    for at in sides[link.me]:
        region = region * widths[at] + grid.cuts.rank(at, table.columns[at].codes)
    if link.me == first:
        key = PrivateKey.fresh(key_bits)
        found = counts_first(link, 1 - link.me, key, region.tolist(), many[first], groups)
    else:
        group = region * classes + table.class_codes
        found = counts_second(link, 1 - link.me, group.tolist(), many[first], groups, key_bits)
    # By [group, region] to [leaf, class]: a leaf is a region of each.
    whole = np.array([[number % (1 << 64) for number in row] for row in found], dtype=np.uint64)
    by_both = whole.reshape(many[1 - first], classes, many[first])
    leaf = _places(sides[1 - first], widths, grid)[:, None] + _places(sides[first], widths, grid)[None, :]
    counts = np.zeros((grid.number, classes), dtype=np.uint64)
    counts[(leaf + grid.base[0]).reshape(-1)] = by_both.transpose(0, 2, 1).reshape(-1, classes)
    return counts.view(np.int64)


def _places(side: Sequence[int], widths: Sequence[int], grid: Grid) -> NDArray[np.int64]:
    """What each region of one party adds to the number of a leaf."""
    found = np.zeros(1, dtype=np.int64)
    for at in side:
        ranks = np.arange(widths[at], dtype=np.int64) * grid.stride[0, at]
        found = (found[:, None] + ranks[None, :]).reshape(-1)
    return found
