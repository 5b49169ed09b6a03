"""`privet collect perturb`: a file or a pipe of true answers in, perturbed answers out, in constant memory.

Columns that the plan does not name are never written. A record that cannot be read stops everything; it is
named by its number and its column, never by what it says.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.collect.cells import Block, csv_blocks, json_blocks
from privet.collect.channels import AsIs, Take, Unary
from privet.collect.client import coded
from privet.collect.column import Column
from privet.collect.draw import Codes, perturbed
from privet.collect.plan import Plan
from privet.core import Progress, silent
from privet.errors import InputError

LETTERS = 1 << 20  # that are put together at a time
ROOM = 0xFF  # after a text that is shorter than others; no text in UTF-8 has it
FEW = 20_000  # values whose texts are worth knowing beforehand
_DIGITS = np.zeros(256, dtype=np.bool_)
_DIGITS[list(b"0123456789.+-eE")] = True


class Target(Protocol):
    """What takes the answers, whole."""

    def write(self, data: bytes, /) -> object: ...

    def writelines(self, lines: Iterable[bytes], /) -> None: ...


@dataclass(frozen=True, slots=True)
class Perturbed:
    """What was done: how many records, and which columns were left out."""

    records: int
    dropped: tuple[str, ...] = ()


def perturb_csv(
    plan: Plan,
    source: BinaryIO,
    target: Target,
    *,
    delimiter: str = ",",
    take: Take = os.urandom,
    progress: Progress = silent,
) -> Perturbed:
    """Every record of a CSV stream, perturbed; columns stand in the order of the plan."""
    ends = [*[delimiter] * (len(plan.columns) - 1), "\n"]
    writers = [
        _Texts(column, delimiter, end) for column, end in zip(plan.columns.values(), ends, strict=True)
    ]
    readers = {name: Inputs(column) for name, column in plan.columns.items()}
    left_out: list[str] = []

    def choose(header: Sequence[str]) -> Sequence[str]:
        left_out.extend(name for name in header if name not in plan.columns)
        return chosen(plan.columns, header)

    records, begun = 0, False
    for block in csv_blocks(source, choose, delimiter):
        if not begun:
            target.write(_line(list(plan.columns), delimiter))
            begun = True
        outputs = [
            perturbed(column.channel, readers[name].of(block), take) for name, column in plan.columns.items()
        ]
        target.writelines(_lines(writers, outputs))
        records += block.records
        progress("apply", records)
    if not begun:
        target.write(_line(list(plan.columns), delimiter))
    return Perturbed(records, tuple(left_out))


def perturb_json(
    plan: Plan, source: BinaryIO, target: Target, *, take: Take = os.urandom, progress: Progress = silent
) -> Perturbed:
    """Every record of a stream of JSON lines; each becomes what a client sends."""
    digest, columns = plan.digest, plan.columns
    dropped: dict[str, None] = {}

    def read(document: Any, record: int) -> dict[str, Any]:
        if not isinstance(document, dict):
            raise InputError(f"record {record:,}: is not an object")
        dropped.update(dict.fromkeys(str(name) for name in document if name not in columns))
        try:
            return coded(plan, {name: document.get(name) for name in columns})
        except InputError as error:
            raise InputError(*(f"record {record:,}: {one}" for one in error.complaints)) from None

    records, said = 0, {name: _said(column) for name, column in columns.items()}
    for block in json_blocks(source, read):
        texts = [
            said[name](perturbed(column.channel, np.array(block.columns[name]), take))
            for name, column in columns.items()
        ]
        for answers in zip(*texts, strict=True):
            whole = {"plan": digest, "answers": dict(zip(columns, answers, strict=True))}
            target.write(json.dumps(whole, ensure_ascii=False).encode() + b"\n")
        records += block.records
        progress("apply", records)
    return Perturbed(records, tuple(dropped))


def chosen(wanted: Sequence[str] | Any, header: Sequence[str]) -> Sequence[str]:
    """The columns of a plan, which all must be there."""
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InputError(*(f"the data has no column {name}, which the plan asks for" for name in missing))
    return list(wanted)


def _lines(writers: Sequence[_Texts], outputs: Sequence[Any]) -> Iterator[bytes]:
    """The records of a block: letters of every column side by side, without those that are only room."""
    few = max(1, LETTERS // sum(writer.width for writer in writers))
    uneven = any(writer.uneven for writer in writers)
    for at in range(0, len(outputs[0]), few):
        some = [writer.letters(one[at : at + few]) for writer, one in zip(writers, outputs, strict=True)]
        side: NDArray[np.uint8] = some[0] if len(some) == 1 else np.concatenate(some, axis=1)
        yield (side[side != ROOM] if uneven else side).tobytes()


def _line(cells: Sequence[str], delimiter: str) -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return out.getvalue().encode()


class Inputs:
    """True answers by their numbers; the texts of values are known beforehand."""

    def __init__(self, column: Column) -> None:
        self._column = column
        size = column.channel.inputs if column.channel.inputs <= FEW else 0
        self._known = {column.input_text(at): at for at in range(size)}

    def of(self, block: Block) -> Codes:
        cells = block.columns[self._column.name]
        try:
            return np.fromiter(map(self._known.__getitem__, cells), dtype=np.int64, count=len(cells))
        except (KeyError, TypeError):
            return codes_of(self._column, block)


def codes_of(column: Column, block: Block) -> Codes:
    """The true answers of a block by their numbers, whatever they look like."""
    cells = block.columns[column.name]
    quick = _numbers(column, cells) if column.numeric else None
    if quick is not None:
        return quick
    return np.fromiter(one_by_one(column.code, cells, block.first), dtype=np.int64, count=len(cells))


def one_by_one(code: Callable[[object], int], cells: Sequence[Any], first: int) -> Iterator[int]:
    for at, cell in enumerate(cells):
        try:
            yield code(cell)
        except InputError as error:
            raise InputError(*(f"record {first + at:,}: {one}" for one in error.complaints)) from None


def _numbers(column: Column, cells: Sequence[Any]) -> Codes | None:
    """Plain decimals within the bounds, all at once; None if any of them wants a closer look."""
    try:
        letters = np.frombuffer("".join(cells).encode(), dtype=np.uint8)
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except (TypeError, ValueError):
        return None
    low, high = float(column.low), float(column.high)
    if not _DIGITS[letters].all() or not ((values >= low) & (values <= high)).all():
        return None
    codes = np.floor((values - low) / float(column.step) + 0.5).astype(np.int64)
    return np.minimum(codes, column.channel.inputs - 1)


class _Texts:
    """What is written for each output of a column in CSV, with what stands after it; made once."""

    def __init__(self, column: Column, delimiter: str, end: str) -> None:
        self._bits = isinstance(column.channel, Unary)
        texts = (
            [b"b" + b"0" * column.channel.inputs + end.encode()]
            if self._bits
            else [_line([text], delimiter).removesuffix(b"\n") + end.encode() for text in every(column)]
        )
        self.width = max(map(len, texts))
        self.uneven = len(set(map(len, texts))) > 1
        self._rows = np.full((len(texts), self.width), ROOM, dtype=np.uint8)
        for row, text in zip(self._rows, texts, strict=True):
            row[: len(text)] = list(text)

    def letters(self, outputs: Any) -> NDArray[np.uint8]:
        """A row of letters for each output."""
        if not self._bits:
            return np.asarray(np.take(self._rows, outputs, axis=0))
        made = np.repeat(self._rows, len(outputs), axis=0)
        made[:, 1:-1] += outputs
        return made


def every(column: Column) -> list[str]:
    """The texts of all outputs; a unary encoding has too many."""
    channel = column.channel
    size = channel.inputs if isinstance(channel, AsIs) else channel.outputs
    return [column.output_text(at) for at in range(size)]


def _said(column: Column) -> Callable[[Any], list[str]]:
    """The texts of outputs as they are."""
    if isinstance(column.channel, Unary):
        writer = _Texts(column, ",", "\n")
        return lambda outputs: writer.letters(outputs).tobytes().decode("ascii").splitlines()
    texts = every(column)
    return lambda outputs: list(map(texts.__getitem__, outputs.tolist()))


def true_codes(
    plan: Plan, source: BinaryIO, delimiter: str = ",", *, without: str | None = None
) -> dict[str, Codes]:
    """True records by their numbers, column by column: to test a classifier with, or to ask it."""
    names = [name for name in plan.columns if name != without]
    parts: dict[str, list[Codes]] = {name: [] for name in names}
    readers = {name: Inputs(plan.columns[name]) for name in names}
    for block in csv_blocks(source, lambda header: chosen(names, header), delimiter):
        for name in names:
            parts[name].append(readers[name].of(block))
    return {name: np.concatenate(some) if some else np.zeros(0, np.int64) for name, some in parts.items()}
