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

Releases of the same people are recognised by the digest of the source that their private notes hold. How a
release becomes views is said in `sources_releases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from privet import tomltext
from privet.core import Form
from privet.disclose.sources.restoring import refuse_false
from privet.disclose.sources.views import Comparison, Register, View
from privet.domain import Value
from privet.engines import files
from privet.errors import InputError, PolicyError, PrivetError
from privet.evidence import folder as ev
from privet.policy.notation import Complaints, exact
from privet.roads.sources.releases import release_views, texts

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
    by_order: int = 0  # releases of which the order of the records says who is in which class


def load(path: Path) -> Sources:
    """Read a description of sources; paths in it are relative to it. Every complaint at once."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (UnicodeDecodeError, IsADirectoryError):
        raise InputError(f"{path}: this is not a text file") from None
    document = tomltext.document(text, str(path))
    try:
        return _from_document(document, path.parent)
    except (PolicyError, InputError) as error:
        raise PolicyError(*(f"{path}: {complaint}" for complaint in error.complaints)) from None


def from_releases(
    raw: Path, folders: Sequence[Path], *, key: str | None = None, sensitive: str | None = None
) -> Sources:
    """Releases of one source, with that source: it knows everybody, and is the base table too."""
    frame = files.read(raw, Form())
    named = {name for folder in folders for name in _columns(folder, "sensitive")}
    if sensitive is None:
        if len(named) != 1:
            raise PolicyError(
                f"--sensitive: the releases have {len(named)} sensitive columns; say which one is meant"
            )
        sensitive = next(iter(named))
    # What no release publishes is not a quasi-identifier: conditions of views do not speak of it.
    public = {name for folder in folders for name in _columns(folder, "quasi")}
    names = [name for name in frame.columns if name in {*public, key, sensitive}]
    register = _register(frame.select(names), raw, key, without=sensitive)
    files.complain_about_missing(str(raw), [sensitive], frame.columns, None)
    base = tuple(texts(frame, sensitive))
    digest = ev.digest(raw)
    recognised = recognise(folders, digest)
    seated = [release_views(one, register, sensitive, source=digest, base=base) for one in folders]
    views = tuple(view for one in seated for view in one.views)
    refuse_false(base, views)  # whoever stands elsewhere than was thought has other values
    return Sources(
        register,
        views,
        sensitive,
        None,
        base,
        tuple(map(str, folders)),
        recognised,
        sum(one.by_order for one in seated),
    )


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
    folders, by_order = [], 0
    if register is not None and isinstance(sensitive, str):
        for number, table in enumerate(_tables(document, "views", complaints), 1):
            with _at(complaints, f"views[{number}]"):
                views.append(_view(table, register, sensitive, base, number))
        for number, table in enumerate(_tables(document, "releases", complaints), 1):
            with _at(complaints, f"releases[{number}]"):
                folder = _path(table, base)
                folders.append(folder)
                digest = ev.digest(_path(document["register"], base, "key"))
                seated = release_views(folder, register, sensitive, source=digest)
                views.extend(seated.views)
                by_order += seated.by_order
        if "base" in document:
            with _at(complaints, "base"):
                held = _base(document["base"], document["register"], register, sensitive, base)
        if not document.get("views") and not document.get("releases"):
            complaints.add("views: there is not one view or release")
    complaints.raise_all()
    if register is None or not isinstance(sensitive, str):
        raise PolicyError("register: is missing")
    recognised = recognise(folders) if folders else False
    places = tuple(map(str, folders))
    return Sources(register, tuple(views), sensitive, gamma, held, places, recognised, by_order)


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


def _path(table: object, base: Path, *others: str) -> Path:
    """The file that a table names; it may say `others` too, and nothing else."""
    if not isinstance(table, Mapping) or not isinstance(table.get("path"), str):
        raise PolicyError('path: names a file, such as path = "register.csv"')
    complaints = Complaints()
    complaints.unknown(table, ("path", *others))
    complaints.raise_all()
    return base / str(table["path"])


def _read_register(table: object, base: Path, sensitive: str) -> Register:
    path = _path(table, base, "key")
    key = table.get("key") if isinstance(table, Mapping) else None
    if not isinstance(key, str | None):
        raise PolicyError("key: names a column")
    return _register(files.read(path, Form()), path, key, without=sensitive)


def _register(frame: Any, path: Path, key: str | None, *, without: str) -> Register:
    if key is not None:
        files.complain_about_missing(str(path), [key], frame.columns, None)
    keys = [str(line) for line in range(1, frame.height + 1)] if key is None else texts(frame, key)
    nameless = sum(one is None for one in keys)
    if nameless:
        raise InputError(f"{path}: {nameless} lines have no {key}")
    columns = {name: tuple(texts(frame, name)) for name in frame.columns if name not in {key, without}}
    return Register(tuple(str(one) for one in keys), columns)


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
        path = _path(table, base, *VIEW)
        values = texts(files.read(path, Form(), [sensitive]), sensitive)
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
    held = dict(zip(texts(frame, key), texts(frame, sensitive), strict=True))
    if len(held) != frame.height:
        raise InputError(f"{path}: {frame.height - len(held)} lines have a key that a line before has")
    missing = sum(one not in held for one in register.keys)
    if missing:
        raise InputError(f"{path}: {missing} people of the register are missing")
    return tuple(held[one] for one in register.keys)


# Releases.


def _columns(folder: Path, role: str) -> list[str]:
    """The columns of a release that have a role."""
    return [name for name, note in ev.read(folder).attributes.items() if note.role == role]


def with_gamma(sources: Sources, gamma: str | None) -> Sources:
    """What the command line says goes before what the file says."""
    if gamma is None:
        return sources
    try:
        return replace(sources, gamma=exact(gamma))
    except PolicyError as error:
        raise error.at("--gamma") from None
