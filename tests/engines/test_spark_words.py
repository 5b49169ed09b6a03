"""What is refused is refused in words that help, with no value of the data."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import privet as pv
from privet.errors import InputError, UnsupportedError

pytestmark = pytest.mark.services

RULES = """
policy = 1
rows = "persons"
{nulls}
[attributes]
age = {{ role = "quasi", hierarchy = {{ type = "intervals", width = [5, 10, 20] }} }}
zip = {{ role = "quasi", hierarchy = {{ type = "intervals", width = [5, 10, 20] }} }}
ill = "sensitive"
[[models]]
type = "k-anonymity"
k = 5
[algorithm]
type = "{search}"
"""


def people() -> pl.DataFrame:
    drawn = Random(3)
    return pl.DataFrame(
        {
            "age": [drawn.choice([*map(str, range(20, 60)), None]) for _ in range(3_000)],
            "zip": [drawn.choice([*map(str, range(1000, 1040)), None]) for _ in range(3_000)],
            "ill": [drawn.choice("abc") for _ in range(3_000)],
        }
    )


@pytest.mark.parametrize("search", ["top-down", "optimal"])
def test_advice_for_wildcards_helps(session: Any, tmp_path: Path, search: str) -> None:
    """It said to round, or to allow higher levels only, where a search looks at every level."""
    few = pv.Spark(session, staging=tmp_path, cells=400)
    wild = RULES.format(nulls='nulls = "wildcard"', search=search)
    with pytest.raises(UnsupportedError, match='or use nulls = "value"') as error:
        pv.publish(people(), pv.Policy.loads(wild), engine=few)
    assert "higher levels" not in str(error.value)
    pv.publish(people(), pv.Policy.loads(RULES.format(nulls="", search=search)), engine=few)
    more = pv.Spark(session, staging=tmp_path, cells=100_000)
    pv.publish(people(), pv.Policy.loads(wild), engine=more)


PLAIN = pv.Policy.loads(
    'policy = 1\nrows = "persons"\n[attributes]\nage = "quasi"\nill = "sensitive"\n'
    '[[models]]\ntype = "k-anonymity"\nk = 2\n'
)


def test_a_dictionary_of_arrow_is_named_or_read(session: Any, tmp_path: Path) -> None:
    """Sail cannot say its type to anybody; Spark reads what is in it."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    age = pa.array(["a", "b"] * 4).dictionary_encode()
    pq.write_table(pa.table({"age": age, "ill": ["x"] * 8}), tmp_path / "raw.parquet")
    frame, spark = session.read.parquet(str(tmp_path / "raw.parquet")), pv.Spark(session, staging=tmp_path)
    if os.environ.get("PRIVET_SPARK", "sail") == "sail":
        with pytest.raises(InputError, match="a column is a dictionary of Arrow"):
            pv.publish(frame, PLAIN, engine=spark)
        frame = frame.withColumn("age", frame["age"].cast("string"))
    made = pv.publish(frame, PLAIN, engine=spark).to_polars()
    assert sorted(made["age"]) == [*"aaaabbbb"]


@pytest.mark.parametrize("name", ["table:nobody", "table:no.body.here", "table:", "table:a b"])
def test_a_table_that_the_catalogue_lacks(session: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"{name}: the catalogue of this cluster has no table")):
        pv.publish(name, PLAIN, engine=pv.Spark(session, staging=tmp_path))


def test_a_source_without_a_record_is_named(session: Any, tmp_path: Path) -> None:
    spark, empty = pv.Spark(session, staging=tmp_path), tmp_path / "raw.parquet"
    pl.DataFrame({"age": [], "ill": []}, schema={"age": pl.String, "ill": pl.String}).write_parquet(empty)
    with pytest.raises(InputError, match=r"raw\.parquet: there is not one record"):
        pv.publish(empty, PLAIN, engine=spark)
    with pytest.raises(InputError, match=r"^the data: there is not one record"):
        pv.publish(pl.read_parquet(empty), PLAIN, engine=spark)


@pytest.mark.parametrize("source", ["", " "])
def test_an_empty_text_is_no_place(session: Any, source: str) -> None:
    """It was the folder that we happen to be in."""
    for engine in (pv.Spark(session), "embedded", "plain"):
        with pytest.raises(InputError, match="the source is an empty text"):
            pv.publish(source, PLAIN, engine=engine)
