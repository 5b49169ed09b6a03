"""Several rows of one person: who knows values of somebody, from one row or from several, looks for them.

Or for what they have: the sensitive value that most of the persons who match have in any of their rows.

A class of many records may be few persons. The release does not say whose a record is, so only who has the
raw data, the steward, can carry this out: every set of values that somebody has is counted in persons, as
published. Where the policy says `across = true`, values from several of somebody's rows are counted too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice
from typing import ClassVar, TypeAlias

from privet.attackers import promised
from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.linkage import MOST, nearest
from privet.attackers.promised import Seen
from privet.attackers.scene import Scene
from privet.domain import Value
from privet.evidence.values import TABLES

Pair: TypeAlias = tuple[str, Value]  # a column, and a label in it
LARGEST = 2_000_000  # sets of pairs that are counted


class SeveralRows:
    """Who knows some values of a person counts the persons who have them too."""

    name: ClassVar[str] = "several-rows"
    assumes: ClassVar[str] = (
        "knows that a person is in the release, and any l of the quasi-identifying values of one of their "
        "rows; with across = true, of any of their rows"
    )
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        policy, rows = scene.target.policy, scene.rows or {}
        if policy.person is None or policy.person not in rows:
            raise NotTriedError("the policy counts rows as persons: no column says whose a row is")
        table = scene.target.shown
        names = list(table.quasi)
        every = _labelled(scene, names)
        left = set(zip(*([table.labels[n][code] for code in table.quasi[n]] for n in names), strict=True))
        there = [at for at, row in enumerate(every) if tuple(row.values()) in left]  # others were suppressed
        held, owners = [every[at] for at in there], [rows[policy.person][at] for at in there]
        secrets = {
            bag.attribute: [rows[bag.attribute][at] for at in there]
            for bag in table.bags
            if bag.attribute in rows
        }
        found = []
        for l in range(1, len(names) + 1):
            known = list(islice(combinations(names, l), MOST))
            by_row = [
                (at, frozenset((name, row[name]) for name in some))
                for at, row in enumerate(held)
                for some in islice(known, max(1, LARGEST // max(1, len(held))))
            ]
            found.append(_outcome(scene, ((owners[at], some) for at, some in by_row), f"{l} of one row", l))
            for name, column in secrets.items():
                having = [(owners[at], some, column[at]) for at, some in by_row]
                values = _held_by(owners, column)
                found.append(_learnt(scene, name, values, having, f"{l} of one row", whole=l == len(names)))
        if policy.across:
            everything: dict[Value, set[Pair]] = {}
            for who, row in zip(owners, held, strict=True):
                everything.setdefault(who, set()).update(row.items())
            most = max((m.linkage().l or 1 for m in policy.models if hasattr(m, "linkage")), default=1)
            for l in range(1, most + 1):
                sets = (
                    (who, frozenset(some))
                    for who, pairs in everything.items()
                    for some in combinations(sorted(pairs, key=repr), l)
                )
                counted = list(_bounded(sets))
                if not counted:  # nobody has so many different values
                    break
                found.append(_outcome(scene, counted, f"{l} of several rows", l))
                for name, column in secrets.items():
                    values = _held_by(owners, column)
                    having = [(who, some, value) for who, some in counted for value in values[who]]
                    found.append(_learnt(scene, name, values, having, f"{l} of several rows", whole=False))
        return found


def _held_by(owners: Sequence[Value], column: Sequence[Value]) -> dict[Value, set[Value]]:
    """The values that each person has in any row."""
    found: dict[Value, set[Value]] = {}
    for who, value in zip(owners, column, strict=True):
        found.setdefault(who, set()).add(value)
    return found


def _learnt(
    scene: Scene,
    attribute: str,
    held: Mapping[Value, set[Value]],
    having: Sequence[tuple[Value, frozenset[Pair], Value]],
    goal: str,
    *,
    whole: bool,
) -> Outcome:
    """The value that most persons have of those who match what is known; `having`: whose, known, value."""
    models = scene.target.policy.models
    everybody: Counter[Value] = Counter(value for values in held.values() for value in values)
    matching: dict[frozenset[Pair], set[Value]] = {}
    with_value: dict[frozenset[Pair], dict[Value, set[Value]]] = {}
    for who, known, value in having:
        matching.setdefault(known, set()).add(who)
        with_value.setdefault(known, {}).setdefault(value, set()).add(who)
    each, tried, right = [], 0, 0
    for known, people in matching.items():
        best = max(map(len, with_value[known].values()))
        tried, right = tried + len(people), right + best
        names = sorted({name for name, _ in known})
        for value, some in with_value[known].items():
            share = Fraction(everybody[value], len(held))
            seen = Seen(attribute, value, len(people), share, len(everybody), persons=True)
            bound = promised.attribute(models, seen, names, whole=whole)
            each.append((Fraction(len(some), len(people)), bound))
    worst, bound = nearest(each)
    return Outcome(
        attack=SeveralRows.name,
        goal=f"{attribute} of a person of whom {goal} is known",
        tried=tried,
        succeeded=right,
        baseline=max(everybody.values()) / len(held),
        worst=float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note="counted over everybody, in persons: a value in any of their rows that match",
    ).judge(beyond=bound is not None and bound.broken_by(worst))


def _labelled(scene: Scene, names: Sequence[str]) -> list[dict[str, Value]]:
    """Each row of the source as it was published."""
    target, rows = scene.target, scene.rows or {}
    if target.translation is None or not all(name in rows for name in names):
        raise NotTriedError("the raw data lacks a column of the release")
    columns = {}
    for name in names:
        label = {}
        for value in set(rows[name]):
            fits = [one for one in target.shown.labels[name] if one in target.translation(name, value)]
            if len(fits) > 1:
                raise NotTriedError(
                    "a value may be published in several ways: which row is which is not known"
                )
            label[value] = fits[0] if fits else None
        columns[name] = [label[value] for value in rows[name]]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _outcome(scene: Scene, sets: Iterable[tuple[Value, frozenset[Pair]]], goal: str, l: int) -> Outcome:
    having: dict[frozenset[Pair], set[Value]] = {}
    for who, known in _bounded(sets):
        having.setdefault(known, set()).add(who)
    models = scene.target.policy.models
    each = [
        (Fraction(1, len(people)), promised.identity(models, sorted({name for name, _ in known})[:l]))
        for known, people in having.items()
    ]
    worst, bound = nearest(each)
    everybody = len(set().union(*having.values()))
    return Outcome(
        attack=SeveralRows.name,
        goal=f"which person it is of whom {goal} is known",
        tried=sum(map(len, having.values())),  # everybody with every set that they have
        succeeded=len(having),  # who picks one of the persons with a set is right once for each
        baseline=1 / everybody,
        worst=float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note="counted over everybody, in persons",
    ).judge(beyond=bound is not None and bound.broken_by(worst))


def _bounded(sets: Iterable[tuple[Value, frozenset[Pair]]]) -> Iterator[tuple[Value, frozenset[Pair]]]:
    for at, one in enumerate(sets):
        if at == LARGEST:
            raise NotTriedError("there are too many sets of values to count one by one")
        yield one
