"""Leaf order: the values of one attribute as codes, so that every generalised value is a range.

A `Domain` numbers the distinct values of an attribute such that each node of its hierarchy covers a
contiguous range of codes `[lo, hi)`. Numbers stand in numeric order, categories in the order of their
taxonomy's leaves, null is a value of its own and comes last. A `Cut` is a set of nodes that covers
every code exactly once: the published table is determined by one cut for each attribute.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.equality import finder
from privet.errors import HierarchyError, InternalError

Value: TypeAlias = str | None  # every value as text; None is a value like any other: two unknowns are alike
Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]

_EITHER = (ROUND_FLOOR, ROUND_CEILING)
BETWEEN = ".."  # the first and the last of a range
ANY = "*"  # how the most general value is published unless a hierarchy names its root


@dataclass(frozen=True, slots=True)
class Node:
    """A generalised value: a label, and the codes it stands for."""

    label: Value
    lo: int
    hi: int
    children: tuple[Node, ...] = field(default=(), repr=False)
    interval: tuple[Decimal, Decimal] | None = None  # [from, to), for numbers and dates

    @property
    def leaves(self) -> int:
        return self.hi - self.lo

    def child_with(self, code: int) -> Node | None:
        """The child that holds a code; there may be thousands, in leaf order."""
        at = bisect_right(self.children, code, key=_begin) - 1
        return self.children[at] if at >= 0 and code < self.children[at].hi else None

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def _begin(node: Node) -> int:
    return node.lo


@dataclass(frozen=True, slots=True)
class Scale:
    """What makes a domain numeric: the number of each code, and how intervals are cut and named."""

    numbers: tuple[Decimal, ...]  # ascending, one for each code but null; "7" and "7.0" are equal numbers
    low: Decimal
    high: Decimal  # the root interval is [low, high)
    step: Decimal  # distance between neighbours: 1 for integers, 0.01 for two decimals
    integral: bool
    grown: bool = True  # are intervals without children split at run time, or is the given tree all there is?
    # Where an end of the root comes from the data: the step to multiples of which it was rounded outward.
    rounded: Decimal | None = None
    said: Decimal | None = None  # the step that the policy says ranges are rounded outward to

    def threshold(self, code: int) -> Decimal:
        """Where a split between `code - 1` and `code` is drawn.

        At the smallest value of the right part for integers, half-way for real numbers.
        """
        if self.integral:
            return self.numbers[code]
        return (self.numbers[code - 1] + self.numbers[code]) / 2

    def roundest(self, code: int) -> Decimal:
        """Where a split before `code` may be drawn as well: at the roundest number that the two sides allow.

        It depends less on the values next to it than one of these values would.
        """
        below, above = self.numbers[code - 1], self.numbers[code]
        middle = (below + above) / 2
        power = Decimal(1).scaleb((above - below).adjusted() + 1)
        while power >= self.step:
            tries = {(middle / power).to_integral_value(rounding) * power for rounding in _EITHER}
            if found := [number for number in tries if below < number <= above]:
                return min(found, key=lambda number: (abs(number - middle), number))
            power /= 10
        return above

    def label(self, low: Decimal, high: Decimal) -> str:
        """`[30-60)`; a single integer by its own name; two dots where a minus sign would confuse."""
        if self.integral and low + self.step == high:
            return plain(low)
        return interval_label(low, high, signed=self.low < 0)


def interval_label(low: Decimal, high: Decimal, *, signed: bool) -> str:
    return f"[{plain(low)}{'..' if signed else '-'}{plain(high)})"


def plain(number: Decimal) -> str:
    """A number as people write it: no exponent, no trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True)
