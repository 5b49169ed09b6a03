"""What attackers find: releases, and beside them what they know, or what tells whether they are right.

A release of a table is read as its recipient reads it: labels, classes of records that read alike, and the
sensitive values of each class. Nothing here comes from the searches or from the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Nulls, PrivacyModel, Terms
from privet.domain import Value
from privet.evidence.values import Evidence
from privet.measure.attack import Rows, Translation
from privet.roads.tables.persons import shown

Ints = NDArray[np.int64]

GATEWAY = "gateway"  # the kind of a target that answers queries


def numbered(values: Sequence[Value]) -> tuple[Ints, tuple[Value, ...]]:
    """Values as numbers, and which number is which."""
    number: dict[Value, int] = {}
    codes = np.fromiter(
        (number.setdefault(value, len(number)) for value in values), dtype=np.int64, count=len(values)
    )
    return codes, tuple(number)


def together(columns: Sequence[Ints], records: int) -> Ints:
    """The group of each record: those that agree in every column."""
    group = np.zeros(records, dtype=np.int64)
    for codes in columns:
        wide = int(codes.max(initial=0)) + 1
        group = np.unique(group * wide + codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return group


@dataclass(frozen=True, eq=False)
class Bags:
    """The values of one sensitive attribute in each class: entries of class, value and how many have it."""

    attribute: str
    owner: Ints = field(repr=False)
    value: Ints = field(repr=False)
    count: Ints = field(repr=False)
    values: tuple[Value, ...] = field(repr=False)

    @cached_property
    def size(self) -> Ints:
        """Records of each class."""
        return np.bincount(self.owner, weights=self.count).astype(np.int64)

    @cached_property
    def table(self) -> Ints:
        """Records of each value in the whole table."""
        return np.bincount(self.value, weights=self.count, minlength=len(self.values)).astype(np.int64)

    @property
    def records(self) -> int:
        return int(self.count.sum())

    @cached_property
    def distinct(self) -> Ints:
        """Different values of each class."""
        return np.bincount(self.owner, minlength=len(self.size)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Table:
    """A published table, as whoever has it sees it."""

    quasi: Mapping[str, Ints] = field(repr=False)  # by column: the label of each record, as a number
    labels: Mapping[str, tuple[Value, ...]] = field(repr=False)  # by column: what the numbers mean
    group: Ints = field(repr=False)  # the class of each record, or its bucket
    bags: tuple[Bags, ...] = field(repr=False)
    rows: Rows = field(repr=False)  # every published column, as text, in the published order
    bucketed: bool = False  # sensitive values stand in another table, by bucket

    @property
    def records(self) -> int:
        return len(self.group)

    def groups(self, names: Sequence[str]) -> Ints:
        """The group of each record for somebody who knows these attributes of it."""
        return together([self.quasi[name] for name in names], self.records)

    def bag(self, attribute: str) -> Bags | None:
        return next((bag for bag in self.bags if bag.attribute == attribute), None)


@dataclass(frozen=True, eq=False)
class Target:
    """A release under attack."""

    place: str  # how it is called
    kind: str  # table, buckets, noisy, trajectories, transactions, documents, gateway
    policy: Terms
    evidence: Evidence | None
    translation: Translation | None = field(default=None, repr=False)
    table: Table | None = field(default=None, repr=False)
    data: Any = field(default=None, repr=False)  # of other kinds: what their attackers read
    folder: Path | None = None
    only: Mapping[str, Sequence[Value]] = field(default_factory=dict, repr=False)  # rows of the raw that left

    everybody: tuple[PrivacyModel, ...] = ()  # promises about the population that they left

    @property
    def promises(self) -> tuple[PrivacyModel, ...]:
        """What bounds an attacker who sees records.

        Promises that read a null as anything bound none who reads it as it is; those about persons bound what
        follows for records: shares do not, since a person may have many rows with a value, or without.
        """
        return () if self.policy.nulls is Nulls.WILDCARD else shown(self.policy).models

    @property
    def shown(self) -> Table:
        if self.table is None:
            raise TypeError(f"a release of {self.kind} has no classes")
        return self.table


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that is at hand."""

    targets: tuple[Target, ...]
    raw: Any = field(default=None, repr=False)  # the source, in the engine's reading; only the steward has it
    rows: Rows | None = field(default=None, repr=False)  # the same as columns of texts
    known: Rows | None = field(default=None, repr=False)  # a list of people, and what is known of them
    engine: Any = field(default=None, repr=False)
    source: Any = field(default=None, repr=False)  # the source as it was named
    trials: int = 1000
    seed: int = 0

    @property
    def target(self) -> Target:
        return self.targets[0]

    def rng(self) -> np.random.Generator:
        """Chance of an attack's own: whichever attacks run, each makes the same choices."""
        return np.random.default_rng(self.seed)
