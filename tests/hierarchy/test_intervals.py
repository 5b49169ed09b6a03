from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Node, Value
from privet.errors import HierarchyError
from privet.hierarchy import Intervals
from privet.hierarchy.numbers import read

CANARY = "Canary-7731"


def labels(hierarchy: Intervals, *values: Value) -> list[Value]:
    return [node.label for node in hierarchy.domain(values).root.walk()]


def way(node: Node, code: int) -> list[Value]:
    """The labels above a code, root first."""
    below = next((child for child in node.children if child.lo <= code < child.hi), None)
    return [node.label, *(way(below, code) if below else [])]


def test_grown_intervals_begin_with_one_root() -> None:
    domain = Intervals().domain(["44", "24", "63", "34"])
    assert domain.values == ("24", "34", "44", "63")
    assert domain.root == Node("[20-70)", 0, 4, (), (Decimal(20), Decimal(70)))
    assert domain.grows(domain.root)
    left, right = domain.split(domain.root, 3)
    assert (left.label, right.label) == ("[20-63)", "63")


def test_the_publisher_may_give_the_domain() -> None:
    assert labels(Intervals(low=1, high=99), "24", "63") == ["[1-99)"]
    assert labels(Intervals(low=1), "24", "63") == ["[1-70)"]
    assert Intervals(low=1, high=99).uncovered(["0", "1", "98", "99", "98.5", None]) == ["0", "99"]
    with pytest.raises(HierarchyError, match="2 of 4 values are outside the intervals"):
        Intervals(low=1, high=99).domain(["0", "1", "98", "99"])


def test_ends_that_come_from_the_data_are_rounded_outward() -> None:
    scale = Intervals().domain(["17", "90"]).scale
    assert scale is not None
    assert (scale.low, scale.high, scale.rounded) == tuple(map(Decimal, (10, 100, 10)))
    assert labels(Intervals(step=25), "17", "90") == ["[0-100)"]
    assert labels(Intervals(step=5, low=0), "17", "90") == ["[0-95)"]
    assert labels(Intervals(), "30", "33") == ["[30-40)"]
    assert labels(Intervals(), "-12", "-3") == ["[-20..0)"]
    assert labels(Intervals(), "34", "34.0") == ["34"]  # what everybody has
    public = Intervals(low=0, high=120).domain(["17", "90"]).scale
    assert public is not None
    assert public.rounded is None
    for wrong in ({"step": 0}, {"step": 5, "width": (5,)}, {"step": -1}):
        with pytest.raises(HierarchyError, match="step"):
            Intervals(**wrong)


@given(st.lists(st.decimals(-5000, 5000, places=2), min_size=2, max_size=8, unique=True), st.integers(1, 400))
def test_rounding_outward_covers_the_data_and_depends_on_the_steps_alone(
    data: list[Decimal], step: int
) -> None:
    scale = Intervals(step=step).domain([format(number, "f") for number in data]).scale
    assert scale is not None
    assert scale.low <= min(data) < max(data) < scale.high
    assert scale.low % step == scale.high % step == 0
    assert min(data) - scale.low < step
    assert scale.high - max(data) <= step + 1


def test_null_stands_beside_the_interval() -> None:
    domain = Intervals().domain(["24", None, "63"])
    assert [(n.label, n.lo, n.hi) for n in domain.root.walk()] == [
        ("*", 0, 3),
        ("[20-70)", 0, 2),
        (None, 2, 3),
    ]
    assert not domain.grows(domain.root)
    assert domain.grows(domain.root.children[0])


def test_real_numbers_step_by_their_last_decimal() -> None:
    assert labels(Intervals(), "-3.25", "7", "1e3") == ["[-1000..2000)"]
    assert labels(Intervals(), "7.0", "9.00") == ["[0-10)"]
    assert labels(Intervals(), "-0", "9") == ["[0-10)"]
    scale = Intervals().domain(["1.50", "2"]).scale
    assert scale is not None
    assert (scale.step, scale.integral) == (Decimal("0.1"), False)


