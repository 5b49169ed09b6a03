"""A table of a million people of whom no two are alike: columns of Adult's form, places, days and a wage."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
from tests.studio.adultlike import LEAVES

DAYS = 18_000  # on which somebody may be born
PLACES = 90_000


def different(path: Path, records: int = 1_000_000) -> pl.DataFrame:
    """Write it; every record is another, and mostly also by its quasi-identifiers alone."""
    chance = np.random.default_rng(18)

    def skewed(many: int) -> np.ndarray:
        return (many * chance.random(records) ** 2).astype(np.int64)

    words = {
        name: pl.Series([f"{name}-{at}" for at in range(many)]).gather(skewed(many))
        for name, many in LEAVES.items()
    }
    born = pl.Series(chance.integers(0, DAYS, records) + date(1935, 1, 1).toordinal() - 719_163)
    made = pl.DataFrame(
        {
            **words,
            "age": 17 + skewed(74),
            "zip": pl.Series(chance.integers(10_000, 10_000 + PLACES, records)).cast(pl.String),
            "born": born.cast(pl.Int32).cast(pl.Date),
            "wage": chance.permutation(records) + 10_000,
        }
    )
    made.write_csv(path, separator=";")
    return made
