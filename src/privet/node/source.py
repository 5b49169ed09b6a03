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


def mark(source: Any, secret: bytes) -> str:
    """What this node knows the same rows by again; without its secret it confirms no guess."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
    else:  # a database gives its rows in any order
        lines = sorted(source.write_csv().encode().splitlines())
        content = hashlib.sha256(b"\n".join(lines)).digest()
    return hmac.new(secret, b"privet rows " + content, "sha256").hexdigest()
