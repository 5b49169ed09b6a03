"""So many requests a minute for each analyst, among all gateways that share a log.

A bucket for each analyst that fills steadily, in a small file beside the log. The clock counts from the start
of the machine and is the same for all processes, so that setting the time changes nothing; after a restart
of the machine it begins anew, and so do the buckets' clocks. Nothing here protects anybody: the file need not
survive a crash, and a request that is held back was neither read nor decided.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from privet.errors import InputError

PATIENCE = 10.0  # seconds to wait for others; they are done in a moment


class RateLimit:
    """Shared by everybody who opens the same file."""

    def __init__(self, path: Path, rate: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path, self.rate, self._clock = path, rate, clock
        self._lock = Lock()
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = off")
            self._db.execute(
                "create table if not exists bucket "
                "(analyst text primary key, held real not null, since real not null) strict"
            )
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{path}: rates cannot be kept there ({type(error).__name__})") from None

    def wait(self, name: str) -> float:
        """0 if this request may go on, else the seconds to wait."""
        return self._taken(name, 1)

    def charge(self, name: str, more: int) -> None:
        """A request turned out to be so many more: the bucket may go below empty for it."""
        self._taken(name, more, owed=True)

    def _taken(self, name: str, count: int, *, owed: bool = False) -> float:
        with self._lock:
            self._db.execute("begin immediate")
            try:
                now, full = self._clock(), float(self.rate)
                row = self._db.execute("select held, since from bucket where analyst = ?", (name,)).fetchone()
                held, since = row or (full, now)
                held = min(full, held + max(0.0, now - since) * self.rate / 60)
                wait = 0.0 if owed or held >= count else (count - held) * 60 / self.rate
                left = held if wait else held - count
                self._db.execute("insert or replace into bucket values (?, ?, ?)", (name, left, now))
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")
            return wait

    def close(self) -> None:
        self._db.close()
