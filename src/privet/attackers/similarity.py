"""Similarity: the values of a class differ and yet all say the same, such as salaries within a narrow range.

Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007. Numbers within a tenth of the table's whole range
are alike; where a promise brings a tree over the values, those under one child of its root are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.attackers import promised
from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.linkage import KINDS, nearest
from privet.attackers.promised import Bound
from privet.attackers.scene import Bags, Scene
from privet.core import PrivacyModel
from privet.hierarchy.numbers import read
from privet.hierarchy.tree import Tree

ALIKE = 10  # the range of all numbers is so many times as wide as one in which they are alike


class Similarity:
    """Who knows a person's class names a narrow range, or a branch, that most of its values fall in."""

    name: ClassVar[str] = "similarity"
    assumes: ClassVar[str] = "knows a person's class, and which values mean much the same"
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def run(self, scene: Scene) -> Sequence[Outcome]:
        found = [
            _narrowed(scene, bag, sets)
            for bag in scene.target.shown.bags
            if (sets := alike(bag, scene.target.policy.models)) is not None
        ]
        if not found:
            raise NotTriedError("no sensitive attribute has numbers, or a tree in a promise")
        return found


def alike(bag: Bags, models: Sequence[PrivacyModel]) -> list[NDArray[np.bool_]] | None:
    """Sets of values that mean much the same, as masks over the values."""
    trees: list[Any] = [m.taxonomy for m in models if bag.attribute in _spoken_of(m)]
    for tree in trees:
        if isinstance(tree, Tree):
            return [np.array([value in branch for value in bag.values]) for branch in _branches(tree)]
    numbers = [None if value is None else read(value) for value in bag.values]
    if any(number is None for number in numbers) or len(set(numbers)) < ALIKE:
        return None
    known = np.array([float(number) for number in numbers if number is not None])
    wide = (known.max() - known.min()) / ALIKE
    return [(known >= low) & (known <= low + wide) for low in np.unique(known).tolist()]


def _spoken_of(model: PrivacyModel) -> tuple[str, ...]:
    return tuple(name for _, name in model.protects())


def _branches(tree: Tree) -> Iterator[set[Any]]:
    domain = tree.domain(tree.leaves)
    for child in domain.root.children:
        yield {domain.values[code] for code in range(child.lo, child.hi)}


def _narrowed(scene: Scene, bag: Bags, sets: Sequence[NDArray[np.bool_]]) -> Outcome:
    models = scene.target.promises
    most = np.zeros(len(bag.size), dtype=np.int64)
    each: list[tuple[Fraction, Bound | None]] = []
    different = len(np.flatnonzero(bag.table))
    for mask in sets:
        inside = np.bincount(bag.owner, weights=bag.count * mask[bag.value], minlength=len(bag.size))
        most = np.maximum(most, inside.astype(np.int64))
        whole = Fraction(int(bag.table[mask].sum()), bag.records)
        bound = promised.of_set(models, bag.attribute, whole, different)
        pairs = np.unique(np.stack([inside.astype(np.int64), bag.size]), axis=1).T.tolist()
        each += [(Fraction(many, of), bound) for many, of in pairs if many]
    worst, bound = nearest(each)
    return Outcome(
        attack=Similarity.name,
        goal=f"a narrow range or branch that holds a person's {bag.attribute}",
        tried=bag.records,
        succeeded=int(most.sum()),
        baseline=max(float(bag.table[mask].sum()) for mask in sets) / bag.records,
        worst=float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note=f"{int(bag.size[most == bag.size].sum())} people are in a class that falls into one whole",
    ).judge(beyond=bound is not None and bound.broken_by(worst))
