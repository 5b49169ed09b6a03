"""Where and when people are, as the data has it: for the steward's eyes, before anything is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privet.evidence.paths import Heat, StopNote
from privet.policy.values import Policy
from privet.registry import find
from privet.report import trajectories as report
from privet.report.markup import Safe
from privet.report.plots import picture
from privet.roads.trajectories.check import framed, read_paths
from privet.roads.trajectories.notes import heat, size, stops_noted
from privet.roads.trajectories.shape import Read
from privet.studio.shape import TRAJECTORIES

FEW = 5  # records at a place and time below which the page says that they are few
MOST = 400  # places that a map draws


@dataclass(frozen=True)
class Drawn:
    """Paths before anything was done to them."""

    size: Mapping[str, Any]
    few: int  # points where fewer than FEW records are
    heat: Safe | None
    map: Safe | None  # where it is known where the places are


def by_place_and_time(source: str, document: Mapping[str, Any], folder: Path) -> Drawn:
    """The busiest places by times, how many points few people have, and a map."""
    asked = {key: document[key] for key in ("form", TRAJECTORIES) if key in document}
    promised = [{"type": "k-anonymity", "k": 1}]  # asks for nothing: roles may not be decided yet
    policy = Policy.from_document(
        {"policy": 1, "kind": TRAJECTORIES, "models": promised, **asked}, base=folder
    )
    read = read_paths(framed(source, policy, find("engines", "embedded")()), policy)
    paths, stops = read.paths, read.shape.known_stops()
    there = paths.instances[paths.instances > 0]
    known = stops_noted(stops, paths) if stops is not None else _on_earth(read)
    return Drawn(
        size(paths),
        int((there < FEW).sum()),
        _heat(read),
        report.located([StopNote.read(one) for one in known[:MOST]]),
    )


def _heat(read: Read) -> Safe | None:
    found = Heat.read(heat(read.paths.points, read.paths.instances))
    if not found.places:
        return None
    bottom = report.TOP + report.ROW * len(found.places)
    parts = [*report.squares(found), *report.below(found.times, bottom)]
    said = "How many records are at each of the busiest places at each time, as the data has it"
    return picture("heat", "Places and times", said, *parts, height=bottom + 66, class_="left names")


def _on_earth(read: Read) -> list[dict[str, Any]]:
    """Places whose names are degrees, as cells of a grid have them; the busiest first."""
    paths = read.paths
    busy = np.bincount(paths.points.place, paths.instances, minlength=len(paths.points.places))
    found = []
    for at in np.argsort(-busy, kind="stable").tolist():
        words = str(paths.points.places[at]).replace(",", " ").split()
        try:
            lat, lon = (float(word) for word in words)
        except ValueError:
            continue
        if abs(lat) <= 90 and abs(lon) <= 180 and busy[at]:
            name = str(paths.points.places[at])
            found.append({"place": name, "name": name, "lat": lat, "lon": lon, "visits": int(busy[at])})
    return found
