"""The words of a contract, and the values that it lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from privet import equality
from privet.core import Hierarchy
from privet.domain import Domain, Value, refuse
from privet.errors import PolicyError

MANY = 1_000_000  # values of one column; more are not a list that anybody agrees on


SAME_ROWS = (
    "whether another party's rows are the same as when this contract was run before, and whether its own "
    "node refuses them"
)
OBJECTED = (
    "whether any party says that the rows which came out are not those that went in, and not which party; "
    "then nothing is published or answered"
)


class Split(Enum):
    """How one table lies with several parties."""

    PEOPLE = "people"  # the same columns of different persons
    COLUMNS = "columns"  # different columns of the same persons


class Reveal(Enum):
    """What the parties let each other see while they search."""

    DECISIONS = "decisions"  # which split is best and whether it keeps every promise; the source's "strict"
    COUNTS = "counts"  # by people: the leader sees the counts of groups that it decides by, as in the source
    SCORES = "scores"  # by columns: every party's best score is shown to the others, as in the source


class Adding(Enum):
    """How counts are added up where the leader may see totals."""

    PAIRWISE = "pairwise"
    RING = "ring"


@dataclass(frozen=True)
class Declared(Hierarchy):
    """A hierarchy over values that were agreed on, whichever of them a party has, however it writes them.

    Which spellings others have no party knows, so all of them take the contract's.
    """

    agreed: Domain

    name: ClassVar[str] = "declared"

    def domain(self, values: Sequence[Value]) -> Domain:
        found = [value for value in values if self.agreed.code(value) is None]
        wrong = "not among those that the contract lists", "correct the contract or the table"
        refuse((len(found), *wrong), of=len(values), look="")
        return self.agreed

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        return [value for value in values if value is not None and self.agreed.code(value) is None]

    def to_policy(self) -> dict[str, Any]:
        return {"type": self.name}


def twice(values: Sequence[Value]) -> list[str]:
    """What is wrong with values that are counted, where some are equal to each other.

    As two they would count as two at the parties, and as one in the table that leaves.
    """
    if equality.own(values) or len(equality.classes(values)) == len(values):
        return []
    return ["some are equal to each other, however they are written, as 1 and 1.0 are; list each once"]


def listed(table: object) -> tuple[Value, ...]:
    """All values that could occur, from how people write them."""
    if not isinstance(table, Mapping) or set(table) - {"range", "values", "null"}:
        raise PolicyError(
            'range = [17, 90] or values = ["a", "b"], and null = true where a value may be missing'
        )
    if ("range" in table) == ("values" in table):
        raise PolicyError("give one of range and values")
    null: tuple[Value, ...] = (None,) if table.get("null") is True else ()
    if "values" in table:
        values = table["values"]
        if not isinstance(values, list) or not all(isinstance(v, (str, int)) for v in values) or not values:
            raise PolicyError("values: a list of texts")
        texts = [str(value) for value in values]
        if len(set(texts)) < len(texts) or len(texts) > MANY:
            raise PolicyError(f"values: each once, and at most {MANY:,}")
        return (*texts, *null)
    match table["range"]:
        case [int(low), int(high)] if low <= high and high - low < MANY:
            return (*map(str, range(low, high + 1)), *null)
    raise PolicyError(f"range: two whole numbers, the smaller one first, at most {MANY:,} apart")
