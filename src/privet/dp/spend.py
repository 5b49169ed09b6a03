"""What differential privacy costs, in exact numbers: charges, how they add up, and a tab that has an end.

Two rules add up everything here. Mechanisms that see the same records cost the **sum** of their epsilons
(sequential composition). Mechanisms of which each sees records that no other sees cost the **largest** of
theirs (parallel composition); such charges carry the same group name. A group is only right if the parts are
disjoint and were laid out by public facts or earlier private outputs; that is for the algorithm to ensure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Protocol

from privet.errors import BudgetError


def checked(epsilon: object, what: str = "epsilon") -> Fraction:
    """A positive exact number. A float is refused: 0.1 + 0.2 must be 0.3 in a ledger."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Fraction | int):
        raise BudgetError(f"{what} is a whole number or a Fraction, never a float, as in Fraction(1, 10)")
    if epsilon <= 0:
        raise BudgetError(f"{what} is above 0")
    return Fraction(epsilon)


@dataclass(frozen=True)
class Charge:
    """One use of one mechanism: what for, by what, and what it costs."""

    purpose: str  # "first split of Age", "choose specialization 3"
    mechanism: str  # "exponential", "discrete-laplace", ...
    epsilon: Fraction
    group: str | None = None  # None adds up with everything; charges of one group cost their largest

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked(self.epsilon))
        if not self.purpose or not self.mechanism or self.group == "":
            raise BudgetError("a charge names its purpose, its mechanism, and its group or None")


@dataclass(frozen=True, kw_only=True)
class Spend(Charge):
    """A charge as it stands in a ledger."""

    number: int  # the order of writing
    at: datetime
    dataset: str
    release: str


def cost(charges: Iterable[Charge]) -> Fraction:
    """What charges cost together: ungrouped ones their sum, each group its largest."""
    alone = Fraction(0)
    groups: dict[str, Fraction] = {}
    for charge in charges:
        if charge.group is None:
            alone += charge.epsilon
        else:
            groups[charge.group] = max(charge.epsilon, groups.get(charge.group, Fraction(0)))
    return sum(groups.values(), alone)


class Running:
    """The same cost, charge by charge: a ledger of many lines is added up once, not once for each line.

    >>> running = Running()
    >>> for charge in (Charge("a", "m", Fraction(1), "g"), Charge("b", "m", Fraction(3), "g")):
    ...     running.add(charge)
    >>> running.total
    Fraction(3, 1)
    """

    def __init__(self) -> None:
        self.total = Fraction(0)
        self._groups: dict[str, Fraction] = {}

    def more(self, charge: Charge) -> Fraction:
        """What one more charge would add."""
        if charge.group is None:
            return charge.epsilon
        return max(Fraction(0), charge.epsilon - self._groups.get(charge.group, Fraction(0)))

    def add(self, charge: Charge) -> None:
        self.total += self.more(charge)
        if charge.group is not None:
            self._groups[charge.group] = max(charge.epsilon, self._groups.get(charge.group, Fraction(0)))


class Payer(Protocol):
    """Who pays for noise: an algorithm calls `spend` and only then asks its noise source."""

    @property
    def left(self) -> Fraction: ...
    def spend(self, *charges: Charge) -> None: ...


class Tab:
    """Charges against a fixed epsilon, in memory: for planning, for tests, and inside a reservation."""

    def __init__(self, epsilon: Fraction, charges: Iterable[Charge] = ()) -> None:
        self.epsilon = checked(epsilon)
        self._charges: list[Charge] = list(charges)

    @property
    def charges(self) -> tuple[Charge, ...]:
        return tuple(self._charges)

    @property
    def spent(self) -> Fraction:
        return cost(self._charges)

    @property
    def left(self) -> Fraction:
        return self.epsilon - self.spent

    def spend(self, *charges: Charge) -> None:
        """All of them or none; refuses what does not fit."""
        after = cost((*self._charges, *charges))
        if after > self.epsilon:
            raise overdraft("this release", after - self.spent, self.left, self.epsilon)
        self._charges.extend(charges)


def overdraft(
    who: str, asked: Fraction, left: Fraction, budget: Fraction, currency: str = "epsilon"
) -> BudgetError:
    """The refusal, with the amounts."""
    return BudgetError(
        f"{who}: {currency} {asked} was asked for, and {left} of {budget} is left; nothing was drawn. "
        f"Ask for at most {left}, or do without",
        asked=asked,
        left=left,
    )
