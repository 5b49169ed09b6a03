"""A database as a source of the engine `spark`: real Spark reads a real PostgreSQL through JDBC."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.engines.conftest import JDBC
from tests.engines.test_postgres import url  # noqa: F401 - a fixture

import privet as pv
from privet.core import Form
from privet.errors import InputError
from privet.hierarchy import Auto

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(
        os.environ.get("PRIVET_SPARK", "sail") == "sail" or JDBC is None,
        reason="JDBC needs Spark itself (make test-spark) and a driver: Debian's libpostgresql-jdbc-java, or "
        "PRIVET_JDBC_JAR",
    ),
]
QUERY = "select age, ill, pay, seen from people"


def rules(query: str | None = QUERY) -> pv.Policy:
    return pv.Policy(
        attributes=(
            pv.Attribute("age", pv.Role.QUASI, Auto()),
            pv.Attribute("seen", pv.Role.QUASI, Auto()),
            pv.Attribute("pay", pv.Role.OTHER),
            pv.Attribute("ill", pv.Role.SENSITIVE),
        ),
        models=(pv.KAnonymity(k=5),),
        algorithm=pv.Mondrian(),
        form=Form(query=query),
    )


def through_jdbc(url: str) -> str:  # noqa: F811
    """The address as JDBC writes it; the driver takes the user from it."""
    return "jdbc:postgresql://" + url.split("@")[1] + "?user=steward&password=hush-hush"


def test_the_same_release_as_from_the_database_itself(session: Any, url: str, tmp_path: Path) -> None:  # noqa: F811
    spark = pv.Spark(session, staging=tmp_path / "staging")
    here = pv.publish(url, rules(), output="parquet").to_polars()
    release = pv.publish(through_jdbc(url), rules(), engine=spark)
    there = release.to_polars()
    assert there.equals(here.cast(there.schema))
    release.write(tmp_path / "out")
    assert pv.verify(tmp_path / "out", engine=spark).holds
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"hush-hush" not in written


@pytest.mark.parametrize("query", ["select * from nowhere", "selec", "select ill::int as age from people"])
def test_what_fails_is_said_without_password_or_value(session: Any, url: str, query: str) -> None:  # noqa: F811
    spark = pv.Spark(session)

    def asked() -> None:
        spark.distinct(spark.read(through_jdbc(url), Form(query=query)), "age")

    with pytest.raises(InputError, match="Spark: ") as caught:
        asked()
    assert "hush-hush" not in str(caught.value)
    assert "é" not in str(caught.value)


def test_no_database(session: Any) -> None:
    with pytest.raises(InputError, match="Spark: reading the database failed") as caught:
        pv.Spark(session).read("jdbc:postgresql://127.0.0.1:1/none?password=hush-hush", Form(query=QUERY))
    assert "hush-hush" not in str(caught.value)