def test_equal_numbers_stand_side_by_side() -> None:
    assert Intervals().domain(["7.0", "8", "07", "7", "6.5"]).values == ("6.5", "07", "7", "7.0", "8")


@pytest.mark.parametrize("text", ["7", "7.0", "-3.25", "1e3", "+7", ".5", "7.", "1E-3", "0" * 20])
def test_numbers(text: str) -> None:
    number = read(text)
    assert number is not None
    assert Fraction(number) == Fraction(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 7",
        "7 ",
        "7\n",
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "1_000",
        "1,5",
        "٣",
        "0x1",
        "1e",
        "--1",
        "1e999",
        "9" * 27,
        "1e99999999999",
    ],
)
def test_not_numbers(text: str) -> None:
    assert read(text) is None
    with pytest.raises(HierarchyError, match="1 of 2 values are not numbers"):
        Intervals().domain([text, "1"])


def test_both_faults_are_counted_at_once() -> None:
    with pytest.raises(HierarchyError) as raised:
        Intervals(edges=(0, 10)).domain([CANARY, "3", "11", "12"])
    assert raised.value.missing == 3
    assert len(raised.value.complaints) == 2
    assert CANARY not in str(raised.value)


def test_equal_widths_nest_down_to_the_numbers() -> None:
    assert labels(Intervals(width=(5, 10, 20)), "3", "7", "21") == [
        "*", "[0-20)", "[0-10)", "[0-5)", "3", "[5-10)", "7", "[20-40)", "[20-30)", "[20-25)", "21",
    ]  # fmt: skip
    assert labels(Intervals(width=(5,), origin=2), "1", "2") == ["*", "[-3..2)", "1", "[2..7)", "2"]


@given(st.lists(st.decimals(-99, 99, places=2), min_size=1, max_size=9), st.integers(1, 9), st.integers(2, 4))
def test_widths_agree_with_floor_division(numbers: list[Decimal], width: int, times: int) -> None:
    domain = Intervals(width=(width, width * times)).domain([str(number) for number in numbers])
    for code, text in enumerate(domain.values):
        at: Node = domain.root
        for wide in (width * times, width):
            at = next(child for child in at.children if child.lo <= code < child.hi)
            low = Fraction(str(text)) // wide * wide
            assert at.interval == (Decimal(low), Decimal(low + wide))


@given(
    st.lists(st.integers(-30, 130), min_size=1, max_size=12),
    st.integers(0, 50),
    st.integers(51, 100),
    st.sampled_from([(1,), (5,), (5, 20), (7, 49), (200,)]),
)
def test_coded_ends_are_one_leaf(numbers: list[int], bottom: int, top: int, width: tuple[int, ...]) -> None:
    for hierarchy in (Intervals(bottom=bottom, top=top), Intervals(width=width, bottom=bottom, top=top)):
        domain = hierarchy.domain([str(number) for number in numbers])
        for code, text in enumerate(domain.values):
            last = way(domain.root, code)[-1]
            if int(str(text)) < bottom:
                assert last == f"<{bottom}"
            elif int(str(text)) >= top:
                assert last == f">={top}"
            elif hierarchy.width:
                assert last == text
        for node in domain.root.walk():
            if str(node.label).startswith(("<", ">=")):
                assert not domain.grows(node)
                limit = int(str(node.label).lstrip("<>="))
                inside = [int(str(value)) for value in domain.values[node.lo : node.hi]]
                assert all((n < limit) == str(node.label).startswith("<") for n in inside)


def test_intervals_that_reach_into_a_coded_end_are_open() -> None:
    assert labels(Intervals(width=(5, 10, 20), bottom=18, top=90), "3", "17", "19", "88", "90", "97") == [
        "*", "<20", "<18", "19", ">=80", "[80-90)", "[85-90)", "88", ">=90",
    ]  # fmt: skip
    assert labels(Intervals(edges=(0, 18, 65, 120), top=90), "7", "70", "95") == [
        "*", ">=0", "[0-18)", "7", ">=65", "70", ">=90",
    ]  # fmt: skip
    assert labels(Intervals(edges=(18, 65), bottom=18, top=65), "7", "20", "95") == [
        "*", "<18", "[18-65)", "20", ">=65",
    ]  # fmt: skip
    assert labels(Intervals(bottom=18, top=90), "3", "4", "20", "30") == ["*", "<18", "[18-90)"]
    assert labels(Intervals(top=90), "95", None) == ["*", ">=90", None]


