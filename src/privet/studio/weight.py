"""How much memory looking at a file would take: what is too much is refused before it is read.

A packed file of a megabyte may unpack to more than the machine has, and then the machine would end the
studio. So what is packed is unpacked once into nothing, only to be counted.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path

from privet.errors import InputError

CHUNK = 1 << 20
ROOM = 4  # a table in memory, with what is counted of it, takes so many times its text
BOOKS = {".xlsx", ".xlsm", ".xlsb", ".ods"}  # which are zips


def memory() -> int:
    """Bytes that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def refuse_too_heavy(path: Path, most: int | None = None) -> None:
    """Refuse a file that has no room in memory; `most` bytes of text have."""
    most = memory() // ROOM if most is None else most
    if unpacked(path, most) > most:
        raise InputError(
            f"this file holds more than {most:,} bytes, for which this machine has too little memory; "
            "`privet publish --engine spark` takes larger ones"
        )


def unpacked(path: Path, most: int) -> int:
    """How many bytes a file has when it is unpacked; counted no further than `most`."""
    if path.suffix.lower() == ".gz":
        return _gzip(path, most)
    if path.suffix.lower() in BOOKS:
        try:
            with zipfile.ZipFile(path) as book:
                return sum(entry.file_size for entry in book.infolist())
        except (zipfile.BadZipFile, OSError):
            return 0  # the reader says what is wrong
    return path.stat().st_size


def _gzip(path: Path, most: int) -> int:
    size, packed = 0, zlib.decompressobj(31)
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                while piece:
                    size += len(packed.decompress(piece, CHUNK))
                    if size > most:
                        return size
                    piece = packed.unconsumed_tail
                    if packed.eof:  # another member may follow
                        piece, packed = packed.unused_data, zlib.decompressobj(31)
    except zlib.error:
        return size  # the reader says what is wrong
    return size
