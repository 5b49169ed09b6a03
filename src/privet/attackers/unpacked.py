"""A release that is not a table, as files: those of its folder, or written to a temporary one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from privet.attackers.attack import NotTriedError
from privet.attackers.scene import Target
from privet.evidence.values import DataNote
from privet.release import Release


@contextmanager
def files(target: Target) -> Iterator[tuple[Path, DataNote]]:
    """The folder with the data, and what a reader must know of it."""
    release: Release | Path = target.data
    if isinstance(release, Release):
        with tempfile.TemporaryDirectory() as made:
            yield Path(made), DataNote.read(release.write_data(Path(made)), "data")
        return
    if target.evidence is None or target.evidence.data is None:
        raise NotTriedError("the release does not say where its data lies")
    yield release, target.evidence.data
