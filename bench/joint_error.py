"""What joining brings, and what publishing alone costs: the experiments of Mohammed 2012, section 5.5.

E1: the columns lie with two offices; a classifier on what both publish together (CE) beside one on the raw
columns of either (SE). E2: the people lie with three hospitals; together, beside each for itself (naive). The
joint table is the one of all rows in one place, value by value (`bench joint` and the tests compare them), so
it is searched there. Which hospital has whom is dealt several times, since one deal says little: the search
is greedy, and by K its error goes up and down by more than the hospitals differ. E3 is `bench error`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import polars as pl

from bench import adult
from bench.experiments import bounds, by_k
from bench.figures import Points, error_chart, grid, reached, spread
from bench.outcome import Cell, Outcome, Table
from bench.reported import KS
from bench.sweep import SEED, Setting, Subject, texts
from privet.measure.classify import classify
from privet.samples.plans import CENSUS

# Table 5.5: immigration has nine columns, taxation five; marital status, the sensitive one, is immigration's.
OFFICES = {
    "SE(A)": ("age", "education-num", "fnlwgt", "relationship", "race", "sex", "marital-status",
              "native-country", "education"),
    "SE(B)": ("hours-per-week", "capital-gain", "capital-loss", "workclass", "occupation"),
}  # fmt: skip
L, C = 4, "20%"
DEALS = 3  # in turn, and by chance


def alone(table: pl.DataFrame, columns: Sequence[str], target: str) -> float:
    """SE: the error of a classifier that sees one office's raw columns."""
    rows = texts(table.select([*columns, target]))
    return classify(rows, rows, target=target, quasi=columns, seed=SEED).be


def naive(parts: Sequence[Subject], whole: Subject, setting: Setting) -> float | None:
    """CE of what the hospitals would publish each for itself, brought together afterwards."""
    published: list[pl.DataFrame] = []
    for part in parts:
        frame = part.published(setting)
        if frame is None:
            return None
        published.append(frame)
    return whole.error_of(pl.concat(published))


def dealt(table: pl.DataFrame, deals: int) -> list[list[Subject]]:
    """Three hospitals with equal shares, several times over."""
    orders = [table, *(table.sample(fraction=1, shuffle=True, seed=seed) for seed in range(1, deals))]
    return [[Subject(CENSUS, order.gather_every(3, at)) for at in range(3)] for order in orders]


def run(*, full: bool) -> Outcome:
    table = adult.load() if full else adult.load().head(9_000)
    return curves(table, KS if full else (20, 100), DEALS if full else 1)


def curves(table: pl.DataFrame, ks: Sequence[int], deals: int) -> Outcome:
    whole, several = Subject(CENSUS, table), dealt(table, deals)
    joint = by_k(whole.error, L, ks, C)
    apart: Points = []
    losses: list[list[Cell]] = []
    for size in ks:
        setting = Setting(L, size, C)
        found = [naive(parts, whole, setting) for parts in several]
        there = [error for error in found if error is not None]
        apart.append((size, fmean(there) if len(there) == len(found) else None))
        lost = [part.loss(setting) for parts in several for part in parts]
        losses.append(
            [size, *(f"{error:.1%}" if error is not None else "-" for error in found), whole.loss(setting),
             fmean(one for one in lost if one is not None)]
        )  # fmt: skip
    be, ue = bounds(whole)
    offices = {name: alone(table, columns, "income") for name, columns in OFFICES.items()}
    rows: list[list[Cell]] = []
    for (k, ce), (_, lossy) in zip(joint, apart, strict=True):
        known: Any = ce
        rows.append(
            [k, ce, lossy, None if lossy is None else lossy - known, known - be, ue - known,
             *(error - known for error in offices.values())]
        )  # fmt: skip
    lines = {"together": joint, "each alone": apart}
    worse = sum(lossy is None or lossy > (ce or 0) for (_, ce), (_, lossy) in zip(joint, apart, strict=True))
    return Outcome(
        "joint-error",
        f"figures 5.4 and 5.5: {table.height:,} records of Adult, L = {L}, C = 20 %",
        "A tree trained on two thirds and tested on the rest; BE on raw rows, UE without quasi-identifiers.",
        (
            grid("5.5: CE by K, three hospitals", "K", lines, ".1%"),
            Table(
                "differences, in points",
                {"K": "", "CE": ".1%", "naive": ".1%", "naive - CE": ".1%", "CE - BE": ".1%",
                 "UE - CE": ".1%", "SE(A) - CE": ".1%", "SE(B) - CE": ".1%"},
                rows,
            ),
            Table(
                "each alone, deal by deal; and LM, the share of a column that a value stands for",
                {"K": "", **{f"deal {at + 1}": "" for at in range(deals)}, "LM together": ".3f",
                 "LM each alone": ".3f"},
                losses,
            ),
            Table(
                "percent, beside what Mohammed reports",
                {"": "", "here": "", "source": ""},
                [
                    ["BE", spread([be]), "14.7"], ["UE", spread([ue]), "24.5"],
                    ["SE(A)", spread([offices["SE(A)"]]), "17.7"],
                    ["SE(B)", spread([offices["SE(B)"]]), "17.9"],
                    ["CE together", spread(reached(lines, "together")), "16.8 at K = 100"],
                    ["CE each alone", spread(reached(lines, "each alone")), "18.5 to 22.9"],
                ],
            ),
        ),
        (
            f"by error each alone is worse than together at {worse} of {len(rows)} values of K",
            f"by LM at {sum(one[-1] > one[-2] for one in losses)} of {len(losses)}",  # type: ignore[operator]
        ),
        {
            "figure-5.4": error_chart(
                "5.4 Adult: classification error of two offices, L = 4, C = 20 %",
                "K",
                {"together": joint, **{name: [(k, one) for k in ks] for name, one in offices.items()}},
                be,
                ue,
            ),
            "figure-5.5": error_chart("5.5 Adult: classification error, L = 4, C = 20 %", "K", lines, be, ue),
        },
    )  # fmt: skip
