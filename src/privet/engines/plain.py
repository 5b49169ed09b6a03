"""The plain engine: the standard library's readers, lists and dicts; slow, and easy to believe.

It is the reference that tests compare other engines with. It reads and writes CSV, TSV and JSON lines
with code of its own, so that a fault of the fast engine is not a fault of both.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from privet.core import (
    Attribute,
    Column,
    Form,
    Generalization,
    Perturbation,
    Policy,
    Recoding,
    Regions,
    Role,
    Tally,
)
from privet.domain import Value
from privet.engines import text
from privet.engines.arrange import domains
from privet.errors import InputError, InternalError, UnsupportedError

Item: TypeAlias = str | int | float | bool | None  # what a text file or a line of JSON can hold


@dataclass(eq=False)
class Rows:
    """A table as one list for each column, and what has been encoded of it so far."""

    values: dict[str, list[Item]] = field(repr=False)
    columns: dict[str, Column] = field(default_factory=dict, repr=False)
    cells: list[int] = field(default_factory=list, repr=False)  # the cell that each row was counted in

    @property
    def height(self) -> int:
        return len(next(iter(self.values.values()), []))


class Plain:
    """Tables as lists in pure Python: slow, the reference for every other engine."""

    name: ClassVar[str] = "plain"

    def read(self, source: Any, form: Form, columns: Iterable[str] | None = None) -> Rows:
        if not isinstance(source, (str, Path)) or text.is_url(source):
            what = "a database" if isinstance(source, str) else f"a {type(source).__name__}"
            raise UnsupportedError(
                f"the engine {self.name!r} reads files, not {what}; the engine 'embedded' does"
            )
        path = Path(source)
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        if not path.stat().st_size:
            raise InputError(f"{path}: the file is empty")
        form = text.settled(path, form)
        self._refuse(form)
        wanted = None if columns is None else list(dict.fromkeys(columns))
        values = _read_json(path, wanted) if form.format == "jsonl" else _read_csv(path, form)
        if wanted is not None:
            text.complain_about_missing(str(path), wanted, list(values), form.delimiter)
            values = {name: column for name, column in values.items() if name in wanted}
        table = Rows(values)
        if not table.height:
            raise InputError(f"{path}: there is a header but not one record")
        _refuse_endless(path, table)
        return table

    def columns(self, table: Rows) -> tuple[str, ...]:
        return tuple(table.values)

    def rows(self, table: Rows) -> int:
        return table.height

    def distinct(self, table: Rows, column: str) -> list[Value]:
        """The values of a column, each once."""
        return list(dict.fromkeys(map(as_text, table.values[column])))

    def tally(self, table: Rows, policy: Policy) -> Tally:
        return self._tally(table, policy, {a.name: a for a in policy.quasi})

    def tally_published(self, table: Rows, policy: Policy) -> Tally:
        return self._tally(table, policy, {})

    def _tally(self, table: Rows, policy: Policy, arranged: Mapping[str, Attribute]) -> Tally:
        counted = [a.name for a in policy.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET)]
        found = domains({name: self.distinct(table, name) for name in counted}, arranged)
        for name, domain in found.items():
            codes = [domain.codes[as_text(value)] for value in table.values[name]]
            table.columns[name] = Column(name, domain, domain.column(np.array(codes, dtype=np.intp)))
        rows = list(zip(*(table.columns[name].codes.tolist() for name in counted), strict=True))
        cells = Counter(rows)
        number = {cell: at for at, cell in enumerate(cells)}
        table.cells = [number[row] for row in rows]
        columns = {}
        for name, column in zip(counted, zip(*cells, strict=True), strict=True):
            domain = table.columns[name].domain
            columns[name] = Column(name, domain, domain.column(np.array(column, dtype=np.intp)))
        target = [columns[a.name] for a in policy.with_role(Role.TARGET)]
        return Tally(
            quasi=tuple(columns[a.name] for a in policy.with_role(Role.QUASI)),
            sensitive=tuple(columns[a.name] for a in policy.with_role(Role.SENSITIVE)),
            target=target[0] if target else None,
            counts=np.array(list(cells.values()), dtype=np.int64),
            nulls=policy.nulls,
        )

    def apply(self, table: Rows, policy: Policy, recoding: Recoding) -> Rows:
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
                made[name] = _recoded(table, name, recoding)
            else:
                made[name] = list(raw) * copies
        if recoding.kept is None:
            return Rows(made)
        kept = recoding.kept.tolist()
        of_row = [kept[at] for at in _places(table, recoding)]
        return Rows({name: list(compress(column, of_row)) for name, column in made.items()})

    def only(self, table: Rows, rows: Mapping[str, Sequence[Value]]) -> Rows:
        wanted = [
            all(as_text(table.values[name][at]) in values for name, values in rows.items())
            for at in range(table.height)
        ]
        return Rows({name: list(compress(c, wanted)) for name, c in table.values.items() if name not in rows})

    @staticmethod
    def frame(table: Rows) -> Any:
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
            out = "".join(_csv_lines(table, form))
            # A label of ours that the encoding lacks must not stop a release at its last step.
            raw = out.encode(
                "utf-8" if text.is_utf8(form.encoding) else form.encoding, errors="xmlcharrefreplace"
            )
        target.write_bytes(gzip.compress(raw, mtime=0) if target.suffix == ".gz" else raw)

    def _refuse(self, form: Form) -> None:
        if form.format not in {"csv", "tsv", "jsonl"}:
            raise UnsupportedError(
                f"the engine {self.name!r} reads and writes csv, tsv and jsonl, not {form.format}; "
                "the engine 'embedded' does"
            )


def as_text(value: Item) -> Value:
    """A value in the form in which policies and hierarchies speak of it.

    >>> as_text(True), as_text(7), as_text(1e-7), as_text(None)
    ('true', '7', '1e-7', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if 0 < abs(value) < 1e-4:
        return _small(value)
    return repr(value)


def _small(value: float) -> str:
    digits, _, exponent = repr(value).partition("e")
    if int(exponent) == -5:  # the others write 0.00001 in full, Python does not
        sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
        return f"{sign}0.0000{digits.replace('.', '')}"
    return f"{digits}e{int(exponent)}"


def _recoded(table: Rows, name: str, recoding: Recoding) -> list[Item]:
    match recoding:
        case Generalization():
            cut = recoding.cuts[name]
            column = table.columns.get(name)
            if column is None or column.domain is not cut.domain:
                raise InternalError("a recoding is applied to the table that it was tallied from")
            if cut.untouched:
                return list(table.values[name])
            label = {code: node.label for node in cut.nodes for code in range(node.lo, node.hi)}
            return [label[code] for code in column.codes.tolist()]
        case Regions():
            shown = recoding.shown(table.columns[name])
            if shown.untouched:
                return list(table.values[name])
            labels = [shown.nodes[at].label for at in shown.positions.tolist()]
        case Perturbation():
            if name not in recoding.labels:
                return list(table.values[name]) * recoding.copies
            labels = [recoding.labels[name][at] for at in recoding.positions[name].tolist()]
    return [labels[at] for at in _places(table, recoding)]


def _places(table: Rows, recoding: Recoding) -> list[int]:
    """For each row, where a recoding speaks of it: at its cell, or at its place among its cell's records."""
    if not recoding.by_record:
        return table.cells
    ordered = sorted(range(table.height), key=lambda row: table.cells[row])
    places = [0] * table.height
    for place, row in enumerate(ordered):
        places[row] = place
    copies = recoding.copies if isinstance(recoding, Perturbation) else 1
    return [place + copy * table.height for copy in range(copies) for place in places]


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


# CSV and TSV. The csv module cannot tell "" (an empty text) from nothing at all (a null), so the
# fields are taken apart here.


def _read_csv(path: Path, form: Form) -> dict[str, list[Item]]:
    names = text.header(path, form)
    raw = text.utf8(path, form.encoding)
    try:
        whole = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        raise InputError(text.undecodable(path, form.encoding, line)) from None
    try:
        records = list(_records(whole, form.delimiter or ","))
    except _BrokenQuoteError:
        raise InputError(f"{path}: a quoted field is not closed, or text follows its closing quote") from None
    if [name for name, _ in records[0][1]] != names:
        raise InputError(f"{path}: this cannot be read as {form.format} with delimiter {form.delimiter!r}")
    del records[0]
    if len(names) > 1:
        while records and records[-1][1] == [("", False)]:
            del records[-1]
    _refuse_ragged(path, names, records)
    nulls = set(form.nulls)

    def value(field: str, *, quoted: bool) -> Value:
        # Quotes make a difference for the empty text only.
        return None if field in nulls and not (quoted and not field) else field

    columns = zip(*(fields for _, fields in records), strict=True)
    return {name: [] for name in names} | {
        name: [value(field, quoted=quoted) for field, quoted in column]
        for name, column in zip(names, columns, strict=False)
    }


class _BrokenQuoteError(Exception):
    """A quote that is not closed, or text after a closing one."""


def _records(whole: str, delimiter: str) -> Iterator[tuple[int, list[tuple[str, bool]]]]:
    """The last line and the fields of each record, each field with whether it was quoted."""
    field = re.compile(rf'"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^{re.escape(delimiter)}\n]*)')
    at, line = 0, 0
    while at < len(whole):
        start, fields, stray = at, [], 0
        while True:
            found = field.match(whole, at)
            if found is None:
                raise _BrokenQuoteError
            at = found.end()
            last = at == len(whole) or whole[at] == "\n" or whole[at:] == "\r" or whole.startswith("\r\n", at)
            if found["quoted"] is not None:
                if not last and whole[at] != delimiter:
                    raise _BrokenQuoteError
                fields.append((found["quoted"].replace('""', '"'), True))
            else:
                bare = found["bare"]
                fields.append((bare.removesuffix("\r") if last else bare, False))
                stray += bare.count('"')
                if bare.startswith('"'):
                    raise _BrokenQuoteError
            if last:
                break
            at += 1
        if stray % 2:  # is it a quote that opens, or one that closes? Nobody can tell
            raise _BrokenQuoteError
        end = whole.find("\n", at)
        at = len(whole) if end < 0 else end + 1
        line += whole.count("\n", start, at) or 1
        yield line, fields


def _refuse_ragged(
    path: Path, names: Sequence[str], records: Sequence[tuple[int, list[tuple[str, bool]]]]
) -> None:
    wrong = [
        (line, 0 if fields == [("", False)] else len(fields))
        for line, fields in records
        if len(fields) != len(names)
    ]
    found = [
        f"{path}: line {line} has {count} fields, the header has {len(names)}"
        for line, count in wrong[: text.FEW]
    ]
    if len(wrong) > text.FEW:
        found.append(f"{path}: and {len(wrong) - text.FEW} more lines like these")
    if found:
        raise InputError(*found)


def _csv_lines(table: Rows, form: Form) -> Iterator[str]:
    delimiter = form.delimiter or ("\t" if form.format == "tsv" else ",")
    null = form.nulls[0] if form.nulls else ""

    def written(value: Item) -> str:
        if value is None:
            return null
        field = as_text(value) or ""
        if not field or any(mark in field for mark in (delimiter, '"', "\n", "\r")):
            return '"' + field.replace('"', '""') + '"'
        return field

    yield delimiter.join(map(written, table.values)) + "\n"
    for row in zip(*table.values.values(), strict=True):
        yield delimiter.join(map(written, row)) + "\n"


# JSON lines.


def _read_json(path: Path, wanted: Sequence[str] | None) -> dict[str, list[Item]]:
    unreadable = InputError(f"{path}: this cannot be read as jsonl")
    try:
        with text.opened(path) as file:
            whole = file.read().decode()
        lines = [
            json.loads(line, object_pairs_hook=_first_of_each, parse_constant=_refuse_constant)
            for line in io.StringIO(whole)
            if line.strip()
        ]
    except (OSError, EOFError, ValueError, RecursionError):
        raise unreadable from None
    if not all(isinstance(line, dict) for line in lines):
        raise unreadable
    names = list(dict.fromkeys(name for line in lines for name in line))
    values = {name: [line.get(name) for line in lines] for name in names}
    if wanted is not None:
        text.complain_about_missing(str(path), wanted, names, None)
        values = {name: column for name, column in values.items() if name in wanted}
    nested = [name for name, column in values.items() if any(isinstance(v, dict | list) for v in column)]
    if nested:
        raise InputError(
            f"{path}: column {text.listed(nested)} holds lists or objects; a table holds single values: "
            "leave it out of the file, or write what it holds into columns of its own"
        )
    unified = {name: _of_one_kind(column) for name, column in values.items()}
    if any(column is None for column in unified.values()):
        raise unreadable
    return {name: column for name, column in unified.items() if column is not None}


def _of_one_kind(column: list[Item]) -> list[Item] | None:
    """All values of one type, as a table's column has them; None where there is no such type."""
    kinds = {type(value) for value in column if value is not None}
    if len(kinds) <= 1:
        return column
    if str in kinds:
        return [as_text(value) for value in column]
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in column]
    return None


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs)) if len(dict(pairs)) < len(pairs) else dict(pairs)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
