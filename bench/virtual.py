"""The virtual database: distributed Mondrian on Adult by sites and rows, and the curves of Jurczyk and Xiong.

Time, bytes and rounds with all sites in one process, and with every message as late as between houses 20 ms
and 50 Mbit/s apart. Loss of data beside one table of all rows and beside every site for itself (figures 5
and 6); rows of two questions by k (figures 8 and 10); what gives away how much, calculated and measured
(figures 11 to 16).
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from bench.adult import load
from bench.curves import Chart, Series
from bench.outcome import Cell, Outcome, Table
from privet.parties.primitives.extremes import Rounds
from privet.parties.transport import Distance, InProcess, Link, Session, together
from privet.parties.virtual import harness
from privet.parties.virtual.exposure import Asked
from privet.parties.virtual.growing import Grown, grown
from privet.parties.virtual.rules import Rules, Ties
from privet.parties.virtual.sites import Alone, Among
from privet.parties.virtual.utility import lost
from privet.parties.words import Adding
from privet.rehearsal import FAR

QUASI = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country",
)  # fmt: skip
DEFAULTS = (100_000, 1_000, 20)  # items that could occur, items that do, sites


def coded(table: pl.DataFrame) -> tuple[Any, tuple[int, ...]]:
    """Values as numbers: ages in their order, categories by the alphabet, as in the source."""
    columns = []
    for name in QUASI:
        values = sorted(table[name].unique().to_list(), key=int if name == "age" else str)
        number = {value: at for at, value in enumerate(values)}
        columns.append([number[value] for value in table[name].to_list()])
    codes = np.array(columns).T
    return codes, tuple(int(most) + 1 for most in codes.max(axis=0))


def distributed(
    codes: Any, widths: tuple[int, ...], rules: Rules, sites: int, distance: Distance | None = None
) -> tuple[list[Grown], list[float]]:
    """Rows dealt to the sites in turn; what each holds, and time, CPU, megabytes, rounds, messages."""
    names = tuple(f"site{at}" for at in range(sites))
    house = InProcess(Session(secrets.token_bytes(16), bytes(32), names), distance=distance)

    def part(link: Link) -> Grown:
        return grown(codes[link.me :: sites], widths, rules, Among(link, Adding.PAIRWISE))

    begun, used = time.perf_counter(), time.process_time()
    found: list[Grown] = together(house, [part] * sites)
    took, cpu = time.perf_counter() - begun, time.process_time() - used
    sent = [link.traffic.sent / 1e6 for link in house.links]
    rounds, messages = (
        max(link.traffic.rounds for link in house.links),
        sum(link.traffic.messages for link in house.links),
    )
    return found, [took, cpu, sum(sent), sent[0], max(sent[1:]), float(rounds), float(messages)]


def speed(codes: Any, widths: tuple[int, ...], *, full: bool) -> Table:
    rows: list[list[Cell]] = []
    cases = [(len(codes), sites) for sites in ((3, 5, 10) if full else (3, 10))]
    cases += [(len(codes) // part, 3) for part in ((2, 4, 8) if full else (4,))]
    for count, sites in cases:
        found, near = distributed(codes[:count], widths, Rules(10), sites)
        _, far = distributed(codes[:count], widths, Rules(10), sites, FAR)
        rows.append([count, sites, len(found[0].sizes), *near[:5], int(near[5]), int(near[6]), far[0]])
    heads = {"rows": ",", "sites": "", "groups": ",", "s": ".2f", "CPU s": ".2f", "MB": ".1f",
             "MB of the first": ".2f", "MB of another": ".2f", "rounds": ",", "messages": ",",
             "s far": ".1f"}  # fmt: skip
    return Table("distributed Mondrian, k = 10 (target: 30,162 rows, 3 to 10 sites, under 30 s)", heads, rows)


def loss(codes: Any, widths: tuple[int, ...], *, full: bool) -> Table:
    """Figures 5 and 6: one table of all rows, three sites together, and each for itself."""
    rows: list[list[Cell]] = []
    for k in (2, 5, 10, 15, 20, 25, 50, 75, 100, 150, 200, 250, 500) if full else (5, 25, 100):
        rules = Rules(k)
        central = grown(codes, widths, rules, Alone())
        three = distributed(codes, widths, rules, 3)[0][0]
        alone = [grown(codes[at::3], widths, rules, Alone()) for at in range(3)]
        low, high, sizes = (
            np.concatenate([getattr(one, name) for one in alone]) for name in ("low", "high", "sizes")
        )
        apart = Grown(low, high, sizes, np.zeros(0, dtype=np.int64), ())
        row: list[Cell] = [k]
        for one in (central, three, apart):
            sizes = one.sizes  # groups are counted by leaf, as the source does
            narrow = lost(one.low, one.high, sizes)
            row += [len(sizes), len(codes) / len(sizes), int((sizes**2).sum()), float(narrow.ncp)]
        rows.append(row)
    heads = {"k": ""}
    for who in ("all rows", "3 sites", "each alone"):
        heads |= {f"{who}: groups": ",", f"{who}: average": ".2f", f"{who}: C_DM": ",", f"{who}: NCP": ".4f"}
    return Table("loss by k", heads, rows)


def questions(table: pl.DataFrame, codes: Any, widths: tuple[int, ...], *, full: bool) -> Table:
    """Figures 8 and 10: rows that come back from three sites for age 55, and for age 55 and Mexico."""
    ages = sorted(table["age"].unique().to_list(), key=int)
    countries = sorted(table["native-country"].unique().to_list())
    age, country = ages.index("55" if isinstance(ages[0], str) else 55), countries.index("Mexico")
    raw = codes[:, 0] == age
    rows: list[list[Cell]] = [
        ["raw", int(raw.sum()), None, int((raw & (codes[:, 7] == country)).sum()), None]
    ]
    for k in (2, 5, 10, 20, 50, 100, 200, 500) if full else (10, 100):
        for ties in Ties:
            one = distributed(codes, widths, Rules(k, ties=ties), 3)[0][0]
            first = (one.low[:, 0] <= age) & (one.high[:, 0] >= age)
            second = first & (one.low[:, 7] <= country) & (one.high[:, 7] >= country)
            rows.append(
                [f"{k}, {ties.value}", int(one.sizes[first].sum()), int(first.sum()),
                 int(one.sizes[second].sum()), int(second.sum())]
            )  # fmt: skip
    heads = {"k": "", "Q1 rows": ",", "Q1 groups": ",", "Q2 rows": ",", "Q2 groups": ","}
    return Table("answers: age 55 (Q1), and of Mexico (Q2)", heads, rows)


def given_away(table: pl.DataFrame, codes: Any, widths: tuple[int, ...], *, full: bool) -> list[Table]:
    """Figures 7 to 10, of answers: what a successor concludes, by k and by sites, among so many decoys."""
    ages = [str(age) for age in sorted(table["age"].unique().to_list(), key=int)]
    countries = sorted(table["native-country"].unique().to_list())
    age, country = ages.index("55"), countries.index("Mexico")
    income = (table["income"] == ">50K").to_numpy().astype(np.int64)
    runs, decoys = 600 if full else 60, (0, 100, 1_000)

    def losses(one: Grown, sites: int) -> list[Cell]:
        first = (one.low[:, 0] <= age) & (one.high[:, 0] >= age)
        second = first & (one.low[:, 7] <= country) & (one.high[:, 7] >= country)
        found: list[Cell] = []
        for boxes in (first, second):
            number = np.full(len(boxes), -1)
            number[boxes] = np.arange(int(boxes.sum()))
            here = number[one.leaf]
            items = [
                (2 * here + income)[(here >= 0) & (np.arange(len(here)) % sites == at)] for at in range(sites)
            ]
            for many in decoys:
                seen = harness.answers(items, 2 * int(boxes.sum()), many, runs=runs, seed=many)
                found += [seen.set_average, seen.item_worst]
        return found

    heads = {
        f"{which}, {many:,} decoys: {what}": ".4f"
        for which in ("Q1", "Q2") for many in decoys for what in ("set", "item")
    }  # fmt: skip
    ks = (2, 5, 10, 20, 50, 100, 200) if full else (10, 100)
    by_k = [[k, *losses(grown(codes, widths, Rules(k), Alone()), 3)] for k in ks]
    ten = grown(codes, widths, Rules(10), Alone())
    by_sites = [[sites, *losses(ten, sites)] for sites in ((3, 5, 10, 20) if full else (3, 10))]
    return [
        Table("loss of an answer by k, 3 sites (figures 8, 10): a set on average, an item at worst",
              {"k": "", **heads}, by_k),
        Table("loss of an answer by sites, k = 10 (figures 7, 9)", {"sites": "", **heads}, by_sites),
    ]  # fmt: skip


def diverse(codes: Any, widths: tuple[int, ...], *, full: bool) -> Table:
    """Spec 08, 5.4: what rows of several sites in every group cost, dealt in turn and dealt by age."""
    rows: list[list[Cell]] = []
    by_age = codes[np.argsort(codes[:, 0], kind="stable")]
    third = len(by_age) // 3
    apart = [by_age[at * third : (at + 1) * third] for at in range(3)]
    # By age, each site has a third of the ages; a tenth of its rows go to the next.
    mixed = [
        np.concatenate([np.delete(part, slice(None, None, 10), axis=0), apart[at - 1][::10]])
        for at, part in enumerate(apart)
    ]
    for how, parts in (("in turn", [codes[at::3] for at in range(3)]), ("by age", mixed)):
        for sites in (1, 2, 3):
            for k in (10, 50) if full else (10,):
                one = _joined(parts, widths, Rules(k, sites))
                rows.append([how, k, sites, len(one.sizes), float(one.sizes.mean()),
                             float(lost(one.low, one.high, one.sizes).ncp)])  # fmt: skip
    heads = {"dealt": "", "k": "", "L": "", "groups": ",", "average": ".1f", "NCP": ".4f"}
    return Table("groups of so many sites", heads, rows)


def _joined(parts: Sequence[Any], widths: tuple[int, ...], rules: Rules) -> Grown:
    house = InProcess(Session(secrets.token_bytes(16), bytes(32), ("site0", "site1", "site2")))
    found: list[Grown] = together(
        house, [lambda link: grown(parts[link.me], widths, rules, Among(link, Adding.PAIRWISE))] * 3
    )
    return found[0]


def unions(*, full: bool) -> list[Table]:
    """Figures 11 to 16."""
    runs = 3_000 if full else 300
    usual = Asked(*DEFAULTS)
    by_decoys: list[list[Cell]] = []
    for decoys in (0, 25, 50, 100, 150, 200, 300, 400, 500):
        seen = harness.united(*DEFAULTS, decoys, runs=runs, seed=decoys)
        by_decoys.append(
            [
                decoys,
                float(usual.set_average(decoys)),
                seen.set_average,
                float(usual.set_worst(decoys)),
                seen.set_worst,
            ]
        )
    by_sites: list[list[Cell]] = []
    for sites in (3, 5, 10, 15, 20, 30, 50, 75, 100):
        asked = Asked(*DEFAULTS[:2], sites)
        seen = harness.united(*DEFAULTS[:2], sites, 100, runs=runs, seed=sites)
        item = harness.united(*DEFAULTS[:2], sites, 10_000, runs=runs // 10, seed=sites)
        by_sites.append(
            [sites, float(asked.set_average(100)), seen.set_average, float(asked.set_worst(100)),
             seen.set_worst, float(asked.item_worst(10_000)), item.item_worst]
        )  # fmt: skip
    by_item: list[list[Cell]] = []
    for decoys in (0, 1_000, 2_500, 5_000, 10_000, 20_000, 50_000):
        seen = harness.united(*DEFAULTS, decoys, runs=runs // 10, seed=decoys)
        by_item.append(
            [decoys, float(usual.item_worst(decoys)), float(usual.item_realistic(decoys)), seen.item_worst]
        )
    by_count: list[list[Cell]] = []
    for decoys in (0, 10_000, 50_000, 200_000, 500_000, 1_000_000, 2_000_000) if full else (0, 50_000):
        seen = harness.united(*DEFAULTS, decoys, runs=runs // 10, seed=decoys)
        by_count.append([decoys, usual.counted(decoys), seen.item_counted, seen.item_worst])
    of_sets = {
        "average, bound": ".5f",
        "average, measured": ".5f",
        "worst, bound": ".5f",
        "worst, measured": ".5f",
    }
    return [
        Table("a set, by decoys (figures 11, 13)", {"decoys": ",", **of_sets}, by_decoys),
        Table(
            "by sites: a set among 100 decoys, an item among 10,000 (figures 12, 14, 16)",
            {"sites": "", **of_sets, "item, bound": ".5f", "item, measured": ".5f"},
            by_sites,
        ),
        Table(
            "an item, by decoys (figure 15)",
            {"decoys": ",", "bound": ".5f", "expected": ".5f", "measured": ".5f"},
            by_item,
        ),
        Table(
            "an item to who counts copies, by decoys (ours)",
            {"decoys": ",", "bound": ".5f", "measured": ".5f", "to who does not count": ".5f"},
            by_count,
        ),
    ]


def maxima(*, full: bool) -> Table:
    rows: list[list[Cell]] = []
    measured = partial(harness.maximum, runs=20_000 if full else 4_000, seed=7)
    for nodes in (3, 5, 10, 20, 50):
        hidden, shown = measured(nodes, how=Rounds(5, exact=False)), measured(nodes, how=Rounds(1))
        exact = measured(nodes, how=Rounds(5))
        rows.append([nodes, hidden.mean, hidden.worst, exact.mean, exact.worst, shown.mean, shown.worst])
    heads = {"sites": ""}
    for what in ("5 rounds", "5, the last exact", "1 round, no chance"):
        heads |= {f"{what}: mean": ".3f", f"{what}: worst": ".3f"}
    return Table("loss of privacy of a secure maximum, by sites (figures 7, 9)", heads, rows)


def curves(
    by_k: Table, of_unions: Sequence[Table], of_max: Table, by_answer: Sequence[Table]
) -> dict[str, Chart]:
    """The figures of the report, beside what the spec adds."""
    by_decoys, by_sites, by_item, by_count = of_unions
    whose = ("all rows", "3 sites", "each alone")
    sets = ("average, bound", "average, measured", "worst, bound", "worst, measured")
    items = [head for head in by_answer[0].heads if head.endswith("item")]
    sets_of = [head for head in by_answer[0].heads if head.endswith("set")]
    return {
        "virtual-answer-k": _chart("Loss of an item of an answer by k (figures 8, 10)", "k",
                                   "loss of privacy", by_answer[0], items),
        "virtual-answer-sites": _chart("Loss of an item of an answer by sites (figures 7, 9)", "sites",
                                       "loss of privacy", by_answer[1], items),
        "virtual-answer-set": _chart("Loss of a set of an answer by k", "k", "loss of privacy",
                                     by_answer[0], sets_of),
        "virtual-average": _chart("Average group by k (figure 5)", "k", "records", by_k,
                                  [f"{who}: average" for who in whose]),
        "virtual-discernibility": _chart("Discernibility by k (figure 6)", "k", "C_DM", by_k,
                                         [f"{who}: C_DM" for who in whose]),
        "virtual-ncp": _chart("Width of ranges by k", "k", "NCP", by_k, [f"{who}: NCP" for who in whose]),
        "virtual-set": _chart("Loss of a set by decoys (figures 11, 13)", "decoys", "loss of privacy",
                              by_decoys, sets),
        "virtual-sites": _chart("Loss by sites (figures 12, 14, 16)", "sites", "loss of privacy", by_sites,
                                [*sets, "item, bound", "item, measured"]),
        "virtual-item": _chart("Loss of an item by decoys (figure 15)", "decoys", "loss of privacy", by_item,
                               ["bound", "expected", "measured"]),
        "virtual-counted": _chart("Loss of an item to who counts copies, by decoys", "decoys",
                                  "loss of privacy", by_count,
                                  ["bound", "measured", "to who does not count"]),
        "virtual-maximum": _chart("Loss of a secure maximum by sites", "sites", "loss of privacy", of_max,
                                  [head for head in of_max.heads if head != "sites"]),
    }  # fmt: skip


def _chart(title: str, x: str, y: str, table: Table, heads: Sequence[str]) -> Chart:
    at = list(table.heads).index
    number: Any = float
    series = [
        Series(
            head, [(number(row[at(x)]), number(row[at(head)])) for row in table.rows], dashed="bound" in head
        )
        for head in heads
    ]
    return Chart(title, x, y, series)


def run(*, full: bool) -> Outcome:
    """All rows of Adult's training half, or a tenth of them."""
    table = load().head(30_162 if full else 3_000)
    codes, widths = coded(table)
    by_k, of_unions, of_max = loss(codes, widths, full=full), unions(full=full), maxima(full=full)
    tables = [speed(codes, widths, full=full), by_k, questions(table, codes, widths, full=full)]
    by_answer = given_away(table, codes, widths, full=full)
    tables += [*by_answer, diverse(codes, widths, full=full), *of_unions, of_max]
    return Outcome(
        "virtual",
        f"The virtual database on Adult, {table.height:,} rows, 8 quasi-identifiers",
        "Sites together beside all rows in one place and each site for itself; decoys and what they hide.",
        tuple(tables),
        (
            f"the machine's load was {os.getloadavg()[0]:.1f} at the end; CPU seconds are of all sites",
            "average group and C_DM follow the halving of regions: by k they are saws; each alone may win",
            "measured figures are of seeded chance: they repeat",
        ),
        curves(by_k, of_unions, of_max, by_answer),
    )
