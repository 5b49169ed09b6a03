"""XML as a stream: one element at a time from below a path such as `/people/person`.

The parser is expat, fed piece by piece; an element is forgotten as soon as it was handed on. A document
type with definitions inside is refused before it is read: that is where expansion bombs live. Nothing
outside the file is ever fetched.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from xml.parsers import expat

from privet.document.schema import AROUND, DEEPEST
from privet.engines.text import opened
from privet.errors import InputError

CHUNK = 1 << 16
# An ampersand that begins neither a number nor one of the five entities that need no definition.
UNKNOWN = re.compile(rb"&(?!#|(?:amp|lt|gt|quot|apos);)(?=[A-Za-z_:]|$)")
TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*""")
NESTED = 2 * DEEPEST + AROUND  # elements inside each other: a level of a record may have a wrapper around it


@dataclass(slots=True)
class Element:
    """An element: names as written, text without the white space around it, and where it begins."""

    name: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict, repr=False)
    children: list[Element] = field(default_factory=list, repr=False)
    text: str = field(default="", repr=False)


Way: TypeAlias = tuple[str, ...]


def steps(path: str) -> Way:
    """The way to the records, from its notation.

    >>> steps("/students/student")
    ('students', 'student')
    """
    names = tuple(path.split("/")[1:])
    if not path.startswith("/") or not all(names):
        raise InputError(f"record path {path}: a path reads like /people/person")
    return names


@dataclass(slots=True)
class Frame:
    """What stands around the records: the declarations of name spaces on the way to them."""

    way: Way = ()
    declared: list[dict[str, str]] = field(default_factory=list)  # for each element on the way
    doctype: bool = False  # was a document type named?

    def note(self, attributes: dict[str, str]) -> None:
        self.declared.append({name: text for name, text in attributes.items() if is_declaration(name)})


def is_declaration(name: str) -> bool:
    """Does this attribute declare a name space, or say where a schema is?"""
    return name == "xmlns" or name.startswith(("xmlns:", "xsi:"))


