"""Values as codes on the cluster: distinct values come here, their codes go there, and counts come back.

Two jobs whatever the number of columns: one for the distinct values of all of them, one for the counts. The
codes of a record are packed into one number (or a few, where they do not fit), so that what is shuffled are
eight bytes and a count for each combination that a worker has seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.domain import Domain, Value
from privet.engine import codes_of
from privet.engines.spark.cells import words
from privet.engines.spark.jobs import CHANGED, fetched, functions
from privet.engines.spark.spread import Spread, respelt
from privet.engines.spark.staging import Staging
from privet.errors import UnsupportedError


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column: as Spark writes them, as privet does, and how often each occurs."""

    keys: tuple[Value, ...] = field(repr=False)
    texts: tuple[Value, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)

    def by_code(self, domain: Domain) -> NDArray[np.int64]:
        """How many records have each code of a domain."""
        made = np.zeros(domain.size, dtype=np.int64)
        np.add.at(made, codes_of(domain, self.texts), self.counts)
        return made


# Of a column: its distinct values as Spark writes them, the code of each, and how many codes there are.
Packing: TypeAlias = tuple[Sequence[Value], NDArray[np.int64], int]


def distinct(table: Spread, names: Sequence[str], most: int) -> dict[str, Values]:
    """The distinct values of columns, in one job; refuses where there are more than can come here."""
    f = functions()
    texts = [table.text(name) for name in names]
    if table.columnar:  # a column for itself is read for itself
        each = [
            table.frame.groupBy(one.alias("v")).agg(f.count(f.lit(1)).alias("n")).select(
                f.lit(at).alias("at"), "v", "n"
            )
            for at, one in enumerate(texts)
        ]  # fmt: skip
        found = reduce(lambda one, other: one.unionAll(other), each)
    else:
        pairs = f.array(*(f.struct(f.lit(at).alias("at"), one.alias("v")) for at, one in enumerate(texts)))
        found = (
            table.frame.select(f.explode(pairs).alias("e"))
            .groupBy(f.col("e.at").alias("at"), f.col("e.v").alias("v"))
            .agg(f.count(f.lit(1)).alias("n"))
        )
    rows = fetched(found.limit(most + 1), "looking for distinct values")
    if rows.num_rows > most:
        raise UnsupportedError(
            f"the engine 'spark': {_named(names)} together have more than {most:,} distinct values, which is "
            "what is brought to one machine; give fewer columns a role, round what is too fine before, or "
            "say values=… to pv.Spark"
        )
    column, value, times = (rows.column(name).to_numpy(zero_copy_only=False) for name in ("at", "v", "n"))
    made = {}
    for at, name in enumerate(names):
        here = np.flatnonzero(column == at)
        keys = tuple(None if key is None else str(key) for key in value[here].tolist())
        spelt = respelt(keys, table.kinds[name])
        made[name] = Values(keys, tuple(spelt), times[here].astype(np.int64))
    return made


def many(most: int) -> str:
    return (
        f"the engine 'spark': the records have more than {most:,} different combinations of values, which is "
        "what is searched on one machine; round what is too fine before, or say cells=… to pv.Spark"
    )


def _named(names: Sequence[str]) -> str:
    return f"column {names[0]!r}" if len(names) == 1 else f"{len(names)} columns"


@dataclass(frozen=True, eq=False)
class Found:
    """The packed numbers that occur, ascending, and how many records have each; or where these lie."""

    words: list[NDArray[np.int64]] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    records: int
    cells: int  # how many there are
    folder: Path | None = None  # too many to come here


