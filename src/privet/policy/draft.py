"""A first policy for a table that nobody has described yet.

A draft guesses and decides nothing: every role in it is "undecided" and no promise has numbers, so
that publishing refuses until somebody has thought. It holds names and counts, never a value.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from privet.core import Form, Progress, Role, silent
from privet.domain import Value
from privet.engines import text
from privet.hierarchy.numbers import read as number
from privet.policy.guess import FEW_RECORDS, LOOKED_AT, Guess, guess, settled
from privet.registry import find
from privet.roads.stations import settle
from privet.roads.trajectories.guess import clue
from privet.roads.trajectories.guess import guess as find_paths

MISSING = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan")  # words for "no value" that files use


ROLES = """\
# What each column is. Columns that are not named here are never published.
#   identifier  names a person: dropped, or disguised: publish = "pseudonym", "hash", "mask" or "shift"
#   quasi       others may know it about a person: generalised along its hierarchy as far as needed
#   sensitive   what nobody may learn about a person: published as it is, protected by the promise
#   target      what the recipient wants to predict: published as it is; one at most
#   other       published as it is, because nobody could know it and nobody minds
# Behind each "#" stands a guess. In doubt between quasi and other, it is quasi."""

PATHS = """\
# Where the paths are: a guess from names and a few values. The columns named here have no role below.
#   form = "column" (path), "visits" or "readings" (person, place, time; readings also slot), or
#   "points" (person, lat, lon, time, slot, grid)"""

UNFILLED = {  # what the form "points" also needs, and nobody can guess
    "slot": 'the length of a slot of time, such as "15 min"',
    "grid": "the size of a cell, in metres",
}

PATH_PROMISES = """\
# What is promised: at least one. Privacy parameters have no default: decide, and take the "#" away.
#
# [[models]]
# type = "lkc-privacy"
# l =                                         # how many visits of a person an adversary may know
# k =                                         # how many records have any such visits in common, at least
# c =                                         # what share of them may be sensitive: a fraction in quotes
# sensitive = { COLUMN = ["VALUE"] }          # or { COLUMN = "every" }
#
# [[models]]
# type = "k-anonymity"                        # the same for who knows all visits, without sensitive values
# k ="""

PROMISES = """\
# What is promised: at least one. Privacy parameters have no default: decide, and take the "#" away.
#
# [[models]]
# type = "lkc-privacy"
# l =                                         # how many values of a person an adversary may know
# k =                                         # how many records every such knowledge matches, at least
# c =                                         # what share of them may be sensitive: a fraction in quotes
# sensitive = { COLUMN = ["VALUE"] }          # or { COLUMN = "every" }
#
# [[models]]
# type = "k-anonymity"
# k =                                         # how many records agree in all quasi-identifiers, at least
#
# [[models]]
# type = "differential-privacy"               # noise instead of groups; with algorithm "diffgen"
# epsilon =                                   # what one release spends, in quotes, of a budget that
#                                             # `privet ledger open` sets once, before the first release"""


