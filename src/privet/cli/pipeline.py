"""What a pipeline needs of a command: a table from stdin, data to stdout, a log, a copy in a database."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from privet.cli import screen
from privet.errors import InputError, PrivetError

if TYPE_CHECKING:
    from privet.core import Progress
    from privet.engines.writeback import Place
    from privet.release import Release

STREAM = "-"
PIECE = 1 << 20  # bytes
LINE = 1 << 16  # of a log
PAGES = 1 << 17  # bytes of the report, the evidence and the policy
PLAIN, UNPACKED = frozenset((".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")), 8


@contextmanager
def incoming(data: str, format: str | None, folder: Path) -> Iterator[str]:  # noqa: A002 - the option's name
    """Where the data lies: what stdin says, in the run's own folder, for nobody else; it goes with it.

    What is wrong with it is said of stdin: nobody has seen the copy's name.
    """
    if data != STREAM:
        yield data
        return
    from privet.collect.source import standard_input

    path = folder / f"stdin.{format or 'csv'}"
    with path.open("xb") as spooled:
        shutil.copyfileobj(standard_input(), spooled)
    try:
        yield str(path)
    except PrivetError as error:
        error.complaints = tuple(complaint.replace(str(path), "stdin") for complaint in error.complaints)
        error.args = ("\n".join(error.complaints),)
        raise


def room(source: str) -> int:
    """About as many bytes as a release of it may take: what is paid for must not find the disk full."""
    path = Path(source)
    files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    sizes = (one.stat().st_size * (1 if one.suffix in PLAIN else UNPACKED) for one in files if one.is_file())
    return PAGES + sum(sizes)


def folder_of(output: Path, evidence: Path | None, *, json: bool) -> Path:
    """The folder that is made: where stdout takes the data, that of the evidence."""
    if str(output) != STREAM:
        if evidence is not None:
            raise InputError("--evidence: names the folder where `-o -` sends the data to stdout")
        return output
    if evidence is None:
        raise InputError("-o -: say --evidence DIR: a release without its evidence shows nothing")
    if json:
        raise InputError("--json: stdout has the data already (-o -)")
    return evidence


def to_stdout(folder: Path) -> None:
    """The data of a release, and nothing else."""
    found = [path for path in sorted(folder.glob("data.*")) if path.is_file()]
    if len(found) != 1:
        raise InputError(
            f"{folder}: the data is not one file, so it cannot go to stdout; it is in the folder"
        )
    target = screen.Stdout()
    try:
        with found[0].open("rb") as data:
            shutil.copyfileobj(data, target, PIECE)
        target.flush()
    except screen.UnreadError as error:  # the data is the answer: who waits for it has a part of it, or none
        screen.silenced()  # what is still in the buffer has no room either
        raise InputError(
            f"stdout: the data could not be written whole ({error.reason}); the release stands in {folder}"
        ) from None


def into(url: str | None, table: str | None, *, overwrite: bool) -> Place | None:
    """Where a copy shall stand; refused now if it cannot."""
    if url is None:
        if table is not None:
            raise InputError("--table: names a table beside --into")
        return None
    from privet.engines.writeback import place

    found = place(url, table, overwrite=overwrite)
    found.refuse()
    return found


def copied(place: Place, release: Release, folder: Path) -> None:
    """The rows and the evidence of a release that stands, in its place."""
    try:
        place.write(release.to_polars(), _texts(folder))
    except PrivetError as error:
        raise InputError(
            *error.complaints, f"{folder}: the release stands; only its copy is missing"
        ) from None


def _texts(folder: Path) -> dict[str, str]:
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith("data.")]
    return {path.name: path.read_text(encoding="utf-8") for path in files}


@dataclass
class Log:
    """Lines of JSON about a run, for whoever watches pipelines: never a value of the data."""

    stream: TextIO | None
    run: str = field(default_factory=lambda: secrets.token_hex(8))
    _stage: str | None = None
    _since: float = 0.0

    def note(self, event: str, **said: Any) -> None:
        if self.stream is not None:
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            try:
                self.stream.write(json.dumps({"at": at, "run": self.run, "event": event, **said}) + "\n")
                self.stream.flush()
            except OSError as error:
                raise OSError(error.errno, error.strerror, self.stream.name) from None

    def watching(self, progress: Progress) -> Progress:
        """The same progress; each stage that ends is noted."""

        def told(stage: str, done: int, of: int | None = None) -> None:
            if stage != self._stage:
                self.staged()
                self._stage, self._since = stage, time.monotonic()
            progress(stage, done, of)

        return told

    def staged(self) -> None:
        """The stage that was under way has ended."""
        if self._stage is not None:
            self.note("stage", stage=self._stage, seconds=round(time.monotonic() - self._since, 3))
        self._stage = None

    def published(self, release: Release, files: Mapping[str, str]) -> None:
        self.staged()
        evidence = release.evidence
        promises = [{"type": promise.type, "holds": promise.holds} for promise in evidence.promises]
        left_out = evidence.suppressed_records
        self.note(
            "published", records=evidence.records, left_out=left_out, promises=promises, files=dict(files)
        )


def _refuse_other_files(path: Path) -> None:
    """A line of a log in the data or the policy is damage; whoever opens a pipe may wait for ever."""
    try:
        kind = path.stat()
    except FileNotFoundError:
        return
    if stat.S_ISFIFO(kind.st_mode) or stat.S_ISDIR(kind.st_mode):
        raise InputError(f"{path}: a log is a file, and not a pipe or a folder")
    if not stat.S_ISREG(kind.st_mode) or not kind.st_size:
        return
    with path.open("rb") as there:
        first = there.readline(LINE)
    try:
        begun = json.loads(first)
    except ValueError:
        begun = None
    if not isinstance(begun, dict) or not {"at", "run", "event"} <= begun.keys():
        raise InputError(f"{path}: is there already, and no log of privet; name another file (--log)")


@contextmanager
def logged(path: Path | None, folder: Path) -> Iterator[Log]:
    """A log that is added to; how the run ended is its last line."""
    if path is None:
        yield Log(None)
        return
    if path.absolute().parent == folder.absolute():
        raise InputError(f"{path}: a log must not lie in the release folder")
    _refuse_other_files(path)
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8"
    ) as stream:
        log = Log(stream)
        log.note("begun")
        try:
            yield log
        except PrivetError as error:
            log.note("failed", error=error.code, complaints=list(error.complaints))
            raise
        except BaseException as error:
            log.note("failed", error=type(error).__name__)
            raise
