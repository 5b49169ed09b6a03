from __future__ import annotations

import pytest

from privet.core import Hierarchy
from privet.domain import Value
from privet.hierarchy import Auto, Dates, Flat, Intervals, Prefix, draft

ZIPS: list[Value] = [str(number) for number in range(53_700, 53_725)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["7", "12", None], Intervals()),
        (["7.5", "-12", "1e3"], Intervals()),
        (["2024-03-05", None, "2023-01-01T10:00"], Dates(step="week")),
        (["02139", "10001"], Prefix(keep=(3, 1))),
        (["01", "12"], Prefix(keep=(1,))),
        (ZIPS, Prefix(keep=(3, 1))),
        (ZIPS[:5], Intervals()),
        ([*ZIPS, "1"], Intervals()),
        (["0", "1"], Intervals()),
        (["7", "x"], Flat()),
        (["2024-03-05", "x"], Flat()),
        (["nan", "1"], Flat()),
        ([f"\u0661234{at}" for at in range(10, 60)], Flat()),  # a digit, but not one that a code has
        ([None], Flat()),
        ([], Flat()),
    ],
)
def test_what_values_suggest(values: list[Value], expected: Hierarchy) -> None:
    assert draft(values) == expected
    assert Auto().domain(values) == expected.domain(values)
    assert Auto().uncovered(values) == []
