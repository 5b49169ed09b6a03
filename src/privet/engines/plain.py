"""The plain engine: the standard library's readers, lists and dicts; slow, and easy to believe.

It is the reference that tests compare other engines with. It reads and writes CSV, TSV and JSON lines
with code of its own, so that a fault of the fast engine is not a fault of both.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privet import parts
from privet.core import Attribute, Column, Form, Role, Tally, Terms
from privet.domain import Value
from privet.engine import COUNTED, Tallied, domains, respelt, several
from privet.engines import text
from privet.engines.plain_text import Item, as_text, csv_lines, read_csv, read_json
from privet.equality import key
from privet.errors import InputError, InternalError, UnsupportedError
from privet.recoding import Generalization, Perturbation, Recoding, Regions


@dataclass(frozen=True, eq=False)
class Rows:
    """A table as one list for each column."""

    values: dict[str, list[Item]] = field(repr=False)

    @property
    def height(self) -> int:
        return len(next(iter(self.values.values()), []))


@dataclass(frozen=True, eq=False)
class Coded:
    """A table's rows in leaf order, and the cell that each was counted in."""

    table: Rows
    columns: Mapping[str, Column] = field(repr=False)
    cells: list[int] = field(repr=False)
    respelt: frozenset[str] = (
        frozenset()
    )  # quasi-identifiers in which equal values are written in several ways


