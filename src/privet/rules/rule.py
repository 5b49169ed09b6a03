"""Rules, and when somebody who mines would see one.

A rule `A => B` is visible to whoever mines with a minimum support and a minimum confidence if enough records
have all items of A and B, and if enough of those that have A have B too (spec 09, section 3.11). Agrawal,
Imielinski and Swami, "Mining association rules between sets of items in large databases", SIGMOD 1993.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from privet.core import Percent
from privet.errors import PolicyError

ARROW = "=>"
MOST = 1 << 53  # records; no data has as many, and whatever counts them holds it


class Rule(NamedTuple):
    """Item numbers of both sides, each rising; without an antecedent it is an itemset."""

    antecedent: tuple[int, ...]
    consequent: tuple[int, ...]

    @property
    def itemset(self) -> tuple[int, ...]:
        return tuple(sorted((*self.antecedent, *self.consequent)))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From what support and confidence on a rule is seen: records or a share of them, and a share.

    >>> Thresholds(Fraction(1, 100), Fraction(3, 5)).least(950)
    10
    >>> Thresholds(Fraction(3), Fraction(3, 5)).sees(support=3, antecedent=5, records=8)
    True
    """

    support: Fraction
    confidence: Fraction | None = None  # None: the support alone decides, as of an itemset

    def __post_init__(self) -> None:
        least: Any = self.support  # whatever a caller handed over: floats are not exact
        if not isinstance(least, Fraction) or least <= 0 or (least.denominator > 1 and least >= 1):
            raise PolicyError(
                "support: is a whole number of records from 1 on, or a share above 0 and below 1 in quotes, "
                f'such as "1/100" or "1%", not {self.support}'
            )
        if isinstance(least, Percent) and least >= 1:
            raise PolicyError(
                "support: a share is below 100%: nothing has more, and at 100% a rule is seen only where "
                "every record has it; say a smaller share, or a number of records without a percent sign"
            )
        if least > MOST:
            raise PolicyError(f"support: is at most {MOST:,} records")
        share: Any = self.confidence
        if share is not None and not (isinstance(share, Fraction) and 0 < share <= 1):
            raise PolicyError(
                'confidence: is an exact share above 0 and at most 1, such as "3/5" or "60%", '
                f"not {self.confidence}"
            )

    def least(self, records: int) -> int:
        """The support in records; what nobody has is never seen."""
        if self.support.denominator == 1:
            return int(self.support)
        return max(1, ceil(self.support * records))

    def sees(self, *, support: int, antecedent: int, records: int) -> bool:
        """Is a rule with this support, whose antecedent has that one, seen among so many records?"""
        if support < self.least(records):
            return False
        return self.confidence is None or Fraction(support, antecedent) >= self.confidence


def sides(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels on both sides of a rule as people type it; without an arrow it is an itemset.

    >>> sides("beer, chips => diapers"), sides("beer, chips")
    ((('beer', 'chips'), ('diapers',)), ((), ('beer', 'chips')))
    """
    parts = text.split(ARROW)
    if len(parts) > 2:
        raise PolicyError(f"a rule has one {ARROW}, not {len(parts) - 1}")
    named = [tuple(label.strip() for label in part.split(",")) for part in parts]
    if any(not label for side in named for label in side):
        raise PolicyError(f"a rule is written as: a, b {ARROW} c; an itemset as: a, b")
    return (named[0], named[1]) if len(named) == 2 else ((), named[0])


def written(antecedent: tuple[str, ...], consequent: tuple[str, ...]) -> str:
    """A rule as people type it."""
    right = ", ".join(consequent)
    return f"{', '.join(antecedent)} {ARROW} {right}" if antecedent else right
