"""Presence: a table holds part of a population, and the attacker wants to know who is in it.

Nergiz, Atzori and Clifton, "Hiding the presence of individuals in shared databases", SIGMOD 2007; El Emam and
Dankar, "Protecting privacy using k-anonymity", JAMIA 2008 (k-map). The attacker has the whole population as a
register, and counts for every class how many people fit it and how many records it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.promised import Bound, tightest
from privet.attackers.scene import Ints, Scene, numbered
from privet.evidence.values import TABLES
from privet.measure.linkage import linkage
from privet.models.presence import DeltaPresence, KMap
from privet.roads.stations import settle
from privet.roads.tables.opened import rows_of


def _persons(fits: NDArray[np.bool_], whose: Ints) -> Ints:
    """How many persons have a row that fits each class."""
    each = [len(np.unique(whose[column])) for column in fits.T]
    return np.array(each, dtype=np.int64)


class Presence:
    """Who has a register of the population says who is in the release, and which record is whose."""

    name: ClassVar[str] = "presence"
    assumes: ClassVar[str] = "has a register of the whole population that the data is a part of"
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        target, table = scene.target, scene.target.shown
        if not target.only:
            raise NotTriedError("the release does not say that it is part of a population (publish_only)")
        if target.translation is None or not table.records:
            raise NotTriedError("there is no record to be found")
        names = list(table.quasi)
        ((subset, leaving),) = target.only.items()
        wanted = [*names, subset, *([] if target.policy.person is None else [target.policy.person])]
        source = scene.engine.read(scene.source, settle(scene.source, target.policy.form), wanted)
        people = rows_of(source, wanted)
        found = linkage(people, table.rows, names, target.translation, [])
        there = np.array([value in leaving for value in people[subset]])
        if target.policy.person is None:
            kinds = np.bincount(found.person, minlength=len(found.matches)).astype(np.float64)
            fitting = (kinds @ found.matches).astype(np.int64)  # people of each class
            records = np.bincount(found.record, minlength=len(fitting))
        else:
            whose = numbered(people[target.policy.person])[0]
            fits = found.matches[found.person]  # rows of the population x classes
            present = np.isin(whose, whose[there])  # who leaves with any row is in it
            fitting, records = _persons(fits, whose), _persons(fits & present[:, None], whose)
        chance = np.divide(records, fitting, out=np.zeros(len(fitting)), where=fitting > 0)
        mine = np.where(found.matches, chance, 0.0).max(axis=1, initial=0.0)[found.person]
        pairs = [(int(r), int(n)) for r, n in zip(records, fitting, strict=True) if n]
        share = float(there.mean())
        everybody = [m for m in target.everybody if isinstance(m, DeltaPresence)]
        high = tightest(Bound(m.high, m.name) if m.high < 1 else None for m in everybody)
        surest = max((Fraction(min(r, n), n) for r, n in pairs), default=Fraction(0))
        k = tightest(
            Bound(Fraction(1, m.k), m.name) for m in target.everybody if isinstance(m, KMap) and m.k > 1
        )
        nearest = max((Fraction(1, n) for _, n in pairs), default=Fraction(0))
        rng = scene.rng()
        member = np.flatnonzero(there)
        picked = (
            rng.random(len(member))
            < np.where(found.matches, 1 / np.maximum(fitting, 1), 0.0).max(axis=1)[found.person[member]]
        )
        return [
            Outcome(
                attack=self.name,
                goal="whether a person of the population is in the release",
                tried=len(there),
                succeeded=int(((mine > 0.5) == there).sum()),
                baseline=max(share, 1 - share),
                worst=float(surest),
                allowed=None if high is None else float(high.at_most),
                promise="" if high is None else high.promise,
            ).judge(beyond=high is not None and high.broken_by(surest)),
            Outcome(
                attack=self.name,
                goal="the person of the population whose record it is",
                tried=max(1, len(member)),
                succeeded=int(picked.sum()),
                baseline=1 / max(1, len(there)),
                worst=float(nearest),
                allowed=None if k is None else float(k.at_most),
                promise="" if k is None else k.promise,
            ).judge(beyond=k is not None and k.broken_by(nearest)),
        ]
