"""A project: a folder with policy.toml, the files that it names, and the releases that were made with it.

    adult.studio/
        policy.toml     what was decided so far; `privet publish` takes it when nothing is left to decide
        studio.toml     where the data lies, and nothing else
        data/           files that were dropped on the page
        hierarchies/    trees that were brought along
        releases/       each with its private notes beside it

Whatever is decided is on disk at once, so closing the browser loses nothing, and so that several tabs do not
undo each other's work every change is a small edit of what stands there now.
"""

from __future__ import annotations

import re
import stat
import threading
import tomllib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import tomli_w

from privet import tomltext
from privet.core import Form
from privet.declared import TABLE
from privet.engines import databases
from privet.engines import text as source_text
from privet.errors import InputError, PrivetError
from privet.evidence import folder as ev
from privet.placing import aside, followed
from privet.policy.notation import fill
from privet.policy.values import Policy

Document: TypeAlias = dict[str, Any]
TRAJECTORIES, TRANSACTIONS, DOCUMENTS = "trajectories", "transactions", "documents"  # kinds besides tables
T = TypeVar("T", bound="Reading")
POLICY, NOTE = "policy.toml", "studio.toml"
DATA, TREES, RELEASES = "data", "hierarchies", "releases"
SUFFIX = ".studio"
ELSEWHERE = "received"  # before the name of a release that does not lie in the project
LONGEST = 160  # bytes of a file's name
LARGEST_POLICY = 16 << 20  # bytes
LONGEST_START = 60.0  # seconds that a change waits for work that is about to read the policy
_NAME = re.compile(r"[^\w.\- ]+")


@dataclass(frozen=True)
class Taken:
    """What data is taken for: a kind, and of sets where they are."""

    kind: str
    said: str = ""  # the table [transactions] as text, so that values of this compare
    form: str = ""  # the table [form] as text: what is missing, and how numbers are written

    @property
    def where(self) -> Document | None:
        return tomllib.loads(self.said) if self.said else None

    def formed(self, guessed: Form) -> Form:
        """The form of the data as it was guessed, with what the policy says of its values."""
        if not self.form:
            return guessed
        try:
            own: Form = fill(Form, tomllib.loads(self.form))
        except PrivetError:  # the policy is refused for it, and says so
            return guessed
        return replace(guessed, nulls=own.nulls, missing=own.missing, numbers=own.numbers)


TABLES = ("attributes", "form", "algorithm", "documents", "trajectories", "transactions")
TEXTS = ("kind", "person", "rows", "purpose", "nulls")  # of a policy


class Reading(Protocol):
    """Work that reads the policy, and says once it has."""

    heard: threading.Event


