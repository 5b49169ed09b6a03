"""A problem as a value: states, ways to release them from the most useful to saying nothing, and who chooses.

States are numbers. A schema is a partition of the states: released is the cell that the true state lies in. A
deterministic disclosure function names a schema for every state. An adversary who sees a release knows the
cell, and that the function chose this schema: the disclosure set is what is left, and a predicate says
whether that is safe. The functions here follow the definitions word by word; they are the measure of the
quicker ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod

from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError

States = frozenset[int]
Predicate = Callable[[States], bool]
Disclosure = tuple[int, ...]  # for each state, the number of its schema: a deterministic disclosure function

MOST = 1_000_000  # functions that are enumerated


@dataclass(frozen=True)
class Setting:
    """Schemas in the order of their use; the last says nothing: all states in one cell."""

    schemas: tuple[tuple[int, ...], ...] = field(repr=False)  # for each schema, the cell of every state

    def __post_init__(self) -> None:
        if not self.schemas or not self.schemas[0]:
            raise PolicyError("a problem has at least one state and one schema")
        if len({len(schema) for schema in self.schemas}) > 1:
            raise PolicyError("every schema has a cell for every state")
        if len(set(self.schemas[-1])) > 1:
            raise PolicyError("the last schema says nothing: all states are in one cell of it")

    @classmethod
    def of(cls, *schemas: Sequence[Sequence[int]], states: int) -> Setting:
        """From the cells of each schema but the last, which is added.

        >>> Setting.of([[0], [1, 2, 3]], [[0, 1], [2, 3]], states=4).schemas[1]
        (0, 0, 1, 1)
        """
        found = []
        for schema in schemas:
            cell = {state: number for number, states_ in enumerate(schema) for state in states_}
            if sorted(cell) != list(range(states)) or sum(map(len, schema)) != states:
                raise PolicyError("a schema has every state in exactly one cell")
            found.append(tuple(cell[state] for state in range(states)))
        return cls((*found, (0,) * states))

    @cached_property
    def states(self) -> States:
        return frozenset(range(len(self.schemas[0])))

    @property
    def nothing(self) -> int:
        """The schema that says nothing."""
        return len(self.schemas) - 1

    def cells(self, schema: int, among: States | None = None) -> list[States]:
        """The cells of a schema, cut down to some states, by their smallest state."""
        found: dict[int, set[int]] = {}
        for state in sorted(self.states if among is None else among):
            found.setdefault(self.schemas[schema][state], set()).add(state)
        return [frozenset(cell) for cell in found.values()]

    def instance_set(self, schema: int, state: int) -> States:
        """The states that would show the same cell of the schema."""
        cells = self.schemas[schema]
        return frozenset(other for other in self.states if cells[other] == cells[state])

    @property
    def nested(self) -> bool:
        """Does every schema refine the later ones?"""
        return all(
            len(set(zip(finer, coarser, strict=True))) == len(set(finer))
            for finer, coarser in zip(self.schemas, self.schemas[1:], strict=False)
        )


def disclosure_set(setting: Setting, chosen: Disclosure, state: int) -> States:
    """What an adversary who knows the function cannot tell from the state."""
    return frozenset(
        other for other in setting.instance_set(chosen[state], state) if chosen[other] == chosen[state]
    )


def is_safe(setting: Setting, chosen: Disclosure, safe: Predicate) -> bool:
    """Is every disclosure set safe?"""
    groups: dict[tuple[int, int], set[int]] = {}  # states with one schema and one cell share a disclosure set
    for state, schema in enumerate(chosen):
        groups.setdefault((schema, setting.schemas[schema][state]), set()).add(state)
    return all(safe(frozenset(group)) for group in groups.values())


def is_locally_better(one: Disclosure, other: Disclosure) -> bool:
    """Is one nowhere less useful than the other, and somewhere more?"""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def enumerate_safe(setting: Setting, safe: Predicate) -> Iterator[Disclosure]:
    """Every safe function; refused where there are too many functions to look at."""
    yield from _safe_below(setting, safe, (setting.nothing,) * len(setting.states))


def is_optimal(setting: Setting, chosen: Disclosure, safe: Predicate) -> bool:
    """Safe, and no locally better function is. Deciding it is NP-hard (Theorem 9), so this enumerates."""
    if not is_safe(setting, chosen, safe):
        return False
    return not any(other != chosen for other in _safe_below(setting, safe, chosen))


def _safe_below(setting: Setting, safe: Predicate, highest: Disclosure) -> Iterator[Disclosure]:
    many = prod(schema + 1 for schema in highest)
    if many > MOST:
        raise UnsupportedError(f"there are {many:,} functions to look at; more than {MOST:,} are refused")
    for chosen in product(*(range(schema + 1) for schema in highest)):
        if is_safe(setting, chosen, safe):
            yield chosen


def refuse_unsafe(setting: Setting, safe: Predicate) -> None:
    """If even saying nothing is not safe, no function is."""
    if not safe(setting.states):
        raise UnsatisfiableError(
            "what everybody knows already is not safe: even a release that says nothing would break the "
            "promise"
        )
