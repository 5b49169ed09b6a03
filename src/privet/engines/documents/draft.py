"""A first description of records that nobody has described yet: paths, types, how many children.

A draft guesses and decides nothing: every field is undecided. It counts values and looks at their names and
variety; it keeps none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privet.core import Role
from privet.engines.documents import jsontext, xmltext
from privet.engines.documents.files import format_of, place_of
from privet.engines.documents.jsontext import Number, Repeated
from privet.engines.documents.shape import VALUE, from_json
from privet.engines.documents.xmltext import Element, is_declaration
from privet.errors import InputError

LOOKED_AT = 10_000  # different values of a field that are told apart; more would only take memory
FEW = 20  # in fewer vertices, a field of different values says nothing
MOST_KEYS = 50  # of one type; where more of them hold the same kind of thing, they are no names of fields
ALIKE = 20  # so many keys that look like names of people or numbers are data as well
# From the name of a field and its values: what it may be, and why.
Guess = Callable[[str, Collection[str], int], tuple[Role, str] | None]


@dataclass(frozen=True, slots=True)
class DraftField:
    """A field: in how many of the type's vertices it is, how many different values, what it may be."""

    name: str
    there: int
    distinct: int  # at most LOOKED_AT: so many, or more
    numbers: bool  # are all values numbers?
    guess: Role | None = None
    because: str = ""
    xml: str | None = None


@dataclass(frozen=True, slots=True)
class DraftChildren:
    """Children: under which key, of which type, how many a vertex has."""

    key: str
    type: str
    fewest: int
    most: int
    mean: float


