"""The table [trajectories] of a policy: where in the data the paths are, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from privet import core, hierarchy
from privet.core import Hierarchy
from privet.declared import settle
from privet.engines.trajectories import gps
from privet.engines.trajectories.column import PathColumn
from privet.engines.trajectories.readings import Clash, Prepared, from_readings
from privet.engines.trajectories.visits import Visits
from privet.errors import PolicyError
from privet.policy.notation import Complaints, fill, word
from privet.policy.values import Naming, Shape, as_it_is
from privet.roads.layouts import Keys, said_twice
from privet.trajectory.grid import Grid
from privet.trajectory.paths import Paths
from privet.trajectory.recode import PathRecoding
from privet.trajectory.searches import PathSearch
from privet.trajectory.slots import Slot
from privet.trajectory.stops import Stops

TIMES = "\x01times"  # of a frame from a cluster: how many persons have the rows of this one


class Layout(Enum):
    """How paths lie in the data."""

    COLUMN = "column"  # one row for each person, the path in one column
    VISITS = "visits"  # one row for each visit
    READINGS = "readings"  # one row for each reading of a device: tag, reader, time
    POINTS = "points"  # one row for each point of GPS


class Empty(Enum):
    """What becomes of a record that has no visit left."""

    KEEP = "keep"  # it stays, with an empty path
    DROP = "drop"  # it is left out, and counted


NEEDS = {
    Layout.COLUMN: ("path",),
    Layout.VISITS: ("person", "place", "time"),
    Layout.READINGS: ("person", "place", "time"),
    Layout.POINTS: ("person", "lat", "lon", "time", "grid", "slot"),
}
MAY = {
    Layout.COLUMN: (),
    Layout.VISITS: (),
    Layout.READINGS: ("slot", "clash"),
    Layout.POINTS: ("clash",),
}
COLUMNS = ("path", "person", "place", "time", "lat", "lon")
ANY = ("form", "empty", "stops", "zones")  # keys of every form
KEYS = (*ANY, *COLUMNS, "slot", "grid", "clash")
TABLE = Keys(ANY, NEEDS, MAY)


@dataclass(frozen=True)
class Trajectories(Shape):
    """Paths of people through places and times: a column of paths, visits, readings or GPS points."""

    bare: ClassVar[bool] = True

    form: Layout
    path: str | None = None
    person: str | None = None
    place: str | None = None
    time: str | None = None
    lat: str | None = None
    lon: str | None = None
    slot: Slot | None = None
    grid: Grid | None = None
    clash: Clash = Clash.REFUSE
    empty: Empty = Empty.KEEP
    stops: str | None = None  # a file: GTFS stops.txt or GeoJSON
    zones: Hierarchy | None = field(default=None, repr=False)
    base: Path = field(default=Path(), compare=False, repr=False)  # where `stops` is looked for

    name: ClassVar[str] = "trajectories"
    algorithm: ClassVar[Mapping[str, Any]] = {"type": "suppress-points"}

    def __post_init__(self) -> None:
        settle(self)
        TABLE.settled(self, (*COLUMNS, "stops"))

    @classmethod
    def from_policy(cls, table: Mapping[str, Any], *, base: Path) -> Self:
        if not isinstance(table, Mapping):
            raise PolicyError('is a table, for example { form = "column", path = "path" }')
        complaints = Complaints()
        complaints.unknown(table, KEYS)
        if "form" not in table:
            said = '", "'.join(layout.value for layout in Layout)
            raise PolicyError(f'form: says how paths lie in the data: "{said}"')
        made: dict[str, Any] = {"base": base}
        with complaints.at("form"):
            made["form"] = word(Layout, table["form"])
        for key in (*COLUMNS, "stops"):
            if key in table:
                if isinstance(table[key], str) and table[key]:
                    made[key] = table[key]
                else:
                    complaints.add(f"{key}: is the name of a {'file' if key == 'stops' else 'column'}")
        for key, read in (
            ("slot", Slot.parse),
            ("grid", _grid),
            ("clash", lambda given: word(Clash, given)),
            ("empty", lambda given: word(Empty, given)),
            ("zones", lambda given: hierarchy.parse(given, base=base)),
        ):
            if key in table:
                with complaints.at(key):
                    made[key] = read(table[key])
        complaints.raise_all()
        TABLE.fitting(made["form"], table, complaints)
        complaints.raise_all()
        return cls(**made)

    def to_policy(self, named: Naming = as_it_is) -> dict[str, Any]:
        table: dict[str, Any] = {"form": self.form.value}
        table |= {key: getattr(self, key) for key in (*COLUMNS, "stops") if getattr(self, key) is not None}
        if self.stops is not None:
            table["stops"] = named(self.base, self.stops)
        if self.slot is not None:
            table["slot"] = str(self.slot) if self.slot.seconds else self.slot.length
        if self.grid is not None:
            table["grid"] = {"metres": self.grid.metres, "uncertainty": self.grid.uncertainty}
        if self.clash is not Clash.REFUSE:
            table["clash"] = self.clash.value
        if self.empty is not Empty.KEEP:
            table["empty"] = self.empty.value
        if self.zones is not None:
            table["zones"] = self.zones.to_policy()
        return table

    def complaints(self, policy: core.Terms) -> list[str]:
        found = said_twice(policy, self.columns, table=self.name, person=self.person, what="visit")
        found += [
            f"models[{at}]: quasi: a promise about paths names no columns; leave it out"
            for at, model in enumerate(policy.models)
            if model.known() is not None
        ]
        if self.zones is not None and (self.grid is not None or PathSearch.of(policy).cells):
            found.append("trajectories.zones: places are stops with zones, or cells of a grid, not both")
        return found

    @property
    def whose(self) -> str | None:
        return self.person

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that paths are read from."""
        return tuple(name for key in COLUMNS if (name := getattr(self, key)) is not None)

    @property
    def by_visit(self) -> bool:
        """Has a person several rows?"""
        return self.form is not Layout.COLUMN

    def read(
        self,
        frame: pl.DataFrame,
        sensitive: Sequence[str],
        quasi: Sequence[str],
        *,
        published: bool = False,
        allow_empty: bool = False,
    ) -> Read:
        """The paths in a frame; what is published is read as it stands, nothing is merged or cut again."""
        copies = TIMES if TIMES in frame.columns else None
        if self.form is Layout.COLUMN:
            column = PathColumn.read(
                frame,
                path=str(self.path),
                sensitive=sensitive,
                quasi=quasi,
                allow_empty=allow_empty,
                copies=copies,
            )
            return Read(self, column)
        person, time, place = str(self.person), str(self.time), str(self.place)
        if self.form is Layout.POINTS and self.grid is not None:
            place = self.cell
            frame = gps.located(self.grid, frame, lat=str(self.lat), lon=str(self.lon), place=place)
        prepared = None
        if self.form is not Layout.VISITS and not published:
            prepared = from_readings(
                frame, person=person, place=place, time=time, slot=self.slot, clash=self.clash
            )
            frame = prepared.frame
        visits = Visits.read(
            frame,
            person=person,
            place=place,
            time=time,
            sensitive=sensitive,
            quasi=quasi,
            allow_empty=allow_empty,
            copies=copies,
        )
        return Read(self, visits, prepared)

    @property
    def cell(self) -> str:
        """A name for the column of cells that no other column has."""
        return f"{self.lat}, {self.lon}"

    def known_stops(self) -> Stops | None:
        return None if self.stops is None else Stops.read(self.base / self.stops)

    def published(self, grid: Grid | None) -> Trajectories:
        """What a recipient needs of it: no lists of places, which hold raw values."""
        return replace(self, stops=None, zones=None, grid=grid or self.grid)


@dataclass(frozen=True, eq=False)
class Read:
    """Data with its paths, ready to be written again."""

    shape: Trajectories
    source: PathColumn | Visits
    prepared: Prepared | None = None

    @property
    def paths(self) -> Paths:
        return self.source.paths

    def changed(self, recoding: PathRecoding) -> pl.DataFrame:
        """The frame as it leaves, in the columns in which it came."""
        frame = self.source.changed(recoding, keep_empty=self.shape.empty is Empty.KEEP)
        if self.shape.form is Layout.POINTS:
            frame = gps.as_points(
                frame, lat=str(self.shape.lat), lon=str(self.shape.lon), place=self.shape.cell
            )
        return frame


def _grid(given: Any) -> Grid:
    if isinstance(given, Mapping):
        grid: Grid = fill(Grid, given)
        return grid
    return Grid(given)
