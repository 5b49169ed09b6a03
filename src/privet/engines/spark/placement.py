"""Which box each combination is in: what a recoding says of cells that stay on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from privet.engines.spark.cells import Cells, Ints, Key
from privet.engines.spark.jobs import functions

BOX = "box"


@dataclass(frozen=True, eq=False)
class Placement:
    """Cells with their box: a frame with the columns of `Cells`, and `box`."""

    cells: Cells = field(repr=False)
    frame: Any = field(repr=False)

    @classmethod
    def of_keys(cls, cells: Cells, keys: Sequence[Key], boxes: Sequence[Ints]) -> Placement:
        """Boxes that are said by numbers of each cell: the box that has the same."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        f, frame, same = functions(), cells.frame, []
        for at, key in enumerate(keys):
            frame, value = cells.mapped(frame, key, f"g{at}")
            same.append(value == f.col(f"b{at}"))
        many = len(boxes[0]) if boxes else 1
        table = pa.table({**{f"b{at}": box for at, box in enumerate(boxes)}, BOX: np.arange(many)})
        other = f.broadcast(cells.staging.sent(cells.session, table))
        joined = frame.join(other, reduce(lambda one, two: one & two, same), "inner")
        return cls(cells, joined.select(*cells.names, "n", BOX))

    @property
    def by_words(self) -> Any:
        """A frame of the packed numbers w0, … of each cell, and its box."""
        frame = self.cells.with_words(self.frame)
        return frame.select(*(name for name in frame.columns if name.startswith("w")), BOX)
