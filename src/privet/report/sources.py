"""What is public about some people, read from files: a register, views, and releases that privet made.

    sources = 1
    gamma = "1/2"
    sensitive = "condition"

    [register]
    path = "register.csv"          # who there is, one line for each person
    key = "name"                   # which column names the person; without it, the line does

    [[views]]
    name = "hospital"
    where = ["sex = M", "age >= 26"]      # or people = ["Alan", "Bob"]
    path = "hospital.csv"                 # has the sensitive column; or values = ["SARS", "Flu"]

    [[releases]]
    path = "out"                   # a release folder; every class of its records is a view

    [base]
    path = "patients.csv"          # only for restoring: the true values; stays with the steward

Releases of the same people are recognised by the digest of the source that their private notes hold. A
release says in public what each value became, but not which raw value is which where a hierarchy was a tree
or a prefix: its private notes do, and it is enough to have them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet.core import Form
from privet.disclose.sources.views import Comparison, Register, View
from privet.domain import ANY, Value
from privet.engines import files
from privet.errors import InputError, PolicyError, PrivetError, TamperedError
from privet.notation import Complaints, exact
from privet.report import evidence as ev

VERSION = 1
TOP = ("sources", "gamma", "sensitive", "register", "views", "releases", "base")
VIEW = ("name", "where", "people", "path", "values")


@dataclass(frozen=True)
class Sources:
    """Everything that `privet sources` needs to know."""

    register: Register
    views: tuple[View, ...]
    sensitive: str
    gamma: Fraction | None = None
    base: tuple[Value, ...] | None = field(default=None, repr=False)  # the register's people's true values
    releases: tuple[str, ...] = ()  # folders, in the order given
    recognised: bool = False  # were the releases found to be made from the same source?


def load(path: Path) -> Sources:
    """Read a description of sources; paths in it are relative to it. Every complaint at once."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (UnicodeDecodeError, IsADirectoryError):
        raise InputError(f"{path}: this is no text file") from None
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{path}: {error}") from None
    try:
        return _from_document(document, path.parent)
    except (PolicyError, InputError) as error:
        raise PolicyError(*(f"{path}: {complaint}" for complaint in error.complaints)) from None


def from_releases(
    raw: Path, folders: Sequence[Path], *, key: str | None = None, sensitive: str | None = None
) -> Sources:
    """Releases of one source, with that source: it knows everybody, and is the base table too."""
    frame = files.read(raw, Form())
    named = {name for folder in folders for name in _sensitive_columns(folder)}
    if sensitive is None:
        if len(named) != 1:
            raise PolicyError(
                f"--sensitive: the releases have {len(named)} sensitive columns; say which one is meant"
            )
        sensitive = next(iter(named))
    register = _register(frame, raw, key, without=sensitive)
    files.complain_about_missing(str(raw), [sensitive], frame.columns, None)
    base = tuple(_texts(frame, sensitive))
    views = tuple(view for folder in folders for view in release_views(folder, register, sensitive))
    recognised = recognise(folders, ev.digest(raw))
    return Sources(register, views, sensitive, None, base, tuple(map(str, folders)), recognised)


def recognise(folders: Sequence[Path], digest: str | None = None) -> bool:
    """Were all made from one source, by what their private notes say? False where notes are missing."""
    from privet.release import read_private  # noqa: PLC0415 - a release imports the report

    found = []
    for folder in folders:
        notes = read_private(folder)
        found.append(None if notes is None else notes.get("source"))
    known = {one for one in (*found, digest) if one is not None}
    if len(known) > 1:
        raise InputError(
            "the releases were not made from the same source: the digests in their private notes differ"
        )
    return bool(found) and None not in found


