"""Classes made better: never worse, every promise kept, and the same with and without the compiled loop."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tries import seldom

from privet import native
from privet.core import Column, PrivacyModel, Tally
from privet.domain import flat
from privet.hierarchy import Dates, Flat, Intervals, Prefix, Tree
from privet.models.alphak import AlphaKAnonymity
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.relational.geometry import ONE, Geometry
from privet.relational.judge import Judge
from privet.relational.ranges import labels_of
from privet.relational.refine import Classes, Near, refined
from privet.relational.regroup import BLOCK, Groups, heats, regrouped

TREE = Tree.of({"*": {"x": ["a", "b", "c"], "y": ["d", "e"], "z": ["f"]}})
DOMAINS = (
    Intervals(low=0, high=40, step=5).domain([str(n) for n in range(40)]),
    Flat().domain([str(n) for n in range(7)]),
    TREE.domain([]),
    Intervals(low=0, high=40).domain([str(n) for n in range(0, 40, 3)]),
    Intervals(low=0, high=1000).domain(
        [str(n) for n in range(0, 1000, 3)]
    ),  # more than a table holds ranges of
    Dates(levels=("month", "year")).domain(
        [f"20{y}-{m:02}-{d:02}" for y in (11, 12) for m in (1, 2, 5) for d in (3, 9)] + [None]
    ),
    Intervals(width=(5, 20)).domain([str(n) for n in range(3, 60, 2)]),
    Prefix(keep=(3, 1)).domain([f"{n}1" for n in range(5370, 5500, 7)]),
)
ALONG = [False, False, True, True, True, False, False, False]
EVERY: list[PrivacyModel] = [
    KAnonymity(k=3),
    DistinctLDiversity(l=2, sensitive=("s",)),
    AlphaKAnonymity(alpha=Fraction(4, 5), k=2, sensitive={"s": ["0"]}),
]


def table(seed: int, cells: int = 40) -> Tally:
    rng = np.random.default_rng(seed)
    quasi = tuple(
        Column(f"q{at}", domain, domain.column(rng.integers(0, domain.size, cells)))
        for at, domain in enumerate(DOMAINS)
    )
    ill = flat(("0", "1", "2"))
    sensitive = Column("s", ill, ill.column(np.arange(cells) % 3))
    return Tally(quasi, (sensitive,), None, rng.integers(1, 4, cells).astype(np.int64))


def geometry(tally: Tally) -> Geometry:
    return Geometry.of(tally.quasi, ALONG, [1 / len(ALONG)] * len(ALONG))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(EVERY))
def test_classes_become_better_and_every_promise_is_kept(seed: int, model: PrivacyModel) -> None:
    tally = table(seed)
    start = np.arange(tally.cells) // 10
    judge = Judge(tally, (model,))
    if not _keeps(tally, start, model):
        return
    found = refined(tally, start, geometry(tally), judge, 1e5)
    before, after = (Classes(tally, of_cell, geometry(tally)).lost for of_cell in (start, found))
    assert after < before
    assert _keeps(tally, found, model)
    assert sorted(set(found.tolist())) == list(range(int(found.max()) + 1))


def _keeps(tally: Tally, of_cell: Any, model: PrivacyModel) -> bool:
    """The promise, on the classes as a column of their own: by the model, not by the judge."""
    names = flat(tuple(str(at) for at in range(int(of_cell.max()) + 1)))
    classes = Column("class", names, names.column(of_cell))
    return model.check(Tally((classes,), tally.sensitive, None, tally.counts)).holds


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(5))
def test_the_plain_loop_finds_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")
    tally = table(seed)
    classes = Classes(tally, np.arange(tally.cells) // 5, geometry(tally))
    near = Near.of(classes, np.random.default_rng(seed))
    asked = np.arange(tally.cells, dtype=np.int32)
    compiled = classes.best_moves(asked, near, 3)
    monkeypatch.setattr(native, "library", lambda: None)
    plain = classes.best_moves(asked, near, 3)
    assert [one.tolist() for one in compiled] == [one.tolist() for one in plain]
    assert (compiled[0] > 0).any()


@pytest.mark.parametrize("empty", [False, True])
def test_classes_settle_alike_with_and_without_loops(empty: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = table(3)
    of_cell = np.random.default_rng(3).integers(0, 9, tally.cells)
    if empty:  # classes that have lost all their cells, the first among them
        of_cell[of_cell < 4] = 7
    found = []
    for worth in (0, 10**9):
        monkeypatch.setattr(native, "WORTH_CALLING", worth)
        classes = Classes(tally, of_cell, geometry(tally))
        found.append([classes.member, classes.start, classes.low, classes.high, classes.size])
    for one, other in zip(*found, strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    for at in range(9):
        cells = np.flatnonzero(of_cell == at)
        assert classes.members(at).tolist() == cells.tolist()
        assert classes.size[at] == tally.counts[cells].sum()


@given(st.sampled_from(range(len(DOMAINS))), st.data())
def test_a_range_loses_what_its_label_loses(at: int, data: st.DataObject) -> None:
    domain = DOMAINS[at]
    low = data.draw(st.integers(0, domain.size - 1))
    high = data.draw(st.integers(low, domain.size - 1))
    column = Column("q", domain, domain.column(np.array([low])))
    made = Geometry.of((column,), [ALONG[at]], [1.0])
    ends = np.array([[low]], dtype=np.int32), np.array([[high]], dtype=np.int32)
    (node,), _ = labels_of(domain, np.array([low]), np.array([high]), along=ALONG[at])
    assert made.loss(*ends)[0] / ONE == pytest.approx(domain.loss(node), abs=1e-6)


def test_neighbourhoods_hold_every_class_once() -> None:
    tally = table(3, cells=600)
    classes = Classes(tally, np.arange(600) // 2, geometry(tally))
    near = Near.of(classes, np.random.default_rng(0))
    assert sorted(near.beside.tolist()) == list(range(300))
    for one in range(300):
        assert one in near.beside[near.first[one] : near.last[one]]
        assert near.last[one] - near.first[one] <= 64


def test_no_work_changes_nothing() -> None:
    tally = table(1)
    start = np.arange(tally.cells) // 10
    assert refined(tally, start, geometry(tally), Judge(tally, EVERY[:1]), 0).tolist() == start.tolist()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_chance_makes_classes_better_and_never_too_small(seed: int, k: int) -> None:
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")
    tally = table(seed)
    start = np.arange(tally.cells) // 10
    judge = Judge(tally, (KAnonymity(k=k),))
    found = regrouped(tally, start, geometry(tally), judge, 20 * BLOCK)
    before, after = (Classes(tally, of_cell, geometry(tally)).lost for of_cell in (start, found))
    assert after < before
    assert _keeps(tally, found, KAnonymity(k=k))
    assert sorted(set(found.tolist())) == list(range(int(found.max()) + 1))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("seed", "cells", "smallest"),
    seldom([(0, 60, 3), (1, 60, 3), (0, 120, 30), (1, 120, 30)], [(0, 60, 3), (0, 120, 30)]),
)
def test_the_plain_walk_goes_the_same_way(
    seed: int, cells: int, smallest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In classes of a few cells, and in those whose ends are looked for one by one."""
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")
    tally = table(seed, cells)
    start = np.arange(cells) * 5 // cells
    quick, plain = (Groups(tally, start, geometry(tally), smallest) for _ in range(2))
    heat = heats(4)
    beside = quick.beside()
    quick.walk(beside, heat, seed)
    monkeypatch.setattr(native, "library", lambda: None)
    assert np.array_equal(plain.beside(), beside)
    plain.walk(beside, heat, seed)
    assert plain.of_cell.tolist() == quick.of_cell.tolist()
    assert (quick.of_cell != start).mean() > 0.5
    assert smallest > 3 or len(set(quick.of_cell.tolist())) > 5  # classes were founded


def test_where_more_than_sizes_is_promised_chance_changes_nothing() -> None:
    tally = table(0)
    start = np.arange(tally.cells) // 10
    judge = Judge(tally, (DistinctLDiversity(l=2, sensitive=("s",)),))
    assert regrouped(tally, start, geometry(tally), judge, 20 * BLOCK) is start


def test_too_few_steps_or_no_time_leave_the_classes_as_they_are() -> None:
    tally = table(0)
    start = np.arange(tally.cells) // 10
    judge = Judge(tally, (KAnonymity(k=3),))
    assert regrouped(tally, start, geometry(tally), judge, 1) is start
    assert regrouped(tally, start, geometry(tally), judge, 20 * BLOCK, until=0.0) is start


def test_without_compiled_loops_nobody_waits_for_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = table(0)
    start = np.arange(tally.cells) // 10
    monkeypatch.setattr(native, "library", lambda: None)
    assert regrouped(tally, start, geometry(tally), Judge(tally, (KAnonymity(k=3),)), 10**9) is start
