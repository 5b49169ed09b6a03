"""A witness of the log: a second file, best on another disk, that knows how far the log had come.

Whoever puts back an older copy of the log (a backup, say) makes the auditor forget what was answered, and the
copy is whole in itself. So after each decision its number and its digest are also appended to a file of their
own, before the reply is sent. A log that does not have the last entry that its witness saw is not served.
The witness holds no answer. If both files are put back together, nobody can tell.
"""

from __future__ import annotations

import os
from pathlib import Path

from privet.disclose.audit.log import AuditLog
from privet.errors import InputError, TamperedError


class Witness:
    """A file of lines, number and digest; only ever appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def last(self) -> tuple[int, str]:
        """The furthest entry that was seen; 0 for none. A last line that was cut off does not count."""
        seen = (0, "")
        try:
            text = self.path.read_bytes().decode("ascii")
            for line in text.splitlines(keepends=True):
                if line.endswith("\n"):
                    number, chain = line.split()
                    seen = max(seen, (int(number), chain))
        except FileNotFoundError:
            raise
        except (OSError, ValueError):
            raise InputError(f"{self.path}: this is no witness of a log") from None
        return seen

    def vouch(self, log: AuditLog) -> None:
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
                f"{log.path}: this log is older than what its witness saw, or another one; "
                "a new log needs a new witness"
            )

    def note(self, number: int, chain: str) -> None:
        """On disk when this returns."""
        self._append(f"{number} {chain}\n".encode("ascii"))

    def _append(self, line: bytes) -> None:
        opened = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(opened, line)
            os.fsync(opened)
        finally:
            os.close(opened)
