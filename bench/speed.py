"""How fast the road is: CSV to CSV, against a plain copy of the same file, all in one run."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from bench.child import Cost, answered, middle, module, rounds
from bench.copy import installed
from bench.outcome import Cell, Outcome, Table, rated
from bench.task import Task, blow_up, medians

WHOLE, AIM, SEARCH, MEMORY = 8, 5, 3, 6


def run(*, full: bool) -> Outcome:
    with blow_up(1_000_000 if full else 200_000) as task:
        return measured(task, repeats=5 if full else 3)


def measured(task: Task, *, repeats: int) -> Outcome:
    copies: dict[str, list[dict[str, float]]] = {name: [] for name in installed()}
    contenders: dict[str, Callable[[], Cost]] = {name: _copying(task, name, copies[name]) for name in copies}
    costs = rounds({**contenders, "privet": task.published}, repeats)
    stages = medians([task.staged() for _ in range(repeats)])
    copy = median(found["seconds"] for found in copies["polars"])
    size = copies["polars"][0]["bytes"]
    whole, plain = middle(costs["privet"]), middle(costs["polars"])
    processes: list[list[Cell]] = []
    for name, found in costs.items():
        cost = middle(found)
        processes.append([name, cost.wall, cost.wall / copy, cost.cpu, cost.peak / 1e6, cost.peak / size])
    road: list[list[Cell]] = [[stage, seconds, seconds / copy] for stage, seconds in stages.items()]
    return Outcome(
        "speed",
        f"publishing {task.rows:,} rows of the Adult blow-up, CSV to CSV",
        f"{task.megabytes:.0f} MB, 13 quasi-identifiers, L = 4, K = 20, C = 100 %; medians of {repeats} runs "
        f"in turn. Times are shown against polars reading that file and writing it back ({copy:.2f} s, "
        f"without starting Python), memory against the table as polars holds it ({size / 1e6:.0f} MB).",
        (
            Table(
                "whole processes",
                {
                    "": "",
                    "wall s": ".2f",
                    "x copy": ".1f",
                    "CPU s": ".2f",
                    "peak MB": ".0f",
                    "x table": ".1f",
                },
                processes,
            ),
            Table(
                "stages of privet publish, by progress, in a process of their own",
                {"stage": "", "wall s": ".2f", "x copy": ".1f"},
                [*road, ["all", sum(stages.values()), sum(stages.values()) / copy]],
            ),
            Table(
                "targets",
                {"": "", "ratio": ".1f", "target": ""},
                [
                    ["whole process / copy", whole.wall / copy, rated(whole.wall / copy, WHOLE)],
                    [f"the aim: {AIM}x", whole.wall / copy, rated(whole.wall / copy, AIM)],
                    ["whole process / whole copying process", whole.wall / plain.wall, ""],
                    ["search / copy", stages["search"] / copy, rated(stages["search"] / copy, SEARCH)],
                    ["peak memory / table", whole.peak / size, rated(whole.peak / size, MEMORY)],
                ],
            ),
        ),
        (
            "The targets are meant for 1,000,000 rows: on fewer, starting the processes weighs more.",
            "Mohammed (2012) reports 107 s for 1,000,000 rows: 50 s read, 33 s anonymize, 24 s write.",
        ),
    )


def _copying(task: Task, name: str, noted: list[dict[str, float]]) -> Callable[[], Cost]:
    """A run of the copy, which also notes what it took without starting Python."""

    def copied() -> Cost:
        with task.target() as folder:
            cost, said = answered(module("copy", name, task.data, folder.with_name("copy.csv")))
        noted.append(said)
        return cost

    return copied
