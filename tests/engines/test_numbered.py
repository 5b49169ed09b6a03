"""Rows in numbers: a few rows and many are numbered in two ways, and nobody sees which."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.engines import frames

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
COLUMNS = st.one_of(
    st.lists(st.none() | TEXTS).map(lambda rows: pl.Series("c", rows, dtype=pl.String)),
    st.lists(st.none() | st.integers(-12, 12)).map(lambda rows: pl.Series("c", rows, dtype=pl.Int16)),
    st.lists(st.none() | st.sampled_from("bca")).map(
        lambda rows: pl.Series("c", rows, dtype=pl.Enum(["b", "é", "c", "a"]))
    ),
    st.lists(st.none() | st.dates(date(1999, 1, 1), date(2001, 1, 1))).map(
        lambda rows: pl.Series("c", rows, dtype=pl.Date)
    ),
)


@given(COLUMNS)
def test_few_rows_and_many_have_the_same_numbers(column: pl.Series) -> None:
    few, many = told(column)
    rows = column.cast(pl.String).to_list()
    values = sorted({row.encode() for row in rows if row is not None})
    assert few[1] == many[1] == [value.decode() for value in values] + [None] * (None in rows)
    assert [few[1][code] for code in few[0]] == rows
    assert few[0].dtype == many[0].dtype
    assert np.array_equal(few[0], many[0])


@given(COLUMNS, COLUMNS)
def test_few_rows_and_many_stand_in_the_same_order(first: pl.Series, second: pl.Series) -> None:
    height = min(len(first), len(second))
    data = pl.DataFrame({"first": first.head(height), "second": second.head(height)})
    few = frames.in_order(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "FEW", -1)
        assert few.equals(frames.in_order(data))


@pytest.mark.parametrize("rows", [255, 256, 257])
def test_numbers_take_as_few_bytes_as_they_can(rows: int) -> None:
    for column in (pl.Series("c", range(rows)), pl.Series("c", [*range(rows), None])):
        few, many = told(column)
        assert few[0].dtype == many[0].dtype == np.min_scalar_type(rows)


def told(column: pl.Series) -> list[tuple[np.ndarray, list[str | None]]]:
    """Both ways."""
    found = []
    for limit in (len(column), -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frames, "FEW", limit)
            found.append(frames.encode(column.to_frame())["c"])
    return found