def test_edges() -> None:
    one = Intervals(edges=[0, 18, 65, 120])
    assert one == Intervals(edges=((0, 18, 65, 120),))
    assert labels(one, "70", "17", "18") == ["[0-120)", "[0-18)", "17", "[18-65)", "18", "[65-120)", "70"]
    assert labels(one, "17", None) == ["*", "[0-120)", "[0-18)", "17", None]
    two = Intervals(edges=((0, 18, 65, 120), (0, 65, 120)), raw=False)
    assert labels(two, "70", "17", "18", "19") == ["[0-120)", "[0-65)", "[0-18)", "[18-65)", "[65-120)"]
    assert one.uncovered(["120", "-1", "0", "119.99", "x"]) == ["120", "-1", "x"]


def test_given_trees_never_grow() -> None:
    for hierarchy in (Intervals(edges=(0, 50, 100), raw=False), Intervals(width=(50,), raw=False)):
        domain = hierarchy.domain(["1", "2", "60", "70"])
        assert not any(domain.grows(node) for node in domain.root.walk())
        assert [domain.loss(child) for child in domain.root.children] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"width": (5,), "edges": (0, 1)}, "width, edges"),
        ({"width": (0,)}, "width: each is above 0"),
        ({"width": (10, 5)}, "width: finest first"),
        ({"width": (5, 5)}, "width: finest first"),
        ({"width": (5, 12)}, "width: finest first"),
        ({"edges": (0,)}, "edges: at least two"),
        ({"edges": (0, 2, 1)}, "edges: at least two"),
        ({"edges": ((0, 5, 9), (0, 4, 9))}, "edges: finest first"),
        ({"edges": ((0, 9), (0, 9))}, "edges: finest first"),
        ({"edges": ((0, 5, 9), (0, 5))}, "edges: every level"),
        ({"edges": ((0, 5, 9), 3)}, "edges: is a"),
        ({"edges": (0, 9), "top": 10}, "bottom, top: between"),
        ({"edges": (0, 9), "low": 0}, "low, high: not with"),
        ({"origin": 3}, "origin: only with width"),
        ({"raw": False}, "raw: only with"),
        ({"low": 3, "high": 3}, "the lower limit"),
        ({"bottom": 3, "top": 2}, "the lower limit"),
        ({"low": 1, "bottom": 2}, "low, bottom"),
        ({"high": 1, "top": 2}, "high, top"),
        ({"width": (0.5,)}, "width: is a whole number or is a finite Decimal"),
        ({"low": True}, "low: is a whole number or is a finite Decimal"),
        ({"low": Decimal("nan")}, "finite"),
    ],
)
def test_malformed_intervals_are_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(HierarchyError, match=says):
        Intervals(**arguments)  # type: ignore[arg-type]


def test_every_complaint_at_once() -> None:
    with pytest.raises(HierarchyError) as raised:
        Intervals(edges=(3, 2), width=(10, 5), low=4, high=1)
    assert len(raised.value.complaints) == 5


def test_extreme_numbers_are_exact() -> None:
    domain = Intervals().domain(["1e25", "1e-25", "0.1"])
    assert domain.root.interval is not None
    low, high = domain.root.interval
    assert low < high
    assert high > Decimal("1e25")
    wide = Intervals(width=(Decimal("0.1"),)).domain(["12345678901234567890.3", "0.3"])
    assert [child.interval for child in wide.root.children] == [
        (Decimal("0.3"), Decimal("0.4")),
        (Decimal("12345678901234567890.3"), Decimal("12345678901234567890.4")),
    ]
