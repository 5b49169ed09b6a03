"""A part of the evidence: a frozen value with fields, read from JSON by its types and written as it was read.

Each field says what a recipient may think of it: that `verify` counts it again, or that the steward says so.
A part is a mapping too, by the names that the file uses, so that `evidence["records"]` and `evidence.records`
are the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from privet import notebook
from privet.errors import TamperedError

T = TypeVar("T")
P = TypeVar("P", bound="Part")

Label: TypeAlias = str | None  # a published value
Exact: TypeAlias = Annotated[int | str, "exact"]  # a whole number, or a fraction as text
Bound: TypeAlias = Annotated[str, "decimal"]  # a decimal number as text
Read: TypeAlias = Callable[[Any, str, list[str]], Any]  # value, place, places that nobody knows

_TAKEN = {"from", "values"}  # keys that are words of Python, or of its mappings
_DECIMAL = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000})?([eE][-+]?[0-9]{1,3})?")
_SURROGATE = re.compile("[\ud800-\udfff]")
DEEPEST = 250  # lists and tables in each other: the same for every Python, some of which give up soon after
_FRACTION = re.compile(r"-?[0-9]{1,1000}(/0*[1-9][0-9]{0,999})?")  # through nothing it is not one


class Standing(Enum):
    """What a recipient may think of a number."""

    CHECKED = "checked"  # verify counts it again, and complains where it is another one
    STATED = "stated"  # the steward says so; nobody can tell from the release, or nobody has tried
    READING = "reading"  # it says how the data is to be read


def verified(*roads: str, **how: Any) -> Any:
    """A field that `verify` counts again; where roads are named, on these and on no other."""
    return field(metadata={"standing": Standing.CHECKED, "roads": roads}, **how)


def stated(**how: Any) -> Any:
    """A field that the steward says."""
    return field(metadata={"standing": Standing.STATED}, **how)


def left_out() -> Any:
    """A field that the steward says, or that is not there: null is not another way to say so."""
    return field(metadata={"standing": Standing.STATED, "null": False}, default=None)


def reading(**how: Any) -> Any:
    """A field without which the data cannot be read."""
    return field(metadata={"standing": Standing.READING}, **how)


def inside(**how: Any) -> Any:
    """A field whose own parts say what they are."""
    return field(metadata={"standing": None}, **how)


@dataclass_transform(
    eq_default=False,
    frozen_default=True,
    kw_only_default=True,
    field_specifiers=(verified, stated, left_out, reading, inside),
)
def part(made: type[P]) -> type[P]:
    """Make a class of fields a part of the evidence; a field without a standing is a mistake."""
    whole = dataclass(init=False, eq=False, kw_only=True, repr=False)(made)  # Part has the rest, written once
    for one in fields(whole):  # type: ignore[arg-type]
        if "standing" not in one.metadata:
            raise TypeError(f"{made.__name__}.{one.name}: is it checked or stated?")
    return whole


class Part(Mapping[str, Any]):
    """A frozen value with fields that is a mapping by the names in the file."""

    _keys: tuple[str, ...]  # which fields are there, in the order of the file

    def __init__(self, **given: Any) -> None:
        # One for all parts: a dataclass has Python compile three functions for each class, at every start.
        there, kept, known = [], self.__dict__, 0
        for name, key, default in _form(type(self)):
            if name in given:
                value = given[name]
                known += 1
            elif default is MISSING:
                raise TypeError(f"{type(self).__name__}: {name} is missing")
            else:
                value = default
            kept[name] = value
            if default is MISSING or value is not None:
                there.append(key)
        if known < len(given):
            names = {name for name, _, _ in _form(type(self))}
            odd = ", ".join(name for name in given if name not in names)
            raise TypeError(f"{type(self).__name__}: {odd}: there is not such a field")
        kept["_keys"] = tuple(there)

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be deleted")

    @classmethod
    def read(cls, found: Any, place: str = "", unknown: list[str] | None = None) -> Self:
        """The part that JSON holds. What is missing or of another type is refused, with its place.

        What this version does not know is not kept; its places are added to `unknown`.
        """
        readers = _readers(cls)
        if not isinstance(found, Mapping):
            raise TamperedError(f"{place or 'evidence'}: is a table")
        beyond = [] if unknown is None else unknown
        given, keys = {}, []
        for key, value in found.items():
            name = _name(key) if isinstance(key, str) else ""
            if name not in readers:
                beyond.append(at(place, key))
                continue
            if value is None and name in _left_out(cls):
                raise TamperedError(f"{at(place, key)}: is left out where there is nothing, not null")
            given[name] = readers[name](value, at(place, key), beyond)
            keys.append(key)
        for name, key, default in _form(cls):
            if default is MISSING and name not in given:
                raise TamperedError(f"{at(place, key)}: is missing")
        made = cls(**given)
        object.__setattr__(made, "_keys", tuple(keys))
        return made

    def to_dict(self) -> dict[str, Any]:
        """What JSON holds, in the order of the file."""
        return {key: plain(getattr(self, _name(key))) for key in self._keys}

    def standing_of(self, name: str, road: str) -> Standing | None:
        """What a recipient may think of a field, in a release that took this road; None: ask inside it."""
        (one,) = (one for one in fields(self) if one.name == name)  # type: ignore[arg-type]
        standing: Standing | None = one.metadata["standing"]
        roads = one.metadata.get("roads", ())
        return Standing.STATED if standing is Standing.CHECKED and roads and road not in roads else standing

    def standings(self, road: str, place: str = "") -> Iterator[tuple[str, Standing]]:
        """Every field that is there, by its place, and its standing: the one list of them."""
        for key in self._keys:
            standing = self.standing_of(_name(key), road)
            if standing is not None:
                yield at(place, key), standing
            else:
                yield from _inside(getattr(self, _name(key)), road, at(place, key))

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, _name(key))

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == plain(other) if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # parts hold tables

    def _repr_html_(self) -> str:
        return notebook.card(type(self).__name__, self.items())

    def __repr__(self) -> str:
        told = ", ".join(f"{_name(key)}={self[key]!r}" for key in self._keys)
        return f"{type(self).__name__}({told})"


def plain(value: Any) -> Any:
    """A value as JSON holds it: tables and lists."""
    if isinstance(value, Part):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def at(place: str, key: object) -> str:
    """The place of a key; a long or odd one is not repeated: it may be anything."""
    said = str(key)
    said = said if len(said) <= 60 and said.isprintable() else "…"
    return f"{place}.{said}" if place else said


def _key(name: str) -> str:
    return name.removesuffix("_")


def _name(key: str) -> str:
    return f"{key}_" if key in _TAKEN else key


def _inside(value: Any, road: str, place: str) -> Iterator[tuple[str, Standing]]:
    if isinstance(value, Part):
        yield from value.standings(road, place)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _inside(one, road, at(place, key))
    elif isinstance(value, tuple):
        for number, one in enumerate(value):
            yield from _inside(one, road, at(place, number))


@cache
def _form(cls: type[Part]) -> tuple[tuple[str, str, Any], ...]:
    """Each field's name, its key in the file, and what it is where it is not given."""
    return tuple((one.name, _key(one.name), one.default) for one in fields(cls))  # type: ignore[arg-type]