def _from_document(document: Mapping[str, Any], base: Path) -> Sources:
    complaints = Complaints()
    if document.get("sources") != VERSION:
        complaints.add(f"the first line must be `sources = {VERSION}`")
    complaints.unknown(document, TOP)
    gamma = None
    if "gamma" in document:
        with complaints.at("gamma"):
            gamma = exact(document["gamma"])
    sensitive = document.get("sensitive")
    if not isinstance(sensitive, str):
        complaints.add("sensitive: names the column whose values must not be learnt")
    register, views, held = None, [], None
    with _at(complaints, "register"):
        register = _read_register(document.get("register"), base, str(sensitive))
    folders = []
    if register is not None and isinstance(sensitive, str):
        for number, table in enumerate(_tables(document, "views", complaints), 1):
            with _at(complaints, f"views[{number}]"):
                views.append(_view(table, register, sensitive, base, number))
        for number, table in enumerate(_tables(document, "releases", complaints), 1):
            with _at(complaints, f"releases[{number}]"):
                folder = _path(table, base)
                folders.append(folder)
                views.extend(release_views(folder, register, sensitive))
        if "base" in document:
            with _at(complaints, "base"):
                held = _base(document["base"], document["register"], register, sensitive, base)
        if not views:
            complaints.add("views: there is not one view or release")
    complaints.raise_all()
    if register is None or not isinstance(sensitive, str):
        raise PolicyError("register: is missing")
    recognised = recognise(folders) if folders else False
    return Sources(register, tuple(views), sensitive, gamma, held, tuple(map(str, folders)), recognised)


class _at:  # noqa: N801 - reads as a phrase
    """Like Complaints.at, for what goes wrong with files too."""

    def __init__(self, complaints: Complaints, place: str) -> None:
        self.complaints, self.place = complaints, place

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, PrivetError):
            return False
        self.complaints.add(*(f"{self.place}: {complaint}" for complaint in error.complaints))
        return True


def _tables(document: Mapping[str, Any], name: str, complaints: Complaints) -> list[Mapping[str, Any]]:
    given = document.get(name, [])
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        complaints.add(f"{name}: is written as [[{name}]], once for each")
        return []
    return given


def _path(table: object, base: Path) -> Path:
    if not isinstance(table, Mapping) or not isinstance(table.get("path"), str):
        raise PolicyError('path: names a file, such as path = "register.csv"')
    return base / str(table["path"])


def _read_register(table: object, base: Path, sensitive: str) -> Register:
    path = _path(table, base)
    key = table.get("key") if isinstance(table, Mapping) else None
    return _register(files.read(path, Form()), path, key, without=sensitive)


def _register(frame: Any, path: Path, key: str | None, *, without: str) -> Register:
    if key is not None:
        files.complain_about_missing(str(path), [key], frame.columns, None)
    keys = [str(line) for line in range(1, frame.height + 1)] if key is None else _texts(frame, key)
    nameless = sum(one is None for one in keys)
    if nameless:
        raise InputError(f"{path}: {nameless} lines have no {key}")
    columns = {name: tuple(_texts(frame, name)) for name in frame.columns if name not in {key, without}}
    return Register(tuple(str(one) for one in keys), columns)


def _texts(frame: Any, name: str) -> list[Value]:
    column: list[Value] = frame.get_column(name).cast(str).to_list()
    return column


def _view(table: Mapping[str, Any], register: Register, sensitive: str, base: Path, number: int) -> View:
    complaints = Complaints()
    complaints.unknown(table, VIEW)
    complaints.raise_all()
    if ("where" in table) == ("people" in table):
        raise PolicyError('has either where = ["age >= 26"] or people = ["Alan"]')
    if ("values" in table) == ("path" in table):
        raise PolicyError("has either a path to a file with the values, or values = [...]")
    where = None
    if "where" in table:
        where = tuple(Comparison.parse(str(one)) for one in _list(table, "where"))
        people = register.selected(where)
    else:
        people = register.named(str(one) for one in _list(table, "people"))
    if "values" in table:
        values: list[Value] = [str(value) for value in _list(table, "values")]
    else:
        path = _path(table, base)
        values = _texts(files.read(path, Form(), [sensitive]), sensitive)
    return View.of(people, values, str(table.get("name", f"view {number}")), where)


def _list(table: Mapping[str, Any], key: str) -> list[Any]:
    given = table[key]
    if not isinstance(given, list):
        raise PolicyError(f"{key}: is a list")
    return given


def _base(
    table: object, register_table: Mapping[str, Any], register: Register, sensitive: str, base: Path
) -> tuple[Value, ...]:
    """The true values of the register's people, found by their keys."""
    path = _path(table, base)
    key = register_table.get("key")
    if key is None:
        raise PolicyError("needs register.key, to know whose values they are")
    frame = files.read(path, Form(), [key, sensitive])
    held = dict(zip(_texts(frame, key), _texts(frame, sensitive), strict=True))
    if len(held) != frame.height:
        raise InputError(f"{path}: {frame.height - len(held)} lines have a key that a line before has")
    missing = sum(one not in held for one in register.keys)
    if missing:
        raise InputError(f"{path}: {missing} people of the register are missing")
    return tuple(held[one] for one in register.keys)


