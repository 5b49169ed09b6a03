"""Frequent itemsets and the rules that they make.

Itemsets are mined depth first: each is extended by items that come after it, among the records that have it,
and items that are too rare beside a prefix are not tried beside a longer one (Zaki, "Scalable algorithms for
association mining", 2000; occurrences are delivered as in Uno, Kiyomi and Arimura, "LCM ver. 2", 2004). Rarer
items come first, which keeps the prefixes' records few. Rules are then made as Agrawal and Srikant did it
("Fast algorithms for mining association rules", VLDB 1994, section 3): moving items to the right only lowers
the confidence.

An own miner, since counting loops over these very arrays are there already: docs/explain/rules.md says how it
compares with mlxtend, efficient-apriori and PyFIM.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np

from privet import native
from privet.errors import UnsupportedError
from privet.rules.baskets import Baskets, Ints
from privet.rules.rule import Rule, Thresholds
from privet.trajectory.sequences import Sequences

Itemset: TypeAlias = tuple[int, ...]
MOST = 20_000_000  # itemsets; more have never helped anybody, and do not fit


@dataclass(frozen=True, eq=False)
class Mined:
    """What somebody finds who mines: frequent itemsets, and the rules among them that are seen."""

    records: int
    thresholds: Thresholds
    itemsets: Sequences

    @cached_property
    def support(self) -> Mapping[Itemset, int]:
        return dict(zip(self.itemsets.tuples(), self.itemsets.support.tolist(), strict=True))

    @cached_property
    def rules(self) -> frozenset[Rule]:
        """Every rule that is seen."""
        return frozenset(rules(self.support, self.thresholds.confidence or Fraction(0)))

    def confidence(self, rule: Rule) -> Fraction:
        return Fraction(self.support[rule.itemset], self.support[rule.antecedent])


def mine(baskets: Baskets, thresholds: Thresholds) -> Mined:
    """Everything that the thresholds let through."""
    least = thresholds.least(baskets.records)
    return Mined(baskets.records, thresholds, frequent(baskets, least))


def frequent(baskets: Baskets, least: int, longest: int | None = None) -> Sequences:
    """Every itemset that at least so many records have, of up to `longest` items."""
    common = np.flatnonzero(baskets.supports >= least)
    common = common[np.argsort(baskets.supports[common], kind="stable")]
    code = np.full(len(baskets.items), -1, dtype=np.int64)
    code[common] = np.arange(len(common))
    few = baskets.renamed([baskets.items[item] for item in common.tolist()], code)
    most = int(few.lengths.max(initial=0))
    reach = most if longest is None else min(longest, most)
    found = compiled(few, least, reach) if native.library() is not None and few.cells < 2**31 else None
    if found is None:
        found = Sequences.of(few.points, plain(few, least, reach))
    return as_before(baskets, found, common)


def compiled(baskets: Baskets, least: int, longest: int) -> Sequences | None:
    """In C; None where there is no memory for it."""
    handle = np.zeros(3, dtype=np.int64)
    said = native.call(
        "privet_itemsets",
        np.ascontiguousarray(baskets.members),
        np.ascontiguousarray(baskets.starts),
        baskets.records,
        np.ones(baskets.records, dtype=np.int64),
        len(baskets.items),
        least,
        longest,
        MOST,
        handle,
    )
    if said > 0:
        raise UnsupportedError(f"more than {MOST} itemsets are frequent: raise the support")
    return None if said else Sequences.taken(baskets.points, handle)


def plain(baskets: Baskets, least: int, longest: int) -> Iterator[tuple[Itemset, int]]:
    """The same walk with numpy."""
    todo: list[tuple[Itemset, Baskets]] = [((), baskets)] if longest else []
    while todo:
        prefix, rest = todo.pop()
        for item in np.flatnonzero(rest.supports >= least).tolist():
            yield (*prefix, item), int(rest.supports[item])
            if len(prefix) + 1 < longest:
                beside = rest.only(rest.having(item))
                later = beside.members > item
                later &= rest.supports[beside.members] >= least
                todo.append(((*prefix, item), beside.keeping(later)))


def as_before(baskets: Baskets, found: Sequences, common: Ints) -> Sequences:
    """Itemsets in the numbers of the baskets, in order."""
    again = (
        (tuple(sorted(common[list(itemset)].tolist())), support)
        for itemset, support in zip(found.tuples(), found.support.tolist(), strict=True)
    )
    return Sequences.of(baskets.points, again)


def rules(support: Mapping[Itemset, int], confidence: Fraction) -> Iterator[Rule]:
    """Every rule among frequent itemsets that is confident enough."""
    top, bottom = confidence.numerator, confidence.denominator
    for itemset, both in support.items():
        if len(itemset) < 2:
            continue
        right: list[Itemset] = [(item,) for item in itemset]
        while right:
            strong: list[Itemset] = []
            for consequent in right:
                antecedent = tuple(item for item in itemset if item not in consequent)
                if antecedent and both * bottom >= top * support[antecedent]:
                    strong.append(consequent)
                    yield Rule(antecedent, consequent)
            right = joined(strong) if strong and len(strong[0]) + 1 < len(itemset) else []


def joined(level: list[Itemset]) -> list[Itemset]:
    """Sets of one item more, all of whose parts are in this level."""
    there = set(level)
    return [
        (*one, other[-1])
        for at, one in enumerate(level)
        for other in level[at + 1 :]
        if one[:-1] == other[:-1] and all(part in there for part in combinations((*one, other[-1]), len(one)))
    ]


def maximal(itemsets: set[Itemset]) -> list[Itemset]:
    """Those of a downward closed family to which nothing can be added: its positive border."""
    inside = {itemset[:at] + itemset[at + 1 :] for itemset in itemsets for at in range(len(itemset))}
    return sorted(itemsets - inside)
