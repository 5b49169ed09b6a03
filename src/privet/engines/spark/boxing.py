"""Boxes of a table on the cluster: every cell carries its box, and a round of cuts rewrites that once.

What is asked of a round goes through one small table with a row for each open box: what it is cut in, and
where. Cells whose box is closed are put aside with its number and are not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Entries, Frequencies, Indexes, Ints, Mask
from privet.domain import Node
from privet.engines.spark.cells import COUNT, Cells, Key, Question
from privet.engines.spark.jobs import all_told, functions, told
from privet.engines.spark.placement import BOX, Placement
from privet.errors import InternalError, UnsupportedError
from privet.recoding import Regions


@all_told("searching")
class ClusterBoxes:
    """A partition of cells that is refined until every box is closed."""

    def __init__(self, cells: Cells, sensitive: Sequence[str]) -> None:
        f = functions()
        self._cells = cells
        self._sensitive = [next(c for c in cells.heading.sensitive if c.name == name) for name in sensitive]
        self._frame = cells.frame.withColumn(BOX, f.lit(0).cast("bigint"))
        self._folder: Path | None = None  # where that was written
        self._aside: list[Any] = []  # cells of closed boxes
        self._begun = np.zeros(1, dtype=np.int64)  # of each open box, its number in the frame
        self._count = 0  # boxes that are closed
        self._cut: tuple[Indexes, Indexes] | None = None  # the proposal, by open box: attribute and code

    def extremes(self) -> tuple[Indexes, Indexes, Ints]:
        f, names = functions(), self._quasi
        frame = self._joined({})
        asked = frame.groupBy("open").agg(
            *(f.min(name).alias(f"low_{name}") for name in names),
            *(f.max(name).alias(f"high_{name}") for name in names),
            f.sum(COUNT).alias(COUNT),
        )
        found = self._cells.brought(asked, "looking for extremes")
        order = np.argsort(found["open"])
        low = np.stack([found[f"low_{name}"][order] for name in names], axis=1)
        high = np.stack([found[f"high_{name}"][order] for name in names], axis=1)
        return low.astype(np.intp), high.astype(np.intp), found[COUNT][order]

    def close(self, closed: Mask) -> None:
        f = functions()
        if closed.any():
            number = np.where(closed, np.cumsum(closed) - 1 + self._count, -1)
            gone = self._joined({"number": number}).where(f.col("number") >= f.lit(0))
            kept = gone.select(*self._cells.names, COUNT, f.col("number").alias(BOX))
            self._aside.append(self._written(kept)[1])
        self._count += int(closed.sum())
        self._begun = self._begun[~closed]

    def histogram(self, attribute: Indexes) -> tuple[Indexes, Indexes, Ints]:
        wide = max((c.domain.size for c in self._cells.heading.quasi), default=1)
        question = Question([Key("open", max(1, len(self._begun))), Key("value", wide)])
        frame = self._valued(attribute)
        (found,) = self._cells.asked([question], "counting the values of boxes", frame)
        return found.keys[0].astype(np.intp), found.keys[1].astype(np.intp), found.counts

    def propose(self, attribute: Indexes, cut: Indexes) -> None:
        self._cut = attribute, cut

    def propose_evenly(self, attribute: Indexes, smallest: int) -> Mask:  # noqa: ARG002 - as it is asked
        raise UnsupportedError(
            "mondrian with relaxed = true parts equal values one by one, and these combinations stay on the "
            "cluster; use relaxed = false, or say cells=… to pv.Spark"
        )

    def parts(self) -> tuple[Mask, Frequencies]:
        boxes = len(self._begun)
        part = Key("part", max(1, 2 * boxes))
        plain = [self._cells.plain(self._cells.inside(column.name)) for column in self._sensitive]
        questions = [Question([part]), *(Question([part, key]) for key in plain)]
        f = functions()
        frame = self._parted().withColumn(
            "part", f.col("open") * 2 + f.when(f.col("right"), f.lit(1)).otherwise(f.lit(0))
        )
        sizes, *rest = self._cells.asked(questions, "counting parts of boxes", frame)
        size = np.zeros(2 * boxes, dtype=np.int64)
        size[sizes.keys[0]] = sizes.counts
        there = size > 0
        number = np.cumsum(there) - 1
        entries = tuple(
            Entries(column, number[found.keys[0]], found.keys[1].astype(np.intp), found.counts)
            for column, found in zip(self._sensitive, rest, strict=True)
        )
        return there, Frequencies((), np.zeros(0, dtype=np.intp), size[there], entries)

    def split(self, done: Mask) -> None:
        f = functions()
        number = np.arange(len(done)) + np.cumsum(done) - done
        frame = self._parted({"number": number, "done": done.astype(np.int64)})
        right = f.when(f.col("right") & (f.col("done") == f.lit(1)), f.lit(1)).otherwise(f.lit(0))
        new = (f.col("number") + right).cast("bigint").alias(BOX)
        old = self._folder
        self._folder, self._frame = self._written(frame.select(*self._cells.names, COUNT, new))
        if old is not None:
            self._cells.staging.drop(old)
        self._begun = np.arange(len(done) + int(done.sum()), dtype=np.int64)
        self._cut = None

    def closed_histogram(self, attribute: int) -> tuple[Indexes, Indexes, Ints]:
        question = Question([Key(BOX, max(1, self._count)), self._cells.plain(f"q{attribute}")])
        (found,) = self._cells.asked([question], "counting the values of closed boxes", self._closed)
        return found.keys[0].astype(np.intp), found.keys[1].astype(np.intp), found.counts

    def recoding(self, nodes: dict[str, tuple[Node, ...]], positions: dict[str, Indexes]) -> Regions:
        return Regions(nodes, positions, elsewhere=Placement(self._cells, self._closed))

    @property
    def _quasi(self) -> list[str]:
        return [f"q{at}" for at in range(len(self._cells.heading.quasi))]

    @property
    def _closed(self) -> Any:
        return reduce(lambda one, other: one.unionAll(other), self._aside)

    def _joined(self, beside: dict[str, NDArray[Any]]) -> Any:
        """The cells of open boxes with what is said of each box, and its number among those that are open."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        f = functions()
        columns = {f"{BOX}_": self._begun, "open": np.arange(len(self._begun)), **beside}
        table = pa.table({name: np.asarray(value, dtype=np.int64) for name, value in columns.items()})
        small = f.broadcast(self._cells.staging.sent(self._cells.session, table))
        return self._frame.join(small, f.col(BOX) == f.col(f"{BOX}_"), "inner").drop(f"{BOX}_")

    def _valued(self, attribute: Indexes, beside: dict[str, NDArray[Any]] | None = None) -> Any:
        """The same with the code of each cell in the attribute that its box is cut in."""
        f = functions()
        value = f.lit(0)
        for at, name in reversed(list(enumerate(self._quasi))):
            value = f.when(f.col("attribute") == f.lit(at), f.col(name)).otherwise(value)
        return self._joined({"attribute": attribute, **(beside or {})}).withColumn("value", value)

    def _parted(self, beside: dict[str, NDArray[Any]] | None = None) -> Any:
        """The same with the part that the proposal puts each cell in."""
        if self._cut is None:
            raise InternalError("parts are those of a proposal")
        attribute, cut = self._cut
        f = functions()
        return self._valued(attribute, {"cut": cut, **(beside or {})}).withColumn(
            "right", f.col("value") > f.col("cut")
        )

    def _written(self, frame: Any) -> tuple[Path, Any]:
        folder = self._cells.staging.counted(frame)
        with told("reading what was counted"):
            return folder, self._cells.session.read.parquet(str(folder.absolute()))
