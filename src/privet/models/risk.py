"""Risk thresholds: how likely it is, over the whole table, that a record is found.

An adversary who knows that a person is in the table (a "prosecutor") picks a record of the person's class:
the chance of picking the right one is one over the size of the class. El Emam and Dankar, "Protecting
privacy using k-anonymity", JAMIA 2008.

These are promises about shares and averages, so they say nothing about any one person. Classes only grow
when values are generalised, so all of them are kept by it, but for the one that rests on an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.core import PrivacyModel, Tally, Verdict
from privet.declared import settle
from privet.models import persons
from privet.models.classes import Classes
from privet.models.exact import exact_number
from privet.models.linkage import Linkage, LinkageCheck
from privet.models.population import uniqueness

LARGEST = 2**62  # no class has so many records
MILLION = 1_000_000  # estimates are told in so many parts


@dataclass(frozen=True, slots=True)
class AverageRisk(PrivacyModel):
    """The chance of finding a record, averaged over all records, is `at_most` this: classes / records.

    Stops: finding many people's records, for an adversary who tries them all.
    Does not stop: finding one person's: a few classes of one hardly move an average. See k-anonymity.

    >>> AverageRisk(at_most=Fraction(1, 10))
    AverageRisk(at_most=Fraction(1, 10))
    """

    at_most: Fraction

    name: ClassVar[str] = "average-risk"
    persons: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: at_most", self.at_most, 0, 1, above=True)

    def check(self, tally: Tally) -> Verdict:
        size = _each(tally, self.name)  # records of a class have its size in common, so each class is one
        found = sum((Fraction(int(n), int(s)) for s, n in zip(*size, strict=True)), Fraction(0))
        everybody = int(size[1].sum())
        found /= max(1, everybody)
        broken = found > self.at_most  # one promise about the whole table, and about every record in it
        return Verdict({"risk": found}, int(broken), everybody if broken else 0)

    def nearest(self, tally: Tally) -> Self:
        return replace(self, at_most=max(self.at_most, Fraction(self.check(tally).achieved["risk"])))


@dataclass(frozen=True, slots=True)
class MaximumRisk(LinkageCheck):
    """The chance of finding a record is `at_most` this for every record: one over the size of its class.

    It is k-anonymity with k = 1 / at_most rounded up, as regulators like to write it.

    Stops: finding a person's record.
    Does not stop: learning a value that everybody in a class has; see distinct-l-diversity.
    """

    at_most: Fraction

    name: ClassVar[str] = "maximum-risk"
    monotone_with_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: at_most", self.at_most, 0, 1, above=True)

    def linkage(self) -> Linkage:
        return Linkage(None, min(_least(self.at_most), LARGEST), ())

    def check(self, tally: Tally) -> Verdict:
        verdict = LinkageCheck.check(self, tally)
        return replace(verdict, achieved={"risk": Fraction(1, max(1, int(verdict.achieved["k"])))})

    def shortfalls(self, tally: Tally) -> list[str]:
        found = self.nearest(tally).at_most
        return [f"{self.name}: {self.at_most} cannot be kept; the smallest feasible is {found}"]

    def nearest(self, tally: Tally) -> Self:
        return replace(self, at_most=max(self.at_most, Fraction(self.check(tally).achieved["risk"])))


@dataclass(frozen=True, slots=True)
class RecordsAtRisk(PrivacyModel):
    """At most a share `at_most` of all records has a chance of being found `above` this.

    Stops: releases in which many people's records are easily found.
    Does not stop: finding those of the few that are left; see maximum-risk, which leaves none.

    >>> RecordsAtRisk(above=Fraction(1, 5), at_most=Fraction(1, 100)).at_most
    Fraction(1, 100)
    """

    above: Fraction
    at_most: Fraction

    name: ClassVar[str] = "records-at-risk"
    persons: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: above", self.above, 0, 1, above=True)
        exact_number(f"{self.name}: at_most", self.at_most, 0, 1)

    def check(self, tally: Tally) -> Verdict:
        return _small_classes(tally, self.name, _least(self.above), self.at_most)

    def nearest(self, tally: Tally) -> Self:
        return replace(self, at_most=max(self.at_most, Fraction(self.check(tally).achieved["share"])))


@dataclass(frozen=True, slots=True)
class SampleUniqueness(PrivacyModel):
    """At most a share `at_most` of all records is alone in its class.

    Stops: releases in which many people stand alone, which is what an adversary looks for first.
    Does not stop: finding those that do; nor anything about classes of two. Unique in the table does not
    mean unique in the population.
    """

    at_most: Fraction

    name: ClassVar[str] = "sample-uniqueness"
    persons: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: at_most", self.at_most, 0, 1)

    def check(self, tally: Tally) -> Verdict:
        return _small_classes(tally, self.name, 2, self.at_most)

    def nearest(self, tally: Tally) -> Self:
        return replace(self, at_most=max(self.at_most, Fraction(self.check(tally).achieved["share"])))


@dataclass(frozen=True, slots=True)
class PopulationUniqueness(PrivacyModel):
    """At most a share `at_most` of the population is estimated to be alone, if the table is a sample of it.

    `fraction` is the share of the population that the table holds, drawn by chance. The estimator is chosen
    by the rule of Dankar et al. 2012 (see privet.models.population); what it says is rounded up.

    Stops: releases in which many people stand alone in the whole population.
    Does not stop: finding those that do. It is an estimate, as good as its model of the population; and an
    adversary who knows that somebody is in the table need not care about the population.
    """

    at_most: Fraction
    fraction: Fraction

    name: ClassVar[str] = "population-uniqueness"
    why_records: ClassVar[str] = (
        "its estimators know populations in which everybody stands in one class; use sample-uniqueness, or "
        "k-map if you have the population"
    )
    monotone: ClassVar[bool] = False  # an estimate may rise where classes merge

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: at_most", self.at_most, 0, 1)
        exact_number(f"{self.name}: fraction", self.fraction, 0, 1, above=True)

    def check(self, tally: Tally) -> Verdict:
        size = Classes.of(tally, self.name).size
        found = uniqueness(size, self.fraction) if len(size) else None
        said = found["estimates"][found["chosen"]]["share"] if found else 0.0
        share = min(Fraction(1), Fraction(ceil(said * MILLION), MILLION))
        alone = int((size == 1).sum())
        broken = share > self.at_most
        return Verdict({"share": share}, max(1, alone) if broken else 0, max(1, alone) if broken else 0)

    def nearest(self, tally: Tally) -> Self:
        return replace(self, at_most=max(self.at_most, Fraction(self.check(tally).achieved["share"])))


def _least(risk: Fraction) -> int:
    """The smallest size n with 1 / n <= risk."""
    return -(-risk.denominator // risk.numerator)


def _small_classes(tally: Tally, name: str, least: int, at_most: Fraction) -> Verdict:
    """Have at most so many of all records a class that is smaller than `least`?"""
    size, times = _each(tally, name)
    few = int(times[size < min(least, LARGEST)].sum())
    share = Fraction(few, max(1, int(times.sum())))
    if share <= at_most:
        return Verdict({"share": share})
    sizes = Classes.of(tally, name).size
    return Verdict({"share": share}, int((sizes < min(least, LARGEST)).sum()), few)


def _each(tally: Tally, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of classes, and how many records have each; of persons the smallest."""
    classes = Classes.of(tally, name)
    if tally.person is None:
        size, times = np.unique(classes.size, return_counts=True)
        return size, size * times
    person = persons.of(tally)
    smallest = np.full(int(person.max(initial=0)) + 1, LARGEST, dtype=np.int64)
    np.minimum.at(smallest, person, classes.size[classes.of_cell])
    return np.unique(smallest[smallest < LARGEST], return_counts=True)
