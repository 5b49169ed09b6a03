"""CSV, TSV and JSON lines taken apart by hand: the plain engine's own readers.

Code of its own, so that a fault of the fast engine's readers is not a fault of both. The csv module cannot
tell "" (an empty text) from nothing at all (a null), so fields are taken apart here.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from math import isinf
from pathlib import Path
from typing import Any, TypeAlias

from privet import equality
from privet.core import Form
from privet.domain import Value
from privet.engines import jsonfaults, text
from privet.errors import InputError

Item: TypeAlias = str | int | float | bool | None  # what a text file or a line of JSON can hold


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


def read_csv(path: Path, form: Form) -> dict[str, list[Item]]:
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
    if text.naming([name for name, _ in records[0][1]], said=form.header) != names:
        raise InputError(f"{path}: this cannot be read as {form.format} with delimiter {form.delimiter!r}")
    if form.header:
        del records[0]
    if len(names) > 1:
        while records and records[-1][1] == [("", False)]:
            del records[-1]
    _refuse_ragged(path, names, records)
    nulls = set(form.nulls)

    def value(field: str, *, quoted: bool) -> Value:
        if form.trim:
            field = field.strip(" ")
        # Quotes make a difference for the empty text only.
        return None if field in nulls and not (quoted and not field) else field

    columns = zip(*(fields for _, fields in records), strict=True)
    return {name: [] for name in names} | {
        name: [as_said(value(field, quoted=quoted), name, form) for field, quoted in column]
        for name, column in zip(names, columns, strict=False)
    }


def as_said(value: Value, column: str, form: Form) -> Value:
    """A value in the notation that the form says its column has, as privet reads numbers."""
    if value is None or value in form.missing.get(column, ()):
        return None
    notation = text.NOTATIONS.get(form.numbers.get(column, ""))
    if notation is None or re.fullmatch(notation.pattern, value) is None:
        return value
    for mark in notation.thousands:
        value = value.replace(mark, "")
    return value.replace(notation.decimal, ".")


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


def csv_lines(values: Mapping[str, Sequence[Item]], form: Form) -> Iterator[str]:
    delimiter = form.delimiter or ("\t" if form.format == "tsv" else ",")
    null = form.nulls[0] if form.nulls else ""

    def written(value: Item) -> str:
        if value is None:
            return null
        field = as_text(value) or ""
        if not field or any(mark in field for mark in (delimiter, '"', "\n", "\r")):
            return '"' + field.replace('"', '""') + '"'
        return field

    yield delimiter.join(map(written, values)) + "\n"
    for row in zip(*values.values(), strict=True):
        yield delimiter.join(map(written, row)) + "\n"


def read_json(path: Path, wanted: Sequence[str] | None, *, whole: bool = False) -> dict[str, list[Item]]:
    """A record on each line; or `whole`: records in an array, or one after the other."""
    raw = text.utf8(path, "utf-8")
    if whole:
        raw = _lines_of(path, raw)
    what = "record" if whole else "line"
    try:
        lines = [_loads(line) for line in io.StringIO(raw.decode()) if line.strip(_BLANKS)]
    except (ValueError, RecursionError):
        raise jsonfaults.refusal(path, raw, what, wanted) from None
    if not all(isinstance(line, dict) for line in lines):
        raise jsonfaults.refusal(path, raw, what, wanted)
    written = dict.fromkeys(name for line in lines for name in line)
    if lines and not written:
        raise InputError(text.KEYLESS.format(path, what))
    names = list(dict.fromkeys(map(equality.name, written)))
    if len(names) < len(written):
        raise InputError(text.COMPOSED)
    if names != list(written):
        lines = [{equality.name(name): value for name, value in line.items()} for line in lines]
    values = {name: [line.get(name) for line in lines] for name in names}
    if wanted is not None:
        text.complain_about_missing(str(path), wanted, names, None)
        values = {name: column for name, column in values.items() if name in wanted}
    if any(_is_nested(column) or _is_rounded(column) for column in values.values()):
        raise jsonfaults.refusal(path, raw, what, wanted)
    unified = {name: _of_one_kind(column) for name, column in values.items()}
    if any(column is None for column in unified.values()):
        raise jsonfaults.refusal(path, raw, what, wanted)
    return {name: column for name, column in unified.items() if column is not None}


def _lines_of(path: Path, raw: bytes) -> bytes:
    """Records of an array as lines, each as it was written; Python's own reader says where each ends."""
    # What stands in them is judged later.
    decoder = json.JSONDecoder(parse_constant=str, parse_int=str, parse_float=str)
    blank = re.compile(r"[ \t\r\n]*")
    lines: list[str] = []
    wrong = False
    try:
        said = raw.decode("utf-8-sig")
        at = _past(blank, said, 0)
        end_of_list = "]" if said[at : at + 1] == "[" else ""
        at = _past(blank, said, at + len(end_of_list))
        ended = False
        while at < len(said) and not wrong and not ended:
            record, end = decoder.raw_decode(said, at)
            if isinstance(record, dict) and _is_nested(record.values()):
                raise InputError(text.DOCUMENTS.format(path, len(lines) + 1))
            lines.append(said[at:end].replace("\r", " ").replace("\n", " "))
            at = _past(blank, said, end)
            if end_of_list:
                ended = said[at : at + 1] == "]" and _past(blank, said, at + 1) == len(said)
                wrong = not ended and said[at : at + 1] != ","
                at = _past(blank, said, at + 1)
        wrong = wrong or not lines or (bool(end_of_list) and not ended)
    except (ValueError, RecursionError):
        wrong = True
    if wrong:
        raise InputError(f"{path}: record {len(lines) + 1} is not JSON")
    return "\n".join(lines).encode()


