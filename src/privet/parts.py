"""A table as a folder of parts: how they are called, in which order they stand, and their one digest.

What is too large for one file is written by several workers, a file each. The folder is called like the file
that it stands for (`data.parquet`), its parts are `part-00000.parquet` and so on without a gap, and nothing
else lies in it. Whoever reads it reads the parts in the order of their names.
"""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from privet.errors import InputError

MOST = 100_000  # parts of a release
_NAME = re.compile(r"part-([0-9]{5})(\.[a-z]+(?:\.gz)?)")
HIDDEN = ("_", ".")  # notes of whoever wrote a folder: _SUCCESS, .part-0.crc


def name(number: int, ending: str) -> str:
    """What a part is called.

    >>> name(7, ".parquet")
    'part-00007.parquet'
    """
    return f"part-{number:05d}{ending}"


def is_name(text: str) -> bool:
    """Could a part of a release be called so?"""
    return _NAME.fullmatch(text) is not None


def listed(folder: Path) -> list[Path]:
    """The parts of a folder that anybody may have written, by their names; notes beside them are none."""
    found = sorted(path for path in folder.iterdir() if not path.name.startswith(HIDDEN))
    if not found:
        raise InputError(f"{folder}: the folder holds no data")
    if folders := [path for path in found if not path.is_file()]:
        raise InputError(f"{folder}: {len(folders)} entries are not files; a table is a folder of files")
    if (
        len({"".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:]) for path in found})
        > 1
    ):
        raise InputError(f"{folder}: the files have different endings; the parts of a table have one format")
    return found


def gapless(names: list[str]) -> bool:
    """Are these the parts of one release: numbered from nought without a gap, all of one format?"""
    matches = [_NAME.fullmatch(text) for text in sorted(names)]
    numbers = [int(found[1]) for found in matches if found]
    endings = {found[2] for found in matches if found}
    return bool(names) and numbers == list(range(len(names))) and len(endings) == 1


def digest(path: Path) -> str:
    """SHA-256 of a file; of a folder as `sha256sum part-* | sha256sum` says it."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    found = sorted(path.iterdir())
    with ThreadPoolExecutor() as beside:
        lines = [f"{one}  {part.name}\n" for one, part in zip(beside.map(digest, found), found, strict=True)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
