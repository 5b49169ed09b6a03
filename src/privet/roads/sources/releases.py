"""A release as views of the people it was made of: for each of its classes, who is in it and what they have.

A view needs to know whom it selects. Usually the register says it: of all classes, the values of a person fit
one. Where classes overlap (local recoding), or people with the same values stand in different buckets, or it
is not said who was left out, the public does not know, and a view cannot say that it does not. Then the order
of the records tells, if the register is the very source that the release was made from: the people are taken
to be known to stand where they stand, which is what an adversary who knows the groups knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.disclose.sources.views import Register, View
from privet.domain import ANY, Value
from privet.engines import files
from privet.errors import InputError, TamperedError, UnsupportedError
from privet.evidence import folder as ev
from privet.evidence.values import ColumnNote, Evidence, PublishedValue
from privet.hierarchy.numbers import decimal

BUCKETS = "buckets"
FORMS = ("generalization", "regions", BUCKETS)  # kinds of recoding in which what is published is true
PLAIN = ("unchanged", "in buckets")  # how sensitive values leave that are true

Labels: TypeAlias = tuple[Value, ...]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Shown:
    """What a release publishes: the labels and the group of each record, and the values of each group."""

    folder: Path
    quasi: tuple[str, ...]
    labels: tuple[Labels, ...] = field(repr=False)  # by record
    groups: tuple[Any, ...] = field(repr=False)  # by record: its class, or the bucket that it names
    held: Mapping[Any, tuple[Value, ...]] = field(repr=False)  # by group
    values: tuple[Value, ...] | None = field(repr=False)  # by record; None: in another table
    left_out: int


@dataclass(frozen=True)
class Seated:
    """The views of a release; `by_order` where the register alone does not say who is in which."""

    views: tuple[View, ...] = field(repr=False)
    by_order: bool


def release_views(
    folder: Path,
    register: Register,
    sensitive: str,
    *,
    source: str | None = None,
    base: Sequence[Value] | None = None,
) -> Seated:
    """Every class of a release as a view of the register's people.

    `source` is the digest of the register's file, and `base` the true values, where they are known.
    """
    from privet.release import read_private  # noqa: PLC0415 - a release imports the report

    evidence = _evidence(folder, sensitive)
    shown = _shown(folder, evidence, register, sensitive)
    private = read_private(folder) or {}
    fit = _Fit(register, shown, evidence.attributes, private.get("leaf_order", {}))
    seats = fit.seats()
    by_order = seats is None
    if seats is None:
        if source is None or private.get("source") != source:
            raise InputError(fit.trouble())
        seats = fit.in_order(base)
    names = {group: f"{folder.name}, class {number}" for number, group in enumerate(shown.held, 1)}
    views = tuple(View.of(seats[group], values, names[group]) for group, values in shown.held.items())
    return Seated(views, by_order)


def _evidence(folder: Path, sensitive: str) -> Evidence:
    """The evidence of a release whose data is the data it was made for, and says what is true of people."""
    evidence = ev.read(folder)
    if evidence.kind != "table":
        raise UnsupportedError(f"{folder}: a release of {evidence.kind}; views are made of tables")
    notes, digests = evidence.data, evidence.files or {}
    for name in (notes.file, notes.buckets) if notes is not None else ():
        if name is not None and ev.digest(_file(folder, name)) != digests.get(name):
            raise TamperedError(f"{folder}: the data is not the file that the evidence was made for")
    role = evidence.attributes.get(sensitive)
    changed = [name for name, note in evidence.attributes.items() if note.published == "perturbed"]
    form = evidence.recoding
    if role is None or role.published == "dropped":
        raise InputError(f"{folder}: the release does not publish {sensitive}")
    if changed or (form not in FORMS and form != "perturbation") or role.published not in PLAIN:
        raise UnsupportedError(
            f"{folder}: the release changes values by chance or disguises them; a view says what is true of "
            "its people, so that this release cannot be one"
        )
    return evidence


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if path.parent != folder or not path.is_file():
        raise TamperedError(f"{folder}: the data is not the file that the evidence was made for")
    return path


def _shown(folder: Path, evidence: Evidence, register: Register, sensitive: str) -> Shown:
    notes = evidence.data
    if notes is None:
        raise TamperedError(f"{folder}: this evidence lacks what a release has")
    quasi = tuple(name for name, note in evidence.attributes.items() if note.role == "quasi")
    absent = [name for name in quasi if name not in register.columns]
    if absent:
        raise InputError(
            *(f"{folder}: the register has no column {name}, which the release publishes" for name in absent)
        )
    left_out = evidence.suppressed_records or 0
    last = sensitive if notes.buckets is None else "bucket"
    frame = files.read(_file(folder, notes.file), notes.form, [*quasi, last])
    columns = [texts(frame, name) for name in quasi]
    labels = tuple(zip(*columns, strict=True)) if quasi else ((),) * frame.height
    ends = tuple(texts(frame, last))
    held: dict[Any, list[Value]] = {}
    if notes.buckets is None:
        for group, value in zip(labels, ends, strict=True):
            held.setdefault(group, []).append(value)
        return Shown(folder, quasi, labels, labels, _settled(held), ends, left_out)
    frame = files.read(_file(folder, notes.buckets), notes.form, ["bucket", sensitive, "records"])
    for bucket, value, many in zip(
        texts(frame, "bucket"), texts(frame, sensitive), texts(frame, "records"), strict=True
    ):
        held.setdefault(bucket, []).extend([value] * int(many or 0))
    return Shown(folder, quasi, labels, ends, _settled(held), None, left_out)


def _settled(held: Mapping[Any, Sequence[Value]]) -> dict[Any, tuple[Value, ...]]:
    return {group: tuple(values) for group, values in held.items()}


class _Fit:
    """Which people of a register the records of a release may be of."""

    def __init__(
        self,
        register: Register,
        shown: Shown,
        attributes: Mapping[str, ColumnNote],
        order: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.shown, self.people = shown, len(register.keys)
        columns = [register.columns[name] for name in shown.quasi]
        self.values = [{value: at for at, value in enumerate(dict.fromkeys(column))} for column in columns]
        labels = list(zip(*shown.labels, strict=True)) if shown.labels else [()] * len(columns)
        self.labels = [{label: at for at, label in enumerate(dict.fromkeys(column))} for column in labels]
        self.inside = [
            _inside(list(values), list(given), attributes[name], order.get(name), f"{shown.folder}: {name}")
            for name, values, given in zip(shown.quasi, self.values, self.labels, strict=True)
        ]
        self.persons = list(zip(*columns, strict=True)) if columns else [()] * self.people
        self.fewer = self.several = 0  # classes and people that the register does not settle

    def seats(self) -> dict[Any, list[int]] | None:
        """The people of each group, or None where the register does not say it."""
        of_labels: dict[Labels, set[Any]] = {}
        for labels, group in zip(self.shown.labels, self.shown.groups, strict=True):
            of_labels.setdefault(labels, set()).add(group)
        choices = self._choices(of_labels)
        seats: dict[Any, list[int]] = {group: [] for group in self.shown.held}
        for person, values in enumerate(self.persons):
            fitting = choices.get(values, set())
            self.several += len(fitting) > 1
            for group in fitting:
                seats.setdefault(group, []).append(person)
        self.fewer = sum(len(seats[group]) != len(held) for group, held in self.shown.held.items())
        missing = self.people - len(self.shown.labels)
        if missing != self.shown.left_out or len(seats) != len(self.shown.held):
            raise InputError(
                f"{self.shown.folder}: the register has {self.people} people, the release {missing} fewer of "
                f"which it left {self.shown.left_out} out; the register must hold exactly the people whom "
                "the release was made of"
            )
        # Somebody who fits two classes makes one of them too large.
        return None if self.fewer else seats

    def _choices(self, of_labels: Mapping[Labels, set[Any]]) -> dict[Labels, set[Any]]:
        """For the values of each person, the groups that they fit."""
        distinct = list(dict.fromkeys(self.persons))
        found: dict[Labels, set[Any]] = {values: set() for values in distinct}
        codes = [
            np.array([self.values[at][values[at]] for values in distinct], dtype=np.intp)
            for at in range(len(self.values))
        ]
        # A column that leaves as it is decides by being equal, so that only a few are looked at closely.
        exact = [at for at, inside in enumerate(self.inside) if inside is None]
        alike: dict[Labels, list[int]] = {}
        for number, values in enumerate(distinct):
            alike.setdefault(tuple(values[at] for at in exact), []).append(number)
        for labels, groups in of_labels.items():
            near = np.array(alike.get(tuple(labels[at] for at in exact), []), dtype=np.intp)
            for at, inside in enumerate(self.inside):
                if inside is not None and len(near):
                    near = near[inside[codes[at][near], self.labels[at][labels[at]]]]
            for number in near.tolist():
                found[distinct[number]] |= groups
        return found

    def trouble(self) -> str:
        """Why views cannot say it."""
        what = (
            f"{self.several} people fit several of its {len(self.shown.held)} classes"
            if self.several
            else f"{self.fewer} of {len(self.shown.held)} classes have another number of records than the "
            f"register has people for them"
        )
        return (
            f"{self.shown.folder}: {what}, so that the register does not say who is in which; with the very "
            "source as the register (--raw) and the private notes beside the release, the order of its "
            "records does"
        )

    def in_order(self, base: Sequence[Value] | None) -> dict[Any, list[int]]:
        """The people of each group, by the order of the records; refused where that leaves a doubt."""
        first = self._matched(range(len(self.shown.labels)), range(self.people), base)
        last = self._matched(range(len(self.shown.labels))[::-1], range(self.people)[::-1], base)
        if first is None or last is None:
            raise InputError(
                f"{self.trouble()}; but they are not in the order of the source, which a release keeps only "
                'where its policy says order = "kept"; ask with such a release, and keep it to yourself'
            )
        if first != last[::-1]:
            raise InputError(
                f"{self.shown.folder}: who was left out cannot be told from the order of the records either, "
                "so that this release cannot be said as views"
            )
        seats: dict[Any, list[int]] = {}
        for group, person in zip(self.shown.groups, first, strict=True):
            seats.setdefault(group, []).append(person)
        return seats

    def _matched(
        self, records: Sequence[int], people: Sequence[int], base: Sequence[Value] | None
    ) -> list[int] | None:
        """For each record the next person that it may be of."""
        found: list[int] = []
        waiting = iter(people)
        for record in records:
            person = next((one for one in waiting if self._may_be(record, one, base)), None)
            if person is None:
                return None
            found.append(person)
        return found

    def _may_be(self, record: int, person: int, base: Sequence[Value] | None) -> bool:
        values, labels = self.persons[person], self.shown.labels[record]
        for at, inside in enumerate(self.inside):
            if inside is None:
                if values[at] != labels[at]:
                    return False
            elif not inside[self.values[at][values[at]], self.labels[at][labels[at]]]:
                return False
        return base is None or self.shown.values is None or base[person] == self.shown.values[record]


def _inside(
    values: Sequence[Value],
    labels: Sequence[Value],
    note: ColumnNote,
    order: Mapping[str, Any] | None,
    place: str,
) -> Bools | None:
    """[value, label]: does the label stand for the value? None: labels are the values."""
    if note.published == "unchanged":
        return None
    if order is not None and order.get("ranges"):
        return _by_order(values, labels, order, place)
    return _by_label(values, labels, note.values_ or (), place)


def _by_order(
    values: Sequence[Value], labels: Sequence[Value], order: Mapping[str, Any], place: str
) -> Bools:
    """By the steward's notes: each label is a range of the values in leaf order."""
    code = {value: at for at, value in enumerate(order["values"])}
    lost = sum(value not in code for value in values)
    if lost:
        raise InputError(f"{place}: {lost} values of the register are none that the release was made with")
    ranges = {label: (low, high) for label, low, high in order["ranges"]}
    if any(label not in ranges for label in labels):
        raise TamperedError(f"{place}: the private notes do not know some of its labels")
    codes = np.array([code[value] for value in values], dtype=np.int64)[:, None]
    low, high = (np.array([ranges[label][end] for label in labels], dtype=np.int64) for end in (0, 1))
    found: Bools = (low <= codes) & (codes < high)
    return found


