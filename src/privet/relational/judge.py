"""Which classes of a node break a promise, and whether the rest may be published.

A promise about each class by itself names the classes that break it: their records can be suppressed. What
is left is judged again, since dropping records changes the table that some promises compare with. Every
other promise is about the table as a whole; it is asked of what is left, and kept or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Nulls, PrivacyModel, Tally
from privet.counts.door import Beyond, Counts, Entries, Frequencies, Grouping, Ints, Levels
from privet.counts.memory import counted
from privet.errors import PolicyError, UnsupportedError
from privet.models.classcheck import ClassCheck
from privet.models.classes import Histogram
from privet.models.linkage import LinkageModel
from privet.models.tcloseness import Distance, TCloseness
from privet.models.template import Protected, protected
from privet.recoding import Generalization, Regions
from privet.relational import suits
from privet.relational.closeness import NEAR, Floats, Flows, dense, dropped_at_least
from privet.relational.trimming import thinned, trimmed

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ruling:
    """What becomes of a node."""

    gone: Ints  # how many records of each class must go
    bad: Mask  # the classes that must go as a whole
    holds: bool  # does the rest keep every promise?
    lost: Mask  # of the bad, those whose records must go at every finer node too
    at_least: int  # so many records must go at every finer node
    trims: Ints | None = None  # classes x codes: what goes of classes that stay, by their sensitive value
    beyond: Beyond | None = None  # too many classes to be shown, too many records of which are in small ones

    @property
    def suppressed(self) -> int:
        """How many records go."""
        return int(self.gone.sum())


class Judge:
    """Every promise of a policy, asked of the classes of a node."""

    def __init__(
        self,
        data: Tally | Counts,
        models: Sequence[PrivacyModel],
        limit: Fraction = Fraction(0),
        *,
        trim: bool = False,
        one_by_one: bool = False,
        of_persons: bool = False,
    ) -> None:
        """`of_persons`: classes that are asked about are counted in persons, where the table has them.

        `one_by_one`: where a protected value is too common in a class, the fewest records of it go.
        """
        self._counts = counted(data)
        tally = self._counts.heading
        self.limit = int(limit * self._counts.records)  # records that may be suppressed
        self.nulls = tally.nulls
        strict = self.nulls is Nulls.VALUE
        names = [column.name for column in tally.quasi]
        persons = tally.person is not None
        by_class = [
            model
            for model in models
            if strict
            and (of_persons or not persons)
            and suits.about_each_class(model, names, persons=persons)
        ]
        self._whole = [model for model in models if model not in by_class]
        # Of persons, what must be suppressed are classes of too few; the rest is asked of the whole table.
        self._fewest = (
            max((suits.fewest(model, names) for model in models), default=1)
            if persons and strict and not of_persons
            else 1
        )
        self._bounds = [(m, m.linkage()) for m in by_class if isinstance(m, LinkageModel)]
        self._protected = [protected(tally, bound.binding) for _, bound in self._bounds]
        self._classes = [model for model in by_class if isinstance(model, ClassCheck)]
        self._tables: dict[str, Ints] = {}
        self._flows: dict[tuple[int, str], Flows | None] = {}
        self.sensitive = tuple(
            dict.fromkeys(
                [
                    *(name for model in self._classes for name in model.sensitive),
                    *(bound.template.attribute for bounds in self._protected for bound in bounds),
                ]
            )
        )
        close = [model for model in by_class if isinstance(model, TCloseness)]
        # Must the judge be asked about each class, or do the numbers of records say it all?
        self.asked = bool(self.sensitive) or tally.person is not None
        # One by one, records are only chosen by the one sensitive value that any promise looks at.
        alone = len(close) == len(self.sensitive) == 1 and not self._whole
        self._trimmed_for = close[0] if trim and self.limit and alone else None
        joining = all(map(_joins, self._classes)) and len(self.sensitive) == 1 and not self._whole
        self.one_by_one = one_by_one and self.limit > 0 and joining and any(self._protected)
        # A null that matches everything stands in several classes: merging is no longer a union.
        self.monotone = strict and all(model.monotone for model in models)
        if tally.person is not None:  # a share of persons may grow when classes merge
            self.monotone &= suits.only_sizes(models)
        # With records suppressed, only what a class keeps whatever joins it is kept above.
        # Where values of several rows are known, a coarser node that drops fewer rows may break it again.
        self.prunes = self.monotone and (not self.limit or (all(map(_joins, models)) and not tally.across))

    def need_classes(self, algorithm: str) -> None:
        """Refuse promises about the whole table, for a search that looks at parts of the attributes."""
        if complaints := suits.apart(algorithm, self._whole):
            raise UnsupportedError(*complaints)

    def broken(self, found: Frequencies) -> Mask:
        """The classes that break a promise, where nothing of the table is suppressed; any part of them."""
        bad = self._sizes(found, lasting=True)
        if self._classes or self.sensitive:
            bad |= self._sizes(found, lasting=False)
            for model in self._classes:
                for name in model.sensitive:
                    bad |= self._breaks(model, found, name, None, self._table(name))
        return bad

    def holds_for_all(self) -> bool:
        """Does the whole table keep every promise as a single class?"""
        entries = []
        for name in self.sensitive:
            table = self._table(name)
            value = np.flatnonzero(table)
            column = next(c for c in self._counts.heading.sensitive if c.name == name)
            entries.append(Entries(column, np.zeros(len(value), dtype=np.intp), value, table[value]))
        size = np.array([self._counts.records], dtype=np.int64)
        return not self.broken(Frequencies((), np.zeros(1, dtype=np.intp), size, tuple(entries)))[0]

    @property
    def smallest(self) -> int:
        """No class with fewer records than this keeps every promise."""
        return max((bound.k for _, bound in self._bounds), default=1)

    def _table(self, name: str) -> Ints:
        """How many records of the whole table have each value."""
        if not self._tables:
            found = self._counts.histograms(self.sensitive)
            self._tables = dict(zip(self.sensitive, found, strict=True))
        return self._tables[name]

    def breaks(self, rollups: Grouping, node: Levels) -> bool:
        """Must too many records go at a node, and so at every finer one?"""
        beyond = rollups.beyond(node, self.smallest)
        if beyond is not None and beyond.lost > self.limit:
            return True
        return self._lost(rollups, node)[2] > self.limit

    def fails(self, rollups: Grouping, node: Levels) -> bool:
        """Does a node break a promise, whatever goes of it?"""
        return not self.rule(rollups, node).holds

    def rule(self, rollups: Grouping, node: Levels) -> Ruling:
        beyond = rollups.beyond(node, self.smallest)
        if beyond is not None and beyond.lost > self.limit:
            nothing, none = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
            return Ruling(nothing, none, holds=False, lost=none, at_least=beyond.lost, beyond=beyond)
        found, lost, at_least = self._lost(rollups, node)
        bad = lost.copy()
        trims: Ints | None = None
        if at_least <= self.limit:
            common = self._sizes(found, lasting=False)
            trims = self._fewest_gone(found, bad, common) if self.one_by_one else None
            if trims is None:
                bad |= common
                trims = self._trims(found, bad)
            bad = (
                self._until_all_hold(found, bad) if trims is None else bad | (trims.sum(axis=1) == found.size)
            )
        gone = np.where(bad, found.size, 0 if trims is None else trims.sum(axis=1))
        suppressed = int(gone.sum())
        if not self.limit and self.monotone:
            at_least = max(at_least, suppressed)
        holds = at_least <= self.limit and suppressed <= self.limit and suppressed < rollups.records
        if holds and self._whole:
            holds = rollups.holds(node, bad, self._whole)
            if not holds and self.prunes:
                at_least = self.limit + 1
        return Ruling(gone, bad, holds, lost, at_least, trims)

    def _lost(self, rollups: Grouping, node: Levels) -> tuple[Frequencies, Mask, int]:
        """The classes whose records must go at every finer node too, and how many must go there at least."""
        found = rollups.at(node)
        lost = self._sizes(found, lasting=True)
        if self._fewest > 1 and self.limit:
            lost |= rollups.persons(node) < self._fewest
        for model in self._classes:
            if _joins(model):
                lost |= self._read(model, found, None)
        return found, lost, max(int(found.size[lost].sum()), self._moved(found))

    def _until_all_hold(self, found: Frequencies, bad: Mask) -> Mask:
        """The classes that go, when classes go as a whole: what is left is compared with itself."""
        later = [model for model in self._classes if not _joins(model)]
        kept: Mask | None = None
        while later:
            broken = np.logical_or.reduce([self._read(model, found, kept) for model in later])
            new = broken & ~bad
            bad = bad | broken
            if not bad.any() or (kept is not None and not new.any()):
                break
            kept = ~bad
            if not kept.any() or int(found.size[bad].sum()) > self.limit:
                break
        return bad

    def _trims(self, found: Frequencies, bad: Mask) -> Ints | None:
        """What goes of each class, by sensitive value, where t-closeness lets some records of it stay."""
        model = self._trimmed_for
        if model is None:
            return None
        name = self.sensitive[0]
        histogram = self._histogram(found, name, None)
        flows = self._flows_of(model, histogram)
        if flows is None:
            return None
        counts = dense(histogram)
        counts[bad] = 0
        most = self.limit - int(found.size[bad].sum())
        kept = trimmed(model, flows, counts, self.smallest, most) if most >= 0 else None
        return None if kept is None else self._gone(found, counts, kept)

    def _fewest_gone(self, found: Frequencies, lost: Mask, common: Mask) -> Ints | None:
        """The same where protected values are too common in some classes: no record more than needed."""
        wrong = np.flatnonzero(common & ~lost)
        if not len(wrong) or len(wrong) > self.limit - int(found.size[lost].sum()):
            return None
        counts = dense(self._histogram(found, self.sensitive[0], None))
        counts[lost] = 0
        kept = counts.copy()
        shares = [
            (code, one.template.at_most) for bounds in self._protected for one in bounds for code in one.codes
        ]
        for at in wrong.tolist():
            kept[at] = thinned(counts[at], shares, self.smallest)
        return self._gone(found, counts, kept)

    def _gone(self, found: Frequencies, counts: Ints, kept: Ints) -> Ints | None:
        """What goes, if what is kept of the classes keeps every promise."""
        if not kept.any():
            return None
        stays = np.flatnonzero(kept.sum(axis=1))
        owner, value = np.nonzero(kept[stays])
        entries = Entries(found.sensitive[0].column, owner, value, kept[stays][owner, value])
        rest = Frequencies(found.levels, found.cell[stays], kept[stays].sum(axis=1), (entries,))
        return None if self._any_broken(rest) else counts - kept

    def _any_broken(self, found: Frequencies) -> bool:
        """Does any class break a promise, compared with these classes and nothing else?"""
        sizes = self._sizes(found, lasting=True) | self._sizes(found, lasting=False)
        return bool(sizes.any()) or any(bool(self._read(model, found, None).any()) for model in self._classes)

    def _sizes(self, found: Frequencies, *, lasting: bool) -> Mask:
        """The classes that are too small; or, not lasting, those in which a protected value is too common."""
        bad = np.zeros(len(found), dtype=bool)
        for (_, bound), protections in zip(self._bounds, self._protected, strict=True):
            if lasting:
                bad |= found.size < bound.k
            else:
                for one in protections:
                    bad |= self._common(found, one)
        return bad

    def _common(self, found: Frequencies, one: Protected) -> Mask:
        entries = found.sensitive[self.sensitive.index(one.template.attribute)]
        about = np.isin(entries.value, one.codes)
        owner, count = entries.owner[about], entries.count[about]
        bad = np.zeros(len(found), dtype=bool)
        bad[owner[count > _most(found.size[owner], one.template.at_most)]] = True
        return bad

    def _read(self, model: ClassCheck, found: Frequencies, kept: Mask | None) -> Mask:
        """The classes that break a promise, when the table is what is kept of it."""
        bad = np.zeros(len(found), dtype=bool)
        for name in model.sensitive:
            broken = self._breaks(model, found, name, kept, None)
            bad |= broken if kept is None else _spread(broken, kept)
        return bad

    def _breaks(
        self, model: ClassCheck, found: Frequencies, name: str, kept: Mask | None, table: Ints | None
    ) -> Mask:
        """The classes that break a promise about one attribute; `table`: what they are compared with."""
        histogram = self._histogram(found, name, kept)
        if table is not None:
            histogram = replace(histogram, table=table)
        if isinstance(model, TCloseness):
            far = self._far(model, histogram)
            if far is not None and (np.abs(far - float(model.t)) > NEAR).all():
                return np.asarray(far > float(model.t))
        return model.read(histogram).bad

    def _far(self, model: TCloseness, histogram: Histogram) -> Floats | None:
        """How far each class is from the table, nearly; None where only the model can tell."""
        flows = self._flows_of(model, histogram)
        return None if flows is None else flows.distances(histogram)

    def _flows_of(self, model: TCloseness, histogram: Histogram) -> Flows | None:
        key = (id(model), histogram.column.name)
        if key not in self._flows:
            # Of the whole table: parts of it may lack values.
            whole = replace(histogram, table=self._table(histogram.column.name))
            self._flows[key] = Flows.of(model, whole)
        return self._flows[key]

    def _histogram(self, found: Frequencies, name: str, kept: Mask | None) -> Histogram:
        entries = found.sensitive[self.sensitive.index(name)]
        owner, value, count, size = entries.owner, entries.value, entries.count, found.size
        if kept is not None:
            here = kept[owner]
            owner, value, count = (np.cumsum(kept) - 1)[owner[here]], value[here], count[here]
            size = size[kept]
        start = np.searchsorted(owner, np.arange(len(size)))
        wide = max(1, entries.column.domain.size)
        table = np.bincount(value, weights=count, minlength=wide).astype(np.int64)
        return Histogram(entries.column, size, start, owner, value, count, table)

    def _moved(self, found: Frequencies) -> int:
        """How many records t-closeness makes every finer node lose, at least."""
        most = 0
        for model in self._classes:
            if isinstance(model, TCloseness) and model.distance is not Distance.KL and self.limit:
                for name in model.sensitive:
                    histogram = self._histogram(found, name, None)
                    flows = self._flows_of(model, histogram)
                    most = max(most, dropped_at_least(model, flows, histogram, self.limit))
        return most


def _spread(broken: Mask, kept: Mask) -> Mask:
    bad = np.zeros(len(kept), dtype=bool)
    bad[kept] = broken
    return bad


def _joins(model: PrivacyModel) -> bool:
    """Does a class that keeps the promise keep it whatever records join it?"""
    return model.monotone_with_suppression


def check_suppression(share: Fraction) -> None:
    """Refuse anything but a share of the records."""
    if not 0 <= share <= 1:
        raise PolicyError('suppression is an exact share of the records from 0 to 1, such as "5/100"')


def need_monotone(algorithm: str, judge: Judge, models: Sequence[PrivacyModel]) -> None:
    """Refuse promises that a search which prunes would judge wrongly."""
    if judge.prunes:
        return
    if not judge.monotone:
        wrong = suits.broken_by_merging(models, judge.nulls) or [suits.OF_PERSONS]
        raise UnsupportedError(*suits.unpruned(algorithm, wrong))
    names = [m.name for m in models if not _joins(m)]
    raise UnsupportedError(
        f"{algorithm} with suppression: once records may be dropped, generalising no longer keeps "
        f"{', '.join(names)}; use suppression = 0, or optimal"
    )


def _most(size: Ints, at_most: Fraction) -> Ints:
    """How many records of classes of these sizes may have a value: whole numbers, so nothing is rounded."""
    sizes, at = np.unique(size, return_inverse=True)
    return np.array([n * at_most.numerator // at_most.denominator for n in sizes.tolist()], dtype=np.int64)[
        at
    ]


def need_classes_that_merge(
    algorithm: str, judge: Judge, tally: Tally, models: Sequence[PrivacyModel]
) -> None:
    """Refuse promises that are not about each class by itself, or that merging classes may break."""
    if complaints := suits.merges(algorithm, models, tally.nulls, None, persons=tally.person is not None):
        raise UnsupportedError(*complaints)
    judge.need_classes(algorithm)


def published_at(rollups: Grouping, judge: Judge, node: Levels) -> Generalization | Regions:
    """The recoding of a node, without the records that must go."""
    ruling = judge.rule(rollups, node)
    return rollups.recoding(node, ruling.bad, ruling.trims)
