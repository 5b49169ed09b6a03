"""Space in cells: points of GPS become the squares of a grid, each named by its middle.

Rows are of equal height; each row is divided into as many equal cells as make them about as wide as they are
high. So cells cover the globe without gaps, are of nearly one size everywhere but at the poles, and the
middle of a cell lies in that cell: a release can be read again with the same grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.declared import settle
from privet.errors import PolicyError

AROUND = 40_075_017  # metres along the equator
Degrees = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of so many metres; `uncertainty` is how far off a device may be."""

    metres: int
    uncertainty: int = 0

    def __post_init__(self) -> None:
        settle(self)
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
