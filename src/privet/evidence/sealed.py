"""What a receiver opens of a folder that somebody sent: regular files of a stated size, and nothing else.

Whoever sends a folder chooses what lies in it. A pipe keeps a reader waiting for ever, a link leads out
of the folder, a device never ends, and a packed file of a megabyte may unpack to the whole memory. So every
entry is looked at before one byte of it is read, and what is packed is unpacked once into nothing, only to be
counted.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path

from privet import parts
from privet.errors import InputError, TamperedError

MEBI = 2**20
LARGEST = 512 * MEBI  # bytes of a data file, as it lies there and unpacked; `--limit` says another number
SMALL = {
    "evidence.json": 256 * MEBI,  # labels of a large table take a few million
    "policy.toml": 16 * MEBI,
    "report.html": 256 * MEBI,
    "signatures.json": MEBI,
}
ENTRIES = 1000  # files of a release; a table for each type of document is the most that there is
CHUNK = 1 << 20
HEADER, TRAILER = 10, 8  # bytes of a gzip file before and after what is packed
# How hard it was packed, and by which system: what Python writes, in both of its ways.
USUAL_PACKERS = (b"\x02\xff", b"\x02\x03", b"\x00\xff", b"\x00\x03")
TOO_MUCH = "{} unpacks to more than {:,} bytes; --limit raises what is read"
_DATA = re.compile(r"data\.[a-z]+(?:\.gz)?")  # what may be a folder of parts
_SIZE = re.compile(r"([0-9]{1,15})\s*(?:([KMGT])(?:i?B)?|B)?", re.IGNORECASE)


def size(text: str) -> int:
    """A number of bytes as people write it.

    >>> size("2GB") == size("2 gib") == 2 * 1024 ** 3, size("4096")
    (True, 4096)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise InputError("--limit: is a number of bytes such as 2GB or 800MB")
    return int(found[1]) << 10 * " KMGT".index((found[2] or " ").upper())


def look(folder: Path, limit: int = LARGEST) -> None:
    """Refuse a folder that holds anything but regular files within the limits; nothing is read."""
    if not folder.is_dir():
        raise TamperedError(f"{folder}: no such folder")
    with os.scandir(folder) as entries:
        found = []
        for entry in entries:
            found.append(entry)
            if len(found) > ENTRIES:
                raise TamperedError(f"{folder}: more than {ENTRIES:,} files; a release has a few")
    complaints = []
    for entry in sorted(found, key=lambda entry: entry.name):
        about = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(about.st_mode) and _DATA.fullmatch(entry.name):
            complaints += _wrong_parts(Path(entry.path), limit)
        else:
            complaints += _wrong(entry.name, about, limit)
    if complaints:
        raise TamperedError(*(f"{folder}: {complaint}" for complaint in complaints))


def _wrong_parts(folder: Path, limit: int) -> list[str]:
    """What is wrong with a folder of parts: all together they are within the limit of one file."""
    name, whole, number = said(folder.name), 0, -1
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= parts.MOST:
                return [f"{name} has more than {parts.MOST:,} parts"]
            about = entry.stat(follow_symlinks=False)
            if not stat.S_ISREG(about.st_mode):
                return [f"{name}: {said(entry.name)} is {kind(about.st_mode)}; parts are regular files"]
            if not parts.is_name(entry.name):
                return [f"{name}: {said(entry.name)} is not the name of a part"]
            whole += about.st_size
    if number < 0:
        return [f"{name} is a folder without a part; a release holds regular files only"]
    if whole > limit:
        return [f"{name} has {whole:,} bytes, at most {limit:,} are read; --limit raises it"]
    return []


def regular(path: Path, limit: int = LARGEST) -> None:
    """Refuse one file as `look` does; it is there."""
    for complaint in _wrong(path.name, path.lstat(), limit):
        raise TamperedError(f"{path.parent}: {complaint}")


def _wrong(name: str, about: os.stat_result, limit: int) -> list[str]:
    most = SMALL.get(name, limit)
    if not stat.S_ISREG(about.st_mode):
        return [f"{said(name)} is {kind(about.st_mode)}; a release holds regular files only"]
    if about.st_size > most:
        more = "" if name in SMALL else "; --limit raises it"
        return [f"{said(name)} has {about.st_size:,} bytes, at most {most:,} are read{more}"]
    return []


def unpack(paths: Sequence[Path], limit: int = LARGEST) -> list[str]:
    """What is wrong with packed files, which together unpack to no more than the limit."""
    found, left = [], limit
    for path in paths:
        wrong, size = _unpacked(path, left, limit)
        found += wrong
        left -= size
    return found


def unpacks(path: Path, limit: int = LARGEST) -> list[str]:
    """What is wrong with a packed file: too much in it, or something beside its one content."""
    return unpack([path], limit)


def _unpacked(path: Path, left: int, limit: int) -> tuple[list[str], int]:
    """The same of a file of which so much may be unpacked; and how much it was."""
    name, unpacked, first = said(path.name), 0, b""
    packed = zlib.decompressobj(31)
    try:
        with path.open("rb") as file:
            while (piece := file.read(CHUNK)) and not packed.eof:
                first = first or piece[:10]
                while piece and not packed.eof:
                    unpacked += len(packed.decompress(piece, CHUNK))
                    piece = packed.unconsumed_tail
                    if unpacked > left:
                        return [TOO_MUCH.format(name, limit)], unpacked
            beside = packed.unused_data or piece
    except zlib.error:
        return [f"{name} cannot be unpacked; is it really gzip?"], unpacked
    if not packed.eof:
        return [f"{name} ends too soon"], unpacked
    if beside or first[3] or any(first[4:8]):  # flags: a name, a comment, more; the time when it was packed
        return [f"{name} holds more than its packed content"], unpacked
    return [], unpacked


def packed_here(path: Path) -> bool:
    """Is a packed file what the same content is packed to here? Else its blocks could say something too."""
    unpacked, again = zlib.decompressobj(31), zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    with path.open("rb") as file:
        if file.read(HEADER)[8:] not in USUAL_PACKERS:
            return False
        file.seek(0)
        theirs, made = memoryview(file.read())[HEADER:-TRAILER], bytearray()
        file.seek(0)
        at = 0
        while piece := file.read(CHUNK):
            while piece:
                made += again.compress(unpacked.decompress(piece, CHUNK))
                piece = unpacked.unconsumed_tail
            if theirs[at : at + len(made)] != made:
                return False
            at += len(made)
            made.clear()
    made += again.flush()
    return theirs[at:] == made


def kind(mode: int) -> str:
    """What an entry of a folder is, in words."""
    for fits, word in (
        (stat.S_ISLNK, "a link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if fits(mode):
            return word
    return "a device"


def said(name: str) -> str:
    """A file's name, where it may be repeated: a long or odd one may be anything."""
    return name if len(name) <= 60 and name.isprintable() else "a file with an odd name"
