"""Hiding by removing whole records: simple, quick, and blunt.

Spec 09, section 3.11, "heuristic": as long as a sensitive rule is seen, take away the record that
supports the most sensitive rules, then the fewest innocent ones, then the shortest, then the first.
Nothing is changed in a record that stays, so whatever is mined from the rest was really there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.errors import UnsatisfiableError
from privet.rules.baskets import Baskets, Ints, Mask
from privet.rules.hidden import Sensitive
from privet.rules.mining import Mined
from privet.rules.rule import Rule, Thresholds

LARGEST = np.iinfo(np.int64).max  # the key of who is not to go
BLOCK = 1024  # keys of which the smallest is remembered
FITTING = 150_000_000  # occurrences of innocent itemsets that are remembered; those least in danger go first


def remove_transactions(
    baskets: Baskets, sensitive: Sequence[Sensitive], mined: Mined, progress: Progress = silent
) -> Mask:
    """Which records stay."""
    kept = np.ones(baskets.records, dtype=bool)
    if not any(one.visible(baskets) for one in sensitive):
        return kept
    state = Removing(baskets, sensitive, mined)
    needed = baskets.records
    while state.seen_sensitive.any():
        if not len(state.records) or state.removed >= len(state.records):
            raise UnsatisfiableError("a rule is seen that no record supports")  # a threshold of no record
        kept[state.remove()] = False
        if state.removed % 1000 == 0:
            progress("search", state.removed, needed)
    return kept


@dataclass
class Watched:
    """Rules as arrays: which itemsets they are made of, and from when on each is seen."""

    both: Ints
    before: Ints
    thresholds: tuple[Thresholds, ...]  # the different ones
    which: Ints  # of them each rule has
    tops: NDArray[Any]
    bottoms: NDArray[Any]

    def __post_init__(self) -> None:
        self.falls, self.rises = np.maximum(self.bottoms - self.tops, 1), np.maximum(self.tops, 1)

    @classmethod
    def of(
        cls, rules: Sequence[tuple[Rule, Thresholds]], number: dict[tuple[int, ...], int], records: int
    ) -> Watched:
        different = tuple(dict.fromkeys(thresholds for _, thresholds in rules))
        which = np.array([different.index(thresholds) for _, thresholds in rules], dtype=np.int64)
        shares = [t.confidence if t.confidence is not None else Fraction(0) for t in different]
        # Shares with very long denominators are compared in numbers of any length.
        long = max(share.denominator for share in shares) * (records + 1) >= 2**62
        exact = object if long else np.int64
        return cls(
            np.array([number[rule.itemset] for rule, _ in rules], dtype=np.int64),
            np.array([number[rule.antecedent] for rule, _ in rules], dtype=np.int64),
            different,
            which,
            np.array([share.numerator for share in shares], dtype=exact)[which],
            np.array([share.denominator for share in shares], dtype=exact)[which],
        )

    def least(self, records: int) -> Ints:
        """From what support on each is seen."""
        return np.array([one.least(records) for one in self.thresholds], dtype=np.int64)[self.which]


class Removing:
    """The state: supports of everything watched, and for each candidate how good its removal is."""

    def __init__(self, baskets: Baskets, sensitive: Sequence[Sensitive], mined: Mined) -> None:
        holding = [baskets.holding(one.itemset) for one in sensitive]
        self.records: Ints = np.unique(np.concatenate(holding)).astype(np.int64)  # candidates
        self.removed, self._total = 0, baskets.records
        asked = {one.rule for one in sensitive}
        innocent = sorted(mined.rules - asked)
        innocent = self._fitting(innocent, mined)
        rules = [(one.rule, one.thresholds) for one in sensitive]
        rules += [(rule, mined.thresholds) for rule in innocent]
        itemsets = sorted({part for rule, _ in rules for part in (rule.itemset, rule.antecedent)})
        number = {itemset: at for at, itemset in enumerate(itemsets)}
        self._watched = Watched.of(rules, number, baskets.records)
        self._sensitive = len(sensitive)
        # Only candidates ever go, so only in them must we know where an itemset is.
        places = [self._places(baskets.holding(itemset)) for itemset in itemsets]
        self._begin = np.concatenate(([0], np.cumsum([len(one) for one in places])))
        self._where = np.concatenate(places) if places else np.zeros(0, np.int32)
        inverse = np.argsort(self._where, kind="stable")
        of = np.repeat(np.arange(len(itemsets), dtype=np.int32), np.diff(self._begin))
        self._itemsets = of[inverse]
        self._rows = np.concatenate(([0], np.cumsum(np.bincount(self._where, minlength=len(self.records)))))
        self.support = np.array([baskets.support(itemset) for itemset in itemsets], dtype=np.int64)
        self._gone = np.zeros(len(self.records), dtype=bool)
        lengths = baskets.lengths[self.records]
        self._short = np.minimum(lengths, 2**20 - 1)
        self._hits = np.zeros(len(self.records), dtype=np.int64)
        self._harm = np.zeros(len(self.records), dtype=np.int64)
        self.seen = np.zeros(len(rules), dtype=bool)
        self._keys = np.full((-(-len(self.records) // BLOCK), BLOCK), LARGEST, dtype=np.int64)
        self._least = np.full(len(self._keys), LARGEST, dtype=np.int64)
        self._look()

    @property
    def seen_sensitive(self) -> Mask:
        return self.seen[: self._sensitive]

    def remove(self) -> int:
        """Take the best candidate away; its number among all records."""
        block = int(np.argmin(self._least))
        at = block * BLOCK + int(np.argmin(self._keys[block]))
        self._gone[at] = True
        self._keys[block, at % BLOCK] = LARGEST
        self._least[block] = self._keys[block].min()
        self.support[self._itemsets[self._rows[at] : self._rows[at + 1]]] -= 1
        self.removed += 1
        self._safe -= 1
        if self._safe <= 0:
            self._look()
        return int(self.records[at])

    def _fitting(self, innocent: list[Rule], mined: Mined) -> list[Rule]:
        """Innocent rules that can be watched; where there are too many, those that are nearest to be lost."""
        room = np.cumsum([mined.support[r.itemset] + mined.support[r.antecedent] for r in innocent])
        if not len(room) or room[-1] <= FITTING:
            return innocent
        nearest = sorted(innocent, key=lambda rule: (mined.support[rule.itemset], rule))
        room = np.cumsum([mined.support[r.itemset] + mined.support[r.antecedent] for r in nearest])
        return nearest[: int(np.searchsorted(room, FITTING))]

    def _places(self, records: NDArray[np.int32]) -> NDArray[np.int32]:
        at = np.searchsorted(self.records, records)
        at[at == len(self.records)] = 0
        return np.asarray(at[self.records[at] == records], dtype=np.int32)

    def _look(self) -> None:
        """Which rules are seen now, keys where that changed, and for how many removals it cannot change."""
        w, records = self._watched, self._total - self.removed
        both, before = self.support[w.both], self.support[w.before]
        spare = both - w.least(records)  # how far above the support; one removal takes at most one off it
        confident = both * w.bottoms - before * w.tops  # exact: below 0 is below the confidence
        seen = np.asarray((spare >= 0) & (confident >= 0), dtype=bool)
        stays = np.minimum(spare, confident // w.falls) + 1
        hidden = np.maximum(-spare, np.where(confident < 0, -(confident // w.rises), 0))
        self._safe = int(np.where(seen, stays, np.maximum(hidden, 1)).min(initial=2**62))
        changed = np.flatnonzero(seen != self.seen)
        touched = []
        for rule in changed.tolist():
            target = self._hits if rule < self._sensitive else self._harm
            itemset = w.both[rule]
            places = self._where[self._begin[itemset] : self._begin[itemset + 1]]
            target[places] += 1 if seen[rule] else -1
            touched.append(places)
        self.seen = seen
        for places in touched:
            self._set_keys(places)
        if touched:
            self._least = self._keys.min(axis=1)

    def _set_keys(self, places: NDArray[np.int32]) -> None:
        """Most sensitive rules, fewest innocent ones, shortest; the first of equals has the lowest number."""
        hits = self._hits[places]
        keys = ((self._sensitive - hits) << 50) + (self._harm[places] << 20) + self._short[places]
        keys[self._gone[places] | (hits == 0)] = LARGEST
        self._keys.reshape(-1)[places] = keys
