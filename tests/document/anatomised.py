"""Worked trees of Ozalp (2017), chapter 3, and small ways to say them in a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from privet.document.anatomy import Anatomize, Grouping, positions
from privet.document.anatomy_merge import Group, Grove, alone, merge
from privet.document.anatomy_rules import Rule, Rules, limits
from privet.document.described import described
from privet.document.forest import Forest, Vertex
from privet.document.publication import Publication
from privet.document.schema import Schema
from privet.document.style import Style
from privet.engines.documents.publication_files import read

PATIENTS = described(
    {
        "record": {"type": "patient", "json": "$.patients[*]", "xml": "/patients/patient"},
        "types": {
            "patient": {"quasi": ["age"], "sensitive": "blood", "children": {"visits": "visit"}},
            "visit": {"quasi": ["year"], "sensitive": "diagnosis"},
        },
    }
)


def visit(year: int, diagnosis: str) -> Vertex:
    return Vertex("visit", (str(year), diagnosis))


FIRST = (visit(2001, "Alcohol P."), visit(2006, "Alcohol P."), visit(2007, "Diaria"), visit(2008, "AIDS"))
SECOND = (visit(2000, "AIDS"), visit(2006, "AIDS"), visit(2006, "Flu"), visit(2007, "Cold"))


def patients(first: Sequence[Vertex] = FIRST, second: Sequence[Vertex] = SECOND) -> list[Vertex]:
    """A2: two patients; the order of their visits can be changed."""
    return [Vertex("patient", ("47", "0+"), tuple(first)), Vertex("patient", ("46", "AB-"), tuple(second))]


def rules(*given: tuple[str, int, str]) -> Rules:
    return Rules(tuple(Rule(value, m, Fraction(p)) for value, m, p in given))


def merged(records: Sequence[Vertex], schema: Schema, how: Anatomize) -> Group | None:
    """All records joined into one group in the given order; None where one does not fit."""
    return joined(Forest.of(schema, records), how)


def joined(forest: Forest, how: Anatomize) -> Group | None:
    grove = Grove.of(forest, limits(forest, how.rules, how.l), how.style)
    group = alone(forest, grove, 0)
    for record in range(1, len(forest)):
        match = merge(group, grove, record)
        if match is None:
            return None
        group = group.joined(record, grove, match)
    return group


def values(group: Group, records: Sequence[Vertex], schema: Schema) -> list[tuple[str | None, ...]]:
    """The sensitive values at each position."""
    return [found for _, found in positions(group, Forest.of(schema, records))]


def sets(grouping: Grouping) -> list[list[set[str | None]]]:
    """The same as sets, by group."""
    return [[set(v) for _, v in positions(group, grouping.forest)] for group in grouping.groups]


def published(folder: Path, text: object, schema: Schema = PATIENTS) -> Publication:
    path = folder / "publication.json"
    path.write_text(json.dumps(text), encoding="utf-8")
    return read(path, schema)


FIGURE_33: Any = {
    "method": "t-t",
    "l": 2,
    "groups": [
        {
            "id": "G0",
            "qi_trees": [
                {"age": 47, "visits": [{"year": 2001}, {"year": 2006}, {"year": 2007}]},
                {"age": 46, "visits": [{"year": 2000}, {"year": 2006}, {"year": 2007}]},
            ],
            "sa_trees": [
                {
                    "blood": "AB-",
                    "visits": [{"diagnosis": "AIDS"}, {"diagnosis": "Flu"}, {"diagnosis": "Cold"}],
                },
                {
                    "blood": "0+",
                    "visits": [
                        {"diagnosis": "Alcohol P."},
                        {"diagnosis": "Alcohol P."},
                        {"diagnosis": "Diaria"},
                    ],
                },
            ],
        }
    ],
}


def _aqi(age: int, years: Sequence[int]) -> Any:
    visits = [{"year": year, "sag": f"g0:G1.{at}"} for at, year in enumerate(years, 1)]
    return {"age": age, "sag": "g0:G0.1", "visits": visits}


FIGURE_34: Any = {
    "method": "v-v",
    "l": 2,
    "groups": [
        {
            "id": "g0",
            "aqi_trees": [_aqi(47, [2001, 2006, 2007]), _aqi(46, [2000, 2006, 2007])],
            "sa_groups": {
                "g0:G0.1": {"attribute": "blood", "values": {"0+": 1, "AB-": 1}},
                "g0:G1.1": {"attribute": "diagnosis", "values": {"AIDS": 1, "Alcohol P.": 1}},
                "g0:G1.2": {"attribute": "diagnosis", "values": {"Alcohol P.": 1, "Flu": 1}},
                "g0:G1.3": {"attribute": "diagnosis", "values": {"Cold": 1, "Diaria": 1}},
            },
        }
    ],
}


def bags(group: Group, forest: Forest) -> set[frozenset[str | None]]:
    return {frozenset(found) for _, found in positions(group, forest)}


def seeded(number: int) -> Random:
    return Random(number)


def both() -> Iterable[Style]:
    return Style
