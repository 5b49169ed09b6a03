"""Query auditing: how long a decision takes, and how much is answered (Zhang 2010, section 3.4)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lgamma
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


POSED = (50, 100, 150, 200, 250)  # for plot C; plots A and B are about the first 200
SMALL = ((10, 5), (20, 5), (40, 5), (60, 5), (100, 3))  # people, runs: all n - 1 sums
LARGER = ((200, 1), (400, 1))  # beyond, all n - 1 take an hour and more
SOURCE = 200  # people; beyond, the printed rule takes too long


@dataclass(frozen=True)
class Size:
    """How much is measured: the short form, the full one, or what a test can wait for."""

    people: Sequence[int]
    runs: int
    subset_runs: int
    all_sums: Sequence[tuple[int, int]]
    sums: Sequence[int]
    posed: int  # sums of those
    exact: Sequence[tuple[int, int]]


SHORT = Size((1000, 2000), 5, 3, ((10, 5), (20, 3), (60, 1)), (1000, 2000), 40, ((10, 2), (20, 2)))
FULL = Size(
    range(1000, 2001, 250), 50, 50, SMALL + LARGER, range(1000, 2001, 250), 100, ((10, 3), (20, 3), (40, 2))
)


def run(*, full: bool) -> Outcome:
    return measured(FULL if full else SHORT)


def measured(size: Size, *, speed: bool = True) -> Outcome:
    found = {
        (reading, n): shares(n, runs, reading)
        for reading, runs in (("size", size.runs), ("subset", size.subset_runs))
        for n in size.people
    }
    every = [(n, runs, all_sums(n, runs)) for n, runs in size.all_sums]
    first = [(n, size.posed, *first_sums(n, size.posed)) for n in size.sums]
    tables = [
        maxima("size", size, found),
        maxima("subset", size, found),
        Table(
            "SUM: answered of n - 1 random sums in [0, 10] (mean of runs); simple answers all, "
            "simulatable none",
            {
                "n": ",",
                "runs": "",
                "posed": ",",
                "strict": ".1f",
                "as printed": ".1f",
                "printed breaks": ".0%",
            },
            [[n, runs, n - 1, *said] for n, runs, said in every],
        ),
        Table(
            "SUM: answered of the first random sums in [0, 10], strict rule",
            {"n": ",", "posed": ",", "strict": ".0f", "simulatable": ".0f"},
            first,
        ),
        Table(
            "SUM: what a proof denies that linear programs would answer (same log, n - 1 random sums)",
            {
                "n": ",",
                "runs": "",
                "answered": ".1f",
                "denied needlessly": ".1f",
                "of the interval proved": ".1%",
            },
            [needless(n, runs) for n, runs in size.exact],
        ),
    ]
    if speed:
        tables.insert(0, decisions())
    return Outcome(
        "auditing",
        "Query auditing: time of a decision, share of queries answered (figures 3.8, 3.9)",
        "MAX: values are integers uniform in 1..n; a query has a size uniform in 1..n/10, then is a random "
        "set of that size (size), or is any set of at most n/10 (subset). Zhang reports that more than half "
        "of what `simulatable` loses is regained, and that nearly n - 1 sums are answered.",
        tuple(tables),
        tuple(
            f"regained at n = {n:,}, of 200, {reading}: {regained(found[reading, n]):.0%} of what "
            "simulatable loses"
            for reading in ("size", "subset")
            for n in (size.people[0], size.people[-1])
        ),
        {
            "figure-3.8a": plot("MAX, before the first denial", size, found, "size", None),
            "figure-3.8b": plot("MAX, of 200 queries", size, found, "size", 200),
            "figure-3.8b-subset": plot("MAX, of 200 queries, any set", size, found, "subset", 200),
            "figure-3.8c": Chart(
                f"MAX, n = {size.people[0]:,}",
                "queries posed",
                "answered",
                [
                    Series(name, [(p, one.of[p]) for p in POSED], dashed=name.startswith("simple"))
                    for name, one in zip(NAMES, found["size", size.people[0]], strict=True)
                ],
            ),
            "figure-3.9": Chart(
                "SUM, n - 1 queries",
                "n",
                "answered",
                [
                    Series("simple (unsafe)", [(n, n - 1) for n, *_ in every], dashed=True),
                    Series("strict", [(n, said[0]) for n, _, said in every]),
                    Series("as printed (unsafe)", [(n, said[1]) for n, _, said in every]),
                    Series("simulatable", [(n, 0) for n, *_ in every]),
                ],
            ),
        },
    )


@dataclass(frozen=True)
class Share:
    """Averages of one auditor."""

    before: float  # answered before the first denial
    of: dict[int, float]  # answered of so many


Found = dict[tuple[str, int], list[Share]]


def maxima(reading: str, size: Size, found: Found) -> Table:
    runs = size.runs if reading == "size" else size.subset_runs
    rows: list[list[Cell]] = [
        [n, name, one.before, *(one.of[p] for p in POSED)]
        for n in size.people
        for name, one in zip(NAMES, found[reading, n], strict=True)
    ]
    heads = {"n": ",", "auditor": "", "before denial": ".1f", **{f"of {p}": ".1f" for p in POSED}}
    return Table(f"MAX, reading `{reading}`: answered, {runs} runs", heads, rows)


def plot(title: str, size: Size, found: Found, reading: str, posed: int | None) -> Chart:
    lines = []
    for at, name in enumerate(NAMES):
        each = [(n, found[reading, n][at]) for n in size.people]
        points = [(n, one.before if posed is None else one.of[posed]) for n, one in each]
        lines.append(Series(name, points, dashed=name.startswith("simple")))
    return Chart(title, "n", "answered", lines)


def regained(found: Sequence[Share], posed: int = 200) -> float:
    """How much of what simulatable loses against simple the tight log gets back."""
    simple, simulatable, _, tight = (one.of[posed] for one in found)
    return (tight - simulatable) / (simple - simulatable) if simple > simulatable else 1.0


def query(rng: np.random.Generator, n: int) -> Members:
    return np.sort(rng.choice(n, rng.integers(1, n // 10 + 1), replace=False))


def sizes(n: int) -> tuple[list[int], list[float]]:
    """How likely each size is if every set of at most n/10 is: there are n choose k of them."""
    most = n // 10
    logs = np.array([lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in range(1, most + 1)])
    weights = np.exp(logs - logs.max())
    return list(range(1, most + 1)), (weights / weights.sum()).tolist()


def shares(n: int, runs: int, reading: str = "size") -> list[Share]:
    """For each auditor: answered before the first denial, and of the first so many, on average."""
    counts, chances = sizes(n)
    before: list[list[int]] = [[] for _ in FAMILIES]
    of: list[list[list[int]]] = [[] for _ in FAMILIES]
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        values = rng.integers(1, n + 1, n).tolist()
        queries = [
            query(rng, n)
            if reading == "size"
            else np.sort(rng.choice(n, rng.choice(counts, p=chances), replace=False))
            for _ in range(POSED[-1])
        ]
        for at, (family, log) in enumerate(FAMILIES):
            session = Session(values, MaxAuditor(n, family=family, log=log, unsafe=family == "simple"))
            said = [session.decide(one).answer is not None for one in queries]
            before[at].append(said.index(False) if False in said else len(said))
            of[at].append([sum(said[:posed]) for posed in POSED])
    return [
        Share(mean(b), dict(zip(POSED, (float(v) for v in np.mean(o, axis=0)), strict=True)))
        for b, o in zip(before, of, strict=True)
    ]


def sums(n: int, seed: int, posed: int) -> tuple[list[float], list[Members]]:
    """Values in [0, 10], and sums that hold each person with probability 1/2: independent, almost surely."""
    rng = np.random.default_rng((n, seed))
    values = (rng.random(n) * 10).round(3).tolist()
    return values, [np.nonzero(rng.random(n) < 0.5)[0] for _ in range(posed)]


def all_sums(n: int, runs: int) -> tuple[float, float | None, float | None]:
    """Of n - 1 sums: answered by the strict rule and by the printed one, and how often that one breaks."""
    from privet.disclose.audit.examine import examine_sum
    from privet.disclose.audit.summation import SumAuditor

    strict, printed, broken = [], [], []
    for seed in range(runs):
        values, queries = sums(n, seed, n - 1)
        session = Session(values, SumAuditor([0] * n, [10] * n))
        strict.append(sum(session.decide(one).answer is not None for one in queries))
        if n > SOURCE:
            continue
        session = Session(values, SumAuditor([0] * n, [10] * n, rule="source", unsafe=True))
        facts = [(one, session.decide(one)) for one in queries]
        printed.append(sum(decision.answer is not None for _, decision in facts))
        known = [(one, decision) for one, decision in facts if decision.answer is not None]
        low, high = [Fraction(0)] * n, [Fraction(10)] * n
        broken.append(examine_sum(low, high, Fraction(1), known)[1] is not None)
    return mean(strict), mean(printed) if printed else None, mean(broken) if broken else None


def first_sums(n: int, posed: int) -> tuple[int, int]:
    from privet.disclose.audit.summation import SumAuditor

    values, queries = sums(n, 0, posed)
    found = []
    for family in ("binding", "simulatable"):
        session = Session(values, SumAuditor([0] * n, [10] * n, family=family))
        found.append(sum(session.decide(one).answer is not None for one in queries))
    return found[0], found[1]


def needless(n: int, runs: int) -> list[Cell]:
    """Linear programs decide, and a proof looks at the same log: what would it have denied?"""
    from privet.disclose.audit.summation import SumAuditor, SumPlan

    answered, lost, proved = [], [], []
    for seed in range(runs):
        values, queries = sums(n, seed, n - 1)
        session = Session(values, SumAuditor([0] * n, [10] * n, search="exact"))
        other = SumAuditor([0] * n, [10] * n, search="certified")
        said, denied = 0, 0
        for one in queries:
            plan, proof = session.auditor.plan(one), other.plan(one)
            assert isinstance(plan, SumPlan)
            assert isinstance(proof, SumPlan)
            truth = session.column.sum(one)
            decision = plan.judge(truth)
            session.auditor.record(one, decision)
            other.record(one, decision)
            said += decision.answer is not None
            denied += decision.answer is not None and proof.judge(truth).answer is None
            if plan.low is not None and plan.high is not None:
                room = (proof.high or Fraction(0)) - (proof.low or Fraction(0))
                proved.append(float(room / (plan.high - plan.low)))
        answered.append(said)
        lost.append(denied)
    return [n, runs, mean(answered), mean(lost), mean(proved)]


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
