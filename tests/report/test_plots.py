from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.report.curves import Moment, buckets, timeline
from privet.report.plots import MARKS, Axis, Bar, Bin, bars, histogram, pct

shares = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(shares, min_size=1))
def test_every_share_has_a_place_on_its_axis_in_order(values: list[float]) -> None:
    axis = Axis.over(values)
    places = [axis.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place <= 1 for place in places)
    assert all(0 <= place <= 1 for place, _ in axis.ticks())
    assert 2 <= len(axis.ticks()) <= 8


def test_small_risks_are_drawn_by_powers_of_ten() -> None:
    axis = Axis.over([1.0, 0.04, 0.0])
    assert [name for _, name in axis.ticks()] == ["0", "1%", "10%", "100%"]
    assert axis.at(0) == 0
    assert axis.at(1) == 1
    assert axis.at(0.1) == pytest.approx(0.55)


def test_large_risks_are_drawn_evenly() -> None:
    assert Axis.over([0.5, 1.0]).at(0.5) == 0.5


def test_bars_are_as_long_as_their_shares() -> None:
    drawn = bars([Bar("a", 0.25, "1", "a: 1"), Bar("b", 7.0, "28", "b: 28")], name="both")
    assert re.findall(r'width="([^"]+)" height="100%" class="fill"', drawn) == ["25%", "100%"]
    assert drawn.count('tabindex="0"') == 1  # one stop for the tabulator, arrows go on from there


def test_a_histogram_of_nothing_has_no_height() -> None:
    drawn = histogram("h", [Bin("1", "2", 0, "none")], title="t", description="d", across="x")
    assert 'height="0.0"' in drawn


def test_a_long_search_shares_marks() -> None:
    for count in (1, MARKS, MARKS + 1, 10 * MARKS + 3):
        groups = buckets(count)
        assert [at for group in groups for at in group] == list(range(count))
        assert len(groups) <= MARKS


def test_a_timeline_ends_at_the_top() -> None:
    moments = [
        Moment(1.0, performed=True, tip="a"),
        Moment(1.0, performed=False, tip="b"),
        Moment(4.0, performed=True, tip="c"),
    ]
    drawn = timeline("t", moments, title="t", description="d")
    assert re.findall(r'<svg x="([^"]+)" y="([^"]+)"', drawn) == [
        (pct(1 / 6), "112.5"),
        (pct(0.5), "176"),
        (pct(5 / 6), "0.0"),
    ]
