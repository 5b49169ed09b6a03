"""Promises about a population: the table that is checked holds everybody, and a column says who leaves.

k-map: Sweeney, "k-anonymity: a model for protecting privacy", 2002, and El Emam and Dankar, JAMIA 2008.
delta-presence: Nergiz, Atzori and Clifton, "Hiding the presence of individuals in shared databases",
SIGMOD 2007.

Only the rows with one of `values` in the column `subset` are published; a policy says so once more as
`publish_only`. Nobody can check these promises from a release: the others are not in it.

Both are kept when values are generalised: the classes that merge are large enough already, and a share of
two classes together lies between their shares. Neither is once records may be dropped: a class that is
kept may be joined by people of whom too many leave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.core import PrivacyModel, Tally, Verdict
from privet.declared import settle
from privet.equality import key
from privet.errors import PolicyError
from privet.models import persons
from privet.models.classes import Classes
from privet.models.exact import at_least_one, exact_number
from privet.models.groups import Counts


@dataclass(frozen=True, slots=True)
class KMap(PrivacyModel):
    """Every class that holds a published record has at least `k` people of the population.

    Stops: finding a person's record in the release, for an adversary who does not know that the person is
    in it (success at most 1/k).
    Does not stop: finding it for one who knows who was in the study: a published class may have one
    record. See k-anonymity. Nor learning a value that a whole class has.

    >>> KMap(k=5, subset="in_study", values=("yes",)).k
    5
    """

    k: int
    subset: str
    values: tuple[str, ...]

    name: ClassVar[str] = "k-map"
    monotone: ClassVar[bool] = True
    population: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, k=self.k)
        object.__setattr__(self, "values", _named(self.name, self.subset, self.values))

    @property
    def class_size(self) -> int:
        return self.k

    def with_classes_of(self, size: int) -> Self:
        return replace(self, k=max(self.k, size))

    def leaving(self) -> dict[str, tuple[str, ...]]:
        return {self.subset: self.values}

    def guarded(self) -> tuple[tuple[str, str, str | None], ...]:
        return tuple(("values", self.subset, value) for value in self.values)

    def check(self, tally: Tally) -> Verdict:
        size, leaving, _ = presence(tally, self.name, self.subset, self.values)
        shown = leaving > 0
        bad = shown & (size < self.k)
        reached = int(
            size[shown].min(initial=tally.records if tally.person is None else persons.total(tally))
        )
        return Verdict({"k": reached}, int(bad.sum()), int(leaving[bad].sum()))

    def nearest(self, tally: Tally) -> Self:
        return replace(self, k=max(1, min(self.k, int(self.check(tally).achieved["k"]))))


@dataclass(frozen=True, slots=True)
class DeltaPresence(PrivacyModel):
    """In every class of the population the share that is published is at least `low` and at most `high`.

    Stops: learning that a person is in the study (or is not, where `low` is above 0) beyond these shares.
    Does not stop: finding the record of a person who is known to be in it. See k-anonymity.

    >>> DeltaPresence(low=Fraction(0), high=Fraction(1, 3), subset="in_study", values=("yes",)).high
    Fraction(1, 3)
    """

    low: Fraction
    high: Fraction
    subset: str
    values: tuple[str, ...]

    name: ClassVar[str] = "delta-presence"
    monotone: ClassVar[bool] = True
    population: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: low", self.low, 0, 1)
        exact_number(f"{self.name}: high", self.high, 0, 1)
        if self.low > self.high:
            raise PolicyError(f"{self.name}: low is at most high")
        object.__setattr__(self, "values", _named(self.name, self.subset, self.values))

    def leaving(self) -> dict[str, tuple[str, ...]]:
        return {self.subset: self.values}

    def guarded(self) -> tuple[tuple[str, str, str | None], ...]:
        return tuple(("values", self.subset, value) for value in self.values)

    def check(self, tally: Tally) -> Verdict:
        size, leaving, present = presence(tally, self.name, self.subset, self.values)
        # There are few different ones, and fractions of Python's own are exact however large.
        each, of_class = np.unique(np.stack([leaving, present, size]), axis=1, return_inverse=True)
        low = [Fraction(int(part), int(whole)) for part, _, whole in each.T]
        high = [Fraction(int(part), int(whole)) for _, part, whole in each.T]
        wrong = [not (self.low <= a and b <= self.high) for a, b in zip(low, high, strict=True)]
        bad = np.array(wrong, dtype=bool)[of_class.reshape(-1)]
        achieved = {"low": min(low, default=self.low), "high": max(high, default=self.high)}
        return Verdict(achieved, int(bad.sum()), int(size[bad].sum()))

    def nearest(self, tally: Tally) -> Self:
        reached = self.check(tally).achieved
        low, high = Fraction(reached["low"]), Fraction(reached["high"])
        return replace(self, low=min(self.low, low), high=max(self.high, high))


def presence(tally: Tally, model: str, subset: str, values: tuple[str, ...]) -> tuple[Counts, Counts, Counts]:
    """Of each class, how many people it has, how many of them leave from it, and from anywhere.

    Whoever has one row each leaves from their class or not at all. Where persons are counted, somebody may
    leave with a row of another class: they are present all the same.
    """
    classes, away = Classes.of(tally, model), leaves(tally, subset, values)
    room = len(classes.size)
    if tally.person is None:
        here = np.bincount(classes.of_cell, weights=np.where(away, tally.counts, 0), minlength=room)
        return classes.size, here.astype(np.int64), here.astype(np.int64)
    person = persons.of(tally)
    leaving = persons.count(classes.of_cell[away], person[away], room)
    known = np.isin(person, person[away])
    return classes.size, leaving, persons.count(classes.of_cell[known], person[known], room)


def leaves(tally: Tally, subset: str, values: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which cells are published."""
    column = next((column for column in tally.sensitive if column.name == subset), None)
    if column is None:
        raise PolicyError(f"subset: the policy has no sensitive attribute {subset!r}")
    asked = set(map(key, values))
    wanted = np.array([key(value) in asked for value in column.domain.values], dtype=bool)
    return wanted[column.codes] if len(wanted) else np.zeros(tally.cells, dtype=bool)


@dataclass(frozen=True, slots=True)
class OfSubset:
    """Another promise, about the rows that leave: what a search keeps while it looks at everybody.

    Generalising a table generalises every part of it, so it is as monotone as the promise itself. No
    policy names it.
    """

    model: PrivacyModel
    subset: str
    values: tuple[str, ...]

    @property
    def name(self) -> str:  # the promise's own, in every message
        return self.model.name

    @property
    def monotone(self) -> bool:
        return self.model.monotone

    def check(self, tally: Tally) -> Verdict:
        return self.model.check(tally.where(leaves(tally, self.subset, self.values)))

    def nearest(self, tally: Tally) -> Self:
        return replace(self, model=self.model.nearest(tally.where(leaves(tally, self.subset, self.values))))


def _named(model: str, subset: object, values: object) -> tuple[str, ...]:
    if not isinstance(subset, str):
        raise PolicyError(f"{model}: subset is the column that says who is published")
    if isinstance(values, str) or not isinstance(values, (list, tuple)) or not values:
        raise PolicyError(f'{model}: values is a list of what that column says of them, such as ["yes"]')
    return tuple(dict.fromkeys(values))