@dataclass(frozen=True)
class Draft:
    """A policy that is not one yet."""

    place: str
    records: int
    form: Form
    guesses: tuple[Guess, ...]
    doubts: tuple[str, ...] = field(default=())  # what to look at before anything else
    paths: Mapping[str, str] | None = None  # of trajectories: where the paths may be

    def to_document(self) -> dict[str, Any]:
        """The guesses for programs."""
        return {
            "records": self.records,
            "form": _said(self.form),
            "columns": [
                {"name": name, "guess": said, "reason": reason}
                if name in self.of_paths
                else {
                    "name": name,
                    "guess": said,
                    "reason": reason,
                    "hierarchy": guess.hierarchy.to_policy(),
                }
                for guess, (name, said, reason) in zip(self.guesses, self.told(), strict=True)
            ],
            "doubts": list(self.doubts),
            **({} if self.paths is None else {"trajectories": dict(self.paths)}),
        }

    @property
    def of_paths(self) -> dict[str, str]:
        """The columns that paths are read from, and what each of them says."""
        return {name: key for key, name in (self.paths or {}).items() if key != "form"}

    def told(self) -> list[tuple[str, str, str]]:
        """Every column, the guess, and why."""
        return [
            (guess.name, self.of_paths[guess.name], "says where the paths are; it has no role")
            if guess.name in self.of_paths
            else (guess.name, guess.role.value, guess.reason)
            for guess in self.guesses
        ]

    def dumps(self) -> str:
        """The draft as a policy file, with its guesses as comments."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        software = f"privet {version('privet')}"
        yield f"# Drafted by {software} from {json.dumps(self.place)}: {self.records:,} records"
        yield "# Nothing is decided yet, so `privet publish` refuses: decide every role, promise something."
        yield from (f"# Look: {doubt}" for doubt in self.doubts)
        yield "policy = 1"
        yield 'kind = "table"' if self.paths is None else 'kind = "trajectories"'
        yield 'purpose = ""                                  # what the release is for'
        yield 'nulls = "value"                               # or "wildcard": null matches every value'
        yield ""
        yield "[form]                                        # how the file is written"
        yield from (f"{key} = {_inline(value)}" for key, value in _said(self.form).items())
        yield ""
        if self.paths is not None:
            yield PATHS
            yield "[trajectories]"
            yield from (f"{key} = {_inline(value)}" for key, value in self.paths.items())
            if self.paths.get("form") == "points":
                yield from (f"# {key} =  # {what}" for key, what in UNFILLED.items())
            yield ""
        yield ROLES
        yield "[attributes]"
        yield from (_attribute(guess) for guess in self.guesses if guess.name not in self.of_paths)
        yield ""
        yield PROMISES if self.paths is None else PATH_PROMISES
        yield ""
        yield "[algorithm]"
        yield 'type = "top-down"' if self.paths is None else 'type = "suppress-points"\nsupport = "1/100"'


def draft(
    source: Any,
    form: Form | None = None,
    *,
    guess_encoding: bool = True,
    guess_nulls: bool = True,
    progress: Progress = silent,
    paths: bool = False,
) -> Draft:
    """Look at every column of a table once, and guess; with `paths`, also where trajectories are."""
    form = form or Form()
    progress("read", 0)
    path = Path(source) if isinstance(source, (str, Path)) and not text.is_url(source) else None
    if path is not None:
        form = _settled(path, form, guess_encoding=guess_encoding)
    engine = find("engines", "embedded")()
    table = engine.read(source, form)
    names, records = engine.columns(table), engine.rows(table)
    values: dict[str, list[Value]] = {}
    for done, name in enumerate(names):
        progress("tally", done, len(names))
        values[name] = engine.distinct(table, name)
    if guess_nulls and form.format in {"csv", "tsv"}:
        tokens = [token for token in MISSING if any(token in _known(found) for found in values.values())]
        form = replace(form, nulls=(*form.nulls, *tokens))
    empty = {name: _blank(engine.frame(table), name, form.nulls) for name in names}
    guesses = settled(
        [
            guess(name, _present(found, form.nulls), records - empty[name], blanks=empty[name])
            for name, found in values.items()
        ]
    )
    place = path.name if path is not None else "a database" if text.is_url(source) else "a table"
    found = find_paths(values) if paths else None
    doubts = [
        *_doubts(names, form),
        *_path_doubts(values, records, found),
    ]
    if records < FEW_RECORDS:
        doubts.append(
            f"there {'is 1 record' if records == 1 else f'are {records} records'} only: few to hide in"
        )
    return Draft(place, records, form, guesses, tuple(doubts), found)


def _settled(path: Path, form: Form, *, guess_encoding: bool) -> Form:
    if not path.is_file():
        return settle(path, form)  # which says what is wrong
    kind = settle(path, replace(form, delimiter=form.delimiter or ",")).format
    if kind in {"csv", "tsv"} and guess_encoding:
        form = replace(form, encoding=encoding_of(path))
    return settle(path, form)


def encoding_of(path: Path) -> str:
    """The encoding that fits all of a file: a mark at its start, UTF-8, or what Windows writes."""
    try:
        with text.opened(path) as file:
            start = file.read(4)
            if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            decoder = codecs.getincrementaldecoder("utf-8")()
            decoder.decode(start)
            while chunk := file.read(1 << 22):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252" if _fits(path, "cp1252") else "latin-1"
    except (OSError, EOFError):
        return "utf-8"  # reading will say what is wrong
    return "utf-8"


def _fits(path: Path, encoding: str) -> bool:
    with text.opened(path) as file:
        try:
            while chunk := file.read(1 << 22):
                chunk.decode(encoding)
        except UnicodeDecodeError:
            return False
    return True


def _known(values: Sequence[Value]) -> Sequence[Value]:
    """Only a column of few values is searched for words that mean "missing": in names they are names."""
    return values if len(values) <= LOOKED_AT else ()


def _present(values: Sequence[Value], nulls: Sequence[str]) -> list[str]:
    return [value for value in values if value is not None and value not in nulls]


def _blank(frame: pl.DataFrame, name: str, nulls: Sequence[str]) -> int:
    """How many records have no value of a column."""
    column = frame.get_column(name)
    tokens = column.cast(pl.String).is_in([token for token in nulls if token]).sum() if len(nulls) > 1 else 0
    return column.null_count() + int(tokens)


def _doubts(names: Sequence[str], form: Form) -> Iterator[str]:
    if sum(number(name) is not None for name in names) * 2 > len(names):
        yield "most column names are numbers; is the first line of the file a header?"
    if len(names) == 1:
        yield "there is one column only; is the delimiter right?"
    if form.format in {"csv", "tsv"} and form.encoding in {"cp1252", "latin-1"}:
        yield f"the file is not UTF-8; {form.encoding} is a guess"
    if len(form.nulls) > 1:
        yield f"form.nulls: {', '.join(map(json.dumps, form.nulls[1:]))} is read as missing; right?"


def _path_doubts(
    values: Mapping[str, Sequence[Value]], records: int, found: Mapping[str, str] | None
) -> Iterator[str]:
    if found is None and (speaks := clue(values, records)):
        yield f"this looks like trajectories: {speaks}; `privet init --kind trajectories` drafts that"
    if found is not None and not found:
        yield (
            "no column looks like a path, and none like person, place and time: fill in [trajectories], "
            "or leave --kind out"
        )


def _said(form: Form) -> dict[str, Any]:
    every = {
        "format": form.format,
        "delimiter": form.delimiter,
        "encoding": form.encoding,
        "nulls": list(form.nulls),
        "query": form.query,
    }
    return {key: value for key, value in every.items() if value is not None}


def _attribute(guess: Guess) -> str:
    key = tomli_w.dumps({guess.name: 0}).removesuffix(" = 0\n")
    rule = f"hierarchy = {_inline(guess.hierarchy.to_policy())}"
    comment = f"{guess.role.value}? {guess.reason}"
    if guess.role is Role.QUASI:
        return f'{key} = {{ role = "undecided", {rule} }}  # {comment}'
    if guess.role is not Role.IDENTIFIER:
        comment += f"; if quasi: {rule}"
    return f'{key} = {{ role = "undecided" }}  # {comment}'


def _inline(value: object) -> str:
    match value:
        case Mapping():
            return "{ " + ", ".join(f"{key} = {_inline(below)}" for key, below in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case str():
            return json.dumps(value, ensure_ascii=True)
        case _:
            return str(value)
