"""What a plain reader-writer takes: `python -m bench.copy polars FROM TO` reads a CSV and writes it back."""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from importlib.util import find_spec


def polars(source: str, target: str) -> dict[str, float]:
    import polars as pl

    begun = time.perf_counter()
    table = pl.read_csv(source)
    size = table.estimated_size()
    table.write_csv(target)
    return {"seconds": time.perf_counter() - begun, "bytes": size}


def duckdb(source: str, target: str) -> dict[str, float]:
    duckdb = import_module("duckdb")  # not among our dependencies
    begun = time.perf_counter()
    duckdb.execute(f"COPY (FROM read_csv('{source}')) TO '{target}' (HEADER)")
    return {"seconds": time.perf_counter() - begun}


COPIES = {"polars": polars, "duckdb": duckdb}


def installed() -> list[str]:
    """polars always is; DuckDB only where somebody wants to see the comparison."""
    return [name for name in COPIES if find_spec(name) is not None]


if __name__ == "__main__":
    who, source, target = sys.argv[1:]
    print(json.dumps(COPIES[who](source, target)))
