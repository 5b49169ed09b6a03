"""Which columns tell people apart: what a steward looks at before roles are given.

*Distinctness*: different values for each record; 1 where every record has its own. *Separation*: the share
of pairs of records that differ. Motwani and Xu, "Efficient algorithms for masking and finding
quasi-identifiers", 2007. Small combinations are tried as well, of columns that do not identify by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from privet.core import Column, Tally
from privet.measure.classes import Ints, group_sizes

TOGETHER = 3  # columns in a combination, at most
LISTED = 20
EFFORT = 200_000_000  # cells looked at, some seconds
ALONE = 0.9  # a column this distinct identifies by itself; together with others it says nothing new


@dataclass(frozen=True, slots=True)
class Telling:
    """How well some columns tell records apart."""

    columns: tuple[str, ...]
    values: int  # different combinations that occur
    distinctness: float
    separation: float
    unique_share: float  # of all records, those that no other agrees with


def telling(columns: Sequence[Column], counts: Ints) -> Telling:
    """How well these columns together tell records apart."""
    sizes = group_sizes(columns, counts)
    records = int(sizes.sum())
    pairs = records * (records - 1)
    # Whole numbers of Python's own: a million records make 10**12 pairs, and their squares add up.
    alike = sum(int(size) * (int(size) - 1) for size in sizes[sizes > 1])
    return Telling(
        tuple(column.name for column in columns),
        len(sizes),
        len(sizes) / records if records else 0.0,
        1 - alike / pairs if pairs else 0.0,
        int((sizes == 1).sum()) / records if records else 0.0,
    )


def single(tally: Tally) -> list[Telling]:
    """Each column by itself, the most telling first."""
    return _ranked([telling([column], tally.counts) for column in tally.quasi])


def together(
    tally: Tally, *, most: int = TOGETHER, listed: int = LISTED, effort: int = EFFORT
) -> list[Telling]:
    """The combinations of two columns and more that tell most; of many columns, only of the best."""
    ranked = [one.columns[0] for one in single(tally) if one.distinctness < ALONE and one.values > 1]
    while ranked and sum(comb(len(ranked), n) for n in range(2, most + 1)) * tally.cells > effort:
        ranked.pop()
    chosen = [column for column in tally.quasi if column.name in ranked]
    found = [telling(group, tally.counts) for n in range(2, most + 1) for group in combinations(chosen, n)]
    return _ranked(found)[:listed]


def _ranked(found: list[Telling]) -> list[Telling]:
    return sorted(found, key=lambda one: (-one.distinctness, -one.separation, len(one.columns), one.columns))
