"""How DiffGen divides its epsilon: an itemised list that adds up, each item paid before its noise is drawn.

Half of epsilon pays for the search, in equal steps: one for the first split of each numerical column and
two for each of the h rounds. Half pays for the counts, and with it whatever the rounds did not use.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from privet.dp.noise import NoiseSource
from privet.dp.spend import Charge, Payer, Tab

LAPLACE, EXPONENTIAL = "discrete-laplace", "exponential"


class Account:
    """One release's epsilon. Every charge goes on its own tab, and to whoever pays in the end."""

    def __init__(self, epsilon: Fraction, payer: Payer | None = None) -> None:
        self._tab = Tab(epsilon)
        self._payer = payer

    @property
    def charges(self) -> tuple[Charge, ...]:
        return self._tab.charges

    @property
    def left(self) -> Fraction:
        return self._tab.left

    def spend(self, purpose: str, mechanism: str, epsilon: Fraction, *, disjoint: bool = False) -> None:
        """Pay first; the noise is drawn after this returns.

        `disjoint`: the one charge is for several mechanisms, no record being seen by two of them. It
        gets a group of its own, which marks it and adds up to the same. The group has the purpose in its
        name: several accounts may pay from one reservation.
        """
        number = len(self.charges) + 1
        group = f"{number}: disjoint parts of {purpose}" if disjoint else None
        charge = Charge(purpose, mechanism, epsilon, group)
        self._tab.spend(charge)
        if self._payer is not None:
            self._payer.spend(charge)


@dataclass(frozen=True, eq=False)
class Search:
    """What the search pays with and draws from: every step costs the same."""

    noise: NoiseSource
    account: Account
    step: Fraction
    temperature: Fraction  # of every choice
    mechanism: str = EXPONENTIAL  # by which splits are drawn

    def pay(self, purpose: str, mechanism: str | None = None, *, disjoint: bool = False) -> None:
        self.account.spend(purpose, mechanism or self.mechanism, self.step, disjoint=disjoint)


def step_epsilon(epsilon: Fraction, h: int, numerical: int) -> Fraction:
    """What each step of the search costs.

    >>> step_epsilon(Fraction(1), h=2, numerical=1)
    Fraction(1, 10)
    """
    return epsilon / (2 * (numerical + 2 * h))


class CountBudget(Enum):
    """What the counts are paid with."""

    LEFTOVER = "leftover"  # half of epsilon, and all that the search did not use
    FIXED = "fixed"  # half of epsilon, as the thesis prints it; the rest stays unspent
