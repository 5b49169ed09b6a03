"""A session on a cluster: one that is given, one that runs already, or one that an address names."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from privet.engines.spark.jobs import functions, impatient, once, told
from privet.errors import InputError, MissingExtraError

PORT, PATIENCE = 15002, 20.0  # of Spark Connect, and seconds in which a server takes a connection
RETRIES = 6  # after .05, .2, .8, 3.2, 12.8 and 51 seconds; pyspark itself would ask for ten minutes
# What gRPC goes through.
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY")
SAIL = "sail"  # an address that starts Sail in this process: no cluster, no JVM


def session_of(master: str | None) -> Any:
    """The session at an address: `sc://host:15002`, `spark://host:7077`, `local[4]`, `yarn`, or `sail`.

    Without an address it is the one that runs in this process, or the one that SPARK_REMOTE names.
    """
    functions()  # says what to install
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an optional extra

        if master is None:
            running = SparkSession.getActiveSession()
            if running is not None:
                return running
            master = os.environ.get("SPARK_REMOTE")
        if master is None:
            raise InputError(
                "the engine 'spark' needs a cluster: say --master sc://host:15002, or SPARK_REMOTE, or give "
                "a session: engine=pv.Spark(session); --master sail starts one in this process"
            )
        if master == SAIL:
            master = _sail()
        _reach(master)
        with told(f"connecting to {_place(master)}"), _with_a_file():
            try:
                if master.startswith("sc://"):
                    made = SparkSession.builder.remote(master).create()  # not one that is elsewhere
                    impatient(made.client, RETRIES)
                    atexit.register(once)  # a process says goodbye to its server
                    return made
                return SparkSession.builder.master(master).appName("privet").getOrCreate()
            except (ImportError, RuntimeError, TypeError):
                raise InputError(
                    f"--master: {_place(master)}: this needs the whole of pyspark, and Java; "
                    "pyspark-client connects to sc:// only"
                ) from None


@contextmanager
def _with_a_file() -> Iterator[None]:
    """The program as one with a file: pyspark takes another (`python -c`) for its own tests, and ends it."""
    program = sys.modules["__main__"]
    if hasattr(program, "__file__"):
        yield
        return
    program.__file__ = ""
    try:
        yield
    finally:
        del program.__file__


def _reach(master: str) -> None:
    """Refuse at once where nobody listens: pyspark would ask again and again for ten minutes and more.

    Where a proxy stands between, only pyspark can tell.
    """
    found = urlsplit(master)
    if found.scheme != "sc" or any(os.environ.get(name) for name in PROXIES):
        return
    try:
        with socket.create_connection((found.hostname or "", found.port or PORT), timeout=PATIENCE):
            pass
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None) or 0
        why = os.strerror(number) if number > 0 else "no answer"
        raise InputError(f"Spark: connecting to {_place(master)} failed: {why}") from None


def _place(master: str) -> str:
    """The address without what may be a token."""
    return master.split(";", maxsplit=1)[0].split("?", maxsplit=1)[0].rstrip("/")


@cache
def _sail() -> str:
    """The address of a Sail server in this process, started when it is first asked for."""
    try:
        from pysail.spark import SparkConnectServer  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise MissingExtraError("--master sail", "sail") from None
    os.environ.setdefault("RUST_LOG", "error")
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    atexit.register(server.stop)
    host, port = server.listening_address
    return f"sc://{host}:{port}"
