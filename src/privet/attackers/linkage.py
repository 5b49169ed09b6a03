"""Linkage: somebody knows l values of a person, looks them up, and picks one of the records that match.

Sweeney, "k-anonymity: a model for protecting privacy", 2002; for any l values, Mohammed, Fung, Hung and Lee,
"Anonymizing healthcare data", KDD 2009. Every combination of l quasi-identifiers is counted, so the worst
case is exact; how often it succeeds is tried on random people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice
from typing import ClassVar

import numpy as np

from privet.attackers import promised
from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.opening import BUCKETS
from privet.attackers.promised import Bound, Seen
from privet.attackers.scene import Bags, Ints, Scene, Table, numbered
from privet.core import PrivacyModel
from privet.evidence.values import TABLES

MOST = 200  # combinations of one size that are counted; a note says when there are more


class Linkage:
    """Who knows some quasi-identifying values of a person looks for the record, and for what it tells."""

    name: ClassVar[str] = "linkage"
    assumes: ClassVar[str] = (
        "knows that a person is in the release, and any l of the quasi-identifying values"
    )
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = (TABLES,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        table, models = scene.target.shown, scene.target.promises
        names = list(table.quasi)
        if not names or not table.records:
            raise NotTriedError("the release has no quasi-identifier to link by")
        found: list[Outcome] = []
        for l in range(1, len(names) + 1):
            chosen = list(islice(combinations(names, l), MOST))
            groups = [table.groups(one) for one in chosen]
            found.append(_identity(scene, models, chosen, groups))
            found += [_attribute(scene, models, chosen, groups, bag) for bag in table.bags]
        return found


def _identity(
    scene: Scene, models: Sequence[PrivacyModel], chosen: Sequence[Sequence[str]], groups: Sequence[Ints]
) -> Outcome:
    rng, records = scene.rng(), scene.target.shown.records
    sizes = [np.bincount(group) for group in groups]
    which, who = rng.integers(len(chosen), size=scene.trials), rng.integers(records, size=scene.trials)
    chance = np.array([1 / sizes[c][groups[c][w]] for c, w in zip(which.tolist(), who.tolist(), strict=True)])
    # The combination that comes closest to what is allowed for it, or goes farthest beyond.
    each = [
        (Fraction(1, int(size.min())), promised.identity(models, one))
        for one, size in zip(chosen, sizes, strict=True)
    ]
    worst, bound = nearest(each)
    return Outcome(
        attack=Linkage.name,
        goal=f"the record of a person of whom {_so_many(chosen)} known",
        tried=scene.trials,
        succeeded=int((rng.random(scene.trials) < chance).sum()),
        baseline=1 / records,
        worst=float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note=_counted(chosen, scene.target.shown),
    ).judge(beyond=bound is not None and bound.broken_by(worst))


def _attribute(
    scene: Scene,
    models: Sequence[PrivacyModel],
    chosen: Sequence[Sequence[str]],
    groups: Sequence[Ints],
    bag: Bags,
) -> Outcome:
    """The sensitive value of a person: the most frequent among the records that match."""
    table, rng = scene.target.shown, scene.rng()
    codes, values = numbered(table.rows[bag.attribute])
    each: list[tuple[Fraction, Bound | None]] = []
    right = []
    for names, group in zip(chosen, groups, strict=True):
        whole = len(names) == len(table.quasi)
        entries, best = bagged(group, codes, len(values))
        right.append(best)
        each += list(confidences(models, entries, names, bag, values, whole=whole))
    which, who = rng.integers(len(chosen), size=scene.trials), rng.integers(len(codes), size=scene.trials)
    hits = [right[c][groups[c][w]] == codes[w] for c, w in zip(which.tolist(), who.tolist(), strict=True)]
    worst, bound = nearest(each)
    return Outcome(
        attack=Linkage.name,
        goal=f"{bag.attribute} of a person of whom {_so_many(chosen)} known",
        tried=scene.trials,
        succeeded=int(sum(hits)),
        baseline=int(bag.table.max()) / bag.records,
        worst=float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
        note=_counted(chosen, table),
    ).judge(beyond=bound is not None and bound.broken_by(worst))


def bagged(group: Ints, codes: Ints, wide: int) -> tuple[tuple[Ints, Ints, Ints], Ints]:
    """Entries of group, value and count; and the most frequent value of each group."""
    pairs, count = np.unique(group * wide + codes, return_counts=True)
    owner, value = np.divmod(pairs, wide)
    order = np.lexsort((-count, owner))
    first = order[np.r_[True, np.diff(owner[order]) > 0]]
    best = np.zeros(int(group.max()) + 1, dtype=np.int64)
    best[owner[first]] = value[first]
    return (owner, value, count.astype(np.int64)), best


def confidences(
    models: Sequence[PrivacyModel],
    entries: tuple[Ints, Ints, Ints],
    known: Sequence[str],
    bag: Bags,
    values: Sequence[object],
    *,
    whole: bool,
) -> Iterator[tuple[Fraction, Bound | None]]:
    """How sure each value is in each group, and how sure it may be; each different case once."""
    owner, value, count = entries
    size = np.bincount(owner, weights=count).astype(np.int64)[owner]
    different = len(np.flatnonzero(bag.table))
    for at, many, of in np.unique(np.stack([value, count, size]), axis=1).T.tolist():
        text = values[at]
        seen = Seen(
            bag.attribute,
            text,
            of,
            Fraction(int(bag.table[bag.values.index(text)]), bag.records),
            different,
        )
        yield Fraction(many, of), promised.attribute(models, seen, known, whole=whole)


def nearest(each: Sequence[tuple[Fraction, Bound | None]]) -> tuple[Fraction, Bound | None]:
    """The case that comes nearest to its bound, or goes farthest beyond; without a bound, the surest."""
    bounded = [(share, bound) for share, bound in each if bound is not None]
    if not bounded:
        return max((share for share, _ in each), default=Fraction(0)), None
    return max(bounded, key=lambda one: float(one[0]) / max(float(one[1].at_most), 1e-300))


def _so_many(chosen: Sequence[Sequence[str]]) -> str:
    l = len(chosen[0])
    return "one value is" if l == 1 else f"{l} values are"


def _counted(chosen: Sequence[Sequence[str]], table: Table) -> str:
    full = len(list(islice(combinations(table.quasi, len(chosen[0])), MOST + 1))) > MOST
    return f"the first {MOST} combinations were counted" if full else ""


KINDS = (TABLES, BUCKETS)  # releases that have classes
