"""Files of columns that would end the process of who reads them are refused before they are read."""

from __future__ import annotations

from pathlib import Path

from privet.engines import batches, pages


def refuse_unsound(source: Path | bytes, kind: str) -> None:
    """Raises ValueError where a file of this kind says of itself what cannot be."""
    if kind == "parquet":
        pages.refuse_unsound(source)
    elif kind == "arrow":
        batches.refuse_unsound(source)
