"""What there is to see of a column: how its values look, and how often they occur."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from privet import hierarchy
from privet.core import Hierarchy

LOOKED_AT = 50_000  # different values of a column that are looked at; more would only take longer
FEW_RECORDS = 20  # in fewer, a column of different values says nothing
LABEL = 5  # words of a label that names a column; a longer one asks something
MANY_TEXTS = 200  # so many different texts are names of something
FLAGS = frozenset(
    (
        *("0", "1", "2", "y", "n", "yes", "no", "true", "false", "t", "f", "m", "w", "d", "male", "female"),
        *("j", "ja", "nein", "oui", "non", "si"),
    )
)


@dataclass(frozen=True)
class Seen:
    """What there is to see of a column."""

    name: str
    values: Sequence[str]  # the different ones, missing ones left out
    looked: Sequence[str]  # those that are looked at
    records: int  # that have a value
    blanks: int  # records that have none
    drafted: Hierarchy
    label: str = ""  # what statistics files call the column in full
    counted: Callable[[Sequence[str]], Mapping[str, int]] | None = None  # how often values stand there

    @property
    def constant(self) -> bool:
        """One value, and no blanks beside it that would say who has it."""
        return len(self.values) == 1 and not self.blanks and self.records > 1

    @property
    def dated(self) -> bool:
        return self.drafted.name == hierarchy.Dates.name

    @property
    def numeric(self) -> bool:
        return self.drafted.name == hierarchy.Intervals.name

    @property
    def texts(self) -> bool:
        """Neither numbers nor dates; numbers of one length may be codes, and are no texts."""
        return not self.numeric and not self.dated and not (self.coded and all(map(str.isdigit, self.looked)))

    @property
    def measured(self) -> bool:
        return self.numeric and any("." in value or "e" in value.lower() for value in self.looked)

    @property
    def sparse(self) -> bool:
        """Do most records have no value?"""
        return self.blanks > self.records

    @property
    def own_half(self) -> bool:
        """Has every second record with a value its own, or more of them?"""
        return len(self.values) * 2 >= self.records

    @property
    def coded(self) -> bool:
        """Codes whose beginnings say less, as those of places."""
        return self.drafted.name == hierarchy.Prefix.name

    @property
    def flag(self) -> bool:
        """A yes or no, which names nobody."""
        return len(self.values) <= 3 and all(value.strip().lower() in FLAGS for value in self.values)

    @property
    def many(self) -> str:
        return f"{len(self.values):,} different value{'' if len(self.values) == 1 else 's'}"

    @property
    def nearly_unique(self) -> bool:
        return self.records >= FEW_RECORDS and len(self.values) * 10 >= self.records * 9

    @property
    def various(self) -> bool:
        """Do many records have a value that few share?"""
        few = len(self.values) > FEW_RECORDS and len(self.values) * 10 > self.records
        return few or len(self.values) > MANY_TEXTS
