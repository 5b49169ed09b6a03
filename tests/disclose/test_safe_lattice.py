"""Entropy l-diversity on tables by a public rule: E1, E6 and E7 of spec 11, and every small table."""

from __future__ import annotations

from itertools import pairwise, product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Column, Tally
from privet.disclose.safe.adversary import Table, arrangements, believed, orderings, released
from privet.disclose.safe.chain import Groups, Lattice, Levels, levels, suppression
from privet.disclose.safe.lattice import all_diverse, choose, delay_permutation, recoding, safe_lattice
from privet.disclose.safe.predicates import diverse
from privet.domain import flat
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.hierarchy import Intervals, Tree

SIX = "HVCCFU"  # E1: Alan to Fen; heart disease, viral infection, cancer, flu, ulcer
TEN = [
    *[("M", "Old", "M")] * 2,
    ("M", "Middle", "M"),
    *[("M", "Middle", "F")] * 3,
    *[("S", "Middle", "F")] * 2,
    *[("S", "Young", "F")] * 2,
]
CONDITIONS = ["HD", "VI", "Ca", "Ca", "Fl", "Ul", "Ga", "Pn", "Ga", "Pn"]


def groups(*sets: str | list[int]) -> Groups:
    found = np.zeros(sum(map(len, sets)), dtype=np.int64)
    for number, people in enumerate(sets):
        for person in people:
            found[int(person)] = number
    return found


def coded(table: Table | str | list[str]) -> np.ndarray:
    order = sorted(set(table))
    return np.array([order.index(value) for value in table], dtype=np.int64)


def chosen(
    chain: list[Groups], table: Table | str | list[str], l: int, rule: str = "permutation"
) -> int | None:
    return choose(chain, coded(table), np.ones(len(table), dtype=np.int64), l, rule)


def test_the_usual_recipe_exposes_two_patients() -> None:
    walk = [groups("01", "2", "3", "45"), groups("01", "23", "45"), groups("012", "345"), groups("012345")]
    ones = np.ones(6, dtype=np.int64)
    assert [all_diverse(g, coded(SIX), ones, 2) for g in walk] == [False, False, True, True]
    assert [all_diverse(g, coded(SIX), ones, 3) for g in walk] == [False, False, True, True]
    assert chosen(walk, SIX, 2, "naive") == 2
    belief = believed(walk, 2, released(walk[2], tuple(SIX)), 2, rule="naive")
    assert belief.left == 4
    assert belief.distribution(2) == belief.distribution(3) == {"C": 4}
    assert belief.distribution(0) == {"H": 2, "V": 2}
    assert belief.distribution(4) == {"F": 2, "U": 2}
    assert belief.certain == 2
    assert not belief.keeps(2)
    # The safe rule goes on to the top, where nobody can be told from the choice.
    index = chosen(walk, SIX, 2)
    assert index is not None
    assert believed(walk, index, released(walk[index], tuple(SIX)), 2).keeps(2)


def ten() -> Lattice:
    columns = list(zip(*TEN, strict=True))
    codes = np.stack([coded(list(column)) for column in columns], axis=1)
    names = ("marital", "age", "sex")
    made = tuple(suppression(n, len(set(c))) for n, c in zip(names, columns, strict=True))
    return Lattice(made, codes, np.ones(10, dtype=np.int64))


def test_ten_patients() -> None:
    lattice = ten()
    walk = list(lattice.walk())
    assert walk == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)]
    sizes = [sorted(np.bincount(lattice.groups(node)).tolist()) for node in walk]
    assert sizes == [
        [1, 2, 2, 2, 3], [2, 2, 2, 4], [3, 3, 4], [1, 2, 2, 5], [4, 6], [2, 2, 6], [3, 7], [10],
    ]  # fmt: skip
    nodes = lattice.chain(2)
    assert nodes == ((0, 0, 1), (0, 1, 1), (1, 1, 1))
    chain = [lattice.groups(node) for node in nodes]
    assert [chosen(chain, CONDITIONS, 2, rule) for rule in ("naive", "rotation", "permutation")] == [0, 1, 1]
    table_4_7 = ["Ca", "Ca", "Fl", "Ul", "VI", "HD", "Ga", "Pn", "Ga", "Pn"]
    # It is not diverse at T1, so even the naive rule goes on to T2.
    assert [chosen(chain, table_4_7, 2, rule) for rule in ("rotation", "permutation")] == [1, 1]
    bags = released(chain[1], tuple(CONDITIONS))
    entropy = sorted(
        -sum(b.count(v) / len(b) * log2(b.count(v) / len(b)) for v in set(b)) for b in bags.values()
    )
    assert entropy == pytest.approx([1, 2.252], abs=1e-3)


