"""What a promise and an algorithm say of themselves: every fact that others ask for, with its default.

A class inherits from one of these (`core.PrivacyModel` and `core.Algorithm` do) and declares what is
different about it. So nobody guesses by looking for an attribute, and a misspelt fact is found by mypy and
by the contract tests instead of being read as "no".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

if TYPE_CHECKING:
    from privet.core import Terms

TABLE = "table"  # the kind of data that everything is about unless it says otherwise


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

    def with_larger_classes(self, times: int) -> Self:  # noqa: ARG002 - for those that have a number for them
        """The same promise with classes so many times as large; itself where it has no number for them."""
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
    draws_boxes: ClassVar[bool] = False  # has each class a range of its own, with ends that no policy says?
    cuts_at_values: ClassVar[bool] = False  # does it part intervals at values of records?
    asks: ClassVar[bool] = False  # does it only ask counts, through `counts.door`? Then they may be elsewhere

    @property
    def droppable(self) -> Fraction:
        """The share of all records that it may suppress."""
        return Fraction(0)

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


def spoken(thing: Any) -> str:
    """A promise in one line, with its numbers and words as a policy writes them; what names values of the
    data is left out.
    """
    found = ((f.name, getattr(thing, f.name)) for f in fields(thing) if f.metadata.get("policy", True))
    words = ((name, value.value if isinstance(value, Enum) else value) for name, value in found)
    said = ", ".join(f"{name} = {value}" for name, value in words if isinstance(value, (int, str, Fraction)))
    return f"{thing.name} ({said})" if said else str(thing.name)
