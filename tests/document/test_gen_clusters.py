"""Comparing and clustering trees against the naive definition, compiled and plain."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.forests import BOOKS, COURSES, SCHEMA, YEARS, collections
from tests.document.naive_gen import Part, World
from tests.tries import seldom

from privet import native
from privet.document import clustree, mapping, plain
from privet.document.audit import audit
from privet.document.clustree import ClusTree, CToff
from privet.document.diversify import ANYTHING, Representative, Trees
from privet.document.edits import published
from privet.document.forest import NONE, Forest, Vertex
from privet.document.truth import truthful
from privet.domain import Value
from privet.errors import PolicyError, UnsatisfiableError

LOOPS = pytest.mark.skipif(native.library() is None, reason="the compiled loops are not built")
WAYS = [pytest.param(False, id="plain"), pytest.param(True, id="compiled", marks=LOOPS)]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.param:
        monkeypatch.setattr(native, "library", lambda: None)


def as_part(trees: Trees, rep: Representative, records: list[int], at: int = 0) -> Part:
    """A representative as the naive code has it."""
    forest = trees.forest
    kind = forest.schema.kinds[rep.kinds[at]]
    sa: dict[int, tuple[Value, int]] = {}
    if kind.sensitive:
        column = kind.position(kind.sensitive.name)
        values = forest.domains[kind.name, kind.sensitive.name].values
        behind = zip(records, rep.aligned[at].tolist(), strict=True)
        sa = {record: (values[forest.codes[vertex, column]], 0) for record, vertex in behind}
    labels = tuple(trees.nodes.labels[node] for node in rep.nodes[at] if node != NONE)
    below = [as_part(trees, rep, records, int(child)) for child in np.flatnonzero(rep.parents == at)]
    return Part(kind.name, labels, sa, below)


def shape(part: Part) -> object:
    """Everything of a representative but buckets, children in order."""
    return (
        part.type,
        part.qi,
        {member: value for member, (value, _) in part.sa.items()},
        [shape(child) for child in part.children],
    )


@pytest.mark.usefixtures("way")
@settings(max_examples=25, deadline=None)
@given(
    collections(3, 4), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([0, 1, Fraction(1, 3)])
)
def test_pairs_one_after_the_other(
    records: list[Vertex], lsap: bool, members: bool, k_only: bool, sa_weight: Fraction
) -> None:
    world = World(SCHEMA, lsap, members, k_only, Fraction(sa_weight))
    forest = Forest.of(SCHEMA, records)
    trees = Trees.of(
        forest, 4, "lsap" if lsap else "greedy", "members" if members else "literal", Fraction(sa_weight)
    )
    allowed = ANYTHING if k_only else 1
    rep, part = trees.start(0), world.part(records[0], 0)
    joined = [0]
    for record in range(1, len(records)):
        newcomer = world.part(records[record], record)
        (cost, lost), merged = world.pair(part, newcomer, len(joined) if members else 1)
        price = trees.price(rep, record, allowed)
        assert (price is None) == (merged is None)
        if price is None or merged is None:
            continue
        assert trees.tariff.cost(price) == cost
        assert price % trees.tariff.step == lost
        rep, part = trees.merged(rep, record, allowed), merged
        joined.append(record)
        assert shape(as_part(trees, rep, joined)) == shape(part)
        total = trees.class_price(rep, joined)
        naive = world.class_cost([world.part(records[at], at) for at in joined], part)
        assert (trees.tariff.cost(total), total % trees.tariff.step) == naive


@pytest.mark.usefixtures("way")
@settings(max_examples=25, deadline=None)
@given(
    collections(3, 8, 2),
    st.integers(2, 3),
    st.sampled_from([(4, "1/2"), (3, "0.7"), (1, "1")]),
    st.tuples(*[st.booleans()] * 4),
)
def test_clusters(
    records: list[Vertex], size: int, patience: tuple[int, str], switches: tuple[bool, bool, bool, bool]
) -> None:
    lsap, members, off, k_only = switches
    ceiling, step = Fraction(patience[0]), Fraction(patience[1])
    world = World(SCHEMA, lsap, members, k_only)
    found, suppressed, _ = world.clustree(records, size, step, ceiling, None if off else Fraction(0))
    how: dict[str, Any] = {
        "mapping": "lsap" if lsap else "greedy",
        "weights": "members" if members else "literal",
    }
    method = CToff(**how) if off else ClusTree(**how, step=step, ceiling=ceiling)
    forest = Forest.of(SCHEMA, records)
    edits = method.cluster(forest, size, diverse=not k_only, threads=1)
    assert [list(group.members) for group in edits.classes] == [cluster.members for cluster in found]
    assert list(edits.suppressed) == suppressed
    trees = Trees.of(forest, size, **how)
    for group, cluster in zip(edits.classes, found, strict=True):
        assert shape(as_part(trees, group.rep, list(group.members))) == shape(cluster.rep)


@pytest.mark.usefixtures("way")
@settings(max_examples=20, deadline=None)
@given(collections(4, 9), st.sampled_from(["lsap", "greedy"]), st.sampled_from(["literal", "members"]))
def test_the_nearest_is_the_cheapest(records: list[Vertex], way_of: Any, weights: Any) -> None:
    trees = Trees.of(Forest.of(SCHEMA, records), 4, way_of, weights)
    rest = np.arange(1, len(records))
    rep = trees.start(0)
    with ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            prices = trees.prices(rep, rest)
            assert (trees.floor(rep, rest) <= prices).all()
            bounds = trees.floor(rep, rest)
            found = trees.nearest(rep, rest, bounds, threads)
            best = min(zip(prices.tolist(), rest.tolist(), strict=True))
            assert found == (None if best[0] == plain.NEVER else best[1])
            assert (bounds <= prices).all()  # whatever was learnt is true
            if found is None:
                return
            rep, rest = trees.merged(rep, found), rest[rest != found]


@LOOPS
@settings(max_examples=8, deadline=None)
@given(collections(8, 14, 6), st.sampled_from(["lsap", "greedy"]), st.integers(2, 3))
def test_the_loops_equal_their_plain_twins(records: list[Vertex], way_of: Any, size: int) -> None:
    forest = Forest.of(SCHEMA, records)
    method = ClusTree(mapping=way_of)
    quick = method.cluster(forest, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "library", lambda: None)
        plainly = method.cluster(forest, size)
    assert [group.members for group in quick.classes] == [group.members for group in plainly.classes]
    for one, other in zip(quick.classes, plainly.classes, strict=True):
        assert (one.rep.aligned == other.rep.aligned).all()
        assert (one.rep.nodes == other.rep.nodes).all()
        assert (one.rep.parents == other.rep.parents).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_of_equal_assignments_the_first(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 4))
    columns = data.draw(st.integers(rows, 5))
    cell = st.integers(-2, 3)
    prices = np.array(
        data.draw(st.lists(st.lists(cell, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    )

    def cost(chosen: tuple[int, ...]) -> int:
        return sum(int(prices[row, column]) for row, column in enumerate(chosen))

    best = min(permutations(range(columns), rows), key=lambda chosen: (cost(chosen), chosen))
    assert mapping.assignment(prices) == list(best)
    assert mapping.least(prices) == cost(best)


def test_memory_of_bounds_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    forest = Forest.of(SCHEMA, drawn(40))
    with_memory = ClusTree().cluster(forest, 2)
    monkeypatch.setattr(clustree, "REMEMBERED", 0)
    without = ClusTree().cluster(forest, 2)
    assert [g.members for g in with_memory.classes] == [g.members for g in without.classes]


def drawn(count: int, seed: int = 0, most: int = 4) -> list[Vertex]:
    """So many records, always the same; some courses stand below a stay."""
    rng = random.Random(1_000 * count + seed)

    def course() -> Vertex:
        below = tuple(
            Vertex("book", (rng.choice(BOOKS.leaves), rng.choice("123"))) for _ in range(rng.randrange(3))
        )
        return Vertex("course", (rng.choice(COURSES.leaves), rng.choice("ABCDE"), None), below)

    def child() -> Vertex:
        if rng.random() < 0.75:
            return course()
        return Vertex("stay", ("here",), tuple(course() for _ in range(rng.randrange(3))))

    return [
        Vertex(
            "student",
            (
                rng.choice(["0.2", "1.5", "2.2", "3.9"]),
                rng.choice(YEARS.leaves),
                rng.choice(["chess", "golf"]),
            ),
            tuple(child() for _ in range(rng.randrange(1, most + 1))),
        )
        for _ in range(count)
    ]


@pytest.mark.one_in(2)
@LOOPS
@pytest.mark.parametrize("weights", ["literal", "members"])
@pytest.mark.parametrize("way_of", ["lsap", "greedy"])
def test_the_loops_equal_their_plain_twins_on_many_pairs(
    way_of: Any, weights: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = Trees.of(Forest.of(SCHEMA, drawn(40, most=5)), 4, way_of, weights)
    everybody = np.arange(40)
    reps = [trees.start(at) for at in range(5)]
    reps += [trees.merged(rep, 39, ANYTHING) for rep in reps]
    quick = [trees.prices(rep, everybody, allowed) for rep in reps for allowed in (1, ANYTHING)]
    monkeypatch.setattr(native, "library", lambda: None)
    plainly = [trees.prices(rep, everybody, allowed) for rep in reps for allowed in (1, ANYTHING)]
    assert (np.array(quick) == np.array(plainly)).all()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", seldom(range(6), [0, 1, 3]))
@pytest.mark.parametrize("step", ["1/2", "1/4"])
def test_clusters_that_are_tried_again(seed: int, step: str) -> None:
    """Enough records for refusals: what was remembered of a class must not outlive its members."""
    records = drawn(22, seed, most=2)
    found, suppressed, passes = World(SCHEMA).clustree(records, 2, Fraction(step), Fraction(3), Fraction(0))
    assert passes > 2
    edits = ClusTree(step=Fraction(step), ceiling=Fraction(3)).cluster(Forest.of(SCHEMA, records), 2)
    assert [list(group.members) for group in edits.classes] == [cluster.members for cluster in found]
    assert list(edits.suppressed) == suppressed


@pytest.mark.usefixtures("way")
def test_the_first_of_equals_though_its_bound_is_higher() -> None:
    """One loses two courses that are too many, the other two that clash: equal prices, unequal bounds."""

    def student(gpa: str, *grades: str) -> Vertex:
        return Vertex(
            "student", (gpa, "1993", "golf"), tuple(Vertex("course", ("M1", grade, None)) for grade in grades)
        )

    forest = Forest.of(SCHEMA, [student("0.5", "A"), student("1.5", "B", "C", "D"), student("2.5", "A")])
    trees = Trees.of(forest, 2)
    rep, rest = trees.start(0), np.array([1, 2])
    one, other = trees.prices(rep, rest).tolist()
    assert one == other
    low, high = trees.floor(rep, rest)[::-1].tolist()
    assert low < high
    assert trees.nearest(rep, rest) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_parts(threads: int) -> None:
    records = drawn(60)
    forest = Forest.of(SCHEMA, records)
    edits = CToff(part=17).cluster(forest, 2, threads=threads)
    everybody = sorted([*edits.suppressed, *(m for group in edits.classes for m in group.members)])
    assert everybody == list(range(60))
    release = list(published(forest, edits))
    assert audit(SCHEMA, release, 2).holds
    assert truthful(SCHEMA, records, release).holds
    for group in edits.classes:
        for column, member in enumerate(group.members):
            assert (forest.records[group.rep.aligned[:, column]] == member).all()
    again = CToff(part=17).cluster(forest, 2, threads=3 - threads)
    assert [g.members for g in again.classes] == [g.members for g in edits.classes]
    assert (
        CToff(part=60).cluster(forest, 2).classes[0].members
        == CToff(part=0).cluster(forest, 2).classes[0].members
    )


def test_left_overs_of_parts_meet_again() -> None:
    """In each part of three one is left over; together they make a class."""
    one = [Vertex("student", (gpa, "1993", "golf")) for gpa in ("0.2", "1.5", "2.2", "0.2", "2.2", "1.5")]
    edits = CToff(part=3).cluster(Forest.of(SCHEMA, one), 2)
    assert len(edits.classes) == 3
    assert not edits.suppressed


def test_absorbing_left_overs() -> None:
    three = [Vertex("student", (gpa, "1993", "golf")) for gpa in ("0.2", "1.5", "2.2")]
    forest = Forest.of(SCHEMA, three)
    assert CToff().cluster(forest, 2).suppressed == (2,)
    absorbed = CToff(absorb=True).cluster(forest, 2)
    assert [group.members for group in absorbed.classes] == [(0, 1, 2)]
    clash = Forest.of(SCHEMA, [*three[:2], three[1]])  # one value in two of three is more than half
    assert CToff(absorb=True).cluster(clash, 2).suppressed == (2,)


def test_who_can_join_nobody() -> None:
    """Two who clash are cheaper to lose than the courses of a third; literally, both are then lost."""
    small = Vertex("student", ("1.5", "1993", "golf"))
    clash = Vertex("student", ("1.7", "1993", "golf"))
    courses = tuple(Vertex("course", ("CS201", grade, None)) for grade in "ABCDE")
    large = Vertex("student", ("3.9", "1993", "golf"), courses)
    forest = Forest.of(SCHEMA, [small, clash, large])
    skipped = CToff().cluster(forest, 2)
    assert [group.members for group in skipped.classes] == [(0, 2)]
    assert skipped.suppressed == (1,)
    literal = CToff(infeasible="literal").cluster(forest, 2)
    assert not literal.classes
    assert literal.suppressed == (0, 1, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mapping": "best"},
        {"weights": "none"},
        {"infeasible": "maybe"},
        {"sa_weight": Fraction(-1)},
        {"part": -1},
        {"step": Fraction(0)},
        {"ceiling": Fraction(0)},
    ],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        ClusTree(**wrong)


def test_too_few_records() -> None:
    forest = Forest.of(SCHEMA, drawn(2))
    with pytest.raises(UnsatisfiableError, match="2 records cannot form a class of 3"):
        CToff().cluster(forest, 3)
    with pytest.raises(UnsatisfiableError):
        CToff().cluster(Forest.of(SCHEMA, []), 2)
    with pytest.raises(PolicyError):
        CToff().cluster(forest, 0)
