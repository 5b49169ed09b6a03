"""What a range loses along a hierarchy of any size; and room that does not grow with codes nobody has."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.core import Attribute, Column, Form, Role, Tally, Terms
from privet.domain import Domain
from privet.engines.embedded import Embedded
from privet.hierarchy import Intervals, Prefix, Tree
from privet.models.kanonymity import KAnonymity
from privet.recoding import Regions
from privet.relational.axis import Axis, Joints
from privet.relational.lattice import Lattice, cuts_by_level
from privet.relational.mondrian import Choice, Cuts, Mondrian
from privet.relational.ranges import covering

DOMAINS = {
    "grown": Intervals(low=0, high=64).domain([str(n) for n in range(0, 60, 3)]),
    "stepped": Intervals(width=(5, 10), top=40).domain([str(n) for n in range(50)]),
    "prefixes": Prefix(keep=(3, 1)).domain([f"{n:05}" for n in range(0, 90000, 1111)]),
    "null": Intervals(low=0, high=9).domain(["1", "4", "8", None]),
    "one": Intervals().domain(["7"]),
}


@given(st.sampled_from(sorted(DOMAINS)), st.data())
def test_a_range_loses_what_the_lowest_node_above_it_loses(name: str, data: st.DataObject) -> None:
    domain = DOMAINS[name]
    low = data.draw(st.integers(0, domain.size - 1))
    high = data.draw(st.integers(low, domain.size - 1))
    node = covering(domain.halved, low, high)
    found = Joints.of(domain).loss(np.array([low]), np.array([high]))
    assert found[0] == domain.loss(node)


def uneven(size: int) -> Domain:
    """One group of half of all, and many of two: what a range loses is not how far its ends are apart."""
    groups = {f"g{at}": [f"v{2 * at:05}", f"v{2 * at + 1:05}"] for at in range(size // 4)}
    rest = [f"w{at:05}" for at in range(size - 2 * len(groups))]
    return Tree.of({"*": {"big": rest, **groups}}).domain([])


@pytest.mark.parametrize("size", [100, 3_000])
def test_hierarchies_of_any_size_keep_their_own_loss(size: int) -> None:
    """Above 2,048 values a range lost the distance of its ends (issue 19, line 9)."""
    domain = uneven(size)
    axis = Axis.of(domain, hierarchy=True)
    big = next(node for node in domain.root.children if node.label == "big")
    low, high = np.array([big.lo]), np.array([big.lo + 1])
    assert axis.loss(low, high)[0] == domain.loss(big)


def test_a_search_cuts_by_what_a_large_hierarchy_loses() -> None:
    """The big group loses half of its domain though its codes are neighbours, so it is parted first."""
    domain = uneven(3_000)
    big = next(node for node in domain.root.children if node.label == "big")
    numbers = Intervals(low=0, high=10).domain([str(n) for n in range(4)])
    quasi = (
        Column("q", domain, domain.column(np.array([big.lo, big.lo, big.lo + 1, big.lo + 1]))),
        Column("n", numbers, numbers.column(np.array([0, 1, 0, 1]))),
    )
    tally = Tally(quasi, (), None, np.ones(4, dtype=np.int64))
    search = Mondrian(cuts=Cuts.HIERARCHY, choice=Choice.BEST)
    terms = Terms((Attribute("q", Role.QUASI), Attribute("n", Role.QUASI)), (KAnonymity(k=2),), search)
    found = search.search(tally, terms).recoding
    assert isinstance(found, Regions)
    assert found.labels_of("q") == {domain.values[big.lo], domain.values[big.lo + 1]}


def test_codes_that_nobody_has_take_no_room() -> None:
    """Six columns of distinct numbers: every code from the first to the last of each box was listed."""
    rows, rng = 6_000, np.random.default_rng(0)
    table = pl.DataFrame({f"x{at}": rng.permutation(rows) for at in range(6)})
    terms = Terms(
        tuple(Attribute(name, Role.QUASI, Intervals()) for name in table.columns),
        (KAnonymity(k=5),),
        Mondrian(),
    )
    engine = Embedded()
    tally = engine.tally(engine.read(table, Form()), terms).tally
    tracemalloc.start()
    Mondrian().search(tally, terms)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # 78 MB when codes were listed, and growing with the square of the rows


ROWS = "a;Other;Other;*\nb;B;G;*\nc;C;G;*\n"


def test_labels_that_a_file_repeats_stand_on_as_many_levels() -> None:
    """As ARX counts them: level 1 of this file is Other, B, C."""
    cuts = cuts_by_level(Tree.from_csv(ROWS).domain([]))
    assert [cut.labels for cut in cuts] == [("a", "b", "c"), ("Other", "B", "C"), ("Other", "G"), ("*",)]


@given(st.data())
def test_every_level_is_the_column_of_the_file(data: st.DataObject) -> None:
    tree = {"*": {"x": {"x1": ["a", "b"], "x2": ["c"]}, "y": {"y1": ["d"]}}}
    rows = []
    for top, mid in tree["*"].items():
        for low, leaves in mid.items():
            rows += [[leaf, low, top, "*"] for leaf in leaves]
    times = {label: data.draw(st.integers(1, 2)) for label in ("x1", "x2", "y1", "x", "y", "*")}
    times["x2"] = times["y1"] = times["x1"]
    times["y"] = times["x"]
    wide = [[label for label in row for _ in range(times.get(label, 1))] for row in rows]
    domain = Tree.from_csv("\n".join(";".join(row) for row in wide)).domain([])
    cuts = cuts_by_level(domain)
    assert len(cuts) == len(wide[0])
    for at, cut in enumerate(cuts):
        assert [cut.labels[p] for p in cut.positions] == [row[at] for row in wide]
    column = Column("q", domain, domain.column(np.array([0])))
    assert Lattice.of(Tally((column,), (), None, np.ones(1, dtype=np.int64))).size == len(wide[0])
