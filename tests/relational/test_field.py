"""What is known of a lattice without looking, against the nodes themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Column, Tally, silent
from privet.counts.door import Levels
from privet.counts.memory import counted
from privet.counts.rollup import Rollups
from privet.hierarchy import Tree
from privet.models.kanonymity import KAnonymity
from privet.relational import field as room
from privet.relational import optimal
from privet.relational.field import Field
from privet.relational.judge import Judge, Ruling
from privet.relational.lattice import Lattice
from privet.relational.optimal import Optimal
from privet.testing import tallies

SHAPE = (3, 4, 2)
NODES = list(product(*map(range, SHAPE)))
FLOORS = [np.arange(levels, dtype=float) for levels in SHAPE]


def _below(node: Levels, other: Levels) -> bool:
    return all(np.less_equal(node, other))


@settings(max_examples=60)
@given(st.lists(st.sampled_from(NODES), min_size=1, max_size=4), st.data(), st.sampled_from([1, 4096]))
def test_a_climb_ends_under_nodes_that_are_whole_and_calls_no_node_broken_that_is_not(
    tops: list[Levels], data: st.DataObject, some: int
) -> None:
    broken = [node for node in NODES if any(_below(node, top) for top in tops)]
    start = data.draw(st.sampled_from(broken))
    asked: list[Levels] = []

    def breaks(node: Levels) -> bool:
        asked.append(node)
        return node in broken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "SOME", some)
        field = Field(SHAPE, FLOORS)
        field.break_below(start)
        field.climb(start, breaks)
    marked = {node for node in NODES if field.broken[node]}
    assert {node for node in NODES if _below(node, start)} <= marked <= set(broken)
    assert len(asked) == len(set(asked)), "what was told once is not asked again"
    if some > len(NODES):  # every open node is seen, so every lift that tells anything was tried
        highest = {a for a in marked if not any(a != b and _below(a, b) for b in marked)}
        ends = [a for a in highest if _below(start, a)]
        above = [n for n in NODES for a in ends if _below(a, n) and sum(np.not_equal(a, n)) == 1]
        assert any(all(n not in broken or n in marked for n in above if _below(a, n)) for a in ends)


def test_nodes_that_are_closed_lead_no_climb() -> None:
    field = Field(SHAPE, FLOORS)
    field.close_from(1)  # all but the bottom
    field.break_below((0, 0, 0))
    field.climb((0, 0, 0), lambda _: pytest.fail("nothing is open above"))
    assert field.broken.sum() == 1
    assert field.next() == (0, 0, 0)
    field.close_below((0, 0, 0))
    assert field.next() is None


@settings(max_examples=30)
@given(tallies(cells=25), st.integers(2, 6), st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3)]))
def test_the_search_takes_the_same_way_with_and_without_climbs(tally: Tally, k: int, limit: Fraction) -> None:
    def found() -> object:
        search = Optimal(suppression=limit)
        walk = search._walk(counted(tally), [KAnonymity(k=k)], silent)
        return walk.run()

    with_climbs = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "FAR", float("inf"))
        patch.setattr(Field, "break_below", lambda *_: None)
        assert found() == with_climbs


def _halves(low: int, high: int) -> dict[str, Any]:
    half, name = (low + high) // 2, f"{low} to {high}"
    if high - low == 2:
        return {name: [str(low), str(half)]}
    return {name: {**_halves(low, half), **_halves(half, high)}}


def test_most_nodes_are_decided_without_being_counted() -> None:
    drawn = np.random.default_rng(7).integers(0, 16, (4_000, 6))
    domain = Tree.of(_halves(0, 16)).domain([str(each) for each in range(16)])
    columns = [Column(f"n{at}", domain, domain.column(codes)) for at, codes in enumerate(drawn.T)]
    tally = Tally(tuple(columns), (), None, np.ones(len(drawn), dtype=np.int64))
    ruled: list[Levels] = []
    rule = Judge.rule

    def counting(self: Judge, rollups: Rollups, node: Levels) -> Ruling:
        ruled.append(node)
        return rule(self, rollups, node)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Judge, "rule", counting)
        best = Optimal(suppression=Fraction(1, 20)).solve(tally, [KAnonymity(k=5)])
    assert best.proven
    assert len(ruled) * 2 < best.looked_at
    assert Lattice.of(tally).size > 10 * best.looked_at
