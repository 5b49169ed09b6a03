"""Space in cells: points of GPS become the squares of a grid, each named by its middle.

Rows are of equal height; each row is divided into as many equal cells as make them about as wide as they are
high. So cells cover the globe without gaps, are of nearly one size everywhere but at the poles, and the
middle of a cell lies in that cell: a release can be read again with the same grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.errors import InputError, PolicyError
from privet.trajectory.coded import complaint, gathered, need, numbered, refuse

AROUND = 40_075_017  # metres along the equator
Degrees = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of so many metres; `uncertainty` is how far off a device may be."""

    metres: int
    uncertainty: int = 0

    def __post_init__(self) -> None:
        for name, number in (("grid.metres", self.metres), ("grid.uncertainty", self.uncertainty)):
            if isinstance(number, bool) or not isinstance(number, int):
                raise PolicyError(f"{name} is a whole number of metres, not {number!r}")
        if not 10 <= self.metres <= 1_000_000:
            raise PolicyError(f"grid.metres is between 10 and 1000000, not {self.metres}")
        if not 0 <= 2 * self.uncertainty <= self.metres:
            raise PolicyError(
                f"grid.metres is at least twice the uncertainty, {2 * self.uncertainty}, not {self.metres}: "
                "else most visits are in a wrong cell"
            )

    @property
    def rows(self) -> int:
        """From pole to pole."""
        return max(AROUND // 2 // self.metres, 1)

    def middles(self, lat: Degrees, lon: Degrees) -> tuple[Degrees, Degrees]:
        """The middle of the cell in which each point lies."""
        high = 180 / self.rows
        row = np.clip(np.floor((lat + 90) / high), 0, self.rows - 1)
        middle = (row + 0.5) * high - 90
        around = np.maximum(np.floor(np.cos(np.radians(middle)) * AROUND / self.metres), 1)
        column = np.mod(np.floor((lon + 180) / 360 * around), around)  # 180 degrees east is 180 degrees west
        return middle, (column + 0.5) / around * 360 - 180

    def located(self, frame: pl.DataFrame, *, lat: str, lon: str, place: str = "place") -> pl.DataFrame:
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
        north, east = self.middles(numbers[0][where], numbers[1][where])
        # Equal cells have equal middles to the last bit: they come from the same whole numbers.
        rows, row = np.unique(north, return_inverse=True)
        columns, column = np.unique(east, return_inverse=True)
        distinct, position = numbered(row * max(len(columns), 1) + column, len(rows) * max(len(columns), 1))
        names = [
            named(float(rows[at // len(columns)]), float(columns[at % len(columns)]))
            for at in distinct.tolist()
        ]
        codes = np.full(frame.height, len(names), dtype=np.int64)
        codes[where] = position
        return frame.with_columns(gathered([*names, None], codes).alias(place))

    def coarser(self, places: Sequence[str]) -> dict[str, str]:
        """The cell of this grid in which the middle of each cell of a finer one lies."""
        if not places:
            return {}
        points = np.array([coordinates(place) for place in places], dtype=np.float64)
        north, east = self.middles(points[:, 0], points[:, 1])
        cells = zip(north.tolist(), east.tolist(), strict=True)
        return {place: named(*cell) for place, cell in zip(places, cells, strict=True)}


def named(lat: float, lon: float) -> str:
    """The middle of a cell, to a tenth of a metre.

    >>> named(45.5, -73.5671234)
    '45.500000,-73.567123'
    """
    return f"{lat:.6f},{lon:.6f}"


def coordinates(place: str) -> tuple[float, float]:
    """The middle of a cell, from its name."""
    lat, _, lon = place.partition(",")
    return float(lat), float(lon)


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
