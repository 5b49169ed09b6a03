"""Batches of an Arrow file, by what they say of their buffers, before polars makes room for them.

A packed buffer begins with the number of bytes that it has when unpacked. Polars (2.1) asks for that memory
whatever the number is, and where there is not so much it ends the process: no error, and nothing that could
be caught. So these numbers are read here before. They are found by way of FlatBuffers: tables whose fields
are named by number; a library that reads them would be a dependency of everybody for these few.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from privet.engines.pages import bytes_of

MAGIC, TAIL = b"ARROW1", 10  # at both ends; the length of the footer and the magic at the end
PACKS = 1 << 16  # no codec of the format makes more bytes of one
DICTIONARIES, BATCHES, BLOCK = 2, 3, 24  # fields of the footer; bytes of one item of these lists
HEADER, OF_DICTIONARY = 2, 1  # fields of a message, and of a dictionary, whose values are a batch
KIND, DICTIONARY, BATCH = 1, 2, 3  # a field of a message, and what it may be
COLUMNS, BUFFERS, PACKED, PAIR = 1, 2, 3, 16  # fields of a batch; bytes of one item of its lists
MARK = 0xFFFFFFFF  # before the length of a message, since the format's version 0.15


def refuse_unsound(source: Path | bytes) -> None:
    """Raises ValueError where a buffer or a column says what cannot be."""
    with bytes_of(source) as raw:
        if raw[: len(MAGIC)] != MAGIC or raw[-len(MAGIC) :] != MAGIC or len(raw) < 2 * TAIL:
            raise ValueError
        try:
            footer = _Table.root(raw, len(raw) - TAIL - _number(raw, "<i", len(raw) - TAIL))
            for field in (DICTIONARIES, BATCHES):
                for at in footer.items(field, BLOCK):
                    start, about = _number(raw, "<q", at), _number(raw, "<i", at + 8)
                    _look(raw, start, start + about)
        except struct.error:
            raise ValueError from None


def _look(raw: Any, start: int, body: int) -> None:
    """One message: a batch of records, or of the values of a dictionary."""
    message = _Table.root(raw, start + (8 if _number(raw, "<I", start) == MARK else 4))
    kind, batch = message.byte(KIND), message.table(HEADER)
    if kind == DICTIONARY and batch is not None:
        batch = batch.table(OF_DICTIONARY)
    if kind not in {DICTIONARY, BATCH} or batch is None:
        raise ValueError
    for at in batch.items(COLUMNS, PAIR):
        _number(raw, "<q", at)
    packed = batch.table(PACKED) is not None
    for at in batch.items(BUFFERS, PAIR):
        offset, length = _number(raw, "<q", at), _number(raw, "<q", at + 8)
        if body + offset + length > len(raw):
            raise ValueError
        if packed and length >= 8:
            (unpacked,) = struct.unpack_from("<q", raw, body + offset)
            if not -1 <= unpacked <= PACKS * length:  # -1: it stands there as it is
                raise ValueError


def _number(raw: Any, form: str, at: int) -> int:
    """Not less than none."""
    if at < 0:
        raise ValueError
    (found,) = struct.unpack_from(form, raw, at)
    if found < 0:
        raise ValueError
    return int(found)


class _Table:
    """A table of FlatBuffers: before its fields stands how far back the list of their places is."""

    def __init__(self, raw: Any, at: int) -> None:
        self._raw, self._at = raw, at
        if at < 0:
            raise ValueError
        (back,) = struct.unpack_from("<i", raw, at)
        self._places = at - back
        self._fields = (_number(raw, "<H", self._places) - 4) // 2

    @classmethod
    def root(cls, raw: Any, at: int) -> _Table:
        return cls(raw, at + _number(raw, "<I", at))

    def _place(self, field: int) -> int | None:
        """Where a field stands; None where it has its default."""
        away = _number(self._raw, "<H", self._places + 4 + 2 * field) if field < self._fields else 0
        return self._at + away if away else None

    def byte(self, field: int) -> int:
        at = self._place(field)
        return 0 if at is None else _number(self._raw, "<B", at)

    def table(self, field: int) -> _Table | None:
        at = self._place(field)
        return None if at is None else _Table.root(self._raw, at)

    def items(self, field: int, wide: int) -> Iterator[int]:
        """Where the items of a list of structures stand."""
        at = self._place(field)
        if at is None:
            return
        at += _number(self._raw, "<I", at)
        many = _number(self._raw, "<I", at)
        if many * wide > len(self._raw):
            raise ValueError
        yield from range(at + 4, at + 4 + many * wide, wide)
