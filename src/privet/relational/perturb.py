"""Values changed by chance: post-randomisation, rank swapping, sampling.

Gouweleeuw et al., "Post randomisation for statistical disclosure control", JOS 1998 (PRAM); Moore,
"Controlled data-swapping techniques for masking public use microdata sets", 1996 (rank swapping). None
of them gives a promise that could be checked on the release (models/construction.py); what they do is
public, so recipients can correct their estimates for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Column, Finding, Progress, Tally, Terms, silent
from privet.declared import settle
from privet.errors import PolicyError, UnsatisfiableError
from privet.models.construction import ByConstruction
from privet.recoding import Perturbation
from privet.relational.coded import refuse_coded
from privet.relational.randomness import generator, happens


class Replacement(Enum):
    """Where the value comes from that replaces another."""

    UNIFORM = "uniform"  # any value of the column, each alike
    FREQUENCY = "frequency"  # another record's value: frequencies stay as they are, on average


@dataclass(frozen=True, slots=True)
class Pram(Algorithm):
    """Post-randomisation: each value is kept with a known probability, and else replaced by chance.

    `keep` is that probability, exact; `columns` are the columns it is done to, all quasi-identifiers
    unless the policy names others.
    """

    keep: Fraction
    columns: tuple[str, ...] = ()
    replacement: Replacement = Replacement.UNIFORM

    name: ClassVar[str] = "pram"
    why_records: ClassVar[str] = (
        "each row is changed by chance, and several rows of a person are several looks at what was not "
        "changed; give each person one row, or use top-down or optimal"
    )
    spends: ClassVar[str | None] = ByConstruction.name

    def __post_init__(self) -> None:
        settle(self)
        if not 0 <= self.keep < 1:
            raise PolicyError(f"keep is a probability from 0 to below 1, not {self.keep}")

    def named(self) -> Mapping[str, Collection[str]]:
        return {"columns": self.columns}

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:  # noqa: ARG002 - a search's form
        rng = generator()
        chosen = _chosen(tally, self.columns)
        labels, positions = {}, {}
        for column in chosen:
            codes = np.repeat(column.codes, tally.counts).astype(np.intp)
            if self.replacement is Replacement.UNIFORM:
                others = rng.integers(0, column.domain.size, len(codes))
            else:
                others = codes[rng.integers(0, len(codes), len(codes))]
            labels[column.name] = column.domain.values
            positions[column.name] = np.where(happens(rng, self.keep, len(codes)), codes, others)
        return checked(tally, policy, Perturbation(labels, positions), self._claims(chosen))

    def _claims(self, chosen: Sequence[Column]) -> dict[str, int | Fraction]:
        """What is known of the method: the odds by which one published value favours one raw value.

        Replacing uniformly among m values, a value is published as itself with probability
        keep + (1 - keep) / m and as any other one with (1 - keep) / m: local differential privacy with
        epsilon = ln(odds), for each column by itself.
        """
        claims: dict[str, int | Fraction] = {"keep": self.keep}
        if self.replacement is Replacement.UNIFORM:
            for column in chosen:
                change = (1 - self.keep) / column.domain.size
                claims[f"odds of {column.name}"] = (self.keep + change) / change
        return claims


@dataclass(frozen=True, slots=True)
class RankSwap(Algorithm):
    """Rank swapping: values trade places with others whose rank differs by at most a share of records.

    `within` is that share, exact. Every column keeps its distribution; how columns go together is
    changed. `columns` are all quasi-identifiers unless the policy names some.
    """

    within: Fraction
    columns: tuple[str, ...] = ()

    name: ClassVar[str] = "rank-swap"
    why_records: ClassVar[str] = (
        "each row is swapped by itself, and several rows of a person are several looks at what was near; "
        "give each person one row, or use top-down or optimal"
    )
    spends: ClassVar[str | None] = ByConstruction.name

    def __post_init__(self) -> None:
        settle(self)
        if not 0 < self.within <= 1:
            raise PolicyError(f"within is a share of the records above 0 and at most 1, not {self.within}")

    def named(self) -> Mapping[str, Collection[str]]:
        return {"columns": self.columns}

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:  # noqa: ARG002 - a search's form
        rng = generator()
        reach = max(1, int(self.within * tally.records))
        labels, positions = {}, {}
        for column in _chosen(tally, self.columns):
            codes = np.repeat(column.codes, tally.counts).astype(np.intp)
            # Ties are broken by chance, or records would trade with those that stood beside them.
            order = np.lexsort((rng.random(len(codes)), codes))
            swapped = codes.copy()
            swapped[order] = codes[order][partners(len(codes), reach, rng)]
            labels[column.name], positions[column.name] = column.domain.values, swapped
        return checked(tally, policy, Perturbation(labels, positions), {"within": self.within})


def partners(size: int, reach: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A random pairing in which nobody goes farther than `reach`; who finds no partner stays."""
    with_ = np.arange(size)
    free = np.ones(size, dtype=bool)
    steps = rng.integers(1, reach + 1, size)
    for at in range(size):
        other = at + int(steps[at])
        if free[at] and other < size and free[other]:
            with_[at], with_[other] = other, at
            free[at] = free[other] = False
    return with_


@dataclass(frozen=True, slots=True)
class Sampling(Algorithm):
    """A simple random sample: a share of the records leaves as it is, the others do not.

    `share` is exact. Somebody who finds a match cannot be sure that it is the right person: others like
    her may have been left out.
    """

    share: Fraction

    name: ClassVar[str] = "sampling"
    why_records: ClassVar[str] = (
        "rows are drawn one by one, so whoever has many is nearly certain to be in it; give each person one "
        "row, or use top-down or optimal"
    )
    spends: ClassVar[str | None] = ByConstruction.name

    def __post_init__(self) -> None:
        settle(self)
        if not 0 < self.share < 1:
            raise PolicyError(f"share is a share of the records between 0 and 1, not {self.share}")

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:  # noqa: ARG002 - a search's form
        wanted = int(self.share * tally.records)
        if not wanted:
            raise UnsatisfiableError(f"{self.share} of {tally.records} records is not one record")
        kept = np.zeros(tally.records, dtype=bool)
        kept[generator().choice(tally.records, wanted, replace=False)] = True
        return checked(tally, policy, Perturbation({}, {}, kept), {"share": self.share})


def _chosen(tally: Tally, names: Sequence[str]) -> list[Column]:
    if not names:
        return list(tally.quasi)
    found = {name: tally.column(name) for name in names}
    missing = [name for name, column in found.items() if column is None]
    if missing:
        raise PolicyError(
            *(
                f"algorithm: columns: no quasi-identifier, sensitive attribute or target {n!r}"
                for n in missing
            )
        )
    return [column for column in found.values() if column is not None]


def checked(
    tally: Tally, policy: Terms, recoding: Perturbation, claims: Mapping[str, int | Fraction]
) -> Finding:
    """Promises beside the method's own can be checked, and chance may break them."""
    refuse_coded(policy.algorithm.name, tally)
    after = recoding.recode(tally)
    broken = [m for m in policy.models if not m.spent and not m.check(after).holds]
    if broken:
        raise UnsatisfiableError(
            *(
                f"{model.name}: {policy.algorithm.name} works by chance and does not aim at it"
                for model in broken
            )
        )
    return Finding(recoding, claims=claims)