def test_the_rotation_rule_is_unsafe() -> None:
    chain = [groups("01", "23", "45"), groups("0123", "45"), groups("012345")]
    tables = list(orderings("abcdee"))
    assert len(tables) == 360
    outcome = [chosen(chain, table, 2, "rotation") for table in tables]
    assert [outcome.count(i) for i in range(3)] == [192, 24, 144]
    belief = believed(chain, 1, {0: "bcee", 1: "ad"}, 2, rule="rotation")
    assert belief.instances == 24
    assert {"".join(table) for table in belief.disclosure} == {"ebcead", "ebceda", "ecbead", "ecbeda"}
    assert belief.certain == 2
    assert not belief.keeps(2)


def test_the_rotation_rule_is_unsafe_with_two_levels() -> None:
    chain = [groups("01", "23", "45"), groups("012345")]
    broken = {
        believed(chain, 0, released(chain[0], table), 2, rule="rotation").left
        for table in orderings("aabbcc")
        if chosen(chain, table, 2, "rotation") == 0
        and not believed(chain, 0, released(chain[0], table), 2, rule="rotation").keeps(2)
    }
    assert 4 in broken


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[Groups], Table, int]:
    """A chain of up to three nested groupings of up to seven people, whose first has l in every group."""
    l = draw(st.integers(2, 3))
    sizes = draw(st.lists(st.integers(l, 3), min_size=1, max_size=3 if l == 2 else 2))
    people = sum(sizes)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    chain, current = [owner], owner
    while current.max():
        merged = draw(st.integers(0, int(current.max()) - 1))
        current = np.where(current > merged, current - 1, current)
        if draw(st.booleans()) or not current.max():
            chain.append(current)
    table = tuple(draw(st.lists(st.sampled_from("abcd"), min_size=people, max_size=people)))
    return [one.astype(np.int64) for one in chain], table, l


@settings(max_examples=25, deadline=None)
@given(chains())
def test_the_permutation_rule_is_safe(given_: tuple[list[Groups], Table, int]) -> None:
    """Every disclosure set is the whole instance set, and diverse."""
    chain, table, l = given_
    index = chosen(chain, table, l)
    if index is None:
        return
    bags = released(chain[index], table)
    belief = believed(chain, index, bags, l)
    assert belief.left == belief.instances
    assert belief.keeps(l)


@settings(max_examples=100, deadline=None)
@given(chains())
def test_a_delay_means_that_some_arrangement_would_violate(given_: tuple[list[Groups], Table, int]) -> None:
    chain, table, l = given_
    if len(chain) == 1:
        return
    ones = np.ones(len(table), dtype=np.int64)
    for coarse, fine in zip(chain[1:], chain, strict=False):
        violating = any(
            not all(diverse([bag.count(v) for v in set(bag)], l) for bag in released(fine, other).values())
            for other in arrangements(coarse, released(coarse, table))
        )
        # Where a group is not divided, its own bag is looked at when the level below is.
        divided = {g: len(set(fine[coarse == g].tolist())) > 1 for g in set(coarse.tolist())}
        if all(divided.values()):
            assert delay_permutation(coarse, fine, coded(table), ones, l) == violating


def test_saying_nothing_is_an_outcome_with_a_disclosure_set_of_its_own() -> None:
    chain = [groups("01", "23"), groups("0123")]
    assert chosen(chain, "aaab", 2) is None
    belief = believed(chain, None, {}, 2, values="ab")
    assert belief.instances == 16
    assert belief.left == sum(chosen(chain, table, 2) is None for table in product("ab", repeat=4)) == 10
    # Knowing that nothing could be said, nobody is certain, but more is known than before: 5 of 10 each.
    assert belief.distribution(0) == {"a": 5, "b": 5}


def tally() -> Tally:
    job = Tree.of({"Any": {"White": ["Doctor", "Lawyer"], "Blue": ["Cook", "Mover"]}}).domain(
        ["Doctor", "Lawyer", "Cook", "Mover"]
    )
    sex = flat(("F", "M"))
    illness = flat(("a", "b", "c"))
    rows = [(j, s, v) for j in range(4) for s in range(2) for v in range(3)]
    return Tally(
        quasi=(
            Column("job", job, job.column(np.array([r[0] for r in rows]))),
            Column("sex", sex, sex.column(np.array([r[1] for r in rows]))),
        ),
        sensitive=(Column("illness", illness, illness.column(np.array([r[2] for r in rows]))),),
        target=None,
        counts=np.array([1 + (at % 5) for at in range(len(rows))], dtype=np.int64),
    )


