import io
from collections import Counter
from collections.abc import Mapping

import polars as pl
import pytest

from privet.samples import worked
from privet.samples.taxonomies import CHAPTER_2, CHAPTER_3, Tree, leaves


def read(text: str) -> pl.DataFrame:
    return pl.read_csv(io.StringIO(text), infer_schema=False)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("table_2_1a", (7, 5)),
        ("table_2_1b", (7, 5)),
        ("table_2_2a", (7, 4)),
        ("table_2_2b", (7, 2)),
        ("table_3_1", (11, 6)),
        ("table_3_2", (11, 6)),
    ],
)
def test_each_table_is_whole(name: str, shape: tuple[int, int]) -> None:
    assert read(worked.EVERY_TABLE[name]).shape == shape


def test_table_3_1_has_the_linkages_the_source_tells_of() -> None:
    table = read(worked.TABLE_3_1)
    assert table.filter(Job="Janitor", Sex="M")["id"].to_list() == ["1", "6"]
    assert table.filter(Job="Mover", Age="34")["id"].to_list() == ["3"]
    assert set(table.filter(Sex="M", Age="34")["Surgery"]) == {"Transgender"}
    assert Counter(table["Transfuse"]) == {"N": 6, "Y": 5}


def test_published_tables_keep_what_is_not_generalised() -> None:
    for raw, published, kept in (
        (worked.TABLE_2_1A, worked.TABLE_2_1B, ["id", "Disease"]),
        (worked.TABLE_3_1, worked.TABLE_3_2, ["id", "Transfuse", "Surgery"]),
    ):
        assert read(raw).select(kept).equals(read(published).select(kept))


def test_buckets_are_those_of_the_source() -> None:
    known, hidden = read(worked.TABLE_2_2A), read(worked.TABLE_2_2B)
    assert known.drop("Bucket").equals(read(worked.TABLE_2_1A).select("Job", "Sex", "Age"))
    assert Counter(known["Bucket"]) == Counter(hidden["Bucket"]) == {"1": 2, "2": 2, "3": 3}


@pytest.mark.parametrize(("text", "trees"), [(worked.TABLE_2_1A, CHAPTER_2), (worked.TABLE_3_1, CHAPTER_3)])
def test_the_trees_cover_the_categories(text: str, trees: Mapping[str, Tree]) -> None:
    for column in ("Job", "Sex"):
        assert set(read(text)[column]) <= set(leaves(trees[column]))
