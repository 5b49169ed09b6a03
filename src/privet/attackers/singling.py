"""Singling out: a sentence that is true of exactly one person, written by somebody who has only the release.

Cohen and Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020. For every class the
attacker takes the rarest combination of what stands in its records; whether one person in the data fits it
is counted. Guessing: a sentence of the same weight, written without the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.scene import Ints, Scene, numbered, together
from privet.core import Role
from privet.evidence.values import TABLES
from privet.measure.linkage import linkage


class SinglingOut:
    """Who has the release writes a sentence that is true of one person only."""

    name: ClassVar[str] = "singling-out"
    assumes: ClassVar[str] = "has the release and nothing else"
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        table, policy = scene.target.shown, scene.target.policy
        told = [
            a.name
            for a in policy.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.OTHER)
            if a.name in table.rows
        ]
        if not told or not table.records:
            raise NotTriedError("the release has no column to write about")
        codes = {name: numbered(table.rows[name])[0] for name in told}
        whole = together(list(codes.values()), table.records)
        size = np.bincount(whole)
        first = np.unique(whole, return_index=True)[1]
        order = np.lexsort((size, table.group[first]))  # in each class, the rarest combination first
        rarest = order[np.r_[True, np.diff(table.group[first][order]) > 0]]
        isolates = size[rarest] == 1 if scene.rows is None else _fitting(scene, told, first[rarest]) == 1
        return [
            Outcome(
                attack=self.name,
                goal="a sentence that is true of one person only, for each class",
                tried=len(rarest),
                succeeded=int(isolates.sum()),
                baseline=_blind(codes, first[rarest], table.records),
                note=""
                if scene.rows is not None
                else "counted on the release itself; --raw counts it on the data",
            ).judge()
        ]


def _fitting(scene: Scene, told: Sequence[str], records: Ints) -> Ints:
    """How many people of the data each of these records may be of."""
    table, rows = scene.target.shown, scene.rows or {}
    translation = scene.target.translation
    names = [name for name in told if name in rows]
    if translation is None or not names:
        raise NotTriedError("the data has none of the columns of the release")
    some = {name: [table.rows[name][at] for at in records.tolist()] for name in names}
    plain = set(names) - set(table.quasi)

    def may(attribute: str, raw: str | None) -> frozenset[str | None]:
        return frozenset({raw}) if attribute in plain else translation(attribute, raw)

    found = linkage({name: rows[name] for name in names}, some, names, may, [])
    people = np.bincount(found.person, minlength=len(found.matches)).astype(np.float64)
    return (people @ found.matches)[found.record].astype(np.int64)


def _blind(codes: dict[str, Ints], records: Ints, n: int) -> float:
    """How often a sentence of such a weight w fits one of n people by itself: n w (1 - w)^(n - 1)."""
    weight = np.ones(len(records))
    for column in codes.values():
        weight *= np.bincount(column)[column[records]] / n
    return float(np.mean(n * weight * (1 - weight) ** (n - 1)))
