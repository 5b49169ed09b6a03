"""polars frames taken apart into numbers, and made of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from math import expm1, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Column
from privet.domain import Domain, Value
from privet.engine import codes_of
from privet.errors import InputError

SAMPLE = 20_000  # records looked at to see whether merging equal ones pays
FEW_REPEATS = 0.8  # share of distinct records above which it does not
FEW = 1_000  # rows up to which Python is quicker than polars is asked (4 ms of CPU to .3 for four columns)
REPEATED = 2  # times that values occur from which the different ones are sorted, and not all
WORDLESS = {pl.Binary, pl.Duration, pl.Object}  # what has no text
FIRST_DAY, LAST_DAY = (one.toordinal() - date(1970, 1, 1).toordinal() for one in (date.min, date.max))
DAY = 86_400  # seconds
WORDLESS_SAID = "column {!r} holds bytes or durations, which have no text"


def as_bytes(source: Path | bytes) -> NDArray[Any]:
    """A file as it lies there, or what was unpacked."""
    return np.frombuffer(source, np.uint8) if isinstance(source, bytes) else np.memmap(source, np.uint8, "r")


def refuse_timeless(place: str, frame: pl.DataFrame) -> None:
    """Moments that no calendar has a text for, as damage leaves them: polars does not survive writing one."""
    units = {"ns": 10**9, "us": 10**6, "ms": 10**3}
    for name, dtype in frame.schema.items():
        if isinstance(dtype, pl.Datetime):
            each = units[dtype.time_unit]
            low, high = FIRST_DAY * DAY * each, (LAST_DAY + 1) * DAY * each - 1
        elif dtype == pl.Date:
            low, high = FIRST_DAY, LAST_DAY
        elif dtype == pl.Time:
            low, high = 0, DAY * units["ns"] - 1
        else:
            continue
        column = frame.get_column(name).to_physical()
        least, most = column.min(), column.max()
        if isinstance(least, int) and isinstance(most, int) and not (low <= least and most <= high):
            raise InputError(f"{place}: column {name!r} has a moment outside the years 1 to 9999")


def texts(data: pl.DataFrame) -> pl.DataFrame:
    """Every column as text, the form in which policies and hierarchies speak of values."""
    wordless = [name for name, dtype in data.schema.items() if dtype.base_type() in WORDLESS]
    if wordless:
        raise InputError(
            *(f"{WORDLESS_SAID}; leave it out, or give it another role".format(name) for name in wordless)
        )
    return data.with_columns(
        pl.col(name).cast(pl.String)
        for name, dtype in data.schema.items()
        if dtype != pl.String and not isinstance(dtype, pl.Enum)
    )


def encode(data: pl.DataFrame) -> dict[str, tuple[NDArray[Any], list[Value]]]:
    """For each column, a number for each row and the value of each number: by its text, null last."""
    number = _numbered_by_text if data.height <= FEW else _numbered_by_category
    return {column.name: number(column) for column in texts(data)}


def _numbered_by_text(column: pl.Series) -> tuple[NDArray[Any], list[Value]]:
    """A few rows are numbered here before polars has been asked the first of its questions."""
    rows: list[Value] = column.to_list()
    known = sorted(value for value in set(rows) if value is not None)
    values: list[Value] = [*known, None]
    number = {value: at for at, value in enumerate(values)}
    codes = np.array([number[value] for value in rows], dtype=np.min_scalar_type(len(known)))
    return codes, values if column.null_count() else values[:-1]


def _numbered_by_category(column: pl.Series) -> tuple[NDArray[Any], list[Value]]:
    # A fresh set of categories for each column: the shared one would mix the columns' numbers. Enums
    # (labels of ours, above all) are numbered already.
    kind: Any = column.dtype if isinstance(column.dtype, pl.Enum) else pl.Categorical(pl.Categories.random())
    coded = column.cast(kind)  # held to the end: the categories go with the last column that has them
    physical = coded.to_physical()
    codes = physical.fill_null(0).to_numpy() if physical.null_count() else physical.to_numpy()
    occurs = np.zeros(int(codes.max(initial=0)) + 1, dtype=bool)
    occurs[codes if not physical.null_count() else codes[physical.is_not_null().to_numpy()]] = True
    used = np.flatnonzero(occurs).astype(np.uint32)
    met = pl.Series(used).cast(physical.dtype).cat.to(kind).cast(pl.String)
    by_text = met.arg_sort()
    values: list[Value] = met.gather(by_text).to_list()
    number = np.zeros(len(occurs), dtype=np.min_scalar_type(len(used)))
    number[used[by_text.to_numpy()]] = np.arange(len(used))
    codes = number[codes]  # also where the numbers stay the same: in fewer bytes
    if physical.null_count():
        codes = np.where(physical.is_null().to_numpy(), len(values), codes)
        values.append(None)
    return codes, values


def in_one_spelling(
    column: pl.Series, domain: Domain, codes: NDArray[Any], values: Sequence[Value]
) -> pl.Series:
    """Equal values as the domain has them, each copied from a row: so a float stays one, without its -0.0.

    `codes` and `values`: the column in numbers, as `encode` has them.
    """
    first = np.zeros(len(values), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # what is written last stays: the first row
    place = {value: at for at, value in enumerate(values)}
    stands = [place[domain.values[code]] for code in codes_of(domain, values).tolist()]
    return column.gather(pl.Series(first[stands][codes]))


def beginning(column: pl.Series, letters: str) -> list[str | None]:
    """The texts of a column that begin with one of these letters, each once."""
    starts = "^[" + "".join(f"\\x{{{ord(letter):x}}}" for letter in letters) + "]"
    return column.filter(column.str.contains(starts)).unique().to_list()


def in_order(data: pl.DataFrame) -> pl.DataFrame:
    """The rows sorted by their values as text, first column first, null last.

    Rows that are equal cannot be told apart, so nothing is told by which of them comes first.
    """
    key = keys_of_rows(data)
    return data if key is None else data[np.argsort(key)]


def is_in_order(data: pl.DataFrame) -> bool:
    """Do the rows stand in that order?"""
    key = keys_of_rows(data)
    return key is None or bool((key[1:] >= key[:-1]).all())


def keys_of_rows(data: pl.DataFrame) -> NDArray[Any] | None:
    """A number for each row, in the order of the rows' texts; None where there is nothing to sort."""
    if data.height < 2:
        return None
    ranks = [_ranks(column) for column in data]
    small = prod(room for _, room in ranks) < 2**32  # sorted in half the time
    key: NDArray[Any] = np.zeros(data.height, dtype=np.uint32 if small else np.int64)
    size = 1
    for rank, room in ranks:
        if size > 2**62 // room:
            found, key = np.unique(key, return_inverse=True)
            size = len(found)
        np.multiply(key, room, out=key, casting="unsafe")
        np.add(key, rank, out=key, casting="unsafe")  # in place, and it fits
        size *= room
    return key


