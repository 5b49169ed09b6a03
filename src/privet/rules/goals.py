"""What is to be hidden, how, and what is innocent beside it.

A rule may be hidden by its support or by its confidence; an itemset by its support alone (spec 09, section
3.11). What must not be lost is the border: the largest innocent itemsets that are frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from privet.rules.baskets import Baskets
from privet.rules.hidden import Sensitive
from privet.rules.mining import Itemset, Mined, maximal


class By(Enum):
    """What is lowered until a rule is not seen."""

    SUPPORT = "support"
    CONFIDENCE = "confidence"  # of rules; an itemset has none, its support is lowered
    EITHER = "either"  # whatever needs fewer deletions


@dataclass(frozen=True, slots=True)
class Goal:
    """How one rule is hidden: what must fall, and which items may be deleted for it."""

    sensitive: Sensitive
    by: By  # never EITHER

    @property
    def victims(self) -> Itemset:
        # With an item of the antecedent its support falls too, and the confidence hardly.
        rule = self.sensitive.rule
        return rule.itemset if self.by is By.SUPPORT else rule.consequent

    def reached(self, support: int, antecedent: int, records: int) -> bool:
        return Bounds.of(self, records).reached(support, antecedent)


@dataclass(frozen=True, slots=True)
class Bounds:
    """When one rule is hidden among so many records, in whole numbers."""

    least: int  # from this support on it is seen
    top: int  # and from this share of its antecedent on, where its confidence is lowered
    bottom: int

    @classmethod
    def of(cls, goal: Goal, records: int) -> Bounds:
        thresholds = goal.sensitive.thresholds
        share = Fraction(0)
        if goal.by is By.CONFIDENCE and thresholds.confidence is not None:
            share = thresholds.confidence
        return cls(thresholds.least(records), share.numerator, share.denominator)

    def reached(self, support: int, antecedent: int) -> bool:
        return support < self.least or support * self.bottom < self.top * antecedent


def goals(baskets: Baskets, sensitive: Sequence[Sensitive], by: By) -> tuple[Goal, ...]:
    """How each rule is hidden; of either way the one that needs fewer deletions for this rule alone."""
    return tuple(Goal(one, _way(baskets, one, by)) for one in sensitive)


def _way(baskets: Baskets, one: Sensitive, by: By) -> By:
    if not one.confident or by is By.SUPPORT:
        return By.SUPPORT
    if by is By.CONFIDENCE:
        return by
    share = one.thresholds.confidence
    assert share is not None
    both, before = baskets.support(one.itemset), baskets.support(one.rule.antecedent)
    by_support = both - one.thresholds.least(baskets.records) + 1
    by_confidence = both - -(-share.numerator * before // share.denominator) + 1
    return By.SUPPORT if by_support <= by_confidence else By.CONFIDENCE


def innocent_border(mined: Mined, aims: Sequence[Goal]) -> list[Itemset]:
    """The positive border of what is frequent and contains nothing that must become infrequent.

    The itemset of a rule that is to be hidden by its confidence is innocent: its support may stay.
    """
    gone = [set(goal.sensitive.itemset) for goal in aims if goal.by is By.SUPPORT]
    kept = {itemset for itemset in mined.support if not any(one <= set(itemset) for one in gone)}
    return maximal(kept)
