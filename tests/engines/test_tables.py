"""Tables of people's own libraries, in and out; typed files; databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.core import Form
from privet.domain import flat
from privet.engine import domains
from privet.engines import files
from privet.engines.embedded import Embedded
from privet.engines.frames import in_order
from privet.engines.plain import Plain
from privet.engines.transactions import frames
from privet.errors import InputError
from privet.hierarchy import Dates, Flat, Intervals

TYPED = pl.DataFrame(
    {
        "age": pl.Series([30, 31, 30, None], dtype=pl.Int16),
        "pay": [1.5, 2.0, 1.5, 2.0],
        "born": [date(1990, 1, 2), date(1991, 3, 4), date(1990, 1, 2), date(1991, 3, 4)],
        "kind": pl.Series(["x", "y", "x", "y"], dtype=pl.Categorical),
        "ill": [True, False, None, True],
        "seen": [datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)] * 4,
        "cost": pl.Series([Decimal("1.10"), Decimal("2.20"), None, Decimal("3.30")], dtype=pl.Decimal(10, 2)),
        "note": ["a", None, "", "é"],
    }
)
POLICY = replace(
    pv.Policy.loads(
        'policy = 1\n[attributes]\nage = "quasi"\n[[models]]\ntype = "k-anonymity"\nk = 1\n'
    ),
    attributes=(
        pv.Attribute("age", pv.Role.QUASI, Intervals()),
        pv.Attribute("pay", pv.Role.QUASI, Flat()),
        pv.Attribute("born", pv.Role.QUASI, Dates()),
        pv.Attribute("kind", pv.Role.QUASI, Flat()),
        pv.Attribute("ill", pv.Role.SENSITIVE),
        *(pv.Attribute(name, pv.Role.OTHER) for name in ("seen", "cost", "note")),
    ),
)  # fmt: skip


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".parquet.gz"])
def test_typed_files_keep_their_types(tmp_path: Path, ending: str) -> None:
    form = Form(format=ending.split(".")[1])
    engine = Embedded()
    engine.write(engine.read(TYPED, form), tmp_path / f"a{ending}", form)
    again = engine.read(tmp_path / f"a{ending}", Form())
    assert again.data.schema == TYPED.schema
    assert again.data.equals(TYPED, null_equal=True)


def test_untouched_columns_keep_their_types_on_the_road() -> None:
    release = pv.publish(TYPED, POLICY)
    assert release.to_polars().equals(in_order(TYPED), null_equal=True)
    assert release.to_polars().schema == TYPED.schema


def test_generalised_columns_become_text() -> None:
    release = pv.publish(TYPED, replace(POLICY, models=(pv.KAnonymity(k=4),)))
    published = release.to_polars()
    assert [published[name].dtype for name in ("age", "pay", "born", "kind")] == [pl.String] * 4
    assert in_order(published.select("ill", "seen", "cost", "note")).equals(
        in_order(TYPED.select("ill", "seen", "cost", "note")), null_equal=True
    )


def test_lazy_frames_are_collected() -> None:
    assert pv.publish(TYPED.lazy(), POLICY).to_polars().equals(in_order(TYPED), null_equal=True)


def test_pyarrow_in_and_out() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"age": [30, 31, None], "ill": ["x", "y", None]})
    policy = replace(POLICY, attributes=(POLICY.attributes[0], POLICY.attributes[4]))
    out = pv.publish(table, policy).to_arrow()
    assert isinstance(out, pa.Table)
    assert out.to_pydict() == table.to_pydict()


def test_pandas_in_and_out() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    # A permuted index must not matter: there are no row labels here.
    frame = pd.DataFrame({"age": [30, 31, 30], "ill": ["x", None, "z"]}, index=[7, 3, 3])
    policy = replace(POLICY, attributes=(POLICY.attributes[0], POLICY.attributes[4]))
    out = pv.publish(frame, policy).to_pandas()
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["age", "ill"]
    assert out["age"].tolist() == [30, 30, 31]
    assert out["ill"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize("source", [[1, 2], {"a": [1]}, None, 7, object()], ids=lambda s: type(s).__name__)
def test_what_is_no_table_is_refused(source: Any) -> None:
    with pytest.raises(InputError, match="a table is a path, a URL, or a polars, pandas or pyarrow table"):
        pv.publish(source, POLICY)


def test_a_table_in_memory_lacks_a_column_or_records() -> None:
    with pytest.raises(InputError, match="'age'"):
        pv.publish(TYPED.drop("age"), POLICY)
    with pytest.raises(InputError, match="not one record"):
        pv.publish(TYPED.head(0), POLICY)


def test_the_caller_s_table_is_left_alone() -> None:
    before = TYPED.clone()
    pv.publish(TYPED, replace(POLICY, models=(pv.KAnonymity(k=4),)))
    assert TYPED.equals(before, null_equal=True)


# SQLite.

PEOPLE = [("30", "x", 1.5), ("31", "y", None), ("30", "x", 2.5), ("31", "y", "many")]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table people (age text, ill text, pay)")
        connection.executemany("insert into people values (?, ?, ?)", PEOPLE)
        connection.commit()
    return path


def from_sqlite(path: Path, query: str | None) -> pl.DataFrame:
    return Embedded().read(f"sqlite:///{path}", Form(query=query)).data


def test_sqlite_is_a_source(database: Path) -> None:
    found = from_sqlite(database, "select age, ill as state from people where age > '30' order by rowid")
    assert found.to_dict(as_series=False) == {"age": ["31", "31"], "state": ["y", "y"]}


def test_sqlite_columns_of_mixed_types_become_text(database: Path) -> None:
    assert from_sqlite(database, "select pay from people")["pay"].to_list() == ["1.5", None, "2.5", "many"]


def test_sqlite_is_published(database: Path, tmp_path: Path) -> None:
    policy = replace(
        POLICY,
        attributes=(POLICY.attributes[0], POLICY.attributes[4]),
        models=(pv.KAnonymity(k=2),),
        form=Form(query="select * from people"),
    )
    folder = pv.publish(f"sqlite:///{database}", policy).write(tmp_path / "out")
    assert (folder / "data.csv").read_text() == "age,ill\n30,x\n30,x\n31,y\n31,y\n"
    assert pv.verify(folder).holds
    assert "select" not in (folder / "policy.toml").read_text()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (None, "needs a query"),
        ("select", "the query failed"),
        ("select * from nowhere", "the query failed"),
        ("select * from people where 1 = 0", "not one record"),
        ("select age, ill as age from people", "more than once"),
        ("delete from people", "the query failed"),
        ("create table more (a)", "the query failed"),
    ],
)
def test_sqlite_queries_that_fail(database: Path, query: str | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_sqlite(database, query)
    assert len(from_sqlite(database, "select * from people")) == 4


def test_no_sqlite_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such SQLite file"):
        from_sqlite(tmp_path / "nowhere.db", "select 1")
    (tmp_path / "text.db").write_text("not a database, but long enough to look like one" * 50)
    with pytest.raises(InputError, match="the query failed"):
        from_sqlite(tmp_path / "text.db", "select * from people")


def test_codes_do_not_depend_on_the_order_in_which_values_are_met() -> None:
    """Issue 14, line 0: threads met values in another order on a busy machine, and figures changed."""
    met = ["b", None, "a", "10", "9"]
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 0, 4, 2, 3]):
        found = domains({"x": [met[at] for at in order]}, {})
        assert found["x"].values == flat(("10", "9", "a", "b", None)).values


@pytest.mark.parametrize("name", ["*", "^.*$", "^age$"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "jsonl", "frame", "sets", "plain"])
def test_a_column_that_would_mean_others_too_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    frame, path, form = pl.DataFrame({"age": ["30"], name: ["x"]}), tmp_path / "a", Form(format="csv")
    reading: Callable[[], object] = partial(Embedded().read, frame, form)
    if kind == "sets":
        form = Form(format="parquet")
        files.write(frame.with_columns(of=["x"]), path, form)
        reading = partial(frames.table, path, form, ["age", name], "of", Embedded())
    elif kind != "frame":
        form = form if kind == "plain" else Form(format=kind)
        files.write(frame, path, form)
        reading = partial((Plain() if kind == "plain" else Embedded()).read, path, form, ["age", name])
    with pytest.raises(InputError, match="would mean other columns too"):
        reading()


@given(st.lists(st.sampled_from([None, "", "a", "b", "é", "z\x00", "10", "9"]), min_size=2, max_size=40))
def test_values_that_repeat_are_sorted_as_those_that_do_not(values: list[str | None]) -> None:
    """Whether few values or all are sorted: the same rows in the same order, null last."""
    found = in_order(pl.DataFrame({"v": values}, schema={"v": pl.String}))["v"].to_list()
    assert found == sorted(values, key=lambda value: (value is None, value or ""))


def test_so_are_256_values_with_nulls() -> None:
    values = [f"{at:03}" for at in range(256)] * 3 + [None] * 3
    found = in_order(pl.DataFrame({"v": values[::-1]}, schema={"v": pl.String}))["v"].to_list()
    assert found == sorted(values, key=lambda value: (value is None, value or ""))
