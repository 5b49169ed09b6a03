"""The promise of rule hiding: nobody who mines a release with these thresholds finds this rule in it.

Verykios, Elmagarmid, Bertino, Saygin and Dasseni, "Association rule hiding", TKDE 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from privet.core import Verdict
from privet.declared import ModelFacts, settle
from privet.equality import finder, key
from privet.errors import InputError, PolicyError
from privet.rules.baskets import Baskets
from privet.rules.rule import Rule, Thresholds, written


@dataclass(frozen=True, slots=True)
class HiddenRule(ModelFacts):
    """A rule, or an itemset, that is not seen in the release: its support is below `support`, or fewer than
    the share `confidence` of the records with its antecedent have its consequent.

    Stops: finding the rule by mining with these thresholds or higher ones.
    Does not stop: mining with lower thresholds; a reader who suspects what stands just below them; somebody
    who has the data from elsewhere. The promise names the rule: whoever reads the policy reads it.

    >>> HiddenRule(Fraction(50), Fraction(1, 2), antecedent=("beer",), consequent=("diapers",))
    HiddenRule(beer => diapers, support=50, confidence=1/2)
    """

    support: Fraction
    confidence: Fraction | None = None
    antecedent: tuple[str, ...] | None = None
    consequent: tuple[str, ...] | None = None
    itemset: tuple[str, ...] | None = None
    thresholds: Thresholds = field(init=False, repr=False, compare=False)

    name: ClassVar[str] = "hidden-rule"
    kinds: ClassVar[tuple[str, ...]] = ("transactions",)
    monotone: ClassVar[bool] = False  # what is deleted for one rule may show another

    def __post_init__(self) -> None:
        settle(self)
        complaints = []
        if bool(self.itemset) == bool(self.antecedent or self.consequent):
            complaints.append("names either an itemset, or an antecedent and a consequent")
        elif not self.itemset and not (self.antecedent and self.consequent):
            complaints.append("a rule has an antecedent and a consequent, each a list of items")
        every: tuple[Any, ...] = self.labels
        if not all(isinstance(item, str) and item for item in every):
            complaints.append("items are texts")
        elif len(set(map(key, every))) < len(every):
            complaints.append("an item stands in it twice")
        if self.itemset and self.confidence is not None:
            complaints.append("confidence: an itemset has none; leave it out")
        if complaints:
            raise PolicyError(*complaints)
        object.__setattr__(self, "thresholds", Thresholds(self.support, self.confidence))

    def __repr__(self) -> str:
        said = [str(self), f"support={self.support}"]
        said += [f"confidence={self.confidence}"] if self.confidence is not None else []
        return f"HiddenRule({', '.join(said)})"

    def __str__(self) -> str:
        return written(self.left, self.right)

    @property
    def left(self) -> tuple[str, ...]:
        """What the rule is about; nothing of an itemset."""
        return self.antecedent or ()

    @property
    def right(self) -> tuple[str, ...]:
        """What follows from it, or the whole itemset."""
        return self.consequent or self.itemset or ()

    @property
    def labels(self) -> tuple[str, ...]:
        return (*(self.antecedent or ()), *(self.consequent or ()), *(self.itemset or ()))

    def check(self, supports: Supports) -> Verdict:
        """Whether records, counted by whoever checks, show the rule."""
        both = supports.support(self.labels)
        before = supports.support(self.left) if self.left else supports.records
        achieved: dict[str, int | Fraction] = {"support": both}
        if self.antecedent:
            achieved["confidence"] = Fraction(both, before) if before else Fraction(0)
        seen = self.thresholds.sees(support=both, antecedent=before, records=supports.records)
        return Verdict(achieved, int(seen), both if seen else 0)


class Supports(Protocol):
    """Who can count records that have all of some items."""

    @property
    def records(self) -> int: ...

    def support(self, items: Iterable[str]) -> int: ...


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A rule to hide, in item numbers."""

    rule: Rule
    thresholds: Thresholds

    @property
    def itemset(self) -> tuple[int, ...]:
        return self.rule.itemset

    @property
    def confident(self) -> bool:
        """Can it be hidden by its confidence?"""
        return bool(self.rule.antecedent) and self.thresholds.confidence is not None

    def sees(self, support: int, antecedent: int, records: int) -> bool:
        return self.thresholds.sees(support=support, antecedent=antecedent, records=records)

    def visible(self, baskets: Baskets) -> bool:
        return self.sees(
            baskets.support(self.itemset), baskets.support(self.rule.antecedent), baskets.records
        )


def resolved(baskets: Baskets, promises: Sequence[HiddenRule]) -> tuple[Sensitive, ...]:
    """The rules in the numbers of the data; a rule that does not occur is refused.

    Rules come from the policy, so a message may name them.
    """
    complaints = []
    find = finder(baskets.codes)
    found: dict[Rule, Sensitive] = {}
    for at, promise in enumerate(promises):
        place = f"hide[{at}]"
        codes = {label: find(label) for label in promise.labels}
        unknown = [label for label, code in codes.items() if code is None]
        if unknown:
            complaints.append(f"{place}: the data has no item {', '.join(map(repr, unknown))}")
            continue
        antecedent, consequent = (
            tuple(sorted({code for label in side if (code := codes[label]) is not None}))
            for side in (promise.left, promise.right)
        )
        rule = Rule(antecedent, consequent)
        if rule in found:
            complaints.append(f"{place}: {promise} is there already")
        elif not baskets.support(rule.itemset):
            complaints.append(f"{place}: {promise} does not occur: no record has all of its items")
        else:
            found[rule] = Sensitive(rule, promise.thresholds)
    if complaints:
        raise InputError(*complaints)
    return tuple(found.values())
