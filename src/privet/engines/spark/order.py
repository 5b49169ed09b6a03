"""Canonical order on a cluster: by the text of each column, first column first, null last.

Spark orders texts by their bytes, as every engine does. What it writes in another way than privet's own
reader (numbers with a point, moments) is ordered by the place of its text among the column's texts.

Where rows are known to repeat, the different ones are sorted and each is repeated by a join, since clusters
spill a sort of all records badly or not at all. To the cluster it is said as it is meant, the order last:
Sail keeps an order through such a join and sorts before it, and who does not know that sorts after it.

Sail deals what it writes out among four files, a batch here and a batch there: rows stand in order in each,
and not from one to the next. So there each row is said its part, and a part is one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from privet import parts
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.engines.frames import is_in_order as standing
from privet.engines.spark.coding import distinct, looked_up
from privet.engines.spark.jobs import functions
from privet.engines.spark.spread import RESPELT, Spread
from privet.engines.spark.staging import RECORDS, Staging


def sort_keys(
    session: Any, staging: Staging, table: Spread, names: Sequence[str], most: int
) -> tuple[list[Any], Any]:
    """What rows are sorted by, null last, and the frame that has it."""
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
        keys.append(key)
    return keys, frame


PART = "part"  # a column beside a table's: in which part a row stands, where the cluster has to be told
LARGEST = 1 << 13  # records that one row becomes at a time; a list of all of them may not fit


def in_order(
    session: Any, staging: Staging, table: Spread, keys: Sequence[Any], frame: Any, *, dealt: bool
) -> Any:
    """The rows in order; `dealt`: with the part of each, for a cluster that deals rows out among parts."""
    f, by = functions(), [key.asc_nulls_last() for key in keys]
    if table.repeats:
        groups, told = _groups(table, keys, frame)
        by = [f.col(key).asc_nulls_last() for key in told]
        frame = _repeated(session, staging, groups, by, dealt=dealt)
    elif dealt:
        frame = frame.withColumn(PART, _part(f.lit(1), by))
    inside = [table.at(name) for name in table.names]
    return frame.orderBy(*by).select(*inside, *([PART] if dealt else []))


def _groups(table: Spread, keys: Sequence[Any], frame: Any) -> tuple[Any, list[str]]:
    """The different rows, in `n` how many of each, and the columns that tell them apart.

    By keys and not by values: Spark groups -0.0 with 0.0, which may both leave. A text is its own key.
    """
    f, told, chosen, values = functions(), list[str](), list[Any](), list[Any]()
    for at, (name, key) in enumerate(zip(table.names, keys, strict=True)):
        inside = table.at(name)
        if table.kinds[name] == "string":
            told.append(inside)
        else:
            told.append(f"t{at}")
            chosen.append(f.col(inside))
            values.append(f.first(inside).alias(inside))
        chosen.append(key.alias(told[-1]))
    groups = frame.select(*chosen).groupBy(*told)
    return groups.agg(f.count(f.lit(1)).alias("n"), *values), told


def _repeated(session: Any, staging: Staging, groups: Any, by: Sequence[Any], *, dealt: bool) -> Any:
    """Each row as often as `n` says, by a join: an explosion would not keep the order on every cluster."""
    import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

    f = functions()
    if dealt:
        groups = groups.withColumn(PART, _part(f.col("n"), by))
    # As many pieces of the largest size as fit, and one for each digit of what is left.
    sizes = [1 << digit for digit in range(LARGEST.bit_length())]
    digits = f.broadcast(staging.sent(session, pa.table({"size": pa.array(sizes, pa.int64())})))
    many = f"CASE WHEN size = {LARGEST} THEN n div {LARGEST}L ELSE (n div size) % 2L END"
    pieces = groups.crossJoin(digits).withColumn("many", f.expr(many)).where("many > 0")
    pieces = pieces.withColumn("one", f.expr("explode(sequence(1L, many))"))
    ones = np.repeat(np.array(sizes, dtype=np.int64), sizes)
    small = f.broadcast(staging.sent(session, pa.table({"of": ones})))
    return pieces.join(small, f.col("size") == f.col("of"), "inner")


def _part(records: Any, by: Sequence[Any]) -> Any:
    """The part of a row: how many full ones the records before it are."""
    from pyspark.sql import Window  # noqa: PLC0415 - an optional extra

    f, before = functions(), Window.orderBy(*by).rowsBetween(Window.unboundedPreceding, -1)
    found = f.coalesce(f.sum(records.cast("bigint")).over(before), f.lit(0)).cast("bigint")
    return ((found - f.pmod(found, f.lit(RECORDS))) / f.lit(RECORDS)).cast("bigint")


def is_in_order(folder: Path, form: Form) -> bool:
    """Do the rows of all parts stand in order? Read one part at a time, as each is sorted by itself."""
    engine = Embedded()
    last: pl.DataFrame | None = None
    for part in parts.listed(folder):
        data = engine.read(part, form, empty=True).data
        if data.height:
            # relaxed: of JSON lines a part may have a column without a value, which then has no type
            seam = data[:1] if last is None else pl.concat([last, data[:1]], how="vertical_relaxed")
            if not standing(data) or not standing(seam):
                return False
            last = data[-1:]
    return True
