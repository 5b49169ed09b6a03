"""What is true of the domain of any hierarchy over any values it covers."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import pytest
import tomli_w
from hypothesis import example, given
from hypothesis import strategies as st

from privet.core import Hierarchy
from privet.domain import Cut, Domain, Node, Value
from privet.errors import HierarchyError
from privet.hierarchy import Auto, Dates, Flat, Intervals, Prefix, Tree, parse
from privet.hierarchy.tree import Branch

Case: TypeAlias = tuple[Hierarchy, list[Value]]
CANARY = "Canary-Zürich-7731"

numbers = st.one_of(
    st.integers(-500, 500).map(str),
    st.decimals(-500, 500, places=2).map(str),
    st.sampled_from(["7", "7.0", "7.00", "1e2", "-0", "0", ".5", "+7"]),
)
whole = st.integers(0, 150).map(str)
letters = 'ab01 ;,*"\n\u2028éß日\U0001d518-'  # the whole of Unicode takes hypothesis seconds to load
texts = st.text(letters, max_size=6).filter(lambda text: not text.endswith("*"))
days = st.dates(date(1899, 1, 1), date(2031, 1, 1)).map(date.isoformat)
moments = st.datetimes().map(lambda moment: moment.isoformat())

numeric = st.sampled_from(
    [
        Intervals(),
        Intervals(low=-1000, high=1000),
        Intervals(bottom=0, top=90),
        Intervals(width=(5, 10, 20)),
        Intervals(width=(Decimal("0.25"), Decimal("0.5"), 3), origin=Decimal("0.1")),
        Intervals(width=(5, 20), bottom=18, top=90),
        Intervals(width=(100,), bottom=18, top=90, raw=False),
        Intervals(width=(5, 20), raw=False),
        Intervals(edges=(-500, 0, 18, 65, 501)),
        Intervals(edges=((-500, 0, 18, 65, 501), (-500, 18, 501)), raw=False),
        Intervals(edges=((-500, 0, 18, 65, 501), (-500, 18, 501)), top=65),
        Intervals(edges=(0, 18, 65), bottom=0, top=65),
    ]
)
lengths = st.sets(st.integers(1, 5), min_size=1).map(
    lambda kept: Prefix(keep=tuple(sorted(kept, reverse=True)))
)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    labels = draw(st.lists(st.text(letters, min_size=1, max_size=4), min_size=2, max_size=14, unique=True))
    below: dict[int, list[int]] = {}
    for child in range(1, len(labels)):  # every node hangs below an earlier one
        below.setdefault(draw(st.integers(0, child - 1)), []).append(child)

    def branch(at: int) -> Branch:
        return Branch(labels[at], tuple(branch(child) for child in below.get(at, ())))

    return Tree(branch(0))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(["numbers", "texts", "days", "tree", "flat", "auto"]))
    values: st.SearchStrategy[str]
    hierarchy: Hierarchy
    if kind == "numbers":
        hierarchy, values = draw(numeric), draw(st.sampled_from([numbers, whole]))
    elif kind == "texts":
        hierarchy, values = draw(lengths), texts
    elif kind == "days":
        levels = draw(st.sets(st.integers(0, 4), min_size=1))
        names = tuple(("day", "month", "quarter", "year", "decade")[at] for at in sorted(levels))
        hierarchy, values = Dates(levels=names), st.one_of(days, moments)
    elif kind == "tree":
        hierarchy = draw(trees())
        values = st.sampled_from(hierarchy.leaves)
    else:
        hierarchy = Flat() if kind == "flat" else Auto()
        values = draw(
            st.sampled_from([numbers, st.text(letters, max_size=4), days, st.sampled_from(["*", "**", "a"])])
        )
    return hierarchy, draw(
        st.lists(st.one_of(st.none(), values) if draw(st.booleans()) else values, max_size=25)
    )


def partitioned(node: Node) -> bool:
    if not node.children:
        return True
    at = node.lo
    for child in node.children:
        if child.lo != at or child.hi <= child.lo:
            return False
        at = child.hi
    return at == node.hi and all(map(partitioned, node.children))


def covered(hierarchy: Hierarchy, values: Sequence[Value]) -> Domain:
    missing = set(hierarchy.uncovered(values))
    return hierarchy.domain([value for value in values if value not in missing])


@given(cases())
def test_children_partition_their_parents(case: Case) -> None:
    domain = covered(*case)
    assert (domain.root.lo, domain.root.hi) == (0, domain.size)
    assert partitioned(domain.root)


@given(cases())
def test_every_value_has_one_code_and_only_trees_have_more(case: Case) -> None:
    hierarchy, values = case
    domain = covered(hierarchy, values)
    seen = set(values) - set(hierarchy.uncovered(values))
    assert len(set(domain.values)) == domain.size
    if isinstance(hierarchy, Tree):
        assert set(domain.values) == seen | set(hierarchy.leaves)
    else:
        assert set(domain.values) == seen


@given(cases())
def test_null_is_last_and_below_the_root(case: Case) -> None:
    hierarchy, values = case
    domain = covered(hierarchy, values)
    assert (None in domain.values) == (None in values)
    if None in values:
        assert domain.values[-1] is None
        assert domain.null == domain.size - 1
        last = domain.root.children[-1] if domain.root.children else domain.root
        assert last.label is None or not domain.root.children


@given(cases())
def test_no_two_nodes_read_alike(case: Case) -> None:
    labels = [node.label for node in covered(*case).root.walk()]
    assert len(labels) == len(set(labels))


@given(cases())
def test_leaves_of_one_code_are_the_value_or_an_interval_that_holds_it(case: Case) -> None:
    hierarchy, values = case
    domain = covered(hierarchy, values)
    for node in domain.root.walk():
        if node.interval is not None:
            assert domain.scale is not None
            low, high = node.interval
            assert all(low <= number < high for number in domain.scale.numbers[node.lo : node.hi])
        elif not node.children and node.leaves == 1 and not isinstance(hierarchy, Intervals):
            assert node.label == domain.values[node.lo]


@given(cases())
def test_the_leaves_are_a_cut(case: Case) -> None:
    domain = covered(*case)
    if domain.size:
        Cut(domain, tuple(node for node in domain.root.walk() if not node.children))


@given(cases())
def test_input_is_left_alone_and_its_order_does_not_matter(case: Case) -> None:
    hierarchy, values = case
    covering = [value for value in values if value not in set(hierarchy.uncovered(values))]
    before = copy.copy(covering)
    assert hierarchy.domain(covering) == hierarchy.domain([*reversed(covering), *covering])
    assert covering == before


@example((Tree.of({"any": {"1": {"2": {"3": ["4"]}, "5": ["6"]}, "7": ["8"]}}), []))
@example((Tree.of({"any": {"7": ["8"], "1": {"2": ["3"], "4": None}, "5": {"6": ["9"]}}}), []))
@given(cases())
def test_a_policy_file_brings_it_back(case: Case) -> None:
    hierarchy, _ = case
    written = tomli_w.dumps({"hierarchy": hierarchy.to_policy()})
    assert parse(tomllib.loads(written)["hierarchy"], base=Path()) == hierarchy


@pytest.mark.parametrize(
    "hierarchy",
    [
        Intervals(),
        Intervals(width=(5,)),
        Intervals(low=0, high=9),
        Prefix(keep=(3,)),
        Dates(),
        Dates(format="%d.%m.%Y"),
        Tree.of({"ANY": ["a", "b"]}),
    ],
    ids=lambda hierarchy: f"{hierarchy.name}",
)
def test_errors_count_values_and_never_show_one(hierarchy: Hierarchy) -> None:
    values: list[Value] = [f"{CANARY}{at}*" for at in range(17)]
    with pytest.raises(HierarchyError) as raised:
        hierarchy.domain([*values, None])
    assert CANARY not in repr(raised.value) + str(raised.value)
    assert "17 of 17 values are" in str(raised.value)
    assert "--show-values" in str(raised.value)
    assert raised.value.missing == 17
    assert raised.value.__context__ is None
    assert hierarchy.uncovered(values) == values


@pytest.mark.parametrize(
    ("hierarchy", "value"),
    [
        (Intervals(), "7"),
        (Intervals(width=(5,)), "7"),
        (Prefix(keep=(3, 1)), "Ünïcödé"),
        (Dates(), "2024-02-29"),
        (Flat(), "日本"),
        (Auto(), "\U0001d518"),
    ],
)
def test_a_single_value_and_a_single_null(hierarchy: Hierarchy, value: str) -> None:
    assert hierarchy.domain([value]).values == (value,)
    assert hierarchy.domain([value, None]).values == (value, None)
    assert hierarchy.domain([None]).values == (None,)
    assert hierarchy.domain([]).values == ()
