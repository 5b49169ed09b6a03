"""A question to a virtual database: conditions on columns, all of which must hold.

    age = 55            age between 50 and 56            age >= 50            disease in Flu, Cancer

Quasi-identifiers are published as ranges. A row matches where its range and the condition have a value in
common (it *could* be meant); with `certain` only where every value of its range fulfils the condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from privet import equality
from privet.errors import InputError, one_of
from privet.parties.primitives.extremes import Ints, Mask
from privet.parties.virtual.contract import DatabaseContract, Guard

FORM = "COLUMN = VALUE, COLUMN between LOW and HIGH, COLUMN <= VALUE, COLUMN >= VALUE or COLUMN in A, B"
CONDITION = re.compile(
    r"\s*(?P<column>.+?)\s*(?P<word>=|<=|>=|\bbetween\b|\bin\b)\s*(?P<rest>.+?)\s*", re.DOTALL
)
MOST = 100  # conditions

Spans = tuple[tuple[int, int], ...]  # codes that fulfil a condition, as ranges with both ends in them


@dataclass(frozen=True)
class Question:
    """By column which codes are asked for; a column that is not named may have any."""

    where: Mapping[str, Spans] = field(default_factory=dict, repr=False)  # it may name a person's values
    certain: bool = False

    def to_document(self) -> dict[str, Any]:
        return {
            "where": {name: [list(span) for span in spans] for name, spans in self.where.items()},
            "certain": self.certain,
        }

    @classmethod
    def from_document(cls, said: Any, contract: DatabaseContract) -> Self:
        """A question as another node sends it; whatever is not of the contract's columns is refused."""
        try:
            where = {
                name: tuple((_whole(low), _whole(high)) for low, high in spans)
                for name, spans in said["where"].items()
            }
            found = cls(where, said["certain"] is True)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError("this is not a question") from None
        for name, spans in found.where.items():
            if name not in contract.domains or len(spans) > MOST:
                raise InputError("a question names a column that the contract does not have")
            if any(not 0 <= low <= high < len(contract.domains[name].values) for low, high in spans):
                raise InputError("a question names values that the contract does not have")
        return found

    @classmethod
    def parsed(cls, conditions: Sequence[str], contract: DatabaseContract, *, certain: bool = False) -> Self:
        """From how people write conditions; every complaint at once."""
        if len(conditions) > MOST:
            raise InputError(f"a question has at most {MOST} conditions")
        complaints: list[str] = []
        where: dict[str, Spans] = {}
        for number, text in enumerate(conditions, 1):
            place = f"condition {number}"
            match = CONDITION.fullmatch(text)
            if match is None:
                complaints.append(f"{place}: {FORM}")
                continue
            column = equality.name(match["column"])
            if column not in contract.domains:
                complaints.append(one_of(f"{place}: the column", list(contract.domains), column))
                continue
            spans = _spans(match["word"], match["rest"], column, contract)
            if spans is None:
                complaints.append(
                    f"{place}: {column}: a value that the contract does not list, or a range that is empty"
                )
                continue
            where[column] = _both(where[column], spans) if column in where else spans
        if complaints:
            raise InputError(*complaints)
        return cls(where, certain)

    def names_sensitive(self, contract: DatabaseContract) -> bool:
        return any(name in contract.sensitive for name in self.where)

    def refuse(self, contract: DatabaseContract) -> None:
        """Refuse what the contract's guard does not let through."""
        if contract.guard is Guard.REFUSE and self.names_sensitive(contract):
            raise InputError('a question names a sensitive column, and the contract says guard = "refuse"')

    def boxes(self, low: Ints, high: Ints, contract: DatabaseContract) -> Mask:
        """Which boxes match."""
        found = np.ones(len(low), dtype=bool)
        for at, name in enumerate(contract.quasi):
            if name in self.where:
                held = np.concatenate([[0], np.cumsum(self._codes(name, contract))])
                inside = held[high[:, at] + 1] - held[low[:, at]]
                found &= inside == high[:, at] - low[:, at] + 1 if self.certain else inside > 0
        return found

    def rows(self, sensitive: Ints, contract: DatabaseContract) -> Mask:
        """Which rows match in their sensitive columns."""
        found = np.ones(len(sensitive), dtype=bool)
        for at, name in enumerate(contract.sensitive):
            if name in self.where:
                found &= self._codes(name, contract)[sensitive[:, at]]
        return found

    def _codes(self, name: str, contract: DatabaseContract) -> Mask:
        found = np.zeros(len(contract.domains[name].values), dtype=bool)
        for low, high in self.where[name]:
            found[low : high + 1] = True
        return found


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise TypeError
    return number


def _spans(word: str, rest: str, column: str, contract: DatabaseContract) -> Spans | None:
    """The codes that a condition asks for; None where it names what is not listed."""
    domain = contract.domains[column]
    if word == "between":
        ends = [domain.code(part.strip()) for part in re.split(r"\band\b", rest)]
        if len(ends) != 2:
            return None
        low, high = ends
    elif word == "in":
        some = [domain.code(part.strip()) for part in rest.split(",")]
        known = [code for code in some if code is not None]
        return tuple((code, code) for code in sorted(set(known))) if len(known) == len(some) else None
    else:
        at = domain.code(rest)
        low, high = at if word != "<=" else 0, at if word != ">=" else domain.size - 1
        if at is None:
            return None
    return ((low, high),) if low is not None and high is not None and low <= high else None


def _both(one: Spans, other: Spans) -> Spans:
    """What fulfils both."""
    found = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple(span for span in found if span[0] <= span[1])
