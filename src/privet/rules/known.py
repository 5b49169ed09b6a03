"""km-anonymity: whoever knows up to m items of a person finds at least k records that have them.

Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008. Where
quasi-identifiers stand beside the set, somebody may know all of them as well: then the same holds within
every equivalence class, which is (k,k^m)-anonymity (Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos,
"Anonymizing data with relational and transaction attributes", ECML PKDD 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privet.core import Verdict
from privet.declared import ModelFacts, settle
from privet.models.exact import at_least_one
from privet.models.linkage import Linkage
from privet.rules.baskets import Baskets, Ints
from privet.trajectory.audit import OfLength, audit


@dataclass(frozen=True, slots=True)
class KMAnonymity(ModelFacts):
    """Any `m` known items match at least `k` records; with quasi-identifiers beside the set, at least `k` of
    every equivalence class that has a match.

    Stops: finding a person's record with up to m of the items that it has (success at most 1/k).
    Does not stop: somebody who knows more than m items, or items that a person does not have; learning an
    item that all matching records share.

    >>> KMAnonymity(m=2, k=5)
    KMAnonymity(m=2, k=5)
    """

    m: int
    k: int

    name: ClassVar[str] = "km-anonymity"
    kinds: ClassVar[tuple[str, ...]] = ("transactions",)
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, m=self.m, k=self.k)

    @property
    def class_size(self) -> int:
        return self.k

    def linkage(self) -> Linkage:
        return Linkage(self.m, self.k, ())

    def check(self, baskets: Baskets, classes: Ints | None = None) -> Verdict:
        return judged(baskets, classes, self)[0]


def judged(
    baskets: Baskets, classes: Ints | None, promise: KMAnonymity
) -> tuple[Verdict, tuple[OfLength, ...]]:
    """The promise counted by the auditor of paths: every itemset of up to m items is written out.

    `classes` are the equivalence classes of the quasi-identifiers, where there are some.
    """
    found = audit(tagged(baskets, classes).paths(), promise.linkage())
    achieved, broken, at_risk = dict(found.verdict.achieved), found.verdict.broken, found.verdict.at_risk
    if classes is not None and baskets.records:
        sizes = np.bincount(classes)
        small = sizes[(sizes > 0) & (sizes < promise.k)]
        achieved["k"] = min(int(achieved["k"]), int(sizes[sizes > 0].min()))
        broken += len(small)
        at_risk = max(at_risk, int(small.sum()))
    return Verdict(achieved, broken, at_risk), found.by_length


def tagged(baskets: Baskets, classes: Ints | None) -> Baskets:
    """The same records with every item marked by its record's class: what is known of both is one thing.

    Only marked items that occur get a number. What is known is of one record, so of one class.
    """
    if classes is None:
        return baskets
    wide = max(len(baskets.items), 1)
    keys, number = np.unique(classes[baskets.owner] * wide + baskets.members, return_inverse=True)
    names = [f"{key // wide}|{baskets.items[key % wide]}" for key in keys.tolist()]
    return Baskets.gathered(names, baskets.owner, number, baskets.records)
