"""Coarser paths: zones instead of places, longer slots instead of times, level by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from privet.core import Hierarchy
from privet.domain import Domain, Node
from privet.trajectory.grid import Grid
from privet.trajectory.slots import Slot, slot_of


@dataclass(frozen=True)
class Level:
    """A label for each place or time, and how much each label leaves open: LM, from 0 to 1."""

    name: str
    of: Mapping[str, str] = field(repr=False)
    loss: Mapping[str, Fraction] = field(repr=False)

    @property
    def untouched(self) -> bool:
        return all(value == label for value, label in self.of.items())


def as_it_is(values: Sequence[str]) -> Level:
    return Level("as it is", {value: value for value in values}, dict.fromkeys(values, Fraction(0)))


def zone_levels(hierarchy: Hierarchy, places: Sequence[str]) -> tuple[Level, ...]:
    """One level for each row of a hierarchy, finest first; raises HierarchyError for a place without zone."""
    domain = hierarchy.domain(places)
    depth = height(domain.root)
    wanted = set(places)
    found = [as_it_is(places)]
    for up in range(1, depth):
        nodes = at_depth(domain.root, depth - 1 - up)
        level = _zones(domain, nodes, wanted, f"zones, {up} up")
        if level.of != found[-1].of:
            found.append(level)
    return tuple(found)


def _zones(domain: Domain, nodes: Sequence[Node], places: set[str], name: str) -> Level:
    of: dict[str, str] = {}
    loss: dict[str, Fraction] = {}
    for node in nodes:
        for value in domain.values[node.lo : node.hi]:
            if value in places and value is not None:
                of[value] = value if node.label is None else node.label
                loss[value] = Fraction(node.leaves - 1, max(domain.size - 1, 1))
    return Level(name, of, loss)


def height(node: Node) -> int:
    return 1 + max((height(child) for child in node.children), default=0)


def at_depth(node: Node, depth: int) -> list[Node]:
    """The nodes so far below, and leaves that are less far: together they cover everything."""
    if depth == 0 or not node.children:
        return [node]
    return [below for child in node.children for below in at_depth(child, depth - 1)]


def slot_levels(slots: Sequence[Slot], times: Sequence[str]) -> tuple[Level, ...]:
    """One level for each length, as they are given."""
    return (as_it_is(times), *(grouped(f"slots of {slot}", slot_of(times, slot)) for slot in slots))


def grid_levels(grids: Sequence[Grid], places: Sequence[str]) -> tuple[Level, ...]:
    """For places that are cells: one level for each coarser grid."""
    return (
        as_it_is(places),
        *(grouped(f"cells of {grid.metres} m", grid.coarser(places)) for grid in grids),
    )


def grouped(name: str, of: Mapping[str, str]) -> Level:
    """A level whose labels are as vague as they stand for many values of the data."""
    sizes = Counter(of.values())
    return Level(
        name,
        of,
        {value: Fraction(sizes[label] - 1, max(len(of) - 1, 1)) for value, label in of.items()},
    )
