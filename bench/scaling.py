"""How time grows with the number of rows: figure 3.7 of Mohammed (2012)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.child import Cost, middle
from bench.curves import Chart, Series
from bench.outcome import Outcome, Table
from bench.stages import ROAD
from bench.task import blow_up, medians

SHORT = (100_000, 200_000, 400_000)
FULL = (200_000, 500_000, 1_000_000, 2_000_000, 5_000_000)
BETWEEN = ROAD[1:-1]  # what the source calls anonymizing


def run(*, full: bool) -> Outcome:
    return measured(FULL if full else SHORT, repeats=3 if full else 1)


def measured(sizes: Sequence[int], *, repeats: int) -> Outcome:
    stages: list[dict[str, float]] = []
    whole: list[Cost] = []
    for rows in sizes:
        with blow_up(rows) as task:
            stages.append(medians([task.staged() for _ in range(repeats)]))
            whole.append(middle([task.published() for _ in range(repeats)]))
    walls = [cost.wall for cost in whole]
    between = [sum(found[stage] for stage in BETWEEN) for found in stages]
    heads = {
        "rows": ",",
        **dict.fromkeys(("read", "anonymize", "(search)", "write", "process s"), ".2f"),
        "us a row": ".2f",
        "MB": ".0f",
        "bytes a row": ".0f",
    }
    table = Table(
        "seconds",
        heads,
        [
            [
                rows,
                found["read"],
                middle_part,
                found["search"],
                found["write"],
                cost.wall,
                cost.wall / rows * 1e6,
                cost.peak / 1e6,
                cost.peak / rows,
            ]
            for rows, found, middle_part, cost in zip(sizes, stages, between, whole, strict=True)
        ],
    )
    curves = {"whole process": walls, "anonymize": between, "search": [found["search"] for found in stages]}
    return Outcome(
        "scaling",
        f"growth from {sizes[0]:,} to {sizes[-1]:,} rows (figure 3.7)",
        "Adult blow-up, 13 quasi-identifiers, L = 4, K = 20, C = 100 %; `privet publish` as a process, "
        f"and its stages in another; medians of {repeats}. The source's 1,000,000 rows took 107 s: 50 s to "
        "read, 33 s to anonymize, 24 s to write.",
        (table,),
        (f"log-log slope of the whole process: {slope(sizes, walls):.2f} (1 is linear)",),
        {
            "figure-3.7": Chart(
                "Run time by rows",
                "rows",
                "seconds",
                [
                    Series(name, list(zip(sizes, seconds, strict=True)))
                    for name, seconds in curves.items()
                    if min(seconds) > 0
                ],
                logarithmic=True,
            )
        },
    )


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """How many times longer for ten times as many, in powers of ten.

    >>> round(slope([10, 100, 1000], [0.5, 5.0, 50.0]), 6)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
