"""Composition: what a person may have in one release, and may have in another, leaves little in common.

Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008.
Each release alone keeps its promise; the attacker looks a person up in all and keeps what all allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.linkage import KINDS
from privet.attackers.people import beliefs, truth
from privet.attackers.scene import Scene


class Composition:
    """Who has several releases of the same people keeps the values that all of them allow."""

    name: ClassVar[str] = "composition"
    assumes: ClassVar[str] = (
        "knows a person's quasi-identifying values, and that all the releases hold the person"
    )
    needs: ClassVar[tuple[str, ...]] = ("several", "raw")
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def run(self, scene: Scene) -> Sequence[Outcome]:
        if scene.rows is None or any(target.kind not in KINDS for target in scene.targets):
            raise NotTriedError("it is about tables with classes or buckets; noisy ones are averaged instead")
        common = [
            bag.attribute
            for bag in scene.target.shown.bags
            if all(other.shown.bag(bag.attribute) is not None for other in scene.targets)
        ]
        if not common:
            raise NotTriedError("the releases have no sensitive attribute in common")
        return [_crossed(scene, name) for name in common]


def _crossed(scene: Scene, attribute: str) -> Outcome:
    if scene.rows is None:
        raise NotTriedError("it needs the raw data")
    each = [beliefs(target, scene.rows, attribute) for target in scene.targets]
    values = list(dict.fromkeys(value for one in each for value in one.values))
    column = scene.rows[attribute]
    true = truth(values, column)
    prior = np.bincount(true[true >= 0], minlength=len(values)) / max(1, len(true))
    posterior = np.ones((len(column), len(values)))
    singly = []
    for one in each:
        wide = np.zeros((len(one.shares), len(values)))
        wide[:, [values.index(value) for value in one.values]] = one.shares
        mine = wide[one.person]
        found = mine.sum(axis=1) > 0
        singly.append(float((mine[found].argmax(axis=1) == true[found]).sum()) / len(column))
        # Bayes, as if releases were independent given the value; a person whom one does not hold stays open.
        ratio = np.divide(mine, prior, out=np.zeros_like(mine), where=prior > 0)
        posterior = np.where(found[:, None], posterior * ratio, posterior)
    posterior *= prior
    total = posterior.sum(axis=1, keepdims=True)
    posterior = np.divide(posterior, total, out=np.zeros_like(posterior), where=total > 0)
    certain = (posterior > 0).sum(axis=1) == 1
    right = posterior.argmax(axis=1) == true
    return Outcome(
        attack=Composition.name,
        goal=f"{attribute} of a person who is in {len(scene.targets)} releases",
        tried=len(column),
        succeeded=int((right & total[:, 0].astype(bool)).sum()),
        baseline=float(prior.max()),
        worst=float(posterior.max()),
        note=f"{int(np.sum(certain))} people have one value left; the best single release names "
        f"{max(singly):.1%}",
    ).judge()
