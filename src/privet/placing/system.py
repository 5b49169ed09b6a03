"""What the system offers for it: locks, exchanging two names at once, and waiting for the disk."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from privet.errors import InputError

fcntl: Any
try:
    import fcntl
except ImportError:  # no such system call here: every other run is taken for a living one
    fcntl = None

AT_FDCWD = -100
RENAME_EXCHANGE = 2
NOT_OFFERED = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}
PIECE = 1 << 20  # bytes
PATIENCE = 60.0  # seconds; the lock of a folder is held for a few renames


def exchanged(one: Path, other: Path) -> bool:
    """Let two names change places in one step; False where the system or the disk cannot do it."""
    if not sys.platform.startswith("linux"):
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    if call(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    failed = ctypes.get_errno()
    if failed in NOT_OFFERED:
        return False
    raise OSError(failed, os.strerror(failed), str(other))


def filled(path: Path, size: int) -> None:
    """A file of that size with its place on the disk; raises where there is none."""
    with path.open("xb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        for _ in range(-(-size // PIECE)):
            file.write(bytes(PIECE))


def held(path: Path) -> int | None:
    """The open lock of a file that nobody else holds; None where somebody does."""
    opened = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    os.chmod(path, 0o600)  # noqa: PTH101 - whatever the umask
    if fcntl is None or _taken(opened):
        return opened
    os.close(opened)
    return None


def alive(path: Path) -> bool:
    """Does the run whose lock this is still live?"""
    if fcntl is None:
        return True
    try:
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except PermissionError:  # somebody else's
        return True
    try:
        return not _taken(opened)
    finally:
        os.close(opened)


def ours(path: Path) -> bool:
    """Did this user make it?"""
    return not hasattr(os, "geteuid") or os.lstat(path).st_uid == os.geteuid()


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """No other run makes, finishes or removes its working folders in `folder` meanwhile."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        until = time.monotonic() + PATIENCE
        while fcntl is not None and not _taken(opened):
            if time.monotonic() > until:
                raise InputError(f"{folder}: another program has locked this folder")
            time.sleep(0.01)
        yield
    finally:
        os.close(opened)


def _taken(opened: int) -> bool:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}:
            return True  # a disk without locks: whoever shares it is on their own
        raise
    return True


def synced(folder: Path) -> None:
    """Everything in a folder is on the disk, and not only promised to be."""
    for above, _, names in os.walk(folder):
        for path in (*(Path(above) / name for name in names), Path(above)):
            on_disk(path)


def on_disk(path: Path) -> None:
    """The same for one file or folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError) if path.is_dir() else _named(path):  # some disks sync no folders
            os.fsync(opened)
    finally:
        os.close(opened)


def nearly_on_disk(path: Path, patience: float) -> None:
    """A file is on the disk, or on its way there: a busy disk is waited for this many seconds only.

    It is waited for to the end beside, and before this program ends. Until then a power cut may lose the
    text; a kill does not. A disk that fails only after that is heard of by the next file.
    """
    opened = os.open(path, os.O_RDONLY)
    failed: list[OSError] = []

    def wait() -> None:
        try:
            with _named(path):
                os.fsync(opened)
        except OSError as error:
            failed.append(error)
        finally:
            os.close(opened)

    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(patience)
    if failed:
        raise failed[0]


def emptied(path: Path) -> None:
    """A file with nothing in it, for nobody else to look into, whatever the umask; never through a link."""
    how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    opened = os.open(path, how, 0o600)
    os.close(opened)
    os.chmod(path, 0o600)  # noqa: PTH101 - whatever the umask


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def fits(*places: Path) -> None:
    """Refuse names that are too long for their disk, with room for the working folder's, before any work."""
    for place in places:
        above = next(parent for parent in place.absolute().parents if parent.exists())
        try:
            most = os.pathconf(above, "PC_NAME_MAX")
        except (OSError, ValueError, AttributeError):
            continue
        if len(os.fsencode(place.name)) > most - len("..12345678"):
            raise InputError(f"{place}: {os.strerror(errno.ENAMETOOLONG).lower()}")


def followed(path: Path) -> Path:
    """The file that a link points to; a link to nothing, and what is not a plain file, is refused."""
    if not path.is_symlink():
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(f"{path}: this is not a plain file; name a file")  # a device would be replaced
        return path
    found = path.resolve()
    if not found.exists():
        raise InputError(f"{path}: a link that points to nothing; remove it, or name a file")
    if not (found.is_file() or found.is_dir()):
        raise InputError(f"{path}: a link to what is not a plain file; name a file")
    return found