def _ranks(column: pl.Series) -> tuple[NDArray[Any], int]:
    """The place of each row's value among the column's values, and how many places there are."""
    if len(column) <= FEW:
        numbers, values = _numbered_by_text(_as_text(column))
        return numbers, len(values)
    if isinstance(column.dtype, pl.Enum):
        categories: list[str] = column.dtype.categories.to_list()
        place = np.argsort(np.argsort(np.array(categories, dtype=object))) if categories else np.zeros(0, int)
        missing, physical = len(categories), column.to_physical()
        codes = physical.fill_null(0).to_numpy() if physical.null_count() else physical.to_numpy()
        if not np.array_equal(place, np.arange(missing)):
            codes = place.astype(np.min_scalar_type(missing))[codes]
        if physical.null_count():
            codes = np.where(physical.is_null().to_numpy(), missing, codes)
        return codes, missing + 1
    text = _as_text(column)
    different: Any = text.approx_n_unique()  # about so many: it decides on the way alone
    if different * REPEATED <= len(text):
        known = text.drop_nulls().unique().sort()
        physical = text.cast(pl.Enum(known)).to_physical().cast(pl.UInt32)
        return physical.fill_null(len(known)).to_numpy(), len(known) + 1
    ranked = text.rank("dense")
    places = int(ranked.max() or 0) + 1  # type: ignore[arg-type] # ranks are whole numbers, from 1
    return ranked.fill_null(places).to_numpy() - 1, places