# Releases.


def _sensitive_columns(folder: Path) -> list[str]:
    notes = ev.read(folder).get("attributes", {})
    return [name for name, note in notes.items() if note.get("role") == "sensitive"]


def release_views(folder: Path, register: Register, sensitive: str) -> Iterator[View]:
    """Every class of a release as a view of the register's people."""
    from privet.release import read_private  # noqa: PLC0415 - a release imports the report

    evidence = ev.read(folder)
    try:
        data, attributes = folder / str(evidence["data"]["file"]), evidence["attributes"]
        digest = evidence["files"][str(evidence["data"]["file"])]
    except (KeyError, TypeError):
        raise TamperedError(f"{folder}: this evidence lacks what a release has") from None
    if not data.is_file() or ev.digest(data) != digest:
        raise TamperedError(f"{folder}: the data is not the file that the evidence was made for")
    quasi = [name for name, note in attributes.items() if note.get("role") == "quasi"]
    absent = [name for name in quasi if name not in register.columns]
    if absent:
        raise InputError(
            *(f"{folder}: the register has no column {name}, which the release publishes" for name in absent)
        )
    notes = evidence["data"]
    form = Form(notes.get("format"), notes.get("delimiter"), notes["encoding"], tuple(notes["nulls"]))
    frame = files.read(data, form, [*quasi, sensitive])
    private = (read_private(folder) or {}).get("published_as", {})
    became = [
        _published(register.columns[name], attributes[name], private.get(name), f"{folder}: {name}")
        for name in quasi
    ]
    members: dict[tuple[Value, ...], list[int]] = {}
    for person, labels in enumerate(zip(*became, strict=True)):
        members.setdefault(labels, []).append(person)
    classes: dict[tuple[Value, ...], list[Value]] = {}
    for row in zip(*(_texts(frame, name) for name in quasi), _texts(frame, sensitive), strict=True):
        classes.setdefault(row[:-1], []).append(row[-1])
    wrong = sum(len(members.get(labels, ())) != len(values) for labels, values in classes.items())
    if wrong:
        raise InputError(
            f"{folder}: {wrong} of {len(classes)} classes have another number of records than the "
            f"register has "
            "people for them; the register must hold exactly the people whom the release was made of"
        )
    for number, (labels, values) in enumerate(classes.items(), 1):
        yield View.of(members[labels], values, f"{folder.name}, class {number}")


def _published(
    column: Sequence[Value], note: Mapping[str, Any], private: Sequence[Mapping[str, Any]] | None, place: str
) -> list[Value]:
    """What each value of the register is published as."""
    if note.get("published") == "unchanged":
        return list(column)
    if private is not None:
        known = {one["raw"]: one["published"] for one in private}
        lost = sum(value not in known for value in column)
        if lost:
            raise InputError(f"{place}: {lost} people have a value that the release was not made with")
        return [known[value] for value in column]
    values = note.get("values", [])
    if len(values) == 1:
        return [values[0]["label"]] * len(column)
    found = [_label(value, values) for value in column]
    lost = sum(label is _LOST for label in found)
    if lost:
        raise InputError(
            f"{place}: for {lost} people it cannot be told from the release alone what their value became; "
            "keep the private notes beside the release"
        )
    return found


_LOST = "\0"


def _label(value: Value, published: Sequence[Mapping[str, Any]]) -> Value:
    labels = {one["label"] for one in published}
    if value in labels:
        return value
    number = None
    try:
        number = Decimal(value or "")
    except InvalidOperation:
        return _LOST
    for one in published:
        if "interval" in one:
            low, high = map(Decimal, one["interval"])
            if low <= number < high:
                return str(one["label"])
    return ANY if ANY in labels else _LOST


def with_gamma(sources: Sources, gamma: str | None) -> Sources:
    """What the command line says goes before what the file says."""
    if gamma is None:
        return sources
    try:
        return replace(sources, gamma=exact(gamma))
    except PolicyError as error:
        raise error.at("--gamma") from None
