"""What is chained, and its witness: a second file, best on another disk, that knows how far a log had come.

Each entry of a log carries a digest over itself and the digest before it (`linked`), so that an entry that
was lost or changed is recognised. But whoever puts back an older copy of the whole log (a backup, say)
makes it forget, and the copy is whole in itself. So after each entry its number and its digest are also
appended to a file of their own, before anything is done that depends on it. A log that does not have the
last entry that its witness saw is not used. The witness holds nothing but numbers and digests. If both files
are put back together, nobody can tell.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Protocol

from privet.errors import InputError, TamperedError

DIGEST = 64  # characters
_LINE = re.compile(rf"(?P<number>[0-9]{{0,18}})(?: (?P<chain>[0-9a-f]{{0,{DIGEST}}}))?")  # whole, or cut off


def linked(before: str, *parts: object) -> str:
    """The digest of an entry, which the digest before it is part of.

    >>> linked("", "a", 1) == linked("", "a1")  # where one part ends is part of it
    False
    """
    made = hashlib.sha256(before.encode())
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode()
        made.update(len(raw).to_bytes(8, "big") + raw)
    return made.hexdigest()


class Chained(Protocol):
    """A log whose entries are linked."""

    @property
    def path(self) -> object:
        """Where it is, for people."""

    def chain_at(self, number: int) -> str | None:
        """The digest of the entry with that number; empty for 0, None where there is no such entry."""


class Witness:
    """A file of lines, number and digest; only ever appended to."""

    def __init__(self, path: Path, what: str = "log") -> None:
        self.path = path
        self._what = what

    def last(self) -> tuple[int, str]:
        """The furthest entry that was seen; 0 for none. A line that a kill cut off does not count."""
        seen = (0, "")
        wrong = InputError(f"{self.path}: this is not the witness of a {self._what}")
        try:
            text = self.path.read_bytes().decode("ascii")
        except FileNotFoundError:
            raise
        except (OSError, ValueError):
            raise wrong from None
        for line in text.split("\n"):
            found = _LINE.fullmatch(line)
            if found is None:
                raise wrong
            if len(found["chain"] or "") == DIGEST:
                seen = max(seen, (int(found["number"]), found["chain"]))
        return seen

    def vouch(self, log: Chained) -> None:
        """Does the log have what was seen? Before the first entry, the file is begun."""
        empty = log.chain_at(1) is None
        try:
            number, chain = self.last()
        except FileNotFoundError:
            if not empty:
                raise TamperedError(
                    f"{self.path}: the witness of {log.path} is gone; if it never had one, make an empty file"
                ) from None
            self._append(b"")
            return
        if log.chain_at(number) != chain:
            raise TamperedError(
                f"{log.path}: this {self._what} is older than what its witness saw, or another one; "
                f"a new {self._what} needs a new witness"
            )

    def note(self, number: int, chain: str) -> None:
        """On disk when this returns."""
        self._append(f"{number} {chain}\n".encode("ascii"))

    def _append(self, line: bytes) -> None:
        opened = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(opened).st_size
            if size and os.pread(opened, 1, size - 1) != b"\n":
                line = b"\n" + line  # a kill cut the last one off
            while line:  # a disk that fills up takes a part, and says so only when it is asked again
                line = line[os.write(opened, line) :]
            os.fsync(opened)
        finally:
            os.close(opened)
