"""The list of places that a policy declares: stops with their names and where they are.

Read from a GTFS `stops.txt`, any CSV with those columns, or GeoJSON points. A list that the steward wrote
before seeing the data catches what should not be there at all; and it is all that a map needs.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from privet import jsonvalue
from privet.errors import InputError, PolicyError
from privet.trajectory.paths import Paths


@dataclass(frozen=True, slots=True)
class Stop:
    """A place on the map."""

    lat: float | None
    lon: float | None
    name: str


@dataclass(frozen=True)
class Stops:
    """Places by their identifier in the data."""

    places: Mapping[str, Stop] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.places:
            raise InputError("a list of stops has at least one")

    @classmethod
    def of(cls, names: Iterable[str]) -> Stops:
        """A plain list of places, of which nobody knows where they are."""
        return cls({name: Stop(None, None, name) for name in names})

    @classmethod
    def read(cls, path: Path) -> Stops:
        """A file by its ending: .txt and .csv as GTFS has them, .geojson and .json."""
        if not path.is_file():
            raise InputError(f"trajectories.stops: {path.name}: there is no such file beside the policy")
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path.name}: cannot be read as UTF-8 text ({type(error).__name__})") from None
        match path.suffix.lower():
            case ".txt" | ".csv":
                return cls(listed(path.name, gtfs(path.name, text)))
            case ".geojson" | ".json":
                return cls(listed(path.name, geojson(path.name, text)))
            case _:
                raise PolicyError(f"{path.name}: a list of stops is .txt or .csv (GTFS), .geojson or .json")

    def check(self, paths: Paths, where: str) -> None:
        """Refuse data with places that are not in the list; how many, never which."""
        unknown = np.array([place not in self.places for place in paths.points.places], dtype=bool)
        if not unknown.any():
            return
        visits = unknown[paths.points.place][paths.visits]
        cells = np.unique(paths.owner[visits])
        raise InputError(
            f"{where}: {np.count_nonzero(unknown)} of {len(unknown)} places are not in the list of stops, "
            f"in {int(paths.counts[cells].sum())} of {paths.records} records; "
            "add them to the list, or correct the data"
        )

    def unknown(self, paths: Paths) -> list[str]:
        """The places that are not in the list; for the steward's own eyes."""
        return [place for place in paths.points.places if place not in self.places]


def listed(file: str, found: Iterable[tuple[int, str, Stop]]) -> dict[str, Stop]:
    places: dict[str, Stop] = {}
    for number, stop_id, stop in found:
        if not stop_id:
            raise InputError(f"{file}: stop {number} has no identifier")
        if stop_id in places:
            raise InputError(f"{file}: stop {number} has the identifier of an earlier one")
        places[stop_id] = stop
    return places


def gtfs(file: str, text: str) -> Iterable[tuple[int, str, Stop]]:
    """`stop_id,stop_name,stop_lat,stop_lon,...`; a place without coordinates is one all the same."""
    rows = csv.DictReader(io.StringIO(text))
    if "stop_id" not in (rows.fieldnames or ()):
        raise InputError(f"{file}: a GTFS list of stops has a column stop_id")
    for number, row in enumerate(rows, start=1):
        stop_id = (row["stop_id"] or "").strip()
        spot = [coordinate(file, number, row.get(name) or None) for name in ("stop_lat", "stop_lon")]
        yield number, stop_id, Stop(spot[0], spot[1], (row.get("stop_name") or "").strip() or stop_id)


def geojson(file: str, text: str) -> Iterable[tuple[int, str, Stop]]:
    """A FeatureCollection of points, with `id`, or `stop_id`, `id` or `name` among the properties."""
    try:
        document = jsonvalue.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{file}: not JSON") from None
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list):
        raise InputError(f"{file}: a GeoJSON list of stops is a FeatureCollection")
    for number, feature in enumerate(features, start=1):
        properties, spot = parts(file, number, feature)
        known = [feature.get("id"), *(properties.get(key) for key in ("stop_id", "id", "name"))]
        stop_id = next((str(one).strip() for one in known if one is not None), "")
        name = properties.get("stop_name", properties.get("name", stop_id))
        lon, lat = (coordinate(file, number, at) for at in spot[:2])
        yield number, stop_id, Stop(lat, lon, str(name))


def parts(file: str, number: int, feature: object) -> tuple[dict[str, Any], list[Any]]:
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    spot = geometry.get("coordinates") if isinstance(geometry, dict) else None
    is_point = isinstance(geometry, dict) and geometry.get("type") == "Point"
    if not isinstance(feature, dict) or not is_point or not isinstance(spot, list) or len(spot) < 2:
        raise InputError(f"{file}: feature {number} is not a point; a stop is one")
    properties = feature.get("properties")
    return (properties if isinstance(properties, dict) else {}), spot


def coordinate(file: str, number: int, written: object) -> float | None:
    """Degrees, or nothing."""
    if written is None:
        return None
    try:
        found = float(written) if isinstance(written, (str, int, float)) else float("nan")
    except ValueError:
        found = float("nan")
    if not abs(found) <= 180:
        raise InputError(f"{file}: stop {number} has coordinates that are not degrees")
    return found
