"""Two parties with differential privacy: what the protocols cost (`run`), and what the second noise does.

Adult split by columns and by people between two; every way runs with both parties in one process, and once
more with every message arriving as late as between houses 20 ms and 50 Mbit/s apart. And the experiment of
Mohammed (2012), section 7.6: the accuracy of a tree on releases with one noise and with two, on the same
splits.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import fmean
from typing import Any

import numpy as np

from bench import adult
from bench.curves import Chart, Series
from bench.diffgen import CLASSES, DEFAULT, TARGET, TUNED, coded, predictors, tested
from bench.outcome import Cell, Outcome, Table
from privet.dp.coded import CodedTable
from privet.dp.counts import consistent
from privet.dp.diffgen import DiffGen
from privet.dp.noise import production
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import Predictor
from privet.parties.noisy.joint import Plan, paired, release
from privet.parties.noisy.terms import NoisyTerms, Select
from privet.parties.transport import Distance, InProcess, Link, Session, together
from privet.rehearsal import FAR

TRAINING = 30_162
COUNTING = {"key length", "key", "key proof", "regions", "counts", "noisy digest", "nonce", "noisy"}
EPSILONS = ("1/10", "1/4", "1/2", "1")


def ways(rows: int, *, full: bool) -> list[tuple[str, str, Plan]]:
    """What is run, and the issue's target for it."""
    of = predictors(TUNED)
    owner = tuple(at % 2 for at in range(len(of)))
    bits, h = 2048, 10 if full else 4

    def plan(select: str, *, columns: bool, epsilon: str = "1") -> Plan:
        terms = NoisyTerms(Select(select), bits)
        asked = DiffGen(epsilon=Fraction(epsilon), h=h)
        return Plan(asked, terms, owner if columns else None, None if columns else rows)

    return [
        ("columns, exponential", "300 s", plan("exponential", columns=True)),
        ("columns, noisy-max", "", plan("noisy-max", columns=True)),
        ("people, noisy-max", "60 s", plan("noisy-max", columns=False)),
        # With 2,048 bits only a small epsilon has weights that fit (spec 05, 3.3.2).
        ("people, exponential, epsilon 1/10", "", plan("exponential", columns=False, epsilon="1/10")),
    ]


def carried(
    plan: Plan, parts: list[CodedTable], distance: Distance | None = None
) -> tuple[NoisyTable, float, InProcess]:
    """A release, how long it took, and who sent what."""
    session = Session(secrets.token_bytes(16), bytes(32), ("north", "south"))
    house = InProcess(session, record=True, distance=distance)
    begun = time.perf_counter()

    def part(link: Link) -> NoisyTable:
        mine = parts[link.me]
        return release(paired(link, plan, mine), plan, mine, production(DEFAULT.noise.value))

    found, _ = together(house, [part] * 2)
    return found, time.perf_counter() - begun, house


def costs(table: CodedTable, *, full: bool) -> Table:
    """Seconds near and far, bytes and rounds; of the bytes, what the counts took."""
    rows: list[list[Cell]] = []
    half = table.records // 2
    for what, target, plan in ways(half + 1, full=full):
        if plan.owner is None:
            parts = [_rows(table, slice(half)), _rows(table, slice(half, None))]
        else:
            parts = [table, table]
        before = time.process_time()
        found, near, house = carried(plan, parts)
        cpu = time.process_time() - before
        _, far, _ = carried(plan, parts, FAR)
        heard = [one for link in house.links for one in link.traffic.transcript]
        counting = sum(len(payload) for _, kind, payload in heard if kind in COUNTING)
        whole = sum(len(payload) for _, _, payload in heard)
        rows.append(
            [
                what,
                found.leaves,
                near,
                cpu,
                far,
                " + ".join(f"{link.traffic.sent / 1e6:.1f}" for link in house.links),
                counting / 1e6,
                (whole - counting) / 1e6 / max(len(found.steps), 1),
                max(link.traffic.rounds for link in house.links),
                target,
            ]
        )
    heads = {
        "way": "", "leaves": ",", "s": ".1f", "CPU s": ".1f", "s far": ".1f", "MB by party": "",
        "MB of counts": ".1f",
        "MB a choice": ".2f", "rounds": ",", "target": "",
    }  # fmt: skip
    return Table("one run each", heads, rows)


