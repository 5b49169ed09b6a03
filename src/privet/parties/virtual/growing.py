"""Distributed Mondrian: all sites split the same regions at the same places, level by level.

Jurczyk and Xiong 2008 (algorithms 1 and 2 of their report), completed: the root is tested before the first
cut, every cut before it is made, and ties at a median are spread over both halves (`ties`). A region is split
along its widest column, of those that vary, at the median; where a half would be too small, or of too few
sites, along the next widest. The regions of one depth do not know of each other, so all of them travel
together: a run takes as many rounds as its tree is deep, not as it is wide.

Every site runs this same code. What only the first one learns (sums) it decides by; what it decides it tells.

Trust: see `sites`.
Leaks: to the first site, how many records each region and each probe of a median has, in all; how many sites
have records in each half. To all, the extremes of each region, where it is cut, how many ties there are and
how many go left, whether a cut is made; at the end how many records each region has. A column's bounds and
order are public.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InternalError, PartyError, UnsatisfiableError, UnsupportedError
from privet.parties.primitives.extremes import Ints, Mask, medians
from privet.parties.transport import Words
from privet.parties.virtual.regions import Codes, Here
from privet.parties.virtual.rules import Boxes, Rules
from privet.parties.virtual.sites import Sites

MOST = 1 << 31  # records of all sites together are fewer


@dataclass(frozen=True)
class Grown:
    """The leaves of the tree, in the order of their paths, and where this site's rows lie."""

    low: Ints = field(repr=False)  # leaves x columns, the ends of each box, both in it
    high: Ints = field(repr=False)
    sizes: Ints = field(repr=False)  # records of all sites
    leaf: Ints = field(repr=False)  # by row of this site
    paths: tuple[str, ...] = field(repr=False)

    def classes(self) -> Ints:
        """The sizes of groups: leaves with the same box are one."""
        return np.bincount(groups_of(self.low, self.high), weights=self.sizes).astype(np.int64)


@dataclass
class _Level:
    """The regions of one depth that are still open."""

    here: Here
    rows: Ints  # of this site, which of them
    paths: list[str]
    low: Ints
    high: Ints
    records: Ints | None  # of all sites; only the first one knows


@dataclass
class _Cut:
    """What became of the regions of a depth."""

    made: Mask  # is it cut?
    column: Ints
    at: Ints
    left: Mask  # by row: in the left half
    halves: Ints | None  # records of both halves, at the first site


