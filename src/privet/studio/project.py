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

import stat
import threading
import tomllib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar

import tomli_w

from privet import tomltext
from privet.declared import TABLE
from privet.engines import databases
from privet.engines import text as source_text
from privet.errors import InputError, PrivetError
from privet.evidence import folder as ev
from privet.policy.values import Policy
from privet.studio.folder import Folder, stem
from privet.studio.shape import POLICY, TRANSACTIONS, Document, Taken, shaped, trees

T = TypeVar("T", bound="Reading")
NOTE = "studio.toml"
SUFFIX = ".studio"
LARGEST_POLICY = 16 << 20  # bytes
LONGEST_START = 60.0  # seconds that a change waits for work that is about to read the policy


class Reading(Protocol):
    """Work that reads the policy, and says once it has."""

    heard: threading.Event


@dataclass
class Project(Folder):
    """The folder, where the data lies, and what was decided."""

    source: str | None = None
    query: str | None = None  # what to select, where the source is a database
    looks: int = 0  # at a database on another machine, besides the first
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _reading: threading.Event | None = field(default=None, repr=False)
    _parsed: tuple[str, Document] = field(default=("", {}), repr=False)  # a text, and what it says

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
            said = self._read().get("form", {}).get("query")
        except PrivetError:
            said = None
        return self.query or said

    def taken(self) -> Taken | None:
        """What the data is taken for, as the policy says; None: nobody has said."""
        try:
            document = self._read()
        except PrivetError:
            return None
        if not document:
            return None
        kind, where = str(document.get("kind", TABLE)), document.get(TRANSACTIONS)
        said = tomli_w.dumps(where) if kind == TRANSACTIONS and isinstance(where, dict) else ""
        return Taken(kind, said, tomli_w.dumps(document.get("form", {})))

    @property
    def data_name(self) -> str:
        """The source as it may be shown: of a database no more than that it is one."""
        if self.source is None:
            return ""
        return "a database" if source_text.is_url(self.source) else Path(self.source).name

    def signature(self) -> tuple[Any, ...]:
        """What changes when the data does; one that gives no sign of it changes when somebody looks again."""
        if self.source is None:
            return (None,)
        if not source_text.is_url(self.source):
            return (self.source, *_stamp(Path(self.source)))
        if (file := databases.sqlite_file(self.source)) is None:
            return (self.source, self.looks)
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
        for tree in trees(self._read()):
            if (file := self.folder / tree).is_file():
                found = file.stat()
                said.append(f"{tree} {found.st_size} {found.st_mtime_ns} {found.st_ino}")
        return sha256("\n".join(said).encode()).hexdigest()

    def document(self) -> Document:
        """The policy as it stands on disk, to be changed at will."""
        return deepcopy(self._read())

    def _read(self) -> Document:
        """The same for those who only read: one page asks many times, and the text is parsed once."""
        found = self.text()
        text, document = self._parsed
        if found != text:
            document = shaped(found) if found else {}
            self._parsed = found, document
        return document

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

    def edit(self, change: Callable[[Document], None]) -> None:
        """Change what stands on disk now, and nothing that another tab has decided meanwhile."""
        with self._lock:
            document = self.document()
            if not document:
                raise InputError("nothing is drafted yet: begin at the first page")
            change(document)
            self.written(self.policy_file, tomltext.written(document))

    def replace_text(self, new: str, digest: str) -> None:
        """The whole policy as somebody typed it; refused if it changed since the page was made."""
        with self._lock:
            if digest != self.digest():
                raise InputError("the policy was changed meanwhile, perhaps in another tab: look again")
            shaped(new)
            self.written(self.policy_file, new)

    def begin(self, source: Path | str, drafted: str, query: str | None = None) -> None:
        """Take a source and what a draft says of it; the decisions about another source go."""
        with self._lock:
            self.written(self.policy_file, drafted)
            self.source, self.query = str(source), query or self.query
            self.note()

    def note(self) -> None:
        """Say where the data lies, so that the folder alone is enough tomorrow; of a database nothing."""
        if self.source is None or source_text.is_url(self.source) or self._noted() == self.source:
            return
        place = Path(self.source)
        near = place.relative_to(self.folder) if place.is_relative_to(self.folder) else place
        self.written(self.folder / NOTE, tomli_w.dumps({"source": str(near)}))

    def written(self, path: Path, text: str) -> None:
        """A file of the project, whole or not at all; work that is about to read the policy has read it."""
        with self._lock:
            if self._reading is not None:
                self._reading.wait(LONGEST_START)
            self.put(path, text)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
