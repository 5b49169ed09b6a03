"""Widths by number of columns: against the boxes' own extent, and the figures of the spec."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Attribute, Role, Terms
from privet.hierarchy import Intervals
from privet.measure.summary import dimensionality, expected_width
from privet.models.kanonymity import KAnonymity
from privet.relational.mondrian import Mondrian
from privet.relational.widths import cut_up, observed_widths


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=25),
    st.integers(1, 4),
)
def test_a_width_is_the_extent_of_the_boxes_that_mondrian_publishes(
    rows: list[tuple[int, int]], k: int
) -> None:
    tally = tally_of(
        {name: [row[at] for row in rows] for at, name in enumerate("xy")},
        hierarchies={name: Intervals() for name in "xy"},
    )
    found = cut_up(tally, k)
    if len(rows) < k:
        assert (found.count, found.width) == (1, 1.0)
        return
    attributes = tuple(Attribute(name, Role.QUASI, Intervals()) for name in "xy")
    policy = Terms(attributes, (KAnonymity(k=k),), Mondrian(relaxed=True))
    recoding = policy.algorithm.search(tally, policy).recoding
    total = 0.0
    for column in tally.quasi:
        numbers = [int(value or 0) for value in column.domain.values]
        span = max(numbers) - min(numbers)
        shown = recoding.shown(column)  # type: ignore[union-attr]
        for at, records in zip(shown.positions.tolist(), tally.counts.tolist(), strict=True):
            node = shown.nodes[at]
            total += records * (numbers[node.hi - 1] - numbers[node.lo]) / span if span else 0.0
    assert found.width == pytest.approx(total / len(rows) / 2)


def test_even_data_widens_as_the_spec_says() -> None:
    """5.3, for fewer columns: near the formula for the boxes that there are, and above a half with ten."""
    drawn = np.random.default_rng(1).integers(0, 1_000_000, size=(4_000, 10))
    tally = tally_of(
        {f"x{at}": drawn[:, at].tolist() for at in range(10)},
        hierarchies={f"x{at}": Intervals() for at in range(10)},
    )
    widths = observed_widths(tally, 10)
    assert widths == sorted(widths)
    for many, width in enumerate(widths, start=1):
        assert width == pytest.approx(expected_width(4_000, 13, many), abs=0.06)
    told = dimensionality(4_000, 10, 10, widths=widths)
    assert told["by_columns"] == pytest.approx(widths)
    assert told["too_wide"] is (widths[-1] > 0.5)


def test_the_closed_form_of_the_spec() -> None:
    printed = {2: 0.0316, 5: 0.2512, 10: 0.5012, 20: 0.7079, 50: 0.8710, 100: 0.9333}
    for many, width in printed.items():
        assert expected_width(10_000, 10, many) == pytest.approx(width, abs=5e-5)
    for many, width in {2: 0.0032, 5: 0.1, 10: 0.3162, 50: 0.7943, 100: 0.8913}.items():
        assert expected_width(1_000_000, 10, many) == pytest.approx(width, abs=5e-5)
