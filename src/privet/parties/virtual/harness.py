"""Loss of privacy, measured: protocols are run many times, and a successor makes the best claim that it can.

For every node and round the claim of whoever receives its message is compared with the truth; the loss is how
often it is true, less how often it would be true to who knows the result only. Of a node its worst round
counts. Runs are repeatable: their chance is seeded, and nothing of it protects anybody.

From Python only: `bench virtual` draws the curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.parties.primitives.extremes import Ints, Rounds, answered


@dataclass(frozen=True)
class Measured:
    """The loss of each node; of one that is not exposed, about 0."""

    by_node: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.by_node) / len(self.by_node)

    @property
    def worst(self) -> float:
        return max(self.by_node)


def maximum(nodes: int, runs: int, how: Rounds, seed: int, high: int = 10_000) -> Measured:
    """Of a secure maximum of values from 1 to `high`; claim: the value that passes is the node's own."""
    rng = np.random.default_rng(seed)

    def draw(bounds: Ints) -> Ints:
        return rng.integers(0, bounds)

    values = rng.integers(1, high + 1, size=(nodes, runs))
    passed = np.zeros((how.rounds, nodes, runs), dtype=np.int64)
    value = np.zeros(runs, dtype=np.int64)
    everywhere = np.ones(runs, dtype=bool)
    for at in range(how.rounds):
        for node in range(nodes):
            value = passed[at, node] = answered(value, values[node], everywhere, how.chance(at), draw)
    truth = (passed == values).mean(axis=2)
    known = (passed == value).mean(axis=2) / nodes  # who has the result may be any
    return Measured(tuple((truth - known).max(axis=0).tolist()))


def added(nodes: int, runs: int, modulus: int, seed: int) -> Measured:
    """Of a secure sum; claim: the residue that passes is the node's own number."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, max(1, modulus // nodes), size=(nodes, runs))
    passed = (np.cumsum(values, axis=0) + rng.integers(0, modulus, size=runs)) % modulus
    return Measured(tuple(((passed == values).mean(axis=1) - 1 / modulus).tolist()))


@dataclass(frozen=True)
class United:
    """Claims about the leader of a union, by its successor."""

    set_worst: float  # how often "these are its items" is true, to who knows that it leads
    set_average: float  # to who does not
    item_worst: float  # the loss of "this is its item", of any that was seen
    item_counted: float = 0.0  # of the one that was seen most often


def answers(by_site: Sequence[Ints], domain: int, decoys: int, *, runs: int, seed: int) -> United:
    """Of the union that answers a question: which rows each site has, as numbers below `domain`.

    Rows of one box with the same values are the same number, as often as they occur. Every site leads and
    every other follows it equally often. Who knows the result only claims of any of its rows that are not its
    own: of a large group many sites have a row, so that is often true.
    """
    rng = np.random.default_rng(seed)
    nodes = len(by_site)
    counted = np.array([np.bincount(rows, minlength=domain) for rows in by_site])
    result = counted.sum(axis=0)
    true, item = 0, 0.0
    for at in range(runs):
        leader, follows = at % nodes, (at + 1 + at // nodes % (nodes - 1)) % nodes
        seen = counted[leader] + np.bincount(rng.integers(0, domain, size=decoys), minlength=domain)
        true += bool((np.minimum(seen, result) == counted[leader]).all())
        claims = np.minimum(seen, result - counted[follows])
        known = result - counted[follows]
        item += _share(claims, counted[leader]) - _share(known, counted[leader])
    worst = true / runs
    return United(worst, worst / (nodes - 1), item / runs)


def _share(claims: Ints, has: Ints) -> float:
    """How many claims are about a row like one that the site has."""
    return float(claims[has > 0].sum() / max(1, claims.sum()))


def united(domain: int, items: int, nodes: int, decoys: int, *, runs: int, seed: int) -> United:
    """Of a secure set union where each node has an equal share of the items, all of them different."""
    rng = np.random.default_rng(seed)
    share = items // nodes
    true, chance, counted = 0, 0.0, 0.0
    for _ in range(runs):
        drawn = rng.integers(
            0, domain, size=decoys
        )  # items are numbered: the leader's first, then the next's
        copies = np.bincount(drawn[drawn < items], minlength=items)
        hit = np.flatnonzero(copies)
        true += not (hit >= share).any()  # what it saw and is in the result is then the leader's
        others = int((hit >= 2 * share).sum())  # the successor knows its own
        chance += share / (share + others)
        often = np.concatenate([copies[:share] + 1, copies[2 * share :]])
        most = often == often.max()
        counted += most[:share].sum() / most.sum()
    worst, known = true / runs, 1 / (nodes - 1)
    return United(worst, worst * known, chance / runs - known, counted / runs - known)
