"""Bindings over explicit finite sets of states, word for word: what everything else is compared with.

A query is a partition of the states, one cell for each answer. `safe` says of a set of states whether
knowing "it is one of these" is harmless; a superset of a safe set must be safe too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import chain
from typing import TypeVar

from privet.disclose.audit.decision import Denied

State = TypeVar("State", bound=Hashable)
Cells = Sequence[frozenset[State]]
Safe = Callable[[frozenset[State]], bool]


def eta_simple(query: Cells[State], safe: Safe[State]) -> frozenset[State]:
    """The states for which the simple auditor denies: those in unsafe cells."""
    return frozenset(chain.from_iterable(cell for cell in query if not safe(cell)))


def eta_simulatable(query: Cells[State], safe: Safe[State]) -> frozenset[State]:
    """All states if any cell is unsafe, else none."""
    every = frozenset(chain.from_iterable(query))
    return every if eta_simple(query, safe) else frozenset()


def eta_binding(query: Cells[State], binding: Cells[State], safe: Safe[State]) -> frozenset[State]:
    """The states for which the binding auditor denies: cells of the binding that meet unsafe ones."""
    bad = eta_simple(query, safe)
    return frozenset(chain.from_iterable(cell for cell in binding if cell & bad))


def is_safe_binding(query: Cells[State], binding: Cells[State], safe: Safe[State]) -> bool:
    """Is every cell of the binding safe, and does every safe answer stay so without what is denied?"""
    if not all(safe(cell) for cell in binding):
        return False
    denied = eta_binding(query, binding, safe)
    return all(not (cell - denied) or safe(cell - denied) for cell in query if safe(cell))


def is_ultimate(query: Cells[State], binding: Cells[State], safe: Safe[State]) -> bool:
    """Does one cell of the binding hold everything that is unsafe?"""
    bad = eta_simple(query, safe)
    return any(bad <= cell for cell in binding)


def decide(
    state: State, query: Cells[State], binding: Cells[State], safe: Safe[State]
) -> frozenset[State] | None:
    """The cell that the adversary is left with when the state is answered; None where it is denied."""
    denied = eta_binding(query, binding, safe)
    if state in denied:
        return None
    return next(cell for cell in query if state in cell) - denied


# The red team's view: what a whole history leaves possible.

Vector = tuple[Fraction, ...]
Ask = Callable[[Collection[int]], Fraction | Denied]


def remaining(
    states: Iterable[Vector],
    history: Sequence[tuple[Collection[int], Fraction | Denied]],
    auditor: Callable[[Vector], Ask],
) -> list[Vector]:
    """The states on which the auditor would have said exactly this; `auditor` starts one for a state."""
    left = []
    for state in states:
        ask = auditor(state)
        if all(ask(query) == said for query, said in history):
            left.append(state)
    return left


def widths(states: Sequence[Vector]) -> list[Fraction]:
    """How far each coordinate can still move; 0 means that it is determined."""
    return [max(column) - min(column) for column in zip(*states, strict=True)]


def determined(states: Sequence[Vector], width: Fraction = Fraction(0)) -> list[int]:
    """Who is given away: known exactly, or with a width, within less than that.

    >>> determined([(Fraction(5), Fraction(1)), (Fraction(5), Fraction(3))])
    [0]
    >>> determined([(Fraction(5), Fraction(1)), (Fraction(5), Fraction(3))], Fraction(3))
    [0, 1]
    """
    return [at for at, left in enumerate(widths(states)) if left < width or left == 0]
