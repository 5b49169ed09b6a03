"""Where in a table the paths may be: a guess from the names of columns and a few of their values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from privet.domain import Value
from privet.engines.trajectories.column import parsed
from privet.errors import InputError
from privet.hierarchy.numbers import read as number
from privet.trajectory.paths import chronological

WORDS = {
    "path": "path trajectory route trace journey visits",
    "person": "person card tag epc user rider passenger citizen patient device id",
    "place": "place stop station location loc reader ward zone cell block site",
    "time": "time timestamp datetime when hour minute at t date",
    "lat": "lat latitude y",
    "lon": "lon lng long longitude x",
}
NUMBERS = frozenset(("no", "nr", "num", "number", "code", "key", "hash", "uuid", "guid", "name", "ref", "sk"))


def guess(columns: Mapping[str, Sequence[Value]]) -> dict[str, str]:
    """The table [trajectories] as it may be; empty where nothing speaks for any form.

    >>> guess({"card": ["1", "2"], "way": ["b2 -> c3", "b2"]})
    {'form': 'column', 'path': 'way'}
    >>> guess({"tag": ["1"], "reader": ["x"], "time": ["08:30"]})
    {'form': 'visits', 'person': 'tag', 'place': 'reader', 'time': 'time'}
    """
    for name, values in columns.items():
        some = [value for value in values if value][:50]
        if in_order(some) is not None:
            continue  # times of visits look like a place and a number too, and are none
        if some and all(is_path(value) for value in some) and any(len(value.split()) > 1 for value in some):
            return {"form": "column", "path": name}
    found = {key: column for key in WORDS if key != "path" and (column := named(columns, key)) is not None}
    if {"person", "lat", "lon", "time"} <= found.keys():
        found.pop("place", None)
        return {"form": "points", **found}
    if {"person", "place", "time"} <= found.keys():
        return {"form": "visits", **{key: found[key] for key in ("person", "place", "time")}}
    return {}


def clue(columns: Mapping[str, Sequence[Value]], records: int) -> str | None:
    """What in a table of so many records speaks for paths of people; None where nothing clearly does.

    Stricter than a guess, which somebody asked for: codes of diseases look like points too, and many a table
    has an id, a ward and a date. So times rise along paths, and persons have several rows each.

    >>> clue({"way": ["b2 c3", "b2 c5"]}, 2)
    'column "way" has places and times'
    >>> clue({"codes": ["E11 C3", "B2 A1"]}, 2), clue({"id": ["1"], "ward": ["w"], "date": ["1"]}, 1)
    (None, None)
    >>> clue({"id": ["1"], "cell width": ["1.5", "2"], "time": ["08:30", "08:40"]}, 4)  # of blood
    >>> clue({"cabin": ["C85", "E46", "B96 B98"]}, 3)  # most cells are one code: rooms, not ways
    """
    found = guess(columns)
    if found.get("form") == "column":
        path = found["path"]
        every = [value for value in columns[path] if value]
        ways = all(map(rising, every[:50])) and (_says_path(path, every[:50]) or _several(every))
        return f"column {json.dumps(path)} has places and times" if ways else None
    if found and _says_who(found["person"]) and not _measured(columns[found.get("place", found["person"])]):
        several = records >= 2 * len(columns[found["person"]])
        some = [value for value in columns[found["time"]] if value][:50]
        if several and some and in_order(some) is not None:
            said = ", ".join(json.dumps(name) for key, name in found.items() if key != "form")
            return f"columns {said} say who was where, and when"
    return None


def _says_who(name: str) -> bool:
    """Does it end with who is meant, or with what numbers them? "patient_satisfaction" does not."""
    words = re.findall(r"[a-z]+", name.lower())
    return bool(words) and words[-1] in {*WORDS["person"].split(), *NUMBERS}


def _measured(values: Sequence[Value]) -> bool:
    """Numbers with fractions: the width of a red blood cell, and no cell where somebody was."""
    some = [value for value in values if value][:50]
    numbers = [found for value in some if (found := number(value)) is not None]
    return len(numbers) == len(some) and any(found != int(found) for found in numbers)


def _says_path(name: str, some: Sequence[str]) -> bool:
    """Is it written as only paths are, or called so?"""
    words = set(re.findall(r"[a-z]+", name.lower()))
    return bool(words & set(WORDS["path"].split())) or any(
        mark in value for value in some for mark in ("@", "->", "\u2192")
    )


def _several(values: Sequence[str]) -> bool:
    """Have most of them more than one point?"""
    return sum(len(parts(value)) > 1 for value in values) * 2 > len(values)


def rising(path: str) -> bool:
    """Does every point of a path come after the one before?"""
    times = [pair[1] for part in parts(path) if (pair := parsed(part)) is not None]
    return len(set(times)) == len(times) and in_order(times) == (*times,)


def in_order(times: Sequence[str]) -> tuple[str, ...] | None:
    """Distinct times, earliest first; None where they are not times."""
    try:
        return chronological(times)
    except InputError:
        return None


def is_path(value: str) -> bool:
    """Can every part be read as a place and a time?"""
    return all(parsed(part) for part in parts(value))


def parts(path: str) -> list[str]:
    if "→" in path or "->" in path:
        return re.split(r"\s*(?:→|->)\s*", path.strip("<> "))
    return path.strip("<> ").split()


def named(columns: Mapping[str, Sequence[Value]], key: str) -> str | None:
    """The first column whose name has one of the words."""
    known = WORDS[key].split()
    for word in known:
        for name in columns:
            if word in re.findall(r"[a-z]+", name.lower()):
                return name
    return None
