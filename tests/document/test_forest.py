"""Trees as arrays and back, and what a schema refuses."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.forests import SCHEMA, collections

from privet.core import Role
from privet.document.forest import NONE, Builder, Forest, Vertex
from privet.document.schema import DEEPEST, Buckets, Field, Kind, Schema
from privet.document.taxonomy import taxonomy
from privet.errors import HierarchyError, InputError, PolicyError
from privet.hierarchy import Flat, Intervals, Tree


def below(
    record: Vertex, level: int = 0, parent: int = NONE, at: int = 0
) -> list[tuple[Vertex, int, int, int]]:
    """Vertex, level, parent and one past the last below, in preorder, by recursion."""
    found: list[tuple[Vertex, int, int, int]] = []
    for child in record.children:
        found += below(child, level + 1, at, at + 1 + len(found))
    return [(record, level, parent, at + 1 + len(found)), *found]


@settings(max_examples=60, deadline=None)
@given(collections(0, 5))
def test_arrays_say_what_the_trees_say(records: list[Vertex]) -> None:
    forest = Forest.of(SCHEMA, records)
    assert list(forest) == records
    assert len(forest) == len(records)
    begin = 0
    for at, record in enumerate(records):
        assert forest.starts[at] == begin
        for vertex, (tree, level, parent, end) in enumerate(below(record, at=0), begin):
            assert SCHEMA.kinds[forest.kinds[vertex]].name == tree.type
            assert forest.values(vertex) == tree.values
            assert forest.levels[vertex] == level
            assert forest.parents[vertex] == (NONE if parent == NONE else begin + parent)
            assert forest.ends[vertex] == begin + end
            assert forest.records[vertex] == at
            begins, members = forest.children
            children = [forest.values(child) for child in members[begins[vertex] : begins[vertex + 1]]]
            assert children == [child.values for child in tree.children]
        begin = int(forest.ends[begin])
    assert forest.starts[-1] == begin == forest.vertices


@settings(max_examples=40, deadline=None)
@given(collections(1, 5), st.data())
def test_taking_some(records: list[Vertex], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(records) - 1), max_size=6))
    forest = Forest.of(SCHEMA, records)
    some = forest.take(chosen)
    assert list(some) == [records[at] for at in chosen]
    again = Forest.of(SCHEMA, [records[at] for at in chosen])
    for name in ("starts", "kinds", "parents", "ends"):
        assert (getattr(some, name) == getattr(again, name)).all()
    assert some.domains is forest.domains


def test_a_column() -> None:
    forest = Forest.of(
        SCHEMA, [Vertex("student", ("1", "1993", "golf"), (Vertex("course", ("M1", "A", None)),))]
    )
    at, codes, domain = forest.field(SCHEMA.kind("course"), "course")
    assert at.tolist() == [1]
    assert [domain.values[code] for code in codes] == ["M1"]
    assert domain.size == 6  # the hierarchy has leaves that nobody has


def test_buckets() -> None:
    cut = Buckets((Decimal(0), Decimal(20), Decimal(50), Decimal(100)))
    assert [cut.bucket(text) for text in ("0", "19.99", "20", "50.0", "99", "100")] == [0, 0, 1, 2, 2, 2]
    assert [cut.label(at) for at in range(3)] == ["[0-20)", "[20-50)", "[50-100]"]
    assert Buckets.of_width(Decimal(0), Decimal(1), Decimal("0.4")).edges[-2:] == (Decimal("0.8"), Decimal(1))
    for wrong in ("-0.01", "100.5", "many", "nan", "inf"):
        with pytest.raises(InputError):
            cut.bucket(wrong)
    with pytest.raises(PolicyError):
        Buckets((Decimal(1), Decimal(1)))
    with pytest.raises(PolicyError):
        Buckets.of_width(Decimal(0), Decimal(1), Decimal(0))


@pytest.mark.parametrize(
    ("low", "high", "width"),
    [
        *(("NaN", "4", "1"), ("0", "NaN", "1"), ("0", "4", "NaN")),
        *(("0", "inf", "1"), ("-inf", "4", "1"), ("0", "4", "inf"), ("0", "1e9", "1e-9")),
    ],
)
def test_buckets_without_end_are_refused(low: str, high: str, width: str) -> None:
    """Found by the fuzzer: no number was a fault of privet, and one without an end took all memory."""
    with pytest.raises(PolicyError, match="buckets"):
        Buckets.of_width(Decimal(low), Decimal(high), Decimal(width))


def test_null_has_a_bucket_of_its_own() -> None:
    forest = Forest.of(
        SCHEMA, [Vertex("student", (gpa, "1993", "golf")) for gpa in (None, "0.1", "0.9", None)]
    )
    one, two, three, four = forest.buckets.tolist()
    assert one == four
    assert two == three != one


def student(*children: Vertex) -> Vertex:
    return Vertex("student", ("1", "1993", "golf"), children)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Vertex("course", ("M1", "A", None)), "record 2: a record is of type student"),
        (student(Vertex("book", ("b1", "1"))), "stands where the schema has none"),
        (student(Vertex("pupil", ())), "stands where the schema has none"),
        (student(Vertex("course", ("M1", "A"))), "has not one value for each field"),
    ],
)
def test_records_that_do_not_follow(wrong: Vertex, said: str) -> None:
    builder = Builder(SCHEMA)
    builder.add(student())
    with pytest.raises(InputError, match=said) as raised:
        builder.add(wrong)
    assert "M1" not in str(raised.value)
    builder.add(student())
    assert list(builder.forest()) == [student(), student()]
    assert builder.forest().vertices == 2  # nothing of the wrong one stayed


def test_depth_is_limited() -> None:
    nested = Schema("a", (Kind("a", (Field("q", Role.QUASI),), (("below", "a"),)),))

    def chain(length: int) -> Vertex:
        made = Vertex("a", ("1",))
        for _ in range(length - 1):
            made = Vertex("a", ("1",), (made,))
        return made

    assert Forest.of(nested, [chain(DEEPEST)]).vertices == DEEPEST
    with pytest.raises(InputError, match="deeper"):
        Forest.of(nested, [chain(DEEPEST + 1)])
    with pytest.raises(InputError, match="deeper"):
        Forest.of(nested, [chain(10_000)])


def test_values_outside_the_hierarchy() -> None:
    with pytest.raises(HierarchyError, match="type course, field course") as raised:
        Forest.of(SCHEMA, [student(Vertex("course", ("SECRET99", "A", None)))])
    assert "SECRET99" not in str(raised.value)


QI, SA = Field("q", Role.QUASI), Field("s", Role.SENSITIVE)


@pytest.mark.parametrize(
    ("root", "kinds", "said"),
    [
        ("b", [Kind("a", (QI,))], "type b, which is not described"),
        ("a", [Kind("a", (QI,)), Kind("a", (QI,))], "same name"),
        ("a", [Kind("a", (QI, QI))], "two fields"),
        ("a", [Kind("a", (SA, Field("t", Role.SENSITIVE)))], "at most one field is sensitive"),
        ("a", [Kind("a", (Field("o", Role.OTHER),))], "needs a quasi-identifying or a sensitive"),
        ("a", [Kind("a", (QI,), (("x", "b"),))], "which is not described"),
        ("a", [Kind("a", (QI,), (("q", "a"),))], "one field or one list"),
        ("a", [Kind("a", (QI, Field("t", Role.TARGET)))], "no role target"),
        ("a", [Kind("a", (QI, Field("s", Role.SENSITIVE, Flat())))], "only a quasi-identifier"),
        (
            "a",
            [Kind("a", (Field("q", Role.QUASI, buckets=Buckets((Decimal(0), Decimal(1)))),))],
            "only a sensitive",
        ),
        ("a", [Kind("a", (QI,), weight=Fraction(-1))], "not negative"),
    ],
)
def test_schemas_that_are_wrong(root: str, kinds: list[Kind], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        Schema(root, tuple(kinds))


# ---- hierarchies as numbered nodes ------------------------------------------------------------------


def nodes_of(hierarchy: Any, *values: str | None) -> Any:
    schema = Schema("a", (Kind("a", (Field("q", Role.QUASI, hierarchy),)),))
    forest = Forest.of(schema, [Vertex("a", (value,)) for value in values])
    return taxonomy(forest)


def test_an_interval_that_nobody_splits_is_finest() -> None:
    """`raw=False`: the interval is the most that is published, so it costs nothing."""
    nodes = nodes_of(Intervals(width=(5, 10), raw=False), "31", "33", "38", "41")
    shown = {nodes.labels[node]: nodes.loss(int(node)) for node in np.unique(nodes.nodes)}
    assert shown == {"[30-35)": 0, "[35-40)": 0, "[40-45)": 0}
    assert nodes.nodes[0, 0] == nodes.nodes[1, 0]


def test_a_growing_interval_has_its_values_below() -> None:
    nodes = nodes_of(Intervals(), "31", "33", "38")
    assert [nodes.labels[node] for node in nodes.nodes[:, 0]] == ["31", "33", "38"]
    assert nodes.loss(0) == 1
    assert {nodes.loss(int(node)) for node in nodes.nodes[:, 0]} == {0}


def test_one_value_loses_nothing_and_null_is_a_leaf() -> None:
    assert nodes_of(None, "x", "x").loss(0) == 0
    nodes = nodes_of(Tree.of({"*": {"a": ["b", "c"]}}), "b", None)
    assert [nodes.labels[node] for node in nodes.nodes[:, 0]] == ["b", None]
    top = nodes.mrca(nodes.nodes[0], nodes.nodes[1])
    assert nodes.labels[top[0]] == "*"
    assert nodes.loss(int(top[0])) == 1


def test_an_only_child_is_told_from_its_parent() -> None:
    nodes = nodes_of(Tree.of({"*": {"c": ["c1"], "d": ["d1"]}}), "c1", "d1")
    number = {label: at for at, label in enumerate(nodes.labels)}
    for pair in ((number["c"], number["c1"]), (number["c1"], number["c"])):
        assert nodes.mrca(np.array(pair[:1]), np.array(pair[1:])).tolist() == [number["c"]]
    assert nodes.covers(number["c"], number["c1"])
    assert not nodes.covers(number["c1"], number["c"])
