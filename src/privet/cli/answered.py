"""Answers as every `privet collect` command reads them: streams, and Parquet by the engine's library."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from privet.collect import source


def opened(
    path: str, *, kind: str | None = None, delimiter: str | None = None
) -> AbstractContextManager[source.Source]:
    """A file, or `-` for what is piped in."""
    return source.opened(path, kind=kind, delimiter=delimiter, columnar=_columnar)


def _columnar(path: Path) -> BinaryIO:
    from privet.engines.streamed import csv_of  # polars is loaded for Parquet only

    return csv_of(path)
