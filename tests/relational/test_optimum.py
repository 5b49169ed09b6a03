"""The exact optimum of local recoding on small tables, by integer programming: how far above it searches are.

Every class of a best partition has fewer than 2k records: a larger one could be parted, and no part loses
more. So all groups of k to 2k - 1 records are columns of a set partition, which HiGHS solves. The bound of
larger tables (bench/duality.py) is held to all groups of small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Attribute, Column, Role, Tally, Terms
from privet.hierarchy import Intervals, Tree
from privet.measure.utility import losses, mean_lm
from privet.models.kanonymity import KAnonymity
from privet.relational.auto import AutoSearch
from privet.relational.geometry import ONE, Geometry
from privet.relational.local import Local
from privet.relational.mondrian import Cuts

optimize = pytest.importorskip("scipy.optimize")
K, RECORDS = 2, 12
TREE = Tree.of({"*": {"x": ["a", "b", "c"], "y": ["d", "e"], "z": ["f", "g"]}}).domain([])
NUMBERS = Intervals(width=(2, 4, 8)).domain([str(n) for n in range(16)])


def table(seed: int) -> Tally:
    rng = np.random.default_rng(seed)
    return cells(rng.integers(0, [TREE.size, NUMBERS.size, NUMBERS.size], (RECORDS, 3)), [1] * RECORDS)


def cells(codes: Any, counts: list[int]) -> Tally:
    domains = (("a", TREE), ("b", NUMBERS), ("c", NUMBERS))
    quasi = tuple(
        Column(name, domain, domain.column(np.array(codes)[:, at]))
        for at, (name, domain) in enumerate(domains)
    )
    return Tally(quasi, (), None, np.array(counts, dtype=np.int64))


def geometry_of(tally: Tally, labels: Cuts = Cuts.HIERARCHY) -> Geometry:
    along = [labels.follows(column.domain) for column in tally.quasi]
    return Geometry.of(tally.quasi, along, [1 / len(tally.quasi)] * len(tally.quasi))


def groups_of(tally: Tally, k: int, labels: Cuts = Cuts.HIERARCHY) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every group of k to 2k - 1 records, by their cells, and what each of them loses in it."""
    codes = np.stack([column.codes.astype(np.int32) for column in tally.quasi], axis=1)
    of_record = np.repeat(np.arange(tally.cells), tally.counts).tolist()
    groups = [g for size in range(k, 2 * k) for g in combinations(of_record, size)]
    low = np.stack([codes[list(group)].min(axis=0) for group in groups])
    high = np.stack([codes[list(group)].max(axis=0) for group in groups])
    return zip(groups, geometry_of(tally, labels).loss(low, high).tolist(), strict=True)


def optimum(tally: Tally, labels: Cuts = Cuts.HIERARCHY, *, parts: bool = False) -> float:
    """What the best partition loses; with parts of groups allowed, no more than that."""
    groups, lost = zip(*groups_of(tally, K, labels), strict=True)
    cost = np.array(lost) / ONE * [len(group) for group in groups]
    member = np.array([[one in group for group in groups] for one in range(RECORDS)], dtype=float)
    found = optimize.milp(
        cost,
        constraints=optimize.LinearConstraint(member, 1, 1),
        integrality=np.full(len(groups), not parts),
        bounds=optimize.Bounds(0, 1),
    )
    return float(found.fun) / RECORDS


def searched(tally: Tally, search: Local | AutoSearch) -> float:
    attributes = tuple(Attribute(column.name, Role.QUASI) for column in tally.quasi)
    found = search.search(tally, Terms(attributes, (KAnonymity(k=K),), search)).recoding
    return mean_lm(losses(tally, found))  # type: ignore[arg-type]


def test_local_recoding_comes_near_the_optimum() -> None:
    """Over eight tables: never below it, which would be a wrong sum; refined nearer than the sweep alone."""
    tables = [table(seed) for seed in range(8)]
    best = [optimum(one) for one in tables]
    searches = Local(refine=0), Local(), AutoSearch(labels=Cuts.HIERARCHY)
    swept, refined, chosen = ([searched(one, search) for one in tables] for search in searches)
    for found in (swept, refined, chosen):
        assert all(a >= b - 1e-6 for a, b in zip(found, best, strict=True))
    assert sum(chosen) <= sum(refined) < sum(swept)
    assert sum(refined) <= 1.25 * sum(best)


@pytest.mark.parametrize("labels", [Cuts.LEVELS, Cuts.RANGES])
def test_so_do_ranges_of_whole_groups_and_lose_less(labels: Cuts) -> None:
    tables = [table(seed) for seed in range(8)]
    best = [optimum(one, labels) for one in tables]
    chosen = [searched(one, AutoSearch(labels=labels)) for one in tables]
    assert all(a >= b - 1e-6 for a, b in zip(chosen, best, strict=True))
    assert sum(chosen) <= 1.25 * sum(best)
    assert sum(best) < 0.9 * sum(map(optimum, tables))


@pytest.fixture(scope="module")
def duality() -> Any:
    """bench/ is not an installed package: it is found from the root of the repository."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).resolve().parents[2])
        from bench import duality

        return duality


def test_the_bound_of_large_tables_is_the_best_there_is_of_its_kind(duality: Any) -> None:
    """The best prices add up to what the best groups lose where they need not be whole (strong duality)."""
    for tally in map(table, range(4)):
        begun = np.zeros(tally.cells, dtype=np.intp)
        prices = duality.prices(tally, geometry_of(tally), K, begun, 40)
        bound, relaxed = float(prices.sum()) / ONE / RECORDS, optimum(tally, parts=True)
        assert relaxed - 1e-5 < bound <= relaxed + 1e-7
        assert bound <= optimum(tally) + 1e-7


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_prices_hold_in_every_group(duality: Any, data: st.DataObject) -> None:
    """However early they are stopped, whatever partition they begin with, and where records are equal."""
    code = st.tuples(*(st.integers(0, size - 1) for size in (TREE.size, NUMBERS.size, NUMBERS.size)))
    codes = data.draw(st.lists(code, min_size=2, max_size=7, unique=True))
    counts = data.draw(st.lists(st.integers(1, 2), min_size=len(codes), max_size=len(codes)))
    tally, k = cells(codes, counts), data.draw(st.integers(1, min(3, sum(counts))))
    half = np.arange(tally.cells) % 2
    begun = half if min(np.bincount(half, weights=counts)) >= k else half * 0
    rounds, seconds = data.draw(st.integers(0, 6)), data.draw(st.sampled_from([0.0, 1e-9, float("inf")]))
    prices = duality.prices(tally, geometry_of(tally), k, begun, rounds, seconds=seconds)
    assert all(sum(prices[list(group)]) <= len(group) * lost for group, lost in groups_of(tally, k))
    assert duality.broken(tally, geometry_of(tally), k, prices) == 0


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_prices_that_are_too_high_are_found(duality: Any, data: st.DataObject) -> None:
    tally = table(data.draw(st.integers(0, 5)))
    some = st.lists(st.integers(-ONE // 4, ONE // 2), min_size=RECORDS, max_size=RECORDS)
    prices = np.array(data.draw(some), dtype=np.int64)
    wrong = any(sum(prices[list(group)]) > len(group) * lost for group, lost in groups_of(tally, K))
    assert (duality.broken(tally, geometry_of(tally), K, prices) > 0) == wrong
