"""Where in a table the paths may be: a guess from the names of columns and a few of their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from privet.domain import Value
from privet.trajectory.column import parsed

WORDS = {
    "path": "path trajectory route trace journey visits",
    "person": "person card tag epc user rider passenger citizen patient device id",
    "place": "place stop station location loc reader ward zone cell block site",
    "time": "time timestamp datetime when hour minute at t date",
    "lat": "lat latitude y",
    "lon": "lon lng long longitude x",
}


def guess(columns: Mapping[str, Sequence[Value]]) -> dict[str, str]:
    """The table [trajectories] as it may be; empty where nothing speaks for any form.

    >>> guess({"card": ["1", "2"], "way": ["b2 -> c3", "b2"]})
    {'form': 'column', 'path': 'way'}
    >>> guess({"tag": ["1"], "reader": ["x"], "time": ["08:30"]})
    {'form': 'visits', 'person': 'tag', 'place': 'reader', 'time': 'time'}
    """
    for name, values in columns.items():
        some = [value for value in values if value][:50]
        if some and all(is_path(value) for value in some) and any(len(value.split()) > 1 for value in some):
            return {"form": "column", "path": name}
    found = {key: column for key in WORDS if key != "path" and (column := named(columns, key)) is not None}
    if {"person", "lat", "lon", "time"} <= found.keys():
        found.pop("place", None)
        return {"form": "points", **found}
    if {"person", "place", "time"} <= found.keys():
        return {"form": "visits", **{key: found[key] for key in ("person", "place", "time")}}
    return {}


def is_path(value: str) -> bool:
    """Can every part be read as a place and a time?"""
    if "→" in value or "->" in value:
        return all(parsed(part) for part in re.split(r"\s*(?:→|->)\s*", value.strip("<> ")))
    return all(parsed(part) for part in value.strip("<> ").split())


def named(columns: Mapping[str, Sequence[Value]], key: str) -> str | None:
    """The first column whose name has one of the words."""
    known = WORDS[key].split()
    for word in known:
        for name in columns:
            if word in re.findall(r"[a-z]+", name.lower()):
                return name
    return None
