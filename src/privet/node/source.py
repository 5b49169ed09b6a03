"""A node's data: a file, or the rows that a query selects from a database, read when a run begins."""

from __future__ import annotations

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
