"""Large tables as a user publishes them: whole processes that read, count, search, check and write.

Adult with ARX's hierarchies, once and forty times over, and Mondrian on up to ten million records. Time and
memory are those of `privet publish`, from its start to its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bench import adult, lattice
from bench.child import PRIVET, Cost, middle, scratch, timed
from bench.outcome import Cell, Table, rated
from bench.task import Task

QUASI = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "race",
    "sex",
    "native-country",
    "occupation",
)
OPTIMAL = {"type": "optimal", "suppression": "5%"}
MONDRIAN = {"type": "mondrian"}
TIMES = 40


@dataclass(frozen=True, slots=True)
class Limit:
    """What a process may take; None: it is only looked at."""

    seconds: float | None = None
    megabytes: float | None = None


def table(*, full: bool) -> Table:
    """A row for each process."""
    size = 10_000_000 if full else 1_000_000
    rows: list[list[Cell]] = []
    with repeated(1, k=5) as once:
        rows.append(row("optimal, k = 5, 5 %, cold", once, Limit(seconds=2), repeats=5 if full else 3))
    with repeated(TIMES, k=5) as often:
        rows.append(row("optimal, k = 5, 5 %", often, Limit(11.7, 500)))
    # The same again, with a promise that is as hard to keep as that of the table by itself.
    with repeated(TIMES, k=5 * TIMES) as hard:
        rows.append(row(f"optimal, k = {5 * TIMES}, 5 %", hard, Limit(11.7, 500)))
    with varied(size) as many:
        rows.append(row("mondrian, k = 10", many, Limit(60, 6000) if full else Limit()))
    heads = {
        "`privet publish`": "",
        "records": ",",
        "suppressed": ",",
        "NCP": ".5f",
        "wall s": ".2f",
        "CPU s": ".2f",
        "peak MB": ".0f",
        "time": "",
        "memory": "",
    }
    return Table("growing: whole processes, CSV to release", heads, rows)


def row(name: str, task: Task, limit: Limit, *, repeats: int = 1) -> list[Cell]:
    costs: list[Cost] = []
    for _ in range(repeats):
        with task.target() as folder:
            command = [str(PRIVET), "publish", str(task.data), str(task.policy), "-o", str(folder)]
            costs.append(timed(command)[0])
            evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    cost = middle(costs)
    megabytes = cost.peak / 1e6
    return [
        name,
        task.rows,
        evidence["suppressed_records"],
        evidence["measures"]["loss"]["ncp"],
        cost.wall,
        cost.cpu,
        megabytes,
        None if limit.seconds is None else rated(cost.wall, limit.seconds, " s"),
        None if limit.megabytes is None else rated(megabytes, limit.megabytes, " MB"),
    ]


@contextmanager
def repeated(times: int, *, k: int) -> Iterator[Task]:
    """Adult so many times over, with nine quasi-identifiers and ARX's hierarchies."""
    with scratch() as folder:
        data = lattice.records()
        data = pl.concat([data] * times)
        task = Task(folder / "adult.csv", folder / "policy.toml", data.height)
        data.write_csv(task.data)
        ladders = {name: lattice.folder() / f"adult_hierarchy_{name}.csv" for name in lattice.COLUMNS}
        task.policy.write_text(policy(lattice.COLUMNS, k, OPTIMAL, ladders), encoding="utf-8")
        yield task


@contextmanager
def varied(rows: int) -> Iterator[Task]:
    """Adult and variations of it, with eight quasi-identifiers."""
    with scratch() as folder:
        task = Task(folder / "adult.csv", folder / "policy.toml", rows)
        adult.write_blow_up(task.data, rows, columns=(*QUASI, "income"))
        said = policy(QUASI, 10, MONDRIAN, {}, others=("income",))
        task.policy.write_text(said, encoding="utf-8")
        yield task


def policy(
    quasi: Sequence[str],
    k: int,
    algorithm: Mapping[str, str],
    ladders: Mapping[str, Path],
    *,
    others: Sequence[str] = (),
) -> str:
    """k-anonymity as a policy file."""
    lines = ["policy = 1", "", "[attributes]"]
    for name in quasi:
        path = ladders.get(name)
        tree = "" if path is None else f", hierarchy = {{ type = 'csv', path = {json.dumps(str(path))} }}"
        lines.append(f'{name} = {{ role = "quasi"{tree} }}')
    lines += [f'{name} = {{ role = "other" }}' for name in others]
    lines += ["", "[[models]]", 'type = "k-anonymity"', f"k = {k}", "", "[algorithm]"]
    return "\n".join([*lines, *(f'{key} = "{value}"' for key, value in algorithm.items()), ""])
