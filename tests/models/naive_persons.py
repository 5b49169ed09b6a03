"""The promises about persons said once more and naively: rows, sets of persons, fractions.

A person may have several rows. `breaks(model, rows)` asks whether a table breaks a promise; nothing is shared
with the package but the parameters of a model and the decimals of `tests.models.naive.ln`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import optimize
from tests.models.naive import ln

Value: TypeAlias = str | None
Having: TypeAlias = Mapping[Value, Fraction]  # the share of persons who have each value
ZERO = Fraction(0)
NEARLY = Fraction(1, 10**50)  # logarithms have eighty digits
ROUGHLY = 1e-7  # a linear program has fewer


class Row(NamedTuple):
    """A row as its reader sees it, and whose it is."""

    person: str
    known: tuple[Any, ...]
    ill: Value
    guard: Value = None
    study: Value = "yes"


def people(rows: Sequence[Row]) -> set[str]:
    return {row.person for row in rows}


def classes(rows: Sequence[Row]) -> list[list[Row]]:
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.known].append(row)
    return list(found.values())


def share(rows: Sequence[Row], has: Callable[[Row], bool]) -> Fraction:
    """Of the persons with a row here, those for whom it is so of any."""
    return Fraction(len({row.person for row in rows if has(row)}), len(people(rows)))


def among(rows: Sequence[Row], values: Collection[Value]) -> Fraction:
    """Of the persons with a row here, those who have one of the values in any."""
    return share(rows, lambda row: row.ill in values)


def having(rows: Sequence[Row]) -> dict[Value, Fraction]:
    return {value: among(rows, {value}) for value in {row.ill for row in rows}}


def one_each(rows: Sequence[Row]) -> list[Fraction]:
    """The commonest value keeps its share, the others have the rest in proportion; the largest first."""
    first, *others = sorted(having(rows).values(), reverse=True)
    rest = sum(others, ZERO)
    found = [first, *((1 - first) * other / rest for other in others)] if others else [Fraction(1)]
    return sorted((one for one in found if one), reverse=True)


def distinct(rows: Sequence[Row]) -> int:
    found = having(rows)
    return 1 if 1 in found.values() else len(found)


def knowledge(row: Row, l: int) -> Iterator[tuple[tuple[int, Any], ...]]:
    for size in range(min(l, len(row.known)) + 1):
        for some in combinations(range(len(row.known)), size):
            yield tuple((at, row.known[at]) for at in some)


def lkc_breaks(model: Any, rows: Sequence[Row], *, across: bool) -> bool:
    protected = {value for values in model.sensitive.values() for value in values}
    mine: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        mine[row.person].append(row)
    asked: list[tuple[set[str], Sequence[Row]]] = []
    for known in {known for row in rows for known in knowledge(row, model.l)}:
        there = [row for row in rows if all(row.known[at] == value for at, value in known)]
        asked.append((people(there), there))
    if across:
        owned = {
            who: {(at, v) for row in some for at, v in enumerate(row.known)} for who, some in mine.items()
        }
        sets = {
            frozenset(some)
            for items in owned.values()
            for size in range(model.l + 1)
            for some in combinations(sorted(items, key=repr), size)
        }
        for known_of in sets:
            who = {one for one, items in owned.items() if known_of <= items}
            asked.append((who, [row for one in who for row in mine[one]]))
    return any(
        len(who) < model.k
        or any(Fraction(len({r.person for r in there if r.ill == v}), len(who)) > model.c for v in protected)
        for who, there in asked
    )


def divergence(p: Having, q: Having) -> Fraction:
    """Sum of p ln(p / q) - p + q."""
    gained = sum((p[v] * ln(p[v] / q[v]) for v in p), ZERO)
    return gained - sum(p.values(), ZERO) + sum(q.values(), ZERO)


def carried(p: Having, q: Having, costs: Mapping[str, Mapping[str, Fraction]]) -> float:
    """A linear program: goods pass through values of the table, and from or to nowhere at a price of 1."""
    values: list[Any] = [*q, "(nowhere)"]
    over = [float(p.get(v, ZERO) - q[v]) for v in q]
    over.append(-sum(over))
    ways = [(a, b) for a in range(len(values)) for b in range(len(values)) if a != b]

    def price(a: Value, b: Value) -> float:
        if a is None or b is None:
            return 1.0
        return float(costs.get(a, {}).get(b, costs.get(b, {}).get(a, Fraction(1))))

    flow = np.zeros((len(values), len(ways)))
    for at, (a, b) in enumerate(ways):
        flow[a, at] += 1
        flow[b, at] -= 1
    found = optimize.linprog([price(values[a], values[b]) for a, b in ways], A_eq=flow, b_eq=over)
    return min(1.0, float(found.fun))


def distance(model: Any, rows: Sequence[Row], table: Sequence[Row]) -> Fraction | float:
    p, q = having(rows), having(table)

    def moved(values: Collection[Value]) -> Fraction:
        return among(rows, values) - among(table, values)

    match model.distance.value:
        case "kl":
            return divergence(p, q)
        case "costs":
            return carried(p, q, model.costs)
        case "ordered":
            order: list[Value] = list(model.order)
            sides = [
                [moved(some) for some in events]
                for events in (
                    [order[: at + 1] for at in range(len(order) - 1)],
                    [order[at + 1 :] for at in range(len(order) - 1)],
                )
            ]
            return max(sum(map(abs, side), ZERO) for side in sides) / (len(order) - 1)
        case "hierarchical":  # two levels: tests/contract/pairs.py
            ((_, groups),) = model.tree.items()
            weights = [(leaves, Fraction(1, 2)) for leaves in groups.values()]
            weights += [(leaf, Fraction(1, 2)) for leaves in groups.values() for leaf in leaves]
            all_moved = [moved(some) * weight for some, weight in weights]
        case _:
            all_moved = [p.get(v, ZERO) - q[v] for v in q]
    gains, losses = sum((x for x in all_moved if x > 0), ZERO), -sum((x for x in all_moved if x < 0), ZERO)
    return min(Fraction(1), max(gains, losses))


def class_breaks(model: Any, rows: Sequence[Row], table: Sequence[Row]) -> bool | None:
    """Does one class break the promise? None: too close for a linear program to say."""
    size, p, q = len(people(rows)), having(rows), having(table)
    match model.name:
        case "k-anonymity":
            return bool(size < model.k)
        case "maximum-risk":
            return bool(Fraction(1, size) > model.at_most)
        case "alpha-k-anonymity":
            return size < model.k or any(one > model.alpha for one in p.values())
        case "confidence-bounding":
            return p.get("a", ZERO) > Fraction(9, 10)  # as tests/contract/pairs.py says it
        case "distinct-l-diversity":
            return bool(distinct(rows) < model.l)
        case "p-sensitive-k-anonymity":
            return bool(size < model.k or distinct(rows) < model.p)
        case "entropy-l-diversity":
            return -sum((one * ln(one) for one in one_each(rows)), ZERO) < ln(Fraction(model.l)) - NEARLY
        case "recursive-l-diversity":
            shares = one_each(rows)
            return not bool(shares[0] < model.c * sum(shares[model.l - 1 :], ZERO))
        case "t-closeness":
            far = distance(model, rows, table)
            if isinstance(far, float) and abs(far - float(model.t)) < ROUGHLY:
                return None
            return bool(far > model.t)
        case "beta-likeness":
            return any((p[v] - q[v]) / q[v] > model.beta for v in p)
        case "enhanced-beta-likeness":
            return any((p[v] - q[v]) / q[v] > min(model.beta, -ln(q[v])) for v in p if p[v] > q[v])
        case "delta-disclosure":
            return any(v not in p or abs(ln(p[v] / q[v])) >= model.delta for v in q)
        case "personalised-privacy":
            below = {"a": {"a"}, "x": {"a", "b"}, "y": {"c", "d"}, "any": {*"abcd"}}
            guards = {row.guard for row in rows if row.guard is not None}
            return any(among(rows, below[g]) > model.at_most for g in guards)
    raise TypeError(model)


def breaks(model: Any, rows: Sequence[Row], *, across: bool = False) -> bool | None:
    """Does a table break the promise?"""
    everybody = people(rows)
    smallest = {who: len(everybody) for who in everybody}
    for group in classes(rows):
        for who in people(group):
            smallest[who] = min(smallest[who], len(people(group)))
    match model.name:
        case "lkc-privacy":
            return lkc_breaks(model, rows, across=across)
        case "average-risk":
            return bool(
                sum((Fraction(1, n) for n in smallest.values()), ZERO) / len(everybody) > model.at_most
            )
        case "records-at-risk":
            found = [n for n in smallest.values() if Fraction(1, n) > model.above]
            return bool(Fraction(len(found), len(everybody)) > model.at_most)
        case "sample-uniqueness":
            return bool(Fraction(sum(n == 1 for n in smallest.values()), len(everybody)) > model.at_most)
        case "k-map":
            shown = [group for group in classes(rows) if any(row.study == "yes" for row in group)]
            return any(len(people(group)) < model.k for group in shown)
        case "delta-presence":
            present = {row.person for row in rows if row.study == "yes"}
            return any(
                share(group, lambda row: row.study == "yes") < model.low
                or share(group, lambda row: row.person in present) > model.high
                for group in classes(rows)
            )
    found_of = [class_breaks(model, group, rows) for group in classes(rows)]
    return True if True in found_of else None if None in found_of else False
