from __future__ import annotations

import copy
from typing import Any

import pytest

EVIDENCE: dict[str, Any] = {
    "evidence": 1,
    "software": "privet 0.1.0",
    "made": "2026-11-15T21:40:37+00:00",
    "kind": "table",
    "purpose": "yearly extract for the statistics office",
    "nulls": "value",
    "records": 5000,
    "columns": ["age", "job", "sex", "surgery"],
    "promises": [
        {
            "model": {
                "type": "lkc-privacy",
                "l": 2,
                "k": 20,
                "c": "1/5",
                "sensitive": {"surgery": ["Transgender", "Plastic"]},
            },
            "holds": True,
            "achieved": {
                "k": 25,
                "c": "31/184",
                "c of surgery=Transgender": "31/184",
                "c of surgery=Plastic": "9/187",
            },
            "broken": 0,
            "at_risk": 0,
        }
    ],
    "algorithm": {"type": "top-down", "score": "information-gain", "splits": "strict"},
    "recoding": "generalisation",
    "notes": [],
    "attributes": {
        "name": {"role": "identifier", "published": "dropped"},
        "card": {"role": "identifier", "published": "pseudonym"},
        "age": {
            "role": "quasi",
            "published": "generalised",
            "values": [
                {"label": "[1-30)", "loss": 0.29, "interval": ["1", "30"]},
                {"label": "[30-99)", "loss": 0.71, "interval": ["30", "99"]},
                {"label": None, "loss": 0.0},
            ],
        },
        "job": {"role": "quasi", "published": "generalised", "values": [{"label": "ANY", "loss": 1.0}]},
        "sex": {"role": "quasi", "published": "unchanged"},
        "surgery": {"role": "sensitive", "published": "unchanged"},
    },
    "steps": [
        {"attribute": "age", "label": "[1-99)", "children": ["[1-30)", "[30-99)"], "score": 0.100393441153},
        {"attribute": "job", "label": "ANY", "refused": "lkc-privacy"},
        {"attribute": "sex", "label": "*", "children": ["M", "F"], "score": 0.055},
    ],
    "measures": {
        "records": 5000,
        "dimensionality": {
            "k": 20,
            "quasi_identifiers": 2,
            "expected": [0.004, 0.063245553],
            "observed": 0.61,
            "too_wide": True,
        },
        "classes": {
            "count": 6,
            "smallest": 25,
            "largest": 2055,
            "average": 833.3333,
            "histogram": [
                {"from": 20, "to": 49, "classes": 2, "records": 69},
                {"from": 50, "to": 99, "classes": 0, "records": 0},
                {"from": 2000, "to": 4999, "classes": 4, "records": 4931},
            ],
        },
        "risk": {
            "before": {
                "unique_records": 4321,
                "unique_share": 0.8642,
                "highest": 1.0,
                "average": 0.93,
                "classes": 4650,
            },
            "after": {
                "unique_records": 0,
                "unique_share": 0.0,
                "highest": 0.04,
                "average": 0.0012,
                "classes": 6,
            },
        },
        "loss": {
            "lm": 0.5,
            "ncp": 0.52,
            "discernibility": 6234212,
            "discernibility_ratio": 0.249,
            "average_class_size": 833.3333,
            "height": 3.5,
            "suppressed_cells": 5000,
            "gain_retained": 0.42,
        },
        "attributes": {
            "age": {
                "lm": 0.5,
                "ncp": 0.56,
                "published_values": 3,
                "raw_values": 83,
                "suppressed_share": 0.0,
                "gain_retained": 0.6,
                "distribution": [["[1-30)", 1500], ["[30-99)", 3400], [None, 100]],
            },
            "job": {
                "lm": 1.0,
                "ncp": 1.0,
                "published_values": 1,
                "raw_values": 17,
                "suppressed_share": 1.0,
                "gain_retained": 0.0,
                "distribution": [["ANY", 5000]],
            },
            "sex": {
                "lm": 0.0,
                "ncp": 0.0,
                "published_values": 2,
                "raw_values": 2,
                "suppressed_share": 0.0,
                "gain_retained": None,
                "distribution": [["M", 2400], ["F", 2600]],
            },
        },
    },
    "cautions": ["Release one version only: two releases can be combined by whoever has both."],
    "data": {"file": "data.csv", "format": "csv", "encoding": "utf-8", "nulls": [""]},
}


@pytest.fixture
def evidence() -> dict[str, Any]:
    """All that a release of a small table says about itself; each test has its own."""
    return copy.deepcopy(EVIDENCE)


@pytest.fixture
def large() -> dict[str, Any]:
    """13 quasi-identifiers with more values than measures list, and a long search."""
    whole = copy.deepcopy(EVIDENCE)
    whole["attributes"], whole["measures"]["attributes"] = {}, {}
    for number in range(13):
        name = f"column {number}"
        labels = [f"value {at} of column {number}" for at in range(200)]
        whole["attributes"][name] = {
            "role": "quasi",
            "published": "generalised",
            "values": [{"label": each, "loss": 0.25} for each in labels],
        }
        whole["measures"]["attributes"][name] = {
            "lm": 0.3,
            "ncp": 0.4,
            "published_values": 200,
            "raw_values": 900,
            "suppressed_share": 0.0,
            "distribution": [*([each, 20 + at] for at, each in enumerate(labels[:40])), ["…", 4000]],
        }
    whole["steps"] = [
        {
            "attribute": f"column {at % 13}",
            "label": f"value {at}",
            "children": ["a", "b"],
            "score": 1 / (1 + at),
        }
        for at in range(2000)
    ]
    return whole
