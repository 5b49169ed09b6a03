"""A table as numbers: every column in the codes of its public domain, one entry for each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.domain import Node, Value
from privet.dp.publicdomain import ItemSets, Numbers, Predictor, PublicDomain, numbered
from privet.errors import InputError


@dataclass(frozen=True, eq=False)
class ItemLists:
    """The different sets that occur, one after the other: set `s` is `items[starts[s]:starts[s + 1]]`."""

    starts: NDArray[np.int64] = field(repr=False)
    items: NDArray[np.int64] = field(repr=False)

    def children_of(self, node: Node) -> NDArray[np.int64]:
        """For each set, which children of the node it has items under: one bit for each child."""
        bits = np.zeros(node.hi - node.lo, dtype=np.int64)
        for at, child in enumerate(node.children):
            bits[child.lo - node.lo : child.hi - node.lo] = 1 << at
        inside = (self.items >= node.lo) & (self.items < node.hi)
        each = np.where(inside, bits[np.where(inside, self.items - node.lo, 0)], 0)
        # every set has at least one item, so no run is empty
        return np.bitwise_or.reduceat(each, self.starts[:-1]) if len(each) else each


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One predictor: the code of every record or, for a column of sets, which of `sets` it is."""

    predictor: Predictor
    codes: NDArray[Any] = field(repr=False)
    sets: ItemLists | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.predictor.name


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Predictors and the class of every record, all in public codes."""

    columns: tuple[CodedColumn, ...]
    target: str
    classes: tuple[Value, ...]  # public too: all that could be, whether they occur or not
    class_codes: NDArray[Any] = field(repr=False)

    @property
    def records(self) -> int:
        return len(self.class_codes)


@dataclass(frozen=True, eq=False)
class Dictionary:
    """A column as an engine has it: its different values, and which one each record has."""

    values: Sequence[Value] = field(repr=False)
    codes: NDArray[Any] = field(repr=False)
    times: NDArray[np.int64] | None = field(default=None, repr=False)  # records of each entry, if not one

    @classmethod
    def of(cls, column: Sequence[Value]) -> Dictionary:
        """From one text for each record."""
        number = {value: at for at, value in enumerate(dict.fromkeys(column))}
        return cls(list(number), np.array([number[value] for value in column], dtype=np.int64))


def encode(
    data: Mapping[str, Dictionary], predictors: Sequence[Predictor], target: str, classes: Sequence[Value]
) -> CodedTable:
    """The table in public codes; every column with values outside its domain is named, with their number."""
    absent = [name for name in (*(p.name for p in predictors), target) if name not in data]
    if absent:
        raise InputError(
            *(f"{name}: the policy names this column, the data does not have it" for name in absent)
        )
    of_class = numbered(classes, data[target].values)
    read = [_read(predictor.domain, data[predictor.name].values) for predictor in predictors]
    complaints = [
        *(c for p, codes in zip(predictors, read, strict=True) for c in _outside(p, codes, data[p.name])),
        *_refused(target, "that is none of the declared classes", of_class < 0, data[target]),
    ]
    if complaints:
        raise InputError(*complaints)
    columns = tuple(_column(p, codes, data[p.name]) for p, codes in zip(predictors, read, strict=True))
    return CodedTable(columns, target, tuple(classes), _gathered(of_class, data[target], len(classes)))


def encode_values(
    data: Mapping[str, tuple[Sequence[Value], NDArray[np.int64]]],
    predictors: Sequence[Predictor],
    target: str,
    classes: Sequence[Value],
) -> tuple[CodedTable, dict[str, NDArray[Any]]]:
    """A table whose records are elsewhere: what is public of it, and by column the code of each value.

    `data`: the values of each column, and how many records have each.
    """
    each = {name: Dictionary(some, np.arange(len(some)), times) for name, (some, times) in data.items()}
    table = encode(each, predictors, target, classes)
    codes = {column.name: column.codes for column in table.columns} | {target: table.class_codes}
    columns = tuple(replace(column, codes=column.codes[:0]) for column in table.columns)
    return replace(table, columns=columns, class_codes=table.class_codes[:0]), codes


def _read(domain: PublicDomain, values: Sequence[Value]) -> NDArray[np.int64] | list[list[int]]:
    """The code of each value, or the codes of each set; a first code of -1 means outside."""
    return domain.items(values) if isinstance(domain, ItemSets) else domain.codes(values)


def _column(
    predictor: Predictor, read: NDArray[np.int64] | list[list[int]], column: Dictionary
) -> CodedColumn:
    if not isinstance(read, list):
        return CodedColumn(predictor, _gathered(read, column, predictor.domain.size))
    starts = np.cumsum([0, *(len(each) for each in read)], dtype=np.int64)
    items = np.array([item for each in read for item in each], dtype=np.int64)
    return CodedColumn(predictor, column.codes, ItemLists(starts, items))


def _gathered(of_value: NDArray[np.int64], column: Dictionary, size: int) -> NDArray[Any]:
    """The code of every record, in the smallest type that holds the domain."""
    codes: NDArray[Any] = of_value.astype(np.min_scalar_type(max(size - 1, 0)))[column.codes]
    return codes


def _outside(
    predictor: Predictor, read: NDArray[np.int64] | list[list[int]], column: Dictionary
) -> list[str]:
    domain = predictor.domain
    if isinstance(read, list):
        what = "with an item that its tree does not have"
        if isinstance(domain, ItemSets) and not domain.empty:
            what += ", or without items"
        return _refused(predictor.name, what, np.array([each[0] < 0 for each in read], dtype=bool), column)
    what = "outside its range or between its steps" if isinstance(domain, Numbers) else "not in its tree"
    return _refused(predictor.name, what, read < 0, column)


def _refused(name: str, what: str, outside: NDArray[np.bool_], column: Dictionary) -> list[str]:
    """The complaint, with the number of records and no value."""
    times = np.ones(len(column.codes), dtype=np.int64) if column.times is None else column.times
    records = int(times[outside[column.codes]].sum()) if outside.any() else 0
    if not records:  # an engine may list values that no record has
        return []
    share = f"{records:,} of {int(times.sum()):,} records"
    nulls = any(value is None for value, wrong in zip(column.values, outside.tolist(), strict=True) if wrong)
    missing = " (null = true, where values may be missing)" if nulls else ""
    return [f"{name}: {share} have a value {what}; correct them, or extend what the policy declares{missing}"]
