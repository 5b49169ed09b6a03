"""The door between searches and data: every question that a search may ask, and the form of each answer.

One round of a search is one batch of questions: arrays go in and out, never a call for each cell, so that an
answerer may send one job to a cluster or one message around a ring. Two kinds of question are told apart.
*Decisions* (`Cutting`: which split is best, does it keep every promise) can be answered without showing a
number: an answerer that keeps counts secret implements them itself. *Counts* (histograms, groups, extremes)
are numbers; whoever can show them (`OpenCounts`) gets the decisions for nothing, from
`privet.counts.memory`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, PrivacyModel, Tally
from privet.domain import Cut, Node
from privet.recoding import Generalization, Recoding, Regions

Ints: TypeAlias = NDArray[np.int64]
Indexes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Levels: TypeAlias = tuple[int, ...]  # a node of the generalisation lattice: a level for each attribute


class Score(Enum):
    """What the recipient will do with the data, and so what a split is worth."""

    INFORMATION_GAIN = "information-gain"  # classification
    DISCERNIBILITY = "discernibility"  # general analysis
    GAIN_PER_LOSS = "gain-per-loss"  # the baseline for k-anonymity


@dataclass(frozen=True, eq=False)
class Candidate:
    """A value of the cut that could be replaced by its children."""

    attribute: int  # its place among the quasi-identifiers
    node: Node
    children: tuple[Node, ...]
    position: int  # which value of the attribute's cut it is; the first child inherits it
    later: tuple[int, ...] = ()  # other places where the same interval could be split


def order(candidate: Candidate) -> tuple[int, int, int]:
    """The tie rule: the attribute's place in the policy, then the node's place in its hierarchy."""
    return candidate.attribute, candidate.node.lo, -candidate.node.hi


class Cutting(Protocol):
    """A table under cuts that move down, one split at a time; all cuts stand at their roots at first."""

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        """Which of these is the best split by the score, and its score where that may be known."""

    def breaks(self, candidate: Candidate) -> str | None:
        """The name of a promise that the split would break; None where it keeps them all."""

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:
        """The places where an interval can be split, the best first."""

    def split(self, candidate: Candidate) -> list[int]:
        """Carry the split out; the cut positions of the children, in order."""


@dataclass(frozen=True, eq=False)
class Entries:
    """How often each value of a sensitive attribute stands in each class; sorted by class, then value."""

    column: Column  # for its name and domain
    owner: Indexes
    value: Indexes
    count: Ints


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The classes of a node: one member of each, its records, and its sensitive values.

    Classes stand in the order of their groups, the last attribute slowest, whoever counted them.
    """

    levels: Levels
    cell: Indexes  # which of `members` stands for each class
    size: Ints
    sensitive: tuple[Entries, ...]
    members: Sequence[NDArray[Any]] = ()  # by attribute, the codes that `cell` points at

    def __len__(self) -> int:
        return len(self.size)

    def codes(self, some: NDArray[Any]) -> list[NDArray[Any]]:
        """By attribute, a code of each of these classes; which one of its group does not matter."""
        cell = self.cell[some]
        return [codes[cell] for codes in self.members]


class Rungs(Protocol):
    """The levels of one attribute, as numbers: which group each code is in."""

    @property
    def groups(self) -> Sequence[Ints]:
        """For each level, the group of each code; and one level more, where the attribute is left out."""

    @property
    def widths(self) -> Sequence[int]:
        """For each level, how many groups there are."""

    @property
    def cuts(self) -> Sequence[Cut]: ...

    @property
    def name(self) -> str: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Beyond:
    """What is known of a node that has more classes than its answerer shows one by one."""

    classes: int
    lost: int  # records in classes that are too small
    squares: float  # the sizes of all classes, squared and added up


class Grouping(Protocol):
    """The classes of any node of a lattice."""

    records: int

    def at(self, node: Levels) -> Frequencies:
        """The classes of a node, in the order of their groups."""

    def beyond(self, node: Levels, smallest: int) -> Beyond | None:
        """Of a node with too many classes to be shown, how it fares; None: all of them are shown.

        `smallest`: a class with fewer records is too small.
        """

    def holds(self, node: Levels, bad: Mask, models: Sequence[PrivacyModel]) -> bool:
        """Does the table at a node, without its bad classes, keep these promises about the whole of it?"""

    def persons(self, node: Levels) -> Ints:
        """How many persons have a record in each class, where the table says whose records are."""

    def recoding(self, node: Levels, bad: Mask, trims: Ints | None) -> Generalization | Regions:
        """The table at a node without bad classes; `trims` (classes x codes): what goes of the others."""


