"""Columns of a frame as numbers: the only place, with its two readers, where this room knows polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Column
from privet.domain import Value, flat
from privet.engine import codes_of, spelt
from privet.engines.frames import in_one_spelling as spelt_once
from privet.errors import InputError


def coded(series: pl.Series) -> tuple[NDArray[np.int64], list[Value]]:
    """A number for each row, and the value of each number, in the order of their text; null comes last."""
    kind = pl.Categorical(pl.Categories.random())  # fresh: the shared one would mix the columns' numbers
    categories = series.cast(pl.String).cast(kind)
    physical = categories.to_physical()
    known = physical.drop_nulls().to_numpy()
    occurs = np.zeros(int(known.max(initial=0)) + 1, dtype=bool)
    occurs[known] = True
    used = np.flatnonzero(occurs)
    texts = pl.Series(used.astype(np.uint32)).cat.to(kind).cast(pl.String)
    # Not as rows were met: no search or tie may go by the order in which they came.
    sorted_ = texts.arg_sort().to_numpy()
    values: list[Value] = texts.gather(sorted_).to_list()
    place = np.empty(len(used), dtype=np.int64)
    place[sorted_] = np.arange(len(used))
    number = np.full(len(occurs) + 1, len(values), dtype=np.int64)
    number[used] = place
    codes = number[physical.fill_null(len(occurs)).to_numpy()]
    return codes, [*values, None] if physical.null_count() else values


def grouped(series: pl.Series) -> NDArray[np.int64]:
    """A number for each row, equal where the values are: cheap where equal values stand together."""
    runs = series.rle_id().to_numpy().astype(np.int64)
    together = len(runs) > 0 and int(runs[-1]) + 1 == series.n_unique()
    return runs if together else coded(series)[0]


def numbered(key: NDArray[np.int64], room: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers below `room` that occur, in order; and for each row which of them it has."""
    if room > 4 * len(key) + 1024:
        distinct, position = np.unique(key, return_inverse=True)
        return distinct, position.astype(np.int64)
    occurs = np.zeros(room, dtype=bool)
    occurs[key] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[key]


def columns_of(frame: pl.DataFrame, names: Sequence[str], *, alike: bool) -> tuple[Column, ...]:
    """Columns with their values in alphabetical order, by row; `alike`: equal values are one."""
    found = []
    for name in names:
        codes, values = coded(frame.get_column(name))
        met = spelt(values) if alike else values
        domain = flat(tuple(sorted(v for v in met if v is not None)) + ((None,) if None in met else ()))
        order = codes_of(domain, values).astype(np.int64)
        found.append(Column(name, domain, domain.column(order[codes])))
    return tuple(found)


def in_one_spelling(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """A frame in which equal values of these columns are written in one way."""
    for name in names:
        codes, values = coded(frame.get_column(name))
        met = spelt(values)
        if len(met) < len(values):
            alike = spelt_once(frame.get_column(name), flat(tuple(met)), codes, values)
            frame = frame.with_columns(alike)
    return frame


def packed(first: NDArray[np.int64], room: int, columns: Iterable[Column]) -> tuple[NDArray[np.int64], int]:
    """One number for each row, equal where `first` and every column agree; and how many there may be."""
    key = first
    for column in columns:
        size = max(column.domain.size, 1)
        if room > 2**62 // size:
            distinct, key = np.unique(key, return_inverse=True)
            room = len(distinct)
        key, room = key * size + column.codes, room * size
    return key, room


def occurring(
    key: NDArray[np.int64], room: int, times: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A row that has each number that occurs, and how many have it; `times`: how many each row is."""
    if times is not None:
        _, row, which = np.unique(key, return_index=True, return_inverse=True)
        total = np.zeros(len(row), dtype=np.int64)
        np.add.at(total, which, times)
        return row.astype(np.int64), total
    if room <= 4 * len(key) + 1024:
        counts = np.bincount(key, minlength=room)
        row = np.zeros(room, dtype=np.int64)
        row[key] = np.arange(len(key))
        there = np.flatnonzero(counts)
        return row[there], counts[there].astype(np.int64)
    _, row, counts = np.unique(key, return_index=True, return_counts=True)
    return row.astype(np.int64), counts.astype(np.int64)


def need(frame: pl.DataFrame, names: Iterable[str]) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InputError(*(f"the data has no column {name}" for name in missing))
    if not frame.height:
        raise InputError("the data has not one record")


def complaint(what: str, wrong: NDArray[np.bool_], fix: str) -> str | None:
    """`path: 3 records ..., first row 17`: how many rows are wrong and where, never what they say."""
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    first = int(np.flatnonzero(wrong)[0]) + 1
    return f"{what} in {count} of {len(wrong)} rows, first in row {first}; {fix}"


def refuse(*complaints: str | None) -> None:
    real = [text for text in complaints if text is not None]
    if real:
        raise InputError(*real)


def unordered(name: str, wrong: NDArray[np.bool_], error: InputError) -> InputError:
    """Times cannot be put in order: where those are that are unlike the others, or else what was said."""
    fix = "write all as numbers, or all as dates and times such as 2024-05-01T08:30"
    said = complaint(f"{name}: times that cannot be put in order with the others", wrong, fix)
    return InputError(*([f"{name}: {one}" for one in error.complaints] if said is None else [said]))


def gathered(values: Sequence[Any], codes: NDArray[np.integer[Any]]) -> pl.Series:
    return pl.Series(values, dtype=pl.String).gather(pl.Series(codes))
