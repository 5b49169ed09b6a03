"""Lattices too large to enumerate: a walk by chance loses no more than one by better neighbours alone."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Column, Tally, silent
from privet.counts.door import Levels
from privet.counts.memory import counted
from privet.counts.rollup import Rollups
from privet.hierarchy import Intervals
from privet.models.kanonymity import KAnonymity
from privet.relational import optimal
from privet.relational.annealing import anneal
from privet.relational.judge import Judge
from privet.relational.lattice import ENUMERABLE, Lattice
from privet.relational.looks import Looks
from privet.relational.objective import Loss, Objective
from privet.relational.optimal import Optimal
from privet.testing import class_models, models, tallies

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


class Valleys:
    """One attribute: the first valley is at 1, the deepest at 6, and a ridge is between."""

    LOSSES = (0.5, 0.49, 0.5, 0.505, 0.5, 0.48, 0.4, 0.41)

    def __init__(self) -> None:
        self.number = 0
        self.best: tuple[float, Levels, None] | None = (0.49, (1,), None)

    def lost(self, node: Levels, enough: float) -> float:
        self.number += 1
        found = self.LOSSES[node[0]]
        if self.best is None or found < self.best[0]:
            self.best = (found, node, None)
        return found


def one_attribute() -> Lattice:
    domain = Intervals(width=WIDTHS).domain([str(value) for value in range(128)])
    column = Column("q", domain, domain.column(np.array([0])))
    return Lattice.of(Tally((column,), (), None, np.ones(1, int)))


def test_it_leaves_a_valley() -> None:
    for seed in range(4):
        looks = Valleys()
        anneal(one_attribute(), looks, lambda steps, looks=looks: looks.number >= 600, seed)  # type: ignore[misc]
        assert looks.best == (0.4, (6,), None)


def test_it_ends_where_all_is_known() -> None:
    """Though nobody limits it: many walks that look at nothing new are the last."""

    class All(Valleys):
        def __init__(self) -> None:
            super().__init__()
            self.seen: set[Levels] = set()

        def lost(self, node: Levels, enough: float) -> float:
            found = super().lost(node, enough)
            self.seen.add(node)
            self.number = len(self.seen)
            return found

    looks = All()
    anneal(one_attribute(), looks, lambda _: False, 0)
    assert looks.number == len(Valleys.LOSSES)


@settings(max_examples=60)
@given(st.data())
def test_what_is_not_looked_at_loses_more_than_enough(data: st.DataObject) -> None:
    """Whatever was asked before, and whatever is promised: the plain loss of the node is the oracle."""
    tally = data.draw(tallies(target=False))
    promises = data.draw(st.lists(models(tally) | class_models(tally), min_size=1, max_size=2))
    limit = data.draw(st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(1)]))
    loss = data.draw(st.sampled_from(list(Loss)))
    lattice, judge = Lattice.of(tally), Judge(tally, promises, limit)
    rollups = counted(tally).grouping(lattice.ladders, judge.sensitive)
    objective = Objective(tally, lattice, loss)
    looks = Looks(rollups, judge, objective, silent)
    nodes = st.tuples(*(st.integers(0, top) for top in lattice.top))
    asked = data.draw(st.lists(st.tuples(nodes, st.floats(0, 1)), min_size=1, max_size=30))
    for node, enough in asked:
        ruling = judge.rule(rollups, node)
        true = objective.of(rollups.at(node), ruling) if ruling.holds else inf
        before, found = looks.number, looks.lost(node, enough)
        if looks.number > before or found < inf:
            assert found == true
        else:
            assert true > enough - 1e-9
    known = [node for node, _ in asked]
    assert looks.number <= len(set(known))


def test_a_seed_and_a_number_of_nodes_give_one_node_whatever_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled loops or numpy, many threads or one: what is looked at is the same, in the same order."""
    tally, search = wide(), Optimal(suppression=Fraction(1, 10), nodes=200, seed=3)
    found = search.solve(tally, [KAnonymity(k=5)])
    monkeypatch.setattr("privet.native.library", lambda: None)
    assert search.solve(tally, [KAnonymity(k=5)]) == found
    other = replace(search, seed=4).solve(tally, [KAnonymity(k=5)])
    assert other.looked_at <= 202


@settings(max_examples=40)
@given(st.data())
def test_the_loss_of_a_node_is_summed_over_whichever_are_fewer(data: st.DataObject) -> None:
    """Classes that stay or classes that go: each cell counted by itself says the same."""
    tally = data.draw(tallies(target=False))
    loss = data.draw(st.sampled_from([Loss.LM, Loss.ENTROPY, Loss.PRECISION]))
    lattice, judge = (
        Lattice.of(tally),
        Judge(tally, [KAnonymity(k=data.draw(st.integers(1, 6)))], Fraction(1)),
    )
    rollups, objective = Rollups(tally, lattice.ladders), Objective(tally, lattice, loss)
    node = data.draw(st.tuples(*(st.integers(0, top) for top in lattice.top)))
    ruling = judge.rule(rollups, node)
    gone = ruling.bad[rollups.of_cells(node)]
    told = objective.told(np.array(node), [c.codes for c in tally.quasi], np.arange(tally.cells))
    want = objective.floor(node) + float((told * tally.counts)[gone].sum()) / tally.records
    assert objective.of(rollups.at(node), ruling) == pytest.approx(want, abs=1e-12)


def test_a_column_that_tells_nothing_loses_nothing_however_few_stay() -> None:
    """Of a column of one value there are no bits to lose, also where the loss is told by what stays."""
    domain = Intervals(width=WIDTHS).domain([str(value) for value in range(128)])
    same, other = domain.column(np.zeros(8, int)), domain.column(np.array([0, 0, 1, 2, 3, 4, 5, 6]))
    tally = Tally((Column("a", domain, same), Column("b", domain, other)), (), None, np.ones(8, np.int64))
    lattice, judge = Lattice.of(tally), Judge(tally, [KAnonymity(k=2)], Fraction(1))
    rollups = counted(tally).grouping(lattice.ladders, ())
    ruling = judge.rule(rollups, lattice.bottom)
    assert ruling.suppressed == 6
    # of the 8 x log2(8) bits of b less what two alike have in common (2), those of the two that stay are told
    want = 0.5 * (1 - 2 * 2 / (8 * 3 - 2))
    assert Objective(tally, lattice, Loss.ENTROPY).of(rollups.at(lattice.bottom), ruling) == pytest.approx(
        want
    )
