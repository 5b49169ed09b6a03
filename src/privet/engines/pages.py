"""Pages of a Parquet file, by their headers, before polars makes room for what they say that they hold.

A page that says that it holds -1 values is one of 2^64 to polars (2.1), which asks for the memory and ends
the process: no error, and nothing that could be caught. So every header is read here before: of the footer
and of the pages only the numbers that say how much there is. They are written in Thrift's compact protocol;
a library that reads it would be a dependency of everybody for these fields.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

Fields: TypeAlias = dict[int, Any]  # of a structure, by their numbers

MAGIC, TAIL = b"PAR1", 8  # at both ends; the length of the footer and the magic at the end
DEEPEST = 32  # structures in structures
# Types of the compact protocol.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
# Fields of the footer, by their numbers in the format's description.
ROW_GROUPS, COLUMNS, ABOUT = 4, 1, 3
VALUES, BYTES, FIRST_PAGE, DICTIONARY = 5, 7, 9, 11
# Fields of the header of a page, and how many values each kind of page says that it has.
UNPACKED, PACKED = 2, 3
KINDS = (5, 7, 8)
COUNTED = 1


def refuse_unsound(source: Path | bytes) -> None:
    """Raises ValueError where a page says what cannot be."""
    with bytes_of(source) as raw:
        if len(raw) < len(MAGIC) + TAIL or raw[-len(MAGIC) :] != MAGIC:
            raise ValueError
        length = int.from_bytes(raw[-TAIL : -len(MAGIC)], "little")
        footer = _Thrift(raw, len(raw) - TAIL - length).struct()
        for group in _structs(footer.get(ROW_GROUPS, [])):
            for column in _structs(group.get(COLUMNS, [])):
                for about in _structs([column[ABOUT]] if ABOUT in column else []):
                    _walk(raw, about)


def _walk(raw: Any, about: Fields) -> None:
    """All pages of one column in one group of rows."""
    most, at = _many(about, VALUES), _many(about, FIRST_PAGE)
    if DICTIONARY in about:
        at = min(at, _many(about, DICTIONARY) or at)
    end = at + _many(about, BYTES)
    while at < end:
        reader = _Thrift(raw, at)
        header = reader.struct()
        _many(header, UNPACKED)
        for page in _structs([header[kind] for kind in KINDS if kind in header]):
            if _many(page, COUNTED) > most:
                raise ValueError
        at = reader.at + _many(header, PACKED)


def _many(of: Fields, field: int) -> int:
    """How many it says; not less than none."""
    found = of.get(field)
    if type(found) is not int or found < 0:
        raise ValueError
    return found


def _structs(found: Any) -> list[Fields]:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError
    return found


@contextmanager
def bytes_of(source: Path | bytes) -> Iterator[Any]:
    if isinstance(source, bytes):
        yield source
        return
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        yield raw


class _Thrift:
    """Reads structures of the compact protocol: whole numbers, lists and structures by number of field."""

    def __init__(self, raw: Any, at: int) -> None:
        if at < 0:
            raise ValueError
        self._raw, self.at = raw, at

    def struct(self, depth: int = 0) -> Fields:
        if depth > DEEPEST:
            raise ValueError
        found: Fields = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            value = kind == TRUE if kind in {TRUE, FALSE} else self._value(kind, depth)
            found.setdefault(number, value)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in {I16, I32, I64}:
            return self._signed()
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in {LIST, SET}:
            head = self._byte()
            many = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(self._within(many))]
        if kind == MAP:
            many = self._within(self._varint())
            kinds = self._byte() if many else 0
            return [(self._value(kinds >> 4, depth), self._value(kinds & 15, depth)) for _ in range(many)]
        if kind == BINARY:
            return self._skip(self._varint())
        if kind in {TRUE, FALSE, BYTE}:  # in a list each takes a byte
            return self._skip(1)
        if kind == DOUBLE:
            return self._skip(8)
        raise ValueError

    def _skip(self, many: int) -> None:
        self.at += self._within(many)

    def _within(self, many: int) -> int:
        """Nothing has more items or letters than there are bytes left."""
        if many > len(self._raw) - self.at:
            raise ValueError
        return many

    def _byte(self) -> int:
        if self.at >= len(self._raw):
            raise ValueError
        self.at += 1
        return int(self._raw[self.at - 1])

    def _varint(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
        raise ValueError

    def _signed(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)
