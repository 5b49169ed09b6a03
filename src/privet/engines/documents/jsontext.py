"""JSON as a stream: a record at a time out of an array, of lines, or from below a path such as `$.people[*]`.

The text is never held as a whole. What the parser says when it fails quotes the data, so its messages are
not repeated: the place of a fault is found by a second look at the file, as line and column.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from privet.document.schema import AROUND, DEEPEST
from privet.engines.documents.surrogates import HALF, Halves
from privet.engines.text import opened
from privet.errors import InputError, MissingExtraError

Event: TypeAlias = tuple[str, Any]
Steps: TypeAlias = tuple[str | None, ...]  # keys of objects on the way to a record; None for "every element"

CHUNK = 1 << 16
NESTED = 2 * DEEPEST + AROUND  # brackets inside each other: a level of a record is an object in an array
BOM = b"\xef\xbb\xbf"
DIGITS = 2_000  # of a number; one that is longer is not a number of a person
LINES = "$"  # the path of records that simply follow each other
ARRAY = "$[*]"
_ENDLESS = re.compile(rb"[0-9]{%d}" % DIGITS)
_STEP = re.compile(r"\.([^.\[\]]+)|\[\*\]|\['([^']+)'\]")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written: 45.0 stays 45.0."""

    text: str


class Repeated:
    """Stands for the value of a key that an object has twice; whoever knows the schema says what is wrong."""


def steps(path: str) -> Steps:
    """The way to the records, from its notation.

    >>> steps("$.students[*]"), steps("$"), steps("$.a['b.c'][*]")
    (('students', None), (), ('a', 'b.c', None))
    """
    found: list[str | None] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            break
        found.append(match[1] or match[2])
        at = match.end()
    if not path.startswith("$") or at != len(path):
        raise InputError(f"record path {path}: a path reads like $.people[*], with $ for the whole file")
    return tuple(found)


def records(path: Path, place: str) -> Iterator[Any]:
    """Every value at the place, in the order of the file: dicts, lists, `Number`, text, booleans, None."""
    events = _events(path)
    way = steps(place)
    found = 0
    try:
        for documents, (event, value) in enumerate(events, 1):
            if documents > 1 and way:
                raise InputError(
                    f"{path}: another document begins after the end of the first; records at {place} stand "
                    "in one document: write one, or one record on each line (.jsonl)"
                )
            for record in _below(events, event, value, way, 1):
                found += 1
                yield record
    except _TooDeepError:
        raise InputError(too_deep(path, found + 1)) from None
    except _OffTheWayError:
        raise InputError(
            f"{path}: after {found} records: on the way to {place} stands something else than the path says; "
            "whoever is in it would be lost"
        ) from None
    if not found:
        raise InputError(f"{path}: there is not one record at {place}")


def place_of_records(path: Path) -> str:
    """Where the records are, when nobody says: the elements of an array, or else one object after another.

    A single object that has only one list of objects is taken as a wrapper around the records.
    """
    try:
        return _place(_events(path))
    except _TooDeepError:
        raise InputError(too_deep(path, 1)) from None


def too_deep(path: Path, record: int) -> str:
    return f"{path}: record {record}: nested deeper than {NESTED} brackets, which no record of a person needs"


def _place(events: Iterator[Event]) -> str:
    lists: list[str] = []
    scalars = 0
    for values, (event, _) in enumerate(events, 1):
        if event == "start_array" and values == 1:
            return ARRAY
        if values > 1 or event != "start_map":
            return LINES
        for inner, key in events:
            if inner == "end_map":
                break
            opening, _ = next(events)
            if opening == "start_array":
                first, _ = next(events)
                if first == "start_map":
                    lists.append(str(key))
                _skip(events, first, 3)
                if first != "end_array":
                    _skip_rest(events, 2)
            else:
                scalars += opening not in {"start_map", "start_array"}
                _skip(events, opening, 2)
    return f"$['{lists[0]}'][*]" if len(lists) == 1 and not scalars else LINES


def _below(events: Iterator[Event], event: str, value: Any, way: Steps, deep: int) -> Iterator[Any]:
    """The records inside the value that begins with this event; the value is read to its end."""
    if not way:
        yield _built(events, event, value, deep)
    elif event == "start_array" and way[0] is None:
        for inner, what in events:
            if inner == "end_array":
                return
            yield from _below(events, inner, what, way[1:], deep + 1)
    elif event == "start_map" and way[0] is not None:
        for inner, key in events:
            if inner == "end_map":
                return
            opening, what = next(events)
            if key == way[0]:
                yield from _below(events, opening, what, way[1:], deep + 1)
            else:
                _skip(events, opening, deep + 1)
    elif event == "null":
        return  # nobody is there
    else:
        raise _OffTheWayError


def _skip(events: Iterator[Event], event: str, deep: int) -> None:
    if event in {"start_map", "start_array"}:
        _skip_rest(events, deep)


def _skip_rest(events: Iterator[Event], deep: int) -> None:
    """Read on until the container that is open now is closed."""
    opened_here = 1
    for event, _ in events:
        if event in {"start_map", "start_array"}:
            opened_here += 1
            _not_too_deep(deep + opened_here)
        elif event in {"end_map", "end_array"}:
            opened_here -= 1
            if not opened_here:
                return