class Domain:
    """The values of an attribute in leaf order, and the hierarchy over them.

    Without a `scale` the tree under `root` is all there is. With one, intervals without children
    are split at run time, wherever a search finds it best: the tree is grown, not given.
    """

    values: tuple[Value, ...] = field(repr=False)
    root: Node = field(repr=False)
    scale: Scale | None = field(default=None, repr=False)
    ranged: bool = field(default=False, repr=False)  # is a range written by its ends: "2024-03..2024-05"?
    # Stretches between public bounds that are no nodes, as weeks are none of months: where ranges begin and
    # end. Each is called by its ends.
    steps: tuple[Node, ...] = field(default=(), repr=False)
    # Labels that a given tree has on several levels, and on how many: they count for levels, not for nodes.
    repeat: tuple[tuple[str, int], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if (self.root.lo, self.root.hi) != (0, len(self.values)):
            raise InternalError("the root of a domain covers every code")

    @property
    def size(self) -> int:
        return len(self.values)

    @cached_property
    def codes(self) -> Mapping[Value, int]:
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def _find(self) -> Callable[[Value], int | None]:
        return finder(self.codes)

    def code(self, value: Value) -> int | None:
        """The code of the value that equals this one, however either is written; None where none does."""
        return self._find(value)

    @cached_property
    def null(self) -> int | None:
        """The code of null, if the data has nulls."""
        return self.codes.get(None)

    def grows(self, node: Node) -> bool:
        """Is this an interval whose children are still to be chosen?"""
        if self.scale is None or not self.scale.grown:
            return False
        return not node.children and node.interval is not None and node.leaves > 1

    def split(self, node: Node, at: int, *, roundly: bool = False) -> tuple[Node, Node]:
        """The two halves of an interval, cut before code `at`; `roundly`: at a round number between."""
        if self.scale is None or node.interval is None or not node.lo < at < node.hi:
            raise InternalError("only the inside of an interval can be split")
        low, high = node.interval
        scale = self.scale
        middle = scale.roundest(at) if roundly else scale.threshold(at)
        # A part that is one number leaves as that number, also where the root was rounded outward. Ends that
        # the policy names are kept.
        first, last = scale.numbers[at - 1], scale.numbers[at]
        derived = scale.rounded is not None
        if derived and low == scale.low and scale.numbers[node.lo] == first and middle == first + scale.step:
            low = first
        if derived and high == scale.high and scale.numbers[node.hi - 1] == last == middle:
            high = last + scale.step
        return (
            Node(self.scale.label(low, middle), node.lo, at, interval=(low, middle)),
            Node(self.scale.label(middle, high), at, node.hi, interval=(middle, high)),
        )

    def below(self, node: Node) -> tuple[Node, ...]:
        """The children of a node; the halves of an interval that a search would grow."""
        if not node.children and self.grows(node) and self.scale is not None:
            numbers = self.scale.numbers
            places = [at for at in range(node.lo + 1, node.hi) if numbers[at - 1] < numbers[at]]
            if places:
                # Not at the value of a record, which may be suppressed: a label would tell it.
                return self.split(node, places[len(places) // 2], roundly=True)
        return tuple(node.children)

    def descent(self) -> Iterator[list[Node]]:
        """The nodes of each level, the root first, made as they are asked for."""
        row = [self.root]
        while True:
            yield row
            finer = [child for node in row for child in (self.below(node) or (node,))]
            if len(finer) == len(row) and all(a is b for a, b in zip(finer, row, strict=True)):
                return
            row = finer

    @cached_property
    def halved(self) -> Node:
        """The root with all below it, made once: intervals that a search would grow, down to their values."""
        return self._halved(self.root)

    def _halved(self, node: Node) -> Node:
        children = tuple(map(self._halved, self.below(node)))
        return Node(node.label, node.lo, node.hi, children, node.interval) if children else node

    def loss(self, node: Node) -> float:
        """LM of one cell: 0 for a value that says everything, 1 for one that says nothing."""
        if node.leaves == self.size:
            return 1.0 if self.size > 1 else 0.0
        if self.scale is not None and node.interval is not None:
            low, high = node.interval
            if self.scale.integral and low + self.scale.step == high:
                return 0.0
            return min(1.0, float((high - low) / (self.scale.high - self.scale.low)))
        return (node.leaves - 1) / (self.size - 1)

    def column(self, codes: NDArray[np.integer[Any]]) -> Codes:
        """Codes in the smallest unsigned type that holds this domain."""
        return codes.astype(np.min_scalar_type(max(self.size - 1, 0)), copy=False)


def flat(values: tuple[Value, ...], label: str = ANY) -> Domain:
    """A domain with no hierarchy but the root above all values; null is put last.

    >>> flat((None, "b", "a")).values
    ('b', 'a', None)
    """
    ordered = (*(v for v in values if v is not None), *(v for v in values if v is None))
    if len(ordered) == 1:
        return Domain(ordered, Node(ordered[0], 0, 1))
    leaves = tuple(Node(value, code, code + 1) for code, value in enumerate(ordered))
    return Domain(ordered, Node(label, 0, len(ordered), leaves))


# Whatever the rule of a hierarchy (intervals, prefixes, months), it says for every value which groups stand
# above it, widest first. Values that share a group stand side by side: each group becomes a range of codes.


class Group(NamedTuple):
    """What a value may be published as."""

    label: str
    interval: tuple[Decimal, Decimal] | None = None


Path: TypeAlias = tuple[Group, ...]  # from just below the root down to the value itself


def arrange(
    rows: Sequence[tuple[str, Path]],
    *,
    null: bool,
    scale: Scale | None = None,
    lift: bool = False,
    ranged: bool = False,
    steps: Iterable[Node] = (),
) -> Domain:
    """The domain of values in leaf order, each with its path; null comes last, below the root.

    A path may end above its value: then the last group is the most that is ever published, and it has
    no children. `lift`: a single group that covers everything is the root itself. `ranged`: groups follow
    each other as a calendar does, so that the first and the last of several say which they are;
    `steps`: where ranges begin and end, if elsewhere.

    >>> groups = (Group("5**"), Group("53*"))
    >>> domain = arrange([("531", (*groups, Group("531"))), ("532", (*groups, Group("532")))], null=False)
    >>> [node.label for node in domain.root.walk()]
    ['*', '5**', '53*', '531', '532']
    """
    values: tuple[Value, ...] = tuple(value for value, _ in rows)
    if not rows:
        return flat((None,) if null else ())
    top = _below([path for _, path in rows], 0, len(rows), 0)
    if null:
        if top:
            root = Node(ANY, 0, len(rows) + 1, (*top, Node(None, len(rows), len(rows) + 1)))
        else:
            root = Node(ANY, 0, len(rows) + 1)
        return Domain((*values, None), root, scale, ranged, tuple(steps))
    root = top[0] if lift and len(top) == 1 else Node(ANY, 0, len(rows), top)
    return Domain(values, root, scale, ranged, tuple(steps))


def _below(paths: Sequence[Path], lo: int, hi: int, depth: int) -> tuple[Node, ...]:
    """The nodes at one depth under a group that covers `[lo, hi)`."""
    if any(len(path) == depth for path in paths[lo:hi]):
        return ()  # a value that reads like its group says no more than the group does
    nodes = []
    while lo < hi:
        group = paths[lo][depth]
        end = lo + 1
        while end < hi and paths[end][depth] == group:
            end += 1
        nodes.append(Node(group.label, lo, end, _below(paths, lo, end, depth + 1), group.interval))
        lo = end
    return tuple(nodes)


def distinct(values: Iterable[Value]) -> tuple[list[str], bool]:
    """Each value once without null, and whether there is a null."""
    seen = dict.fromkeys(values)
    return [value for value in seen if value is not None], None in seen


def refuse(
    *reasons: tuple[int, str, str], of: int, look: str = "run with --show-values to see them, or "
) -> None:
    """Raise, saying how many of the values have no place in a hierarchy and what to do; never which.

    A reason is a count, what is wrong with so many values, and the fix. `look`: how to see which they are.
    """
    complaints = [
        f"{count} of {of} {'value is' if of == 1 else 'values are'} {wrong}; {look}{fix}"
        for count, wrong, fix in reasons
        if count
    ]
    if complaints:
        raise HierarchyError(*complaints, missing=sum(count for count, _, _ in reasons))


@dataclass(frozen=True)
class Cut:
    """Nodes that cover every code of a domain exactly once, in leaf order."""

    domain: Domain
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        at = 0
        for node in self.nodes:
            if node.lo != at:
                raise InternalError("a cut covers every code exactly once, in order")
            at = node.hi
        if at != self.domain.size:
            raise InternalError("a cut covers every code exactly once, in order")

    @property
    def labels(self) -> tuple[Value, ...]:
        return tuple(node.label for node in self.nodes)

    @cached_property
    def positions(self) -> Codes:
        """For each code, which node of the cut stands for it."""
        small = np.min_scalar_type(max(len(self.nodes) - 1, 0))
        return np.repeat(np.arange(len(self.nodes), dtype=small), [node.leaves for node in self.nodes])

    @property
    def untouched(self) -> bool:
        """Is every value published as it is?"""
        return all(n.leaves == 1 and n.label == self.domain.values[n.lo] for n in self.nodes)