def test_a_tally_is_as_good_as_its_people() -> None:
    cells = tally()
    lattice = Lattice.of(cells)
    assert [column.top for column in lattice.columns] == [2, 1]
    choice = safe_lattice(cells, 2, sensitive="illness")
    assert choice.safe
    assert choice.index is not None
    assert len(choice.why) == choice.index
    assert not any(value in line for line in choice.why for value in ("Doctor", "Cook"))
    people = np.repeat(np.arange(cells.cells), cells.counts)
    chain = [lattice.groups(node)[people] for node in choice.chain]
    values = cells.sensitive[0].codes.astype(np.int64)[people]
    assert choose(chain, values, np.ones(len(people), dtype=np.int64), 2) == choice.index
    recoded = recoding(cells, choice)
    assert recoded is not None
    published = np.unique(
        np.stack([recoded.cuts[c.name].positions[c.codes] for c in cells.quasi], axis=1),
        axis=0,
        return_inverse=True,
    )[1].ravel()
    same = lattice.groups(choice.chain[choice.index])
    assert len(set(zip(published.tolist(), same.tolist(), strict=True))) == len(set(same.tolist()))


def test_levels_follow_the_tree() -> None:
    job = tally().quasi[0].domain
    made = levels("job", job)
    assert [len(nodes) for nodes in made.nodes] == [4, 2, 1]
    assert [groups_.tolist() for groups_ in made.groups] == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(PolicyError, match="rule is one of"):
        safe_lattice(tally(), 2, sensitive="illness", rule="shuffle")
    with pytest.raises(PolicyError, match="sensitive attribute is one of"):
        safe_lattice(tally(), 2, sensitive="job")
    with pytest.raises(UnsatisfiableError):
        safe_lattice(tally(), 10_000, sensitive="illness")
    with pytest.raises(UnsupportedError, match="one by one"):
        safe_lattice(tally(), 2, sensitive="illness", rule="rotation")
    with pytest.raises(UnsupportedError, match="tables to look at"):
        believed([groups(list(range(12)))], 0, {0: "abcdefghijkl"}, 2)


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    """Up to three columns of up to four values, each shown, partly merged, or not shown."""
    columns, codes = [], []
    people = draw(st.integers(2, 12))
    for at in range(draw(st.integers(1, 3))):
        wide = draw(st.integers(1, 4))
        shown = np.arange(wide)
        made = [shown, shown // 2, shown * 0]
        kept = [one for i, one in enumerate(made) if not i or one.max() < made[i - 1].max()]
        columns.append(Levels(str(at), tuple(one.astype(np.int64) for one in kept)))
        codes.append(draw(st.lists(st.integers(0, wide - 1), min_size=people, max_size=people)))
    counts = draw(st.lists(st.integers(1, 3), min_size=people, max_size=people))
    return Lattice(tuple(columns), np.array(codes, dtype=np.int64).T, np.array(counts, dtype=np.int64))


@settings(max_examples=150, deadline=None)
@given(lattices(), st.integers(1, 5))
def test_the_chain_begins_where_the_walk_first_finds_enough_people(lattice: Lattice, l: int) -> None:
    if int(lattice.counts.sum()) < l:
        return

    def enough(node: tuple[int, ...]) -> bool:
        held: dict[tuple[int, ...], int] = {}
        for row, many in zip(lattice.codes.tolist(), lattice.counts.tolist(), strict=True):
            at = zip(lattice.columns, node, row, strict=True)
            group = tuple(int(column.groups[level][code]) for column, level, code in at)
            held[group] = held.get(group, 0) + many
        return min(held.values()) >= l

    chain = lattice.chain(l)
    assert chain[0] == next(node for node in lattice.walk() if enough(node))
    assert chain[-1] == lattice.top
    for lower, upper in pairwise(chain):
        raised = [at for at, (a, b) in enumerate(zip(lower, upper, strict=True)) if b == a + 1]
        assert [at for at, (a, b) in enumerate(zip(lower, upper, strict=True)) if a != b] == raised
        assert all(lower[at] == lattice.top[at] for at in range(raised[0] + 1, len(lower)))


def test_intervals_that_a_search_would_cut_are_halved() -> None:
    ages = Intervals().domain([str(age) for age in range(8)])
    assert [len(nodes) for nodes in levels("age", ages).nodes] == [8, 4, 2, 1]