def _by_label(
    values: Sequence[Value], labels: Sequence[Value], known: Sequence[PublishedValue], place: str
) -> Bools:
    """By what is public: a value itself, an interval, or everything."""
    notes = {one.label: one for one in known}
    found = np.zeros((len(values), len(labels)), dtype=bool)
    unknown = 0  # labels of which it is not public what they stand for
    numbers = [_number(value) for value in values]
    for at, label in enumerate(labels):
        note = notes.get(label)
        if len(notes) == 1 or (note is not None and note.root) or label == ANY:
            found[:, at] = True
        elif note is not None and note.interval is not None:
            low, high = map(Decimal, note.interval)
            found[:, at] = [number is not None and low <= number < high for number in numbers]
        else:
            found[:, at] = [value == label for value in values]
            unknown += not found[:, at].any() or (note is not None and note.loss > 0)
    lost = int((~found.any(axis=1)).sum())
    if lost or unknown:
        raise InputError(
            f"{place}: for {lost} values it cannot be told from the release alone what they became, and of "
            f"{unknown} labels what they stand for; keep the private notes beside the release"
        )
    return found


def _number(value: Value) -> Decimal | None:
    try:
        return decimal(value or "")
    except ValueError:
        return None


def texts(frame: Any, name: str) -> list[Value]:
    """A column as it reads."""
    column: list[Value] = frame.get_column(name).cast(str).to_list()
    return column