def _built(events: Iterator[Event], event: str, value: Any, deep: int) -> Any:
    """The value that begins with this event, without recursion: the depth is the sender's choice."""
    if event not in {"start_map", "start_array"}:
        return _scalar(event, value)
    top: Any = {} if event == "start_map" else []
    stack: list[tuple[Any, str | None]] = []  # the containers around, and the key that waits in each
    here, key = top, None
    for kind, what in events:
        if kind == "map_key":
            key = what
            continue
        if kind in {"end_map", "end_array"}:
            if not stack:
                return top
            here, key = stack.pop()
            continue
        made: Any
        if kind == "start_map":
            made = {}
        elif kind == "start_array":
            made = []
        else:
            made = _scalar(kind, what)
        if key is None:
            here.append(made)
        elif key in here:
            here[key] = Repeated
        else:
            here[key] = made
        if kind in {"start_map", "start_array"}:
            stack.append((here, key if isinstance(here, dict) else None))
            _not_too_deep(deep + len(stack))
            here, key = made, None
    return top


def _scalar(event: str, value: Any) -> Any:
    return Number(str(value)) if event == "number" else value


def _not_too_deep(deep: int) -> None:
    if deep > NESTED:
        raise _TooDeepError


class _OffTheWayError(Exception):
    """A list is expected and there is none, or an object; caught where the name of the file is known."""


class _TooDeepError(Exception):
    """Caught where the name of the file is known."""


def _events(path: Path) -> Iterator[Event]:
    """What the parser sees, with faults said in our words."""
    ijson = _ijson()
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    pieces = _pieces(path)
    try:
        first = next(pieces)
        if not first:
            raise InputError(f"{path}: the file is empty")
        stream = _Stream(path, chain([first], pieces))
        yield from ijson.basic_parse(stream, multiple_values=True)
        if stream.halves.open:
            raise InputError(f"{path}: {HALF}")
    except (ijson.JSONError, ValueError, ArithmeticError) as error:  # a number beyond every exponent
        reason = _reason(error)
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: this cannot be unpacked; is it really gzip?") from None
    else:
        return
    raise InputError(f"{path}: {_where(path)}: this is not JSON: {reason}")


class _Stream:
    """Pieces as a file, which is what the parser wants."""

    def __init__(self, path: Path, pieces: Iterator[bytes]) -> None:
        self.path, self.pieces, self.read_so_far = path, pieces, 0
        self.halves = Halves()

    def read(self, size: int) -> bytes:
        """The next piece; a question for nothing is how the parser asks whether this is a file of bytes."""
        piece = next(self.pieces, b"") if size else b""
        # Python refuses to read such a number, and the parser, written in C, stumbles over the refusal.
        if _ENDLESS.search(piece):
            raise InputError(f"{self.path}: about byte {self.read_so_far}: {DIGITS:,} digits without an end")
        if self.halves.seen_in(piece):  # the parser would write a question mark for any of them
            raise InputError(f"{self.path}: about byte {self.read_so_far}: {HALF}")
        self.read_so_far += len(piece)
        return piece


def _reason(error: BaseException) -> str:
    """The parser's own words, less the part that quotes the text."""
    said = str(error).split("\n", 1)[0]
    for words, ours in (
        ("premature EOF", "the file ends too soon"),
        ("UTF8", "bytes that are not UTF-8"),
        ("trailing garbage", "text after the end"),
        ("invalid string", "an unknown word; known are true, false and null"),
        ("invalid character inside string", "a control character in a text"),
        ("inside a string, '\\'", "an unknown escape in a text"),
        ("invalid char", "an unexpected character"),
        ("object key and value", "no colon after a key"),
        ("invalid object key", "a key that is not a text"),
        ("key and value", "neither comma nor end after a value"),
        ("after array element", "neither comma nor end after an element"),
        ("malformed number", "a malformed number"),
        ("unallowed token", "a value is missing"),
    ):
        if words in said:
            return ours
    return "a number or a text that cannot be read"


def _where(path: Path) -> str:
    """Line and column of the first byte that cannot be right: first its piece of the file, then the byte."""
    wrong = _fine(_pieces(path))
    pieces = _pieces(path)
    line, column = 1, 1
    for piece in islice(pieces, wrong):
        line, column = _after(piece, line, column)
    if wrong is not None:
        last = next(pieces)
        single = (last[at : at + 1] for at in range(len(last)))
        fine = _fine(chain(islice(_pieces(path), wrong), single))
        line, column = _after(last[: (fine or wrong) - wrong], line, column)
    return f"line {line}, column {column}"


def _pieces(path: Path) -> Iterator[bytes]:
    with opened(path) as stream:
        first = stream.read(CHUNK)
        yield first.removeprefix(BOM)
        yield from iter(lambda: stream.read(CHUNK), b"")


def _fine(pieces: Iterable[bytes]) -> int | None:
    """How many pieces the parser takes before it refuses one; None if only the end is missing."""
    ijson = _ijson()

    def deaf() -> Generator[None, Any, None]:
        while True:
            yield

    sink = deaf()
    next(sink)
    parser = ijson.basic_parse_coro(sink, multiple_values=True)
    for number, piece in enumerate(pieces):
        try:
            parser.send(piece)
        except (ijson.JSONError, ValueError, ArithmeticError, StopIteration):
            return number
    return None


def _after(chunk: bytes, line: int, column: int) -> tuple[int, int]:
    """The place behind a piece of text; columns count characters."""
    lines = chunk.count(b"\n")
    tail = chunk[chunk.rfind(b"\n") + 1 :]
    characters = sum(byte & 0xC0 != 0x80 for byte in tail)
    return line + lines, characters + (1 if lines else column)


def _ijson() -> Any:
    try:
        import ijson  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("reading JSON documents", "documents") from None
    return ijson
