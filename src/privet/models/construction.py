"""No promise that could be checked: what a method did to every record, said plainly.

Perturbed and synthetic records look like anybody's; whether they protect anyone depends on how they were
made, not on what they look like. A policy that uses such a method says so with this entry, and the
evidence repeats what the method did, marked as not checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from privet.core import PrivacyModel, Tally, Verdict
from privet.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class ByConstruction(PrivacyModel):
    """The release is made as its algorithm says; nothing about it can be checked afterwards.

    Stops: nothing that could be proved from the release; the evidence says what was done.
    Does not stop: any attack for certain. Use a promise that can be checked wherever one fits.
    """

    name: ClassVar[str] = "by-construction"
    why_records: ClassVar[str] = (
        "it is about how each record was made; give each person one row, or use a promise about classes"
    )
    monotone: ClassVar[bool] = False
    spent: ClassVar[bool] = True  # a property of how a release was made

    def check(self, tally: Tally) -> Verdict:  # noqa: ARG002 - a model's form
        raise UnsupportedError(f"{self.name}: there is nothing to check; it is about how a release is made")

    def nearest(self, tally: Tally) -> Self:  # noqa: ARG002 - a model's form
        return self
