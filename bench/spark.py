"""The engine `spark` beside the embedded one, by number of rows with the same distinct combinations.

On Sail, and on Spark itself where `make test-spark` has installed it. The cluster runs in a process of its
own, so that what the driver holds is told apart. Every run is noted when it ends
(bench/out/spark-runs.jsonl): whoever is killed goes on where it stopped, and a run that fails is a note below
the table, not the end of it. A single run: python -m bench.spark 10000000 "mondrian, k = 100" spark
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.child import ROOT, ChildError, answered, module, scratch
from bench.outcome import OUT, Outcome, Table
from bench.spark_cost import Line, foretold, off

TITLE = "The same policy on Sail and on Spark"
AGAINST = "beside the embedded engine; Parquet to Parquet, 8 quasi-identifiers, k = 10"
WIDTHS = (2, 73, 5, 7, 16, 41, 7, 14)  # values of each quasi-identifier, as in Adult
COMBINATIONS = 100_000
PART = 500_000  # rows of a part: what is held at a time while they are made
Used = Callable[[], tuple[int | None, float | None]]  # bytes at the worst moment, seconds of processor time
SHORT, FULL, HUGE = (100_000, 300_000), (1_000_000, 3_000_000, 10_000_000), 100_000_000
POOL = 6_000_000_000  # bytes that Sail may hold for them before it spills; about as much again is beside that
ON_DISK = 200  # bytes of a record at the worst moment: its source, what is spilt, what is written
Known = dict[tuple[int, str, str], dict[str, Any]]
SEARCHES = ("top-down", "mondrian", "optimal")
# With k = 10 the raw table of the most rows keeps its promise, and a search has nothing to do.
DEEP = tuple(f"{search}, k = 100" for search in SEARCHES)
EMBEDDED, SAIL, STAY, SPARK = "embedded", "sail", "sail, counts stay", "spark"
WHOLE = ROOT / ".venv-spark" / "bin" / "python"  # real Spark, where `make test-spark` was run
NOTES = OUT / "spark-runs.jsonl"
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
    known = noted() if full else {}
    engines = [EMBEDDED, SAIL, STAY, *([SPARK] if full and WHOLE.exists() else [])]
    with scratch() as folder:
        for many in FULL if full else SHORT:
            searches = (*SEARCHES, *(DEEP if full else ()))
            wanted = [
                (many, search, engine)
                for search in searches
                for engine in engines
                if search in SEARCHES or engine != STAY
            ]
            raw = folder / f"raw-{many}"
            if any(one not in known for one in wanted):
                people(raw, many)
            for one in wanted:
                if one not in known:
                    known[one] = measured(raw, *one[1:], folder / "out")
                    if full:
                        note(one, known[one])
        notes = tuple(huge(known, folder)) if full else ()
    return Outcome("spark", TITLE, AGAINST, tuple(tables(known)), (*failures(known), *notes))


def huge(known: Known, folder: Path) -> Iterator[str]:
    """The most records of all, on Sail, which spills what is more than a stated memory."""
    one = (HUGE, SEARCHES[0], SAIL)
    if one in known:
        return
    memory, disk = 2 * POOL, HUGE * ON_DISK
    room, space = free_memory(), shutil.disk_usage(folder).free
    if memory > room or disk > space:
        yield (
            f"{HUGE:,} rows were not tried: Sail would hold up to {memory / 1e9:.0f} GB, and "
            f"{disk / 1e9:.0f} GB of disk; {room / 1e9:.0f} and {space / 1e9:.0f} GB are free here"
        )
        return
    people(folder / "huge", HUGE)
    known[one] = measured(folder / "huge", *one[1:], folder / "out", pool=POOL)
    note(one, known[one])


def free_memory() -> int:
    """Bytes that a process may take without another giving some back."""
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def measured(raw: Path, search: str, engine: str, out: Path, pool: int | None = None) -> dict[str, Any]:
    """One release, in processes of its own; or how it failed."""
    try:
        if engine == SPARK:
            cost, said = answered(
                [str(WHOLE), *module("spark_child", raw, search, engine, "local[2]", out)[1:]]
            )
            held, worked = said["cluster"]
        else:
            with nothing() if engine == EMBEDDED else server(pool, out.parent) as (address, used):
                cost, said = answered(module("spark_child", raw, search, engine, address, out))
                held, worked = used()
    except (ChildError, OSError, ValueError) as error:
        left = sorted(path.name for path in out.parent.iterdir() if path != raw)
        return {"failed": str(error)[-300:], "left": left}
    return {
        "wall": cost.wall, "cpu": cost.cpu, "driver": cost.peak, "cluster": held, "worked": worked,
        "classes": said["classes"], "k": said["k"], "stages": said["stages"],
    }  # fmt: skip


def noted() -> Known:
    """The runs of an earlier attempt; delete the file to measure again."""
    if not NOTES.is_file():
        return {}
    lines = [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]
    return {
        (one["rows"], one["search"], one["engine"]): one["found"]
        for one in lines
        if "failed" not in one["found"]
    }


def note(one: tuple[int, str, str], found: dict[str, Any]) -> None:
    NOTES.parent.mkdir(parents=True, exist_ok=True)
    rows, search, engine = one
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"rows": rows, "search": search, "engine": engine, "found": found}) + "\n")


def tables(known: Known) -> Iterator[Table]:
    rows: list[list[str | int | float | None]] = []
    jobs: list[list[str | int | float | None]] = []
    for (many, search, engine), found in known.items():
        if "failed" in found:
            continue
        held = found["cluster"]
        rows.append(
            [f"{many:,}", search, engine, found["wall"], found["cpu"], found["driver"] / 1e6,
             None if held is None else held / 1e6, found["worked"], found["classes"], found["k"]]
        )  # fmt: skip
        if engine != EMBEDDED:
            jobs += [[f"{many:,}", search, engine, *stage] for stage in found["stages"].items()]
    heads = {
        "rows": "", "search": "", "engine": "", "s": ".1f", "CPU s of the driver": ".1f", "driver MB": ".0f",
        "cluster MB": ".0f", "CPU s of the cluster": ".1f", "classes": ",", "k": "",
    }  # fmt: skip
    yield Table("A release, by engine, search and rows", heads, rows)
    stages = {"rows": "", "search": "", "engine": "", "stage": "", "s": ".2f"}
    yield Table("Where the time goes", stages, jobs)
    columns = {"search": "", "engine": "", "predicted s": ".1f", "measured s": ".1f", "off by %": ".0f"}
    yield Table("CPU of the cluster for the most rows, as smaller runs predict it", columns, predicted(known))


def predicted(known: Known) -> list[list[str | int | float | None]]:
    """The most rows of each search, by its two smaller runs; what merging takes is the first search's to say.

    Spark's sorts show no such bend at these sizes.
    """
    made: list[list[str | int | float | None]] = []
    for engine in (SAIL, STAY, SPARK):
        first = runs_of(known, SEARCHES[0], engine)
        bend = Line.bent(*first[:3]) if engine != SPARK and len(first) > 2 else None
        for search in (*SEARCHES, *DEEP):
            runs = runs_of(known, search, engine)
            if bend is None or search != SEARCHES[0]:
                told = foretold(runs, 0.0 if bend is None else bend.merged)
            else:  # the first three were fitted
                told = (bend.at(runs[-1][0]), off(bend.at(runs[-1][0]), runs[-1][1])) if runs[3:] else None
            if told is not None:
                made.append([search, engine, told[0], runs[-1][1], 100 * told[1]])
    return made


def runs_of(known: Known, search: str, engine: str) -> list[tuple[int, float]]:
    """Rows and the cluster's seconds of processor time, the fewest rows first."""
    found = ((many, run.get("worked")) for (many, *what), run in known.items() if what == [search, engine])
    return sorted((many, worked) for many, worked in found if worked is not None)


