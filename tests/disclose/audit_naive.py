"""Auditing as it is written down: every test of every candidate anew, exact, and as slow as that is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise, product

from privet.disclose.audit.decision import DENIED, Denied

SAFE, UNSAFE, INCONSISTENT, OFFLOG = "safe", "unsafe", "inconsistent", "offlog"
Fact = tuple[frozenset[int], Fraction]


def status(equal: Sequence[Fact], at_most: Sequence[Fact]) -> str:
    """Spec 10, section 3.2."""
    mu: dict[int, Fraction] = {}
    for query, value in (*equal, *at_most):
        for j in query:
            mu[j] = min(mu.get(j, value), value)
    unsafe = False
    for query, value in equal:
        extreme = [j for j in query if mu[j] == value]
        if not extreme:
            return INCONSISTENT
        unsafe = unsafe or len(extreme) == 1
    return UNSAFE if unsafe else SAFE


def candidates(facts: Sequence[Fact]) -> list[Fraction]:
    values = sorted({value for _, value in facts})
    if not values:
        return [Fraction(0)]
    between = [(a + b) / 2 for a, b in pairwise(values)]
    return sorted([values[0] - 1, *values, *between, values[-1] + 1])


class NaiveMax:
    """Spec 10, section 3.4, line by line; and the printed algorithm where `printed`."""

    def __init__(self, x: Sequence[Fraction], *, log: str = "tight", family: str = "binding") -> None:
        self.x, self.log, self.family = list(map(Fraction, x)), log, family
        self.answers: list[Fact] = []
        self.equal: list[Fact] = []
        self.at_most: list[Fact] = []
        self.off = False

    def statuses(self, query: frozenset[int]) -> dict[Fraction, str]:
        found = {}
        for c in candidates([*self.equal, *self.at_most]):
            found[c] = status([*self.equal, (query, c)], self.at_most)
            hidden = status([*self.answers, (query, c)], []) != INCONSISTENT
            if self.off and found[c] == INCONSISTENT and hidden:
                found[c] = OFFLOG
        return found

    def ask(self, asked: Collection[int]) -> Fraction | Denied:
        query = frozenset(asked)
        t = max(self.x[j] for j in query)
        st = self.statuses(query)
        bad = [c for c in st if st[c] in (UNSAFE, OFFLOG)]
        good = [c for c in st if st[c] == SAFE]
        fine = status([*self.equal, (query, t)], self.at_most) == SAFE
        if self.family == "simple":
            return self._answer(query, t) if fine else DENIED
        if not bad:
            return self._answer(query, t)
        if not good or self.family == "simulatable":
            return DENIED
        k = good[0]
        logged = {value for _, value in (*self.equal, *self.at_most)}
        if self.log == "tight" and good == [k] and k in logged:
            return DENIED
        if fine and t != k:
            return self._answer(query, t)
        if self.log == "tight" and k in logged:
            self.at_most.append((query, k))
            self.off = self.off or any(c > k or st[c] == OFFLOG for c in bad)
        else:
            self.equal.append((query, k))
            self.off = True
        return DENIED

    def _answer(self, query: frozenset[int], t: Fraction) -> Fraction:
        self.answers.append((query, t))
        self.equal.append((query, t))
        return t


class PrintedMax:
    """Algorithm 3.1 as printed: two states, and a bound that is never doubted again. It can be broken."""

    def __init__(self, x: Sequence[Fraction]) -> None:
        self.x = list(map(Fraction, x))
        self.equal: list[Fact] = []

    def ask(self, asked: Collection[int]) -> Fraction | Denied:
        query = frozenset(asked)
        t = max(self.x[j] for j in query)
        beta = {c: status([*self.equal, (query, c)], []) == UNSAFE for c in candidates(self.equal)}
        if not any(beta.values()):
            self.equal.append((query, t))
            return t
        k = next((c for c in beta if not beta[c]), None)
        if k is None:
            return DENIED
        if status([*self.equal, (query, t)], []) == SAFE and t != k:
            self.equal.append((query, t))
            return t
        self.equal.append((query, k))
        return DENIED


# An exact linear program: Fourier and Motzkin would do, but this is quicker.


def simplex(
    goal: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> Fraction | None:
    """The least goal.x for rows.x = right, x >= 0, in fractions by Bland's rule; None where infeasible.

    Bounded problems only.
    """
    m, n = len(rows), len(goal)
    table = []
    for at, (row, value) in enumerate(zip(rows, right, strict=True)):
        sign = -1 if value < 0 else 1
        unit = [Fraction(int(at == other)) for other in range(m)]
        table.append([sign * Fraction(v) for v in row] + unit + [sign * Fraction(value)])
    basis = [n + at for at in range(m)]

    def run(costs: list[Fraction], allowed: int) -> Fraction:
        while True:
            reduced = [
                costs[j] - sum((costs[basis[i]] * table[i][j] for i in range(m)), Fraction(0))
                for j in range(allowed)
            ]
            enter = next((j for j, value in enumerate(reduced) if value < 0), None)
            if enter is None:
                return sum((costs[basis[i]] * table[i][-1] for i in range(m)), Fraction(0))
            ratios = [(table[i][-1] / table[i][enter], basis[i], i) for i in range(m) if table[i][enter] > 0]
            leave = min(ratios)[2]
            pivot(leave, enter)

    def pivot(i: int, j: int) -> None:
        factor = table[i][j]
        table[i] = [value / factor for value in table[i]]
        for other in range(m):
            if other != i and table[other][j]:
                scale = table[other][j]
                table[other] = [a - scale * b for a, b in zip(table[other], table[i], strict=True)]
        basis[i] = j

    if run([Fraction(0)] * n + [Fraction(1)] * m, n + m) > 0:
        return None
    for i in range(m):  # artificial ones that are left at zero
        if basis[i] >= n:
            other = next((j for j in range(n) if table[i][j]), None)
            if other is not None:
                pivot(i, other)
    return run([Fraction(v) for v in goal] + [Fraction(0)] * m, n)


def safe_interval(
    high: Sequence[int],
    equal: Sequence[Fact],
    at_most: Sequence[tuple[frozenset[int], int, Fraction]],
    query: frozenset[int],
) -> tuple[Fraction, Fraction] | None:
    """Spec 10, section 3.8, in exact arithmetic, for a box from 0 and width 1."""
    ends = []
    for i in range(len(high)):
        pair = []
        for sign in (1, -1):
            found = simplex(*_twins(high, equal, at_most, query, i=i, sign=sign))
            if found is None:
                return None
            pair.append(sign * found)
        ends.append(pair)
    low, top = max(a for a, _ in ends), min(b for _, b in ends)
    return (low, top) if low <= top else None


def _twins(
    high: Sequence[int],
    equal: Sequence[Fact],
    at_most: Sequence[tuple[frozenset[int], int, Fraction]],
    query: frozenset[int],
    *,
    i: int,
    sign: int,
) -> tuple[list[Fraction], list[list[Fraction]], list[Fraction]]:
    """Two states that agree in the query and are 1 apart in person i; slacks come last."""
    n = len(high)
    wide = 2 * n + 2 * n + 2 * len(at_most) + 1
    rows: list[list[Fraction]] = []
    right: list[Fraction] = []
    spare = iter(range(2 * n, wide))

    def add(entries: dict[int, int], value: Fraction | int, slack: int = 0) -> None:
        row = [Fraction(0)] * wide
        for at, factor in entries.items():
            row[at] = Fraction(factor)
        if slack:
            row[next(spare)] = Fraction(slack)
        rows.append(row)
        right.append(Fraction(value))

    for copy in (0, n):
        for j in range(n):
            add({copy + j: 1}, high[j], 1)
        for members, value in equal:
            add({copy + j: 1 for j in members}, value)
        for members, side, value in at_most:
            add({copy + j: side for j in members}, value, 1)
    add({j + copy: turn for copy, turn in ((0, 1), (n, -1)) for j in query}, 0)
    add({i: 1, n + i: -1}, 1, -1)
    return [Fraction(sign if j in query else 0) for j in range(wide)], rows, right


def grid_states(n: int, values: Sequence[Fraction | int]) -> list[tuple[Fraction, ...]]:
    return [tuple(map(Fraction, state)) for state in product(values, repeat=n)]
