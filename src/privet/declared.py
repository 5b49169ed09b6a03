"""What a promise and an algorithm say of themselves: every fact that others ask for, with its default.

A class inherits from one of these (`core.PrivacyModel` and `core.Algorithm` do) and declares what is
different about it. So nobody guesses by looking for an attribute, and a misspelt fact is found by mypy and
by the contract tests instead of being read as "no". What it is given is of the types that its fields declare:
`settle` sees to that when it is made, and a file's reader asks the same `fitted`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import Field, fields
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    Protocol,
    Self,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from privet.errors import HierarchyError, PolicyError, one_of, shown

if TYPE_CHECKING:
    from privet.core import Terms

TABLE = "table"  # the kind of data that everything is about unless it says otherwise
LARGEST = 13_000  # bits of a number, all its digits: what is longer cannot be read again
SURROGATE = re.compile("[\ud800-\udfff]")  # half a letter, which no file can hold
EXACT = 2**53  # the largest whole number up to which doubles have all of them


class Order(Enum):
    """In which order records leave."""

    CANONICAL = "canonical"  # by what is published of them, so that it tells nothing besides
    KEPT = "kept"  # as they came: whoever has the register in that order reads off whose record is whose


class ModelFacts(Protocol):
    """What a promise declares. `name` and `monotone` have no default: nobody can guess them."""

    __slots__ = ()

    name: ClassVar[str]
    monotone: ClassVar[bool]  # does generalising further always keep it? Searches prune by it
    # Is it still so when records of classes that break it may be dropped? It is where a class that keeps
    # the promise keeps it whatever records join it.
    monotone_with_suppression: ClassVar[bool] = False
    kinds: ClassVar[tuple[str, ...]] = (TABLE,)  # of data that it can be promised of
    spent: ClassVar[bool] = False  # kept by how a release is made, so that nothing can be checked on it
    persons: ClassVar[bool] = False  # can it count persons who have several rows, instead of records?
    why_records: ClassVar[str] = ""  # if not: why, and what to use instead
    population: ClassVar[bool] = False  # about everybody in a table of which only some rows leave

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the release should know of the promise."""
        return ()

    @property
    def class_size(self) -> int | None:
        """How many records every class has at least, where it promises that by a number of its own."""
        return None

    def with_classes_of(self, size: int) -> Self:  # noqa: ARG002 - for those that have a number for them
        """The same promise with classes at least as large; itself where it has no number for them."""
        return self

    def protects(self) -> tuple[tuple[str, str], ...]:
        """The sensitive attributes that it speaks of, each behind the key that names it."""
        return ()

    def guarded(self) -> tuple[tuple[str, str, str | None], ...]:
        """The values that it protects, each behind its key and its attribute."""
        return ()

    def known(self) -> tuple[str, ...] | None:
        """The quasi-identifiers that it names; None: it is about all of them."""
        return None

    @property
    def taxonomy(self) -> Any:
        """The tree in which it has the sensitive values that mean much the same stand together, if any."""
        return None

    def leaving(self) -> Mapping[str, tuple[str, ...]]:
        """Of a promise about a population: the column that says which rows leave, and what it then says."""
        return {}


class AlgorithmFacts(Protocol):
    """What an algorithm declares."""

    __slots__ = ()

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = (TABLE,)  # of data that it searches
    road: ClassVar[str | None] = None  # the road that it brings; None: that of the data's kind
    spends: ClassVar[str | None] = None  # the promise that it keeps by how it makes a release
    public_domains: ClassVar[bool] = False  # what could occur is said by the policy, never by the data
    coincident: ClassVar[bool] = False  # knowing the algorithm does not help
    persons: ClassVar[bool] = False  # does it search where persons are counted, instead of records?
    why_records: ClassVar[str] = ""  # if not: why, and what to use instead
    across: ClassVar[bool] = True  # if so: also against whoever knows several rows of a person?
    cuts_at_values: ClassVar[bool] = False  # does it part intervals at values of records?
    asks: ClassVar[bool] = False  # does it only ask counts, through `counts.door`? Then they may be elsewhere

    @property
    def draws_boxes(self) -> bool:
        """May each class have a range of its own, with ends that no policy says?"""
        return False

    @property
    def droppable(self) -> Fraction:
        """The share of all records that it may suppress."""
        return Fraction(0)

    def named(self) -> Mapping[str, Collection[str]]:
        """The columns that its settings name, by the setting; a policy that has no such column is refused."""
        return {}

    def complaints(self, policy: Terms) -> list[str]:  # noqa: ARG002 - for those that ask something
        """What is wrong with a policy that names this algorithm, beside what is wrong with any."""
        return []


