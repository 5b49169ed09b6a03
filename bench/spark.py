"""The engine `spark` on Sail beside the embedded one, by number of rows with the same distinct combinations.

Sail runs in a process of its own, so that what the driver holds is told apart from what the cluster does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

from bench.child import answered, module, scratch
from bench.outcome import Outcome, Table

TITLE = "The same policy on Sail"
AGAINST = "beside the embedded engine; Parquet to Parquet, 8 quasi-identifiers, k = 10"
WIDTHS = (2, 73, 5, 7, 16, 41, 7, 14)  # values of each quasi-identifier, as in Adult
COMBINATIONS = 100_000
Used = Callable[[], tuple[int | None, float | None]]  # bytes at the worst moment, seconds of processor time
SHORT, FULL = (100_000, 300_000), (1_000_000, 3_000_000, 10_000_000)
SEARCHES = ("top-down", "mondrian", "optimal")
SERVER = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
print(*server.listening_address, flush=True)
sys.stdin.read()
"""


def run(*, full: bool) -> Outcome:
    """Time and peak memory of a whole release, by engine, search and rows."""
    if find_spec("pysail") is None or find_spec("pyspark") is None:
        return Outcome("spark", TITLE, AGAINST, (), ("not measured: the extra `sail` is not installed",))
    rows: list[list[str | int | float | None]] = []
    jobs: list[list[str | int | float | None]] = []
    with scratch() as folder:
        for many in FULL if full else SHORT:
            raw = folder / f"raw-{many}.parquet"
            people(raw, many)
            for search in SEARCHES:
                for engine in ("embedded", "spark"):
                    with server() if engine == "spark" else nothing() as (address, used):
                        cost, said = answered(
                            module("spark_child", raw, search, engine, address, folder / "out")
                        )
                        held, worked = used()
                    rows.append(
                        [f"{many:,}", search, engine, cost.wall, cost.cpu, cost.peak / 1e6,
                         None if held is None else held / 1e6, worked, said["classes"], said["k"]]
                    )  # fmt: skip
                    if engine == "spark":
                        jobs += [[f"{many:,}", search, *stage] for stage in said["stages"].items()]
            raw.unlink()
    heads = {
        "rows": "", "search": "", "engine": "", "s": ".1f", "CPU s of the driver": ".1f", "driver MB": ".0f",
        "cluster MB": ".0f", "CPU s of the cluster": ".1f", "classes": ",", "k": "",
    }  # fmt: skip
    return Outcome(
        "spark",
        TITLE,
        AGAINST,
        (
            Table("A release, by engine, search and rows", heads, rows),
            Table("Where the time goes on Sail", {"rows": "", "search": "", "stage": "", "s": ".2f"}, jobs),
        ),
    )


def people(path: Path, many: int) -> None:
    """Records drawn from the same combinations, however many there are."""
    rng = np.random.default_rng(17)
    combinations = [rng.integers(0, width, COMBINATIONS) for width in WIDTHS]
    drawn = np.concatenate([np.arange(COMBINATIONS), rng.integers(0, COMBINATIONS, many - COMBINATIONS)])
    columns = {
        f"q{at}": pl.Series((codes + 10)[drawn]).cast(pl.String) for at, codes in enumerate(combinations)
    }
    columns["ill"] = pl.Series(rng.integers(0, 9, COMBINATIONS)[drawn]).cast(pl.String)
    pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=1).write_parquet(path, row_group_size=250_000)


@contextmanager
def nothing() -> Iterator[tuple[str, Used]]:
    yield "-", lambda: (None, None)


@contextmanager
def server() -> Iterator[tuple[str, Used]]:
    """Sail in a process of its own; where it listens, and the most that it held."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as child:  # fmt: skip
        try:
            if child.stdout is None:
                raise RuntimeError
            host, port = child.stdout.readline().split()
            yield f"sc://{host}:{port}", lambda: (_most(child.pid), _cpu(child.pid))
        finally:
            child.kill()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _most(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
