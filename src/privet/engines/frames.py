"""polars frames taken apart into numbers, and made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.domain import Value


def texts(data: pl.DataFrame) -> pl.DataFrame:
    """Every column as text, the form in which policies and hierarchies speak of values."""
    return data.with_columns(
        pl.col(name).cast(pl.String)
        for name, dtype in data.schema.items()
        if dtype != pl.String and not isinstance(dtype, pl.Enum)
    )


def encode(data: pl.DataFrame) -> dict[str, tuple[NDArray[Any], list[Value]]]:
    """For each column, a number for each row and the value of each number."""
    # A fresh set of categories for each column: the shared one would mix the columns' numbers. Enums
    # (labels of ours, above all) are numbered already.
    kinds: dict[str, Any] = {
        name: dtype if isinstance(dtype, pl.Enum) else pl.Categorical(pl.Categories.random())
        for name, dtype in data.schema.items()
    }
    coded = texts(data).with_columns(
        pl.col(name).cast(kind) for name, kind in kinds.items() if data.schema[name] != kind
    )
    found = {}
    for name, kind in kinds.items():
        physical = coded.get_column(name).to_physical()
        codes = physical.fill_null(0).to_numpy() if physical.null_count() else physical.to_numpy()
        occurs = np.zeros(int(codes.max(initial=0)) + 1, dtype=bool)
        occurs[codes if not physical.null_count() else codes[physical.is_not_null().to_numpy()]] = True
        used = np.flatnonzero(occurs)
        number = (np.cumsum(occurs) - 1).astype(np.min_scalar_type(len(used)))
        values: list[Value] = pl.Series(used.astype(np.uint32)).cat.to(kind).cast(pl.String).to_list()
        codes = number[codes]  # also where the numbers stay the same: in fewer bytes
        if physical.null_count():
            codes = np.where(physical.is_null().to_numpy(), len(values), codes)
            values.append(None)
        found[name] = (codes, values)
    return found


def labelled(name: str, of_node: Sequence[Value], positions: NDArray[Any]) -> pl.Series:
    """Published labels as an Enum: one small number for each row until the file is written."""
    labels = list(dict.fromkeys(label for label in of_node if label is not None))
    number = {label: at for at, label in enumerate(labels)}
    missing = len(labels)  # stands for null, which is not a category
    small = np.min_scalar_type(missing)
    codes = np.array([missing if label is None else number[label] for label in of_node], dtype=small)[
        positions
    ]
    made = pl.Series(name, np.minimum(codes, max(missing - 1, 0)).astype(small)).cat.to(pl.Enum(labels))
    return made if None not in of_node else made.set(pl.Series(codes == missing), None)
