"""What arrived: perturbed answers as the numbers of their outputs, from a file or a pipe.

An answer that no client sends stops everything, and so does one that was made with another plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from privet.collect.cells import Block, csv_blocks, json_blocks
from privet.collect.channels import Unary
from privet.collect.column import Column
from privet.collect.draw import Bits, Codes
from privet.collect.plan import Plan
from privet.collect.stream import chosen, one_by_one
from privet.core import Progress, silent
from privet.errors import InputError, InternalError

Outputs = Codes | Bits  # of one column: numbers, or rows of bits


@dataclass(frozen=True)
class Answers:
    """Everybody's outputs, column by column, in one order."""

    plan: Plan
    records: int
    columns: Mapping[str, Any]


def read(
    plan: Plan,
    source: BinaryIO,
    names: Sequence[str] | None = None,
    *,
    lines: bool = False,
    delimiter: str = ",",
    progress: Progress = silent,
) -> Answers:
    """The outputs of some columns, all unless named; `lines` says that it is JSON lines."""
    wanted = list(names or plan.columns)
    parts: dict[str, list[Any]] = {name: [] for name in wanted}
    readers = {name: _Reader(plan.column(name)) for name in wanted}
    records = 0
    for block in _blocks(plan, source, wanted, delimiter, lines=lines):
        for name in wanted:
            parts[name].append(readers[name].of(block))
        records += block.records
        progress("read", records)
    empty = {name: _empty(plan.columns[name]) for name in wanted}
    return Answers(
        plan, records, {name: np.concatenate(parts[name]) if parts[name] else empty[name] for name in wanted}
    )


def _blocks(
    plan: Plan, source: BinaryIO, wanted: Sequence[str], delimiter: str, *, lines: bool
) -> Iterator[Block]:
    if not lines:
        return csv_blocks(source, lambda header: chosen(wanted, header), delimiter)
    digest = plan.digest

    def answers(document: Any, record: int) -> Mapping[str, Any]:
        said = document.get("answers") if isinstance(document, dict) else None
        if not isinstance(said, dict):
            raise InputError(f'record {record:,}: is an object with "plan" and "answers"')
        if document.get("plan") != digest:
            raise InputError(f"record {record:,}: was made with another plan than this one")
        if any(name not in said for name in wanted):
            raise InputError(f"record {record:,}: does not answer every question of the plan")
        return {name: said[name] for name in wanted}

    return json_blocks(source, answers)


def _empty(column: Column) -> Any:
    if isinstance(column.channel, Unary):
        return np.zeros((0, column.channel.inputs), dtype=np.bool_)
    return np.zeros(0, dtype=np.int64)


class _Reader:
    """Texts of one column as outputs; each different text is looked at once."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._known: dict[Any, int] = {}
        if not isinstance(column.channel, Unary):
            self._known = {column.output_text(at): at for at in range(column.channel.outputs)}

    def of(self, block: Block) -> Any:
        cells = block.columns[self._column.name]
        if isinstance(self._column.channel, Unary):
            return self._bits(cells, block.first, self._column.channel.inputs)
        try:
            return np.fromiter(map(self._known.__getitem__, cells), dtype=np.int64, count=len(cells))
        except (KeyError, TypeError):
            codes = one_by_one(self._column.output, cells, block.first)
            return np.fromiter(codes, dtype=np.int64, count=len(cells))

    def _bits(self, cells: Sequence[Any], first: int, size: int) -> NDArray[np.bool_]:
        """Each is "b" and as many digits as there are values; who is not is named."""
        try:
            letters = np.frombuffer("".join(cells).encode("ascii"), dtype=np.uint8)
        except (TypeError, UnicodeEncodeError):
            letters = np.zeros(0, dtype=np.uint8)
        if len(letters) == len(cells) * (size + 1) and set(map(len, cells)) <= {size + 1}:
            rows = letters.reshape(-1, size + 1)
            bits = rows[:, 1:] == ord("1")
            if (rows[:, 0] == ord("b")).all() and (bits | (rows[:, 1:] == ord("0"))).all():
                return np.asarray(bits)
        for _ in one_by_one(self._column.output, cells, first):
            pass
        raise InternalError("collect: bits that cannot be read, and nothing is wrong with them")
