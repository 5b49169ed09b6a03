"""Averaging: the same counts with fresh noise, again and again, until the noise averages out.

Each release is worth its epsilon, and what they tell together is worth the sum. The attacker rounds the mean
of what all releases say of a cell; a mechanism that keeps its promise lets nobody be exact more often than
exp(e) / (1 + exp(e)), where e is the sum of the epsilons.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any, ClassVar

import numpy as np

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.noisy import Game, cells, true_cells
from privet.attackers.opening import NOISE
from privet.attackers.scene import Scene
from privet.dp.settings import epsilon_of

FEW = 10  # cells; of fewer nothing can be said


class Averaging:
    """Who has several noisy releases of the same data takes the mean of each count."""

    name: ClassVar[str] = "averaging"
    assumes: ClassVar[str] = (
        "has every noisy release of the same data that was made, or the one that there is"
    )
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (NOISE,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        game = Game.of(scene)
        targets = [target for target in scene.targets if target.kind == NOISE]
        counted = [cells(target) for target in targets]
        true = true_cells(scene.target, game.table, game.known)
        if len(targets) > 1 and any(
            set(true_cells(one, game.table, game.known)) != set(true) for one in targets[1:]
        ):
            raise NotTriedError("the releases do not have the same cells, so there is no mean to take")
        # An empty cell is often said to be empty, by what makes counts consistent: it would prove nothing.
        there = [cell for cell, count in true.items() if count > 0]
        if len(there) < FEW:
            raise NotTriedError(f"there are fewer than {FEW} cells with people in them")
        mean = np.array([np.mean([one.get(cell, 0) for one in counted]) for cell in there])
        single = np.array([counted[0].get(cell, 0) for cell in there])
        exact = np.array([true[cell] for cell in there])
        policies: list[Any] = [target.policy for target in targets]
        spent = sum(epsilon_of(policy) for policy in policies)
        return [
            Outcome(
                attack=self.name,
                goal=f"the exact count of a cell, from {len(targets)} noisy "
                + ("release" if len(targets) == 1 else "releases"),
                tried=len(there),
                succeeded=int((np.rint(mean) == exact).sum()),
                baseline=float((exact == np.bincount(exact).argmax()).mean()),
                allowed=1 / (1 + exp(-float(spent))),
                promise=f"differential-privacy, epsilon = {spent}",
                note=f"one release alone is exact in {int((single == exact).sum())} of {len(there)} cells; "
                f"the mean is off by {np.abs(mean - exact).mean():.2f} on average",
            ).judge()
        ]
