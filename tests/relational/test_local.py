"""The local search: what it makes keeps every promise, and its sweep is the one of its definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import native
from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.counts.door import Levels
from privet.domain import flat
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.models.kanonymity import KAnonymity
from privet.models.lkc import LKC
from privet.models.tcloseness import Distance, TCloseness
from privet.recoding import Regions
from privet.relational import absorb
from privet.relational import local as room
from privet.relational.judge import Judge
from privet.relational.lattice import Lattice, ascending
from privet.relational.local import Local, Sweep
from privet.relational.objective import Objective
from privet.relational.optimal import Optimal
from privet.testing import class_models, policy_for, tallies


def lm(tally: Tally, recoding: Regions) -> float:
    lost = 0.0
    for column in tally.quasi:
        for at, count in zip(recoding.positions[column.name], tally.counts, strict=True):
            lost += column.domain.loss(recoding.nodes[column.name][at]) * int(count)
    return lost / tally.records / len(tally.quasi)


def searched(tally: Tally, promises: Sequence[PrivacyModel], search: Local) -> Regions:
    recoding = search.search(tally, policy_for(tally, promises, search)).recoding
    assert isinstance(recoding, Regions)
    return recoding


@settings(max_examples=80)
@given(st.data())
def test_every_promise_is_kept_and_every_record_published(data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False, cells=25))
    promises = [
        KAnonymity(k=data.draw(st.integers(1, 5))),
        *data.draw(st.lists(class_models(tally), max_size=2)),
    ]
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(absorb, "MANY", data.draw(st.sampled_from([0, 1000])))
            recoding = searched(tally, promises, Local())
    except UnsatisfiableError:
        assert not all(promise.check(tally.topmost()).holds for promise in promises)
        return
    except UnsupportedError:
        return
    published = tally.recoded(recoding)
    assert published.records == tally.records
    assert all(promise.check(published).holds for promise in promises)
    for column in tally.quasi:
        nodes, at = recoding.nodes[column.name], recoding.positions[column.name]
        assert all(nodes[i].lo <= code < nodes[i].hi for i, code in zip(at, column.codes, strict=True))


@settings(max_examples=40)
@given(st.data())
def test_the_sweep_takes_what_is_large_enough_at_each_node(data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False, cells=25))
    k = data.draw(st.integers(1, 5))
    lattice = Lattice.of(tally)
    objective = Objective(tally, lattice)
    sweep = Sweep(tally, lattice, Judge(tally, [KAnonymity(k=k)]), objective)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            room, "MANY", data.draw(st.sampled_from([0, 1000]))
        )  # sorted only if they may have company
        patch.setattr(room, "PLACES", data.draw(st.sampled_from([2, 21])))
        sweep.run()
    shaped = sweep.shaped()
    free = set(range(tally.cells))
    want: dict[int, tuple[Levels, frozenset[int]]] = {}
    for node in ascending(lattice, objective.floors):
        groups = defaultdict(list)
        for cell in sorted(free):
            labels = tuple(
                ladder.cuts[level].labels[int(ladder.cuts[level].positions[int(column.codes[cell])])]
                for ladder, level, column in zip(lattice.ladders, node, tally.quasi, strict=True)
            )
            groups[labels].append(cell)
        for cells in groups.values():
            if sum(int(tally.counts[cell]) for cell in cells) >= k:
                free -= set(cells)
                want |= {cell: (node, frozenset(cells)) for cell in cells}
    for cell in range(tally.cells):
        number = int(shaped.of_cell[cell])
        if number < 0:
            assert cell in free
        else:
            members = frozenset(np.flatnonzero(shaped.of_cell == number).tolist())
            assert want[cell] == (tuple(shaped.levels[number].tolist()), members)


@settings(max_examples=30)
@given(st.data())
def test_nodes_come_by_what_they_lose(data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False))
    lattice = Lattice.of(tally)
    floors = Objective(tally, lattice).floors
    at_once = list(ascending(lattice, floors))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "ENUMERABLE", 0)
        one_by_one = list(ascending(lattice, floors))
    assert sorted(at_once) == sorted(one_by_one) == list(lattice.nodes())
    for order in (at_once, one_by_one):
        lost = [sum(f[level] for f, level in zip(floors, node, strict=True)) for node in order]
        assert lost == pytest.approx(sorted(lost))


@settings(max_examples=40)
@given(st.data())
def test_a_lattice_too_large_for_all_its_nodes_and_no_time(data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False))
    others = data.draw(st.lists(class_models(tally), max_size=1))
    promises = [KAnonymity(k=data.draw(st.integers(1, 3))), *others]
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(room, "ENUMERABLE", 0)
            patch.setattr(room, "NODES", data.draw(st.integers(0, 3)))
            recodings = [searched(tally, promises, Local(time_limit=limit)) for limit in (None, 1e-9)]
    except (UnsatisfiableError, UnsupportedError):
        return
    for recoding in recodings:
        published = tally.recoded(recoding)
        assert published.records == tally.records
        assert all(promise.check(published).holds for promise in promises)


def test_local_recoding_loses_no_more_than_the_best_node_here() -> None:
    rng = np.random.default_rng(7)
    domain = flat(tuple("abcdef"))
    columns = tuple(
        Column(f"q{at}", domain, domain.column(rng.choice(6, size=300, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])))
        for at in range(4)
    )
    tally = Tally(columns, (), None, np.ones(300, dtype=np.int64))
    whole = Optimal().solve(tally, [KAnonymity(k=5)])
    assert lm(tally, searched(tally, [KAnonymity(k=5)], Local())) < whole.loss / 2


def test_leftovers_that_a_class_cannot_take_whole_are_portioned() -> None:
    # One class is as the table is; the leftovers have too many of one value for it to take them all.
    domain, values = flat(("x", "y")), flat(("a", "b"))
    tally = Tally(
        (Column("q", domain, domain.column(np.array([0, 0, 1, 1]))),),
        (Column("s", values, values.column(np.array([0, 1, 0, 1]))),),
        None,
        np.array([10, 10, 9, 1]),
    )
    promise = TCloseness(t=Fraction(1, 10), sensitive=("s",), distance=Distance.EQUAL)
    recoding = searched(tally, [promise], Local())
    assert promise.check(tally.recoded(recoding)).holds


def test_leftovers_that_no_class_can_take_get_as_many_as_they_need() -> None:
    # Each of three classes is 1/10 from the table; with the last cell any one of them would be 1/8 from it.
    domain, values = flat(("x", "y", "z", "w")), flat(("a", "b"))
    tally = Tally(
        (Column("q", domain, domain.column(np.array([0, 0, 1, 1, 2, 2, 3]))),),
        (Column("s", values, values.column(np.array([0, 1, 0, 1, 0, 1, 0]))),),
        None,
        np.array([4, 6, 4, 6, 4, 6, 6]),
    )
    promise = TCloseness(t=Fraction(1, 10), sensitive=("s",), distance=Distance.EQUAL)
    recoding = searched(tally, [promise], Local())
    assert promise.check(tally.recoded(recoding)).holds
    top = [node.leaves == 4 for node in recoding.nodes["q"]]
    assert sum(top[at] for at in recoding.positions["q"]) == 5  # the last cell and two of the classes


def test_what_cannot_work_is_refused() -> None:
    domain = flat(("x", "y"))
    column = Column("q", domain, domain.column(np.array([0, 1])))
    values = flat(("a",))
    tally = Tally(
        (column, Column("r", domain, column.codes)),
        (Column("s", values, values.column(np.array([0, 0]))),),
        None,
        np.array([2, 2]),
    )
    promise = LKC(l=1, k=2, c=Fraction(1), sensitive=("s",))
    with pytest.raises(UnsupportedError, match="local needs promises about each class by itself; lkc"):
        Local().search(tally, policy_for(tally, [promise], Local()))
    wild = Tally(tally.quasi, tally.sensitive, None, tally.counts, Nulls.WILDCARD)
    with pytest.raises(UnsupportedError, match="wildcard"):
        Local().search(wild, policy_for(wild, [KAnonymity(k=1)], Local()))
    with pytest.raises(PolicyError, match="time_limit"):
        Local(time_limit=0)


@given(st.lists(st.tuples(st.integers(0, 2**62), st.integers(1, 2**33)), max_size=30), st.data())
@pytest.mark.parametrize("bits", [1, 21])
def test_keys_with_company_are_found_by_loops_and_without(
    bits: int, given_: list[tuple[int, int]], data: st.DataObject
) -> None:
    some = [key for key, _ in given_[:4]]
    key = np.array([data.draw(st.sampled_from([one, *some])) for one, _ in given_], dtype=np.int64)
    counts = np.array([count for _, count in given_], dtype=np.int64)
    smallest = data.draw(st.sampled_from([1, 2, 1000, 2**31 - 1, 2**31, 2**34]))
    found = []
    for worth in (0, native.WORTH_CALLING):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(native, "WORTH_CALLING", worth)
            patch.setattr(room, "PLACES", bits)
            found.append(room._may_have_company(key, counts, smallest).tolist())
    records = {one: int(counts[key == one].sum()) for one in key.tolist()}
    assert found[0] == found[1]
    assert set(found[0]) >= {at for at, one in enumerate(key.tolist()) if records[one] >= smallest}
    if bits == 21 and len(records) == 1:
        assert bool(found[0]) == (max(records.values()) >= smallest)
