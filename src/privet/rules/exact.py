"""Hiding with the least harm there can be, by integer programming.

Spec 09, section 3.11, "exact", after Gkoulalas-Divanis and Verykios, "An integer programming approach for
frequent itemset hiding", CIKM 2006. First as few elements of the innocent border as possible are lost;
then, among all ways that lose no more, as few items as possible are deleted. (The spec weighs both in one
sum with a weight W; this is the same with W as large as need be, and no rounding can mix them up.)

What is innocent depends on how each rule is to be hidden. By its support: its itemset and all that contains
it is given up. By its confidence: its itemset may stay frequent, so it is innocent too, and lost if it does
not; the solver may still choose that where it harms less.

Differs from the paper: there is no variable for each record and item. Records that have the same
sensitive itemsets, antecedents and border elements can stand for each other, so one whole number says for
each such group and each way of deleting how many of its records go that way. A way that deletes an item
without breaking a further sensitive itemset is never needed: with that item kept every count is as good.
Solved by HiGHS (in scipy); the answer is counted again in whole numbers.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from privet.errors import InternalError, MissingExtraError, UnsatisfiableError, UnsupportedError
from privet.rules.baskets import Baskets, Ints
from privet.rules.goals import By, Goal, innocent_border
from privet.rules.mining import Itemset, Mined

MOST_WAYS = 500_000  # variables; a larger program is not solved in time
WIDEST = 16  # sensitive items of one record that are combined


@dataclass(frozen=True, slots=True)
class Group:
    """Records that can stand for each other, and the ways in which one of them may lose items."""

    records: Ints
    itemsets: tuple[int, ...]  # which of those that are watched they have
    ways: tuple[Itemset, ...]  # items to delete, the first way deletes none


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best way of hiding."""

    deletions: tuple[tuple[int, int], ...]
    lost: tuple[Itemset, ...]  # elements of the border that cannot be kept


def solve(baskets: Baskets, aims: Sequence[Goal], mined: Mined, seconds: float | None = None) -> Optimum:
    """The deletions with the least harm."""
    program = Program(baskets, aims, mined)
    if not program.groups:
        return Optimum((), ())
    return program.solved(seconds)


