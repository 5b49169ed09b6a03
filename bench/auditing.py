"""Query auditing: how long a decision takes, and how much is answered (Zhang 2010, section 3.4)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from fractions import Fraction
from statistics import mean, median

import numpy as np

from bench.child import answered, module
from bench.curves import Chart, Series
from bench.outcome import Cell, Outcome, Table, rated
from privet.disclose.audit.decision import Constraint, Decision, Session
from privet.disclose.audit.exact import Members
from privet.disclose.audit.maximum import MaxAuditor

MAX_MS, SUM_S = 10, 1  # at most, for a decision
FAMILIES = (("simple", "tight"), ("simulatable", "tight"), ("binding", "equality"), ("binding", "tight"))
NAMES = ("simple (unsafe)", "simulatable", "binding, as printed", "binding, tight log")


def run(*, full: bool) -> Outcome:
    sizes = range(1000, 2001, 250) if full else (1000, 2000)
    return measured(sizes, runs=50 if full else 5, sums=range(1000, 2001, 250) if full else (1000, 2000))


def measured(sizes: Sequence[int], *, runs: int, sums: Sequence[int], speed: bool = True) -> Outcome:
    curves = {name: [] for name in NAMES}  # type: dict[str, list[tuple[float, float | None]]]
    first: dict[str, list[tuple[float, float | None]]] = {name: [] for name in NAMES}
    rows: list[list[Cell]] = []
    for n in sizes:
        for name, (before, of) in zip(NAMES, shares(n, runs), strict=True):
            curves[name].append((n, of))
            first[name].append((n, before))
            rows.append([n, name, before, of, of / 200])
    posed = [(n, *sum_share(n, 60)) for n in sums]
    tables = [
        Table(
            f"MAX: answered before the first denial, and of 200 ({runs} runs)",
            {"n": ",", "auditor": "", "before denial": ".1f", "of 200": ".1f", "share": ".1%"},
            rows,
        ),
        Table(
            "SUM: answered of 60 random sums in [0, 10], strict rule; `simulatable` can answer none",
            {"n": ",", "binding": ".0f", "simulatable": ".0f"},
            [list(row) for row in posed],
        ),
    ]
    if speed:
        tables.insert(0, decisions())
    return Outcome(
        "auditing",
        "Query auditing: time of a decision, share of queries answered (figures 3.8, 3.9)",
        "Values are integers uniform in 1..n; a query has a size uniform in 1..n/10, then a random set of "
        "that size. Zhang reports that more than half of what `simulatable` loses is regained.",
        tuple(tables),
        (f"regained at n = {sizes[0]:,}: {regained(rows[: len(NAMES)]):.0%} of what simulatable loses",),
        {
            "figure-3.8a": Chart("MAX, before the first denial", "n", "answered", _series(first)),
            "figure-3.8b": Chart("MAX, of 200 queries", "n", "answered", _series(curves)),
            "figure-3.9": Chart(
                "SUM, of 60 queries",
                "n",
                "answered",
                [
                    Series("binding, strict", [(n, b) for n, b, _ in posed]),
                    Series("simulatable", [(n, s) for n, _, s in posed]),
                ],
            ),
        },
    )


def _series(points: dict[str, list[tuple[float, float | None]]]) -> list[Series]:
    return [Series(name, found, dashed=name.startswith("simple")) for name, found in points.items()]


def regained(rows: Sequence[Sequence[Cell]]) -> float:
    """How much of what simulatable loses against simple the tight log gets back."""
    simple, simulatable, _, tight = (float(row[3] or 0) for row in rows)
    return (tight - simulatable) / (simple - simulatable) if simple > simulatable else 1.0


def query(rng: np.random.Generator, n: int) -> Members:
    return np.sort(rng.choice(n, rng.integers(1, n // 10 + 1), replace=False))


def shares(n: int, runs: int, posed: int = 200) -> list[tuple[float, float]]:
    """For each auditor: answered before the first denial, and of all, on average."""
    found: list[list[tuple[int, int]]] = [[] for _ in FAMILIES]
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        values = rng.integers(1, n + 1, n).tolist()
        queries = [query(rng, n) for _ in range(posed)]
        for at, (family, log) in enumerate(FAMILIES):
            session = Session(values, MaxAuditor(n, family=family, log=log, unsafe=family == "simple"))
            said = [session.decide(one).answer is not None for one in queries]
            found[at].append((said.index(False) if False in said else posed, sum(said)))
    return [(mean(b for b, _ in each), mean(a for _, a in each)) for each in found]


def sum_share(n: int, posed: int) -> tuple[int, int]:
    from privet.disclose.audit.summation import SumAuditor

    rng = np.random.default_rng(n)
    values = (rng.random(n) * 10).round(3).tolist()
    queries = [np.nonzero(rng.random(n) < 0.5)[0] for _ in range(posed)]
    found = []
    for family in ("binding", "simulatable"):
        session = Session(values, SumAuditor([0] * n, [10] * n, family=family))
        found.append(sum(session.decide(one).answer is not None for one in queries))
    return found[0], found[1]


def decisions() -> Table:
    """In a process of its own, with one thread for linear algebra, as the gateway runs."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    _, said = answered(module("auditing"))
    rows: list[list[Cell]] = [
        [
            kind.upper(),
            people,
            logged,
            *(said[f"{kind} {what}"] for what in ("ms", "cpu ms", "worst ms")),
            target,
        ]
        for kind, people, logged, target in (
            ("max", 100_000, 1_000, rated(said["max ms"], MAX_MS, " ms")),
            ("sum", 2_000, 200, rated(said["sum ms"] / 1000, SUM_S, " s")),
        )
    ]
    numbers = dict.fromkeys(("median ms", "processor ms", "worst ms"), ".2f")
    heads = {"kind": "", "people": ",", "logged": ",", **numbers, "target": ""}
    return Table("a decision, with the log as long as it is", heads, rows)


