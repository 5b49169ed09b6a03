"""Register: a public list of people, each looked up in the release by all that the list says of them.

Sweeney found the governor of Massachusetts by a voter list ("Simple demographics often identify people
uniquely", 2000). Who is on the list need not be in the data, which only makes it harder for the attacker.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.attackers import promised
from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.linkage import KINDS
from privet.attackers.people import beliefs
from privet.attackers.scene import Scene
from privet.measure.linkage import linkage


class Register:
    """Who has a list of people looks everybody up, by every column that list and release share."""

    name: ClassVar[str] = "register"
    assumes: ClassVar[str] = (
        "has a list of people with quasi-identifying values, and knows who is in the data"
    )
    needs: ClassVar[tuple[str, ...]] = ("known",)
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def run(self, scene: Scene) -> Sequence[Outcome]:
        table, people = scene.target.shown, scene.known or {}
        on = [name for name in table.quasi if name in people]
        translation = scene.target.translation
        if not on or translation is None or not table.records:
            raise NotTriedError("the list has none of the quasi-identifiers as a column")
        found = linkage(people, table.rows, on, translation, [])
        records = np.bincount(found.record, minlength=found.matches.shape[1]).astype(np.float64)
        candidates = (found.matches @ records).astype(np.int64)[found.person]
        some = candidates[candidates > 0]
        if not len(some):
            raise NotTriedError("nobody on the list fits any record")
        # In buckets a record is found as easily as before, and no promise about buckets says otherwise.
        bound = None if table.bucketed else promised.identity(scene.target.promises, on)
        worst = Fraction(1, int(some.min()))
        right = scene.rng().random(len(some)) < 1 / some
        identified = Outcome(
            attack=self.name,
            goal=f"the record of a person on the list, by {len(on)} columns",
            tried=len(some),
            succeeded=int(right.sum()),
            baseline=1 / table.records,
            worst=float(worst),
            allowed=None if bound is None else float(bound.at_most),
            promise="" if bound is None else bound.promise,
            note=f"{len(candidates) - len(some)} of {len(candidates)} on the list fit no record",
        ).judge(beyond=bound is not None and bound.broken_by(worst))
        return [identified, *(self._found_out(scene, bag.attribute) for bag in table.bags)]

    def _found_out(self, scene: Scene, attribute: str) -> Outcome:
        """Everybody who fits records that all have one value is found out without being found."""
        known = beliefs(scene.target, scene.known or {}, attribute)
        shares = known.shares[known.person]
        there = shares[shares.sum(axis=1) > 0]
        bag = scene.target.shown.bag(attribute)
        certain = int((there.max(axis=1, initial=0.0) >= 1).sum())
        return Outcome(
            attack=self.name,
            goal=f"{attribute} of a person on the list, for certain",
            tried=max(1, len(there)),
            succeeded=certain,
            baseline=0.0 if bag is None or len(bag.values) > 1 else 1.0,
            worst=float(there.max(initial=0.0)),
            note="what the promise allows of it, homogeneity and linkage say",
        ).judge()
