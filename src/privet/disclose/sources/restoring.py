"""More true views that bring every chance back under gamma (section 6.4).

More information means fewer possible tables, so protection falls in total; but it can move from people who
have plenty to those who lack it. It cannot help once somebody is certain. A view that is proposed is always
true: its values come from the base table.

Which candidates are tried first is a preference, and an adversary who knows it learns from the choice
(section 6.6): `by_size` is the default and can be replaced. "Not found" means not found among these
candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, compress
from typing import Any

import numpy as np

from privet.core import Progress, silent
from privet.disclose.sources.counting import STEPS
from privet.disclose.sources.gamma import Assessment, Confidence, Decision, Judged, assess, judged
from privet.disclose.sources.prepare import component
from privet.disclose.sources.views import Comparison, Register, View, counted, described, interval
from privet.domain import Value
from privet.errors import InputError

CANDIDATES = 20_000  # views to choose from; more are refused
TRIALS = 20_000  # sets of views that are looked at before giving up


@dataclass(frozen=True)
class Refinement:
    """A condition that refines a disclosed view, and whom it selects."""

    where: tuple[Comparison, ...]  # beside the condition of the view that it refines
    people: frozenset[int] = field(repr=False)
    rank: tuple[Any, ...] = field(repr=False)  # attribute, from, to: decides between equal sizes
    inside: tuple[Comparison, ...] | None = field(default=None, repr=False)  # that view's condition

    def view(self, register: Register, base: Sequence[Value]) -> View:
        """The view, true of the base table, with the shortest condition that selects its people."""
        both = None if self.inside is None else (*self.inside, *self.where)
        conditions = [where for where in (self.where, both) if where is not None]
        fitting = (where for where in conditions if register.selected(where) == self.people)
        where = next(fitting, None)
        return View(self.people, counted(base[at] for at in self.people), described(where), where)


@dataclass(frozen=True)
class Restoration:
    """What was found."""

    before: Assessment
    after: Assessment | None  # None: nothing was found
    views: tuple[View, ...]
    candidates: int
    tried: int
    complete: bool  # were all sets of views up to the size asked for looked at, or one found?

    @property
    def found(self) -> bool:
        return self.after is not None

    @property
    def parts(self) -> int:
        """Parts that share nobody and are not private; each needs a view of its own."""
        return sum(part.decision is not Decision.PRIVATE for part in self.before.parts)

    @property
    def certain(self) -> int:
        """People whose value was certain before; no view takes that back."""
        return sum(
            len(members)
            for part in self.before.parts
            if part.shares  # else it is undecided
            for members, shares in zip(part.part.classes, part.shares, strict=True)
            if 1 in shares
        )


def refinements(register: Register, views: Iterable[View], *, attributes: int = 1) -> list[Refinement]:
    """Conditions that select at least two people of one disclosed view, and no disclosed view whole.

    On a column of numbers every interval between two values that occur in the view; on any other each value.
    `attributes` is how many columns a condition may speak of. Conditions that select the same people are one.
    """
    found: dict[frozenset[int], Refinement] = {}
    disclosed = list(views)
    taken = {view.people for view in disclosed}
    for view in disclosed:
        pieces = {name: list(_pieces(register, name, view.people)) for name in register.columns}
        for names in _subsets(list(register.columns), attributes):
            for candidate in _joined(view, [pieces[name] for name in names]):
                if len(candidate.people) < 2 or candidate.people in taken:
                    continue
                known = found.setdefault(candidate.people, candidate)
                if candidate.rank < known.rank:
                    found[candidate.people] = candidate
                if len(found) > CANDIDATES:
                    raise InputError(
                        f"there are more than {CANDIDATES:,} candidate views; let conditions speak of "
                        f"fewer columns"
                    )
    return list(found.values())


def _subsets(names: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    for many in range(1, most + 1):
        yield from combinations(names, many)


def _pieces(register: Register, name: str, people: frozenset[int]) -> Iterator[Refinement]:
    """What a condition on one column can select among people."""
    numbers = register.numbers[name]
    if numbers is None:
        column = register.columns[name]
        for value in sorted({text for at in people if (text := column[at]) is not None}):
            alike = frozenset(at for at in people if column[at] == value)
            yield Refinement((Comparison(name, "=", value),), alike, (((name, 1, value, value),),))
        return
    by_number: dict[Decimal, set[int]] = {}
    for at in people:
        if (number := numbers[at]) is not None:
            by_number.setdefault(number, set()).add(at)
    ordered = sorted(by_number)
    for start, low in enumerate(ordered):
        chosen: set[int] = set()
        for high in ordered[start:]:
            chosen |= by_number[high]
            yield Refinement(interval(name, low, high), frozenset(chosen), (((name, 0, low, high),),))


def _joined(view: View, choices: Sequence[Sequence[Refinement]]) -> Iterator[Refinement]:
    """One condition of each column together, inside the view."""

    def grow(
        at: int, where: tuple[Comparison, ...], people: frozenset[int], rank: tuple[Any, ...]
    ) -> Iterator[Refinement]:
        if at == len(choices):
            yield Refinement(where, people, (len(rank), *rank), view.where)
            return
        for one in choices[at]:
            both = people & one.people
            if len(both) >= 2:
                yield from grow(at + 1, (*where, *one.where), both, (*rank, *one.rank[0]))

    yield from grow(0, (), view.people, ())


def by_size(candidates: Iterable[Refinement]) -> list[Refinement]:
    """Few people first, since that is more precise for the recipient; then attribute, lower and upper end."""
    return sorted(candidates, key=lambda one: (len(one.people), one.rank))


def restore(
    register: Register,
    base: Sequence[Value],
    views: Sequence[View],
    gamma: Fraction,
    *,
    most: int = 2,
    attributes: int = 1,
    confidence: Confidence | None = None,
    steps: int = STEPS,
    order: Callable[[Iterable[Refinement]], list[Refinement]] = by_size,
    trials: int = TRIALS,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Restoration:
    """At most `most` additional views after which everybody's chances are at most gamma; the fewest first."""
    refuse_false(base, views)
    before = assess(views, gamma, confidence=confidence, steps=steps, rng=rng, progress=progress)
    if before.decision is Decision.PRIVATE:
        return Restoration(before, before, (), 0, 0, complete=True)
    bad = [part for part in before.parts if part.decision is not Decision.PRIVATE]
    if any(1 in shares for part in bad for shares in part.shares):
        return Restoration(before, None, (), 0, 0, complete=True)  # who is certain stays certain
    touched = [frozenset(p for members in part.part.classes for p in members) for part in bad]
    # Only a view of somebody in a part that is not private can help there.
    helpful = [
        candidate
        for candidate in order(refinements(register, views, attributes=attributes))
        if any(candidate.people <= people for people in touched)
    ]
    # Put into words when one is proposed: that takes longer than counting its values.
    unworded = [View(one.people, counted(base[at] for at in one.people)) for one in helpful]
    alone = [view.largest <= gamma * len(view.people) for view in unworded]
    candidates, fresh = list(compress(helpful, alone)), list(compress(unworded, alone))
    home = [next(at for at, people in enumerate(touched) if view.people <= people) for view in fresh]
    pairs = sum(part.part.people * len(part.part.values) for part in before.parts)
    known: dict[tuple[int, ...], Judged | None] = {}

    def judge(at: int, extra: tuple[int, ...]) -> Judged | None:
        """The part with these views too, or None where it is not private; remembered."""
        if extra not in known:
            part = component([*bad[at].part.views, *(fresh[number] for number in extra)])
            answer = None
            if not part.somebody_certain:
                answer = judged(part, gamma, confidence=confidence, pairs=pairs, steps=steps, rng=rng)
            known[extra] = answer if answer is not None and answer.decision is Decision.PRIVATE else None
        return known[extra]

    # Parts have nobody in common, so each is mended by itself, with the fewest views that do.
    tried, extra, mended = 0, list[int](), list[Judged]()
    for at in range(len(bad)):
        mine = [number for number, part in enumerate(home) if part == at]
        later = len(bad) - at - 1  # parts that need at least one view each
        for chosen in _by_number(mine, most - len(extra) - later):
            tried += 1
            if tried > trials:
                return Restoration(before, None, (), len(fresh), trials, complete=False)
            progress("restore", tried)
            answer = judge(at, chosen)
            if answer is not None:
                mended.append(answer)
                extra += chosen
                break
        else:
            return Restoration(before, None, (), len(fresh), tried, complete=True)
    kept = [part for part in before.parts if part.decision is Decision.PRIVATE]
    after = Assessment(gamma, (*kept, *mended))
    proposed = tuple(candidates[number].view(register, base) for number in sorted(extra))
    return Restoration(before, after, proposed, len(fresh), tried, complete=True)


def _by_number(items: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Some of the items: few first, then in their order.

    >>> list(_by_number([1, 2, 3], 2))
    [(1,), (2,), (3,), (1, 2), (1, 3), (2, 3)]
    """
    for many in range(1, most + 1):
        yield from combinations(items, many)


def refuse_false(base: Sequence[Value], views: Iterable[View]) -> None:
    """A view that the base table does not bear out is not a view of it."""
    wrong = [
        number
        for number, view in enumerate(views, 1)
        if counted(base[person] for person in view.people) != view.counts
    ]
    if wrong:
        raise InputError(
            *(f"view {number} is not true of the base table; is it of the same people?" for number in wrong)
        )