@dataclass(frozen=True, slots=True)
class DraftType:
    """A type of vertices at one path."""

    name: str
    path: str
    vertices: int
    fields: tuple[DraftField, ...]
    children: tuple[DraftChildren, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a file holds."""

    format: str  # json, jsonl or xml
    place: str  # where its records are
    records: int
    types: tuple[DraftType, ...]
    doctype: bool = False  # does the file name a document type?

    def plain(self) -> dict[str, Any]:
        """The description that `described` reads; nothing is decided."""
        types: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        for type_ in self.types:
            fields = [f.name for f in type_.fields]
            types[type_.name] = {
                # A vertex has at least one field; where it only holds others, there is nothing to decide.
                **({"undecided": fields} if fields else {"quasi": [VALUE]}),
                "children": {child.key: child.type for child in type_.children},
            }
            for f in type_.fields:
                if f.xml is not None:
                    attributes[f"{type_.name}.{f.name}"] = {"xml_name": f.xml}
        where = {"xml": self.place} if self.format == "xml" else {"json": self.place}
        return {"record": {"type": self.types[0].name, **where}, "types": types, "attributes": attributes}


@dataclass(slots=True)
class Seen:
    """What was met at one path."""

    times: int = 0
    parents: int = 0  # vertices that have at least one
    most: int = 0  # in one parent
    texts: int = 0  # bare values
    numbers: int = 0
    listed: bool = False  # ever written in a list
    values: set[str] = field(default_factory=set, repr=False)
    below: dict[str, Seen] = field(default_factory=dict)

    def child(self, name: str) -> Seen:
        return self.below.setdefault(name, Seen())

    def met(self, times: int) -> None:
        if times:
            self.times += times
            self.parents += 1
            self.most = max(self.most, times)

    def text(self, text: str | None, *, number: bool) -> None:
        self.texts += 1
        self.numbers += number
        if text is not None and len(self.values) < LOOKED_AT:
            self.values.add(text)

    @property
    def is_field(self) -> bool:
        """One bare value a vertex, or an element with nothing but the attribute value."""
        if self.most > 1 or self.listed:
            return False
        return not self.below or (set(self.below) == {"@value"} and not self.texts)


def draft(path: Path, kind: str | None = None, guess: Guess | None = None, *, doctype: bool = False) -> Draft:
    """Look at every record of a file, one at a time."""
    form = format_of(path, kind)
    place = place_of(path, None, form, doctype=doctype)
    root, frame = Seen(), xmltext.Frame()
    if form == "xml":
        name = place.rsplit("/", 1)[-1]
        for element in xmltext.elements(path, place, frame, doctype=doctype):
            root.met(1)
            _see_element(root, element)
    else:
        name = singular(next((step for step in reversed(jsontext.steps(place)) if step), "record"))
        for number, raw in enumerate(jsontext.records(path, place), 1):
            if not isinstance(raw, dict):
                raise InputError(f"{path}: record {number} is not an object; every record has one root type")
            root.met(1)
            _see_object(root, raw)
    if form != "xml":
        _refuse_keys(path, place, root)
    types = tuple(_Types(guess, xml=form == "xml").of(name, root, f"{place}", ""))
    return Draft(form, place, root.times, types, frame.doctype)


# "Ann Lee", "4711", "a@b.org"
_DATA = re.compile(r"[^\W\d_]+[ ,][^\W\d_].*|[0-9].*|[^@\s]+@\S+|\S*[0-9]{4,}\S*")


def _refuse_keys(path: Path, place: str, seen: Seen) -> None:
    """Objects whose keys are names of people or numbers: a policy would hold them, and publish them."""
    keys = [key for key, child in seen.below.items() if child.below]
    texts = [key for key in seen.below if _DATA.fullmatch(key)]
    held = len({frozenset(seen.below[key].below) for key in keys}) * 2 <= len(keys)
    if (len(keys) > MOST_KEYS and held) or (len(texts) >= ALIKE and len(texts) * 2 > len(seen.below)):
        raise InputError(
            f"{path}: the objects at {place} have {len(seen.below):,} different keys, which look like data "
            "(names of people, numbers) and not like names of fields; a policy cannot leave them out: write "
            "a list of records with the key as a field, as jq 'to_entries | map({name: .key} + .value)' does"
        )
    for key, child in seen.below.items():
        _refuse_keys(path, f"{place}.{key}", child)


def _see_object(seen: Seen, raw: dict[str, Any]) -> None:
    for key, value in raw.items():
        if value is Repeated:
            continue
        child = seen.child(key)
        items = value if isinstance(value, list) else [value]
        child.listed |= isinstance(value, list)
        child.met(len(items))
        for item in items:
            read = from_json(item)
            if read is not None:
                child.text(read[0], number=isinstance(item, Number) or read[1].startswith("$number"))
            elif isinstance(item, dict):
                _see_object(child, item)


def _see_element(seen: Seen, element: Element) -> None:
    for key, text in element.attributes.items():
        if not is_declaration(key):
            attribute = seen.child(f"@{key}")
            attribute.met(1)
            attribute.text(text, number=_is_number(text))
    if element.text or not (element.children or element.attributes):
        seen.text(element.text or None, number=_is_number(element.text))
    counts: dict[str, int] = {}
    for inner in element.children:
        counts[inner.name] = counts.get(inner.name, 0) + 1
        _see_element(seen.child(inner.name), inner)
    for name, times in counts.items():
        seen.child(name).met(times)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Types:
    """From what was met to types with fields and children; names are made unique."""

    def __init__(self, guess: Guess | None, *, xml: bool) -> None:
        self.guess, self.xml = guess, xml
        self.used: set[str] = set()

    def named(self, name: str, parent: str) -> str:
        chosen = name if name not in self.used else f"{parent}-{name}"
        number = 2
        while chosen in self.used:
            chosen, number = f"{parent}-{name}-{number}", number + 1
        self.used.add(chosen)
        return chosen

    def of(self, name: str, seen: Seen, path: str, parent: str) -> Iterator[DraftType]:
        """The type at a path, and all below it."""
        within, name = name, self.named(name, parent)
        fields: dict[str, DraftField] = {}
        children: list[DraftChildren] = []
        deeper: list[Iterator[DraftType]] = []
        if seen.texts and (seen.below or seen.most > 1 or seen.listed):
            fields[VALUE] = self.field(VALUE, seen, seen.times, None, within)
        for key, child in seen.below.items():
            bare = key.removeprefix("@")
            if child.is_field:
                field_ = child.below["@value"] if child.below else child
                own = bare if bare not in fields else f"{bare}-2"
                fields[own] = self.field(own, field_, child.times, bare if own != bare else None, within)
                continue
            inner, below = self.unwrapped(bare, child)
            type_ = inner if self.xml else singular(bare)
            found = list(self.of(type_, below, f"{path}.{bare}" if not self.xml else f"{path}/{bare}", name))
            with_any = below.parents
            fewest = 0 if with_any < seen.times else 1
            named = bare if inner in {bare, found[0].name} else f"{bare}/{inner}"
            children.append(
                DraftChildren(named, found[0].name, fewest, below.most, below.times / max(seen.times, 1))
            )
            deeper.append(iter(found))
        yield DraftType(name, path, seen.times, tuple(fields.values()), tuple(children))
        for one in deeper:
            yield from one

    def unwrapped(self, key: str, seen: Seen) -> tuple[str, Seen]:
        """What stands inside an element that only wraps others; the element itself otherwise."""
        if self.xml and seen.most == 1 and not seen.texts and len(seen.below) == 1:
            ((inner, below),) = seen.below.items()
            if not inner.startswith("@") and not below.is_field:
                return inner, below
        return key, seen

    def field(self, name: str, seen: Seen, there: int, xml: str | None, within: str) -> DraftField:
        distinct = len(seen.values)
        numbers = seen.texts > 0 and seen.numbers == seen.texts
        said = None
        if self.guess is not None:  # what a name does not say, the name around it may: name.first
            values = () if numbers and distinct < 2 else seen.values
            said = self.guess(name, values, there) or self.guess(f"{within} {name}", (), there)
        if said is None and not numbers and FEW <= there == distinct:
            said = (Role.IDENTIFIER, "all values are different")
        role, because = (None, "") if said is None else said
        return DraftField(name, there, distinct, numbers, role, because, xml)


def singular(name: str) -> str:
    """What one of them is called.

    >>> [singular(name) for name in ("courses", "diagnoses", "studies", "visits", "address", "class")]
    ['course', 'diagnosis', 'study', 'visit', 'address', 'class']
    """
    if name.endswith("ies") and len(name) > 4:
        return name[:-3] + "y"
    if name.endswith("noses"):
        return name[:-2] + "is"
    if name.endswith("s") and not name.endswith(("ss", "us", "is")) and len(name) > 2:
        return name[:-1]
    return name
