"""Differential privacy: what leaves depends little on any one record, whatever else is known.

Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from privet.core import PrivacyModel, Tally, Verdict
from privet.declared import settle
from privet.errors import PolicyError, UnsupportedError


@dataclass(frozen=True, slots=True)
class DifferentialPrivacy(PrivacyModel):
    """Every outcome is at most exp(`epsilon`) times as likely with a record as without it.

    Stops: learning much about a person from the release that would not be learnt without that person's
    record, whatever else is known; attacks that combine releases, as long as their epsilons are added up.
    Does not stop: learning what is true of everybody. It is kept by how a release is made, and paid for in
    a ledger; nobody can check it on the release.

    >>> DifferentialPrivacy(epsilon=Fraction(1, 2))
    DifferentialPrivacy(epsilon=Fraction(1, 2))
    """

    epsilon: Fraction

    name: ClassVar[str] = "differential-privacy"
    why_records: ClassVar[str] = (
        "noise covers as many rows of a person as records_per_person of the algorithm says; leave person out "
        "and set that"
    )
    monotone: ClassVar[bool] = False
    spent: ClassVar[bool] = True  # a property of how a release was made

    def __post_init__(self) -> None:
        given: object = self.epsilon
        if type(given) is int:  # as exact as a fraction
            object.__setattr__(self, "epsilon", Fraction(given))
        settle(self)
        if self.epsilon <= 0:
            raise PolicyError('epsilon: above 0, for example "1/2"; nothing can be published for nothing')

    def check(self, tally: Tally) -> Verdict:  # noqa: ARG002 - a model's form
        raise UnsupportedError(
            f"{self.name}: there is nothing to check on a table; it is about how a release is made"
        )

    def nearest(self, tally: Tally) -> Self:  # noqa: ARG002 - a model's form
        return self
