"""Ties: what is equally good is chosen by values, not by how an engine happened to count."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.contract.pairs import policy_of
from tests.sweep import covering

import privet as pv
from privet.errors import UnsatisfiableError


def tied(seed: int, rows: int) -> pl.DataFrame:
    """Few values, so that most choices are ties."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 24, rows),
            "hours": draw.choice([10, 20, 30], rows),
            "ill": draw.choice(list("abcd"), rows),
            "town": draw.choice(list("xyz"), rows),
        }
    )


SEARCHES = ["mondrian", "local", "microaggregation", "top-down", "optimal", "samarati"]


@pytest.mark.parametrize(("algorithm", "rows"), covering(product(SEARCHES, ["12", "40"]), 2))
def test_both_engines_publish_the_same(algorithm: str, rows: str, tmp_path: Path) -> None:
    told = 0
    for seed in range(12):
        tied(seed, int(rows)).write_csv(tmp_path / "raw.csv")
        policy = policy_of(["k-anonymity"], algorithm, town={"role": "target"})
        try:
            made = [
                pv.publish(tmp_path / "raw.csv", policy, engine=name).to_polars()
                for name in ("embedded", "plain")
            ]
        except UnsatisfiableError:
            continue
        texts = [frame.select(pl.all().cast(pl.String)) for frame in made]
        assert texts[0].equals(texts[1], null_equal=True), seed
        told += 1
    assert told
