"""A release: the data that may leave, the policy, the evidence and the report, as a folder.

    out/          may be handed to anybody: data.csv, policy.toml, report.html, evidence.json
    out.private/  stays with the steward: how each raw value is published, and the search's whole log

Both are written beside their final place and renamed at the end (`placing`), so that an interrupted run
leaves nothing that looks like a release, and what it would have replaced stands until the new one does.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privet import jsonvalue, notebook
from privet.core import PrivacyModel, Step, Verdict
from privet.errors import InputError, MissingExtraError, PrivetError, TamperedError
from privet.evidence import folder as ev
from privet.evidence.measures import Measures
from privet.evidence.signing import Signatories
from privet.evidence.values import DataNote, Evidence
from privet.placing import Aside, aside, fits
from privet.policy import handed
from privet.policy.values import Policy
from privet.report import html

PRIVATE, NOTES, REMOVED = ".private", "steward.json", "removed.html"
FIRST = 512  # bytes of the notes, in which their source stands
BEGINNING = re.compile(rb'\{"private": 1, "keep": "[^"\\]*", "source": "([0-9a-f]+)"')


@dataclass(frozen=True, kw_only=True)
class Release(ABC):
    """What may leave, and the evidence that it keeps the policy. Each road has a kind of its own."""

    policy: Policy = field(repr=False)
    verdicts: tuple[tuple[PrivacyModel, Verdict], ...]
    evidence: Evidence = field(repr=False)
    steps: tuple[Step, ...] = field(default=(), repr=False)  # the search's log
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)  # what the steward keeps

    @abstractmethod
    def to_polars(self) -> Any:
        """The data as a polars frame."""

    @abstractmethod
    def write_data(self, folder: Path) -> dict[str, Any]:
        """Write the data into a folder; returns what a reader must know of it (evidence: `data`)."""

    def digest(self, data: Path) -> str:
        """SHA-256 of a file of data that `write_data` has written."""
        return ev.digest(data)

    @abstractmethod
    def published_policy(self) -> Policy:
        """The policy as it may be handed to anybody."""

    def private_notes(self) -> dict[str, Any]:
        """What the steward keeps; it may hold raw values."""
        return dict(self.private)

    @property
    def measures(self) -> Measures:
        """What was lost and what risk is left."""
        return self.evidence.measures

    def _repr_html_(self) -> str:
        """What is published, and what was found of it; nothing that does not leave."""
        lost = (self.measures.attributes or {}).items()
        drawn = notebook.bars((name, note.get("lm")) for name, note in lost)
        more = [("lost by column (LM)", drawn)] if drawn else []
        return notebook.card(type(self).__name__, [*self.evidence.facts(), *more])

    def to_arrow(self) -> Any:
        """The data as a pyarrow table."""
        try:
            import pyarrow as pa  # noqa: PLC0415 - an optional extra
        except ImportError:
            raise MissingExtraError("to_arrow()", "arrow") from None
        return pa.table(self.to_polars())

    def to_pandas(self) -> Any:
        """The data as a pandas frame."""
        try:
            import pandas  # noqa: F401, ICN001, PLC0415 - an optional extra
        except ImportError:
            raise MissingExtraError("to_pandas()", "pandas") from None
        return self.to_polars().to_pandas()

    def write(
        self,
        folder: str | Path,
        *,
        overwrite: bool = False,
        claim: Aside | None = None,
        sign: Signatories | None = None,
    ) -> Path:
        """Write the release folder and the private one beside it, whole or not at all.

        Whoever has claimed the folder before the work began (`claimed`) says so with `claim`;
        `sign` is a key, or whoever else signs.
        """
        folder = named(Path(folder))
        private = private_folder(folder)
        with claimed(folder, overwrite=overwrite) if claim is None else nullcontext(claim) as made:
            hidden, public = made.fresh(private.name), made.fresh(folder.name)
            for fresh, mode in ((hidden, 0), (public, 0o077)):
                fresh.mkdir()
                fresh.chmod(0o700 | fresh.stat().st_mode & mode)  # the umask may close more, not open more
            with ThreadPoolExecutor() as beside:
                notes = beside.submit(self._write_private, hidden)
                self._write_public(public, sign, beside)
                notes.result()
            for path in hidden.iterdir():
                path.chmod(0o600)
            refuse_occupied(folder, overwrite=overwrite)  # again: the work may have taken hours
            # The notes first: whatever interrupts this, there is no release without them.
            with made.placing([private.name, folder.name]):
                self.leaving(public)
        return folder

    def leaving(self, folder: Path) -> None:  # noqa: B027 - most releases have nobody to tell
        """Called once with everything written and nothing yet in its public place; what raises here stops
        it. A release that was paid for is entered in its ledger.
        """

    def remarks(self) -> tuple[str, ...]:
        """What turned up while it left, and its steward should know."""
        return ()

    def _write_public(self, folder: Path, sign: Signatories | None, beside: Executor) -> None:
        signers = None if sign is None else sign.signers or None
        whole = replace(self.evidence, data=DataNote.read(self.write_data(folder), "data"), signers=signers)
        long = {path.name: beside.submit(self.digest, path) for path in folder.iterdir()}
        (folder / ev.POLICY).write_text(handed.dumps(self.published_policy()), encoding="utf-8")
        (folder / ev.REPORT).write_text(html.render(whole), encoding="utf-8")
        short = {path.name: ev.digest(path) for path in folder.iterdir() if path.name not in long}
        files = dict(sorted({**short, **{name: one.result() for name, one in long.items()}}.items()))
        ev.write(folder / ev.FILE, replace(whole, files=files))
        if sign is not None:
            sign.put(folder)

    def _write_private(self, folder: Path) -> None:
        said = self.private_notes()
        notes = {
            "private": 1,
            "keep": "this file holds raw values; it stays with the steward",
            **({"source": said["source"]} if "source" in said else {}),  # first: see `_source`
            **said,
        }
        notes["digest"] = _digest(notes)
        path = folder / NOTES
        path.touch(mode=0o600)
        path.write_text(json.dumps(notes, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def claimed(folder: Path, *, overwrite: bool) -> Iterator[Aside]:
    """This run alone writes a release there, from before its work begins until the release stands.

    What a killed run left there is finished or removed first: a release that was paid for arrives.
    """
    folder = named(folder)
    _refuse_impossible(folder)
    with aside(folder, _entered) as made:
        refuse_occupied(folder, overwrite=overwrite)
        yield made


def _entered(fresh: Path) -> bool:
    """Had a killed run entered in a ledger that what lies here leaves?"""
    for file in fresh.glob(f"*/{ev.FILE}"):
        folder = file.parent
        if (paid := ev.read(folder).ledger) is None:
            continue
        from privet.dp.ledger import Ledger  # noqa: PLC0415 - for what was paid for, and seldom

        place = (read_private(folder) or {}).get("ledger")
        try:
            entries = {entry.release: entry for entry in Ledger(str(place), create=False).releases()}
            found = entries.get(paid.release)
            why: tuple[str, ...] = (f"{place}: has no entry of release {paid.release}",)
        except PrivetError as error:
            found, why = None, error.complaints
        if found is None:  # another ledger, or none: nobody knows
            raise InputError(
                *why,
                f"{fresh.parent}: an interrupted run left a release that its ledger may have entered; let "
                "the ledger be asked, or move the folder away",
            )
        return found.digest == f"sha256:{ev.digest(file)}"
    return False


def named(folder: Path) -> Path:
    """A folder with a name to put another one beside: "." and ".." have none."""
    return folder.resolve() if folder.name in {"", ".."} else folder


def _refuse_impossible(folder: Path) -> None:
    """Where no release can be, whatever lies there; found now, not when a budget is spent."""
    if not folder.name:
        raise InputError(f"{folder}: a release is a folder with a name of its own")
    for place in (folder, private_folder(folder)):
        if place.is_symlink():
            raise InputError(f"{place}: this is a link; name the folder itself")
        if place.exists() and not place.is_dir():
            raise InputError(f"{place}: there is a file of that name")
    inside = next((parent for parent in folder.absolute().parents if (parent / ev.FILE).is_file()), None)
    if inside is not None:
        raise InputError(f"{folder}: {inside} is a release, and nothing else goes into what is handed out")
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(f"{folder}: nothing can be written there")
    fits(private_folder(folder))


def refuse_occupied(folder: Path, *, overwrite: bool) -> None:
    """Never write over something that is not a release, and over a release only when told to."""
    _refuse_impossible(folder)
    private = private_folder(folder)
    empty = not folder.exists() or not any(folder.iterdir())
    if private.exists() and any(private.iterdir()) and empty and not overwrite:
        raise InputError(
            f"{private}: here lie the notes on an earlier release; move them, or say --overwrite"
        )
    if private.exists():
        _refuse_foreign(private, {NOTES, REMOVED})
    if empty:
        return
    if not (folder / ev.FILE).is_file():
        raise InputError(f"{folder}: the folder is not empty and holds no release; choose another one")
    if not overwrite:
        raise InputError(f"{folder}: there is a release already; say --overwrite to replace it")
    _refuse_foreign(folder, ev.names(folder))


def _refuse_foreign(folder: Path, ours: Collection[str]) -> None:
    """What nobody released is nobody's to replace."""
    foreign = sum(path.name not in ours for path in folder.iterdir())
    if foreign:
        files = "one file that is" if foreign == 1 else f"{foreign:,} files that are"
        raise InputError(f"{folder}: holds {files} not of a release; move what you want to keep elsewhere")


