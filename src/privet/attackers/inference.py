"""Attribute inference against noisy counts: the class of a person, by the largest count where the person is.

What holds for everybody may be learnt, and should be. Differential privacy bounds what is learnt through the
person's own record: the attacker is right at most exp(epsilon) times as often as on data without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import ClassVar

import numpy as np

from privet.attackers import intervals
from privet.attackers.attack import Outcome
from privet.attackers.noisy import Game
from privet.attackers.opening import NOISE
from privet.attackers.scene import Scene

PEOPLE = 100


class Inference:
    """Who knows a person's other values names the class that the noisy counts make likeliest."""

    name: ClassVar[str] = "attribute-inference"
    assumes: ClassVar[str] = "knows all of a person's values but the one that is wanted, and the mechanism"
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (NOISE,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        game = Game.of(scene)
        people = game.rarest(min(PEOPLE, game.table.records))
        own = game.table.class_codes
        within = without = 0
        for person in people:
            within += int(game.leaf(game.draw(game.table), person).argmax() == own[person])
            without += int(game.leaf(game.draw(game.without(person)), person).argmax() == own[person])
        most = exp(game.epsilon) * intervals.at_most(without, len(people))
        return [
            Outcome(
                attack=self.name,
                goal=f"{game.table.target} of a person who stands out",
                tried=len(people),
                succeeded=within,
                baseline=float(np.bincount(own).max() / len(own)),
                allowed=min(1.0, most),
                promise=f"differential-privacy, epsilon = {game.epsilon}",
                note=f"without the person's own record {without} of {len(people)} are named",
            ).judge()
        ]