@dataclass
class Project:
    """The folder, and where the data lies."""

    folder: Path
    source: str | None = None
    query: str | None = None  # what to select, where the source is a database
    received: tuple[Path, ...] = ()  # releases that lie elsewhere, to be looked at
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _reading: threading.Event | None = field(default=None, repr=False)

    @classmethod
    def opened(cls, data: str | None, folder: Path | None, query: str | None = None) -> Project:
        """The project of some data, or of a folder; made when something is first saved in it."""
        if folder is None:
            place = Path(data) if data is not None and not source_text.is_url(data) else None
            folder = Path("privet.studio") if place is None else place.with_name(stem(place) + SUFFIX)
        folder = folder.absolute()
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: this is a file; a project is a folder")
        made = cls(folder, query=query)
        if data is not None and (Path(data) / ev.FILE).is_file():
            made.received, made.source = (Path(data).resolve(),), made._noted()
        elif data is not None:
            if not source_text.is_url(data):
                if not Path(data).is_file():
                    raise InputError(f"{data}: no such file")
                data = str(Path(data).resolve())
            made.source = data
        else:
            made.source = made._noted()
        return made

    def _noted(self) -> str | None:
        note = self.folder / NOTE
        if not note.is_file():
            return None
        try:
            said = tomllib.loads(note.read_text(encoding="utf-8")).get("source")
        except (OSError, ValueError):
            return None
        found = None if not isinstance(said, str) else (self.folder / said).resolve()
        return str(found) if found is not None and found.is_file() else None

    @property
    def policy_file(self) -> Path:
        return self.folder / POLICY

    @property
    def given(self) -> str:
        """The source as a road takes it; asked only where there is one."""
        if self.source is None:
            raise InputError("there is no data yet: open a file first")
        return self.source

    def selected(self) -> str | None:
        """What is selected from a database: as was said at the start, or as the policy says."""
        try:
            said = self.document().get("form", {}).get("query")
        except PrivetError:
            said = None
        return self.query or said

    def taken(self) -> Taken | None:
        """What the data is taken for, as the policy says; None: nobody has said."""
        try:
            document = self.document()
        except PrivetError:
            return None
        if not document:
            return None
        kind, where = str(document.get("kind", TABLE)), document.get(TRANSACTIONS)
        said = tomli_w.dumps(where) if kind == TRANSACTIONS and isinstance(where, dict) else ""
        form = document.get("form", {})
        return Taken(kind, said, tomli_w.dumps(form) if kind in {TABLE, TRAJECTORIES} else "")

    @property
    def data_name(self) -> str:
        """The source as it may be shown: of a database no more than that it is one."""
        if self.source is None:
            return ""
        return "a database" if source_text.is_url(self.source) else Path(self.source).name

    def signature(self) -> tuple[Any, ...]:
        """What changes when the data does; a database on another machine gives no sign of it."""
        if self.source is None:
            return (None,)
        if not source_text.is_url(self.source):
            return (self.source, *_stamp(Path(self.source)))
        if (file := databases.sqlite_file(self.source)) is None:
            return (self.source,)
        beside = [file.with_name(f"{file.name}{end}") for end in ("", "-wal")]  # what is not in the file yet
        return (self.source, *(_stamp(path) for path in beside if path.is_file()))

    @property
    def is_silent(self) -> bool:
        """Does the data change without a sign, as that of a database on another machine?"""
        url = self.source is not None and source_text.is_url(self.source)
        return url and databases.sqlite_file(str(self.source)) is None

    # What was decided.

    def text(self) -> str:
        """The policy as it stands on disk; empty: nothing yet."""
        try:
            found = self.policy_file.stat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_POLICY:
                raise InputError(f"{POLICY}: this is not a text file")  # a device never ends
            return self.policy_file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, ValueError):
            raise InputError(f"{POLICY}: this is not a text file") from None

    def digest(self) -> str:
        """By which a form knows what it was made from."""
        return sha256(self.text().encode()).hexdigest()

    def standing(self) -> str:
        """By which work and pages know what they are about: the data, the policy, the trees that it names."""
        said = [self.digest(), repr(self.signature())]
        for tree in _trees(self.document()):
            if (file := self.folder / tree).is_file():
                found = file.stat()
                said.append(f"{tree} {found.st_size} {found.st_mtime_ns} {found.st_ino}")
        return sha256("\n".join(said).encode()).hexdigest()

    def document(self) -> Document:
        found = self.text()
        return shaped(found) if found else {}

    def policy(self) -> Policy:
        """The policy, where it is one already; else every complaint."""
        return Policy.from_document(self.document(), base=self.folder)

    def complaints(self) -> list[str]:
        """What is left to do before anything can be published."""
        try:
            self.policy()
        except PrivetError as error:
            return list(error.complaints)
        return []

    def trial(self, change: Callable[[Document], None]) -> Policy:
        """The policy that an edit would make, without making it."""
        document = self.document()
        change(document)
        return Policy.from_document(document, base=self.folder)

    def taken_as_shown(self, standing: str, begin: Callable[[], T]) -> T:
        """Begin work on what a page has shown; it is not changed until that work has read it."""
        with self._lock:
            if standing != self.standing():
                raise InputError(
                    "the policy, a hierarchy or the data was changed since this page was made: look again, "
                    "then publish"
                )
            begun = begin()
            self._reading = begun.heard
            return begun

    def _write(self, path: Path, text: str) -> None:
        if self._reading is not None:
            self._reading.wait(LONGEST_START)
        _private(path.parent)
        path = followed(path)
        self._refuse_outside(path)
        with aside(path) as made:
            fresh = made.fresh(path.name)
            fresh.write_text(text, encoding="utf-8", newline="\n")
            fresh.chmod(0o600)  # whatever the umask: trees hold values of the data
            made.replace(path.name)

    def _refuse_outside(self, path: Path) -> None:
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise InputError(f"{path.name}: a link leads out of the project, and nothing is written there")

    def edit(self, change: Callable[[Document], None]) -> None:
        """Change what stands on disk now, and nothing that another tab has decided meanwhile."""
        with self._lock:
            document = self.document()
            if not document:
                raise InputError("nothing is drafted yet: begin at the first page")
            change(document)
            self._write(self.policy_file, tomltext.written(document))

    def replace_text(self, new: str, digest: str) -> None:
        """The whole policy as somebody typed it; refused if it changed since the page was made."""
        with self._lock:
            if digest != self.digest():
                raise InputError("the policy was changed meanwhile, perhaps in another tab: look again")
            shaped(new)
            self._write(self.policy_file, new)

    def begin(self, source: Path | str, drafted: str, query: str | None = None) -> None:
        """Take a source and what a draft says of it; the decisions about another source go."""
        with self._lock:
            self._write(self.policy_file, drafted)
            self.source, self.query = str(source), query or self.query
            self.note()

    def note(self) -> None:
        """Say where the data lies, so that the folder alone is enough tomorrow; of a database nothing."""
        if self.source is None or source_text.is_url(self.source) or self._noted() == self.source:
            return
        place = Path(self.source)
        near = place.relative_to(self.folder) if place.is_relative_to(self.folder) else place
        self.written(self.folder / NOTE, tomli_w.dumps({"source": str(near)}))

    # Files.

    def inside(self, name: str) -> Path:
        """A file of this folder by its name; whatever leads out of it is refused."""
        try:
            found = (self.folder / name).resolve()
            there = found.is_relative_to(self.folder.resolve()) and found.is_file()
        except (OSError, ValueError):  # no file has such a name
            there = False
        if not there:
            raise InputError("there is no such file in this project")
        return found

    def room_for(self, folder: str, name: str) -> Path:
        """Where a file that arrives is put: under its own name without anything that leads elsewhere."""
        plain = _NAME.sub("_", Path(name.replace("\\", "/")).name).strip(" .")
        if not plain:
            raise InputError("this file has no name")
        plain = plain if len(plain.encode()) <= LONGEST else f"{plain[:40]}{Path(plain).suffix[:12]}"
        self._refuse_outside(self.folder / folder)
        place = self.folder / folder / plain
        number = 2
        while place.exists():
            place = self.folder / folder / f"{number}-{plain}"
            number += 1
        _private(place.parent)
        return place

    def files(self) -> list[str]:
        """What could be opened here, besides what is ours."""
        if not self.folder.is_dir():
            return []
        found = [*self.folder.iterdir(), *(self.folder / DATA).glob("*")]
        return sorted(
            str(path.relative_to(self.folder))
            for path in found
            if path.is_file() and path.suffix != ".toml" and not path.name.startswith(".")
        )

    def releases(self) -> list[Path]:
        """The releases of this project, as they are listed."""
        return list(self.named().values())

    def named(self) -> dict[str, Path]:
        """The releases of this project by name, the newest first; before them those that lie elsewhere.

        One that lies elsewhere has a name that no folder here can have: a stranger's "release-1" is not ours.
        """
        found = [
            path
            for path in (self.folder / RELEASES).glob("*")
            if not path.name.startswith(".") and (path / ev.FILE).is_file()
        ]
        ours = sorted(found, key=lambda path: (path / ev.FILE).stat().st_mtime, reverse=True)
        places = {path.resolve() for path in found}
        theirs = [path for path in self.received if path.resolve() not in places]
        return {f"{ELSEWHERE}/{path.name}": path for path in theirs} | {path.name: path for path in ours}

    def release(self, name: str) -> Path:
        """A release of this project by its name."""
        known = self.named()
        if name not in known:
            raise InputError("there is no such release in this project")
        return known[name]

    def next_release(self, meant: Collection[str] = ()) -> Path:
        """A folder for the next release; `meant`: names that others are about to take."""
        self._refuse_outside(self.folder / RELEASES)
        taken = {path.name for path in (self.folder / RELEASES).glob("*")} | set(meant)
        number = 1
        while taken & {f"release-{number}", f"release-{number}.private"}:
            number += 1
        return self.folder / RELEASES / f"release-{number}"

    def written(self, path: Path, text: str) -> None:
        """A file of the project, whole or not at all."""
        with self._lock:
            self._write(path, text)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _private(folder: Path) -> None:
    """Make a folder that is not there, and those above it, for nobody else; others stay as they are."""
    if folder.is_dir():
        return
    _private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)  # at no moment for others
    folder.chmod(0o700)  # whatever the umask


