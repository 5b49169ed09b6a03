"""JSON lines that two readers could read as two different tables are refused before they are read.

polars takes the first value of a key that stands twice (others take the last), half a pair of surrogates as
another letter, and a whole number beside fractions as the nearest double: each without a word. One look in C
finds the lines that need care, and Python's own reader says what stands in them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet import equality, native
from privet.engines.documents.surrogates import is_half
from privet.engines.text import HALVED, HALVED_KEY, ROUNDED, TWICE, listed
from privet.errors import InputError

PATIENCE = 1000  # lines that need care; with more of them Python reads them all
_FOUND = 18  # as json_keys.c says
_MOST_LONG = 8


class _Twice(ValueError):  # noqa: N818 - carries a name
    """A key that stands twice in an object."""


def refuse_ambiguous(place: str, what: str, raw: NDArray[Any]) -> set[str] | None:
    """Refuse what says two things; which columns may have whole numbers that no double holds (None: any).

    `what` a line is called in this file: a line, or a record. What is no JSON is a ValueError.
    """
    found = np.zeros(_FOUND, np.int64)
    for at, line in _careful(raw, found):
        if complaint := _wrong_with(line):
            number = int(np.count_nonzero(raw[:at] == ord("\n"))) + 1
            raise InputError(f"{place}: {what} {number}: {complaint}")
    if native.library() is None or found[1] > _MOST_LONG or found[0] < 0:
        return None
    spans = found[2 : 2 + 2 * int(found[1])].reshape(-1, 2).tolist()
    return {equality.name(json.loads(b'"%s"' % raw[at : at + size].tobytes())) for at, size in spans}


def refuse_rounded(place: str, raw: NDArray[Any], columns: Collection[str]) -> None:
    """Columns of fractions in which a whole number stands that would become another one."""
    if not columns:
        return
    rounded: dict[str, None] = {}
    for _, line in _lines(raw, 0):
        if line.strip():
            for name, value in json.loads(line).items():
                if type(value) is int and is_rounded(value) and equality.name(name) in columns:
                    rounded[equality.name(name)] = None
    if rounded:
        raise InputError(f"{place}: column {listed(list(rounded))} {ROUNDED}")


def is_rounded(value: int) -> bool:
    """Does no double hold this number?

    >>> is_rounded(2**53 + 1), is_rounded(2**53 + 2), is_rounded(10**400)
    (True, False, True)
    """
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


def _careful(raw: NDArray[Any], found: NDArray[np.int64]) -> Iterator[tuple[int, bytes]]:
    """The lines that need care, or all where that cannot be said."""
    if native.library() is None:
        yield from _lines(raw, 0)
        return
    begin, trusted = 0, 0
    for _ in range(PATIENCE):
        before, begin = begin, native.call("privet_json_keys", raw, len(raw), begin, trusted, found)
        if begin < 0:
            return
        if trusted and begin == before:  # more keys than it knows
            break
        yield begin, raw[begin : int(found[0])].tobytes()
        trusted = 1
    yield from _lines(raw, begin)
    found[0] = -1


def _lines(raw: NDArray[Any], begin: int) -> Iterator[tuple[int, bytes]]:
    """Each line and where it begins."""
    for line in raw[begin:].tobytes().split(b"\n"):
        yield begin, line
        begin += len(line) + 1


def _wrong_with(line: bytes) -> str | None:
    if not line.strip():
        return None
    try:
        value = json.loads(line, object_pairs_hook=_each_once)
    except _Twice as key:
        return TWICE.format(str(key)) if not is_half(str(key)) else HALVED_KEY
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(value, dict):
        return None
    if any(is_half(name) for name in value):
        return HALVED_KEY
    half = next((name for name, said in value.items() if _any_text(said, is_half)), None)
    return None if half is None else HALVED.format(half)


def _any_text(value: object, such: Callable[[str], bool]) -> bool:
    if isinstance(value, dict):
        return any(such(name) or _any_text(said, such) for name, said in value.items())
    if isinstance(value, list):
        return any(_any_text(said, such) for said in value)
    return isinstance(value, str) and such(value)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Twice(name)
            seen.add(name)
    return found