def timed() -> dict[str, float]:
    """Decisions with 1,000 maxima and with 200 sums in the log."""
    from privet.disclose.audit.exact import Column
    from privet.disclose.audit.summation import SumAuditor

    rng = np.random.default_rng(0)
    n = 100_000
    session = Session(rng.integers(1, n + 1, n).tolist(), MaxAuditor(n))
    for _ in range(1000):
        session.decide(query(rng, n))
    spent = [_seconds(session, query(rng, n)) for _ in range(50)]
    people = 2_000
    auditor = SumAuditor([0] * people, [10] * people)
    column = Column((rng.random(people) * 10).round(3).tolist())
    for _ in range(200):  # as if they had been answered: what takes time is how many they are
        members = np.nonzero(rng.random(people) < 0.5)[0]
        total: Fraction = column.sum(members)
        auditor.record(members, Decision(total, Constraint("=", total)))
    sums = Session(column, auditor)
    slow = [_seconds(sums, np.nonzero(rng.random(people) < 0.5)[0]) for _ in range(5)]
    return {
        "max ms": median(wall for wall, _ in spent) * 1000,
        "max cpu ms": median(cpu for _, cpu in spent) * 1000,
        "max worst ms": max(wall for wall, _ in spent) * 1000,
        "sum ms": median(wall for wall, _ in slow) * 1000,
        "sum cpu ms": median(cpu for _, cpu in slow) * 1000,
        "sum worst ms": max(wall for wall, _ in slow) * 1000,
    }


def _seconds(session: Session, members: Members) -> tuple[float, float]:
    """On the clock, and of the processor: a busy machine shows in the difference."""
    begun, used = time.perf_counter(), time.process_time()
    session.decide(members)
    return time.perf_counter() - begun, time.process_time() - used


if __name__ == "__main__":
    print(json.dumps(timed()))
