"""When a set of states is safe to leave to an adversary, and how a set is split into two safe ones.

Each predicate says whether it is monotone (a larger set is no less safe) where that is proven; one that a
user brings is tried on every set instead. An at-large split of a set by a cell is a largest part of the cell
that is safe and leaves the rest safe or empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import log
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from privet.disclose.safe.settings import Predicate, States
from privet.errors import PolicyError, UnsupportedError
from privet.models.exact import powers, sign

TRIED = 12  # states up to which every set is tried
SPLIT = 16  # members of a cell up to which every part of it is tried
NEAR = 1e-9  # entropies closer than this are compared exactly


@runtime_checkable
class Splitting(Protocol):
    """A predicate that knows its splits."""

    def splits(self, whole: States, cell: States) -> Iterator[States]:
        """Largest parts of `whole & cell` that are safe and leave the rest of `whole` safe or empty."""


@runtime_checkable
class Proven(Protocol):
    """A predicate of which it is proven whether it is monotone."""

    @property
    def monotone(self) -> bool:
        """Does a safe set stay safe when a state joins it?"""


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A set of at least k states is safe: nobody can tell which of them it is."""

    k: int
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise PolicyError(f"k is 1 or more, not {self.k}")

    def __call__(self, states: States) -> bool:
        return len(states) >= self.k

    def splits(self, whole: States, cell: States) -> Iterator[States]:
        """One split that leaves the last states behind where the rest needs company."""
        inside, rest = sorted(whole & cell), len(whole - cell)
        hold = 0 if rest == 0 or rest >= self.k else self.k - rest
        if len(inside) - hold >= self.k:
            yield frozenset(inside[: len(inside) - hold])


@dataclass(frozen=True)
class WeightedSum:
    """States weigh something, never less than nothing; a set of enough weight is safe."""

    weights: tuple[Fraction, ...] = field(repr=False)
    bound: Fraction
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if any(weight < 0 for weight in self.weights):
            raise PolicyError("weights are not below zero: a larger set would weigh less")

    def __call__(self, states: States) -> bool:
        return bool(states) and sum(self.weights[state] for state in states) >= self.bound


@dataclass(frozen=True)
class EntropyDiversity:
    """Over a set of states, each alike likely, every person's value has the entropy of l equally common ones.

    Not monotone: among more states a value may be more certain.
    """

    values: tuple[tuple[Any, ...], ...] = field(repr=False)  # [state][person]
    l: int
    monotone: ClassVar[bool] = False

    def __call__(self, states: States) -> bool:
        if not states:
            return False
        rows = [self.values[state] for state in states]
        return all(diverse(bag(column), self.l) for column in zip(*rows, strict=True))


@dataclass(frozen=True)
class Brought:
    """A predicate of the user's own. Nothing is believed of it: it is tried on every set of few states."""

    test: Callable[[States], bool] = field(repr=False)

    def __call__(self, states: States) -> bool:
        return bool(self.test(states))


def is_monotone(safe: Predicate, states: States) -> bool:
    """Does a safe set stay safe when a state joins it? By proof where there is one, else by trying all."""
    if isinstance(safe, Proven):
        return safe.monotone
    if len(states) > TRIED:
        raise UnsupportedError(
            f"whether a predicate of one's own is set-monotonic is tried on every set of states, which "
            f"works for "
            f"up to {TRIED} of them; there are {len(states)}"
        )
    ordered = sorted(states)
    holding = {
        frozenset(some)
        for size in range(len(ordered) + 1)
        for some in combinations(ordered, size)
        if safe(frozenset(some))
    }
    return all(some | {state} in holding for some in holding for state in ordered)


def all_splits(safe: Predicate, whole: States, cell: States) -> Iterator[States]:
    """Largest splits: from the predicate where it knows them, else by trying every part of the cell."""
    if isinstance(safe, Splitting):
        yield from safe.splits(whole, cell)
        return
    inside = sorted(whole & cell)
    if len(inside) > SPLIT:
        raise UnsupportedError(
            f"this predicate does not know how to split a set, and a cell of {len(inside)} states has too "
            f"many "
            f"parts to try; up to {SPLIT} are tried"
        )
    found: list[States] = []
    for size in range(len(inside), 0, -1):
        for some in combinations(inside, size):
            part = frozenset(some)
            if any(part < larger for larger in found):
                continue
            rest = whole - part
            if safe(part) and (not rest or safe(rest)):
                found.append(part)
                yield part


def bag(values: Sequence[Any] | NDArray[Any]) -> tuple[int, ...]:
    """How often each value occurs, the commonest first.

    >>> bag("abca")
    (2, 1, 1)
    """
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return tuple(sorted(counts.values(), reverse=True))


def diverse(counts: Sequence[int], l: int) -> bool:
    """Has a bag with these counts at least the entropy of l equally common values? Equality will do.

    >>> diverse((1, 1), 2), diverse((3, 1), 2), diverse((2, 1, 1), 2)
    (True, False, True)
    """
    size = sum(counts)
    gap = log(size) - sum(count * log(count) for count in counts if count) / size - log(l)
    if abs(gap) > NEAR * (1 + log(size)):
        return gap > 0
    # The definition, times the size and without logarithms: size^size against l^size and every count^count.
    return sign(powers((size, size), (l, -size), *((count, -count) for count in counts if count))) >= 0


def entropies(group: NDArray[np.int64], count: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """The entropy in nats of each group's bag, from one entry for each group and value."""
    size = np.bincount(group, weights=count, minlength=groups)
    amount = count.astype(np.float64)
    inner = np.bincount(group, weights=amount * np.log(np.maximum(amount, 1)), minlength=groups)
    held = np.maximum(size, 1)
    found: NDArray[np.float64] = np.log(held) - inner / held
    return found
