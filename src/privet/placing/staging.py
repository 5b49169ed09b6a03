"""A folder of one's own beside the place where something shall stand; signals wait until it stands."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from privet.errors import InputError
from privet.placing import system

LOCK, NEW, OLD, READY, NEARLY, ROOM = "lock", "new", "old", "ready", "nearly ready", "room"
RANDOM = 8  # letters that tempfile adds to a name

Placed: TypeAlias = list[Path]
Settled: TypeAlias = Callable[
    [Path], bool
]  # of what lies in a folder ready to be placed: was the block done?
_WATCHED: ContextVar[Placed | None] = ContextVar("placed", default=None)
STOPS = tuple(number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)))


@dataclass(frozen=True)
class Aside:
    """The working folder of this run for one place."""

    folder: Path
    parent: Path  # where everything shall stand

    def fresh(self, name: str) -> Path:
        """Where to write what shall be called `name`; one step down, so that nothing else gets in its way."""
        (self.folder / ROOM).unlink(missing_ok=True)
        inside = self.folder / NEW
        inside.mkdir(exist_ok=True)
        inside.chmod(0o700)  # whatever the umask
        return inside / name

    def hold(self, size: int) -> None:
        """Take room for what will be written, until it is: whoever pays before that must find it there."""
        system.filled(self.folder / ROOM, size)

    def place(self, names: Sequence[str]) -> None:
        """Put what was written under `names` in its place, in this order, over what stands there."""
        with self.placing(names):
            pass

    @contextmanager
    def placing(self, names: Sequence[str]) -> Iterator[None]:
        """The same, after the block: there everything is on the disk and nothing in its place.

        What the block raises stops the work. From its end to the last rename nobody can interrupt but a
        kill, and then the next run finishes: it knows that the block was done by the name of the plan, or
        asks (`Settled`) where the kill came between the two.
        """
        (self.folder / OLD).mkdir(exist_ok=True)
        steps = {name: [_number(self.folder / NEW / name), _number(self.parent / name)] for name in names}
        plan = self.folder / NEARLY
        plan.write_text(json.dumps(steps), encoding="utf-8")
        system.synced(self.folder)
        with system.alone_in(self.parent), waiting():
            yield
            plan.rename(self.folder / READY)
            _finished(self.folder, self.parent)
            note(self.parent / names[-1])

    def replace(self, name: str) -> None:
        """One file that was written, over what stands in its place: that is one step."""
        system.synced(self.folder / NEW)
        (self.folder / NEW / name).replace(self.parent / name)
        note(self.parent / name)


@contextmanager
def aside(place: Path, settled: Settled = lambda _fresh: False) -> Iterator[Aside]:
    """A working folder for what shall stand at `place`; refuses while another run has one.

    What a killed run was about to place is placed if `settled` says so, and else removed.
    An `OSError` on the way names the place, not the working folder, which is gone by then.
    """
    made, parent = _folders(place.parent), place.parent
    folder: Path | None = None
    lock: int | None = None
    arrived = False
    try:
        with system.alone_in(parent), waiting():
            _recovered(place, settled)
            folder, lock = _own(place)
        yield Aside(folder, parent)
        arrived = True
    except OSError as error:
        raise told(error, place) from None
    finally:
        with waiting():
            # What could not be put in its place waits for the next run.
            if folder is not None and not (folder / READY).exists():
                _removed(folder)
            if lock is not None:
                os.close(lock)
            for empty in () if arrived else made:
                with suppress(OSError):
                    empty.rmdir()


def _own(place: Path) -> tuple[Path, int | None]:
    """A new working folder and its lock, for nobody else to look into."""
    folder = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        folder.chmod(0o700)  # whatever the umask
        return folder, system.held(folder / LOCK)
    except BaseException:
        _removed(folder)
        raise


def _folders(parent: Path) -> list[Path]:
    """Make the folder; which ones had to be made, the deepest first."""
    missing = []
    at = parent
    while not at.exists():
        missing.append(at)
        at = at.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        for empty in missing:
            with suppress(OSError):
                empty.rmdir()
        raise
    return missing


def told(error: OSError, place: Path) -> OSError:
    """The same reason, with the name that the steward knows."""
    said = re.search(r"\(os error (\d+)\)", str(error))  # so polars says it, without a number
    number = error.errno or (int(said[1]) if said else None)
    if number is None:
        return error
    found = error.filename2 or error.filename  # of a copy that fails, where it was to go
    named = found if isinstance(found, str) else None
    inside = Path(named) if named is not None else place
    if named is None or f"{os.sep}.{place.name}." in f"{os.sep}{named}":
        inside = place / inside.name if inside.parent.name == place.name else place
    return OSError(number, os.strerror(number), str(inside))


def scratch(owner: object, name: str, within: Path | None = None) -> Path:
    """A folder for what is not yet to leave, where the system keeps such or `within` another.

    It goes with its owner, or with its run. What killed runs left is removed by the next, unless the disk has
    no locks to tell who was killed.
    """
    place = (Path(tempfile.gettempdir()) if within is None else within) / name
    with system.alone_in(place.parent):
        folder, lock = _own(place)
        weakref.finalize(owner, _gone, folder, lock)
        for other in _beside(place) if system.alive(folder / LOCK) else ():
            if not system.alive(other / LOCK):
                _removed(other)
    return folder


def _gone(folder: Path, lock: int | None) -> None:
    if lock is not None:
        os.close(lock)  # a process may own thousands, one after the other
    shutil.rmtree(folder, ignore_errors=True)


def _recovered(place: Path, settled: Settled) -> None:
    """Finish or remove what dead runs left beside the place; refuse if one of them lives."""
    for folder in _beside(place):
        if system.alive(folder / LOCK):
            raise InputError(f"{place}: another run is writing there; wait for it, or choose another name")
        if not system.ours(folder):
            continue  # what somebody else planned is not ours to do
        nearly = folder / NEARLY
        if nearly.is_file() and settled(folder / NEW):
            nearly.rename(folder / READY)
        if (folder / READY).is_file():
            _finished(folder, place.parent)
        _removed(folder)


def _beside(place: Path) -> Iterator[Path]:
    """The working folders of all runs for this place, living or dead."""
    start = f".{place.name}."
    for folder in sorted(place.parent.iterdir()):
        if not folder.name.startswith(start) or len(folder.name) != len(start) + RANDOM:
            continue
        if folder.is_symlink() or not folder.is_dir():
            continue
        lock = folder / LOCK
        if lock.is_file() and not lock.is_symlink():
            yield folder
        else:
            with suppress(OSError):  # killed before it had a lock, and so before it had anything; or not ours
                folder.rmdir()


def _finished(folder: Path, parent: Path) -> None:
    """Every step of a plan that is not yet made. What was replaced is kept until all of them are."""
    for name, (new, old) in _planned(folder).items():
        fresh, place, replaced = folder / NEW / name, parent / name, folder / OLD / name
        if _number(fresh) != new:  # it stands, and what lies here now is what it replaced
            continue
        stands = _number(place)
        if stands not in {old, None}:
            raise InputError(
                f"{place}: an interrupted run was about to write here, and since then something else was put "
                f"in this place; what it wrote is in {folder}: move one of the two away"
            )
        if stands is None:
            fresh.rename(place)
        elif not system.exchanged(fresh, place):
            place.rename(replaced)
            fresh.rename(place)
    (folder / READY).unlink()


def _planned(folder: Path) -> dict[str, tuple[int | None, int | None]]:
    """The steps of a plan: names of the folder that it is for, and by what each side is known."""
    wrong = (
        f"{folder}: an interrupted run left this, and its plan cannot be read; look into the folder for what "
        "it wrote, then remove it"
    )
    try:
        steps = json.loads((folder / READY).read_text(encoding="utf-8"))
        found = {name: (new, old) for name, (new, old) in steps.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InputError(wrong) from None
    place = folder.name[1 : -RANDOM - 1]
    for name, numbers in found.items():
        # A name that leads elsewhere is not one that a run of ours has written.
        if not name.startswith(place) or Path(name).name != name:
            raise InputError(wrong)
        if any(number is not None and type(number) is not int for number in numbers):
            raise InputError(wrong)
    return found


def _removed(folder: Path) -> None:
    """The lock goes last: by it the rest is recognised if this is interrupted too, or if another process
    goes on writing there, such as that of a cluster.
    """
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LOCK:
                path.unlink()
        if any(path.name != LOCK for path in folder.iterdir()):
            return
        (folder / LOCK).unlink(missing_ok=True)
        try:
            folder.rmdir()
        except OSError:  # something has come meanwhile
            system.emptied(folder / LOCK)


def _number(path: Path) -> int | None:
    """By what a folder or a file is known whatever it is called."""
    try:
        return os.lstat(path).st_ino
    except FileNotFoundError:
        return None


@contextmanager
def noted() -> Iterator[Placed]:
    """A list of what is put in its place from now on, so that who is stopped can say what was written."""
    placed: Placed = []
    token = _WATCHED.set(placed)
    try:
        yield placed
    finally:
        _WATCHED.reset(token)


def note(place: Path) -> None:
    """This stands now."""
    placed = _WATCHED.get()
    if placed is not None:
        placed.append(place)


@contextmanager
def waiting() -> Iterator[None]:
    """Whoever wants to stop us is heard a few renames later: half a step is worse than none and than all."""
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads are not interrupted by signals
        return
    heard: list[tuple[int, FrameType | None]] = []
    before = {
        number: signal.signal(number, lambda *said: heard.append(said))
        for number in STOPS
        if callable(signal.getsignal(number))  # what is ignored stays ignored, and what kills kills
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in heard[:1]:
            handler = before[signal.Signals(number)]
            if callable(handler):
                handler(number, frame)
