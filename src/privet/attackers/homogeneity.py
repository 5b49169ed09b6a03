"""Homogeneity: everybody in a class has the same value, so nobody's record need be found.

Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam, "l-diversity", ICDE 2006. The attacker names the most
frequent value of a person's class, or bucket; where it is the only one, that is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.attackers.attack import Outcome, sensitive_bags
from privet.attackers.linkage import KINDS, confidences, nearest
from privet.attackers.scene import Bags, Scene
from privet.models.personal import PersonalisedPrivacy


class Homogeneity:
    """Who knows a person's class names its most frequent sensitive value."""

    name: ClassVar[str] = "homogeneity"
    assumes: ClassVar[str] = "knows that a person is in the release, and in which class or bucket"
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def run(self, scene: Scene) -> Sequence[Outcome]:
        bags = sensitive_bags(scene)
        guards = [m for m in scene.target.promises if isinstance(m, PersonalisedPrivacy)]
        guarded = [_guarded(scene, model) for model in guards]
        return [*(_named(scene, bag) for bag in bags), *(one for one in guarded if one is not None)]


def _named(scene: Scene, bag: Bags) -> Outcome:
    models, names = scene.target.promises, list(scene.target.shown.quasi)
    most = np.zeros(len(bag.size), dtype=np.int64)
    np.maximum.at(most, bag.owner, bag.count)
    each = list(confidences(models, (bag.owner, bag.value, bag.count), names, bag, bag.values, whole=True))
    worst, bound = nearest(each)
    alone = int(bag.size[bag.distinct == 1].sum())
    return Outcome(
        attack=Homogeneity.name,
        goal=f"{bag.attribute} of a person whose class is known",
        tried=bag.records,
        succeeded=int(most.sum()),
        baseline=int(bag.table.max()) / bag.records,
        worst=float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note=f"{alone} people are in a class with one value only",
    ).judge(beyond=bound is not None and bound.broken_by(worst))


def _guarded(scene: Scene, model: PersonalisedPrivacy) -> Outcome | None:
    """That a person's value is below the node that the person named: what everybody guards for themselves."""
    values, guards = scene.target.shown.bag(model.sensitive[0]), scene.target.shown.bag(model.guard)
    if values is None or guards is None:
        return None
    domain = model.taxonomy.domain(model.taxonomy.leaves)
    below = {node.label: set(domain.values[node.lo : node.hi]) for node in domain.root.walk()}
    tried = succeeded = 0
    worst = baseline = Fraction(0)
    for guard, label in enumerate(guards.values):
        if label is None:  # nothing to hide
            continue
        mask = np.array([value in below.get(label, set()) for value in values.values])
        inside = np.bincount(
            values.owner, weights=values.count * mask[values.value], minlength=len(values.size)
        )
        share = Fraction(int(values.table[mask].sum()), values.records)
        for at in np.flatnonzero(guards.value == guard).tolist():
            owner, people = int(guards.owner[at]), int(guards.count[at])
            chance = Fraction(int(inside[owner]), int(values.size[owner]))
            worst = max(worst, chance)
            tried += people
            succeeded += people if chance > Fraction(1, 2) else 0
            baseline += share * people
    if not tried:
        return None
    return Outcome(
        attack=Homogeneity.name,
        goal=f"that {model.sensitive[0]} of a person is below the node that the person guards",
        tried=tried,
        succeeded=succeeded,
        baseline=float(baseline / tried),
        worst=float(worst),
        allowed=float(model.at_most),
        promise=model.name,
        note="success is a class in which it is likelier than not",
    ).judge(beyond=worst > model.at_most)
