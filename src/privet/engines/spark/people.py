"""Persons with several rows, or one: those whose rows are alike are met once, with how many they are.

A path is put together where its rows lie, by person; what comes here are the different paths. What leaves is
told in the same way, and becomes rows again on the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from privet import parts
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.engines.frames import texts
from privet.engines.spark.coding import looked_up, many
from privet.engines.spark.jobs import fetched, functions
from privet.engines.spark.order import PART
from privet.engines.spark.spread import Spread
from privet.engines.spark.staging import RECORDS, Staging
from privet.errors import InputError, UnsupportedError

STRETCH = 10_000  # copies that one row becomes at a time
ROWS = 1 << 20  # that are compared at a time


def different(table: Spread, times: str, most: int) -> pl.DataFrame:
    """The different rows, and how many of each there are."""
    f, keys = functions(), [f"v{at}" for at in range(len(table.names))]
    frame = table.frame.select(
        *(table.text(name).alias(key) for name, key in zip(table.names, keys, strict=True)),
        *(_typed(table, name).alias(table.at(name)) for name in table.names),
    )
    firsts = [f.first(table.at(name)).alias(table.at(name)) for name in table.names]
    grouped = frame.groupBy(*keys).agg(*firsts, f.count(f.lit(1)).alias("n"))
    rows = fetched(grouped.drop(*keys).limit(most + 1), "counting")
    if rows.num_rows > most:
        raise UnsupportedError(many(most))
    return _called(pl.DataFrame(rows), table, table.names, times)


def people(  # noqa: PLR0917 - who, where and when, and what else
    session: Any,
    staging: Staging,
    table: Spread,
    person: str,
    point: tuple[str, str],
    times: str,
    limits: tuple[int, int],
) -> pl.DataFrame:
    """Of persons whose rows are alike the rows of one, and how many they are.

    `point`: the two columns that differ between a person's rows; `limits`: distinct points, and rows.
    """
    f = functions()
    beside = [name for name in table.names if name not in {person, *point}]
    known = _points(table, point, limits[0])
    slim = table.frame.select(
        table.text(person).alias("who"),
        f.to_json(f.array(*(table.text(name) for name in point))).alias("point"),
        *(table.text(name).alias(f"v{at}") for at, name in enumerate(beside)),
        *(_typed(table, name).alias(table.at(name)) for name in beside),
    )
    lacking = fetched(slim.where(f.col("who").isNull()).agg(f.count(f.lit(1)).alias("n")), "counting")
    if without := int(lacking.column("n")[0].as_py()):
        raise InputError(f"{person}: nothing in {without} rows; a visit has a person, a place and a time")
    # Texts of one length, so that they are in order as numbers are.
    wide = len(str(len(known)))
    codes = [f"{at:0{wide}}" for at in range(len(known))]
    coded = looked_up(session, staging, slim, f.col("point"), known["point"].to_list(), {"code": codes})
    keys = [f"v{at}" for at in range(len(beside))]
    firsts = [f.first(table.at(name)).alias(table.at(name)) for name in beside]
    each = coded.groupBy("who", *keys).agg(
        f.array_join(f.sort_array(f.collect_list("code")), " ").alias("path"), *firsts
    )
    whose = fetched(
        each.agg(f.count(f.lit(1)).alias("n"), f.countDistinct("who").alias("persons")), "counting persons"
    ).to_pylist()[0]
    if whose["n"] != whose["persons"]:
        raise InputError(
            f"{whose['n'] - whose['persons']} persons or more have two values where a person has one; what "
            "is known of a person is the same in every row"
        )
    firsts = [f.first(table.at(name)).alias(table.at(name)) for name in beside]
    grouped = each.groupBy("path", *keys).agg(*firsts, f.count(f.lit(1)).alias("n"))
    # Written first: how long the paths are is known before any comes here.
    folder = staging.counted(grouped.drop(*keys))
    lie = pl.scan_parquet(folder / "*.parquet", glob=True)
    visits = lie.select(((pl.col("path").str.len_bytes() + 1) // (wide + 1)).sum()).collect().item()
    if visits > limits[1]:
        staging.drop(folder)
        raise UnsupportedError(many(limits[1]))
    frame = _called(lie.collect(), table, beside, times, "path")
    staging.drop(folder)
    rows = (
        frame.with_row_index(person)
        .with_columns(pl.col("path").str.split(" "))
        .explode("path")
        .with_columns(pl.col("path").cast(pl.Int64), pl.col(person).cast(pl.Int64))
    )
    found = known.select(point)[rows["path"].to_numpy()]
    return rows.drop("path").with_columns(found).select(*table.names, times)


def expanded(session: Any, staging: Staging, frame: pl.DataFrame, times: str, person: str | None) -> Spread:
    """The rows of a frame as often as it says, one after the other; a person's rows together, and numbered.

    The frame stands in the order in which it leaves, and persons are numbered from 1 in it.
    """
    import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

    f, names = functions(), [name for name in frame.columns if name != times]
    copies = frame[times].to_numpy().astype(np.int64)
    if person is None:
        start = np.cumsum(copies) - copies
    else:
        _, first, which = np.unique(frame[person].to_numpy(), return_index=True, return_inverse=True)
        start = (np.cumsum(copies[first]) - copies[first])[which]
    inside = {f"c{at}": frame[name] for at, name in enumerate(names)}
    made = pl.DataFrame({**inside, "times": copies, "start": start, "at": np.arange(frame.height)})
    there = staging.sent(session, pa.table(made.to_arrow()), typed=True)
    # In stretches: one row may be as many as do not fit in one list.
    there = there.withColumn("stretch", f.expr(f"explode(sequence(0L, (times - 1) div {STRETCH}L))"))
    here = f"sequence(stretch * {STRETCH}L + 1L, least((stretch + 1L) * {STRETCH}L, times))"
    there = there.withColumn("copy", f.expr(f"explode({here})"))
    there = there.withColumn("number", f.col("start") + f.col("copy"))
    shown = [
        f.col("number").cast("bigint").alias(f"c{at}") if name == person else f.col(f"c{at}")
        for at, name in enumerate(names)
    ]
    if dealt := staging.deals(session):
        before = f.col("number") - f.lit(1)
        shown.append(((before - f.pmod(before, f.lit(RECORDS))) / f.lit(RECORDS)).cast("bigint").alias(PART))
    # Nothing is worked out after the order: Sail would do that with several hands, and lose it.
    by = [f.col("number").alias("number_"), f.col("at").alias("at_")]
    columns = [f"c{at}" for at in range(len(names))]
    there = there.select(*shown, *by).orderBy("number_", "at_").select(*columns, *([PART] if dealt else []))
    return Spread(there, tuple(names), part=PART if dealt else None)


def same_rows(one: Path, form: Form, other: Path, of_other: Form) -> bool:
    """Have two folders of parts the same rows in the same order, as texts?"""
    left, right = _texts(one, form), _texts(other, of_other)
    here, there = next(left, None), next(right, None)
    while here is not None and there is not None:
        rows = min(here.height, there.height)
        if here.columns != there.columns or not here[:rows].equals(there[:rows]):
            return False
        here = here[rows:] if here.height > rows else next(left, None)
        there = there[rows:] if there.height > rows else next(right, None)
    return here is None and there is None


def _texts(folder: Path, form: Form) -> Iterator[pl.DataFrame]:
    engine = Embedded()
    for part in parts.listed(folder) if folder.is_dir() else [folder]:
        data = engine.read(part, form, empty=True).data
        for begin in range(0, data.height, ROWS):
            yield texts(data[begin : begin + ROWS])


def _points(table: Spread, point: tuple[str, str], most: int) -> pl.DataFrame:
    """The distinct points, and the text by which each is found again."""
    f = functions()
    keys = f.to_json(f.array(*(table.text(name) for name in point)))
    frame = table.frame.select(
        keys.alias("point"), *(_typed(table, name).alias(table.at(name)) for name in point)
    )
    firsts = [f.first(table.at(name)).alias(table.at(name)) for name in point]
    rows = fetched(frame.groupBy("point").agg(*firsts).limit(most + 1), "looking for distinct values")
    if rows.num_rows > most:
        raise UnsupportedError(
            f"the engine 'spark': {point[0]!r} and {point[1]!r} have more than {most:,} different pairs, "
            "which is what is brought to one machine; round what is too fine before, or say values=… to "
            "pv.Spark"
        )
    return _in_utc(pl.DataFrame(rows)).rename({table.at(name): name for name in point}).sort("point")


def _called(frame: pl.DataFrame, table: Spread, names: Sequence[str], times: str, *more: str) -> pl.DataFrame:
    """Columns as the table calls them, and how many records each row is."""
    called = {table.at(name): name for name in names}
    counted = _in_utc(frame).with_columns(pl.col("n").cast(pl.Int64))
    return counted.rename({**called, "n": times}).select(*names, *more, times)


def _typed(table: Spread, name: str) -> Any:
    """A column as it is; a text without the collation that a table may say."""
    column = functions().col(table.at(name))
    return column.cast("string") if table.kinds[name] in {"string", "char", "varchar"} else column


def _in_utc(frame: pl.DataFrame) -> pl.DataFrame:
    """Moments in one zone, as privet's own reader has them."""
    zoned = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Datetime) and kind.time_zone]
    return frame.with_columns(pl.col(name).dt.convert_time_zone("UTC") for name in zoned)