def _rows(table: CodedTable, some: slice) -> CodedTable:
    columns = tuple(replace(column, codes=column.codes[some]) for column in table.columns)
    return replace(table, columns=columns, class_codes=table.class_codes[some])


def accuracy(train: CodedTable, test: CodedTable, *, full: bool) -> tuple[Table, dict[str, Chart]]:
    """One noise and two on the same splits: the second is drawn again, of the same scale."""
    noise, runs = production(DEFAULT.noise.value), 10 if full else 2
    hs = (4, 7, 10, 13, 16) if full else (4, 10)
    rows: list[list[Cell]] = []
    for epsilon in EPSILONS:
        for h in hs:
            one, two = [], []
            for _ in range(runs):
                made = DiffGen(epsilon=Fraction(epsilon), h=h).release(train, noise)
                more = noise.laplace(made.scale, made.counts.size).reshape(made.counts.shape)
                one.append(tested(consistent(made, DEFAULT.consistency), test))
                both = made.with_counts(made.counts + more)
                two.append(tested(consistent(both, DEFAULT.consistency), test))
            a, b = 100 * fmean(one), 100 * fmean(two)
            rows.append([epsilon, h, a, b, b - a])
    heads = {"epsilon": "", "h": "", "one noise %": ".1f", "two noises %": ".1f", "difference": "+.1f"}
    return Table(f"mean of {runs} runs; within one point is asked", heads, rows), {"figure-7.2": drawn(rows)}


def drawn(rows: Sequence[Sequence[Any]]) -> Chart:
    """Figure 7.2: a colour for every epsilon, dashed with two noises."""
    series = [
        Series(
            f"epsilon {epsilon}, {'two noises' if two else 'one noise'}",
            [(float(row[1]), float(row[2 + two])) for row in rows if row[0] == epsilon],
            dashed=two == 1,
            colour=at,
        )
        for at, epsilon in enumerate(EPSILONS)
        for two in (0, 1)
    ]
    title = "Accuracy with one noise and with two (figure 7.2)"
    return Chart(title, "h", "accuracy, %", series, from_nought=False)


def run(*, full: bool) -> Outcome:
    """What the protocols cost."""
    learning, _ = halves(full=full)
    return Outcome(
        "joint-noise",
        f"Two parties with differential privacy, Adult, {learning.records:,} rows, keys of 2,048 bits",
        "What the protocols cost, near, and far: 20 ms and 50 Mbit/s apart.",
        (costs(learning, full=full),),
        (
            f"the machine's load was {os.getloadavg()[0]:.1f} at the end",
            "times of a busy machine are not the protocol's",
            "both parties share the processors of one process, and would have their own",
        ),
    )


def second_noise(*, full: bool) -> Outcome:
    """What a second noise costs in accuracy."""
    learning, held = halves(full=full)
    table, charts = accuracy(learning, held, full=full)
    return Outcome(
        "joint-accuracy",
        f"Counts with one noise and with two, Adult, {learning.records:,} rows",
        "A classifier on the same splits; two noises are asked to be within one point of one.",
        (table,),
        ("every run draws its splits anew; the second noise has the scale of the first",),
        charts=charts,
    )


def halves(*, full: bool) -> tuple[CodedTable, CodedTable]:
    """All training rows and all test rows, or a tenth of them."""
    of: tuple[Predictor, ...] = predictors(TUNED)
    table = adult.load()
    order = np.random.default_rng(7).permutation(table.height)
    train, test = table[order[:TRAINING]], table[order[TRAINING:]]
    if not full:
        train, test = train.head(3_000), test.head(3_000)
    return coded(train, of, TARGET, CLASSES), coded(test, of, TARGET, CLASSES)