@cache
def _readers(cls: type[Part]) -> dict[str, Read]:
    hints = get_type_hints(cls, include_extras=True)
    return {one.name: _reader(hints[one.name]) for one in fields(cls)}  # type: ignore[arg-type]


@cache
def _left_out(cls: type[Part]) -> frozenset[str]:
    """The fields that are never null in a file."""
    return frozenset(one.name for one in fields(cls) if not one.metadata.get("null", True))  # type: ignore[arg-type]


def _reader(hint: Any) -> Read:
    """How a value of a type is read from JSON."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _simple(*_SIMPLE[hint])
    if origin is Annotated:
        return _simple(*_TEXTS[inner[1]])
    if origin in {Union, UnionType}:
        (one,) = (kind for kind in inner if kind is not NoneType)
        read = _reader(one)
        return lambda value, place, unknown: None if value is None else read(value, place, unknown)
    if origin is tuple and inner[-1] is Ellipsis:
        return _listed(_reader(inner[0]))
    if origin is tuple:
        return _fixed([_reader(one) for one in inner])
    if origin is not None and issubclass(origin, Mapping):
        return _table(_reader(inner[1]))
    if isinstance(hint, type) and issubclass(hint, Part):
        return hint.read
    raise TypeError(f"evidence has no {hint}")


def _simple(fits: Callable[[Any], bool], rule: str) -> Read:
    def read(value: Any, place: str, unknown: list[str]) -> Any:  # noqa: ARG001 - a reader's form
        if not fits(value):
            raise TamperedError(f"{place}: {rule}")
        return value

    return read


def _listed(one: Read) -> Read:
    def read(value: Any, place: str, unknown: list[str]) -> Any:
        if not isinstance(value, (list, tuple)):
            raise TamperedError(f"{place}: is a list")
        return tuple(one(item, f"{place}.{number}", unknown) for number, item in enumerate(value))

    return read


def _fixed(each: list[Read]) -> Read:
    def read(value: Any, place: str, unknown: list[str]) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(each):
            raise TamperedError(f"{place}: is a list of {len(each)}")
        return tuple(
            one(item, f"{place}.{number}", unknown)
            for number, (one, item) in enumerate(zip(each, value, strict=True))
        )

    return read


def _table(one: Read) -> Read:
    def read(value: Any, place: str, unknown: list[str]) -> Any:
        if not isinstance(value, Mapping) or not all(map(_is_text, value)):
            raise TamperedError(f"{place}: is a table")
        return {key: one(item, at(place, key), unknown) for key, item in value.items()}

    return read


def _is_exact(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_FRACTION.fullmatch(value))
    return type(value) is int


def _is_decimal(value: Any) -> bool:
    return isinstance(value, str) and bool(_DECIMAL.fullmatch(value))


def _is_text(value: Any) -> bool:
    """Half of a pair of surrogates is not a text: no file and no screen can show it."""
    return isinstance(value, str) and (value.isascii() or not _SURROGATE.search(value))


def _is_number(value: Any) -> bool:
    if type(value) is int:
        return abs(value) <= sys.float_info.max  # a larger one is no float, and fails where it is shown
    return isinstance(value, float) and isfinite(value)  # numpy's own floats are floats, too


def _is_json(value: Any, deeper: int = DEEPEST) -> bool:
    """Whatever a policy may say; already parsed, so only what JSON cannot hold is refused."""
    if isinstance(value, (Mapping, list, tuple)) and not deeper:
        raise RecursionError
    if isinstance(value, Mapping):
        return all(_is_text(key) and _is_json(one, deeper - 1) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_json(one, deeper - 1) for one in value)
    return value is None or type(value) in {int, bool} or _is_text(value) or _is_number(value)


_TEXTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "exact": (_is_exact, "is a whole number or a fraction as text"),
    "decimal": (_is_decimal, "is a decimal number as text"),
}
_SIMPLE: dict[Any, tuple[Callable[[Any], bool], str]] = {
    int: (lambda value: type(value) is int, "is a whole number"),
    float: (_is_number, "is a number"),
    str: (_is_text, "is a text"),
    bool: (lambda value: isinstance(value, bool), "is true or false"),
    Any: (_is_json, "is not what JSON can hold"),
}
