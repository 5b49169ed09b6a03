"""The auditor: every sequence of up to L points, written out from every path, sorted and counted.

Checks what is about to leave. It knows nothing of the search: no pruning, no minimality, no trees. It
also answers what the promise for paths does not cover: an adversary who knows places without times, or
times without places (Mohammed 2012, section 4.5, holds that such knowledge is always weaker; for the size
of a group it is, but not for confidence, where a place can be visited twice).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.core import Verdict
from privet.equality import equal
from privet.errors import PolicyError, UnsupportedError
from privet.models.linkage import Linkage
from privet.models.template import EVERY
from privet.trajectory.claims import Argument, Proof
from privet.trajectory.known import Knowledge, Known, by_size
from privet.trajectory.paths import Paths


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that must not be known; labels are values from the data, for the steward's own eyes."""

    labels: tuple[str, ...] = field(repr=False)
    support: int
    share: Fraction  # the largest of a protected value


@dataclass(frozen=True, slots=True)
class OfLength:
    """All sequences of one length."""

    length: int
    sequences: int
    smallest: int  # support
    largest: Fraction  # share of a protected value
    broken: int


@dataclass(frozen=True, slots=True)
class Audit:
    verdict: Verdict
    by_length: tuple[OfLength, ...]
    violations: tuple[Violation, ...] = field(repr=False)


def audit(paths: Paths, promise: Linkage, knowledge: Knowledge = Knowledge.POINTS) -> Audit:
    """Does every sequence that occurs, of every length up to L, keep the promise?"""
    if promise.quasi is not None:
        raise UnsupportedError("a promise about named quasi-identifiers says nothing about paths")
    known = Known.of(paths, knowledge)
    counts, protected = known.added(paths.counts), having(known, paths, promise)
    at_risk = np.zeros(known.groups, dtype=bool)
    by_length: list[OfLength] = []
    found: list[Violation] = []
    for size, turns in by_size(known, promise.l):
        total, smallest, largest, before = 0, paths.records, Fraction(0), len(found)
        for turn in turns:
            support = added(counts[turn.of], turn.edges)
            bad = support < promise.k
            holders = [added(records[turn.of], turn.edges) for records, _ in protected]
            for held, (_, at_most) in zip(holders, protected, strict=True):
                bad |= above(held, support, at_most)
                largest = max(largest, largest_share(held, support))
            total += len(support)
            smallest = min(smallest, int(support.min()))
            at_risk[turn.of[np.repeat(bad, np.diff(turn.edges))]] = True
            for at in np.flatnonzero(bad).tolist():
                shares = [Fraction(int(held[at]), int(support[at])) for held in holders]
                found.append(Violation(turn.labels(at), int(support[at]), max(shares, default=Fraction(0))))
        by_length.append(OfLength(size, total, smallest, largest, len(found) - before))
    achieved: dict[str, int | Fraction] = {
        "k": min((one.smallest for one in by_length), default=paths.records)
    }
    if protected:
        achieved["c"] = max((one.largest for one in by_length), default=Fraction(0))
    verdict = Verdict(achieved, len(found), int(counts[at_risk].sum()))
    return Audit(verdict, tuple(by_length), tuple(found))


def recount(paths: Paths, promise: Linkage) -> Argument:
    """The classes of all sequences, to be compared with what a search claims."""
    known = Known.of(paths, Knowledge.POINTS)
    protected = having(known, paths, promise)
    weights = [known.added(paths.counts), *(records for records, _ in protected)]
    found: Counter[tuple[int, ...]] = Counter()
    for size, turns in by_size(known, promise.l):
        for turn in turns:
            sums = np.stack([added(weight[turn.of], turn.edges) for weight in weights])
            kinds, many = np.unique(sums, axis=1, return_counts=True)
            for kind, sequences in zip(kinds.T.tolist(), many.tolist(), strict=True):
                found[size, *kind] += sequences
    return Argument.of(promise, [at_most for _, at_most in protected], found)


