"""Domains that the policy alone defines: what could occur, whatever does.

A differentially private release shows which values exist, so it may only speak of values that were
public before anybody looked at the data. A domain here is made from a taxonomy, a numeric range with
its unit, or a universe of items; never from the table. A value outside is refused, not added.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from privet.core import Hierarchy
from privet.domain import ANY, Node, Scale, Value
from privet.equality import finder
from privet.errors import HierarchyError, PolicyError
from privet.hierarchy.intervals import Intervals
from privet.hierarchy.numbers import EXACT, exact, read
from privet.hierarchy.sets import FAN_OUT, SEPARATOR, WIDEST_FAN, Sets
from privet.hierarchy.tree import Tree

NONE = "NONE"  # stands for a record without items
MOST_POINTS = 2**40  # of a numeric grid; codes and lengths stay far from the edge of 64 bits


@dataclass(frozen=True)
class Categories:
    """The leaves of a taxonomy. With `null`, a missing value is one more leaf below the root.

    >>> jobs = Categories(Tree.of({"Any": {"Artist": ["Dancer", "Writer"], "Lawyer": None}}))
    >>> jobs.size, [child.label for child in jobs.root.children]
    (3, ['Artist', 'Lawyer'])
    """

    tree: Tree
    null: bool = False

    kind: ClassVar[str] = "categorical"

    @cached_property
    def root(self) -> Node:
        return self.tree.domain([None] if self.null else []).root

    @property
    def size(self) -> int:
        return self.root.hi

    def codes(self, values: Sequence[Value]) -> NDArray[np.int64]:
        """The code of each value, -1 for what has no place here."""
        return numbered([*self.tree.leaves, *([None] if self.null else [])], values)


@dataclass(frozen=True)
class Numbers:
    """Numbers from `low` up to, but not including, `high`, in steps of `unit`.

    With `null`, a missing value is a code of its own, after all numbers, and the first split tells it
    from them. A split of numbers may fall on any step. With `edges` it may fall on these only, and `low`,
    `high` and `unit` say nothing: steps of unequal width where the policy knows that small numbers matter
    more than large ones.

    >>> ages = Numbers(18, 65)
    >>> ages.size, ages.root.label, ages.node(0, 22).label
    (47, '[18-65)', '[18-40)')
    """

    low: int | Decimal = 0
    high: int | Decimal = 0
    unit: int | Decimal = 1
    edges: tuple[int | Decimal, ...] = ()
    null: bool = False

    kind: ClassVar[str] = "numerical"

    def __post_init__(self) -> None:
        for number in (self.low, self.high, self.unit, *self.edges):
            exact(number)
        if self.edges:
            if len(self.edges) < 2 or any(a >= b for a, b in pairwise(self.edges)):
                raise HierarchyError("edges are at least two numbers, each above the one before")
            return
        if self.unit <= 0 or self.low >= self.high:
            raise HierarchyError("a numeric range has low below high, and a unit above zero")
        with localcontext(EXACT):
            if (Decimal(self.high) - self.low) % self.unit:
                raise HierarchyError("low and high lie a whole number of units apart")
            if (Decimal(self.high) - self.low) // self.unit > MOST_POINTS:
                raise HierarchyError("the range has too many units; choose a larger unit")

    @property
    def size(self) -> int:
        return self.points + self.null

    @cached_property
    def points(self) -> int:
        """How many steps there are, a missing value not counted."""
        if self.edges:
            return len(self.edges) - 1
        with localcontext(EXACT):
            return int((Decimal(self.high) - self.low) // self.unit)

    @cached_property
    def root(self) -> Node:
        if not self.null:
            return self.numbers
        return Node(ANY, 0, self.size, (self.numbers, Node(None, self.points, self.size)))

    @cached_property
    def numbers(self) -> Node:
        """All of them, and no missing value."""
        return self.node(0, self.points)

    def at(self, code: int) -> Decimal:
        """Where the step with that code begins."""
        with localcontext(EXACT):
            return Decimal(self.edges[code]) if self.edges else Decimal(self.low) + code * Decimal(self.unit)

    def node(self, lo: int, hi: int) -> Node:
        """The interval of a range of codes."""
        low, high = self.at(lo), self.at(hi)
        return Node(self._scale.label(low, high), lo, hi, interval=(low, high))

    def codes(self, values: Sequence[Value]) -> NDArray[np.int64]:
        """The code of each value, -1 for what is not a number, outside the range or between two steps."""
        return np.array([self._code(value) for value in values], dtype=np.int64)

    @cached_property
    def _scale(self) -> Scale:
        low, high = self.at(0), self.at(self.points)
        whole = not self.edges and Decimal(self.unit) == 1 and low == low.to_integral_value()
        return Scale((), low, high, Decimal(self.unit), integral=whole)

    def _code(self, value: Value) -> int:
        if value is None:
            return self.points if self.null else -1
        number = read(value)
        if number is None or not self._scale.low <= number < self._scale.high:
            return -1
        if self.edges:
            return bisect_right(self.edges, number) - 1
        with localcontext(EXACT):
            code, off = divmod(number - self._scale.low, Decimal(self.unit))
        return -1 if off else int(code)


@dataclass(frozen=True)
class ItemSets:
    """Sets of items, written `a|b|c`; the items are the leaves of a taxonomy.

    An empty set is a set too: unless `empty` is false it gets an item of its own below the root. It never
    stands beside another item, which everybody knows, so no subset with both is a partition.

    >>> codes = ItemSets(Tree.of({"**": {"1*": ["11", "12"], "2*": ["21", "22"]}}))
    >>> [child.label for child in codes.root.children]
    ['1*', '2*', 'NONE']
    """

    tree: Tree
    separator: str = SEPARATOR
    empty: bool = True
    fan_out: int = FAN_OUT

    kind: ClassVar[str] = "set-valued"
    null: ClassVar[bool] = False  # a set may be empty, and is never missing

    def __post_init__(self) -> None:
        if not self.separator:
            raise HierarchyError("the separator of a set is at least one character")
        if not 1 <= self.fan_out <= WIDEST_FAN:
            raise HierarchyError(f"fan_out is between 1 and {WIDEST_FAN}, not {self.fan_out}")
        labels = [branch.label for branch in self.tree.root.walk()]
        if self.empty and NONE in labels:
            raise HierarchyError(f"{NONE} stands for the empty set; give that item another name")
        if any(self.separator in label or SEPARATOR in label for label in labels):
            raise HierarchyError("a label of an item taxonomy does not hold the separator")
        widest = max(len(branch.children) for branch in self.tree.root.walk())
        if widest > self.fan_out:
            raise HierarchyError(
                f"a node of an item taxonomy has {widest} children, and every subset of them would be a "
                f"partition; group them under new nodes, at most {self.fan_out} under each"
            )

    @cached_property
    def root(self) -> Node:
        root = self.tree.domain([]).root
        if not self.empty:
            return root
        below = root.children or (root,)  # a taxonomy of one item still tells "none" from "some"
        label = root.label if root.children else f"{root.label}?"
        return Node(label, 0, root.hi + 1, (*below, Node(NONE, root.hi, root.hi + 1)))

    @property
    def size(self) -> int:
        return self.root.hi

    @property
    def none(self) -> int | None:
        """The code of the pseudo item, if there is one."""
        return self.size - 1 if self.empty else None

    def items(self, values: Sequence[Value]) -> list[list[int]]:
        """The item codes of each text; -1 for an unknown item, or for an empty set where none may be."""
        known = _places(self.tree.leaves)
        nothing = [-1 if self.none is None else self.none]
        found = []
        for value in values:
            named = {part.strip() for part in (value or "").split(self.separator)} - {""}
            found.append(sorted(set(map(known, named))) or nothing)
        return found


def numbered(known: Sequence[Value], values: Sequence[Value]) -> NDArray[np.int64]:
    """The number of each value among those that could be, however it is written; -1 of what could not."""
    return np.array([*map(_places(known), values)], dtype=np.int64)


def _places(known: Sequence[Value]) -> Callable[[Value], int]:
    find = finder({value: at for at, value in enumerate(known)})
    return lambda value: -1 if (found := find(value)) is None else found


PublicDomain: TypeAlias = Categories | Numbers | ItemSets


@dataclass(frozen=True)
class Predictor:
    """A column that is generalised, and its public domain."""

    name: str
    domain: PublicDomain = field(repr=False)


def public_domain(name: str, hierarchy: Hierarchy | None) -> PublicDomain:
    """The public domain that a policy's hierarchy describes; refused where the data would define it."""
    try:
        if isinstance(hierarchy, Tree):
            return Categories(hierarchy, hierarchy.null)
        if isinstance(hierarchy, Sets):
            return ItemSets(hierarchy.tree, hierarchy.separator, hierarchy.empty, hierarchy.fan_out)
        if isinstance(hierarchy, Intervals):
            return _numbers(hierarchy)
    except HierarchyError as error:
        raise PolicyError(*(f"attributes.{name}: hierarchy: {c}" for c in error.complaints)) from None
    raise PolicyError(
        f"attributes.{name}: hierarchy: differential privacy needs a domain that the policy defines: a tree, "
        "sets, or intervals with low and high; values that are read off the data would tell about it"
    )


def _numbers(intervals: Intervals) -> Numbers:
    levels = cast("tuple[tuple[int | Decimal, ...], ...]", intervals.edges)
    if intervals.width or len(levels) > 1 or intervals.bottom is not None or intervals.top is not None:
        raise HierarchyError("differential privacy takes low and high, or one list of edges, and no more")
    if levels:
        return Numbers(edges=levels[0], null=intervals.null)
    if intervals.low is None or intervals.high is None:
        raise HierarchyError(
            "give low and high, or edges; limits that are read off the data would tell about it"
        )
    unit = 1 if intervals.unit is None else intervals.unit
    return Numbers(intervals.low, intervals.high, unit, null=intervals.null)
