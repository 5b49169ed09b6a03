"""A node's data: a file, or the rows that a query selects from a database, read when a run begins."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Any

from privet.engines import databases
from privet.errors import InputError


def opened(place: str, query: str | None) -> Any:
    """What a road reads: the file, or the selected rows as a table; refused now rather than among peers."""
    if databases.is_url(place):
        return databases.read(place, query)
    if query is not None:
        raise InputError("--query: only of a database; a file is read whole")
    path = Path(place)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    return path.absolute()


def content(source: Any) -> bytes:
    """The digest of a file, or of a database's rows in whichever order it gives them."""
    if isinstance(source, Path):
        try:
            with source.open("rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
        except OSError:
            raise InputError("the data: no such file any more, or it cannot be read") from None
    lines = sorted(source.write_csv().encode().splitlines())
    return hashlib.sha256(b"\n".join(lines)).digest()


def mark(digest: bytes, secret: bytes) -> str:
    """What this node knows the same rows by again; without its secret it confirms no guess."""
    return hmac.new(secret, b"privet rows " + digest, "sha256").hexdigest()
