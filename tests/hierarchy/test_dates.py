from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Value
from privet.errors import HierarchyError
from privet.hierarchy import Dates


def labels(hierarchy: Dates, *values: Value) -> list[Value]:
    return [node.label for node in hierarchy.domain(values).root.walk()]


def test_calendar() -> None:
    assert labels(Dates(), "2024-03-05", "2019-12-31", None) == [
        "*", "2010s", "2019", "2019-Q4", "2019-12", "2019-12-31",
        "2020s", "2024", "2024-Q1", "2024-03", "2024-03-05", None,
    ]  # fmt: skip


@given(st.dates())
def test_labels_agree_with_a_naive_calendar(day: date) -> None:
    year = f"{day.year:04}"
    quarter = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3}.get(day.month, 4)
    expected = ["*", f"{year[:3]}0s", year, f"{year}-Q{quarter}", str(day)[:7], str(day)]
    assert labels(Dates(), str(day)) == expected


def test_date_times_count_by_their_date() -> None:
    found = labels(
        Dates(levels=("day", "year")), "2024-03-05T23:59:59+02:00", "2024-03-05 01:00", "2024-03-06"
    )
    assert found == [
        "*", "2024", "2024-03-05", "2024-03-05 01:00", "2024-03-05T23:59:59+02:00", "2024-03-06",
    ]  # fmt: skip


def test_a_day_beside_its_own_moments_is_one_leaf() -> None:
    domain = Dates(levels=("day",)).domain(["2024-03-05", "2024-03-05T10:00", "2024-03-06"])
    assert [(n.label, n.lo, n.hi) for n in domain.root.children] == [
        ("2024-03-05", 0, 2),
        ("2024-03-06", 2, 3),
    ]
    assert not domain.root.children[0].children


def test_formats() -> None:
    hierarchy = Dates(levels=("year",), format="%d.%m.%Y")
    assert labels(hierarchy, "05.03.2024", "31.12.2023") == ["*", "2023", "31.12.2023", "2024", "05.03.2024"]
    assert hierarchy.uncovered(["05.03.2024", "2024-03-05", "32.01.2024"]) == ["2024-03-05", "32.01.2024"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "2024-02-30",
        "20240305",
        "2024-W10-2",
        "2024-3-5",
        "2024-03-05T",
        "2024-03-05Tx",
        "٢٠٢٤-03-05",
    ],
)
def test_not_dates(text: str) -> None:
    assert Dates().uncovered([text]) == [text]


@pytest.mark.parametrize(
    "levels", [(), ("year", "month"), ("month", "month"), ("week",)], ids=["none", "order", "twice", "week"]
)
def test_levels_must_nest(levels: tuple[str, ...]) -> None:
    with pytest.raises(HierarchyError, match="levels"):
        Dates(levels=levels)


@pytest.mark.parametrize("form", ["", "%Y", "%d.%m.", "%", "%Q"])
def test_formats_must_name_a_day(form: str) -> None:
    with pytest.raises(HierarchyError, match="format"):
        Dates(format=form)


def test_weeks_are_steps_of_ranges_and_no_level() -> None:
    days = ["2024-12-29", "2024-12-30", "2025-01-05 10:00", "2025-01-06", "1920-05-01", "1919-01-02", None]
    domain = Dates(levels=("month",), bottom=1936, step="week").domain(days)
    assert [(step.label, step.lo, step.hi) for step in domain.steps] == [
        ("<1936", 0, 2),
        ("2024-12-23..2024-12-29", 2, 3),
        ("2024-12-30..2025-01-05", 3, 5),
        ("2025-01-06..2025-01-12", 5, 6),
    ]
    assert domain.root == Dates(levels=("month",), bottom=1936).domain(days).root
    assert Dates(step="week").domain(["9999-12-31"]).steps[0].label == "9999-12-27..9999-12-31"
    with pytest.raises(HierarchyError, match="step"):
        Dates(step="fortnight")
    assert Dates(step="week").to_policy()["step"] == "week"
