"""A columnar file as a stream of CSV, some rows at a time: for readers that take streams and know no library.

Nothing is written anywhere meanwhile: true answers lie nowhere but where they were.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
from polars import selectors as cs

from privet.engines.files import opened
from privet.engines.sound import refuse_unsound
from privet.errors import InputError

ROWS = 200_000  # at a time


class _Cells(io.RawIOBase):
    """The rows of a lazy frame as bytes, in the order of the file."""

    def __init__(self, path: Path, frame: pl.LazyFrame) -> None:
        super().__init__()
        self._path, self._frame = path, frame
        self._next, self._rest, self._done = 0, memoryview(b""), False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        if not self._rest and not self._done:
            self._rest = memoryview(self._some())
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def _some(self) -> bytes:
        try:
            rows = self._frame.slice(self._next, ROWS).collect()
            rows = rows.with_columns(cs.float().cast(pl.String).str.strip_suffix(".0"))  # 3, as a text has it
            text = rows.write_csv(include_header=self._next == 0)
        except Exception:  # noqa: BLE001 - polars has no one family, and its sentences may quote the file
            raise InputError(
                "cannot be read: columns hold lists or objects, or the file is damaged"
            ) from None
        self._next += rows.height
        self._done = rows.height < ROWS
        return text.encode()


def csv_of(path: Path) -> BinaryIO:
    """The cells of a Parquet file as CSV with commas; a missing cell is empty."""
    if not path.is_file():
        raise FileNotFoundError(path)
    try:
        refuse_unsound(path, "parquet")
        frame = pl.scan_parquet(opened(path))
        frame.collect_schema()
    except Exception:  # noqa: BLE001 - as above
        raise InputError("this is not Parquet, or a damaged file") from None
    return cast("BinaryIO", io.BufferedReader(_Cells(path, frame), 1 << 20))
