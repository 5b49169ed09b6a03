"""The sites of spec 08's example A, and random ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from privet.parties.virtual.contract import DatabaseContract

NAMES = ("north", "south", "west")
DISEASES = ("Flu", "Asthma", "Diabetes", "Cancer")
EXAMPLE = (
    (0, 21, 12, "Flu"), (0, 23, 15, "Asthma"), (0, 47, 33, "Flu"), (0, 52, 31, "Diabetes"),
    (1, 24, 41, "Flu"), (1, 27, 44, "Cancer"), (1, 49, 14, "Flu"), (1, 55, 38, "Cancer"),
    (2, 26, 48, "Asthma"), (2, 29, 43, "Flu"), (2, 58, 11, "Diabetes"), (2, 61, 36, "Flu"),
)  # fmt: skip


def codes(*, moved: bool = False) -> tuple[Any, Any]:
    """Ages and zips, and whose each row is; `moved`: example B, where 24, 41 is of site 0."""
    whose = [0 if moved and row[1] == 24 else row[0] for row in EXAMPLE]
    return np.array([row[1:3] for row in EXAMPLE]), np.array(whose)


def document(**changes: Any) -> dict[str, Any]:
    said = {
        "database": 1,
        "parties": list(NAMES),
        "k": 2,
        "loss": "1/20",
        "guard": "suppress",
        "quasi": {"age": {"range": [17, 90]}, "zip": {"range": [10, 49]}},
        "sensitive": {"disease": {"values": list(DISEASES)}},
        **changes,
    }
    return {key: value for key, value in said.items() if value is not None}


def contract(**changes: Any) -> DatabaseContract:
    return DatabaseContract.from_document(document(**changes))


def frames() -> list[pl.DataFrame]:
    """One table for each site."""
    return [
        pl.DataFrame(
            [{"name": f"CANARY-{at}", "age": age, "zip": zip_, "disease": sick}
             for at, (of, age, zip_, sick) in enumerate(EXAMPLE) if of == site]
        )
        for site in range(3)
    ]  # fmt: skip


def parts(folder: Path, names: tuple[str, ...] = NAMES) -> dict[str, str]:
    found = {}
    for name, frame in zip(names, frames(), strict=True):
        frame.write_csv(folder / f"{name}.csv")
        found[name] = str(folder / f"{name}.csv")
    return found
