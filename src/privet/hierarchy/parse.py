"""Hierarchies as a policy file writes them: `{ type = "intervals", width = [5, 10, 20] }`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from privet.core import Hierarchy
from privet.errors import HierarchyError, PolicyError, one_of, unknown_key
from privet.hierarchy.auto import Auto
from privet.hierarchy.dates import Dates
from privet.hierarchy.flat import Flat
from privet.hierarchy.intervals import Intervals
from privet.hierarchy.numbers import read as exact_number
from privet.hierarchy.prefix import Prefix
from privet.hierarchy.sets import Sets
from privet.hierarchy.tree import Tree


def parse(spec: Mapping[str, object], *, base: Path) -> Hierarchy:
    """The hierarchy that a policy asks for; `base` is the folder that its paths start from.

    >>> parse({"type": "prefix", "keep": [3, 1]}, base=Path())
    Prefix(keep=(3, 1), hide=())
    """
    if not isinstance(spec, Mapping):
        raise PolicyError('a hierarchy is a table, as in { type = "flat" }')
    kind = spec.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise PolicyError(one_of("type", tuple(_KINDS), kind))
    keys, build = _KINDS[kind]
    complaints = [unknown_key(tuple(keys), str(key)) for key in spec if key not in keys and key != "type"]
    read: dict[str, Any] = {}
    wrong = set()
    for key, reader in keys.items():
        if key in spec:
            try:
                read[key] = reader(spec[key])
            except PolicyError as error:
                complaints += error.at(key).complaints
                wrong.add(key)
    try:
        hierarchy = build(read, base)
    except HierarchyError as error:
        # What is said about a key that could not even be read has been said.
        complaints += [c for c in error.complaints if not wrong.intersection(re.findall(r"\w+", c))]
    if complaints:
        raise PolicyError(*complaints)
    return hierarchy


def _number(given: object) -> Decimal:
    """An integer, a decimal, or a quoted decimal; as written, so that 0.1 is a tenth."""
    if isinstance(given, int | float | str | Decimal) and not isinstance(given, bool):
        number = exact_number(str(given))
        if number is not None:
            return number
    raise PolicyError(f"a number, not {given!r}")


def _numbers(given: object) -> tuple[Decimal, ...]:
    return tuple(_number(item) for item in given) if isinstance(given, list | tuple) else (_number(given),)


def _edges(given: object) -> tuple[Decimal, ...] | tuple[tuple[Decimal, ...], ...]:
    if isinstance(given, list | tuple) and any(isinstance(level, list | tuple) for level in given):
        return tuple(_numbers(level) for level in given)
    return _numbers(given)


def _lengths(given: object) -> tuple[int, ...]:
    lengths = given if isinstance(given, list | tuple) else [given]
    if not all(isinstance(length, int) and not isinstance(length, bool) for length in lengths):
        raise PolicyError(f"integers, as in [3, 1], not {given!r}")
    return tuple(lengths)


def _whole(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise PolicyError(f"a whole number, not {given!r}")
    return given


def _words(given: object) -> tuple[str, ...]:
    words = given if isinstance(given, list | tuple) else [given]
    return tuple(_word(word) for word in words)


def _word(given: object) -> str:
    if not isinstance(given, str):
        raise PolicyError(f"text, not {given!r}")
    return given


def _flag(given: object) -> bool:
    if not isinstance(given, bool):
        raise PolicyError(f"true or false, not {given!r}")
    return given


def _mapping(given: object) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise PolicyError(
            "a table with one key, the root, as in { ANY = { North = ['a', 'b'], South = ['c'] } }"
        )
    return given


def _times(given: object) -> Mapping[str, int]:
    if not isinstance(given, Mapping) or not all(
        isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in given.values()
    ):
        raise PolicyError("a table of labels and the levels that each stands on, as in { Other = 2 }")
    return given


def _csv(read: Mapping[str, Any], base: Path) -> Hierarchy:
    if "path" not in read:
        raise HierarchyError("path: give a file with one row for each leaf, as in leaf;parent;*")
    found = _file(Tree.from_csv, read["path"], base)
    null = read.get("null", False)
    return found if found.null == null else replace(found, null=null)  # what is made is looked through


def _sets(read: Mapping[str, Any], base: Path) -> Hierarchy:
    rest = {key: value for key, value in read.items() if key not in {"tree", "path"}}
    return Sets(_tree(read, base), **rest)


def _tree(read: Mapping[str, Any], base: Path) -> Tree:
    found = _written_tree(read, base)
    repeat = tuple(read["repeat"].items()) if "repeat" in read else found.repeat
    return replace(found, null=read.get("null", False), repeat=repeat)


def _written_tree(read: Mapping[str, Any], base: Path) -> Tree:
    if ("tree" in read) == ("path" in read):
        raise HierarchyError("tree, path: give one of them")
    if "tree" in read:
        return Tree.of(read["tree"])
    reader = _FILES.get(Path(read["path"]).suffix.lower())
    if reader is None:
        raise HierarchyError(f"path: a file that ends in {', '.join(_FILES)}, not {read['path']!r}")
    return _file(reader, read["path"], base)


def _file(reader: Callable[[Path], Tree], path: str, base: Path) -> Tree:
    try:
        return reader(base / path)
    except HierarchyError as error:
        raise HierarchyError(*(f"path: {path}: {complaint}" for complaint in error.complaints)) from None


class _Kind(NamedTuple):
    keys: Mapping[str, Callable[[object], object]]  # what may be given, and how it is read
    build: Callable[[Mapping[str, Any], Path], Hierarchy]


_FILES: Mapping[str, Callable[[Path], Tree]] = {
    ".json": Tree.from_json,
    ".toml": Tree.from_toml,
    ".csv": Tree.from_csv,
}

_INTERVALS: Mapping[str, Callable[[object], object]] = {
    "width": _numbers,
    "edges": _edges,
    "origin": _number,
    "low": _number,
    "high": _number,
    "step": _number,
    "unit": _number,
    "bottom": _number,
    "top": _number,
    "raw": _flag,
    "null": _flag,
}

_SETS: Mapping[str, Callable[[object], object]] = {
    "tree": _mapping,
    "path": _word,
    "separator": _word,
    "empty": _flag,
    "fan_out": _whole,
}

_KINDS: Mapping[str, _Kind] = {
    "csv": _Kind({"path": _word, "null": _flag}, _csv),
    Tree.name: _Kind({"tree": _mapping, "path": _word, "null": _flag, "repeat": _times}, _tree),
    Intervals.name: _Kind(_INTERVALS, lambda read, _: Intervals(**read)),
    Prefix.name: _Kind(
        {"keep": _lengths, "hide": _words}, lambda read, _: Prefix(read.get("keep", ()), read.get("hide", ()))
    ),
    Dates.name: _Kind(
        {"levels": _words, "format": _word, "bottom": _whole, "step": _word}, lambda read, _: Dates(**read)
    ),
    Sets.name: _Kind(_SETS, _sets),
    Flat.name: _Kind({}, lambda _read, _base: Flat()),
    Auto.name: _Kind({}, lambda _read, _base: Auto()),
}
