"""Parquet as polars writes it: a disk that is full is an OSError, as it is for every other format."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import IO

import polars as pl


def write(frame: pl.DataFrame, target: Path | IO[bytes]) -> None:
    """Write the table; what the system refuses is an OSError with its number."""
    try:
        frame.write_parquet(target)
    except pl.exceptions.ComputeError as error:
        said = re.search(r"\(os error (\d+)\)", str(error))
        if said is None:
            raise
        number = int(said[1])
        raise OSError(number, os.strerror(number)) from None
