"""The lattice and its counts against their definitions."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.relational import enumerated

from privet import native
from privet.core import Tally
from privet.counts import rollup
from privet.counts.door import Levels
from privet.counts.rollup import Rollups, merged, numbered, summed
from privet.domain import flat
from privet.models.classes import Classes
from privet.recoding import Generalization
from privet.relational import lattice as room
from privet.relational.lattice import Ladder, Lattice, Tags, ascending, cuts_by_level
from privet.testing import tallies


@settings(max_examples=40)
@given(tallies())
def test_levels_are_cuts_each_coarser_than_the_one_before(tally: Tally) -> None:
    for column in tally.quasi:
        cuts = cuts_by_level(column.domain)
        want = enumerated.levels(column.domain)
        assert [[(n.label, n.lo, n.hi) for n in cut.nodes] for cut in cuts] == [
            [(n.label, n.lo, n.hi) for n in cut.nodes] for cut in want
        ]
        assert [(node.lo, node.hi) for node in cuts[-1].nodes] == [(0, column.domain.size)]
        for finer, coarser in pairwise(cuts):
            above = {n.lo: n.hi for n in coarser.nodes}
            assert all(any(lo <= n.lo and n.hi <= hi for lo, hi in above.items()) for n in finer.nodes)


@settings(max_examples=30)
@given(tallies())
def test_heights_and_neighbours(tally: Tally) -> None:
    lattice = Lattice.of(tally)
    every = list(lattice.nodes())
    assert len(every) == lattice.size
    by_height = [node for height in range(lattice.highest + 1) for node in lattice.at_height(height)]
    assert sorted(by_height) == every
    assert [sum(node) for node in by_height] == sorted(map(sum, every))
    assert list(lattice.at_height(lattice.highest + 1)) == []
    for node in every:
        up = {o for o in every if sum(o) == sum(node) + 1 and all(np.greater_equal(o, node))}
        assert set(lattice.successors(node)) == up
        assert all(node in lattice.predecessors(other) for other in up)


@pytest.mark.one_in(2)
@settings(max_examples=30)
@given(st.data())
@pytest.mark.parametrize(("dense", "few"), [(1 << 15, 4_000), (0, 1)])
@pytest.mark.parametrize(("loops", "limit"), [(False, 2**62), (True, 2**62), (False, 6), (True, 6)])
def test_rolled_up_counts_are_those_of_the_records(
    dense: int, few: int, loops: bool, limit: int, data: st.DataObject
) -> None:
    tally = data.draw(tallies(cells=25))
    lattice = Lattice.of(tally)
    names = [column.name for column in tally.sensitive]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollup, "DENSE", dense)
        patch.setattr(rollup, "FEW", few)
        patch.setattr(rollup, "LIMIT", limit)
        patch.setattr(native, "WORTH_CALLING", 0 if loops else native.WORTH_CALLING)
        rollups = Rollups(tally, lattice.ladders, names)
        for node in data.draw(st.permutations(list(lattice.nodes())))[:12]:
            found = rollups.at(node)
            recoding = lattice.recoding(node)
            assert isinstance(recoding, Generalization)
            published = tally.recoded(recoding)
            classes = Classes.of(published, "test")
            of_cell = rollups.of_cells(node)
            want = {
                (int(of_cell[np.flatnonzero(classes.of_cell == at)[0]]), int(size))
                for at, size in enumerate(classes.size)
            }
            assert {(at, int(size)) for at, size in enumerate(found.size)} == want
            for column, entries in zip(tally.sensitive, found.sensitive, strict=True):
                table = np.zeros((len(found), column.domain.size), dtype=np.int64)
                np.add.at(table, (of_cell, column.codes), tally.counts)
                back = np.zeros_like(table)
                back[entries.owner, entries.value] = entries.count
                assert (table == back).all()
                assert (np.diff(entries.owner * column.domain.size + entries.value) > 0).all()


@given(st.data(), st.sampled_from([1, 201, 5_000, 2**33, 2**60, 2**62]), st.booleans())
def test_keys_are_numbered_and_summed(data: st.DataObject, room: int, loops: bool) -> None:
    # Keys of 62 bits leave no room for their place beside them, so they are sorted by halves.
    some = data.draw(st.lists(st.integers(0, room - 1), min_size=1, max_size=8))
    keys = data.draw(st.lists(st.sampled_from(some), max_size=30))
    counts = data.draw(st.lists(st.integers(1, 2**32), min_size=len(keys), max_size=len(keys)))
    key, count = np.array(keys, dtype=np.int64), np.array(counts, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "WORTH_CALLING", 0 if loops else native.WORTH_CALLING)
        number, at = numbered(key, room)
        found, total = summed(key, count, room)
        member, size = merged(key, count, room)
    want = sorted(set(keys))
    sums = [sum(c for k, c in zip(keys, counts, strict=True) if k == each) for each in want]
    assert [want[n] for n in number] == keys
    assert key[at].tolist() == found.tolist() == key[member].tolist() == want
    assert total.tolist() == size.tolist() == sums


def test_an_attribute_can_be_left_out() -> None:
    from tests.relational.test_optimal import table_20_1

    tally = table_20_1()
    lattice = Lattice.of(tally)
    rollups = Rollups(tally, lattice.ladders)
    assert rollups.at((1, 4)).size.tolist() == [3, 3]
    assert rollups.at((4, 4)).size.tolist() == [6]


def test_tags_tell_what_is_above_and_below() -> None:
    tags = Tags()
    tags.tag((1, 1), keeps=True)
    tags.tag((0, 2), keeps=False)
    assert [tags.known(node) for node in [(1, 1), (1, 3), (0, 2), (0, 1), (1, 0), (0, 3)]] == [
        True,
        True,
        False,
        False,
        None,
        None,
    ]


def plainly_ascending(shape: tuple[int, ...], floors: list[NDArray[np.float64]]) -> Iterator[Levels]:
    """The walk up as it is meant: nodes as tuples, the whole sum of what a step loses."""
    heap, seen = [(0.0, (0,) * len(shape))], {(0,) * len(shape)}
    while heap:
        lost, node = heapq.heappop(heap)
        yield node
        for at, level in enumerate(node):
            above = (*node[:at], level + 1, *node[at + 1 :])
            if level + 1 < shape[at] and above not in seen:
                seen.add(above)
                step = sum(float(f[b] - f[a]) for f, a, b in zip(floors, node, above, strict=True))
                heapq.heappush(heap, (lost + step, above))


@settings(max_examples=60)
@given(st.data())
def test_a_lattice_of_many_nodes_is_walked_up_in_the_same_order(data: st.DataObject) -> None:
    """Node by node and of equal losses too, whether levels fit in a byte or not."""
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 3, 5, 300]), max_size=6)))
    steps = [data.draw(st.lists(st.sampled_from([0.0, 0.1, 0.3]), min_size=n, max_size=n)) for n in shape]
    floors = [np.cumsum(each) for each in steps]
    cuts = cuts_by_level(flat(("x",)))
    lattice = Lattice(tuple(Ladder("q", cuts * n) for n in shape))
    assert lattice.shape == shape
    want = list(islice(plainly_ascending(shape, floors), 400))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "ENUMERABLE", 0)
        assert list(islice(ascending(lattice, floors), 400)) == want
