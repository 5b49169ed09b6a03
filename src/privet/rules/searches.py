"""The searches over sets as a policy names them, and what each of them returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from privet.core import Hierarchy, Progress, Terms, silent
from privet.declared import AlgorithmFacts, settle
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.rules import exact
from privet.rules.baskets import Baskets, Ints
from privet.rules.deleting import delete_items
from privet.rules.generalising import Generalised, ItemTree, coded, generalise
from privet.rules.goals import By, Goal, goals
from privet.rules.hidden import HiddenRule, Sensitive, resolved
from privet.rules.known import KMAnonymity, tagged
from privet.rules.mining import Mined, mine
from privet.rules.rule import Thresholds
from privet.rules.thinning import everywhere, feasible, locally
from privet.rules.transactions import remove_transactions


@dataclass(frozen=True, eq=False)
class Sets:
    """What a search sees: the records, and whatever stands beside or above their items."""

    baskets: Baskets
    classes: Ints | None = None  # equivalence classes of the quasi-identifiers beside the set
    hierarchy: Hierarchy | None = None  # above the items
    mined_with: Thresholds | None = None  # how the recipient mines


@dataclass(frozen=True, eq=False)
class SetFinding:
    """What a search over sets returns: the sets as they leave, and whose they are."""

    baskets: Baskets
    records: Ints = field(repr=False)  # of those that stay, in order
    suppressed: int  # items that are in nothing that is published
    loss: float  # NCP of an item on average, 1 where it is suppressed
    how: str
    sensitive: tuple[Sensitive, ...] = ()
    mined: Mined | None = field(default=None, repr=False)  # what was seen before
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)  # for the steward's own eyes


class SetSearch(AlgorithmFacts):
    """What every search over sets declares."""

    __slots__ = ()

    name: ClassVar[str] = "a search over sets"
    kinds: ClassVar[tuple[str, ...]] = ("transactions",)

    def misfits(self, policy: Terms) -> list[str]:  # noqa: ARG002 - for those that ask something
        """What is wrong with a policy that names this search."""
        return []

    def stages(self, policy: Terms) -> tuple[SetSearch, ...]:  # noqa: ARG002 - for those that have several
        """Searches one after another, each on what the one before has left."""
        return (self,)

    def search(self, sets: Sets, policy: Terms, progress: Progress = silent) -> SetFinding:
        raise NotImplementedError  # each is a search of its own


def hidden_of(policy: Terms) -> tuple[HiddenRule, ...]:
    every: tuple[Any, ...] = policy.models  # whatever can be promised, of sets too
    return tuple(model for model in every if isinstance(model, HiddenRule))


def known_of(policy: Terms) -> tuple[KMAnonymity, ...]:
    every: tuple[Any, ...] = policy.models
    return tuple(model for model in every if isinstance(model, KMAnonymity))


def mined_with(sets: Sets, promises: tuple[HiddenRule, ...]) -> Thresholds:
    """How the recipient is thought to mine: as the policy says, else with the lowest of the list."""
    if sets.mined_with is not None:
        return sets.mined_with
    least = min((p.support for p in promises), key=lambda s: Thresholds(s).least(sets.baskets.records))
    shares = [p.confidence for p in promises if p.confidence is not None]
    return Thresholds(least, min(shares, default=Fraction(1, 2)))


def _one_of_two(name: str, other: Sequence[object], what: str) -> list[str]:
    """Each search keeps promises of one kind."""
    if not other:
        return []
    return [f"algorithm: {name} {what}; leave [algorithm] out, and both kinds of promises are kept in turn"]


class _Hides(SetSearch):
    """What all searches that hide have in common."""

    __slots__ = ()

    def misfits(self, policy: Terms) -> list[str]:
        if policy.models and not hidden_of(policy):
            return [f"algorithm: {self.name} hides rules; list some under [[hide]]"]
        return _one_of_two(self.name, known_of(policy), "keeps no promise of km-anonymity")

    def begin(self, sets: Sets, policy: Terms) -> tuple[tuple[Sensitive, ...], Mined]:
        promises = hidden_of(policy)
        sensitive = resolved(sets.baskets, promises)
        return sensitive, mine(sets.baskets, mined_with(sets, promises))


def _deleted(
    sets: Sets, sensitive: tuple[Sensitive, ...], mined: Mined, cells: Any, at_most: Fraction | None
) -> SetFinding:
    share = Fraction(len(cells), max(sets.baskets.cells, 1))
    if at_most is not None and share > at_most:
        raise UnsatisfiableError(
            f"hiding these rules deletes {len(cells)} of {sets.baskets.cells} items, the policy allows a "
            f"share of {at_most}; this search needs {share}"
        )
    return SetFinding(
        sets.baskets.without(cells),
        np.arange(sets.baskets.records),
        len(cells),
        float(share),
        "deletion of items",
        sensitive,
        mined,
        {"deleted": _labels(sets.baskets, cells)},
    )


def _labels(baskets: Baskets, cells: Any) -> dict[str, int]:
    """How often each item was deleted."""
    found: dict[str, int] = {}
    for _, item in cells:
        found[baskets.items[item]] = found.get(baskets.items[item], 0) + 1
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _bounded(at_most: Fraction | None) -> None:
    if at_most is not None and not 0 <= at_most <= 1:
        raise PolicyError(f'at_most: is an exact share from 0 to 1, such as "1/20", not {at_most}')


@dataclass(frozen=True, slots=True)
class HideTransactions(_Hides):
    """Remove whole records until no sensitive rule is seen; those that stay are as they were."""

    at_most: Fraction | None = None  # the share of records that may go

    name: ClassVar[str] = "hide-transactions"

    def __post_init__(self) -> None:
        settle(self)
        _bounded(self.at_most)

    def search(self, sets: Sets, policy: Terms, progress: Progress = silent) -> SetFinding:
        sensitive, mined = self.begin(sets, policy)
        kept = np.flatnonzero(remove_transactions(sets.baskets, sensitive, mined, progress))
        share = Fraction(sets.baskets.records - len(kept), sets.baskets.records)
        if not len(kept) or (self.at_most is not None and share > self.at_most):
            allowed = (
                "one must stay" if self.at_most is None else f"the policy allows a share of {self.at_most}"
            )
            raise UnsatisfiableError(
                f"hiding these rules removes {sets.baskets.records - len(kept)} of {sets.baskets.records} "
                f"records, {allowed}; deleting single items changes less: hide-border"
            )
        left = sets.baskets.only(kept)
        gone = sets.baskets.cells - left.cells
        loss = gone / max(sets.baskets.cells, 1)
        return SetFinding(left, kept, gone, loss, "removal of records", sensitive, mined)


@dataclass(frozen=True, slots=True)
class _Deletes(_Hides):
    """What all searches that delete single items have in common; which items, each says for itself."""

    by: By = By.SUPPORT
    at_most: Fraction | None = None  # the share of all items that may go

    def __post_init__(self) -> None:
        settle(self)
        _bounded(self.at_most)

    def search(self, sets: Sets, policy: Terms, progress: Progress = silent) -> SetFinding:
        sensitive, mined = self.begin(sets, policy)
        cells = self.cells(sets.baskets, goals(sets.baskets, sensitive, self.by), mined, progress)
        return _deleted(sets, sensitive, mined, cells, self.at_most)

    def cells(self, baskets: Baskets, aims: Sequence[Goal], mined: Mined, progress: Progress) -> Any:
        """Record and item of each that goes."""
        raise NotImplementedError  # each chooses in its own way


@dataclass(frozen=True, slots=True)
class HideItems(_Deletes):
    """Delete items from the shortest records that support a sensitive rule, until none is seen."""

    name: ClassVar[str] = "hide-items"

    def cells(self, baskets: Baskets, aims: Sequence[Goal], mined: Mined, progress: Progress) -> Any:
        return delete_items(baskets, aims, mined, border=False, progress=progress)


@dataclass(frozen=True, slots=True)
class HideBorder(_Deletes):
    """Delete items where that weighs least on the border of what is innocent, until no rule is seen."""

    name: ClassVar[str] = "hide-border"

    def cells(self, baskets: Baskets, aims: Sequence[Goal], mined: Mined, progress: Progress) -> Any:
        return delete_items(baskets, aims, mined, border=True, progress=progress)


@dataclass(frozen=True, slots=True)
class HideExact(_Deletes):
    """Delete items with the least harm there can be: integer programming, for few rules."""

    seconds: int = 300  # for the solver; it gives up rather than answer with less than the best

    name: ClassVar[str] = "hide-exact"

    def __post_init__(self) -> None:
        settle(self)
        _bounded(self.at_most)
        if self.seconds < 1:
            raise PolicyError("seconds: is a whole number from 1 on")

    def cells(self, baskets: Baskets, aims: Sequence[Goal], mined: Mined, progress: Progress) -> Any:
        del progress
        return exact.solve(baskets, aims, mined, self.seconds).deletions


class _Keeps(SetSearch):
    """What all searches for km-anonymity have in common."""

    __slots__ = ()

    def misfits(self, policy: Terms) -> list[str]:
        if policy.models and not known_of(policy):
            return [f'algorithm: {self.name} keeps the promise [[models]] type = "km-anonymity"; add it']
        return _one_of_two(self.name, hidden_of(policy), "hides no rules")

    def begin(self, sets: Sets, policy: Terms) -> list[KMAnonymity]:
        promises = known_of(policy)
        feasible(sets.baskets.records, max(promise.k for promise in promises))
        # One promise follows from another that knows as much and finds no fewer.
        return [
            one
            for at, one in enumerate(promises)
            if not any(
                other.m >= one.m and other.k >= one.k and (other != one or before < at)
                for before, other in enumerate(promises)
                if before != at
            )
        ]


def _thinned(sets: Sets, promises: list[KMAnonymity], way: Any, how: str, progress: Progress) -> SetFinding:
    stays = np.ones(sets.baskets.cells, dtype=bool)
    while True:
        before = int(stays.sum())
        for promise in promises:
            now = tagged(sets.baskets.keeping(stays), sets.classes)
            stays[np.flatnonzero(stays)[~way(now, promise.m, promise.k, progress)]] = False
        if int(stays.sum()) == before or len(promises) == 1:
            break
    gone = int(len(stays) - stays.sum())
    return SetFinding(
        sets.baskets.keeping(stays),
        np.arange(sets.baskets.records),
        gone,
        gone / max(len(stays), 1),
        how,
        private={"deleted": _labels(sets.baskets, _cells(sets.baskets, ~stays))},
    )


def _cells(baskets: Baskets, gone: Any) -> list[tuple[int, int]]:
    return list(zip(baskets.owner[gone].tolist(), baskets.members[gone].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class SuppressItems(_Keeps):
    """Suppress items in every record, those that end most rare itemsets first; what stays is untouched."""

    name: ClassVar[str] = "suppress-items"

    def search(self, sets: Sets, policy: Terms, progress: Progress = silent) -> SetFinding:
        return _thinned(sets, self.begin(sets, policy), everywhere, "suppression of items", progress)


@dataclass(frozen=True, slots=True)
class SuppressItemsLocally(_Keeps):
    """Suppress items only in the records in which they are part of a rare itemset."""

    name: ClassVar[str] = "suppress-items-locally"

    def search(self, sets: Sets, policy: Terms, progress: Progress = silent) -> SetFinding:
        return _thinned(sets, self.begin(sets, policy), locally, "local suppression of items", progress)


@dataclass(frozen=True, slots=True)
class GeneraliseItems(_Keeps):
    """Replace items by nodes of their hierarchy until no itemset is rare; `at_most` is the share of items
    that may be suppressed instead.
    """

    at_most: Fraction = Fraction(0)

    name: ClassVar[str] = "generalise-items"

    def __post_init__(self) -> None:
        settle(self)
        _bounded(self.at_most)

    def search(self, sets: Sets, policy: Terms, progress: Progress = silent) -> SetFinding:
        promises = self.begin(sets, policy)
        if len(promises) > 1:
            raise UnsupportedError(
                "generalise-items keeps one promise of km-anonymity; suppress items instead"
            )
        if sets.hierarchy is None:
            raise PolicyError(
                "algorithm: generalise-items needs transactions.hierarchy, the tree above the items"
            )
        domain = sets.hierarchy.domain(sets.baskets.items)
        tree = ItemTree.of(domain)
        made: Generalised = generalise(
            coded(sets.baskets, domain),
            tree,
            m=promises[0].m,
            k=promises[0].k,
            at_most=self.at_most,
            classes=sets.classes,
            progress=progress,
        )
        every = np.arange(sets.baskets.records)
        node = (
            {}
            if sets.classes is not None
            else {
                tree.labels[leaf]: tree.labels[int(at)]
                for leaf, at in enumerate(made.node)
                if leaf != int(at)
            }
        )
        how = "generalisation of items"
        return SetFinding(made.baskets, every, made.suppressed, made.loss, how, private={"generalised": node})
