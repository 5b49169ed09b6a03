"""Patients who were never ill, as trees in the manner of FHIR: patient → encounter → condition, observation.

A patient's age and a few lasting illnesses decide why they come, what is found and what is measured, so
that the sensitive values of one person depend on each other: what hierarchical anatomy has to cope with.

    patient (gender, birthYear, postalCode) → encounter (class, year, department)
        → condition (category | code), observation (code | value)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from privet.samples.draw import Floats, Ints, bell, chance, generator, pick, pick_given, tenths, whole

Record: TypeAlias = dict[str, Any]

BLOCK = 2_048  # patients drawn at once
THIS_YEAR = 2024
GENDERS = ("female", "male", "other", "unknown")
POSTAL = tuple(f"{region}{town:02d}0" for region in (10, 11, 24, 30, 41, 52) for town in range(8))
CLASSES = ("ambulatory", "emergency", "inpatient", "virtual")
LASTING = ("E11", "I10", "J45", "F32", "B20", "C50")  # diabetes, pressure, asthma, depression, HIV, cancer
ODDS = (-2.2, -1.4, -2.4, -2.0, -4.5, -4.0)  # of having each, at the age of 45
BY_AGE = (0.9, 1.1, -0.3, -0.1, -0.2, 0.8)  # more per 20 years
PASSING = ("J06", "A09", "S93", "M54", "R51", "K21", "N39", "L20", "F10", "Z00")
DEPARTMENTS = ("Internal medicine", "Surgery", "Neurology", "Oncology", "Psychiatry", "Emergency")
MEASURED = ("glucose", "systolic", "peak-flow", "phq-9", "cd4", "hemoglobin")
USUAL = ((95.0, 12), (122.0, 11), (480.0, 60), (4.0, 2.5), (900.0, 150), (13.8, 1.1))
IF_ILL = ((168.0, 35), (151.0, 14), (310.0, 60), (15.0, 4), (420.0, 160), (11.2, 1.4))


def encounters(rows: int, seed: int, *, visits: int = 8) -> Iterator[Record]:
    """About 11 vertices a patient; lasting illnesses bring a patient in more often, up to `visits` times."""
    rng = generator(rows, seed)
    for begin in range(0, rows, BLOCK):
        size = min(BLOCK, rows - begin)
        gender = pick(rng, size, (0.5, 0.47, 0.01, 0.02))
        age = whole(45 + 20 * bell(rng, size), 0, 100)
        home = pick(rng, size, [1 / (1 + at % 8) for at in range(len(POSTAL))])
        ill = np.stack(
            [chance(rng, base + slope * (age - 45) / 20) for base, slope in zip(ODDS, BY_AGE, strict=True)],
            axis=1,
        )
        count = whole(1 + 1.2 * ill.sum(axis=1) + 1.5 * np.abs(bell(rng, size)), 1, visits)
        owner = np.repeat(np.arange(size), count)
        drawn = _visits(rng, owner, ill)
        ends = np.cumsum(count)
        for row in range(size):
            first, last = int(ends[row] - count[row]), int(ends[row])
            yield {
                "resourceType": "Patient",
                "id": f"P{begin + row:06d}",
                "gender": GENDERS[gender[row]],
                "birthYear": int(THIS_YEAR - age[row]),
                "postalCode": POSTAL[home[row]],
                "encounters": [_visit(drawn, at) for at in range(first, last)],
            }


def _visits(rng: np.random.Generator, owner: Ints, ill: np.ndarray[Any, Any]) -> Mapping[str, Any]:
    """All encounters of a block at once, as columns."""
    total = len(owner)
    theirs = ill[owner]
    shown = theirs & (rng.random(theirs.shape) < 0.6)  # not every illness is written down at every visit
    grave = (shown.sum(axis=1) >= 2).astype(np.int64)
    values: list[Floats] = []
    for at in range(len(MEASURED)):
        mean, wide = np.where(theirs[:, at, None], IF_ILL[at], USUAL[at]).T
        values.append(tenths(np.maximum(mean + wide * bell(rng, total), 0)))
    return {
        "year": THIS_YEAR - 1 - pick(rng, total, (5, 4, 3, 2, 1)),
        "class": pick_given(rng, grave, [(6, 2, 1, 1), (4, 2, 4, 1)]),
        "department": pick_given(rng, grave, [(5, 3, 1, 1, 1, 3), (4, 2, 1, 2, 1, 1)]),
        "shown": shown,
        "passing": pick(rng, total, [1 / rank for rank in range(1, len(PASSING) + 1)]),
        "only": rng.random(total) < 0.5,
        "measured": rng.random(theirs.shape) < np.where(theirs, 0.7, 0.12),
        "values": np.stack(values, axis=1),
    }


def _visit(drawn: Mapping[str, Any], at: int) -> Record:
    conditions = [
        {"category": "lasting", "code": LASTING[which]} for which in np.flatnonzero(drawn["shown"][at])
    ]
    if drawn["only"][at] or not conditions:
        conditions.append({"category": "passing", "code": PASSING[drawn["passing"][at]]})
    measured = [
        {"code": MEASURED[which], "value": float(drawn["values"][at, which])}
        for which in np.flatnonzero(drawn["measured"][at])
    ]
    visit: Record = {
        "class": CLASSES[drawn["class"][at]],
        "year": int(drawn["year"][at]),
        "department": DEPARTMENTS[drawn["department"][at]],
        "conditions": conditions,
    }
    if measured:
        visit["observations"] = measured
    return visit


def hierarchies() -> Mapping[str, Any]:
    """The trees that are not numbers: postal codes by region; all else is flat or a number."""
    regions: dict[str, list[str]] = {}
    for code in POSTAL:
        regions.setdefault(f"{code[:2]}***", []).append(code)
    return {"postalCode": {"*": regions}}


def schema() -> Mapping[str, Any]:
    """What each field is, in the notation of a schema file."""
    return {
        "record": {"type": "patient", "json": "$[*]", "xml": "/patients/patient"},
        "types": {
            "patient": {
                "identifier": ["resourceType", "id"],
                "quasi": ["gender", "birthYear", "postalCode"],
                "children": {"encounters": "encounter"},
            },
            "encounter": {
                "quasi": ["class", "year", "department"],
                "children": {"conditions": "condition", "observations": "observation"},
            },
            "condition": {"quasi": ["category"], "sensitive": "code"},
            "observation": {"quasi": ["code"], "sensitive": "value"},
        },
        "attributes": {"value": {"buckets": {"from": "0", "to": "2000", "width": "20"}}},
    }