class Plain:
    """Tables as lists in pure Python: slow, the reference for every other engine."""

    name: ClassVar[str] = "plain"
    takes_tables: ClassVar[bool] = False

    def read(
        self, source: Any, form: Form, columns: Iterable[str] | None = None, *, empty: bool = False
    ) -> Rows:
        if not isinstance(source, (str, Path)) or text.is_url(source):
            what = "a database" if isinstance(source, str) else f"a {type(source).__name__}"
            raise UnsupportedError(
                f"the engine {self.name!r} reads files, not {what}; the engine 'embedded' does"
            )
        path = Path(source)
        if path.is_dir():
            return self._joined(path, form, columns, empty=empty)
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        wanted = None if columns is None else list(dict.fromkeys(columns))
        if not path.stat().st_size:
            if empty and form.format == "jsonl":
                return Rows({name: [] for name in wanted or ()})  # nothing names its columns
            raise InputError(f"{path}: the file is empty")
        form = text.settled(path, form)
        self._refuse(form)
        lines = form.format in {"json", "jsonl"}
        values = read_json(path, wanted, whole=form.format == "json") if lines else read_csv(path, form)
        text.refuse_patterns(str(path), values)
        if wanted is not None:
            text.complain_about_missing(str(path), wanted, list(values), form.delimiter)
            order = wanted if lines else values  # not as the first line has its keys
            values = {name: values[name] for name in order if name in wanted}
        table = Rows(values)
        if not table.height and not empty:
            raise InputError(f"{path}: there is a header but not one record")
        _refuse_endless(path, table)
        return table

    def _joined(self, folder: Path, form: Form, columns: Iterable[str] | None, *, empty: bool) -> Rows:
        """A folder of parts, one after the other."""
        wanted = None if columns is None else list(columns)
        found = [self.read(part, form, wanted, empty=True) for part in parts.listed(folder)]
        if any(part.values.keys() != found[0].values.keys() for part in found):
            raise InputError(f"{folder}: a part has other columns than the parts before it")
        table = Rows({name: [v for part in found for v in part.values[name]] for name in found[0].values})
        if not table.height and not empty:
            raise InputError(f"{folder}: the parts have not one record")
        return table

    def columns(self, table: Rows) -> tuple[str, ...]:
        return tuple(table.values)

    def rows(self, table: Rows) -> int:
        return table.height

    def distinct(self, table: Rows, column: str) -> list[Value]:
        """The values of a column, each once."""
        return list(dict.fromkeys(map(as_text, table.values[column])))

    def repeated(self, table: Rows, column: str) -> tuple[int, int]:
        texts = [as_text(value) for value in table.values[column]]
        times = Counter(map(key, texts))
        return sum(t is not None and times[key(t)] > 1 for t in texts), texts.count(None)

    def tally(self, table: Rows, policy: Terms) -> Tallied:
        return self._tally(table, policy, {a.name: a for a in policy.quasi})

    def tally_published(self, table: Rows, policy: Terms) -> Tally:
        return self._tally(table, policy, {}).tally

    def _tally(self, table: Rows, policy: Terms, arranged: Mapping[str, Attribute]) -> Tallied:
        counted = [a.name for role in COUNTED for a in policy.with_role(role)]
        text.complain_about_missing("the table", counted, list(table.values), None)
        seen = () if arranged else [a.name for a in policy.quasi]
        found = domains({name: self.distinct(table, name) for name in counted}, arranged, seen)
        by_row: dict[str, Column] = {}
        for name, domain in found.items():
            codes = [domain.code(as_text(value)) for value in table.values[name]]
            by_row[name] = Column(name, domain, domain.column(np.array(codes, dtype=np.intp)))
        alike = [a.name for a in policy.with_role(Role.SENSITIVE)]
        alike = [name for name in alike if several(found[name], self.distinct(table, name))]
        spelt = {name: _in_one_spelling(table.values[name], by_row[name]) for name in alike}
        table = Rows(table.values | spelt)
        if policy.person is not None and policy.person in table.values:  # a release does not have it
            # Rows of different persons are different cells, whatever else they say.
            persons = domains({policy.person: self.distinct(table, policy.person)}, {})[policy.person]
            whose = [persons.code(as_text(value)) for value in table.values[policy.person]]
            by_row[policy.person] = Column(policy.person, persons, persons.column(np.array(whose, np.intp)))
            counted = [*counted, policy.person]
        rows = list(zip(*(by_row[name].codes.tolist() for name in counted), strict=True))
        cells = Counter(rows)
        number = {cell: at for at, cell in enumerate(sorted(cells))}  # not as they came
        columns = {}
        for name, column in zip(counted, zip(*number, strict=True), strict=True):
            domain = by_row[name].domain
            columns[name] = Column(name, domain, domain.column(np.array(column, dtype=np.intp)))
        target = [columns[a.name] for a in policy.with_role(Role.TARGET)]
        tally = Tally(
            quasi=tuple(columns[a.name] for a in policy.with_role(Role.QUASI)),
            sensitive=tuple(columns[a.name] for a in policy.with_role(Role.SENSITIVE)),
            target=target[0] if target else None,
            counts=np.array([cells[cell] for cell in number], dtype=np.int64),
            nulls=policy.nulls,
            person=columns[policy.person].codes if policy.person in columns else None,
            across=policy.across,
        )
        other = frozenset(name for name in arranged if respelt(found[name], self.distinct(table, name)))
        return Tallied(tally, Coded(table, by_row, [number[row] for row in rows], other))

    def apply(self, tallied: Tallied, policy: Terms, recoding: Recoding) -> Rows:
        coded: Coded = tallied.rows
        table = coded.table
        by_name = {attribute.name: attribute for attribute in policy.attributes}
        copies = recoding.copies if isinstance(recoding, Perturbation) else 1
        made: dict[str, list[Item]] = {}
        for name, raw in table.values.items():
            attribute = by_name.get(name)
            if attribute is None or not attribute.published:
                continue
            if attribute.disguise is not None:
                made[name] = _disguised(table, attribute) * copies
            elif attribute.role is Role.QUASI or isinstance(recoding, Perturbation):
                made[name] = _recoded(coded, name, recoding)
            else:
                made[name] = list(raw) * copies
        if recoding.kept is None:
            return Rows(made)
        kept = recoding.kept.tolist()
        of_row = [kept[at] for at in _places(coded, recoding)]
        return Rows({name: list(compress(column, of_row)) for name, column in made.items()})

    def only(self, table: Rows, rows: Mapping[str, Sequence[Value]]) -> Rows:
        asked = {name: set(map(key, values)) for name, values in rows.items()}
        wanted = [
            all(key(as_text(table.values[name][at])) in values for name, values in asked.items())
            for at in range(table.height)
        ]
        return Rows({name: list(compress(c, wanted)) for name, c in table.values.items() if name not in rows})

    def respelt(self, table: Rows, changes: Mapping[str, Mapping[Value, str]]) -> Rows:
        made = dict(table.values)
        for name, spelt in changes.items():
            made[name] = [
                spelt.get(value, value) if isinstance(value, str) else value for value in made[name]
            ]
        return Rows(made)

    def in_order(self, table: Rows) -> Rows:
        rows = sorted(zip(*table.values.values(), strict=True), key=_as_texts)
        columns = zip(*rows, strict=True) if rows else ((),) * len(table.values)
        return Rows({name: list(column) for name, column in zip(table.values, columns, strict=True)})

    def is_in_order(self, table: Rows) -> bool:
        rows = [_as_texts(row) for row in zip(*table.values.values(), strict=True)]
        return rows == sorted(rows)

    @staticmethod
    def arrow(table: Rows) -> Any:
        import polars as pl  # noqa: PLC0415 - this engine does without

        return pl.DataFrame(table.values, infer_schema_length=None)

    def write(self, table: Rows, target: Path, form: Form) -> None:
        self._refuse(form)
        if form.format == "jsonl":
            lines = (
                dict(zip(table.values, row, strict=True)) for row in zip(*table.values.values(), strict=True)
            )
            out = "".join(
                json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
            )
            raw = out.encode()
        else:
            out = "".join(csv_lines(table.values, form))
            # A label of ours that the encoding lacks must not stop a release at its last step.
            raw = out.encode(
                "utf-8" if text.is_utf8(form.encoding) else form.encoding, errors="xmlcharrefreplace"
            )
        target.write_bytes(gzip.compress(raw, mtime=0) if target.suffix == ".gz" else raw)

    def _refuse(self, form: Form) -> None:
        if form.format not in {"csv", "tsv", "json", "jsonl"}:
            raise UnsupportedError(
                f"the engine {self.name!r} reads and writes csv, tsv and jsonl, not {form.format}; "
                "the engine 'embedded' does"
            )


