"""Canonical order on a cluster: by the text of each column, first column first, null last.

Spark orders texts by their bytes, as every engine does. What it writes in another way than privet's own
reader (numbers with a point, moments) is ordered by the place of its text among the column's texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from privet import parts
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.engines.frames import is_in_order as in_order
from privet.engines.spark.coding import distinct, looked_up
from privet.engines.spark.jobs import functions
from privet.engines.spark.spread import RESPELT, Spread
from privet.engines.spark.staging import Staging


def sort_keys(
    session: Any, staging: Staging, table: Spread, names: Sequence[str], most: int
) -> tuple[list[Any], Any]:
    """What rows are sorted by, and the frame that has it."""
    f, frame, keys = functions(), table.frame, []
    for name in names:
        if table.kinds[name] == "binary":
            key = f.lower(f.hex(f.col(table.at(name))))
        elif table.kinds[name] in RESPELT:
            known = distinct(table, [name], most)[name]
            ranks = {text: at for at, text in enumerate(sorted(t for t in known.texts if t is not None))}
            places = [None if text is None else ranks[text] for text in known.texts]
            at = f"o{table.names.index(name)}"
            frame = looked_up(session, staging, frame, table.text(name), known.keys, {at: places})
            key = f.col(at)
        else:
            key = table.text(name)
        keys.append(key.asc_nulls_last())
    return keys, frame


def is_in_order(folder: Path, form: Form) -> bool:
    """Do the rows of all parts stand in order? Read one part at a time, as each is sorted by itself."""
    engine = Embedded()
    last: pl.DataFrame | None = None
    for part in parts.listed(folder):
        data = engine.read(part, form, empty=True).data
        if data.height:
            seam = data[:1] if last is None else pl.concat([last, data[:1]])
            if not in_order(data) or not in_order(seam):
                return False
            last = data[-1:]
    return True
