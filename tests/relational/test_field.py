"""What is known of a lattice without looking, against the nodes themselves."""

from __future__ import annotations

from collections.abc import Callable
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
from privet.relational.optimal import Optimal, Optimum
from privet.relational.samarati import Samarati
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
        field.climb_over_open(start, breaks)
    marked = {node for node in NODES if field.broken(node)}
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
    field.climb_over_open((0, 0, 0), lambda _: pytest.fail("nothing is open above"))
    assert [node for node in NODES if field.broken(node)] == [(0, 0, 0)]
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


def drawn(*sizes: int) -> Tally:
    """Records by chance, over columns of so many values."""
    rng = np.random.default_rng(7)
    columns = []
    for at, size in enumerate(sizes):
        domain = Tree.of(_halves(0, size)).domain([str(each) for each in range(size)])
        columns.append(Column(f"n{at}", domain, domain.column(rng.integers(0, size, 4_000))))
    return Tally(tuple(columns), (), None, np.ones(4_000, dtype=np.int64))


def ruled_by(search: Callable[[], Any]) -> tuple[list[Levels], Any]:
    """The nodes that a search looks at, and what it finds."""
    ruled: list[Levels] = []
    rule = Judge.rule

    def counting(self: Judge, rollups: Rollups, node: Levels) -> Ruling:
        ruled.append(node)
        return rule(self, rollups, node)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Judge, "rule", counting)
        return ruled, search()


def test_most_nodes_are_decided_without_being_counted() -> None:
    tally = drawn(*[16] * 6)
    ruled, best = ruled_by(lambda: Optimal(suppression=Fraction(1, 20)).solve(tally, [KAnonymity(k=5)]))
    assert best.proven
    assert len(ruled) * 2 < best.looked_at
    assert Lattice.of(tally).size > 10 * best.looked_at


def test_a_height_is_decided_by_few_of_its_nodes() -> None:
    tally = drawn(*[512] * 4, 2, 2)
    ruled, found = ruled_by(lambda: Samarati(suppression=Fraction(1, 20)).solve(tally, [KAnonymity(k=5)]))
    lattice = Lattice.of(tally)
    probed = sum(len(lattice.of_height(probe.height)) for probe in found.probes)
    assert len(ruled) * 3 < probed


@pytest.mark.parametrize("search", [Optimal, Samarati], ids=lambda search: search.name)
def test_columns_that_stand_at_one_level_are_as_many_as_there_are(search: Any) -> None:
    """An array has at most 64 axes, and a table may have more columns."""
    domain = Tree.of({"*": ["a", "b"]}).domain(["a", "b"])
    columns = [Column(f"n{at}", domain, domain.column(np.array([0, 0, 1]))) for at in range(70)]
    tally = Tally(tuple(columns), (), None, np.array([2, 2, 1]))
    free = [3, 69]
    levels = {f"n{at}": 1 for at in range(70) if at not in free}
    found = search(levels=levels).solve(tally, [KAnonymity(k=2)])
    node = found.node if isinstance(found, Optimum) else found.nodes[0]
    assert sorted(node[at] for at in free) == [1, 1], "two records of one kind, and one of another"
    assert sum(node) == 2