def _as_text(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Binary:
        return column.bin.encode("hex")
    if column.dtype == pl.Duration:
        return column.to_physical().cast(pl.String)
    if column.dtype.is_nested():  # sets, where a format holds lists
        return column.to_frame().select(pl.struct(pl.all()).struct.json_encode()).to_series()
    return column.cast(pl.String)


def labelled(name: str, of_node: Sequence[Value], positions: NDArray[Any]) -> pl.Series:
    """Published labels as an Enum: one small number for each row until the file is written."""
    labels = sorted({label for label in of_node if label is not None})  # numbers in the order of the text
    if not labels:  # nobody has a value
        return pl.Series(name, [None] * len(positions), dtype=pl.Enum([]))
    if labels == list(of_node) and positions.dtype in (np.uint8, np.uint16, np.uint32):
        return pl.Series(name, positions).cat.to(pl.Enum(labels))
    number = {label: at for at, label in enumerate(labels)}
    missing = len(labels)  # stands for null, which is not a category
    small = np.min_scalar_type(missing)
    codes = np.array([missing if label is None else number[label] for label in of_node], dtype=small)[
        positions
    ]
    made = pl.Series(name, np.minimum(codes, max(missing - 1, 0)).astype(small)).cat.to(pl.Enum(labels))
    return made if None not in of_node else made.set(pl.Series(codes == missing), None)


def merged_cells(columns: Sequence[Column], rows: int) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
    """A row for each distinct record and how often it occurs; or every row where few repeat.

    Either in the order of their codes: no search can go by the order in which rows came. (Sorting a million
    rows is free: what it takes, a search saves that finds equal records side by side.) None: the rows as they
    stand, which is in that order already.
    """
    if not columns or not rows:
        return None, np.ones(rows, dtype=np.int64)
    keys = packed(columns)
    if (alike := _alike(keys)) is not None:
        cells = np.flatnonzero(np.concatenate([[True], ~alike]))
        if len(cells) > FEW_REPEATS * rows:
            return None, np.ones(rows, dtype=np.int64)
        return cells, np.diff(cells, append=rows).astype(np.int64)
    few = rows > 2 * SAMPLE and _kinds([some[:: rows // SAMPLE] for some in keys]) > FEW_REPEATS * rows
    order, fresh = ordered(keys)
    if few:
        return order, np.ones(rows, dtype=np.int64)
    first = np.flatnonzero(fresh)
    return order[first], np.diff(first, append=rows).astype(np.int64)


def _alike(keys: Sequence[NDArray[Any]]) -> NDArray[np.bool_] | None:
    """Is each row as the one before it? None where the rows do not stand in the order of their keys."""
    alike = np.ones(len(keys[0]) - 1, dtype=bool)
    for some in keys:
        if (alike & (some[1:] < some[:-1])).any():
            return None
        alike &= some[1:] == some[:-1]
    return alike


def ordered(keys: Sequence[NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The rows in the order of their keys, and which of them, in that order, differ from the one before.

    Few rows agree in all columns of the first key where one is not enough, so only those are sorted again.
    """
    order = np.argsort(keys[0])
    found = keys[0][order]
    fresh = np.ones(len(order), dtype=bool)
    np.not_equal(found[1:], found[:-1], out=fresh[1:])
    for some in keys[1:]:
        tied = ~fresh
        tied[:-1] |= tied[1:]
        at = np.flatnonzero(tied)
        order[at] = order[at][np.lexsort((some[order[at]], np.cumsum(fresh)[at]))]
        found = some[order[at]]
        fresh[at[1:]] |= found[1:] != found[:-1]
    return order, fresh


def _kinds(sample: Sequence[NDArray[Any]]) -> float:
    """How many kinds of records there are, from how many of a sample are different: about as many.

    Of equally frequent kinds a sample meets `kinds * (1 - exp(-size / kinds))`. Counting the sample's
    own repeats would not do: of 100,000 kinds a sample of 20,000 has few twice, and ten million rows have
    each a hundred times.
    """
    size, met = len(sample[0]), int(ordered(sample)[1].sum())
    low, high = float(met), float(size) ** 2
    while high > low * 1.01:
        middle = sqrt(low * high)
        low, high = (middle, high) if -middle * expm1(-size / middle) < met else (low, middle)
    return high


def packed(columns: Sequence[Column]) -> list[NDArray[Any]]:
    """Numbers for each row, equal where every column agrees and in the order of their codes.

    One where the columns fit into it, in four bytes where they are enough; else the first columns are in the
    first number.
    """
    keys: list[NDArray[Any]] = []
    small = prod(column.domain.size for column in columns) < 2**32
    room = 2**62  # none is begun
    for column in columns:
        if room > 2**62 // column.domain.size or not keys:
            keys.append(np.zeros(len(column.codes), dtype=np.uint32 if small else np.int64))
            room = 1
        np.multiply(keys[-1], column.domain.size, out=keys[-1], casting="unsafe")
        np.add(keys[-1], column.codes, out=keys[-1], casting="unsafe")  # in place, and it fits
        room *= column.domain.size
    return keys
