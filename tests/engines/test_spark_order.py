"""Parts of many records stand in canonical order, however a cluster writes. Issue 17.

Sail deals what it writes out among four files, a batch of 8,192 rows here and one there: a release of more
than four batches stood in order in each part and not from one to the next, so it did not pass `verify`.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import privet as pv
from privet.engines.spark import order, people, recode

pytestmark = pytest.mark.services
ROWS = 60_000

RULES = """
policy = 1
rows = "persons"
[attributes]
age = "quasi"
height = "quasi"
seen = "quasi"
part = "target"
ill = "sensitive"
"""
MODEL = '[[models]]\ntype = "k-anonymity"\nk = 2\n[algorithm]\ntype = "{}"\n'


def records(rows: int = ROWS) -> pl.DataFrame:
    """Few combinations of texts, numbers and moments: nulls, NaN, and both zeros where both may leave."""
    drawn = np.random.default_rng(17)

    def some(values: list[Any], kind: Any) -> pl.Series:
        return pl.Series(values, dtype=kind).gather(drawn.integers(0, len(values), rows))

    moments = [dt.datetime(2024, 3, 5, 1, n) for n in range(3)]  # noqa: DTZ001 - of no zone
    return pl.DataFrame(
        {
            "age": some(["a", 'b,"c', "é", "", None], pl.String),
            "height": some([-0.0, 1.5, float("nan"), 1e20, None], pl.Float64),
            "seen": some(moments, pl.Datetime("us")),
            "part": some([0.0, -0.0, 2.5], pl.Float64),  # also what is called so where parts are told
            "ill": some([0.0, -0.0, None], pl.Float64),
            "note": pl.int_range(rows, eager=True).shuffle(seed=1).cast(pl.String),
        }
    )


def parts(folder: Path) -> list[pl.DataFrame]:
    return [pl.read_parquet(part) for part in sorted((folder / "data.parquet").iterdir())]


@pytest.mark.parametrize("algorithm", ["top-down", "mondrian"])
@pytest.mark.parametrize("note", ["", 'note = "other"\n'], ids=["rows repeat", "rows are unique"])
def test_a_release_of_many_records_stands_in_order(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: str, algorithm: str
) -> None:
    monkeypatch.setattr(order, "RECORDS", 25_000)
    records().write_parquet(tmp_path / "raw.parquet")
    rules, spark = (
        pv.Policy.loads(RULES + note + MODEL.format(algorithm)),
        pv.Spark(session, staging=tmp_path),
    )
    pv.publish(tmp_path / "raw.parquet", rules).write(tmp_path / "here")
    pv.publish(tmp_path / "raw.parquet", rules, engine=spark).write(tmp_path / "there")
    here, there = pl.read_parquet(tmp_path / "here/data.parquet"), pl.concat(parts(tmp_path / "there"))
    assert there.schema == here.schema
    assert there.cast(pl.String).equals(here.cast(pl.String)), "zeros keep their sign"
    found = pv.verify(tmp_path / "there")
    assert found.holds, found.complaints


def test_rows_that_repeat_are_sorted_once(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what was counted: not where what was not counted leaves too, or rows are dealt with one by one."""
    table, asked = records(2_000), []
    grouped = order._groups

    def noted(*given: Any) -> Any:
        asked.append(given)
        return grouped(*given)

    monkeypatch.setattr(order, "_groups", noted)
    spark = pv.Spark(session, staging=tmp_path)
    few = pv.Policy.loads(RULES.replace('seen = "quasi"\n', "") + MODEL.format("top-down"))
    all_ = pv.Policy.loads(RULES + 'note = "other"\n' + MODEL.format("top-down"))
    pv.publish(table, few, engine=spark)
    assert len(asked) == 1
    pv.publish(table, all_, engine=spark)
    assert len(asked) == 1
    monkeypatch.setattr(recode, "REPEATS", 2_000)
    pv.publish(table, few, engine=spark)
    assert len(asked) == 1


@pytest.mark.parametrize("many", [1, 2, 3, 8191, 8192, 8193, 20_001])
def test_one_row_is_repeated_as_often_as_it_occurs(session: Any, tmp_path: Path, many: int) -> None:
    table = pl.DataFrame({"age": ["a"] * many + ["b"] * 40_000, "ill": ["x"] * (many + 40_000)})
    rules = pv.Policy.loads(
        'policy = 1\nrows = "persons"\n[attributes]\nage = "quasi"\nill = "sensitive"\n'
        '[[models]]\ntype = "k-anonymity"\nk = 1\n'
    )
    pv.publish(table, rules, engine=pv.Spark(session, staging=tmp_path)).write(tmp_path / "out")
    found = pl.concat(parts(tmp_path / "out"))
    assert found["age"].to_list() == ["a"] * many + ["b"] * 40_000


def test_many_paths_stand_in_order(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "RECORDS", 25_000)
    drawn = np.random.default_rng(17).integers(0, 40, ROWS)
    paths = pl.Series([f"a{n}@1 -> b{n % 3}@2" for n in range(40)]).gather(drawn)
    table = pl.DataFrame({"path": paths, "ill": pl.Series(["flu", "é", None]).gather(drawn % 3)})
    rules = pv.Policy.loads(
        'policy = 1\nkind = "trajectories"\n[trajectories]\nform = "column"\npath = "path"\n'
        '[attributes]\nill = "sensitive"\n[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 3\nc = "1/1"\n'
        'sensitive = { ill = ["flu"] }\n[algorithm]\ntype = "suppress-points"\n'
    )
    table.write_parquet(tmp_path / "raw.parquet")
    spark = pv.Spark(session, staging=tmp_path)
    pv.publish(tmp_path / "raw.parquet", rules).write(tmp_path / "here")
    pv.publish(tmp_path / "raw.parquet", rules, engine=spark).write(tmp_path / "there")
    assert pl.concat(parts(tmp_path / "there")).equals(pl.read_parquet(tmp_path / "here/data.parquet"))
    assert pv.verify(tmp_path / "there").holds
