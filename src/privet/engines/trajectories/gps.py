"""Points of GPS in a table: each row's cell of a grid, and cells as points again."""

from __future__ import annotations

import numpy as np
import polars as pl

from privet.engines.trajectories.frames import complaint, gathered, need, numbered, refuse
from privet.errors import InputError
from privet.trajectory.grid import Degrees, Grid, named


def located(grid: Grid, frame: pl.DataFrame, *, lat: str, lon: str, place: str = "place") -> pl.DataFrame:
    """The frame with the cell of each row in one more column; no point, no cell."""
    need(frame, (lat, lon))
    if place in frame.columns:
        raise InputError(f"the data has a column {place} already; give the cells another name")
    read = [degrees(frame, name, most) for name, most in ((lat, 90), (lon, 180))]
    refuse(*(wrong for _, wrong in read))
    numbers = [values for values, _ in read]
    there = ~np.isnan(numbers[0])
    refuse(complaint(f"{lat}, {lon}: half a point", there != ~np.isnan(numbers[1]), "give both or none"))
    where = np.flatnonzero(there)
    north, east = grid.middles(numbers[0][where], numbers[1][where])
    # Equal cells have equal middles to the last bit: they come from the same whole numbers.
    rows, row = np.unique(north, return_inverse=True)
    columns, column = np.unique(east, return_inverse=True)
    distinct, position = numbered(row * max(len(columns), 1) + column, len(rows) * max(len(columns), 1))
    names = [
        named(float(rows[at // len(columns)]), float(columns[at % len(columns)])) for at in distinct.tolist()
    ]
    codes = np.full(frame.height, len(names), dtype=np.int64)
    codes[where] = position
    return frame.with_columns(gathered([*names, None], codes).alias(place))


def as_points(frame: pl.DataFrame, *, lat: str, lon: str, place: str = "place") -> pl.DataFrame:
    """Visits to cells as points again, in the columns that they came in: the middle of each cell."""
    halves = frame.get_column(place).str.split_exact(",", 1).struct.unnest()
    middles = (halves.to_series(at).cast(pl.Float64).alias(name) for at, name in enumerate((lat, lon)))
    return frame.with_columns(middles).drop(place)


def degrees(frame: pl.DataFrame, name: str, most: int) -> tuple[Degrees, str | None]:
    """A column of coordinates, where nothing is NaN; and what is wrong with it."""
    column = frame.get_column(name)
    numbers = column.cast(pl.Float64, strict=False)
    values: Degrees = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
    wrong = np.isnan(values) & column.is_not_null().to_numpy() | (np.abs(values) > most)
    return values, complaint(f"{name}: not degrees", wrong, f"write numbers from -{most} to {most}")
