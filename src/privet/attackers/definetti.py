"""deFinetti: the release itself teaches which values go together, and that tells who has what in a bucket.

Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009. A naive Bayes classifier is learnt from the
buckets, starting from the shares that they show, and used on them again: values are dealt to the people of a
bucket by how well they fit, such that each is dealt as often as the bucket holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.opening import BUCKETS
from privet.attackers.scene import Bags, Scene, Table, together

ROUNDS = 30
BALANCE = 10  # how often rows and columns are scaled to their sums
ROOM = 40_000_000  # numbers in memory


class DeFinetti:
    """Who learns a classifier from the buckets knows more about their people than the buckets' shares."""

    name: ClassVar[str] = "definetti"
    assumes: ClassVar[str] = (
        "knows everybody's quasi-identifying values, which a release in buckets publishes"
    )
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (BUCKETS,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        table = scene.target.shown
        (bag,) = table.bags
        if scene.rows is None or table.records * len(bag.values) > ROOM:
            raise NotTriedError("the release is too large for it")
        if not table.quasi or not table.records:
            raise NotTriedError("there is no quasi-identifier to learn from")
        dealt = learnt(table, bag)
        return [_judged(scene, table, bag, dealt, scene.rows[bag.attribute])]


def learnt(table: Table, bag: Bags) -> NDArray[np.float64]:
    """For each record of the release, how likely each value is."""
    held = np.zeros((len(bag.size), len(bag.values)))
    held[bag.owner, bag.value] = bag.count
    weights = held[table.group] / bag.size[table.group][:, None]
    for _ in range(ROUNDS):
        score = np.zeros_like(weights)
        for codes in table.quasi.values():
            wide = int(codes.max()) + 1
            seen = np.ones((wide, len(bag.values)))  # Laplace's: nothing is impossible
            np.add.at(seen, codes, weights)
            score += np.log(seen / seen.sum(axis=0))[codes]
        score -= score.max(axis=1, keepdims=True)
        weights = _balanced(np.exp(score) * (held[table.group] > 0), table.group, held)
    return weights


def _balanced(
    fit: NDArray[np.float64], group: NDArray[np.int64], held: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Every record has one value, and every bucket as many of each as it says."""
    fit = np.maximum(fit, 1e-12 * (held[group] > 0))
    for _ in range(BALANCE):
        there = np.zeros_like(held)
        np.add.at(there, group, fit)
        scale = np.divide(held, there, out=np.zeros_like(held), where=there > 0)
        fit = fit * scale[group]
        fit = fit / np.maximum(fit.sum(axis=1, keepdims=True), 1e-300)
    return fit


def _judged(
    scene: Scene, table: Table, bag: Bags, dealt: NDArray[np.float64], column: Sequence[object]
) -> Outcome:
    rows = scene.rows or {}
    names = list(table.quasi)
    # People who read alike share their records: what is known of one is the mean over these.
    both = [[*table.rows[name], *rows[name]] for name in names]
    number = [np.unique([str((v is None, v)) for v in one], return_inverse=True)[1] for one in both]
    kind = together([one.astype(np.int64) for one in number], len(both[0]))
    records, people = kind[: table.records], kind[table.records :]
    mean = np.zeros((int(kind.max()) + 1, len(bag.values)))
    np.add.at(mean, records, dealt)
    flat = np.zeros_like(mean)
    held = np.zeros((len(bag.size), len(bag.values)))
    held[bag.owner, bag.value] = bag.count / bag.size[bag.owner]
    np.add.at(flat, records, held[table.group])
    at = {value: code for code, value in enumerate(bag.values)}
    true = np.array([at.get(value, -1) for value in column])  # type: ignore[call-overload] # a value is text or null, and only texts are keys
    right = mean[people].argmax(axis=1) == true
    shown = (flat[people].argmax(axis=1) == true).mean()
    return Outcome(
        attack=DeFinetti.name,
        goal=f"{bag.attribute} of a person, by what the release teaches",
        tried=len(true),
        succeeded=int(right.sum()),
        baseline=int(bag.table.max()) / bag.records,
        worst=float(dealt.max()),
        note=f"the buckets' shares alone name {shown:.1%}",
    ).judge()