def shaped(text: str) -> Document:
    """A policy whose parts have the shape that pages edit; whether it is one already is another question."""
    found = dict(tomltext.document(text, POLICY))
    tables = {key: found[key] for key in TABLES if key in found}
    if isinstance(documents := found.get("documents"), dict) and "types" in documents:
        tables["types"] = documents["types"]
    for key in ("attributes", "types"):
        below = tables.get(key)
        tables |= {f"{key}.{name}": one for name, one in below.items()} if isinstance(below, dict) else {}
    tables |= {
        f"{name}.hierarchy": one["hierarchy"]
        for name, one in tables.items()
        if name.startswith("attributes.") and isinstance(one, dict) and "hierarchy" in one
    }
    models = found.get("models", [])
    tables |= {f"models.{at}": one for at, one in enumerate(models if isinstance(models, list) else [None])}
    wrong = [f"{POLICY}: {key}: this is a table" for key, one in tables.items() if not isinstance(one, dict)]
    wrong += [f"{POLICY}: {key}: this is a text" for key in TEXTS if not isinstance(found.get(key, ""), str)]
    if wrong:
        raise InputError(*wrong)
    return found


def _trees(said: object) -> Iterator[str]:
    """The files of trees that a policy names: of columns, of fields of documents, of the items of sets."""
    for key, below in said.items() if isinstance(said, dict) else ():
        if key == "hierarchy" and isinstance(below, dict) and isinstance(below.get("path"), str):
            yield below["path"]
        yield from _trees(below)


def stem(path: Path) -> str:
    """A file's name without its endings."""
    name = path.name
    while (suffix := Path(name).suffix) and re.fullmatch(r"\.[A-Za-z0-9]{1,8}", suffix):
        name = name.removesuffix(suffix)
    return name or path.name


def undecided(document: Document) -> Iterator[str]:
    """The columns and fields that nobody has decided about."""
    for name, said in document.get("attributes", {}).items():
        if isinstance(said, dict) and said.get("role") == "undecided":
            yield name
    for kind, said in document.get("documents", {}).get("types", {}).items():
        yield from (f"{kind}.{name}" for name in said.get("undecided", ()))
