"""One release, in a process that is measured: RAW SEARCH ENGINE ADDRESS OUT."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import privet as pv
from bench.spark import cpu, most

FEW = 60_000  # combinations that may come here where counts are to stay: fewer than there are


def session_of(address: str) -> Any:
    """A session at an address; Spark itself with as many partitions as the machine has use for."""
    from pyspark.sql import SparkSession

    if address.startswith("sc://"):
        return SparkSession.builder.remote(address).create()
    small = {"spark.sql.shuffle.partitions": 8, "spark.ui.enabled": "false", "spark.driver.memory": "4g"}
    builder = SparkSession.builder.master(address)
    for name, value in small.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(raw: str, search: str, engine: str, address: str, out: str) -> None:
    quasi = {
        f"q{at}": {"role": "quasi", "hierarchy": {"type": "intervals", "width": [5, 10, 20]}}
        for at in range(8)
    }
    search, _, k = search.partition(", k = ")
    policy = pv.Policy.from_document(
        {
            "policy": 1,
            "rows": "persons",
            "attributes": {**quasi, "ill": {"role": "sensitive"}},
            "models": [{"type": "k-anonymity", "k": int(k or 10)}],
            "algorithm": {"type": search} | ({"suppression": "1/10"} if search == "optimal" else {}),
        },
        base=Path(),
    )
    stages: list[tuple[str, float]] = []

    def progress(stage: str, done: int, of: int | None = None) -> None:  # noqa: ARG001 - as it is called
        if not stages or stages[-1][0] != stage:
            stages.append((stage, time.perf_counter()))

    started = time.perf_counter()
    where: Any = engine
    if engine != "embedded":
        few: dict[str, Any] = {"cells": FEW} if engine.endswith("stay") else {}
        where = pv.Spark(session_of(address), staging=Path(out).parent, **few)
    release = pv.publish(raw, policy, engine=where, progress=progress)
    progress("write", 0)
    release.write(out)
    ends = [*(at for _, at in stages[1:]), time.perf_counter()]
    taken = {name: end - at for (name, at), end in zip(stages, ends, strict=True)}
    found = release.evidence.promises[0].achieved
    shutil.rmtree(out)
    shutil.rmtree(f"{out}.private")
    classes: Any = release.measures.classes
    cluster = None
    if address.startswith("local"):
        from pyspark.sql import SparkSession

        jvm = SparkSession.getActiveSession().sparkContext._gateway.proc.pid  # noqa: SLF001 - its process
        cluster = [most(jvm), cpu(jvm)]
    print(
        json.dumps(
            {
                "stages": {"start": stages[0][1] - started, **taken},
                "classes": classes["count"],
                "k": str(found["k"]),
                "cluster": cluster,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
