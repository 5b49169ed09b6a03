"""What hiding did beside hiding: failures, lost rules, ghost rules, and how much was changed.

Spec 09, section 3.11. A rule is innocent if it is seen before and nobody asked to hide it. It is lost if
it is not seen afterwards; a ghost is seen afterwards and was not before. What contains a sensitive
itemset goes with it, and counts apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from privet.rules.baskets import Baskets
from privet.rules.hidden import Sensitive
from privet.rules.mining import Mined, mine
from privet.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Effects:
    """Hiding's price, in rules and in cells."""

    visible: int  # rules seen before
    failures: frozenset[Rule]  # sensitive and still seen
    lost: frozenset[Rule]
    ghosts: frozenset[Rule]
    implied: frozenset[Rule] = field(repr=False)  # gone because they contain a sensitive itemset
    cells: int = 0  # items that records lost, those of removed records included
    removed: int = 0  # whole records that went

    @property
    def counts(self) -> dict[str, int]:
        """Numbers that anybody may see."""
        return {
            "visible": self.visible,
            "failures": len(self.failures),
            "lost": len(self.lost),
            "ghosts": len(self.ghosts),
            "implied": len(self.implied),
            "cells": self.cells,
            "removed": self.removed,
        }


def effects(before: Mined, raw: Baskets, published: Baskets, sensitive: Sequence[Sensitive]) -> Effects:
    """Both sides mined with the same thresholds, and compared."""
    after = mine(published, before.thresholds)
    asked = {one.rule for one in sensitive}
    whole = [set(one.itemset) for one in sensitive if not one.rule.antecedent]
    gone = before.rules - after.rules - asked
    implied = frozenset(rule for rule in gone if any(one <= set(rule.itemset) for one in whole))
    return Effects(
        len(before.rules),
        frozenset(one.rule for one in sensitive if one.visible(published)),
        gone - implied,
        after.rules - before.rules - asked,
        implied,
        raw.cells - published.cells,
        raw.records - published.records,
    )
