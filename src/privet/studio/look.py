"""What there is to see of data before anything is decided: every column, with the guess of `privet init`.

It is looked at once and kept until the file changes; what is kept are counts, and the few values that a page
shows to its steward.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from privet.core import Form, Role
from privet.drafts import documents
from privet.drafts.draft import Draft, draft
from privet.drafts.guess import Guess
from privet.engines.plain_text import as_said
from privet.hierarchy.numbers import read as number
from privet.registry import find
from privet.roads.stations import in_frame
from privet.studio.project import Project

SHOWN = 8  # values of a column that a page draws
BINS = 24
KINDS = {
    "intervals": "numbers",
    "dates": "dates",
    "prefix": "codes",
    "flat": "categories",
    "tree": "categories",
}


@dataclass(frozen=True)
class Bin:
    """So many records between two numbers."""

    low: float
    high: float
    records: int


@dataclass(frozen=True)
class Column:
    """A column as it stands in the data."""

    name: str
    guess: str  # a role, or what a path is read from
    reason: str
    type: str
    different: int
    missing: int
    alone: int  # records whose value nobody else has
    common: tuple[tuple[str, int], ...] = field(repr=False)  # the commonest values
    bins: tuple[Bin, ...] = field(default=(), repr=False)
    hierarchy: Mapping[str, Any] = field(default_factory=dict)
    of_path: bool = False


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

    def column(self, name: str) -> Column | None:
        return next((one for one in self.columns if one.name == name), None)


class Looks:
    """The last look, as long as the file is the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[Any, ...] | None = None
        self._look: Look | None = None
        self._values: dict[str, list[Any]] = {}

    def at(self, project: Project) -> Look:
        """What is seen of a project's data."""
        with self._lock:
            key = project.signature()
            if self._look is None or key != self._key:
                self._look, self._key, self._values = looked(project.given, project.selected()), key, {}
            return self._look

    def values(self, project: Project, names: Sequence[str]) -> dict[str, list[Any]]:
        """The different values of columns of a table, missing ones left out; read once."""
        drafted = self.at(project).drafted
        with self._lock:
            wanted = [name for name in names if name not in self._values]
            if wanted and drafted is not None:
                form, engine = drafted.form, find("engines", "embedded")()
                table = engine.read(project.given, form, wanted)
                for name in wanted:
                    absent = {*form.nulls, *form.missing.get(name, ())}
                    self._values[name] = [v for v in engine.distinct(table, name) if v not in absent]
            return {name: self._values[name] for name in names if name in self._values}


def looked(source: str, query: str | None = None) -> Look:
    """Look at every column, or at every field of documents."""
    if documents.looks_nested(source):
        found = documents.drafted(Path(source))
        depths = _depths({one.name: [child.type for child in one.children] for one in found.found.types})
        paths = {one.name: one.path for one in found.found.types}
        fields = []
        for name, there, guess, reason in found.rows():
            kind, _, key = name.partition(".")
            fields.append(Field(kind, key, there, guess.removesuffix("?"), reason, depths[kind], paths[kind]))
        return Look("documents", found.records, (), tuple(fields), (), (), found.dumps())
    drafted = draft(source, Form(query=query), paths=None)
    kind = "table" if drafted.paths is None else "trajectories"
    return Look(
        kind,
        drafted.records,
        tuple(_columns(source, drafted)),
        (),
        drafted.doubts,
        drafted.repeated,
        drafted.dumps(),
        drafted,
    )


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


def _columns(source: str, drafted: Draft) -> list[Column]:
    engine = find("engines", "embedded")()
    frame = in_frame(engine, engine.read(source, drafted.form))
    guesses = {guess.name: guess for guess in drafted.guesses}
    return [
        _column(frame.get_column(name), said, reason, guesses[name], drafted)
        for name, said, reason in drafted.told()
    ]


def _column(column: pl.Series, said: str, reason: str, guess: Guess, drafted: Draft) -> Column:
    form, name = drafted.form, column.name
    absent = {*form.nulls, *form.missing.get(name, ())}
    counted = column.cast(pl.String).value_counts(sort=True).rename({name: "value"})
    there = counted.filter(pl.col("value").is_not_null() & ~pl.col("value").is_in(list(absent)))
    many = int(there.get_column("count").sum())
    common = tuple(there.head(SHOWN).iter_rows())
    kind = KINDS.get(guess.hierarchy.name, "text")
    bins: tuple[Bin, ...] = ()
    if guess.hierarchy.name == "intervals":
        values = [as_said(value, name, form) for value in there.get_column("value").to_list()]
        bins = _bins(values, there.get_column("count").to_list())
    elif guess.role is Role.IDENTIFIER and there.height * 2 > many:
        kind = "names or numbers of people"
    return Column(
        name=name,
        guess=said,
        reason=reason,
        type=kind,
        different=there.height,
        missing=len(column) - many,
        alone=int((there.get_column("count") == 1).sum()),
        common=common,
        bins=bins,
        hierarchy=guess.hierarchy.to_policy(),
        of_path=name in drafted.of_paths,
    )


def _bins(values: Sequence[str | None], counts: Sequence[int]) -> tuple[Bin, ...]:
    """A histogram of equal widths; whole numbers get whole edges."""
    read: list[tuple[Decimal, int]] = []
    for value, many in zip(values, counts, strict=True):
        found = None if value is None else number(value)
        if found is not None:
            read.append((found, many))
    if not read:
        return ()
    low, high = min(read)[0], max(read)[0]
    whole = all(found == found.to_integral_value() for found, _ in read)
    width = (high - low + 1) / BINS if whole else (high - low) / BINS
    if whole:
        width = Decimal(max(1, -(-int(high - low + 1) // BINS)))
    if width <= 0:
        return (Bin(float(low), float(high), sum(many for _, many in read)),)
    made = [0] * (int((high - low) / width) + 1)
    for found, many in read:
        made[min(len(made) - 1, int((found - low) / width))] += many
    return tuple(
        Bin(float(low + width * at), float(low + width * (at + 1)), many) for at, many in enumerate(made)
    )
