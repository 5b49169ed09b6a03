"""JSON lines as a table; what two readers could read as two different tables is refused before it is read.

polars takes the first value of a key that stands twice (others take the last), half a pair of surrogates as
another letter, a whole number beside fractions as the nearest double, and an object beside texts as a text:
each without a word; objects deep within each other end the process. One look in C finds the lines that need
care, and Python's own reader says what stands in them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet import equality, native
from privet.engines import jsonfaults
from privet.engines.frames import as_bytes
from privet.engines.panic import unpanicked
from privet.engines.text import COMPOSED, KEYLESS
from privet.errors import InputError

PATIENCE = 1000  # lines that need care; with more of them Python reads them all
_MOST_TOLD = 32  # as json_keys.c says
_FOUND = 1 + 2 * (1 + 2 * _MOST_TOLD)


def read(path: Path, source: Path | bytes, what: str, wanted: Sequence[str] | None) -> pl.DataFrame:
    """The table, and columns that nobody wants where they do no harm.

    `what` a line is called in this file: a line, or a record. What polars cannot read is a ValueError.
    """
    raw = as_bytes(source)
    told = _looked(raw)
    if told is None:
        _refuse(path, raw, what, wanted)
    try:
        frame = _polars(source)
    except ValueError:
        _refuse(path, raw, what, wanted)
        if wanted is None:
            raise
        return _polars(_only(raw, wanted))  # one that nobody wants has values of several types
    if told is not None and told.needs_care(frame, wanted):
        _refuse(path, raw, what, wanted)
    if frame.height and not frame.width:
        raise InputError(KEYLESS.format(path, what))
    return frame


def refuse_ambiguous(path: Path, source: Path | bytes, what: str) -> None:
    """Refuse what no reader shall take for a value, whatever its columns are for."""
    raw = as_bytes(source)
    if _looked(raw) is None:
        _refuse(path, raw, what, ())


@dataclass(frozen=True)
class _Told:
    """Which columns may have long whole numbers, and which lists or objects; None: any."""

    long: frozenset[str] | None
    nested: frozenset[str] | None

    def needs_care(self, frame: pl.DataFrame, wanted: Sequence[str] | None) -> bool:
        """May polars have made something else of a value?"""
        types = {equality.name(name): dtype for name, dtype in frame.schema.items()}
        chosen = types.keys() if wanted is None else types.keys() & set(wanted)
        floats = {name for name in chosen if types[name].is_float()}
        return any(
            columns if told is None else columns & told
            for columns, told in ((floats, self.long), (chosen, self.nested))
        )


def _looked(raw: NDArray[Any]) -> _Told | None:
    """What C saw, where every line with which it asked for care needs none; or None."""
    if native.library() is None:
        return None
    found = np.zeros(_FOUND, np.int64)
    begin, trusted = 0, 0
    for _ in range(PATIENCE):
        before, begin = begin, native.call("privet_json_keys", raw, len(raw), begin, trusted, found)
        if begin < 0:
            half = 1 + 2 * _MOST_TOLD
            return _Told(_names(raw, found[1 : 1 + half]), _names(raw, found[1 + half :]))
        if trusted and begin == before:  # more keys than it knows, or too deep
            return None
        try:
            jsonfaults.read(raw[begin : int(found[0])].tobytes())
        except (jsonfaults.Refused, ValueError):
            return None
        trusted = 1
    return None


def _names(raw: NDArray[Any], told: NDArray[np.int64]) -> frozenset[str] | None:
    if told[0] > _MOST_TOLD:
        return None
    spans = told[1 : 1 + 2 * int(told[0])].reshape(-1, 2).tolist()
    try:
        return frozenset(
            equality.name(json.loads(b'"%s"' % raw[at : at + size].tobytes())) for at, size in spans
        )
    except ValueError:  # no JSON: polars will say so
        return None


def _refuse(path: Path, raw: NDArray[Any], what: str, wanted: Collection[str] | None) -> None:
    """Refuse records in which Python finds a fault."""
    if fault := jsonfaults.first(raw.tobytes(), what, wanted):
        raise InputError(f"{path}: {fault}")


def _polars(source: Path | bytes) -> pl.DataFrame:
    with unpanicked():
        try:
            return pl.read_ndjson(source, infer_schema_length=None)
        except pl.exceptions.PolarsError:
            raise ValueError from None


def _only(raw: NDArray[Any], wanted: Collection[str]) -> bytes:
    """The records with the wanted columns only."""
    lines: list[str] = []
    written: set[str] = set()
    for line in io.BytesIO(raw.tobytes()):
        record = jsonfaults.read(line)
        if record is not None:
            written.update(record)
            chosen = {equality.name(name): value for name, value in record.items()}
            lines.append(json.dumps({name: chosen[name] for name in wanted if name in chosen}))
    if len(set(map(equality.name, written))) < len(written):
        raise InputError(COMPOSED)
    return "\n".join(lines).encode()