@contextmanager
def unheard() -> Iterator[None]:
    """What a library in C writes to standard output is not shown: an answer in JSON may stand there."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # there is none
        yield
        return
    nobody = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nobody, 1)
    os.close(nobody)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what C still holds would come out later
        os.dup2(kept, 1)
        os.close(kept)


class Program:
    """Groups of records, what is watched, and the constraints over how many records go which way."""

    def __init__(self, baskets: Baskets, aims: Sequence[Goal], mined: Mined) -> None:
        self._baskets, self._aims = baskets, aims
        self._least = mined.thresholds.least(baskets.records)
        victims = {item for goal in aims for item in goal.sensitive.itemset}
        self._border = [one for one in innocent_border(mined, aims) if victims & set(one)]
        watched = [goal.sensitive.itemset for goal in aims]
        watched += [goal.sensitive.rule.antecedent for goal in aims]
        watched += self._border
        self._number = {itemset: at for at, itemset in enumerate(dict.fromkeys(watched))}
        self._watched = list(self._number)
        self._support = [baskets.support(itemset) for itemset in self._watched]
        self.groups = list(self._grouped(baskets, aims))
        ways = sum(len(group.ways) for group in self.groups)
        if ways > MOST_WAYS:
            raise UnsupportedError(
                f"the exact search would weigh {ways} ways of deleting, more than {MOST_WAYS}: hide fewer "
                'rules at once, or use type = "hide-border"'
            )

    def _grouped(self, baskets: Baskets, aims: Sequence[Goal]) -> Iterator[Group]:
        holding = [baskets.holding(goal.sensitive.itemset) for goal in aims]
        records = np.unique(np.concatenate([*holding, np.zeros(0, np.int32)]))
        rows: list[list[int]] = [[] for _ in records]
        for at, itemset in enumerate(self._watched):
            for place in np.flatnonzero(np.isin(records, baskets.holding(itemset))).tolist():
                rows[place].append(at)
        alike: dict[tuple[int, ...], list[int]] = {}
        for record, row in zip(records.tolist(), rows, strict=True):
            alike.setdefault(tuple(row), []).append(record)
        for has, members in alike.items():
            inside = [goal for goal in aims if self._number[goal.sensitive.itemset] in has]
            yield Group(np.array(members), has, tuple(ways([goal.sensitive.itemset for goal in inside])))

    def solved(self, seconds: float | None) -> Optimum:
        try:
            from scipy.optimize import LinearConstraint, milp  # noqa: PLC0415 - large, and for this search only
        except ImportError:
            raise MissingExtraError("algorithm hide-exact (scipy)", "rules") from None

        sizes = [len(group.ways) for group in self.groups]
        begin = np.concatenate(([0], np.cumsum(sizes)))
        counts, lost = int(begin[-1]), len(self._border)
        either = [at for at, goal in enumerate(self._aims) if goal.by is not By.SUPPORT]
        choice = {at: counts + lost + i for i, at in enumerate(either)}
        wide = counts + lost + len(either)
        rows = list(self._rows(begin, counts, choice))
        price = np.zeros(wide)
        for group, start in zip(self.groups, begin.tolist(), strict=False):
            price[start : start + len(group.ways)] = [len(way) for way in group.ways]
        harm = np.zeros(wide)
        harm[counts : counts + lost] = 1
        upper = np.ones(wide)
        upper[:counts] = np.repeat([len(group.records) for group in self.groups], sizes)
        options = {"mip_rel_gap": 0.0, **({} if seconds is None else {"time_limit": float(seconds)})}

        def best(objective: Any, more: Sequence[tuple[dict[int, float], float, float]] = ()) -> Any:
            matrix, low, high = sparse([*rows, *more], wide)
            with unheard():  # HiGHS writes a line of its own now and then, past Python
                found = milp(
                    objective,
                    constraints=LinearConstraint(matrix, low, high),
                    integrality=np.ones(wide),
                    bounds=(np.zeros(wide), upper),
                    options=options,
                )
            if found.status == 1:
                raise UnsupportedError(
                    "the exact search ran out of time: allow it more seconds, hide fewer rules at once, or "
                    'use type = "hide-border"'
                )
            if found.status != 0:
                raise UnsatisfiableError("no deletion of items hides these rules")
            return np.rint(found.x).astype(np.int64)

        least = int(best(harm)[counts : counts + lost].sum()) if lost else 0
        bound = ({counts + at: 1.0 for at in range(lost)}, -np.inf, float(least))
        answer = best(price, [bound] if lost else [])
        return self._read(answer, begin)

    def _rows(
        self, begin: Ints, counts: int, choice: dict[int, int]
    ) -> Iterator[tuple[dict[int, float], float, float]]:
        """Constraints, each as coefficients, a lower and an upper bound."""
        for group, start in zip(self.groups, begin.tolist(), strict=False):
            many = float(len(group.records))
            yield {start + way: 1.0 for way in range(len(group.ways))}, many, many
        for at, goal in enumerate(self._aims):
            whole, _ = self._left(goal.sensitive.itemset, begin)
            limit = goal.sensitive.thresholds.least(self._baskets.records) - 1
            support = self._support[self._number[goal.sensitive.itemset]]
            if at not in choice:
                yield whole, -np.inf, float(limit)
                continue
            # Hidden by its support where the choice is 1, by its confidence where it is 0.
            yield {**whole, choice[at]: float(support)}, -np.inf, float(limit + support)
            yield self._doubtful(goal, whole, choice[at], begin)
        for at, itemset in enumerate(self._border):
            left, outside = self._left(itemset, begin)
            yield {**left, counts + at: float(self._least)}, float(self._least - outside), np.inf

    def _doubtful(
        self, goal: Goal, whole: dict[int, float], choice: int, begin: Ints
    ) -> tuple[dict[int, float], float, float]:
        """Confidence: bottom * support - top * support of the antecedent is below 0, so at most -1."""
        share = goal.sensitive.thresholds.confidence or Fraction(1)
        top, bottom = share.numerator, share.denominator
        before, outside = self._left(goal.sensitive.rule.antecedent, begin)
        row = {place: bottom * value for place, value in whole.items()}
        for place, value in before.items():
            row[place] = row.get(place, 0.0) - top * value
        free = bottom * self._support[self._number[goal.sensitive.itemset]] + 1
        row[choice] = -float(free)
        return row, -np.inf, float(top * outside - 1)

    def _left(self, itemset: Itemset, begin: Ints) -> tuple[dict[int, float], int]:
        """Records that still have an itemset: what each way contributes, and those that no way touches."""
        number = self._number[itemset]
        found: dict[int, float] = {}
        inside = 0
        for group, start in zip(self.groups, begin.tolist(), strict=False):
            if number in group.itemsets:
                inside += len(group.records)
                for at, way in enumerate(group.ways):
                    if not set(way) & set(itemset):
                        found[start + at] = 1.0
        return found, self._support[number] - inside

    def _read(self, answer: Ints, begin: Ints) -> Optimum:
        deletions: list[tuple[int, int]] = []
        for group, start in zip(self.groups, begin.tolist(), strict=False):
            taken = 0
            for at, way in enumerate(group.ways):
                many = int(answer[start + at])
                if way:
                    members = group.records[taken : taken + many].tolist()
                    deletions += [(record, item) for record in members for item in way]
                    taken += many
            if taken > len(group.records):
                raise InternalError("the solver's answer does not add up")
        published = self._baskets.without(deletions)
        for goal in self._aims:
            one = goal.sensitive
            both, before = published.support(one.itemset), published.support(one.rule.antecedent)
            if not goal.reached(both, before, published.records):
                raise InternalError("the solver's answer does not hide a rule")
        lost = tuple(one for one in self._border if published.support(one) < self._least)
        return Optimum(tuple(sorted(deletions)), lost)


def ways(itemsets: Sequence[Itemset]) -> Iterator[Itemset]:
    """Sets of items, each of whose items breaks an itemset that the others leave whole; fewest items first.

    >>> list(ways([(1, 2), (2, 3)]))
    [(), (1,), (2,), (3,), (1, 3)]
    """
    items = sorted({item for itemset in itemsets for item in itemset})
    if len(items) > WIDEST:
        raise UnsupportedError(
            f"a record has {len(items)} items of sensitive rules, too many to combine exactly: hide fewer "
            'rules at once, or use type = "hide-border"'
        )
    level: list[Itemset] = [()]
    while level:
        yield from level
        there = set(level)
        level = [
            (*way, item)
            for way in level
            for item in items
            if (not way or item > way[-1])
            and all(part in there for part in combinations((*way, item), len(way)))
            and needed((*way, item), itemsets)
        ]


def needed(way: Itemset, itemsets: Sequence[Itemset]) -> bool:
    """Does every item break an itemset that no other item of the way breaks?"""
    return all(any(set(way) & set(itemset) == {item} for itemset in itemsets) for item in way)


def sparse(rows: Sequence[tuple[dict[int, float], float, float]], wide: int) -> tuple[Any, Any, Any]:
    """Constraints as a matrix and two bounds."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - see above

    starts = np.cumsum([0, *(len(row) for row, _, _ in rows)])
    places = np.array([place for row, _, _ in rows for place in row], dtype=np.int64)
    values = np.array([value for row, _, _ in rows for value in row.values()], dtype=float)
    matrix = csr_matrix((values, places, starts), shape=(len(rows), wide))
    return matrix, [low for _, low, _ in rows], [high for _, _, high in rows]