def elements(
    path: Path,
    place: str | None,
    frame: Frame | None = None,
    *,
    doctype: bool = False,
    around: dict[str, str] | None = None,
) -> Iterator[Element]:
    """Every element at the place, in the order of the file.

    Without a place, the children of the outermost element. `doctype` accepts the mere name of a document
    type, as exports often have; definitions inside the file are refused all the same. `around` is filled
    with the attributes of the elements on the way.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    frame = Frame() if frame is None else frame
    parser = expat.ParserCreate()
    parser.buffer_text = True
    handler = _Handler(path, parser, None if place is None else steps(place), frame, doctype=doctype)
    handler.attributes_around = around
    try:
        yield from _fed(path, place, parser, handler)
    finally:
        handler.forget()


def _fed(path: Path, place: str | None, parser: Any, handler: _Handler) -> Iterator[Element]:
    """Feed the parser piece by piece, and hand on what is complete."""
    found, fed, tail = 0, 0, b""
    with opened(path) as stream:
        while True:
            try:
                piece = stream.read(CHUNK)
            except (OSError, EOFError, zlib.error):
                raise InputError(f"{path}: this cannot be unpacked; is it really gzip?") from None
            fed += len(piece)
            if not fed:
                raise InputError(f"{path}: the file is empty")
            handler.suspicious |= handler.doctype and UNKNOWN.search(tail + piece) is not None
            tail = piece[-1:]
            try:
                parser.Parse(piece, not piece)
            except expat.ExpatError as error:
                # What the parser says names the kind of fault only, never the text.
                said = expat.ErrorString(error.code)
                raise InputError(
                    f"{path}: line {error.lineno}, column {error.offset + 1}: this is not XML: {said}"
                ) from None
            except (LookupError, ValueError):  # from Python's codecs, which expat asks
                raise InputError(
                    f"{path}: line 1: the file names an encoding that cannot be read; save it as UTF-8"
                ) from None
            while handler.ready:
                found += 1
                yield handler.ready.popleft()
            if not piece:
                break
    if not found:
        raise InputError(f"{path}: there is not one record at {place or 'the second level'}")


class _Handler:
    """Keeps the element that is being read, and nothing of those before it."""

    def __init__(self, path: Path, parser: Any, way: Way | None, frame: Frame, *, doctype: bool) -> None:
        self.path, self.parser, self.way, self.frame, self.doctype = path, parser, way, frame, doctype
        self.ready: deque[Element] = deque()
        self.around: list[str] = []  # names of open elements outside records
        self.open: list[Element] = []  # the record that is being read, and what is open inside
        self.texts: list[list[str]] = []
        self.attributes_around: dict[str, str] | None = None
        self.other = 0  # open elements that are not on the way to a record
        self.suspicious = False  # does an entity seem to be used that the file cannot have defined?
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = self.doctype_begins
        parser.EntityDeclHandler = self.entity
        parser.SkippedEntityHandler = self.skipped

    def forget(self) -> None:
        """Parser and handler hold each other, and what was read and not asked for; let go of it now."""
        self.ready.clear()
        names = ("StartElement", "EndElement", "CharacterData", "StartDoctypeDecl", "EntityDecl")
        for name in (*names, "SkippedEntity"):
            setattr(self.parser, f"{name}Handler", None)

    def place(self) -> str:
        return (
            f"{self.path}: line {self.parser.CurrentLineNumber}, column {self.parser.CurrentColumnNumber + 1}"
        )

    def doctype_begins(self, _name: str, _system: str, _public: str, internal: int) -> None:
        if internal or not self.doctype:
            named = "" if internal else ", or say doctype = true under [documents]: here only its name stands"
            raise InputError(
                f"{self.place()}: a document type is declared here, which may define entities without end; "
                f"remove the declaration{named}"
            )
        self.frame.doctype = True

    def entity(self, *_: Any) -> None:
        raise InputError(f"{self.place()}: an entity is defined here; remove the definition")

    def skipped(self, *_: Any) -> None:
        """Where a document type is named, the parser would leave unknown entities away without a word."""
        raise InputError(f"{self.place()}: an entity is used that the file does not define; write it out")

    def in_attributes(self) -> None:
        """In attributes the parser leaves such entities away, and calls nobody: look at the text itself."""
        begins = TAG.match(self.parser.GetInputContext() or b"")
        if begins is not None and UNKNOWN.search(begins[0]) is not None:
            self.skipped()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.suspicious and attributes:
            self.in_attributes()
        if len(self.open) + len(self.around) + self.other >= NESTED:
            raise InputError(
                f"{self.place()}: nested deeper than {NESTED} elements, which no record of a person needs"
            )
        if self.open:
            made = Element(name, self.parser.CurrentLineNumber, attributes)
            self.open[-1].children.append(made)
            self.open.append(made)
            self.texts.append([])
        elif self.other:
            self.other += 1
        elif self.is_record(name):
            self.open.append(Element(name, self.parser.CurrentLineNumber, attributes))
            self.texts.append([])
        elif self.is_around(name):
            self.around.append(name)
            if self.attributes_around is not None:
                self.attributes_around.update(attributes)
            if len(self.frame.declared) < len(self.around):
                self.frame.way = tuple(self.around)
                self.frame.note(attributes)
        else:
            self.other += 1

    def is_record(self, name: str) -> bool:
        if self.way is None:
            return len(self.around) == 1
        return len(self.around) == len(self.way) - 1 and self.beside(name)

    def beside(self, name: str) -> bool:
        """Is this the name of records? Another name beside them is refused: it would be lost unseen."""
        assert self.way is not None
        if name == self.way[-1]:
            return True
        if len(self.way) > 1 and tuple(self.around) == self.way[:-1]:
            raise InputError(
                f"{self.place()}: element {name} stands beside the records, which are {self.way[-1]}; "
                "all records have one root type"
            )
        return False

    def is_around(self, name: str) -> bool:
        if self.way is None:
            return not self.around
        return len(self.around) < len(self.way) - 1 and name == self.way[len(self.around)]

    def end(self, _name: str) -> None:
        if self.open:
            element = self.open.pop()
            element.text = "".join(self.texts.pop()).strip()
            if not self.open:
                self.ready.append(element)
        elif self.other:
            self.other -= 1
        else:
            self.around.pop()

    def characters(self, text: str) -> None:
        if self.texts:
            self.texts[-1].append(text)
