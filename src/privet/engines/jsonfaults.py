"""What is wrong with JSON records of which a table is to be made: the first place, its column, what to do.

A slow look, for files of which a reader has found that they need it. It speaks of records as lines, as both
engines have them by then.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, Final

from privet import equality
from privet.engines.documents.surrogates import is_half
from privet.engines.text import NESTED, listed
from privet.errors import InputError

_BLANKS: Final = b" \t\r\n"  # all that JSON knows
DEEPEST: Final = 64  # lists and objects within each other; as json_keys.c has it
LEAST, BEYOND = -(2**127), 2**127  # whole numbers of a column
_TWICE = "the key {!r} stands twice, and readers differ in which of its values they take: leave one"
_HALVED = (
    "column {!r} holds half of a pair of surrogates (\\ud800 to \\udfff), which is no character: replace it"
)
_HALVED_KEY = (
    "a key holds half of a pair of surrogates (\\ud800 to \\udfff), which is no character: rename it"
)
_WORD = "column {!r} holds NaN or Infinity, which JSON does not know: write null, or a text"
_TOO_LARGE = "column {!r} holds a number beyond 1.8e308, which no double holds: write it as a text"
_TOO_LONG = "column {!r} holds a whole number beyond 2^127, which no column holds: write it as a text"
_TOO_DEEP = f"column {{!r}} holds lists or objects more than {DEEPEST} deep within each other: leave it out"
_ROUNDED = (
    "column {!r} holds whole numbers beyond 2^53 beside fractions, and would round them: write all its "
    'numbers as texts ("9007199254740993")'
)
_TWO_KINDS = "column {!r} holds true or false beside numbers: write them as texts, or all as numbers"


def refusal(path: Path, raw: bytes, what: str, wanted: Collection[str] | None) -> InputError:
    """What is to be said of records that cannot be read."""
    form = "jsonl" if what == "line" else "json"
    return InputError(f"{path}: {first(raw, what, wanted) or f'this cannot be read as {form}'}")


def first(raw: bytes, what: str, wanted: Collection[str] | None) -> str | None:
    """The first fault: of a record, or of the values that a wanted column has (None: all are wanted).

    `what` a record is called in this file: a line, or a record.
    """
    columns: dict[str, _Column] = {}
    for at, line in enumerate(io.BytesIO(raw), start=1):
        try:
            record = read(line)
        except Refused as why:
            return f"{what} {at}: {why}"
        except ValueError:
            return f"{what} {at} is not JSON"
        if record is None:
            continue
        if not isinstance(record, dict):
            return f"{what} {at} is JSON, but no object with a value for each column"
        named = [(equality.name(name), value) for name, value in record.items()]
        chosen = [(name, value) for name, value in named if wanted is None or name in wanted]
        if nested := [name for name, value in chosen if isinstance(value, dict | list)]:
            return f"{what} {at}: {NESTED.format(listed(nested))}"
        for name, value in chosen:
            columns.setdefault(name, _Column()).see(value, at)
    faults = [(*fault, name) for name, column in columns.items() if (fault := column.fault()) is not None]
    return next((f"{what} {at}: {said.format(name)}" for at, said, name in sorted(faults)), None)


class Refused(Exception):  # noqa: N818 - no fault of this program
    """What a record says in two ways, or in a way that readers do not know; it names no value."""


def read(line: bytes) -> Any:
    """What a line says; None where it is blank. What is no JSON is a ValueError."""
    if not line.strip(_BLANKS):
        return None
    said = line.decode()
    try:
        record = _loads(said)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if isinstance(record, dict):
        if any(map(is_half, record)):
            raise Refused(_HALVED_KEY)
        for name, value in record.items():
            for why in _oddities(value):
                raise Refused(why.format(name))
    return record


def is_rounded(value: int) -> bool:
    """Does no double hold this number?

    >>> is_rounded(2**53 + 1), is_rounded(2**53 + 2), is_rounded(10**400)
    (True, False, True)
    """
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


class _Column:
    """In which line a column has the first value of each kind."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}

    def see(self, value: object, at: int) -> None:
        if value is None:
            return
        self._at.setdefault(type(value).__name__, at)
        if type(value) is int and is_rounded(value):
            self._at.setdefault("rounded", at)

    def fault(self) -> tuple[int, str] | None:
        """The line of the value that does not go with another one, and what is wrong."""
        at = self._at
        if "str" in at:  # beside texts everything is one
            return None
        if "bool" in at and at.keys() & {"int", "float"}:
            number = min(at[kind] for kind in ("int", "float") if kind in at)
            return max(at["bool"], number), _TWO_KINDS
        if "rounded" in at and "float" in at:
            return at["rounded"], _ROUNDED
        return None


class _Word:
    """NaN, Infinity or -Infinity."""

    def __init__(self, _: str) -> None:
        pass


def _loads(said: str) -> Any:
    try:
        return json.loads(said, object_pairs_hook=_once, parse_constant=_Word)
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python converts no number of thousands of digits
        return json.loads(said, object_pairs_hook=_once, parse_constant=_Word, parse_int=_whole)


def _whole(digits: str) -> int:
    return int(digits) if len(digits) < 100 else BEYOND


def _oddities(value: object) -> Iterator[str]:
    """What no reader may take for a value, however deep it is."""
    rest = [(value, 2)]  # the record is the first
    while rest:
        value, depth = rest.pop()
        if isinstance(value, dict | list):
            if depth > DEEPEST:
                yield _TOO_DEEP
            elif isinstance(value, dict):
                rest += [(part, depth + 1) for one in reversed(value.items()) for part in reversed(one)]
            else:
                rest += [(part, depth + 1) for part in reversed(value)]
        elif isinstance(value, str):
            if is_half(value):
                yield _HALVED
        elif isinstance(value, _Word):
            yield _WORD
        elif isinstance(value, float):
            if not isfinite(value):
                yield _TOO_LARGE
        elif isinstance(value, int) and not LEAST <= value < BEYOND:
            yield _TOO_LONG


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise Refused(_HALVED_KEY if is_half(name) else _TWICE.format(name))
            seen.add(name)
    return found
