"""How many records share their value with another: counted on the cluster, values equal as `equality` says.

Nearly every value has one spelling, and two of those are equal where their bytes are. Only what may be
written in several ways (45 and 45.0, é and its two parts) comes to this process and is told what it equals.
"""

from __future__ import annotations

from typing import Any

from privet.engines.spark.jobs import fetched, functions
from privet.engines.spark.spread import Spread
from privet.engines.spark.staging import Staging
from privet.equality import key
from privet.errors import UnsupportedError

SEVERAL = r"^[+.-]|^[0-9]*[.eE]|^[0-9]{4}-|^[0-9]{19}"  # numbers and dates; beside what is not ASCII


def repeated(session: Any, staging: Staging, table: Spread, column: str, most: int) -> tuple[int, int]:
    """The records that share their value of a column with another; and those that have none."""
    f = functions()
    counted = table.frame.groupBy(table.text(column).alias("v")).agg(f.count(f.lit(1)).alias("n"))
    several = f.col("v").rlike(SEVERAL) | (f.octet_length("v") != f.char_length("v"))
    found = fetched(counted.where(several).select("v").limit(most + 1), "looking for spellings")
    if found.num_rows > most:
        raise UnsupportedError(
            f"the engine 'spark': column {column!r} has more than {most:,} values that may be written in "
            'several ways; say rows = "persons" in the policy, or values=… to pv.Spark'
        )
    spelt = [value for value in found.column("v").to_pylist() if key(value) != value]
    if spelt:
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        same = pa.table({"key": pa.array(spelt, pa.string()), "same": pa.array(map(key, spelt), pa.string())})
        small = f.broadcast(staging.sent(session, same))
        joined = counted.join(small, f.col("v") == f.col("key"), "left")
        counted = joined.groupBy(f.coalesce("same", "v").alias("v")).agg(f.sum("n").alias("n"))
    shared = f.sum(f.when(f.col("v").isNotNull() & (f.col("n") > 1), f.col("n")).otherwise(f.lit(0)))
    nobody = f.sum(f.when(f.col("v").isNull(), f.col("n")).otherwise(f.lit(0)))
    row = fetched(
        counted.agg(shared.alias("shared"), nobody.alias("nobody")), "looking for repeated values"
    ).to_pylist()[0]
    return int(row["shared"] or 0), int(row["nobody"] or 0)
