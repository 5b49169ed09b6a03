"""A tally that lies on the cluster: a row for each combination, its codes, and how many records have it.

It is written once; every question about it is one job that reads those files, maps codes to what is asked
for by expressions, and adds counts up. What comes here are sums, up to a limit that is stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Nulls, Tally
from privet.engines.spark.jobs import fetched, functions, told
from privet.engines.spark.staging import Staging
from privet.errors import UnsupportedError

Ints: TypeAlias = NDArray[np.int64]

WORD = 2**62  # what a packed number stays below
STEPS = 200  # ranges of codes that become an expression; more are looked up in a table
COUNT = "n"


class TooManyError(UnsupportedError):
    """A question with more answers than may come here."""


def words(sizes: Sequence[int]) -> list[list[int]]:
    """Which of some numbers, each below its size, are packed into one: as many as fit, in their order."""
    found: list[list[int]] = []
    room = WORD
    for at, size in enumerate(sizes):
        if not found or room // max(size, 1) < 1:
            found.append([])
            room = WORD
        room //= max(size, 1)
        found[-1].append(at)
    return found


@dataclass(frozen=True, eq=False)
class Key:
    """A number of each row that is asked for: of a column, or what a table says of the column's code."""

    column: str
    size: int
    of_code: Ints | None = field(default=None, repr=False)  # None: the code itself; -1: the row is left out


@dataclass(frozen=True, eq=False)
class Question:
    """How many records have each combination of these numbers; and how many of them something else."""

    keys: Sequence[Key]
    having: Sequence[tuple[str, int]] = ()  # a column and its code


@dataclass(frozen=True, eq=False)
class Answer:
    """The combinations that occur, ascending, first number slowest; and their counts."""

    keys: list[Ints] = field(repr=False)
    counts: Ints = field(repr=False)
    having: list[Ints] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Cells:
    """The tally on the cluster. Columns are q0, …, s0, …, t: codes; n: records."""

    session: Any = field(repr=False)
    staging: Staging = field(repr=False)
    heading: Tally  # names and domains, without a cell
    frame: Any = field(repr=False)
    records: int
    most: int  # sums that may come here for one question

    @property
    def columns(self) -> list[Column]:
        """Every column, in the order of `names`."""
        heading = self.heading
        return [*heading.quasi, *heading.sensitive, *([] if heading.target is None else [heading.target])]

    @property
    def names(self) -> list[str]:
        """What each column is called inside."""
        heading = self.heading
        return [
            *(f"q{at}" for at in range(len(heading.quasi))),
            *(f"s{at}" for at in range(len(heading.sensitive))),
            *([] if heading.target is None else ["t"]),
        ]

    def inside(self, name: str) -> str:
        """What a column of the table is called inside."""
        return next(at for at, column in zip(self.names, self.columns, strict=True) if column.name == name)

    def size(self, inside: str) -> int:
        """How many codes a column has."""
        return self.columns[self.names.index(inside)].domain.size

    def plain(self, inside: str) -> Key:
        """The code of a column."""
        return Key(inside, self.size(inside))

    def asked(self, questions: Sequence[Question], what: str, frame: Any = None) -> list[Answer]:
        """The answers to all questions, in one job."""
        layers, wide, more = [], 0, max((len(one.having) for one in questions), default=0)
        packed = [words([key.size for key in one.keys]) for one in questions]
        wide = max(map(len, packed), default=0)
        for number, (one, some) in enumerate(zip(questions, packed, strict=True)):
            layers.append(self._layer(number, one, some, wide, more, self.frame if frame is None else frame))
        if not layers:
            return []
        all_of_them = reduce(lambda first, second: first.unionAll(second), layers)
        columns = self.brought(all_of_them, what, len(layers))
        return [
            self._unpacked(columns, number, one, some, wide)
            for number, (one, some) in enumerate(zip(questions, packed, strict=True))
        ]

    def advised(self, advice: str) -> str:
        """What helps where too much would come here; it is other advice where nulls match everything.

        Then a finer class is not a part of a coarser one, so every combination under the cuts is looked at.
        """
        if self.heading.nulls is Nulls.WILDCARD:
            return 'with nulls = "wildcard" say cells=… to pv.Spark, or use nulls = "value"'
        return advice

    def brought(self, frame: Any, what: str, questions: int = 1) -> dict[str, Ints]:
        """The columns of a frame of whole numbers, where they are few enough."""
        rows = fetched(frame.limit(self.most * questions + 1), what)
        if rows.num_rows > self.most * questions:
            advice = "round what is too fine before, or say cells=… to pv.Spark"
            raise TooManyError(
                f"the engine 'spark': {what} has more than {self.most:,} answers, which is what is brought "
                f"to one machine; {self.advised(advice)}"
            )
        return {name: rows.column(name).to_numpy().astype(np.int64) for name in rows.column_names}

    def _layer(  # noqa: PLR0917 - one question of several
        self, number: int, one: Question, packed: list[list[int]], wide: int, more: int, frame: Any
    ) -> Any:
        f = functions()
        numbers = []
        for at, key in enumerate(one.keys):
            frame, value = self.mapped(frame, key, f"m{at}")
            if key.of_code is not None and bool((key.of_code < 0).any()):
                frame = frame.where(value >= f.lit(0))
            numbers.append(value)
        made = [self._word([(numbers[at], one.keys[at].size) for at in some]) for some in packed]
        made += [f.lit(0).cast("bigint")] * (wide - len(made))
        sums = [f.sum(COUNT).alias("n")]
        for at in range(more):
            here = f.lit(0)
            if at < len(one.having):
                name, code = one.having[at]
                here = f.when(f.col(name) == f.lit(code), f.col(COUNT)).otherwise(f.lit(0))
            sums.append(f.sum(here.cast("bigint")).alias(f"h{at}"))
        names = [f"w{at}" for at in range(wide)]
        slim = frame.select(
            *(word.alias(name) for word, name in zip(made, names, strict=True)),
            f.col(COUNT), *(f.col(name) for name in dict.fromkeys(name for name, _ in one.having)),
        )  # fmt: skip
        return slim.groupBy(*names).agg(*sums).select(
            f.lit(number).alias("layer"), *names, "n", *(f"h{at}" for at in range(more))
        )  # fmt: skip

    @staticmethod
    def _word(parts: Iterable[tuple[Any, int]]) -> Any:
        word = functions().lit(0).cast("bigint")
        for value, size in parts:
            word = word * size + value
        return word

    def _unpacked(
        self, columns: Mapping[str, Ints], number: int, one: Question, packed: list[list[int]], wide: int
    ) -> Answer:
        here = np.flatnonzero((columns["layer"] == number) & (columns["n"] > 0))
        rows = [columns[f"w{at}"][here] for at in range(wide)]
        order = np.lexsort(rows[::-1]) if rows else np.arange(len(here))
        keys: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(one.keys)
        for word, some in zip(
            rows, packed, strict=False
        ):  # a question with fewer words has zeros behind them
            rest = word[order]
            for at in reversed(some):
                rest, keys[at] = np.divmod(rest, max(one.keys[at].size, 1))
        having = [columns[f"h{at}"][here][order] for at in range(len(one.having))]
        return Answer(keys, columns["n"][here][order], having)

    def mapped(self, frame: Any, key: Key, name: str) -> tuple[Any, Any]:
        """A frame, and the number of each of its rows that a key asks for."""
        f = functions()
        code = f.col(key.column).cast("bigint")
        if key.of_code is None:
            return frame, code
        starts = np.flatnonzero(np.diff(key.of_code, prepend=key.of_code[:1] - 1))
        values = key.of_code[starts]
        if len(starts) <= STEPS:
            return frame, stepped(code, starts.tolist(), values.tolist())
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        table = pa.table({f"{name}_": np.arange(len(key.of_code)), name: key.of_code.astype(np.int64)})
        small = f.broadcast(self.staging.sent(self.session, table))
        return frame.join(small, code == f.col(f"{name}_"), "inner").drop(f"{name}_"), f.col(name)

    def with_words(self, frame: Any) -> Any:
        """A frame of cells with the packed numbers w0, … by which records find them."""
        f, names, sizes = functions(), self.names, [column.domain.size for column in self.columns]
        for number, some in enumerate(words(sizes)):
            word = self._word([(f.col(names[at]).cast("bigint"), sizes[at]) for at in some])
            frame = frame.withColumn(f"w{number}", word)
        return frame