class HierarchyFacts(Protocol):
    """What a hierarchy declares."""

    __slots__ = ()

    name: ClassVar[str]

    @property
    def public_only(self) -> bool:
        """Is it of use only to an algorithm that is told what could occur?"""
        return False


FIRST_CONTRACT = {  # what nobody can have a default for
    ModelFacts: ("name", "monotone", "check"),
    AlgorithmFacts: ("name",),
}


def missing(thing: Any, facts: type[Any]) -> list[str]:
    """What a thing lacks that has no default."""
    return [fact for fact in FIRST_CONTRACT[facts] if not hasattr(thing, fact)]


def declare(thing: Any, facts: type[Any]) -> None:
    """Give a plug-in of the first contract, which inherits nothing, the defaults that it does not declare.

    They are set on its class, once: then every question has an answer and no reader needs to know.
    """
    kind = type(thing)
    if facts in kind.__mro__:
        return
    for fact, default in vars(facts).items():
        if not fact.startswith("_") and not hasattr(kind, fact):
            setattr(kind, fact, default)


class Frozen(dict[Any, Any]):
    """A table of a value that does not change: a copy, so that whoever made it does not change it either.

    >>> weights = Frozen({"age": 2})
    >>> weights["age"] = 3
    Traceback (most recent call last):
    TypeError: a value does not change; make another with dataclasses.replace
    """

    def _unchanged(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a value does not change; make another with dataclasses.replace")

    __setitem__ = __delitem__ = __ior__ = _unchanged
    clear = pop = popitem = setdefault = update = _unchanged

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, (dict(self),)


def settle(thing: Any, place: str | None = None) -> None:
    """Keep what a new dataclass was given as its types have it, in containers that nobody changes: a word as
    its value, a list as a tuple. Whatever is of another type is refused, as a file's reader refuses it.
    """
    place = place or type(thing).__name__
    complaints = []
    for field, hint in typed(type(thing)):
        given = getattr(thing, field.name)
        try:
            kept = fitted(hint, given)
        except PolicyError as error:
            complaints += [f"{place}: {field.name}: {wrong}" for wrong in error.complaints]
        else:
            if kept is not given:
                object.__setattr__(thing, field.name, kept)
    if complaints:
        raise (HierarchyError if HierarchyFacts in type(thing).__mro__ else PolicyError)(*complaints)


def typed(made: Any) -> tuple[tuple[Field[Any], Any], ...]:
    """The fields that a dataclass is made of, each with its type."""
    return _typed(made)


@cache
def _typed(made: Any) -> tuple[tuple[Field[Any], Any], ...]:
    known = hints(made)
    return tuple((field, known[field.name]) for field in fields(made) if field.init)


@cache
def hints(made: Any) -> dict[str, Any]:
    return get_type_hints(made)  # compiles every annotation, which takes longer than reading a policy


def fitted(hint: Any, given: Any) -> Any:
    """What was given for a field of that type, as it is kept; raises PolicyError where it is of another.

    >>> fitted(tuple[str, ...], ["a", "b"]), fitted(int | None, None)
    (('a', 'b'), None)
    >>> fitted(int, True)
    Traceback (most recent call last):
    privet.errors.PolicyError: is a whole number, not True
    """
    origin, parts = _taken_apart(hint)
    if hint is Any:
        return _frozen(given)
    if origin in {Union, UnionType}:
        return _either(parts, given)
    if given is None:
        raise PolicyError("is missing")
    if origin is Literal:
        if not isinstance(given, str) or given not in parts:
            raise PolicyError(one_of("it", parts, given))
        return given
    if origin is tuple and Ellipsis not in parts:
        if not isinstance(given, (list, tuple)) or len(given) != len(parts):
            raise PolicyError(f"is a list of {len(parts)}, not {shown(given)}")
        return tuple(fitted(part, item) for part, item in zip(parts, given, strict=True))
    if origin in {tuple, Sequence, Collection}:
        if not isinstance(given, (list, tuple, set, frozenset)):
            raise PolicyError(f"is a list, not {shown(given)}")
        items = given if isinstance(given, (list, tuple)) else sorted(given, key=repr)
        return tuple(fitted(parts[0], item) for item in items)
    if origin is Mapping:
        return Frozen(_entries(parts, given))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _word(hint, given)
    return _plain(hint, given)


@cache
def _taken_apart(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """What a type is one of, and of what: asked for every item of every value that is made."""
    return get_origin(hint), get_args(hint)


def _either(parts: Sequence[Any], given: Any) -> Any:
    """The first reading that fits: a level, or a list of two."""
    if given is None and NoneType in parts:
        return None
    tables = [part for part in parts if _taken_apart(part)[0] is Mapping]
    refused = []
    for part in tables if tables and isinstance(given, Mapping) else parts:
        if part is not NoneType:
            try:
                return fitted(part, given)
            except PolicyError as error:
                refused.append(error.complaints[0])
    said = [complaint.removesuffix(f", not {shown(given)}") for complaint in refused]
    raise PolicyError(refused[0] if len(refused) == 1 else f"{' or '.join(said)}, not {shown(given)}")


def _entries(parts: Sequence[Any], given: Any) -> Iterator[tuple[Any, Any]]:
    """A number or a word for each attribute: { age = 2, zip = 0.5 }."""
    if not isinstance(given, Mapping):
        raise PolicyError(f"is a table of attributes, such as {{ age = … }}, not {shown(given)}")
    complaints = []
    for name, value in given.items():
        try:
            yield fitted(parts[0], name), fitted(parts[1], value)
        except PolicyError as error:
            complaints += [f"{name}: {wrong}" for wrong in error.complaints]
    if complaints:
        raise PolicyError(*complaints)


def _word(kind: type[Enum], given: Any) -> Enum:
    for one in kind:
        if given is one or (isinstance(given, str) and given == one.value):
            return one
    raise PolicyError(one_of("it", [str(one.value) for one in kind], given))


def _plain(hint: Any, given: Any) -> Any:
    """A number, a text, or a value that was checked when it was made."""
    if hint in PLAIN:
        what, fits = PLAIN[hint]
        if fits(given):
            return given if isinstance(given, (bool, Fraction)) or type(given) is int else hint(given)
        raise PolicyError(f"is {what}, not {shown(given)}")
    if Protocol in hint.__bases__:  # a plug-in inherits nothing
        asked = [name for name, part in vars(hint).items() if callable(part) and not name.startswith("_")]
        is_one = not isinstance(given, type) and all(hasattr(given, name) for name in asked)
    else:
        is_one = isinstance(given, hint)
    if not is_one:
        raise PolicyError(f"is a {hint.__name__}, not {shown(given)}")
    return given


def _whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given.bit_length() <= LARGEST


def _number(given: Any) -> bool:
    return isfinite(given) if isinstance(given, float) else _whole(given) and abs(given) <= EXACT


def _exact(given: Any) -> bool:
    return isinstance(given, Fraction) and sum(n.bit_length() for n in given.as_integer_ratio()) <= LARGEST


def _text(given: Any) -> bool:
    return isinstance(given, str) and (given.isascii() or not SURROGATE.search(given))


PLAIN: Mapping[Any, tuple[str, Callable[[Any], bool]]] = {
    bool: ("true or false", lambda given: isinstance(given, bool)),
    int: ("a whole number", _whole),
    float: ("a number", _number),
    Fraction: ("an exact fraction such as Fraction(1, 5)", _exact),
    str: ("a text in quotes", _text),
    Decimal: ("a finite Decimal", lambda given: isinstance(given, Decimal) and given.is_finite()),
    Path: ("the path of a file", lambda given: isinstance(given, (str, Path))),
}


def _frozen(given: Any) -> Any:
    """A nested table with its lists, copied into what does not change."""
    if isinstance(given, Mapping):
        return Frozen({key: _frozen(value) for key, value in given.items()})
    return tuple(map(_frozen, given)) if isinstance(given, (list, tuple)) else given


def spoken(thing: Any) -> str:
    """A promise in one line, with its numbers and words as a policy writes them; what names values of the
    data is left out.
    """
    found = ((f.name, getattr(thing, f.name)) for f in fields(thing) if f.metadata.get("policy", True))
    words = ((name, value.value if isinstance(value, Enum) else value) for name, value in found)
    said = ", ".join(f"{name} = {value}" for name, value in words if isinstance(value, (int, str, Fraction)))
    return f"{thing.name} ({said})" if said else str(thing.name)
