"""Which groups of people are merged: a tree of pairs, fixed before anybody's value is looked at.

People stand in public order. Units of equal size are the leaves of a full binary tree; a node is merged when
something below it breaks a promise. All that is asked of values is which groups are broken (`Broken`), and
all moves are symmetric in the two halves of a node, which is what makes the algorithm coincident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.errors import UnsatisfiableError

Groups = NDArray[np.intp]  # the group of each person in public order; -1: in none
Mask = NDArray[np.bool_]


class Broken(Protocol):
    """Which of some groups break a promise."""

    def __call__(self, group: Groups, groups: int) -> Mask: ...


@dataclass(frozen=True, slots=True)
class Unit:
    """What stands at the leaves: a group of `size`, or six blocks of it in groups of 2, of 3, or all."""

    size: int
    interleaved: bool = False

    @property
    def people(self) -> int:
        return self.size * (6 if self.interleaved else 1)

    def levels(self, units: int) -> list[tuple[Groups, int]]:
        """Each way to group the people of every unit: the group of each person, and how many a unit has."""
        person = np.arange(units * self.people)
        unit, block = person // self.people, person % self.people // self.size
        if not self.interleaved:
            return [(unit, 1)]
        # B1 B1' | B2 B2' | B3 B3', then B1 B2 B3 | B1' B2' B3', then all six
        return [(unit * 3 + block // 2, 3), (unit * 2 + block % 2, 2), (unit, 1)]


@dataclass(frozen=True, eq=False)
class Merged:
    """The groups that are released."""

    group_of: Groups  # of each person in public order, without gaps; -1: withheld
    joined: int  # units that entered a tree
    remarks: tuple[str, ...] = ()

    @property
    def groups(self) -> int:
        return int(self.group_of.max(initial=-1)) + 1

    @property
    def withheld(self) -> int:
        return int(np.count_nonzero(self.group_of < 0))

    @property
    def average(self) -> float:
        return (len(self.group_of) - self.withheld) / self.groups


def settled(broken: Broken, unit: Unit, units: int) -> tuple[Groups, Mask]:
    """The lowest way to group each unit that keeps every promise, and which units have none."""
    levels = unit.levels(units)
    chosen = np.zeros(units, dtype=np.intp)
    open_ = np.ones(units, dtype=bool)
    for at, (group, many) in enumerate(levels):
        bad = broken(group, units * many).reshape(units, many).any(axis=1)
        chosen[open_] = at
        open_ &= bad
    of_unit = np.arange(units * unit.people) // unit.people
    # Groups of different levels get numbers of their own: three are enough for any unit.
    within = np.stack([group - group // many * many for group, many in levels])
    picked = within[chosen[of_unit], np.arange(len(of_unit))]
    return of_unit * 3 + picked, open_


def tree(broken: Broken, unit: Unit, leaves: NDArray[np.intp], units: int, failed: Mask) -> NDArray[np.intp]:
    """How high each of the leaves (units, in public order, a power of two of them) is merged.

    Equal to: while a group is broken, take the smallest, and merge all below its parent. Returns the
    level of each leaf, 0 where it stays as it is; raises where the root is broken.
    """
    level = np.zeros(len(leaves), dtype=np.intp)
    place = np.full(units, -1, dtype=np.intp)
    place[leaves] = np.arange(len(leaves))
    of_person = np.repeat(place, unit.people)
    failing: Mask = failed[leaves].copy()
    for height in range(1, len(leaves).bit_length()):
        merging: Mask = np.asarray(failing.reshape(-1, 2).any(axis=1), dtype=np.bool_)
        level[np.repeat(merging, 1 << height)] = height
        failing = np.zeros(len(merging), dtype=np.bool_)
        if merging.any():
            # Only merged nodes are asked about: the others' groups were found to be safe below.
            number = np.where(merging, np.cumsum(merging) - 1, -1)
            node = np.where(of_person >= 0, number[np.maximum(of_person, 0) >> height], -1)
            failing[merging] = broken(node, int(merging.sum()))
    if failing.any():
        raise UnsatisfiableError(
            f"start = {unit.size}: even all {len(leaves)} groups that were merged break a promise together"
        )
    return level


def powers(units: int, unsafe: int) -> list[int]:
    """How many units may enter the tree: powers of two that hold all unsafe ones, smallest first."""
    return [1 << k for k in range(1, units.bit_length()) if unsafe <= 1 << k <= units]


def merge(
    broken: Broken, unit: Unit, units: int, *, least: bool, grow: bool, rng: np.random.Generator
) -> Merged | None:
    """UU (`least`) or UA: unsafe units and some safe ones, drawn by chance, in one tree; the others stay.

    None where no power of two fits.
    """
    base, failed = settled(broken, unit, units)
    unsafe = int(failed.sum())
    if not unsafe:
        return Merged(_numbered(base), 0)
    fitting = powers(units, unsafe)
    if not fitting:
        return None
    company = rng.permutation(np.flatnonzero(~failed))
    joined = fitting[0] if least else fitting[-1]
    if grow:
        joined = _grown(broken, unit, failed, company, fitting)
    leaves = np.sort(np.concatenate((np.flatnonzero(failed), company[: joined - unsafe])))
    return Merged(_merged(base, unit, units, [leaves], [tree(broken, unit, leaves, units, failed)]), joined)


def _grown(
    broken: Broken, unit: Unit, failed: Mask, company: NDArray[np.intp], fitting: Sequence[int]
) -> int:
    """The fewest units whose people keep every promise together, in a fixed order of safe ones."""
    unsafe = int(failed.sum())
    for joined in fitting:
        inside = failed.copy()
        inside[company[: joined - unsafe]] = True
        if not broken(np.where(np.repeat(inside, unit.people), 0, -1), 1)[0]:
            return joined
    return fitting[-1]


def forest(broken: Broken, unit: Unit, units: int) -> Merged:
    """Trees over all units in public order, where no power of two fits: some at the end are withheld.

    There are eight to fifteen trees, if there are units enough: their size depends on how many units
    there are, and on nothing else.
    """
    size = 1 << max(0, units.bit_length() - 4)
    trees = units // size
    base, failed = settled(broken, unit, units)
    leaves = [np.arange(at * size, (at + 1) * size) for at in range(trees)]
    levels = [tree(broken, unit, some, units, failed) for some in leaves]
    group_of = _merged(base, unit, units, leaves, levels)
    group_of[trees * size * unit.people :] = -1
    remark = f"no power of two fitted; {trees} trees over neighbouring groups were used instead"
    return Merged(_numbered(group_of), trees * size, (remark,))


def _merged(
    base: Groups,
    unit: Unit,
    units: int,
    leaves: Sequence[NDArray[np.intp]],
    levels: Sequence[NDArray[np.intp]],
) -> Groups:
    """The group of each person: that of the highest merged node above, or the unit's own."""
    node = np.full(units, -1, dtype=np.intp)
    for some, level in zip(leaves, levels, strict=True):
        # Named by its first leaf: nodes that are merged do not overlap.
        first = some[np.arange(len(some)) >> level << level]
        node[some] = np.where(level > 0, first, -1)
    of_person = np.repeat(node, unit.people)
    return _numbered(np.where(of_person >= 0, of_person * 3, base))


def _numbered(group: Groups) -> Groups:
    """The same groups without gaps; -1 stays."""
    inside = group >= 0
    found = np.full(len(group), -1, dtype=np.intp)
    found[inside] = np.unique(group[inside], return_inverse=True)[1]
    return found
