"""How long a user waits who starts the command afresh."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

from bench.child import PRIVET, Cost, middle, rounds, timed
from bench.growing import policy
from bench.outcome import Outcome, Table, rated
from bench.task import Task, blow_up

MOST = {"privet publish": 2.0, "import privet": 0.3, "privet --help": 0.15, "privet check": 0.5}
TINY = 4  # records that are checked


def run(*, full: bool) -> Outcome:
    with blow_up(30_000) as task:
        return measured(task, repeats=11 if full else 5)


def measured(task: Task, *, repeats: int) -> Outcome:
    def just(*command: str) -> Callable[[], Cost]:
        return partial(_cost, command)

    python = sys.executable
    tiny, loose = task.data.with_name("tiny.csv"), task.policy.with_name("tiny.toml")
    tiny.write_text("age,sex\n" + "30,f\n" * TINY, encoding="utf-8")
    loose.write_text(policy(("age", "sex"), TINY, {"type": "mondrian"}, {}), encoding="utf-8")
    costs = rounds(
        {
            "python -c pass": just(python, "-c", "pass"),
            "import privet": just(python, "-c", "import privet"),
            "import polars": just(python, "-c", "import polars"),
            "privet --help": just(str(PRIVET), "--help"),
            "privet check": just(str(PRIVET), "check", str(tiny), str(loose)),
            "privet publish": task.published,
        },
        repeats,
    )
    return Outcome(
        "cold",
        "cold starts",
        f"Fresh processes, medians of {repeats} in turn; `privet publish` on {task.rows:,} records of Adult, "
        "13 quasi-identifiers, L = 4, K = 20, C = 100 %; "
        "`privet check` on four. Bare Python and polars stand there for comparison.",
        (
            Table(
                "seconds",
                {"": "", "wall": ".2f", "slowest": ".2f", "CPU": ".2f", "peak MB": ".0f", "target": ""},
                [
                    [
                        name,
                        middle(found).wall,
                        max(cost.wall for cost in found),
                        middle(found).cpu,
                        middle(found).peak / 1e6,
                        rated(middle(found).wall, MOST[name], " s") if name in MOST else "",
                    ]
                    for name, found in costs.items()
                ],
            ),
        ),
    )


def _cost(command: Sequence[str]) -> Cost:
    return timed(command)[0]
