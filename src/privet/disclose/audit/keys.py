"""API keys: one for each analyst, shown once, with an end; what is kept is a digest.

A key is 256 random bits, so that a plain SHA-256 of it cannot be turned back by guessing. An older key may go
on for some days beside a new one, so that it can be changed where it is used before it ends.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import tomli_w

from privet.errors import InputError

PREFIX = "pva_"  # so that a key in the wrong place is recognised
DAYS = 90  # that a key is good for, unless said
LONGEST = 3660  # days


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


@dataclass(frozen=True)
class Key:
    """A digest and until when it counts; None for those from before keys had an end."""

    digest: str
    until: datetime | None

    def counts(self, now: datetime) -> bool:
        return self.until is None or now < self.until


class Keys:
    """The file of digests; read again whenever it changed."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path, self._clock = path, clock
        self._seen: tuple[int, int, int] | None = None
        self._keys: dict[str, tuple[Key, ...]] = {}

    def _read(self) -> dict[str, tuple[Key, ...]]:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._keys, self._seen = {}, None
            return self._keys
        seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if self._seen != seen:
            try:
                document = tomllib.loads(self._path.read_text(encoding="utf-8"))
                self._keys = {str(name): _held(given) for name, given in document.get("analysts", {}).items()}
            except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
                raise InputError(f"{self._path}: this is not a file of keys") from None
            self._seen = seen
        return self._keys

    def analyst(self, key: str) -> str | None:
        """Whose key this is, if it has not ended; looks at all of them, whichever fits."""
        asked, whose, now = digest(key), None, self._clock()
        for name, held in self._read().items():
            for known in held:
                if hmac.compare_digest(asked, known.digest) and known.counts(now):
                    whose = name
        return whose

    def listed(self) -> list[tuple[str, list[datetime | None]]]:
        """Every analyst with a key that counts, and until when theirs do."""
        now = self._clock()
        living = (
            (name, [key.until for key in held if key.counts(now)]) for name, held in self._read().items()
        )
        return sorted((name, until) for name, until in living if until)

    def issue(self, name: str, *, days: int = DAYS, grace: int = 0) -> str:
        """A new key for so many days; older ones of theirs end now, or after `grace` days."""
        if not name or not name.isprintable() or len(name) > 100:
            raise InputError("an analyst's name is up to 100 printable characters")
        if not 1 <= days <= LONGEST or not 0 <= grace <= days:
            raise InputError(
                f"a key is good for 1 to {LONGEST:,} days, and an older one goes on for no more than that"
            )
        key, now = PREFIX + secrets.token_urlsafe(32), self._clock()
        last = now + timedelta(days=grace)
        older = [
            Key(one.digest, last if one.until is None else min(one.until, last))
            for one in self._read().get(name, ())
        ]
        self._write({**self._read(), name: (*older, Key(digest(key), now + timedelta(days=days)))})
        return key

    def revoke(self, name: str) -> None:
        """All of theirs end."""
        known = dict(self._read())
        if name not in known:
            raise InputError(f"{self._path}: no such analyst")
        del known[name]
        self._write(known)

    def _write(self, keys: Mapping[str, tuple[Key, ...]]) -> None:
        now = self._clock()
        living = {name: [key for key in held if key.counts(now)] for name, held in keys.items()}
        document = {name: [_said(key) for key in held] for name, held in living.items() if held}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            tomli_w.dump({"analysts": document}, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


def _held(given: Any) -> tuple[Key, ...]:
    if isinstance(given, str):  # from before keys had an end
        return (Key(given, None),)
    return tuple(Key(str(one["digest"]), _end(one.get("until"))) for one in given)


def _end(given: Any) -> datetime | None:
    if given is not None and (not isinstance(given, datetime) or given.tzinfo is None):
        raise TypeError("an end is a time with its zone")
    return given


def _said(key: Key) -> dict[str, Any]:
    return {"digest": key.digest} if key.until is None else {"digest": key.digest, "until": key.until}