class Boxing(Protocol):
    """A table in boxes that are cut again and again, all open ones at a time.

    A round asks for extremes, closes boxes, asks for histograms, proposes a cut for each open box, looks at
    the parts, and carries the cuts out that it likes.
    """

    def extremes(self) -> tuple[Indexes, Indexes, Ints]:
        """By open box and attribute the smallest and the largest code; by box the records."""

    def close(self, closed: Mask) -> None:
        """These open boxes are done: they are numbered, and the rest goes on without them."""

    def histogram(self, attribute: Indexes) -> tuple[Indexes, Indexes, Ints]:
        """The records of each open box and code of its attribute, where there are any; by box, then code."""

    def propose(self, attribute: Indexes, cut: Indexes) -> None:
        """Cut each open box behind this code of its attribute, on trial."""

    def propose_evenly(self, attribute: Indexes, smallest: int) -> Mask:
        """Cut each open box in the middle of its attribute, on trial; equal values may part.

        False where no cut leaves so many records on both sides.
        """

    def parts(self) -> tuple[Mask, Frequencies]:
        """Which parts of the proposal have records (two for each box), and the classes that they would be."""

    def split(self, done: Mask) -> None:
        """Carry the proposal out in these boxes: each becomes its left part and, after it, its right part."""

    def closed_histogram(self, attribute: int) -> tuple[Indexes, Indexes, Ints]:
        """The records of each closed box and code, where there are any; by box, then code."""

    def recoding(self, nodes: dict[str, tuple[Node, ...]], positions: dict[str, Indexes]) -> Regions:
        """The table with each closed box published as these nodes."""


class Counts(Protocol):
    """Data as a search sees it."""

    @property
    def heading(self) -> Tally:
        """Names, domains and the reading of nulls: a tally without a single cell."""

    @property
    def records(self) -> int: ...

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:
        """For each column the records with each code; with `by` in a row for each code, by that column's."""

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
        """What even the most general table breaks, and what could be promised instead; empty: nothing."""

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> Cutting:
        """The table under cuts at their roots, to be split by this score under these promises."""

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> Grouping:
        """The table at the nodes of a lattice, with how often each of these sensitive values occurs."""

    def boxing(self, sensitive: Sequence[str]) -> Boxing:
        """The table as one open box."""


@dataclass(frozen=True, eq=False)
class Ahead:
    """The counts a split would leave: one entry for each unit and child with records in it."""

    unit: Indexes
    child: NDArray[np.integer[Any]]
    count: Ints
    having: tuple[Ints, ...]  # records with each protected value
    position: Sequence[NDArray[Any]]  # by attribute: which value of its cut each unit has
    whole: bool  # is each entry all of its combination over all attributes, or may others agree with it?


class Leaves(Protocol):
    """Leaf partitions of a table under cuts, shown as numbers."""

    @property
    def width(self) -> Sequence[int]:
        """How many values each attribute's cut has."""

    @property
    def splits_made(self) -> int: ...

    @property
    def position(self) -> Sequence[NDArray[Any]]:
        """By attribute: which value of its cut each unit has."""

    @property
    def size(self) -> Ints:
        """The records of each unit."""

    def ahead(self, candidates: Sequence[Candidate]) -> list[Ahead]:
        """What each of these splits would leave, without making any."""

    def along(self, attribute: int, node: Node) -> tuple[Indexes, Indexes, Ints] | None:
        """The records of each leaf by code under a node, by leaf, then code. None: no leaves are kept."""

    def split(self, candidate: Candidate) -> list[int]:
        """Make the split; the cut positions of the children, in order."""


class OpenCounts(Counts, Protocol):
    """Data whose counts may be seen by whoever decides."""

    def leaves(self, protected: Sequence[tuple[int, int]], *, needed: bool) -> Leaves:
        """The table in one leaf; `protected`: sensitive columns and codes that are counted beside.

        `needed`: leaves are asked for to the end, so they are kept however many there are.
        """

    def published(self, recoding: Recoding) -> Tally:
        """The tally of what would be published."""