def cells_at(  # noqa: PLR0917 - where it lies, and what it is
    session: Any, staging: Staging, folder: Path, heading: Tally, records: int, most: int
) -> Cells:
    """The tally that lies in a folder as packed numbers and counts."""
    cells = Cells(session, staging, heading, None, records, most)
    sizes = [column.domain.size for column in cells.columns]
    with told("reading what was counted"):
        packed = session.read.parquet(str(folder.absolute()))
    codes = codes_of_words(cells.names, sizes)
    return replace(cells, frame=packed.select(*codes, COUNT))


def stepped(code: Any, starts: Sequence[int], values: Sequence[int]) -> Any:
    """What stands at the range that a code is in: halved again and again, so that few are compared."""
    f = functions()
    if len(starts) <= 1:  # none: nobody has a code
        return f.lit(values[0] if values else 0).cast("bigint")
    middle = len(starts) // 2
    return f.when(code < f.lit(starts[middle]), stepped(code, starts[:middle], values[:middle])).otherwise(
        stepped(code, starts[middle:], values[middle:])
    )


def codes_of_words(names: Sequence[str], sizes: Sequence[int]) -> list[Any]:
    """The codes behind packed numbers w0, …, as expressions; the twin of `with_words`."""
    f = functions()
    made: dict[int, Any] = {}
    for number, some in enumerate(words(sizes)):
        stride = prod(max(sizes[at], 1) for at in some)
        for at in some:
            stride //= max(sizes[at], 1)
            code = f.expr(f"cast((w{number} div {stride}) % {max(sizes[at], 1)} as int)")
            made[at] = code.alias(names[at])
    return [made[at] for at in range(len(names))]