def failures(known: Known) -> Iterator[str]:
    for (many, search, engine), found in known.items():
        if "failed" in found:
            yield f"{many:,} rows, {search}, {engine}: failed: {found['failed']}"


def people(folder: Path, many: int) -> None:
    """Records drawn from the same combinations, however many there are; a part at a time."""
    rng = np.random.default_rng(17)
    combinations = [rng.integers(0, width, COMBINATIONS) for width in WIDTHS]
    ill = rng.integers(0, 9, COMBINATIONS)
    drawn = np.concatenate(
        [
            np.arange(COMBINATIONS, dtype=np.uint32),
            rng.integers(0, COMBINATIONS, many - COMBINATIONS, np.uint32),
        ]
    )
    rng.shuffle(drawn)
    folder.mkdir()
    for begin in range(0, many, PART):
        some = drawn[begin : begin + PART]
        columns = {
            f"q{at}": pl.Series((codes + 10)[some]).cast(pl.String) for at, codes in enumerate(combinations)
        }
        columns["ill"] = pl.Series(ill[some]).cast(pl.String)
        pl.DataFrame(columns).write_parquet(
            folder / f"part-{begin // PART:05d}.parquet", row_group_size=250_000
        )


@contextmanager
def nothing() -> Iterator[tuple[str, Used]]:
    yield "-", lambda: (None, None)


@contextmanager
def server(pool: int | None, spilt: Path) -> Iterator[tuple[str, Used]]:
    """Sail in a process of its own; where it listens, and the most that it held.

    `pool`: bytes that its sorts and counts may hold before they are spilt to disk.
    """
    bounded = {
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(pool),
        "SAIL_EXECUTION__BATCH_SIZE": "1024",  # with larger ones its merge of what was spilt finds no room
        "TMPDIR": str(spilt),
    }
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | (bounded if pool else {}),
    ) as child:  # fmt: skip
        try:
            if child.stdout is None:
                raise RuntimeError
            host, port = child.stdout.readline().split()
            yield f"sc://{host}:{port}", lambda: (most(child.pid), cpu(child.pid))
        finally:
            child.kill()


def cpu(pid: int) -> float:
    """Seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def most(pid: int) -> int:
    """The most that a process has held, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def main(rows: str, search: str, engine: str) -> None:
    """One run, noted and said."""
    many = int(rows)
    with scratch() as folder:
        people(folder / "raw", many)
        found = measured(folder / "raw", search, engine, folder / "out", POOL if many >= HUGE else None)
    note((many, search, engine), found)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
