"""Skewness: a value that is rare elsewhere is common in a class, so its people are suspected of it.

Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007. The attacker suspects everybody in a class of the
value that is most over-represented there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.attackers import promised
from privet.attackers.attack import Outcome, sensitive_bags
from privet.attackers.linkage import KINDS, nearest
from privet.attackers.promised import Bound, Seen
from privet.attackers.scene import Bags, Scene
from privet.models.disclosure import DeltaDisclosure
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.tcloseness import TCloseness

AGAINST = (
    TCloseness,
    BetaLikeness,
    EnhancedBetaLikeness,
    DeltaDisclosure,
)  # promises about what a class adds


class Skewness:
    """Who knows a person's class suspects the value that is more frequent there than elsewhere."""

    name: ClassVar[str] = "skewness"
    assumes: ClassVar[str] = "knows a person's class, and how frequent each value is in the whole table"
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def run(self, scene: Scene) -> Sequence[Outcome]:
        return [_suspected(scene, bag) for bag in sensitive_bags(scene)]


def _suspected(scene: Scene, bag: Bags) -> Outcome:
    models = [model for model in scene.target.promises if isinstance(model, AGAINST)]
    share = bag.count / bag.size[bag.owner]
    lift = share / (bag.table[bag.value] / bag.records)
    order = np.lexsort((-lift, bag.owner))
    first = order[np.r_[True, np.diff(bag.owner[order]) > 0]]  # the most over-represented of each class
    each: list[tuple[Fraction, Bound | None]] = []
    different = len(np.flatnonzero(bag.table))
    for at in range(len(bag.owner)):
        size, value = int(bag.size[bag.owner[at]]), int(bag.value[at])
        seen = Seen(
            bag.attribute, bag.values[value], size, Fraction(int(bag.table[value]), bag.records), different
        )
        bound = promised.attribute(models, seen, list(scene.target.shown.quasi), whole=True)
        each.append((Fraction(int(bag.count[at]), size), bound))
    worst, bound = nearest(each)
    top = int(first[np.argmax(lift[first])])
    return Outcome(
        attack=Skewness.name,
        goal=f"{bag.attribute} of a person, by what is over-represented in the class",
        tried=bag.records,
        succeeded=int(bag.count[first].sum()),
        baseline=float((bag.size[bag.owner[first]] * bag.table[bag.value[first]]).sum() / bag.records**2),
        worst=float(share[top]) if bound is None else float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note=f"in one class a value is {lift[top]:.3g} times as frequent as in the table",
    ).judge(beyond=bound is not None and bound.broken_by(worst))
