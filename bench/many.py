"""Tables that are large in other ways: values that never repeat, many columns, many cells; and looking again.

Whole processes as users run them. The aims are those of issue 19, in CPU seconds, so that a busy machine
says nearly the same; reading is what polars needs for the file by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bench import adult
from bench.child import PRIVET, scratch, timed
from bench.growing import policy
from bench.outcome import Cell, Outcome, Table, rated

NINE = (
    "age",
    "workclass",
    "education-num",
    "marital-status",
    "occupation",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
)
READ = "import sys, polars; polars.read_csv(sys.argv[1])"


@dataclass(frozen=True, slots=True)
class Case:
    """A table, what is done with it, and what that may cost."""

    name: str
    rows: int  # in the short form a twentieth
    algorithm: dict[str, str]
    seconds: float | None = None
    megabytes: float | None = None


DISTINCT = Case("mondrian, 6 columns of distinct integers", 100_000, {"type": "mondrian"}, None, 1_000)
WIDE = Case("mondrian, cuts = hierarchy, 24 columns", 30_000, {"type": "mondrian", "cuts": "hierarchy"}, 15)
LOCAL = Case("local, nine columns of many values", 1_200_000, {"type": "local"}, 30)
OPTIMAL = Case("optimal, 5 %, the same", 1_200_000, {"type": "optimal", "suppression": "5%"}, 20)


def run(*, full: bool) -> Outcome:
    rows = [row(case, full=full) for case in (DISTINCT, WIDE, LOCAL, OPTIMAL)]
    heads = {
        "`privet publish`": "",
        "records": ",",
        "CPU s": ".1f",
        "peak MB": ".0f",
        "time": "",
        "memory": "",
    }
    looks = {"": "", "CPU s": ".2f", "times reading": ".1f"}
    return Outcome(
        "many",
        "large in other ways: distinct values, many columns, many cells",
        "Whole processes; k-anonymity with k = 5. Checking and verifying are beside reading the file.",
        (
            Table("publish", heads, rows),
            Table("look again (aim: three times reading)", looks, again(1_000_000 if full else 50_000)),
        ),
    )


def row(case: Case, *, full: bool) -> list[Cell]:
    rows = case.rows if full else case.rows // 20
    with made(case, rows) as (data, said):
        cost, _ = timed([str(PRIVET), "publish", str(data), str(said), "-o", str(data.with_name("out"))])
    megabytes = cost.peak / 1e6
    return [
        case.name,
        rows,
        cost.cpu,
        megabytes,
        rated(cost.cpu, case.seconds, " s") if full and case.seconds else None,
        rated(megabytes, case.megabytes, " MB") if full and case.megabytes else None,
    ]


def again(rows: int) -> list[list[Cell]]:
    """What checking a table and verifying its release cost, beside reading it."""
    with made(LOCAL, rows) as (data, said):
        out, loose = data.with_name("out"), data.with_name("loose.toml")
        said.write_text(policy(NINE, 5, {"type": "mondrian"}, {}), encoding="utf-8")
        loose.write_text(policy(NINE, 1, {"type": "mondrian"}, {}), encoding="utf-8")  # which raw rows keep
        timed([str(PRIVET), "publish", str(data), str(said), "-o", str(out)])
        costs = {
            "read": timed([sys.executable, "-c", READ, str(data)])[0].cpu,
            "check": timed([str(PRIVET), "check", str(data), str(loose)])[0].cpu,
            "verify": timed([str(PRIVET), "verify", str(out)])[0].cpu,
        }
    return [[what, cpu, cpu / costs["read"]] for what, cpu in costs.items()]


@contextmanager
def made(case: Case, rows: int) -> Iterator[tuple[Path, Path]]:
    """The table of a case and its policy, as files."""
    rng = np.random.default_rng(0)
    with scratch() as folder:
        data, said = folder / "many.csv", folder / "policy.toml"
        if case in (LOCAL, OPTIMAL):
            names: tuple[str, ...] = NINE
            adult.write_blow_up(data, rows, columns=names)
        elif case is DISTINCT:
            names = tuple(f"n{at}" for at in range(6))
            pl.DataFrame({name: rng.permutation(rows) for name in names}).write_csv(data)
        else:
            names = tuple(f"n{at}" for at in range(24))
            sizes = [2, 5, 20, 90] * 6
            columns = {name: rng.integers(0, size, rows) for name, size in zip(names, sizes, strict=True)}
            pl.DataFrame(columns).write_csv(data)
        said.write_text(policy(names, 5, case.algorithm, {}), encoding="utf-8")
        yield data, said
