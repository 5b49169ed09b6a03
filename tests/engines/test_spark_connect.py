"""The engine `spark` through Spark Connect: a server of Spark itself, and a client that has no JVM."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.engines.test_spark import PEOPLE, RULES

import privet as pv

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(
        os.environ.get("PRIVET_SPARK", "sail") == "sail", reason="about Spark itself: make test-spark"
    ),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Spark's own Connect server, and where it listens; what it says is kept beside it."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home, here = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("server")
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": port,
        "spark.sql.shuffle.partitions": 3, "spark.ui.enabled": "false", "spark.log.level": "WARN",
    }  # fmt: skip
    said = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [
        str(home / "bin/spark-submit"), "--master", "local[2]", "--driver-memory", "1g", *said,
        "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal",
    ]  # fmt: skip
    with (
        (here / "log").open("wb") as log,
        subprocess.Popen(
            command, stdout=log, stderr=log, cwd=here, env={**os.environ, "SPARK_HOME": str(home)}
        ) as child,
    ):
        try:
            while not _listens(port):
                assert child.poll() is None, (here / "log").read_text(errors="replace")[-2000:]
                time.sleep(0.2)
            yield child, f"sc://127.0.0.1:{port}"
        finally:
            child.kill()


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def privet(*words: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: in one that has Spark in it, pyspark speaks to that."""
    return subprocess.run(
        [sys.executable, "-m", "privet.cli", *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("algorithm", ["top-down", "mondrian", "optimal"])
def test_a_release_through_connect(
    server: tuple[subprocess.Popen[bytes], str], tmp_path: Path, algorithm: str
) -> None:
    there = ("--engine", "spark", "--master", server[1])
    raw, rules, out = tmp_path / "raw.parquet", tmp_path / "rules.toml", tmp_path / "out"
    PEOPLE.write_parquet(raw)
    rules.write_text(RULES.replace("k = 5", "k = 15").replace("top-down", algorithm))
    done = privet("publish", raw, rules, "-o", out, *there)
    assert done.returncode == 0, done.stderr
    assert privet("verify", out, *there).returncode == 0
    assert pv.verify(out).complaints == ()
    expected = pv.publish(raw, pv.Policy.load(rules)).to_polars()
    assert pl.read_parquet(out / "data.parquet/part-*.parquet").equals(expected)
    if algorithm == "top-down":
        assert privet("risk", raw, rules, *there).stdout == privet("risk", raw, rules).stdout
        assert privet("compare", raw, out, *there).stdout == privet("compare", raw, out).stdout
        assert privet("check", raw, rules, *there).returncode == 1  # the raw table keeps no promise


def test_no_server_at_that_address(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "raw.parquet")
    (tmp_path / "rules.toml").write_text(RULES)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        address = f"sc://127.0.0.1:{taken.getsockname()[1]}"
        words = ("publish", tmp_path / "raw.parquet", tmp_path / "rules.toml", "-o", tmp_path / "out")
        done = privet(*words, "--engine", "spark", "--master", address)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: Spark: connecting to {address} failed: Connection refused")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
