"""PostgreSQL as a source, against a real server of this machine's own binaries."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import privet as pv
from privet.core import Form
from privet.engines.embedded import Embedded
from privet.errors import InputError
from privet.hierarchy import Auto

pytestmark = pytest.mark.services


def binary(name: str) -> str | None:
    """A server program: Debian keeps these out of the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def unprivileged() -> int | None:
    """Somebody to run the server as: it refuses to run as root."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    return None


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    initdb, pg_ctl = binary("initdb"), binary("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("no PostgreSQL server here: initdb and pg_ctl are in Debian's package `postgresql`")
    user = unprivileged() if os.geteuid() == 0 else os.geteuid()
    if user is None:
        pytest.skip("PostgreSQL refuses to run as root, and there is neither `postgres` nor `nobody`")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        os.chown(folder, user, -1)
        data = folder / "data"

        def run(*command: str) -> None:
            subprocess.run(command, check=True, user=user, cwd=folder, capture_output=True, timeout=60)

        run(initdb, "-D", str(data), "-U", "steward", "-A", "trust", "-E", "UTF8")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        run(pg_ctl, "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            address = f"postgresql://steward:hush-hush@127.0.0.1:{port}/postgres"
            with psycopg.connect(address) as connection:
                connection.execute("create table people (age int, ill text, pay numeric(8,2), seen date)")
                connection.execute(
                    "insert into people select 30 + i % 2, 'é' || i % 3, i + 0.5, date '2024-01-01' + i "
                    "from generate_series(1, 20) i"
                )
            yield address
        finally:
            run(pg_ctl, "-D", str(data), "-m", "immediate", "stop")


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
