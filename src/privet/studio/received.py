"""A release that somebody sent as a zip: unpacked beside one's own, as far as it is one.

What is in a zip was written by a stranger. A name that leads anywhere is refused, what is unpacked is counted
while it is unpacked, and nothing is kept of a zip that is not a release.
"""

from __future__ import annotations

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from privet.errors import InputError
from privet.evidence import folder as ev
from privet.evidence import sealed

FILES = 64  # of a release
CHUNK = 1 << 20
NOT_ONE = "this zip is not a release: it has one folder with evidence.json and the files that it names"


def unpacked(path: Path, place: Path, largest: int = sealed.LARGEST) -> None:
    """The release of a zip, as the folder `place`; nothing stands there if it is not one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(prefix=".incoming-", dir=place.parent))
    try:
        try:
            with zipfile.ZipFile(path) as packed:
                _written(packed, fresh, largest)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
            raise InputError("this zip cannot be unpacked") from None
        sealed.look(fresh)
        _refuse_unnamed(fresh)
        fresh.chmod(0o755)
        fresh.rename(place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _refuse_unnamed(folder: Path) -> None:
    """Refuse what the evidence does not speak of: `verify` would, and nobody here asked for it."""
    named = ev.read(folder).files or {}  # complains unless it is evidence
    beside = sorted({path.name for path in folder.iterdir()} - {ev.FILE, *ev.SIGNATURES, *named})
    if beside:
        first = sealed.said(beside[0])
        raise InputError(
            f"{len(beside):,} of its files are not named in its evidence, first {first}: nothing is kept"
        )


def _written(packed: zipfile.ZipFile, folder: Path, largest: int) -> None:
    entries = [entry for entry in packed.infolist() if not entry.is_dir()]
    if not 0 < len(entries) <= FILES:
        raise InputError(NOT_ONE)
    parents, names = set(), set()
    for entry in entries:
        name = PurePosixPath(entry.filename)
        if (
            name.is_absolute()
            or len(name.parts) > 2
            or any(bad in entry.filename for bad in ("..", "\\", "\0"))
        ):
            raise InputError(NOT_ONE)
        parents.add(name.parent)
        names.add(name.name)
    if len(parents) != 1 or len(names) != len(entries) or ev.FILE not in names:
        raise InputError(NOT_ONE)
    left = largest
    for entry in entries:
        with packed.open(entry) as source, (folder / PurePosixPath(entry.filename).name).open("xb") as into:
            while chunk := source.read(CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise InputError(f"this zip unpacks to more than {largest:,} bytes")
                into.write(chunk)
