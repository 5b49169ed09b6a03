"""PostgreSQL as a source, against a real server of this machine's own binaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from tests.engines.postgres import server

import privet as pv
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.errors import InputError
from privet.hierarchy import Auto

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server(
        "create table people (age int, ill text, pay numeric(8,2), seen date)",
        "insert into people select 30 + i % 2, 'é' || i % 3, i + 0.5, date '2024-01-01' + i "
        "from generate_series(1, 20) i",
    ) as address:
        yield address


def test_a_query_is_read(url: str) -> None:
    frame = (
        Embedded().read(url, Form(query="select age, ill, pay from people where age = 31 order by pay")).data
    )
    assert frame.columns == ["age", "ill", "pay"]
    assert frame["age"].to_list() == [31] * 10
    assert frame["pay"][0] == Decimal("1.50")


def test_it_is_published_and_verified(url: str, tmp_path: Path) -> None:
    policy = replace(
        pv.Policy.loads('policy = 1\n[attributes]\nage = "quasi"\n[[models]]\ntype = "k-anonymity"\nk = 5\n'),
        attributes=(pv.Attribute("age", pv.Role.QUASI, Auto()), pv.Attribute("ill", pv.Role.SENSITIVE)),
        form=Form(query="select * from people"),
    )
    folder = pv.publish(url, policy).write(tmp_path / "out")
    assert pv.verify(folder).holds
    assert len((folder / "data.csv").read_text(encoding="utf-8").splitlines()) == 21
    assert "hush-hush" not in "".join(
        p.read_text(encoding="utf-8") for p in tmp_path.rglob("*") if p.is_file()
    )


@pytest.mark.parametrize(
    "query",
    [
        "select * from nowhere",
        "selec",
        "select 1 / 0 from people",
        "delete from people",
        "select ill::int from people",
        "select * from people where false",
        "select age, age from people",
    ],
)
def test_what_fails_is_said_without_password_or_value(url: str, query: str) -> None:
    with pytest.raises(InputError) as caught:
        Embedded().read(url, Form(query=query))
    assert "hush-hush" not in str(caught.value)
    assert "é" not in str(caught.value)
    assert len(Embedded().read(url, Form(query="select * from people")).data) == 20


def test_no_server(url: str) -> None:
    with pytest.raises(InputError, match="postgresql://127") as caught:
        Embedded().read("postgresql://steward:hush-hush@127.0.0.1:1/postgres", Form(query="select 1"))
    assert "hush-hush" not in str(caught.value)


def test_a_release_is_written_back_with_its_evidence(url: str) -> None:
    from privet.engines.writeback import place

    psycopg = pytest.importorskip("psycopg")
    data = pl.DataFrame({'a "b"': ["x\ty", None, "\\N"], "n": [1, None, 3], "s": [0.5, None, 2.0]})
    written = place(url, "safe", overwrite=False)
    written.refuse()
    written.write(data, {"evidence.json": "{}", "policy.toml": "policy = 1\n"})
    with psycopg.connect(url) as db:
        assert db.execute("SELECT * FROM safe").fetchall() == data.rows()
        files = dict(db.execute("SELECT file, content FROM safe_evidence").fetchall())
    assert files == {"evidence.json": "{}", "policy.toml": "policy = 1\n"}
    with pytest.raises(InputError, match="say --overwrite"):
        written.refuse()
    replace(written, overwrite=True).write(data.head(1), {})
    with psycopg.connect(url) as db:
        assert len(db.execute("SELECT * FROM safe").fetchall()) == 1
        db.execute("DROP TABLE safe_evidence")
    with pytest.raises(InputError, match="is not a release"):
        replace(written, overwrite=True).refuse()
    with psycopg.connect(url) as db:
        db.execute("DROP TABLE safe")
