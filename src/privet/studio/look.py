"""What there is to see of data before anything is decided: every column, with the guess of `privet init`.

It is looked at once and kept until the file changes; what is kept are counts, and the few values that a page
shows to its steward.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from privet.core import Form
from privet.declared import TABLE
from privet.drafts import documents
from privet.drafts.draft import Draft, draft
from privet.engines.text import is_url
from privet.errors import InputError
from privet.registry import find
from privet.studio import sets
from privet.studio.later import Work, begun, now
from privet.studio.project import Project
from privet.studio.seen import Column, columns_of
from privet.studio.shape import DOCUMENTS, TRAJECTORIES, TRANSACTIONS, Taken
from privet.studio.weight import refuse_too_heavy

T = TypeVar("T")
LONGEST_NAME = 500  # characters of a column's name that a page can show


@dataclass(frozen=True)
class Field:
    """A field of a document."""

    type: str
    name: str
    there: str
    guess: str
    reason: str
    depth: int  # of its type in the tree; the record itself is 0
    path: str


@dataclass(frozen=True)
class Look:
    """What was seen of a source."""

    kind: str
    records: int
    columns: tuple[Column, ...]
    fields: tuple[Field, ...]
    doubts: tuple[str, ...]
    repeated: tuple[str, ...]
    text: str = field(repr=False)  # the draft as a policy
    drafted: Draft | None = field(default=None, repr=False)
    items: sets.Items | None = field(default=None, repr=False)  # of sets
    since: datetime = field(default_factory=lambda: datetime.now(tz=UTC))  # when it was begun

    def column(self, name: str) -> Column | None:
        return next((one for one in self.columns if one.name == name), None)


class Looks:
    """The last look, as long as the data and what it is taken for are the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reading = threading.Lock()  # values, which may take a while: pages do not wait for it
        self._key: tuple[Any, ...] | None = None
        self._soon: Work[Look] | None = None
        self._values: dict[str, list[Any]] = {}
        self._remembered: dict[Any, Any] = {}

    def soon(self, project: Project) -> Work[Look]:
        """What is seen of a project's data, now or in a while; a look that failed is taken again."""
        source, query, taken = project.given, project.selected(), project.taken()
        with self._lock:
            key = (project.signature(), query, taken)
            if self._soon is None or self._soon.in_vain or key != self._key:
                self._key, self._values, self._remembered = key, {}, {}
                self._soon = begun(lambda: looked(source, query, taken))
            return self._soon

    def at(self, project: Project, patience: float | None = None) -> Look:
        """The same, once it is there; WaitingError, if that is not within `patience` seconds."""
        return now(self.soon(project), patience, "open/state", "looking at the data")

    def there(self, project: Project) -> Look | None:
        """The same, if it is there."""
        soon = self.soon(project)
        return soon.result() if soon.done() and soon.exception() is None else None

    def keep(self, project: Project, found: Look) -> None:
        """A look that somebody has taken of what is now the project's data."""
        with self._lock:
            self._key = (project.signature(), project.selected(), project.taken())
            self._values, self._remembered, self._soon = {}, {}, Work()
            self._soon.set_result(found)

    def remembered(self, key: Any, work: Callable[[], T]) -> T:
        """What was worked out of this look before, or now."""
        if key not in self._remembered:
            self._remembered[key] = work()
        found: T = self._remembered[key]
        return found

    def values(self, project: Project, names: Sequence[str]) -> dict[str, list[Any]]:
        """The different values of columns of a table, missing ones left out; read once."""
        look = self.at(project)
        drafted = look.drafted
        with self._reading:
            known = self._values  # those of this look; the next one has its own
            known |= {one.name: list(one.values) for one in look.columns if one.values}
            wanted = [name for name in names if name not in known]
            if wanted and drafted is not None:
                form, engine = drafted.form, find("engines", "embedded")()
                table = engine.read(project.given, form, wanted)
                for name in wanted:
                    absent = {None, *form.nulls, *form.missing.get(name, ())}
                    known[name] = [v for v in engine.distinct(table, name) if v not in absent]
            return {name: known[name] for name in names if name in known}


@dataclass(frozen=True)
class Incoming:
    """Data that somebody wants to open: it is looked at before anything else is let go for it."""

    source: str
    soon: Work[Look] = field(repr=False)
    query: str | None = None
    dropped: Path | None = None  # a file that goes again if it cannot be read

    @classmethod
    def of(cls, source: str, kind: str = "", query: str | None = None, dropped: Path | None = None) -> Self:
        """Begin to look at it; `kind` may be said, else it is guessed."""
        taken = Taken(kind) if kind else None
        return cls(source, begun(lambda: looked(source, query, taken)), query, dropped)


def looked(source: str, query: str | None = None, taken: Taken | None = None) -> Look:
    """Look at every column, or at every field of documents; `taken`: what the data is taken for, if said."""
    since = datetime.now(tz=UTC)
    return replace(_looked(source, query, taken), since=since)


def _looked(source: str, query: str | None, taken: Taken | None) -> Look:
    if not is_url(source):
        refuse_too_heavy(Path(source))
    kind = None if taken is None else taken.kind
    if kind == TRANSACTIONS:
        found = sets.guessed(source, taken or Taken(kind))
        return Look(kind, found.items.records, found.columns, (), (), (), found.dumps(), found.drafted,
                    found.items)  # fmt: skip
    if kind == DOCUMENTS or (kind is None and documents.looks_nested(source)):
        return _documents(source, None if taken is None or taken.own is None else taken.own.format)
    form = Form(query=query) if taken is None else taken.read_as(query)
    drafted = draft(
        source,
        form,
        guess_encoding=taken is None or not taken.is_encoded,
        paths=None if kind is None else kind == TRAJECTORIES,
    )
    if taken is not None:
        drafted = replace(drafted, form=taken.formed(drafted.form))
    if any(len(one.name) > LONGEST_NAME for one in drafted.guesses):
        raise InputError(f"a column has a name of more than {LONGEST_NAME} characters; is the header right?")
    return Look(
        TABLE if drafted.paths is None else TRAJECTORIES,
        drafted.records,
        tuple(columns_of(source, drafted)),
        (),
        drafted.doubts,
        drafted.repeated,
        drafted.dumps(),
        drafted,
    )


def _documents(source: str, format_said: str | None) -> Look:
    found = documents.drafted(Path(source), format_said)
    depths = _depths({one.name: [child.type for child in one.children] for one in found.found.types})
    paths = {one.name: one.path for one in found.found.types}
    fields = []
    for name, there, guess, reason in found.rows():
        kind, _, key = name.partition(".")
        fields.append(Field(kind, key, there, guess.removesuffix("?"), reason, depths[kind], paths[kind]))
    return Look(DOCUMENTS, found.records, (), tuple(fields), (), (), found.dumps())


def _depths(children: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How deep each type stands below the record, which is no other's child."""
    below = {child for several in children.values() for child in several}
    row = [name for name in children if name not in below] or list(children)[:1]
    found: dict[str, int] = {}
    depth = 0
    while row:
        found |= {name: depth for name in row if name not in found}
        row = [child for name in row for child in children[name] if child not in found]
        depth += 1
    return {name: found.get(name, 0) for name in children}