def groups_of(low: Ints, high: Ints) -> Ints:
    """By leaf the number of its group: leaves with the same box are one."""
    boxes = np.concatenate([low, high], axis=1)
    return np.unique(boxes, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def grown(codes: Codes, widths: tuple[int, ...], rules: Rules, sites: Sites) -> Grown:
    """The tree over all sites' rows; `widths`: how many codes each column has, agreed on in public."""
    return _Growing(codes, widths, rules, sites).grown()


class _Growing:
    def __init__(self, codes: Codes, widths: tuple[int, ...], rules: Rules, sites: Sites) -> None:
        if codes.shape[1] != len(widths) or (len(codes) and (codes.max(axis=0) >= widths).any()):
            raise InternalError("codes lie within the agreed columns")
        if len(codes) * sites.count >= MOST:
            raise UnsupportedError(f"together the sites have fewer than {MOST:,} records")
        if rules.sites > sites.count:
            raise UnsupportedError("sites: a group cannot have rows of more sites than there are")
        self._codes, self._widths, self._rules, self._sites = codes, widths, rules, sites
        self._most = max(widths) - 1
        self._span: Ints | None = None  # of the root, by column

    def grown(self) -> Grown:
        rows = len(self._codes)
        here = Here(self._codes, np.zeros(rows, dtype=np.int64), 1)
        records = self._totals(here.sizes())
        self._refuse_root(here, records)
        level = _Level(here, np.arange(rows), [""], *self._extremes(here), records)
        self._span = (level.high - level.low)[0]
        leaf = np.zeros(rows, dtype=np.int64)
        paths: list[str] = []
        boxes: list[tuple[Ints, Ints]] = []
        while level.paths:
            cut = self._cut(level)
            done = np.flatnonzero(~cut.made)
            number = np.full(len(level.paths), -1)
            number[done] = len(paths) + np.arange(len(done))
            ended = ~cut.made[level.here.region]
            leaf[level.rows[ended]] = number[level.here.region[ended]]
            paths += [level.paths[at] for at in done.tolist()]
            boxes.append((level.low[done], level.high[done]))
            level = self._next(level, cut)
        order = np.array(sorted(range(len(paths)), key=paths.__getitem__))
        rank = np.argsort(order)
        low, high = (np.concatenate(some)[order] for some in zip(*boxes, strict=True))
        return self._checked(rank[leaf], low, high, tuple(paths[at] for at in order.tolist()))

    # One depth.

    def _cut(self, level: _Level) -> _Cut:
        """Split every region that may be split, along the first column that keeps what was agreed on."""
        regions = len(level.paths)
        cut = _Cut(
            made=np.zeros(regions, dtype=bool),
            column=np.zeros(regions, dtype=np.int64),
            at=np.zeros(regions, dtype=np.int64),
            left=np.zeros(len(level.rows), dtype=bool),
            halves=None if level.records is None else np.zeros((regions, 2), dtype=np.int64),
        )
        wide = self._decided("may split", level.records, lambda all_: all_ >= self._enough, regions)
        active = np.flatnonzero(wide)
        if not len(active):
            return cut
        low, high = level.low, level.high
        if any(level.paths):  # of the root they are known
            low, high = low.copy(), high.copy()
            low[active], high[active] = self._extremes(level.here.among(active))
        span = high - low
        # Of whole numbers below 2**26, equal shares are equal as doubles, and others differ.
        share = span / np.maximum(self._root_span, 1)
        order = np.argsort(-share, axis=1, kind="stable")
        varying = (span > 0).sum(axis=1)
        for turn in range(order.shape[1]):
            active = active[varying[active] > turn]
            if not len(active):
                break
            made = self._tried(level, cut, active, order[active], turn, low, high)
            active = active[~made]
        return cut

    @property
    def _enough(self) -> int:
        """How many records a region has at least that may be split."""
        return next(n for n in (2 * self._rules.k, 2 * self._rules.k + 1) if self._rules.may_split(n))

    @property
    def _root_span(self) -> Ints:
        if self._span is None:
            raise InternalError("the root was looked at first")
        return self._span

    def _tried(  # noqa: PLR0917 - a region's cut, and what it is made of
        self, level: _Level, cut: _Cut, active: Ints, order: Ints, turn: int, low: Ints, high: Ints
    ) -> Mask:
        """Cut these regions along their next column where both halves keep what was agreed on."""
        here, count = level.here.among(active), len(active)
        mine = np.flatnonzero(np.isin(level.here.region, active))
        column = order[:, turn]
        values = here.along(column)
        records = None if level.records is None else level.records[active]
        every = np.arange(count)
        ends = low[active][every, column], high[active][every, column]

        def at_most(probe: Ints) -> Ints:
            return here.counted(values <= probe[here.region])

        median = medians(self._sites, self._sites.tell, at_most, records, *ends)
        at = median[here.region]
        tied = here.counted(values == at)
        below = self._totals(np.concatenate([here.counted(values < at), here.counted(values > at)]))
        said = None
        if below is not None and records is not None:
            smaller, greater = below[:count], below[count:]
            ties = records - smaller - greater
            said = np.concatenate([ties, np.clip(records // 2 - smaller, 0, ties)])
        told = self._sites.tell(
            "ties", None if said is None else said.astype(np.uint32), 2 * count, np.uint32
        )
        ties, left = told[:count].astype(np.int64), told[count:].astype(np.int64)
        if (ties < 1).any() or (left > ties).any():
            raise PartyError("the first site counts ties that cannot be")
        share = self._sites.spread(tied, left, ties)
        rest = np.array([[c for c in row if c != row[turn]] for row in order.tolist()], dtype=np.int64)
        goes = here.left(values, median, share, rest.reshape(count, -1), self._rules.ties)
        halves = Here(here.codes, 2 * here.region + ~goes, 2 * count)
        sizes = self._totals(halves.sizes())
        if sizes is not None and records is not None:
            both = sizes.reshape(count, 2)
            if (both[:, 0] != records // 2).any() or (both.sum(axis=1) != records).any():
                raise PartyError("the halves of a cut are not as large as the sites counted")
        fine = self._fine(halves, sizes)
        made = self._decided("commit", fine, lambda bits: bits.reshape(count, 2).all(axis=1), count)
        done = active[made]
        cut.made[done], cut.column[done], cut.at[done] = True, column[made], median[made]
        cut.left[mine] |= goes & made[here.region]
        if cut.halves is not None and sizes is not None:
            cut.halves[done] = sizes.reshape(count, 2)[made]
        return made

    def _next(self, level: _Level, cut: _Cut) -> _Level:
        """The halves of the regions that were cut."""
        done = np.flatnonzero(cut.made)
        number = np.full(len(level.paths), -1)
        number[done] = np.arange(len(done))
        kept = np.flatnonzero(cut.made[level.here.region])
        region = 2 * number[level.here.region[kept]] + ~cut.left[kept]
        low, high = np.repeat(level.low[done], 2, axis=0), np.repeat(level.high[done], 2, axis=0)
        every = 2 * np.arange(len(done))
        high[every, cut.column[done]] = cut.at[done]
        low[every + 1, cut.column[done]] = cut.at[done]
        return _Level(
            Here(level.here.codes[kept], region, 2 * len(done)),
            level.rows[kept],
            [level.paths[at] + side for at in done.tolist() for side in "LR"],
            low,
            high,
            None if cut.halves is None else cut.halves[done].reshape(-1),
        )

    # What the sites find out together.

    def _totals(self, mine: Ints) -> Ints | None:
        total = self._sites.total(mine.astype(np.uint32))
        return None if total is None else total.astype(np.int64)

    def _decided(
        self, kind: str, known: NDArray[Any] | None, decide: Callable[[Any], Mask], count: int
    ) -> Mask:
        """Bits that the first site decides by what it knows, at all sites."""
        said: Words | None = None if known is None else decide(known).astype(np.uint8)
        return self._sites.tell(kind, said, count, np.uint8).astype(bool)

    def _extremes(self, here: Here) -> tuple[Ints, Ints]:
        """By region and column the smallest and the largest code of all sites."""
        low, high, there = here.extremes()
        flat = np.concatenate([(self._most - low).reshape(-1), high.reshape(-1)])
        seen = np.tile(np.repeat(there, len(self._widths)), 2)
        found = self._sites.largest(flat, seen, self._most).reshape(2, here.regions, len(self._widths))
        return self._most - found[0], found[1]

    def _fine(self, here: Here, sizes: Ints | None) -> Mask | None:
        """By region, at the first site: does it keep what was agreed on?"""
        rules = self._rules
        if rules.asks_sizes:
            by_site = self._sites.sizes(here.sizes(), MOST - 1)
            diverse = np.array([rules.diverse(some) for some in by_site], dtype=bool)
        elif rules.sites > 1:
            counted = self._totals((here.sizes() > 0).astype(np.int64))
            diverse = np.ones(here.regions, dtype=bool) if counted is None else counted >= rules.sites
        else:
            diverse = np.ones(here.regions, dtype=bool)
        return None if sizes is None else (sizes >= rules.k) & diverse

    def _refuse_root(self, here: Here, records: Ints | None) -> None:
        fine = self._decided("root", self._fine(here, records), lambda bits: bits, 1)
        if not fine[0]:
            raise UnsatisfiableError(
                "the rows of all sites together are fewer than k, or of fewer sites than agreed on: nothing "
                "can be published; agree on less"
            )

    def _checked(self, leaf: Ints, low: Ints, high: Ints, paths: tuple[str, ...]) -> Grown:
        """Every leaf once more, as it is published: how many records, of how many sites."""
        here = Here(self._codes, leaf, len(paths))
        if self._rules.boxes is Boxes.TIGHT:
            low, high = self._extremes(here)
        if ((self._codes < low[leaf]) | (self._codes > high[leaf])).any():
            raise PartyError(
                "a row of ours lies outside of its box: a site hands on other extremes than it has"
            )
        sizes = self._totals(here.sizes())
        fine = self._decided("kept", self._fine(here, sizes), lambda bits: bits, len(paths))
        told = self._sites.tell(
            "sizes", None if sizes is None else sizes.astype(np.uint32), len(paths), np.uint32
        ).astype(np.int64)
        if not fine.all() or (told < self._rules.k).any():
            raise PartyError("a group is smaller than k or of too few sites; nothing is published")
        if any(a >= b for a, b in pairwise(paths)):
            raise InternalError("leaves stand in the order of their paths")
        return Grown(low, high, told, leaf, paths)
