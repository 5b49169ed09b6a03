"""Sail for the tests of this room, started once in this process; or the cluster that PRIVET_SPARK names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

DEBIAN = Path("/usr/share/java/postgresql.jar")  # of libpostgresql-jdbc-java
JDBC = os.environ.get("PRIVET_JDBC_JAR") or (str(DEBIAN) if DEBIAN.is_file() else None)


@pytest.fixture(scope="session")
def session() -> Any:
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    where = os.environ.get("PRIVET_SPARK", "sail")
    if where == "sail" or where.startswith("sc://"):
        if where == "sail":
            pytest.importorskip("pysail", reason="the extra `sail` is not installed")
        from privet.engines.spark.session import session_of

        return session_of(where)
    from pyspark.sql import SparkSession

    small = {"spark.sql.shuffle.partitions": 3, "spark.ui.enabled": "false", "spark.driver.memory": "2g"}
    if JDBC is not None:
        small |= {"spark.jars": JDBC, "spark.driver.extraClassPath": JDBC}
    builder = SparkSession.builder.master(where)
    for name, value in small.items():  # two hundred tasks for sixty records take minutes
        builder = builder.config(name, value)
    return builder.getOrCreate()
