"""What was promised and what was found; and what was paid for it, where it was paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.evidence.part import Exact, Part, Standing, inside, part, stated, verified


@part
class Promise(Part):
    """A promise and what was found when it was checked."""

    model: Mapping[str, Any] = verified()  # as its table in the policy
    about: str | None = verified(default=None)  # of data with several parts: which of them
    holds: bool | None = verified()  # None: how it was made, which nobody can check
    checked: bool | None = verified(default=None)  # False: nobody can tell it from the release
    achieved: Mapping[str, Exact] = verified()
    broken: int = verified()  # groups that break it
    at_risk: int = verified()  # records in them
    checked_with: str | None = stated(default=None)  # whom it was checked on, if not on the release

    @property
    def shown(self) -> bool:
        """Does the release itself show whether it holds?"""
        return self.checked is not False

    @property
    def type(self) -> str:
        """The model's name."""
        return str(self.model.get("type"))

    def standing_of(self, name: str, road: str) -> Standing | None:
        """A promise that the release does not show is the steward's word; what a budget paid adds up."""
        if self.shown or road == "diffgen" or name == "checked":
            return super().standing_of(name, road)
        return Standing.STATED


@part
class Signer(Part):
    """Who was to sign the release when it was made."""

    name: str = verified()
    key: str = verified()  # public, in base 64


@part
class Payment(Part):
    """One payment out of a budget."""

    purpose: str = stated()
    mechanism: str = stated()
    epsilon: Exact = verified()  # they add up
    group: str | None = stated()  # payments of one group cost their largest


@part
class Paid(Part):
    """What a release with noise cost: no time in it, since how long a step took tells of the data."""

    release: str = stated()
    dataset: str = stated()
    noise: str = stated()  # whose samplers
    epsilon: Exact = verified()  # for one record
    records_per_person: int = stated()
    person_epsilon: Exact = verified()
    spent: Exact = verified()
    spends: tuple[Payment, ...] = inside()
