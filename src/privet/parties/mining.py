"""Frequent itemsets of several parties together, equal to those of all records in one place.

Agrawal and Srikant's levels (VLDB 1994): what can be frequent at one level follows from what is frequent at
the one before, which is the result and known to all. So nobody shows what is frequent with itself: for each
candidate the parties find out together whether it is frequent, and how often it occurs where it is.

By people (Kantarcioglu and Clifton 2004): the excess supports `count - s * records` of all parties are added
as shares; only signs are opened. By columns (Vaidya and Clifton 2002), two parties: a support is the product
of two vectors of bits, taken by oblivious transfers and compared in a garbled circuit.

Trust: by people three parties or more, see `replicated`; by columns two, see `garbling`.
Leaks: to all, the frequent itemsets and their supports; by people, how many records there are in all, which
is the support of the empty set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError, InternalError, PartyError, UnsupportedError
from privet.parties.confidence import Summands, products_asking, products_holding
from privet.parties.primitives.circuits import lanes_of, sums_reach
from privet.parties.primitives.garbling import Evaluating, Garbling
from privet.parties.primitives.replicated import COMPUTING, Feeding, Three
from privet.parties.transport import Link, Words

Itemset: TypeAlias = tuple[int, ...]
Table: TypeAlias = NDArray[np.bool_]  # records x items
Level: TypeAlias = Callable[[Sequence[Itemset]], dict[Itemset, int]]  # those that are frequent, and how often


def levels(items: int, frequent: Level) -> dict[Itemset, int]:
    """Every frequent itemset, level by level, with its support."""
    found: dict[Itemset, int] = {}
    candidates: list[Itemset] = [(item,) for item in range(items)]
    while candidates:
        here = frequent(candidates)
        found |= here
        candidates = _next(sorted(here))
    return found


def _next(frequent: Sequence[Itemset]) -> list[Itemset]:
    """Sets of one item more whose subsets are all frequent.

    >>> _next([(0, 1), (0, 2), (1, 2), (1, 3)])
    [(0, 1, 2)]
    """
    known = set(frequent)
    return [
        (*a, b[-1])
        for a, b in combinations(frequent, 2)
        if a[:-1] == b[:-1] and all(part in known for part in combinations((*a, b[-1]), len(a)))
    ]


def by_people(link: Link, mine: Table, support: Fraction) -> dict[Itemset, int]:
    """The itemsets that at least this share of all parties' records have; `mine`: this party's records."""
    _checked_share(support)
    if len(mine) * support.denominator * link.parties >= 1 << 61:
        raise UnsupportedError("a share of this denominator is too fine for so many records")
    three = Three(link) if link.me < COMPUTING else None
    feeding = None if three is not None else Feeding(link)

    def opened(words: Words) -> Words:
        """The totals themselves, for all parties."""
        if three is not None:
            found = three.open(three.feed(words))
            three.tell(found)
            return found
        if feeding is None:
            raise InternalError("a party computes or hands in")
        feeding.feed(words)
        return feeding.heard(len(words), np.uint64)

    records = int(opened(np.array([len(mine)], dtype=np.uint64))[0])
    if not records:
        raise InputError("all parties together have not one record")
    least = ceil(support * records)

    def frequent(candidates: Sequence[Itemset]) -> dict[Itemset, int]:
        counts = np.array([_count(mine, one) for one in candidates], dtype=np.int64)
        excess = counts * support.denominator - support.numerator * len(mine)
        words = np.concatenate([excess, counts]).astype(np.uint64)  # a negative number wraps around
        n = len(candidates)
        if three is not None:
            total = three.feed(words)
            reached = 1 - three.open(three.negative(total[:n]), bits=True)
            three.tell(reached)
            those = np.flatnonzero(reached)
            sums = three.open(total[n:][those])
            three.tell(sums)
        else:
            if feeding is None:
                raise InternalError("a party computes or hands in")
            feeding.feed(words)
            those = np.flatnonzero(feeding.heard(n, np.uint64))
            sums = feeding.heard(len(those), np.uint64)
        if ((sums < least) | (sums > records)).any():
            raise PartyError("a support was opened that cannot be: a party hands in what it does not have")
        return {candidates[at]: int(count) for at, count in zip(those.tolist(), sums.tolist(), strict=True)}

    return levels(mine.shape[1], frequent)


def by_columns(link: Link, mine: Table, items: Sequence[int], support: Fraction) -> dict[Itemset, int]:
    """The same for two parties that have other items of the same records; `items`: by item whose it is.

    Columns of the other's items are not looked at. Records stand in an order that both have.
    """
    _checked_share(support)
    if link.parties != 2:
        raise UnsupportedError("items are split between two parties")
    least = max(1, ceil(support * len(mine)))
    other = 1 - link.me
    garbling = Garbling(link, other) if link.me == 0 else None
    evaluating = None if garbling is not None else Evaluating(link, other)
    wide = len(mine).bit_length() + 1

    def frequent(candidates: Sequence[Itemset]) -> dict[Itemset, int]:
        own = [one for one in candidates if {items[item] for item in one} == {link.me}]
        mixed = [one for one in candidates if len({items[item] for item in one}) == 2]
        theirs = [one for one in candidates if one not in set(own) and one not in set(mixed)]
        counts = [_count(mine, one) for one in own]
        link.send_words(other, "own", np.array([c if c >= least else 0 for c in counts], dtype=np.uint32))
        told = link.receive_words(other, "own", len(theirs), np.uint32).tolist()
        found = {one: count for one, count in zip(own, counts, strict=True) if count >= least}
        found |= {one: count for one, count in zip(theirs, told, strict=True) if count}
        if any(count > len(mine) for count in found.values()):
            raise PartyError(f"{link.name(other)}: sent a support above the number of records")
        return found | (crossed(mixed) if mixed else {})

    def crossed(candidates: Sequence[Itemset]) -> dict[Itemset, int]:
        bits = [_having(mine, [item for item in one if items[item] == link.me]) for one in candidates]
        flat, n = np.concatenate(bits), len(candidates)
        circuit = sums_reach(n, wide, least)
        if garbling is not None:
            totals = _by_candidate(products_holding(garbling.sender, link, other, flat[None]), n)
            reached = garbling.run(circuit, lanes_of(totals, wide), n * wide)
        elif evaluating is not None:
            totals = _by_candidate(products_asking(evaluating.receiver, link, other, flat, 1), n)
            reached = evaluating.run(circuit, lanes_of(totals, wide), n * wide)
        those = np.flatnonzero(reached if reached is not None else [])
        link.send_words(other, "summands", totals[those])
        sums = totals[those] + link.receive_words(other, "summands", len(those), np.uint32)
        if ((sums < least) | (sums > len(mine))).any():
            raise PartyError(f"{link.name(other)}: sent a support that cannot be")
        return {candidates[at]: int(count) for at, count in zip(those.tolist(), sums.tolist(), strict=True)}

    return levels(mine.shape[1], frequent)


def _checked_share(support: Fraction) -> None:
    if not 0 < support <= 1:
        raise UnsupportedError("a support is a share above 0 and at most 1")


def _having(table: Table, items: Sequence[int]) -> NDArray[np.bool_]:
    return np.asarray(table[:, list(items)].all(axis=1), dtype=bool)


def _count(table: Table, itemset: Itemset) -> int:
    return int(_having(table, itemset).sum())


def _by_candidate(summands: Summands, candidates: int) -> Summands:
    found: Summands = summands.reshape(candidates, -1).sum(axis=1, dtype=np.uint32)
    return found
