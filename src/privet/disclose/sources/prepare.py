"""What is known, taken apart: people who share a view hang together, people in the same views are alike.

Possible tables of parts that share nobody can be counted apart. Inside a part, people whom exactly the same
views select are exchangeable, so only how many of them have each value matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.disclose.sources.views import View
from privet.domain import Value
from privet.errors import InputError

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Component:
    """Views that cannot be split into two sets with nobody in common, and the people in them."""

    views: tuple[View, ...]
    values: tuple[Value, ...] = field(repr=False)
    classes: tuple[tuple[int, ...], ...] = field(repr=False)  # people whom the same views select
    member: NDArray[np.bool_] = field(repr=False)  # [view, class]: does the view select the class?
    margins: Counts = field(repr=False)  # [view, value]: how many have it

    @cached_property
    def sizes(self) -> Counts:
        return np.array([len(members) for members in self.classes], dtype=np.int64)

    @property
    def people(self) -> int:
        return int(self.sizes.sum())

    @cached_property
    def caps(self) -> Counts:
        """[class, value]: how many of a class can have a value, by each of its views alone."""
        there = np.where(self.member[:, :, None], self.margins[:, None, :], np.iinfo(np.int64).max)
        found: Counts = np.minimum(there.min(axis=0), self.sizes[:, None])
        return found

    @property
    def somebody_certain(self) -> bool:
        """Has somebody one value left, seen without any counting? Not every case is seen."""
        return bool(((self.caps > 0).sum(axis=1) <= 1).any())


def components(views: Sequence[View]) -> tuple[Component, ...]:
    """The parts, by their first person; people in no view are in none."""
    _refuse_unequal(views)
    parent: dict[int, int] = {}

    def top(person: int) -> int:
        while parent[person] != person:
            parent[person] = parent[parent[person]]
            person = parent[person]
        return person

    for view in views:
        first, *others = sorted(view.people)
        parent.setdefault(first, first)
        for other in others:
            parent.setdefault(other, other)
            parent[top(other)] = top(first)
    gathered: dict[int, list[View]] = {}
    for view in views:
        gathered.setdefault(top(min(view.people)), []).append(view)
    parts = [component(part) for part in gathered.values()]
    return tuple(sorted(parts, key=lambda part: min(members[0] for members in part.classes)))


def component(views: Sequence[View]) -> Component:
    """One part from the views that make it."""
    signature: dict[int, int] = {}
    for at, view in enumerate(views):
        for person in view.people:
            signature[person] = signature.get(person, 0) | 1 << at
    gathered: dict[int, list[int]] = {}
    for person in sorted(signature):
        gathered.setdefault(signature[person], []).append(person)
    values = tuple(
        sorted({value for view in views for value, _ in view.counts}, key=lambda v: (v is None, v or ""))
    )
    code = {value: at for at, value in enumerate(values)}
    margins = np.zeros((len(views), len(values)), dtype=np.int64)
    for at, view in enumerate(views):
        for value, count in view.counts:
            margins[at, code[value]] = count
    member = np.array([[bool(mask >> at & 1) for mask in gathered] for at in range(len(views))])
    return Component(tuple(views), values, tuple(map(tuple, gathered.values())), member, margins)


def contradiction() -> InputError:
    return InputError(
        "the views contradict each other: no table agrees with all of them; are the conditions and the "
        "register "
        "those that the views were made with?"
    )


def _refuse_unequal(views: Sequence[View]) -> None:
    """Views of the same people have the same values, or one of them is wrong."""
    seen: dict[frozenset[int], View] = {}
    for view in views:
        if seen.setdefault(view.people, view).counts != view.counts:
            raise contradiction()