def _as_texts(row: tuple[Item, ...]) -> list[tuple[bool, str]]:
    """What a row is sorted by."""
    texts = map(as_text, row)
    return [(text is None, text or "") for text in texts]


def _recoded(coded: Coded, name: str, recoding: Recoding) -> list[Item]:
    match recoding:
        case Generalization():
            cut = recoding.cuts[name]
            column = coded.columns.get(name)
            if column is None or column.domain is not cut.domain:
                raise InternalError("a recoding is applied to the table that it was tallied from")
            if cut.untouched and name not in coded.respelt:
                return list(coded.table.values[name])
            label = {code: node.label for node in cut.nodes for code in range(node.lo, node.hi)}
            return [label[code] for code in column.codes.tolist()]
        case Regions():
            shown = recoding.shown(coded.columns[name])
            if shown.untouched and name not in coded.respelt:
                return list(coded.table.values[name])
            labels = [shown.nodes[at].label for at in shown.positions.tolist()]
        case Perturbation():
            if name not in recoding.labels:
                return list(coded.table.values[name]) * recoding.copies
            labels = [recoding.labels[name][at] for at in recoding.positions[name].tolist()]
    return [labels[at] for at in _places(coded, recoding)]


def _in_one_spelling(values: list[Item], column: Column) -> list[Item]:
    """Equal values as the domain has them, in their own type."""
    written = {as_text(value): value for value in values}
    stands = [written[text] for text in column.domain.values]
    return [stands[code] for code in column.codes.tolist()]


def _places(coded: Coded, recoding: Recoding) -> list[int]:
    """For each row, where a recoding speaks of it: at its cell, or at its place among its cell's records."""
    if not recoding.by_record:
        return coded.cells
    # Of rows that were counted alike, what was not counted decides: not which came first.
    rest = [column for name, column in coded.table.values.items() if name not in coded.columns]
    told = [_as_texts(row) for row in zip(*rest, strict=True)] if rest else [[]] * coded.table.height
    ordered = sorted(range(coded.table.height), key=lambda row: (coded.cells[row], told[row]))
    places = [0] * coded.table.height
    for place, row in enumerate(ordered):
        places[row] = place
    copies = recoding.copies if isinstance(recoding, Perturbation) else 1
    return [place + copy * coded.table.height for copy in range(copies) for place in places]


def _disguised(table: Rows, attribute: Attribute) -> list[Item]:
    if attribute.disguise is None:
        raise InternalError("only a disguised identifier is published")
    texts = [as_text(value) for value in table.values[attribute.name]]
    persons = None
    if attribute.person is not None:
        persons = [as_text(value) for value in table.values[attribute.person]]
    return list(attribute.disguise.cover(texts, persons))


def _refuse_endless(path: Path, table: Rows) -> None:
    faults = []
    for name, column in table.values.items():
        longest = max((len(v.encode(errors="replace")) for v in column if isinstance(v, str)), default=0)
        if longest > text.LONGEST_FIELD:
            faults.append(
                f"{path}: column {name!r} has a field of {longest:,} bytes; at most {text.LONGEST_FIELD:,} "
                "are read (is a quote not closed?)"
            )
    if faults:
        raise InputError(*faults)
