"""The exact optimum of local recoding on small tables, by integer programming: how far above it searches are.

Every class of a best partition has fewer than 2k records: a larger one could be parted, and no part loses
more. So all groups of k to 2k - 1 records are columns of a set partition, which HiGHS solves.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privet.core import Attribute, Column, Role, Tally, Terms
from privet.hierarchy import Intervals, Tree
from privet.measure.utility import losses, mean_lm
from privet.models.kanonymity import KAnonymity
from privet.relational.auto import AutoSearch
from privet.relational.geometry import ONE, Geometry
from privet.relational.local import Local

optimize = pytest.importorskip("scipy.optimize")
K, RECORDS = 2, 12
TREE = Tree.of({"*": {"x": ["a", "b", "c"], "y": ["d", "e"], "z": ["f", "g"]}}).domain([])
NUMBERS = Intervals(width=(2, 4, 8)).domain([str(n) for n in range(16)])


def table(seed: int) -> Tally:
    rng = np.random.default_rng(seed)
    quasi = tuple(
        Column(name, domain, domain.column(rng.integers(0, domain.size, RECORDS)))
        for name, domain in (("a", TREE), ("b", NUMBERS), ("c", NUMBERS))
    )
    return Tally(quasi, (), None, np.ones(RECORDS, dtype=np.int64))


def optimum(tally: Tally) -> float:
    geometry = Geometry.of(tally.quasi, [True] * len(tally.quasi), [1 / len(tally.quasi)] * len(tally.quasi))
    codes = np.stack([column.codes.astype(np.int32) for column in tally.quasi], axis=1)
    groups = [g for size in range(K, 2 * K) for g in combinations(range(RECORDS), size)]
    low = np.stack([codes[list(group)].min(axis=0) for group in groups])
    high = np.stack([codes[list(group)].max(axis=0) for group in groups])
    cost = geometry.loss(low, high) / ONE * [len(group) for group in groups]
    member = np.array([[one in group for group in groups] for one in range(RECORDS)], dtype=float)
    found = optimize.milp(
        cost,
        constraints=optimize.LinearConstraint(member, 1, 1),
        integrality=np.ones(len(groups)),
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
    swept, refined, chosen = (
        [searched(one, search) for one in tables] for search in (Local(refine=0), Local(), AutoSearch())
    )
    for found in (swept, refined, chosen):
        assert all(a >= b - 1e-6 for a, b in zip(found, best, strict=True))
    assert sum(chosen) <= sum(refined) < sum(swept)
    assert sum(refined) <= 1.25 * sum(best)
