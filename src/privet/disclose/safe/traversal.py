"""Algorithms that choose a schema for every state such that the choice is safe too.

The naive one is unsafe and stays as the thing to be warned of. Backward traversal starts with saying nothing
and moves states to better schemas; it needs schemas that refine each other. Forward traversal starts with the
best schema and goes through any. Both need a monotone predicate. What they return is checked against the
definition.

From Python only: for settings whose states can be listed. The algorithm `safe-lattice` has its own search.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from privet.disclose.safe.predicates import AtLeast, all_splits, is_monotone
from privet.disclose.safe.settings import (
    Disclosure,
    Predicate,
    Setting,
    States,
    is_safe,
    refuse_unsafe,
)
from privet.errors import InternalError, UnsupportedError


def naive(setting: Setting, safe: Predicate) -> Disclosure:
    """The first schema whose instance set is safe (Algorithm 4.1). UNSAFE: kept to show the attack."""
    refuse_unsafe(setting, safe)
    return tuple(
        next(
            (i for i in range(setting.nothing) if safe(setting.instance_set(i, state))),
            setting.nothing,
        )
        for state in sorted(setting.states)
    )


def backward(setting: Setting, safe: Predicate) -> Disclosure:
    """Move states to ever better schemas, as long as what stays behind is safe (Algorithm 4.2).

    Cell by cell: the print splits all states of a schema at once, and may leave one alone in its cell.
    """
    refuse_unsafe(setting, safe)
    _refuse_not_monotone(setting, safe)
    if not setting.nested:
        raise UnsupportedError(
            "backward traversal needs schemas that each refine the next (a set-monotonic sequence); forward "
            "traversal takes any"
        )
    chosen = dict.fromkeys(setting.states, setting.nothing)
    for i in range(setting.nothing - 1, -1, -1):
        there = frozenset(state for state, schema in chosen.items() if schema == i + 1)
        for cell in setting.cells(i + 1, there):
            left = cell
            for finer in setting.cells(i, cell):
                moved = next(all_splits(safe, left, finer), frozenset())
                chosen.update(dict.fromkeys(moved, i))
                left -= moved
    return _checked(setting, safe, chosen)


def one_pass(setting: Setting, safe: Predicate) -> Disclosure:
    """Place what is safe by itself, from the best schema on (Algorithm 4.4); refused where somebody is left.

    No one is left if the predicate is safe at the last schema in the sense of Definition 15.
    """
    refuse_unsafe(setting, safe)
    _refuse_not_monotone(setting, safe)
    chosen, left, _ = _placed(setting, safe)
    if left:
        raise UnsupportedError(
            f"one pass leaves {len(left)} states that are not safe together; forward traversal gives them "
            f"company"
        )
    return _checked(setting, safe, chosen)


def forward(setting: Setting, safe: Predicate) -> Disclosure:
    """One pass, then company for those who are left (Algorithm 4.3); works for any sequence of schemas.

    Safe always; optimal for counting predicates. For unusual ones the company might have been divided.
    """
    refuse_unsafe(setting, safe)
    _refuse_not_monotone(setting, safe)
    chosen, left, last = _placed(setting, safe)
    if left:
        group, schema = _company(setting, safe, left, last)
        chosen.update(dict.fromkeys(group, schema))
    return _checked(setting, safe, chosen)


def _placed(setting: Setting, safe: Predicate) -> tuple[dict[int, int], States, States]:
    """The states that find a place, those that find none, and the last group that was placed."""
    chosen = dict.fromkeys(setting.states, setting.nothing)
    left, last = setting.states, frozenset[int]()
    for i in range(len(setting.schemas)):
        for cell in setting.cells(i, left):
            if safe(cell):
                last = cell
                chosen.update(dict.fromkeys(cell, i))
                left -= cell
    return chosen, left, last


def _company(setting: Setting, safe: Predicate, left: States, last: States) -> tuple[States, int]:
    """Who joins those left, and the best schema with a cell for all of them."""
    if isinstance(safe, AtLeast):
        found = _counted_company(setting, safe.k, left, last)
        if found is not None:
            return found
    else:
        groups = [(left | last) - kept for kept in all_splits(safe, left | last, last)]
        if groups:
            best = min(groups, key=lambda group: (_earliest(setting, group), sorted(group)))
            return best, _earliest(setting, best)
    group = left | last
    return group, _earliest(setting, group)


def _counted_company(setting: Setting, k: int, left: States, last: States) -> tuple[States, int] | None:
    """For counting: the fewest of the last group, in the earliest cell that holds all of those left."""
    needed = k - len(left)
    if len(last) - needed < k:
        return None
    for i in range(len(setting.schemas)):
        for cell in setting.cells(i):
            near = sorted(cell & last)
            if left <= cell and len(near) >= needed:
                return left | frozenset(near[:needed]), i
    return None


def _earliest(setting: Setting, group: States) -> int:
    """The best schema that has the whole group in one cell."""
    return next(i for i, schema in enumerate(setting.schemas) if len({schema[state] for state in group}) == 1)


def one_state(setting: Setting, safe: Predicate) -> Callable[[int], int]:
    """What one pass says about single states, asked one at a time (section 4.3.3); answers are remembered."""

    @cache
    def out(state: int) -> int:
        for i in range(setting.nothing):
            rest = frozenset(other for other in setting.instance_set(i, state) if not placed(other, i))
            if safe(rest):
                return i
        return setting.nothing

    @cache
    def placed(state: int, before: int) -> bool:
        for i in range(before):
            rest = frozenset(other for other in setting.instance_set(i, state) if not placed(other, i))
            if safe(rest):
                return True
        return False

    return out


def _refuse_not_monotone(setting: Setting, safe: Predicate) -> None:
    if not is_monotone(safe, setting.states):
        raise UnsupportedError(
            "this needs a set-monotonic predicate: a set that is safe stays safe when states join it; "
            "entropy "
            "l-diversity over states is not, see safe_lattice for tables"
        )


def _checked(setting: Setting, safe: Predicate, chosen: dict[int, int]) -> Disclosure:
    found = tuple(chosen[state] for state in sorted(chosen))
    if not is_safe(setting, found, safe):
        raise InternalError("a disclosure function that should be safe is not")
    return found
