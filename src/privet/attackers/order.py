"""Order: records leave in the order in which they came, and whoever has the register reads everything off.

The attacker has the register in the source's order, goes through the release, and takes each record for the
next person whom its labels fit. Inside a class the promise leaves everybody alike, so the value that is read
off should be right as often as after a shuffle of the class, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import ClassVar

import numpy as np

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.scene import Bags, Ints, Scene, numbered
from privet.domain import Value
from privet.evidence.values import TABLES

ROWS = 20_000  # records that are gone through
ALARM = 6.0  # standard deviations: chance does not reach that


class Order:
    """Who has the register in its order takes each record for the next person whom it fits."""

    name: ClassVar[str] = "order"
    assumes: ClassVar[str] = "has the register of everybody in the data, in the order of the data"
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        if not scene.target.shown.bags or not scene.target.shown.records:
            raise NotTriedError("the release has no sensitive attribute to read off")
        people = seated(scene)
        return [_read_off(scene, bag, people) for bag in scene.target.shown.bags]


def seated(scene: Scene) -> Ints:
    """For each record the next person whom its labels fit; -1 from where nobody is left."""
    table, rows, translation = scene.target.shown, scene.rows or {}, scene.target.translation
    names = [name for name in table.quasi if name in rows]
    if translation is None or not names:
        raise NotTriedError("the release has no quasi-identifier that the register has")
    fits: dict[tuple[str, Value], frozenset[Value]] = {}

    def may(record: int, person: int) -> bool:
        for name in names:
            key = name, rows[name][person]
            if key not in fits:
                fits[key] = translation(*key)
            if table.rows[name][record] not in fits[key]:
                return False
        return True

    found = np.full(min(table.records, ROWS), -1, dtype=np.int64)
    person, everybody = 0, len(rows[names[0]])
    for record in range(len(found)):
        while person < everybody and not may(record, person):
            person += 1
        if person == everybody:
            break
        found[record] = person
        person += 1
    if (found < 0).any() and table.records == everybody:
        # The order is not kept as a whole; place by place, some of it may be.
        return np.arange(len(found))
    return found


def _read_off(scene: Scene, bag: Bags, people: Ints) -> Outcome:
    table, rows = scene.target.shown, scene.rows or {}
    taken = np.flatnonzero(people >= 0)
    if not len(taken):
        raise NotTriedError("the order of the records fits nobody")
    published = table.rows[bag.attribute]
    true = rows[bag.attribute]
    codes, _ = numbered(
        [*(published[at] for at in taken.tolist()), *(true[at] for at in people[taken].tolist())]
    )
    mine, theirs = codes[: len(taken)], codes[len(taken) :]
    hits = int((mine == theirs).sum())
    expected, variance = _shuffled(table.group[taken], mine, theirs)
    beyond = hits > expected + ALARM * sqrt(variance) and hits > expected + 1
    sorted_ = in_order(scene)
    # Whoever promises something of classes promises that their records cannot be told apart.
    bounded = any(not model.spent and not model.population for model in scene.target.promises)
    return Outcome(
        attack=Order.name,
        goal=f"{bag.attribute} of a person, by the place in the table",
        tried=len(taken),
        succeeded=hits,
        baseline=int(bag.table.max()) / bag.records,
        allowed=expected / len(taken) if bounded else None,
        promise="a shuffle of each class" if bounded else "",
        note="the table is sorted by what it publishes, so its order tells nothing"
        if sorted_
        else "the table is not sorted by what it publishes",
    ).judge(beyond=beyond and not sorted_)


def _shuffled(group: Ints, mine: Ints, theirs: Ints) -> tuple[float, float]:
    """How many agree by chance if each class is shuffled, and the variance of that number."""
    mean = variance = 0.0
    order = np.argsort(group, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        n = len(part)
        wide = int(max(mine[part].max(), theirs[part].max())) + 1
        a, b = np.bincount(mine[part], minlength=wide), np.bincount(theirs[part], minlength=wide)
        same = float((a * b).sum())
        mean += same / n
        if n > 1:  # of a random permutation: the variance of a sum over a 0-1 matrix (Hoeffding 1951)
            rows, columns = float((a * b**2).sum()), float((a**2 * b).sum())
            variance += (same - (rows + columns) / n + same**2 / n**2) / (n - 1)
    return mean, variance


def in_order(scene: Scene) -> bool:
    """Is the table sorted by its own labels, column by column, as numbers or as text?"""
    table = scene.target.shown
    ranks = []
    for name, column in table.rows.items():
        note = None if scene.target.evidence is None else scene.target.evidence.attributes.get(name)
        said = [] if note is None or note.values_ is None else [one.label for one in note.values_]
        ranks.append(_ranked(column, said))
    choices = [[rank[way] for rank in ranks] for way in range(3)]
    return any(_ascending(columns) for columns in choices)


def _ranked(column: Sequence[Value], said: Sequence[Value]) -> tuple[Ints, Ints, Ints]:
    """The rank of each text: as text; as a number where all are; as the evidence lists the labels."""
    codes, values = numbered(column)
    by_text = sorted(range(len(values)), key=lambda at: (values[at] is None, values[at] or ""))
    place = {label: at for at, label in enumerate(said)}
    by_leaf = sorted(by_text, key=lambda at: place.get(values[at], len(place)))

    def number(at: int) -> tuple[bool, float]:
        text = values[at]
        try:
            return (text is None, float(text or 0))
        except ValueError:
            return (True, 0.0)

    by_number = sorted(by_text, key=number)
    # Of the three orders, as many as are named.
    return tuple(np.argsort(ranks).astype(np.int64)[codes] for ranks in (by_text, by_number, by_leaf))  # type: ignore[return-value]


def _ascending(columns: Sequence[Ints]) -> bool:
    """Is each row at least the one before it, by the first column in which they differ?"""
    open_ = np.ones(max(0, len(columns[0]) - 1), dtype=bool) if columns else np.zeros(0, dtype=bool)
    for codes in columns:
        step = np.diff(codes)
        if (open_ & (step < 0)).any():
            return False
        open_ &= step == 0
    return True
