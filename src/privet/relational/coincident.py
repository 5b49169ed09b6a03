"""Coincident generalisation: groups that tell no more to somebody who knows how they were made.

Zhang 2010, chapter 5. Who may ever share a group is fixed by quasi-identifiers; sensitive values decide only
whether a planned merge happens, and they decide it alike for both halves of it. So everybody in a published
group has the same inherent distribution, which is then the one that can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Column, Finding, Progress, Tally, Terms, silent
from privet.counts.door import Entries, Frequencies
from privet.counts.rollup import summed
from privet.declared import settle
from privet.domain import Node
from privet.errors import PolicyError, UnsatisfiableError
from privet.recoding import Regions
from privet.relational import suits
from privet.relational.coded import refuse_coded
from privet.relational.judge import Judge
from privet.relational.merging import Merged, Unit, forest, merge
from privet.relational.neighbours import Ranks, neighbours
from privet.relational.randomness import generator
from privet.relational.ranges import labelled


class Strategy(Enum):
    """How much company groups that break a promise are given."""

    UU = "UU"  # unsafe with unsafe: as many safe groups as possible stay as they are
    UA = "UA"  # unsafe with any: as few safe groups as possible stay out


@dataclass(frozen=True, slots=True)
class Coincident(Algorithm):
    """Groups that stay safe when the algorithm is known: merged in pairs fixed by quasi-identifiers.

    `start` is the size of the groups it begins with; without it several are tried, which is a step that
    looks at the data and is said in the evidence. `strategy` is "UU" or "UA". `interleaved` begins with
    sizes 2, 3 and 6 times `start`. `grow` lets UU take more company until the whole of it is safe. `strict`
    refuses, rather than withholds, people that are left over.
    """

    start: int | None = None
    strategy: Strategy = Strategy.UU
    interleaved: bool = False
    grow: bool = False
    strict: bool = False

    name: ClassVar[str] = "coincident"
    why_records: ClassVar[str] = (
        "it pairs people in a public order in which each stands once; give each person one row, or use "
        "top-down or optimal"
    )
    coincident: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        if self.start is not None and self.start < 1:
            raise PolicyError(f"start is the size of the first groups, 1 or more, not {self.start}")
        if self.grow and self.strategy is not Strategy.UU:
            raise PolicyError('grow is an option of strategy = "UU"; "UA" takes as many as it can anyway')

    @property
    def draws_boxes(self) -> bool:
        return True

    def complaints(self, policy: Terms) -> list[str]:
        wrong = suits.by_class(
            self.name, policy.models, suits.quasi_of(policy), persons=policy.person is not None
        )
        return [f"algorithm: {complaint}" for complaint in wrong]

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        refuse_coded(self.name, tally)
        judge = Judge(tally, policy.models)
        judge.need_classes(self.name)
        rng = generator()
        progress("search", 0)
        order = neighbours(tally.quasi, tally.counts, rng)
        sizes = [self.start] if self.start is not None else _sizes(tally.records, self._width)
        reasons: list[str] = []
        made: list[tuple[int, Merged]] = []
        for at, size in enumerate(sizes):
            progress("search", at, len(sizes))
            try:
                made.append((size, self._grouped(tally, judge, order, size, rng)))
            except UnsatisfiableError as error:
                reasons += error.complaints
        if not sizes:
            reasons.append(f"{tally.records} records are too few to be grouped")
        if not made:
            raise UnsatisfiableError(
                *dict.fromkeys(reasons),
                "that nothing can be released may itself tell something: keep it to yourself",
            )
        # Trees where no power of two fits withhold more people: only where there is nothing else.
        size, best = min(made, key=lambda found: (bool(found[1].remarks), found[1].average))
        withheld = tally.records - int(np.count_nonzero(best.group_of >= 0))
        return Finding(
            _published(tally, order, best), notes=tuple(self._notes(size, len(sizes), best, withheld))
        )

    @property
    def _width(self) -> int:
        return 6 if self.interleaved else 1

    def _grouped(
        self, tally: Tally, judge: Judge, order: Ranks, size: int, rng: np.random.Generator
    ) -> Merged:
        unit = Unit(size, interleaved=self.interleaved)
        units = tally.records // unit.people
        left = tally.records - units * unit.people
        if not units:
            raise UnsatisfiableError(
                f"start = {size}: {tally.records} records are not one group of {unit.people}"
            )
        if left and self.strict:
            raise UnsatisfiableError(
                f"start = {size}: {left} records are left over; choose a size that divides the records, "
                "or let them be withheld"
            )
        values = _Values(tally, judge, order[: units * unit.people])
        found = merge(values.broken, unit, units, least=self.strategy is Strategy.UU, grow=self.grow, rng=rng)
        return found if found is not None else forest(values.broken, unit, units)

    def _notes(self, size: int, tried: int, found: Merged, withheld: int) -> list[str]:
        numbers = (
            f"start size {size}, {self.strategy.value}, {found.joined} groups entered the merging, "
            f"{found.groups} groups were made, {withheld} people withheld by a rule that does not look "
            "at sensitive values"
        )
        size_too = f", and which of {tried} start sizes was taken" if tried > 1 else ""
        decided = f"sensitive values decided which planned merges happened{size_too}, and nothing else"
        return [numbers, decided, *found.remarks]


def _sizes(records: int, width: int) -> list[int]:
    """Start sizes for which the number of groups is just above a power of two."""
    found = {records // (width << k) for k in range(1, records.bit_length())}
    return sorted(size for size in found if size >= 1)


class _Values:
    """The sensitive values of people in public order: asked only whether groups break a promise."""

    def __init__(self, tally: Tally, judge: Judge, order: Ranks) -> None:
        self._judge = judge
        self._columns = [next(c for c in tally.sensitive if c.name == name) for name in judge.sensitive]
        self._codes = [np.repeat(c.codes, tally.counts)[order].astype(np.intp) for c in self._columns]

    def broken(self, group: NDArray[np.intp], groups: int) -> NDArray[np.bool_]:
        """Which groups break a promise; `group` says where each person is, or is -1 for nowhere."""
        inside = group >= 0
        here = group if inside.all() else group[inside]
        size = np.bincount(here, minlength=groups).astype(np.int64)
        entries = []
        for column, codes in zip(self._columns, self._codes, strict=True):
            wide = max(1, column.domain.size)
            key = here * wide + (codes if inside.all() else codes[inside])
            found, count = summed(key, np.ones(len(key), dtype=np.int64), groups * wide)
            entries.append(Entries(column, *np.divmod(found, wide), count))
        return self._judge.broken(Frequencies((), np.zeros(0, dtype=np.intp), size, tuple(entries)))


def _published(tally: Tally, order: Ranks, found: Merged) -> Regions:
    """Each group as the box around its people."""
    group_of = np.full(tally.records, -1, dtype=np.intp)
    group_of[order[: len(found.group_of)]] = found.group_of
    kept = group_of >= 0
    nodes, positions = {}, {}
    for column in tally.quasi:
        codes = np.repeat(column.codes, tally.counts).astype(np.intp)
        nodes[column.name], of_group = _boxes(column, codes[kept], group_of[kept], found.groups)
        positions[column.name] = np.where(kept, of_group[group_of], 0)
    return Regions(nodes, positions, None if kept.all() else kept, by_record=True)


def _boxes(
    column: Column, codes: NDArray[np.intp], group_of: NDArray[np.intp], groups: int
) -> tuple[tuple[Node, ...], NDArray[np.intp]]:
    order = np.argsort(group_of, kind="stable")
    start = np.searchsorted(group_of[order], np.arange(groups))
    low, high = np.minimum.reduceat(codes[order], start), np.maximum.reduceat(codes[order], start)
    wide = column.domain.size
    there = np.bincount(codes, minlength=wide) > 0  # whoever is withheld is not named in a label
    found, of_group = np.unique(low * wide + high, return_inverse=True)
    return tuple(labelled(column.domain, *divmod(int(pair), wide), there) for pair in found), of_group
