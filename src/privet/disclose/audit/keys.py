"""API keys: one for each analyst, shown once; what is kept is a digest.

A key is 256 random bits, so that a plain SHA-256 of it cannot be turned back by guessing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import tomllib
from pathlib import Path

import tomli_w

from privet.errors import InputError

PREFIX = "pva_"  # so that a key in the wrong place is recognised


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


class Keys:
    """The file of digests; read again whenever it changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._digests: dict[str, str] = {}

    def _read(self) -> dict[str, str]:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._digests, self._seen = {}, None
            return self._digests
        if self._seen != (found.st_mtime_ns, found.st_size):
            try:
                document = tomllib.loads(self._path.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError):
                raise InputError(f"{self._path}: this is no file of keys") from None
            self._digests = {str(name): str(value) for name, value in document.get("analysts", {}).items()}
            self._seen = (found.st_mtime_ns, found.st_size)
        return self._digests

    def analyst(self, key: str) -> str | None:
        """Whose key this is; looks at all of them, whichever fits."""
        asked, whose = digest(key), None
        for name, known in self._read().items():
            if hmac.compare_digest(asked, known):
                whose = name
        return whose

    def names(self) -> list[str]:
        return sorted(self._read())

    def issue(self, name: str) -> str:
        """A new key for an analyst; an older one of theirs ends."""
        if not name or not name.isprintable() or len(name) > 100:
            raise InputError("an analyst's name is up to 100 printable characters")
        key = PREFIX + secrets.token_urlsafe(32)
        self._write({**self._read(), name: digest(key)})
        return key

    def revoke(self, name: str) -> None:
        known = dict(self._read())
        if name not in known:
            raise InputError(f"{self._path}: no such analyst")
        del known[name]
        self._write(known)

    def _write(self, digests: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            tomli_w.dump({"analysts": digests}, file)
        fresh.replace(self._path)