@dataclass(frozen=True, eq=False)
class Codebook:
    """How the columns of a table become numbers, and these one."""

    values: Mapping[str, Values] = field(repr=False)
    domains: Mapping[str, Domain] = field(repr=False)  # in the order in which they are packed

    @property
    def words(self) -> list[list[str]]:
        """The columns that are packed into each number."""
        names = list(self.domains)
        return [[names[at] for at in some] for some in words([d.size for d in self.domains.values()])]

    def packed(self, session: Any, staging: Staging, table: Spread) -> Any:
        """The table's frame with the numbers w0, w1, … of each record beside its columns."""
        each = {
            name: (self.values[name].keys, codes_of(domain, self.values[name].texts), domain.size)
            for name, domain in self.domains.items()
        }
        return packed(session, staging, table, each)

    def found(self, places: Mapping[str, NDArray[np.intp]], counts: NDArray[np.int64], most: int) -> Found:
        """Counts of combinations of values; `places`: by column, which of its distinct values each has."""
        made = []
        for some in self.words:
            word = np.zeros(len(counts), dtype=np.int64)
            for name in some:
                codes = codes_of(self.domains[name], self.values[name].texts)
                word = word * self.domains[name].size + codes[places[name]]
            made.append(word)
        # Values that are equal were counted one by one.
        order = np.lexsort(made[::-1])
        made = [word[order] for word in made]
        first = np.ones(len(order), dtype=bool)
        if len(order):
            first[1:] = np.logical_or.reduce([np.diff(word) != 0 for word in made])
        begins = np.flatnonzero(first)
        if len(begins) > most:
            raise UnsupportedError(many(most))
        total = np.add.reduceat(counts[order], begins) if len(begins) else counts
        return Found([word[begins] for word in made], total, int(counts.sum()), len(begins))

    def unpacked(self, words: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
        """The codes of each column behind packed numbers."""
        found: dict[str, NDArray[np.int64]] = {}
        for word, some in zip(words, self.words, strict=True):
            rest = word
            for name in reversed(some):
                rest, found[name] = np.divmod(rest, self.domains[name].size)
        return found


def packed(session: Any, staging: Staging, table: Spread, columns: Mapping[str, Packing]) -> Any:
    """The table's frame with the numbers w0, w1, … of each record beside its columns."""
    f, frame, number = functions(), table.frame, {}
    for at, (name, (keys, codes, _)) in enumerate(columns.items()):
        number[name] = f"k{at}"
        frame = looked_up(session, staging, frame, table.text(name), keys, {f"k{at}": codes})
    names = list(columns)
    for at, some in enumerate(words([size for _, _, size in columns.values()])):
        word = f.lit(0).cast("bigint")
        for name in (names[which] for which in some):
            word = word * columns[name][2] + f.col(number[name])
        frame = frame.withColumn(f"w{at}", word)
    return frame.drop(*number.values())


def tallied(
    session: Any, staging: Staging, table: Spread, book: Codebook, most: int, *, may_stay: bool = False
) -> Found:
    """The counts of all combinations, by one aggregation; `may_stay`: where they are more than `most`."""
    f = functions()
    slim = table.select(list(book.domains))
    names = [f"w{at}" for at in range(len(book.words))]
    grouped = book.packed(session, staging, slim).groupBy(*names).agg(f.count(f.lit(1)).alias("n"))
    if may_stay:
        folder = staging.counted(grouped)
        lie = pl.scan_parquet(folder / "*.parquet", glob=True)
        number, records = lie.select(pl.len(), pl.col("n").sum().cast(pl.Int64).alias("n")).collect().row(0)
        if number > most:
            nothing = np.zeros(0, dtype=np.int64)
            return Found([nothing for _ in names], nothing, int(records), int(number), folder)
        rows = lie.collect()
        staging.drop(folder)
        read = {name: rows[name].to_numpy() for name in [*names, "n"]}
    else:
        fetching = fetched(grouped.limit(most + 1), "counting")
        if fetching.num_rows > most:
            raise UnsupportedError(many(most))
        read = {name: fetching.column(name).to_numpy() for name in [*names, "n"]}
    words = [read[name].astype(np.int64) for name in names]
    counts = read["n"].astype(np.int64)
    order = np.lexsort(words[::-1])
    return Found([word[order] for word in words], counts[order], int(counts.sum()), len(counts))


FEW = 500_000  # combinations that come here as texts: nobody needs to look for their values before


def of_texts(table: Spread, names: Sequence[str]) -> tuple[dict[str, Values], dict[str, Any], Any] | None:
    """The combinations of texts and their counts, by one job; None where there are many.

    For each column its distinct values, and for each combination which of them it has.
    """
    f = functions()
    inside = [f"v{at}" for at in range(len(names))]
    texts = [table.text(name).alias(at) for name, at in zip(names, inside, strict=True)]
    grouped = table.frame.select(*texts).groupBy(*inside).agg(f.count(f.lit(1)).alias("n"))
    rows = fetched(grouped.limit(FEW + 1), "counting")
    if rows.num_rows > FEW:
        return None
    counts = rows.column("n").to_numpy().astype(np.int64)
    values, places = {}, {}
    for name, at in zip(names, inside, strict=True):
        column = rows.column(at).cast("string").combine_chunks().dictionary_encode(null_encoding="encode")
        keys = tuple(column.dictionary.to_pylist())
        place = column.indices.to_numpy().astype(np.intp)
        times = np.bincount(place, weights=counts, minlength=len(keys)).astype(np.int64)
        values[name] = Values(keys, tuple(respelt(keys, table.kinds[name])), times)
        places[name] = place
    return values, places, counts


def looked_up(  # noqa: PLR0917 - where, what, by which key, in which table
    session: Any, staging: Staging, frame: Any, key: Any, keys: Sequence[Value], beside: Mapping[str, Any]
) -> Any:
    """A frame with what a small table says of each record's key; a key that it lacks stops the job."""
    import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

    f = functions()
    table = pa.table(
        {"key": pa.array(keys, pa.string()), **{name: pa.array(v) for name, v in beside.items()}}
    )
    small = f.broadcast(staging.sent(session, with_mark(table)))
    joined = frame.join(small, key.eqNullSafe(f.col("key")), "left").drop("key")
    return checked(joined, table.drop_columns("key"))


def with_mark(table: Any) -> Any:
    """A table to be joined, with a mark by which `checked` sees that a record has found its row."""
    import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

    return table.append_column("known", pa.array([True] * table.num_rows, pa.bool_()))


def checked(joined: Any, table: Any) -> Any:
    """Stop where a left join found nothing: the record was not there when it was counted."""
    f = functions()
    for one in table.schema:
        kind = "string" if str(one.type) in {"string", "large_string", "null"} else "bigint"
        never = f.raise_error(f.lit(CHANGED)).cast(kind)
        found = f.col(one.name).cast(kind)
        joined = joined.withColumn(one.name, f.when(f.col("known").isNull(), never).otherwise(found))
    return joined.drop("known")
