"""Records as they are beside what leaves of them: for the steward's own eyes, from the private notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from privet.core import Form
from privet.policy.notation import fill
from privet.registry import find
from privet.release import read_private
from privet.roads.stations import in_frame, settle

SHOWN = 50  # records on a page
MANY = 3  # labels of one value, where records with it may leave differently


@dataclass(frozen=True)
class Beside:
    """Some records of the data, each value with what it leaves as."""

    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Any, str | None], ...], ...]  # raw, published; None: not known for one record
    found: int  # records that match the search
    records: int


def beside(source: str, folder: Path, search: str) -> Beside | None:
    """The first records that hold the searched text; None: no notes lie beside the release."""
    notes = read_private(folder)
    if notes is None or not notes.get("published_as"):
        return None
    engine = find("engines", "embedded")()
    form = fill(Form, notes.get("form", {}))
    frame = in_frame(engine, engine.read(source, settle(source, form))).select(pl.all().cast(pl.String))
    wanted = search.strip().lower()
    if wanted:
        frame_found = frame.filter(
            pl.any_horizontal(
                pl.all().str.to_lowercase().str.contains(wanted, literal=True).fill_null(value=False)
            )
        )
    else:
        frame_found = frame
    became = {name: _labels(pairs) for name, pairs in notes["published_as"].items()}
    columns = [name for name in frame.columns if name in became]
    return Beside(
        tuple(columns),
        tuple(
            tuple((value, became[name].get(value)) for name, value in zip(columns, row, strict=True))
            for row in frame_found.select(columns).head(SHOWN).iter_rows()
        ),
        frame_found.height,
        frame.height,
    )


def _labels(pairs: list[Mapping[str, Any]]) -> dict[Any, str]:
    found: dict[Any, list[str]] = {}
    for pair in pairs:
        found.setdefault(pair["raw"], []).append(
            "null" if pair["published"] is None else str(pair["published"])
        )
    return {
        raw: " or ".join(labels[:MANY]) + (" or …" if len(labels) > MANY else "")
        for raw, labels in found.items()
    }