def recheck(paths: Paths, promises: Sequence[Linkage], proof: Proof) -> tuple[str, ...]:
    """What is wrong with a proof about what is published; nothing, if it can be believed."""
    complaints = []
    if tuple(argument.promise for argument in proof.arguments) != tuple(promises):
        complaints.append("the proof is about other promises than the policy's")
    for at, argument in enumerate(proof.arguments, start=1):
        counted = recount(paths, argument.promise)
        if not counted.holds:
            broken = sum(
                one.sequences for one in counted.classes if not one.keeps(argument.promise.k, counted.bounds)
            )
            complaints.append(f"promise {at}: {broken} sequences break it")
        claimed, true = set(argument.classes), set(counted.classes)
        if claimed != true or argument.bounds != counted.bounds:
            complaints.append(
                f"promise {at}: {len(claimed - true)} classes of sequences are claimed that are not there, "
                f"{len(true - claimed)} are there that are not claimed"
            )
    return tuple(complaints)


def having(known: Known, paths: Paths, promise: Linkage) -> list[tuple[NDArray[np.int64], Fraction]]:
    """For each protected value: how many records of each group have it, and the largest share allowed."""
    columns = {column.name: column for column in paths.sensitive}
    found = []
    for template in promise.templates:
        if template.attribute not in columns:
            raise PolicyError(
                f"sensitive.{template.attribute}: the policy has no sensitive attribute of that name"
            )
        column = columns[template.attribute]
        for code, value in enumerate(column.domain.values):
            if template.at_most < 1 and (template.value is EVERY or equal(template.value, value)):
                found.append((known.added(paths.counts * (column.codes == code)), template.at_most))
    return found


def added(weight: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums between one edge and the next."""
    return np.diff(np.concatenate(([0], np.cumsum(weight)))[edges])


def above(holders: NDArray[np.int64], support: NDArray[np.int64], at_most: Fraction) -> NDArray[np.bool_]:
    """Is a share beyond its bound? Multiplied out, in Python's own numbers where 63 bits are too few."""
    if int(support.max()) * at_most.denominator >= 2**62:
        exact: NDArray[np.bool_] = (
            holders.astype(object) * at_most.denominator > support.astype(object) * at_most.numerator
        )
        return exact.astype(bool)
    return holders * at_most.denominator > support * at_most.numerator


def largest_share(holders: NDArray[np.int64], support: NDArray[np.int64]) -> Fraction:
    share = holders / support
    near = share >= share.max() * (1 - 1e-12)  # rounding decides nothing: the rest is exact
    pairs = np.unique(np.stack([holders[near], support[near]]), axis=1).T.tolist()
    return max(Fraction(*pair) for pair in pairs)


@dataclass(frozen=True, eq=False)
class PathMatch:
    """What somebody learns who knows this much of a person in the data."""

    records: int
    cells: NDArray[np.intp] = field(repr=False)  # which paths match
    shares: dict[str, dict[str | None, Fraction]] = field(repr=False)  # of each value of each column


def link(paths: Paths, known: Sequence[tuple[str | None, str | None]]) -> PathMatch:
    """The linkage attack: `known` are visits as (place, time), where None stands for what is not known."""
    owner = np.repeat(np.arange(paths.cells), np.diff(paths.starts))
    matches = np.ones(paths.cells, dtype=bool)
    for place, time in known:
        fits = np.ones(len(paths.points), dtype=bool)
        if place is not None:
            fits &= np.array([paths.points.places[at] == place for at in paths.points.place], dtype=bool)
        if time is not None:
            fits &= np.array([paths.points.times[at] == time for at in paths.points.time], dtype=bool)
        there = np.zeros(paths.cells, dtype=bool)
        there[owner[fits[paths.visits]]] = True
        matches &= there
    cells = np.flatnonzero(matches)
    counts = paths.counts[cells]
    total = int(counts.sum())
    return PathMatch(
        total,
        cells,
        {
            column.name: {
                value: Fraction(int(counts[column.codes[cells] == code].sum()), total)
                for code, value in enumerate(column.domain.values)
                if total
            }
            for column in paths.sensitive
        },
    )
