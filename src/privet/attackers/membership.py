"""Membership: was this person in the data that a noisy release was made from?

Homer et al., PLoS Genetics 2008; Shokri, Stronati, Song and Shmatikov, "Membership inference attacks against
machine learning models", S&P 2017. A coin decides whether a person who stands out is in the data; the
mechanism runs; the attacker, who knows everybody else, compares the count where the person would be with the
others who are there. Under differential privacy nobody is right more often than
exp(epsilon) / (1 + exp(epsilon)), whatever is known (Wasserman and Zhou 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.attackers.attack import Outcome
from privet.attackers.noisy import Game
from privet.attackers.opening import NOISE
from privet.attackers.scene import Scene

PEOPLE = 3
ROUNDS = 200  # for each of them, half to learn a threshold from and half to try it


class Membership:
    """Who knows everybody else says whether a person is in the data."""

    name: ClassVar[str] = "membership"
    assumes: ClassVar[str] = "knows the person's record and all other records, and the mechanism"
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (NOISE,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        game = Game.of(scene)
        rng = scene.rng()
        right = tried = 0
        for person in game.rarest(PEOPLE):
            inside = rng.random(ROUNDS) < 0.5
            score = self.scores(game, person, inside)
            half = ROUNDS // 2
            least = _threshold(score[:half], inside[:half])
            right += int(((score[half:] >= least) == inside[half:]).sum())
            tried += ROUNDS - half
        most = exp(game.epsilon) / (1 + exp(game.epsilon))
        return [
            Outcome(
                attack=self.name,
                goal="whether a person who stands out is in the data",
                tried=tried,
                succeeded=right,
                baseline=0.5,
                allowed=most,
                promise=f"differential-privacy, epsilon = {game.epsilon}",
                note=f"the mechanism ran {ROUNDS} times for each of the {PEOPLE} people who stand out most",
            ).judge()
        ]

    def scores(self, game: Game, person: int, inside: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What the noisy count at the person's place is above all others who are there, in each round."""
        missing = game.without(person)
        own = int(game.table.class_codes[person])
        found = []
        for here in inside.tolist():
            made = game.draw(game.table if here else missing)
            found.append(float(game.leaf(made, person)[own] - game.others(made, person)))
        return np.array(found)


def _threshold(score: NDArray[np.float64], inside: NDArray[np.bool_]) -> float:
    """The smallest count that tells best, on what was seen, that somebody is there."""
    choices = [*np.unique(score).tolist(), float(score.max()) + 1]
    return float(max(choices, key=lambda least: int(((score >= least) == inside).sum())))
