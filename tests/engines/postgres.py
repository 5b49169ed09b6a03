"""A PostgreSQL server of this machine's own binaries, for as long as some tests run."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


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


@contextmanager
def server(*statements: str) -> Iterator[str]:
    """The address of a server of one's own, after some statements; skips where there is none."""
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
                for statement in statements:
                    connection.execute(statement)
            yield address
        finally:
            run(pg_ctl, "-D", str(data), "-m", "immediate", "stop")
