"""Lattices too large to enumerate: a walk by chance loses no more than one by better neighbours alone."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from privet.core import Column, Tally
from privet.hierarchy import Intervals
from privet.models.kanonymity import KAnonymity
from privet.relational import optimal
from privet.relational.annealing import anneal
from privet.relational.lattice import ENUMERABLE, Lattice
from privet.relational.optimal import Optimal

WIDTHS = [2**power for power in range(1, 7)]


def wide(columns: int = 10, records: int = 1_500) -> Tally:
    rng = np.random.default_rng(0)
    made = []
    for at in range(columns):
        domain = Intervals(width=WIDTHS).domain([str(value) for value in range(128)])
        values = np.clip(rng.normal(64, 6 + 3 * at, records), 0, 127).astype(int)
        made.append(Column(f"q{at}", domain, domain.column(values)))
    return Tally(tuple(made), (), None, np.ones(records, dtype=np.int64))


def test_a_walk_by_chance_finds_what_better_neighbours_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = wide()
    assert Lattice.of(tally).size > ENUMERABLE
    search = Optimal(suppression=Fraction(1, 10), nodes=400)
    walked = search.solve(tally, [KAnonymity(k=5)])
    assert walked == search.solve(tally, [KAnonymity(k=5)])  # by its seed
    assert not walked.proven
    assert walked.looked_at <= 402
    monkeypatch.setattr(optimal, "FIRST", 1.0)
    assert walked.loss < search.solve(tally, [KAnonymity(k=5)]).loss


@pytest.mark.parametrize("seconds", [0.0, 1000.0])
def test_a_clock_decides_nothing_that_nobody_limited(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """However long a look takes on a busy machine, the same nodes are looked at."""
    tally, clock = wide(), itertools.count(0.0, seconds)
    monkeypatch.setattr(optimal, "WORK", 150 * (optimal.COLUMN * len(tally.quasi) + tally.records))
    monkeypatch.setattr(optimal, "FEWEST", 1)
    usual = Optimal(suppression=Fraction(1, 10)).solve(tally, [KAnonymity(k=5)])
    assert usual == Optimal(suppression=Fraction(1, 10), nodes=150).solve(tally, [KAnonymity(k=5)])
    monkeypatch.setattr("time.monotonic", clock.__next__)
    assert Optimal(suppression=Fraction(1, 10)).solve(tally, [KAnonymity(k=5)]) == usual


def test_it_leaves_a_valley() -> None:
    """One attribute: the first valley is at 1, the deepest at 6, and a ridge is between."""
    domain = Intervals(width=WIDTHS).domain([str(value) for value in range(128)])
    lattice = Lattice.of(
        Tally((Column("q", domain, domain.column(np.array([0]))),), (), None, np.ones(1, int))
    )
    losses = [0.5, 0.49, 0.5, 0.505, 0.5, 0.48, 0.4, 0.41]
    found = []
    for seed in range(4):
        seen: list[int] = []

        def lost(node: tuple[int, ...], seen: list[int] = seen) -> float:
            seen.append(node[0])
            return losses[node[0]]

        anneal(lattice, (1,), lost, lambda seen=seen: len(seen) / 600, seed)  # type: ignore[misc]
        found.append(min(losses[at] for at in seen))
    assert found.count(0.4) >= 3
