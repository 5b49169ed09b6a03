"""How a file may be written: encoding, header, words for "missing", notations of numbers.

Guesses for the steward again. What is sure enough is put into the form, and told; what could as well be a
value (9999, -1) is only offered, with how often it stands there.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from re import fullmatch

import polars as pl

from privet.core import Form
from privet.drafts import encodings
from privet.engines import text
from privet.engines.text import NOTATIONS
from privet.errors import InputError
from privet.hierarchy.dates import Dates, formats_of
from privet.hierarchy.numbers import read as number

# Words for "no value" that files use; the first are never anything else.
MISSING = (
    *("?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "k.A.", "k. A.", "k.A", "keine Angabe"),
    *("n.d.", "s.d.", "s/d", "(null)", "<NA>", "NaT"),
)
PERHAPS_MISSING = frozenset(
    (
        *(
            "-",
            "--",
            ".",
            "..",
            "...",
            "\u2013",
            "\u2014",
            "x",
            "none",
            "nil",
            "missing",
            "unknown",
            "unbekannt",
        ),
        *("inconnu", "desconocido", "not available", "not applicable", "not known", "keine", "leer"),
    )
)
SENTINELS = frozenset(("-1", "-9", "-99", "-999", "-9999", "99", "999", "9999", "99999", "999999"))
# What stands in front of a row that is about all the others.
TOTAL = re.compile(
    r"(?:grand |sub)?totals?|(?:gesamt)?summe|sum|insgesamt|gesamt|total g[eé]n[eé]ral|ensemble|totaal|totale"
    r"|(?:total )?general|suma|razem|celkem|össesen|összesen|toplam|yhteensä|summa|totalt|i alt|итого|всего"
    r"|σύνολο|合计|合計|总计|總計|합계|average|mean|median|mittelwert|durchschnitt|moyenne|media|promedio"
    r"|(?:total|summe|sum|gesamt)\s*[:=].*",
    re.IGNORECASE,
)
FAR = 2  # a number that means "missing" is so many times as far out as the next
LOOKED_AT = 50_000


@dataclass(frozen=True, slots=True)
class Offer:
    """A token that may mean "missing" in a column: the steward decides."""

    column: str
    token: str
    records: int


def settled_text(path: Path, form: Form, *, guess_encoding: bool) -> Form:
    """The form of a text file with its encoding, and whether its first line is a header."""
    if guess_encoding:
        form = replace(form, encoding=encoding_of(path))
    form = text.settled(path, form)
    if form.header and not has_header(path, form):
        form = replace(form, header=False)
    return form


def encoding_of(path: Path) -> str:
    """The encoding that fits all of a file; where it cannot be read, reading will say what is wrong."""
    try:
        return encodings.encoding_of(path)
    except (OSError, EOFError, zlib.error):
        return "utf-8"


def has_header(path: Path, form: Form) -> bool:
    """Does the first line name columns? Numbers, dates and addresses are values, years may be names."""
    try:
        fields = [field.strip() for field in text.first_fields(path, form)]
    except InputError:
        return True  # reading will say what is wrong
    return not sum(map(_is_value, fields)) * 3 >= max(1, len(fields))


def own_values(fields: Sequence[str], values: Iterable[Sequence[str | None]]) -> list[str]:
    """Fields of a first line that stand in their own columns too, beside others: a record's fields do.

    A box to tick has its name as its only value; that says nothing.

    >>> own_values(["39", "Private", "asthma"], [["39", "50"], ["Private", None], ["asthma", None]])
    ['39']
    """
    return [
        field
        for field, found in zip(map(str.strip, fields), values, strict=True)
        if field and field in found and any(value not in {None, "", field} for value in found)
    ]


def _is_value(field: str) -> bool:
    found = number(field)
    if found is not None:
        return not (found == int(found) and 1900 <= found <= 2100)
    return Dates().day(field) is not None or bool(formats_of([field])) or "@" in field


def padded(frame: pl.DataFrame) -> bool:
    """Has any text blanks around it? They come of a delimiter with a blank behind it, of columns of fixed
    width, of fingers; nobody means another value by them, and " 21" is no number.
    """
    texts = (column for column in frame.iter_columns() if column.dtype == pl.String)
    return any(column.str.starts_with(" ").any() or column.str.ends_with(" ").any() for column in texts)


def sure_tokens(values: Mapping[str, Sequence[str | None]]) -> list[str]:
    """Words that mean "missing" wherever they stand; in a column of very many values they may be names."""
    few = [set(found) for found in values.values() if len(found) <= LOOKED_AT]
    return [token for token in MISSING if any(token in found for found in few)]


def missing_in(values: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tokens of one column that mean "missing" beside numbers and dates; and numbers that may."""
    words = [v for v in values if v.strip().lower() in PERHAPS_MISSING or v in MISSING]
    rest = [v for v in values if v not in words]
    numbers = _all_numbers(rest)
    sure = words if rest and words and (numbers is not None or _dates(rest)) else []
    offered = [] if sure else words
    if numbers is not None and len(rest) > 2:
        offered += [v for v in rest if v in SENTINELS and _far_out(v, numbers)]
    return sure, offered


def _all_numbers(values: Sequence[str]) -> list[Decimal] | None:
    """The values as numbers, if every one is a number; after the first that is none nobody reads on."""
    found = []
    for value in values:
        if (read := _any_number(value)) is None:
            return None
        found.append(read)
    return found


def _any_number(value: str) -> Decimal | None:
    found = number(value)
    if found is None and any(fullmatch(how.pattern, value) for how in NOTATIONS.values()):
        return Decimal(0)
    return found


def _dates(values: Sequence[str]) -> bool:
    return all(Dates().day(value) for value in values) or bool(formats_of(values))


def _far_out(token: str, numbers: Sequence[Decimal]) -> bool:
    """Is it away from all others: beyond twice the largest of them, or the only one below 0?"""
    mine = Decimal(token)
    others = [n for n in numbers if n != mine]
    if mine < 0:
        return bool(others) and min(others) >= 0
    return bool(others) and mine > FAR * max(others) and len(token) > len(str(max(others)).partition(".")[0])


def notation_of(values: Sequence[str], *, comma: bool = False) -> tuple[str | None, bool]:
    """The notation of a column's numbers, where it is not privet's; and whether another reading fits as well.

    `comma`: other columns of the file have decimal commas, so that 1.234 is rather a thousand.

    >>> notation_of(["1.234,5", "7,25"]), notation_of(["1.5", "7"]), notation_of(["1,234", "56,789"])
    (('1.234,5', False), (None, False), ('1,234.5', True))
    """
    if not values or not any(map(str.isdigit, values[0])):
        return None, False
    if all(number(value) is not None for value in values):
        grouped = all(fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,3}", v) for v in values)
        return ("1.234,5", True) if comma and grouped and any("." in v for v in values) else (None, False)
    fits = [name for name, how in NOTATIONS.items() if all(fullmatch(how.pattern, v) for v in values)]
    if not fits:
        return None, False
    if {"1.234,5", "1,234.5"} <= set(fits):  # nothing but a comma with three digits behind it
        doubtful = not any(v.count(",") > 1 for v in values)
        return ("1.234,5" if any(v.startswith("0,") for v in values) else "1,234.5"), doubtful
    return fits[0], False


def counted(frame: pl.DataFrame, column: str, tokens: Sequence[str]) -> Iterator[Offer]:
    """How many records have each of the tokens."""
    texts = frame.get_column(column).cast(pl.String)
    for token in tokens:
        yield Offer(column, token, int((texts == token).sum()))