def private_folder(folder: Path) -> Path:
    """Where the steward's own notes on a release lie."""
    return folder.with_name(folder.name + PRIVATE)


def earlier_releases(folder: Path, digest: str | None) -> list[Path]:
    """Other releases beside this one that were made from the same source."""
    if digest is None:
        return []
    found = []
    for notes in sorted(folder.absolute().parent.glob(f"*{PRIVATE}/{NOTES}")):
        other = folder.parent / notes.parent.name.removesuffix(PRIVATE)
        try:
            same = _source(notes) == digest
        except (OSError, ValueError, AttributeError):
            continue  # not ours, or not readable: nothing to warn of
        if same and other.name != folder.absolute().name:
            found.append(other)
    return found


def _source(notes: Path) -> str | None:
    """Of which data these notes are: it stands at their beginning, and the rest may be long."""
    with notes.open("rb") as file:
        found = BEGINNING.match(file.read(FIRST))
    if found is not None:
        return found[1].decode()
    said: str | None = jsonvalue.loads(notes.read_text(encoding="utf-8")).get("source")
    return said


def paid(folder: Path) -> bool:
    """Was this release paid for in a ledger? Its evidence says so."""
    try:
        return ev.read(folder).ledger is not None
    except TamperedError:
        return False


def read_private(folder: Path) -> dict[str, Any] | None:
    """The steward's own notes on a release, where they lie beside it."""
    path = private_folder(folder) / NOTES
    if not path.is_file():
        return None
    try:
        notes = jsonvalue.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        notes = None
    # Only what was written here is read: whoever explains it need not doubt every word.
    if not isinstance(notes, dict) or notes.pop("digest", None) != _digest(notes):
        raise InputError(f"{path}: these notes are damaged; move them away to go on without them")
    return notes


def _digest(notes: Mapping[str, Any]) -> str:
    """Of what a reader finds in the notes, whatever the spaces."""
    return hashlib.sha256(json.dumps(notes, sort_keys=True).encode()).hexdigest()