def _past(blank: re.Pattern[str], said: str, at: int) -> int:
    found = blank.match(said, at)
    return at if found is None else found.end()


def _of_one_kind(column: list[Item]) -> list[Item] | None:
    """All values of one type, as a table's column has them; None where there is no such type."""
    kinds = {type(value) for value in column if value is not None}
    if len(kinds) <= 1:
        return column
    if str in kinds:
        return [_among_texts(value) for value in column]
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in column]
    return None


def _among_texts(value: Item) -> Value:
    """As polars writes a value that stands in a column of texts: 1000 for 1e3, and 1 for 1.0.

    >>> _among_texts(1e3), _among_texts(-1.0), _among_texts(1e-7), _among_texts(959879266437.65625)
    ('1000', '-1', '0.0000001', '959879266437.6563')
    """
    if not isinstance(value, float):
        return as_text(value)
    shortest = Decimal(repr(value))
    up = Decimal(value).quantize(shortest, ROUND_HALF_UP)  # of two that are as short and as near, the larger
    return format(up if float(up) == value else shortest, "f").removesuffix(".0")


_BLANKS = " \t\r\n"  # all that JSON knows
_MAY_BE_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _loads(line: str) -> Any:
    read = json.loads(
        line,
        object_pairs_hook=_each_once,
        parse_constant=_refuse_constant,
        parse_float=_finite,
        parse_int=_whole,
    )
    if "\\u" in line and _MAY_BE_HALF.search(line) and _is_half(json.dumps(read, ensure_ascii=False)):
        raise ValueError("half of a pair of surrogates")
    if _is_deep(read):
        raise ValueError("too deep")
    return read


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _finite(digits: str) -> float:
    if isinf(value := float(digits)):
        raise ValueError("no double")
    return value


def _whole(digits: str) -> int:
    if not -(1 << 127) <= (value := int(digits)) < 1 << 127:
        raise ValueError("too long")
    return value


def _is_deep(value: Any, left: int = jsonfaults.DEEPEST) -> bool:
    """Are there more lists and objects within each other than are left?"""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return left == 0 or any(_is_deep(part, left - 1) for part in parts)


def _is_nested(column: Iterable[Any]) -> bool:
    return any(isinstance(value, dict | list) for value in column)


def _is_half(said: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in said)


def _is_rounded(column: list[Item]) -> bool:
    """Would a whole number become another one beside the fractions of its column?"""
    if {type(value) for value in column if value is not None} != {int, float}:
        return False
    return any(type(value) is int and (abs(value) >= 2**1023 or float(value) != value) for value in column)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
