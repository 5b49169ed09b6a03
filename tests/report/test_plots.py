from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.report.plots import (
    LINE,
    MARKS,
    Axis,
    Bar,
    Bin,
    Moment,
    Pair,
    Point,
    bars,
    buckets,
    dumbbells,
    histogram,
    pct,
    rungs,
    scatter,
    timeline,
)

shares = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(shares, min_size=1))
def test_every_share_has_a_place_on_its_axis_in_order(values: list[float]) -> None:
    axis = Axis.over(values)
    places = [axis.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place <= 1 for place in places)
    assert all(0 <= place <= 1 for place, _ in axis.ticks())
    assert 2 <= len(axis.ticks()) <= 8


def test_every_other_name_of_a_long_axis_gives_way_on_a_narrow_screen() -> None:
    rare = Pair("Records alone", 1.0, 0.00002, "100% to 0.002%", ("a", "b"))
    drawn = str(dumbbells("x", [replace(rare, before=0.0), rare], title="t", description="d"))
    spare = re.findall(r'<g class="spare"><text[^>]*>([^<]+)</text></g>', drawn)
    assert spare == ["0.001%", "0.1%", "10%"][-len(spare) :]
    assert all(f">{name}</text>" in drawn for name in ("0", "0.01%", "1%", "100%"))
    few = str(dumbbells("x", [replace(rare, after=0.02)], title="t", description="d"))
    assert "spare" not in few


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
    drawn = histogram("h", [Bin("1", "2", 0, "none")], title="t", description="d", across="x", upwards="y")
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


@given(st.integers(0, 10**12))
def test_rungs_are_few_round_and_reach_the_top(high: int) -> None:
    steps = rungs(high)
    assert steps[0] == 0
    assert steps[-1] >= high
    assert 2 <= len(steps) <= 5
    step = steps[1]
    assert steps == [step * at for at in range(len(steps))]
    assert str(step).rstrip("0") in {"1", "2", "5"}
    assert steps[-1] - step < max(high, 1)  # not one more than is needed


def test_a_histogram_names_both_axes() -> None:
    drawn = histogram(
        "h", [Bin("1", "2", 7, "t")], title="t", description="d", across="size", upwards="classes"
    )
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert texts == ["classes", "0", "2", "4", "6", "8", "1", "2", "size"]


@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=6))
def test_names_of_points_never_cover_each_other(places: list[tuple[float, float]]) -> None:
    points = [Point("name", loss, risk, "after", "tip") for loss, risk in places]
    drawn = scatter("s", points, title="t", description="d", upwards="risk")
    found = re.findall(r'<text x="[^"]*" y="([^"]*)" dx="(-?13)"', drawn)
    assert len(found) == len(points)
    for side in ("13", "-13"):
        heights = sorted(float(y) for y, dx in found if dx == side)
        assert all(b - a >= LINE - 0.2 for a, b in itertools.pairwise(heights))
