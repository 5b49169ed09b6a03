"""What a ledger holds: kinds of lines and what each says; a release and a balance, as people ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal

from privet.dp.spend import Spend
from privet.dp.zcdp import rho_of_epsilon

Currency = Literal["epsilon", "rho"]
State = Literal["reserved", "released", "booked"]

FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "budget": {"dataset": (str,), "currency": (str,), "amount": (str,), "reason": (str,)},
    "reserve": {
        "release": (str,),
        "dataset": (str,),
        "purpose": (str,),
        "epsilon": (str,),
        "per_person": (int,),
        "source": (str,),
    },
    "spend": {
        "release": (str,),
        "purpose": (str,),
        "mechanism": (str,),
        "epsilon": (str,),
        "group": (str, type(None)),
    },
    "release": {"release": (str,), "digest": (str,)},
    "book": {
        "release": (str,),
        "dataset": (str,),
        "purpose": (str,),
        "source": (str,),
        "mechanism": (str,),
        "epsilon": (str, type(None)),
        "rho": (str,),
        "per_person": (int,),
        "digest": (str, type(None)),
    },
    "data": {"dataset": (str,), "columns": (list,), "samples": (list,)},
    "distinct": {"dataset": (str,), "other": (str,), "reason": (str,)},
    "witness": {"file": (str,)},
    "upgrade": {"form": (int,), "lines": (int,)},
}


@dataclass(frozen=True)
class Entry:
    """One release as the ledger knows it."""

    release: str
    dataset: str
    purpose: str
    epsilon: Fraction | None  # for one record; None where a mechanism has no pure epsilon
    per_person: int  # how many records one person may have
    source: str  # where its noise comes from, name and version
    at: datetime
    state: State
    rho: Fraction  # for one record, in zero-concentrated differential privacy
    released_at: datetime | None = None
    digest: str | None = None  # of what left
    spends: tuple[Spend, ...] = ()

    @classmethod
    def reserved(cls, *, epsilon: Fraction, at: datetime, **said: Any) -> Entry:
        """A release that has its whole epsilon, and has spent nothing of it yet."""
        return cls(epsilon=epsilon, rho=rho_of_epsilon(epsilon), at=at, state="reserved", **said)

    @property
    def charged(self) -> Fraction | None:
        """What it took off a budget in epsilon: the budget is a person's."""
        return None if self.epsilon is None else self.epsilon * self.per_person

    @property
    def person_rho(self) -> Fraction:
        """What it took off a budget in rho, where a person's records count with their square."""
        return self.rho * self.per_person**2

    def price(self, currency: Currency) -> Fraction | None:
        return self.charged if currency == "epsilon" else self.person_rho


@dataclass(frozen=True)
class Balance:
    """One data set: its budget, what is gone and what is left, in the currency of its budget."""

    dataset: str
    currency: Currency
    budget: Fraction
    spent: Fraction
    epsilon: Fraction | None  # all that was spent in pure epsilon; None if something had no pure epsilon
    rho: Fraction  # the same in zero-concentrated differential privacy

    @property
    def left(self) -> Fraction:
        """Not below zero even if the budget was lowered after it was spent."""
        return max(Fraction(0), self.budget - self.spent)
