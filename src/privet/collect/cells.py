"""A stream of CSV or JSON lines as blocks of columns, in constant memory, from a file or a pipe.

Most CSV has no quotes. Such a block is cut into cells at once, after a look at its separators has shown
that every record has as many as the header; only what is unusual goes to the csv module, record by record.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from privet import jsonvalue
from privet.errors import InputError

BLOCK = 1 << 22  # bytes read at a time
RECORDS = 20_000  # records of a block that the csv module or json reads
LONGEST_LINE = 1 << 24


@dataclass(frozen=True, slots=True)
class Block:
    """Some records, column by column; `first` is the number of the first one, from 1."""

    first: int
    records: int
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Columns by name and place, of so many; and what separates them."""

    names: Sequence[str]
    at: Sequence[int]
    width: int
    delimiter: str


def csv_blocks(
    source: BinaryIO, choose: Callable[[Sequence[str]], Sequence[str]], delimiter: str = ","
) -> Iterator[Block]:
    """Blocks of the columns that `choose` picks from the header."""
    header = _header(source, delimiter)
    names = list(choose(header))
    at = [header.index(name) for name in names]
    width, first, rest = len(header), 1, b""
    wanted = _Wanted(names, at, width, delimiter)
    while True:
        read = source.read(BLOCK)
        if not read and not rest:
            return
        cut = read.rfind(b"\n") + 1
        if read and not cut and len(rest) + len(read) < LONGEST_LINE:
            rest += read
            continue
        if read and not cut:
            raise InputError(f"record {first:,}: is longer than {LONGEST_LINE:,} bytes; is this a CSV file?")
        block, rest = rest + read[:cut] if read else rest, read[cut:]
        if b'"' in block:  # a record may go on in the next block: csv reads the rest
            yield from _careful(_lines(block + rest, source), wanted, first)
            return
        cells = _split(block, width, delimiter)
        if cells is None:
            for made in _careful(io.StringIO(_text(block, first)), wanted, first):
                yield made
                first = made.first + made.records
        else:
            records = len(cells) // width
            yield Block(first, records, {name: cells[i::width] for name, i in zip(names, at, strict=True)})
            first += records
        if not read:
            return


def _header(source: BinaryIO, delimiter: str) -> list[str]:
    line = source.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    try:
        header = next(csv.reader([_text(line, 0)], delimiter=delimiter), [])
    except csv.Error:
        header = []
    if not header:
        raise InputError("there is no header; the first line names the columns")
    if len(set(header)) < len(header):
        raise InputError("the header names a column twice")
    return header


def _text(block: bytes, first: int) -> str:
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"record {first:,} or one after it: this is not UTF-8") from None


def _split(block: bytes, width: int, delimiter: str) -> list[str] | None:
    """All cells one after another; None if this block is not as simple as that."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if not block.endswith(b"\n"):
        block += b"\n"
    if b"\r" in block or b"\n\n" in block or block.startswith(b"\n"):
        return None
    flat = np.frombuffer(block, dtype=np.uint8)
    marks = flat[(flat == ord(delimiter)) | (flat == 10)]
    if len(marks) % width:
        return None
    shape = marks.reshape(-1, width)
    if (shape[:, -1] != 10).any() or (shape[:, :-1] == 10).any():
        return None
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        return None
    cells = text.replace("\n", delimiter).split(delimiter)
    cells.pop()  # after the last newline
    return cells


def _lines(begun: bytes, source: BinaryIO) -> Iterator[str]:
    """The rest of the stream by lines, as csv wants it."""
    number = 0
    while True:
        cut = begun.rfind(b"\n") + 1
        for line in io.BytesIO(begun[:cut]):
            number += 1
            yield _text(line, number)
        begun = begun[cut:]
        if len(begun) > LONGEST_LINE:
            raise InputError(f"a line is longer than {LONGEST_LINE:,} bytes; is this a CSV file?")
        read = source.read(BLOCK)
        if not read:
            if begun:
                yield _text(begun, number + 1)
            return
        begun += read


def _careful(lines: Iterable[str], wanted: _Wanted, first: int) -> Iterator[Block]:
    """Record by record, as the csv module reads them; a blank line is an answer only in a single column."""
    names, at, width, delimiter = wanted.names, wanted.at, wanted.width, wanted.delimiter
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        rows = list[list[str]]()
        try:
            for row in reader:
                if not row and width == 1:
                    row = [""]  # noqa: PLW2901 - what it means
                if not row:
                    continue
                if len(row) != width:
                    raise InputError(
                        f"record {first + len(rows):,}: has {len(row):,} cells, and the header has {width:,}"
                    )
                rows.append([row[i] for i in at])
                if len(rows) == RECORDS:
                    break
        except csv.Error:
            raise InputError(f"record {first + len(rows):,}: this cannot be read as CSV") from None
        if not rows:
            return
        yield Block(first, len(rows), dict(zip(names, zip(*rows, strict=True), strict=True)))
        first += len(rows)


def json_blocks(source: BinaryIO, read: Callable[[Any, int], Mapping[str, Any]]) -> Iterator[Block]:
    """Blocks of JSON lines; `read` makes a record of a line's document, and knows its number."""
    first, lines = 1, iter(lambda: source.readline(LONGEST_LINE), b"")
    while some := list(islice((line for line in lines if line.strip()), RECORDS)):
        records = [read(_document(line, first + at), first + at) for at, line in enumerate(some)]
        yield Block(first, len(some), {name: [one[name] for one in records] for name in records[0]})
        first += len(some)


def _document(line: bytes, record: int) -> Any:
    try:
        return jsonvalue.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"record {record:,}: this is not JSON, or a key stands twice") from None
