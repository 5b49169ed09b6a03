"""Records in public codes that stay on the cluster: what DiffGen asks of data, a job for each question.

The combinations are counted and written once. What comes here are histograms and the counts of leaves, which
are as many as the release will have; the records of a column of sets move between frames where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet import parts
from privet.core import Tally
from privet.counts.door import Ints
from privet.counts.live import Grid, Parting, PublicCodes
from privet.domain import Node
from privet.engines.spark.cells import COUNT, Cells, Key, Question, codes_of_words, words
from privet.engines.spark.coding import Values, packed
from privet.engines.spark.jobs import all_told, functions, told
from privet.engines.spark.spread import Spread
from privet.engines.spark.staging import Staging
from privet.errors import InternalError

FRAME, LEAF, WHERE, NEW = "frame", "leaf", "entry", "new"
STRETCH = 1 << 20  # combinations that are looked at here at a time


@all_told("counting")
class ClusterLive:
    """The records of a table in codes that its reader gave; answers as `privet.counts.live` asks."""

    def __init__(  # noqa: PLR0917 - where, what, and in which codes
        self,
        session: Any,
        staging: Staging,
        table: Spread,
        values: Mapping[str, Values],
        public: PublicCodes,
        most: int,
    ) -> None:
        self._names = list(public.codes)
        self._classes, self._sets = public.classes, public.sets
        self._relational = [at for at in range(len(self._names) - 1) if at not in self._sets]
        # Codes may be far apart, and values of one code are told apart: what is packed is a value's place
        # in the order of codes.
        self._order = [np.argsort(codes, kind="stable") for codes in public.codes.values()]
        self._occur: list[Ints] = [
            codes[order].astype(np.int64)
            for codes, order in zip(public.codes.values(), self._order, strict=True)
        ]
        self._sizes = [max(1, len(found)) for found in self._occur]
        each = {
            name: (values[name].keys, np.argsort(order), size)
            for name, order, size in zip(self._names, self._order, self._sizes, strict=True)
        }
        f, numbers = functions(), [f"w{at}" for at in range(len(words(self._sizes)))]
        slim = packed(session, staging, table.select(self._names), each).select(*numbers)
        self._counted = staging.counted(slim.groupBy(*numbers).agg(f.count(f.lit(1)).alias(COUNT)))
        with told("reading what was counted"):
            lie = session.read.parquet(str(self._counted.absolute()))
        frame = lie.select(*codes_of_words(self._inside, self._sizes), COUNT)
        heading = Tally((), (), None, np.zeros(0, dtype=np.int64))
        self._cells = Cells(session, staging, heading, frame, 0, most)
        self._frame = frame
        self._folder: Path | None = None  # where that was written
        self._frames = False  # are there several?
        self._class = Key(f"k{len(self._names) - 1}", self._sizes[-1])
        self._totals: Ints | None = None

    def cells(self) -> Iterator[tuple[dict[str, NDArray[Any]], Ints]]:
        for part in parts.listed(self._counted):
            read = pl.read_parquet(part)
            for begin in range(0, read.height, STRETCH):
                some = read[begin : begin + STRETCH]
                found: dict[str, NDArray[Any]] = {}
                for number, which in enumerate(words(self._sizes)):
                    rest = some[f"w{number}"].to_numpy()
                    for at in reversed(which):
                        rest, place = np.divmod(rest, self._sizes[at])
                        found[self._names[at]] = self._order[at][place]
                yield found, some[COUNT].to_numpy().astype(np.int64)

    @property
    def _inside(self) -> list[str]:
        return [f"k{at}" for at in range(len(self._names))]

    def totals(self) -> Ints:
        if self._totals is None:
            (found,) = self._cells.asked([Question([self._class])], "counting classes")
            self._totals = np.zeros(self._classes, dtype=np.int64)
            np.add.at(self._totals, self._occur[-1][found.keys[0]], found.counts)
        return self._totals.copy()

    def histograms(self, columns: Sequence[int]) -> list[tuple[Ints, Ints]]:
        asked = [Question([Key(f"k{at}", self._sizes[at]), self._class]) for at in columns]
        answers = self._cells.asked(asked, "counting values", self._frame)
        made = []
        for at, found in zip(columns, answers, strict=True):
            here, place = np.unique(self._occur[at][found.keys[0]], return_inverse=True)
            counts = np.zeros((len(here), self._classes), dtype=np.int64)
            np.add.at(counts, (place, self._occur[-1][found.keys[1]]), found.counts)
            made.append((here, counts))
        return made

    def subsets(self, column: int, nodes: Sequence[Node]) -> list[Ints]:
        ((codes, by_class),) = self.histograms([column])
        found = []
        for node in nodes:
            masks = self._sets[column].children_of(node)
            counts = np.zeros((1 << len(node.children), self._classes), dtype=np.int64)
            np.add.at(counts, masks[codes], by_class)
            found.append(counts)
        return found

    def leaves(self, grid: Grid) -> Ints:
        question = Question([Key(LEAF, max(1, grid.number)), self._class])
        (found,) = self._cells.asked([question], "counting leaves", self._placed(grid))
        counts = np.zeros((grid.number, self._classes), dtype=np.int64)
        np.add.at(counts, (found.keys[0], self._occur[-1][found.keys[1]]), found.counts)
        return counts

    def partitions(self, parting: Parting) -> Ints:
        subsets = len(parting.masks)
        keys = [Key(LEAF, int(parting.row.max(initial=-1)) + 1, parting.row), self._subset(parting)]
        (found,) = self._cells.asked([Question(keys)], "counting subsets", self._placed(parting.grid))
        if (found.keys[1] == 0).any():
            raise InternalError("a record has items below each node of its node set")
        counts = np.zeros(parting.parts, dtype=np.int64)
        counts[found.keys[0] * subsets + found.keys[1] - 1] = found.counts
        return counts

    def part(self, parting: Parting, of_leaf: Ints, of_partition: Ints) -> None:
        f, cells, leaves = functions(), self._cells, parting.grid.number
        frame = self._placed(parting.grid)
        frame, row = cells.mapped(frame, Key(LEAF, leaves, parting.row), "row")
        frame, subset = cells.mapped(frame, self._subset(parting), "subset")
        entry = f.when(row >= f.lit(0), row * len(parting.masks) + subset + f.lit(leaves - 1))
        frame = frame.withColumn(WHERE, entry.otherwise(f.col(LEAF)))
        of_entry = np.concatenate([of_leaf, of_partition]).astype(np.int64)
        frame, new = cells.mapped(frame, Key(WHERE, len(of_entry), of_entry), NEW)
        made = frame.select(*self._inside, COUNT, new.cast("bigint").alias(FRAME))
        old = self._folder
        self._folder = cells.staging.counted(made.where(f.col(FRAME) >= f.lit(0)))
        with told("reading what was counted"):
            self._frame = cells.session.read.parquet(str(self._folder.absolute()))
        if old is not None:
            cells.staging.drop(old)
        self._frames = True

    def _placed(self, grid: Grid) -> Any:
        """The combinations that are still there, each with its leaf."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        f, frame = functions(), self._frame
        base: Any = f.lit(int(grid.base[0])).cast("bigint") if not self._frames else f.col("base")
        if self._frames:
            columns = {f"stride{at}": grid.stride[:, at] for at in range(grid.stride.shape[1])}
            table = pa.table({f"{FRAME}_": np.arange(len(grid.base)), "base": grid.base, **columns})
            small = f.broadcast(self._cells.staging.sent(self._cells.session, table))
            frame = frame.join(small, f.col(FRAME) == f.col(f"{FRAME}_"), "inner")
        leaf = base
        for number, at in enumerate(self._relational):
            begins = grid.cuts.begins[number]
            if len(begins) == 1:
                continue  # every rank is 0
            ranks = grid.cuts.rank(number, self._occur[at]).astype(np.int64)
            frame, rank = self._cells.mapped(frame, Key(f"k{at}", len(begins), ranks), f"r{at}")
            stride = f.col(f"stride{number}") if self._frames else f.lit(int(grid.stride[0, number]))
            leaf += rank * stride
        return frame.select(*self._inside, COUNT, leaf.alias(LEAF))

    def _subset(self, parting: Parting) -> Key:
        """Which of the subsets a set has, counted from 1; 0: none of them."""
        place = np.zeros(int(parting.masks.max()) + 1, dtype=np.int64)
        place[parting.masks] = np.arange(len(parting.masks)) + 1
        masks = self._sets[parting.column].children_of(parting.node)[self._occur[parting.column]]
        fits = np.where(masks < len(place), masks, 0)
        return Key(f"k{parting.column}", len(parting.masks) + 1, place[fits])
