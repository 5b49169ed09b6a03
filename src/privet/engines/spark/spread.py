"""A table that lies on a cluster, and the text of each of its values.

Columns are called c0, c1, … inside: Spark reads a dot in a name as a path and takes Age and age for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from privet import equality, parts
from privet.core import Form
from privet.domain import Value
from privet.engines.files import opened
from privet.engines.frames import WORDLESS_SAID
from privet.engines.spark.jobs import fetched, functions, told
from privet.errors import InputError

WORDED = {
    "string", "char", "varchar", "byte", "short", "integer", "long", "decimal", "date", "boolean", "float",
    "double", "timestamp", "timestamp_ntz",
}  # fmt: skip
NESTED = {"array", "struct", "map", "variant"}
MOMENT = "timestamp"  # an instant, whatever the zone; timestamp_ntz is a time of day of no zone
DAY = 86_400 * 10**6  # microseconds
# What Spark writes in another way than privet's own reader: told apart on the cluster, respelt here.
RESPELT = ("float", "double", "timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class Watched:
    """Files as they lay when they were first looked at."""

    place: Path
    stamps: tuple[tuple[str, int, int, int], ...]

    @classmethod
    def at(cls, place: Path) -> Watched:
        return cls(place, _stamps(place))

    @property
    def unchanged(self) -> bool:
        try:
            return _stamps(self.place) == self.stamps
        except (OSError, InputError):
            return False


def _stamps(place: Path) -> tuple[tuple[str, int, int, int], ...]:
    """What a system knows of each file: another one, a longer one and one that was written again differ."""
    every = parts.listed(place) if place.is_dir() else [place]
    known = ((part.name, part.stat()) for part in every)
    return tuple((name, found.st_ino, found.st_size, found.st_mtime_ns) for name, found in known)


@dataclass(frozen=True, eq=False)
class Spread:
    """A Spark frame with columns c0, c1, …, and what they are called."""

    frame: Any = field(repr=False)
    names: tuple[str, ...]
    columnar: bool = False  # is reading one column cheaper than reading all?
    folder: Path | None = None  # its parts, where this process sees them
    form: Form = Form("parquet")  # noqa: RUF009 - it is frozen; how those are written
    records: int | None = None  # where they were counted
    parquet: tuple[Path, ...] | None = None  # the files of which this is every record
    watched: Watched | None = field(default=None, repr=False)  # what it is read from, each time it is
    repeats: bool = False  # are far fewer rows known to be different?
    part: str | None = None  # a column behind the table's that says in which part a row is written

    def at(self, name: str) -> str:
        """What a column is called inside."""
        return f"c{self.names.index(name)}"

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The type of each column, in a word; asked once, as the cluster has to look."""
        with told("looking at the columns"):
            types = [one.dataType.typeName() for one in self.frame.schema.fields]
        words = [str(kind).split(" ", 1)[0].split("(", 1)[0] for kind in types]
        return dict(zip(self.names, words, strict=False))  # what is worked out stands behind the columns

    def over(self, frame: Any) -> Spread:
        """The same columns in a frame that has more behind them."""
        made = Spread(frame, self.names, columnar=self.columnar, watched=self.watched)
        made.__dict__["kinds"] = self.kinds
        return made

    def text(self, name: str) -> Any:
        """A column as text, as Spark writes it, whatever its collation: equal where the bytes are."""
        f, kind = functions(), self.kinds[name]
        if kind in NESTED:
            raise InputError(
                f"column {name!r} holds lists or objects; a table holds single values: leave it out, or "
                "write what it holds into columns of its own"
            )
        if kind not in WORDED:
            raise InputError(f"{WORDLESS_SAID}; leave it out, or give it another role".format(name))
        column = f.col(self.at(name))
        return _in_utc(column) if kind == MOMENT else column.cast("string")

    def select(self, names: Sequence[str]) -> Spread:
        """Some columns, in this order."""
        some = spread_of(self.frame.select([self.at(name) for name in names]), names, columnar=self.columnar)
        return replace(some, parquet=self.parquet, watched=self.watched)

    def as_it_was(self) -> None:
        """Refuse if what this is read from is no longer what it was: it is read more than once."""
        if self.watched is not None and not self.watched.unchanged:
            raise InputError("Spark: the source was changed while it was read; nothing was released")

    def count(self) -> int:
        """How many records; of Parquet that this process sees, its parts say so themselves."""
        if self.records is not None:
            return self.records
        if self.parquet is not None:
            return sum(
                pl.scan_parquet(opened(part)).select(pl.len()).collect().item() for part in self.parquet
            )
        return _counted(self.frame)


def _in_utc(moment: Any) -> Any:
    """A moment as text in UTC, by numbers alone: what Spark writes is in the session's zone.

    In most zones an hour of the year does not exist, so that no time of day there stands for each in UTC.
    """
    f = functions()
    micros = f.unix_micros(moment)
    rest = f.pmod(micros, f.lit(DAY))
    # Without rest, and exact though Spark divides as floats: a day is a multiple of 2^13 microseconds.
    days = ((micros - rest) / f.lit(DAY)).cast("int")
    day = f.date_add(f.lit("1970-01-01").cast("date"), days).cast("string")

    def digits(unit: int, of: int, many: int) -> Any:
        left = f.pmod(rest, f.lit(unit * of))
        whole = ((left - f.pmod(left, f.lit(unit))) / f.lit(unit)).cast("int")
        return f.lpad(whole.cast("string"), many, "0")

    hours, minutes, seconds = (digits(10**6 * unit, of, 2) for unit, of in ((3600, 24), (60, 60), (1, 60)))
    return f.concat(
        day, f.lit(" "), hours, f.lit(":"), minutes, f.lit(":"), seconds, f.lit("."), digits(1, 10**6, 6)
    )


def spread_of(frame: Any, names: Sequence[str], *, columnar: bool = False) -> Spread:
    """A frame of any column names as a table."""
    inside = [f"c{at}" for at in range(len(names))]
    return Spread(frame.toDF(*inside), tuple(names), columnar=columnar)


def composed(names: Sequence[str]) -> list[str]:
    """Names of columns as policies compare them."""
    found = [equality.name(name) for name in names]
    if len(set(found)) < len(found):
        raise InputError(
            "two columns have one name, or names that differ only in how Unicode composes a letter"
        )
    return found


def respelt(texts: Sequence[Value], kind: str) -> list[Value]:
    """Texts of one column as privet's own reader would write the same values."""
    if kind not in RESPELT:
        return list(texts)
    if kind in {"float", "double"}:
        numbers = [None if text is None else float(text) for text in texts]
        dtype = pl.Float32 if kind == "float" else pl.Float64
        return pl.Series(numbers, dtype=dtype).cast(pl.String).to_list()
    found: list[Value] = []
    for text in texts:
        moment, _, part = (text or "").partition(".")
        found.append(None if text is None else f"{moment}.{part:0<6}{'+00:00' if kind == MOMENT else ''}")
    return found


def _counted(frame: Any) -> int:
    f = functions()
    return int(fetched(frame.agg(f.count(f.lit(1)).alias("n")), "counting records").column("n")[0].as_py())
