"""Downcoding: ranges that follow the data end at somebody's value, so the ends give values away.

Cohen, "Attacks on deidentification's defenses", USENIX Security 2022: generalising as little as possible
can be undone. Here the attacker says of every range in every class that somebody in the class has the value
at its low end, and somebody the last value below its high end; guessing would be any value between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.scene import Scene
from privet.domain import Value
from privet.evidence.values import TABLES
from privet.hierarchy.numbers import decimal, read
from privet.measure.linkage import linkage

FEW = 20  # ends: below that nothing can be said
PEOPLE = 20_000


class Downcoding:
    """Who knows that ranges are drawn tightly names the values at their ends."""

    name: ClassVar[str] = "downcoding"
    assumes: ClassVar[str] = "knows that the ranges were made to fit the data, and reads their ends as values"
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        ends = list(tried(scene))
        if len(ends) < FEW:
            raise NotTriedError("there are fewer than twenty ends of ranges to try")
        right = sum(hit for hit, _ in ends)
        chance = float(np.mean([share for _, share in ends]))
        return [
            Outcome(
                attack=self.name,
                goal="that somebody in a class has the value at the end of its range",
                tried=len(ends),
                succeeded=int(right),
                baseline=chance,
                note="guessing names any value inside the range instead",
            ).judge()
        ]


def tried(scene: Scene) -> Iterator[tuple[bool, float]]:
    """For each end of each range of each class: does somebody have it, and is any value inside as good?"""
    target, table, rows = scene.target, scene.target.shown, scene.rows or {}
    names = [name for name in table.quasi if name in rows]
    if target.translation is None or not names or target.evidence is None:
        raise NotTriedError("the release has no ranges")
    few = {name: rows[name][:PEOPLE] for name in names}
    found = linkage(few, table.rows, names, target.translation, [])
    first = {tuple(table.rows[name][at] for name in names): at for at in range(table.records)}
    kinds: dict[int, tuple[Value, ...]] = {int(found.record[at]): labels for labels, at in first.items()}
    for name in names:
        ranges = edges(target.evidence.attributes[name].values_ or ())
        numbers = [None if value is None else read(value) for value in few[name]]
        if not ranges or all(number is None for number in numbers):
            continue
        values = np.array([np.nan if number is None else float(number) for number in numbers])
        labels = {kind: texts[names.index(name)] for kind, texts in kinds.items()}
        told = {kind: ranges[label] for kind, label in labels.items() if label in ranges}
        yield from _of_column(found.person, found.matches, values, told)


def edges(values: Sequence[object]) -> dict[Value, tuple[float, float]]:
    """The ends of each label that is a range, as the evidence tells them."""
    found: dict[Value, tuple[float, float]] = {}
    for one in values:
        note: Mapping[str, object] = one  # type: ignore[assignment] # evidence is typed as it is read
        interval, label = note.get("interval"), note.get("label")
        if isinstance(interval, (list, tuple)) and len(interval) == 2:
            low, high = (float(decimal(str(end))) for end in interval)
            found[label] = (low, high)  # type: ignore[index] # labels of intervals are text
    return found


def _of_column(
    person: NDArray[np.intp],
    matches: NDArray[np.bool_],
    values: NDArray[np.float64],
    ranges: Mapping[int, tuple[float, float]],
) -> Iterator[tuple[bool, float]]:
    every = np.unique(values[~np.isnan(values)])
    if len(every) < 2:
        return
    unit = float(np.diff(every).min())  # what everybody knows: ages are whole years
    for kind, (low, high) in ranges.items():
        mine = np.unique(values[matches[person, kind]])
        mine = mine[~np.isnan(mine)]
        many = round((high - low) / unit)
        if many < 3 or not len(mine):  # a range of two values gives nothing away by its ends
            continue
        chance = min(1.0, len(mine) / many)
        for end in (low, high - unit):
            yield bool(np.isclose(mine, end, rtol=0, atol=unit / 4).any()), chance
