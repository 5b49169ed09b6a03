"""What one joint choice and the joint counts cost, by what they grow with (spec 05, section 5).

A choice: by the number of candidates and of records. Counts: packed and plain scalar products, by records,
regions and the length of the key. Both parties in one process.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from bench.curves import Chart, Series
from bench.outcome import Cell, Outcome, Table
from privet.counts.door import Candidate
from privet.domain import Node
from privet.dp.diffgen import DiffGen
from privet.dp.noise import production
from privet.dp.scores import SplitScore, scoring
from privet.dp.splitting import Splitter
from privet.parties.noisy.choosing import (
    Choice,
    ColumnsExponential,
    ColumnsNoisyMax,
    Pair,
    PeopleExponential,
    PeopleNoisyMax,
)
from privet.parties.noisy.exponentials import taylor
from privet.parties.primitives.paillier import PrivateKey
from privet.parties.primitives.scalar import counts_first, counts_second, product_first, product_second
from privet.parties.transport import InProcess, Link, Session, together

CLASSES = 2
NUMERICAL = 6  # predictors of Adult that are numbers
H = 10
LEAF = Node("a", 0, 1)


class Scores:
    """A table that says nothing but scores and counts, as large as could be: what is drawn costs the same."""

    def __init__(self, records: int) -> None:
        self._records = records

    def scores(self, candidates: Sequence[Candidate]) -> Any:
        return np.full(len(candidates), self._records // 2, dtype=np.int64)

    def child_counts(self, candidates: Sequence[Candidate]) -> list[Any]:
        return [np.full((2, CLASSES), self._records // 8, dtype=np.int64)] * len(candidates)


def offered(count: int) -> list[Candidate]:
    """Half of them of one party's columns, half of the other's."""
    return [Candidate(at, LEAF, (LEAF, LEAF), 0) for at in range(count)]


def chooser(pair: Pair, way: str, candidates: int, records: int, bits: int) -> Choice:
    """As `privet.parties.noisy.joint` makes it; epsilon 1, of weights that are shared 1/10; h = 10."""
    people, exponential = way.startswith("people"), way.endswith("exponential")
    asked = DiffGen(epsilon=Fraction(1, 10) if people and exponential else Fraction(1), h=H)
    score, step = scoring(SplitScore.MAX, CLASSES), asked.step(NUMERICAL)
    noise, owner = production("exact"), [at % 2 for at in range(candidates)]
    if not people and exponential:
        return ColumnsExponential(pair, owner, records, asked.temperature(score, step), 9)
    if not people:
        return ColumnsNoisyMax(pair, owner, records, 1 / step, noise)
    if not exponential:
        return PeopleNoisyMax(pair, CLASSES, records, 1 / step, noise)
    return PeopleExponential(
        pair, CLASSES, records, taylor(1 / asked.temperature(score, step), records), bits
    )


def measured(parts: Sequence[Callable[[Link], Any]]) -> tuple[float, list[float]]:
    """Seconds that the first party says, and megabytes that each has sent since it said that it begins."""
    house = InProcess(Session(secrets.token_bytes(16), bytes(32), ("north", "south")))
    found = together(house, list(parts))
    sent = [link.traffic.sent - found[link.me][1] for link in house.links]
    return max(one[0] for one in found), [one / 1e6 for one in sent]


def choices(*, full: bool) -> tuple[Table, Chart]:
    rows: list[list[Cell]] = []
    lines: dict[str, list[tuple[float, float | None]]] = {}
    for way in ("columns, exponential", "columns, noisy-max", "people, noisy-max", "people, exponential"):
        for candidates, records in _cases(full=full):

            def part(link: Link, way: str = way, many: int = candidates, all_: int = records) -> Any:
                pair = Pair(link)
                choice = chooser(pair, way, many, all_, 2048)
                before, begun = link.traffic.sent, time.perf_counter()
                choice.draw(offered(many), cast("Splitter", Scores(all_)))
                return time.perf_counter() - begun, before

            seconds, sent = measured([part] * 2)
            rows.append([way, candidates, records, seconds, *sent])
            if records == 30_162:
                lines.setdefault(way, []).append((candidates, sum(sent)))
    heads = {"way": "", "candidates": ",", "records": ",", "s": ".2f", "first MB": ".2f", "second MB": ".2f"}
    series = [Series(name, points) for name, points in lines.items()]
    chart = Chart("One joint choice, 30,162 records", "candidates", "MB", series, logarithmic=True)
    return Table(
        "one choice, after the first transfers; weights that are shared are made anew", heads, rows
    ), chart


def _cases(*, full: bool) -> list[tuple[int, int]]:
    return [(5, 30_162), (14, 1_000), (14, 30_162), (40, 30_162)] if full else [(5, 30_162), (14, 30_162)]


def counts(*, full: bool) -> tuple[Table, Chart]:
    rows: list[list[Cell]] = []
    lines: dict[str, list[tuple[float, float | None]]] = {}
    keys = {bits: PrivateKey.fresh(bits) for bits in (2048, 3072)}
    cases = [("packed", many, 8, bits) for bits in keys for many in ((250, 1_000, 4_000) if full else (250,))]
    cases += [("packed", 1_000, 64, 2048)] if full else []
    cases += [("plain", 250, 1, bits) for bits in keys] + ([("plain", 1_000, 1, 2048)] if full else [])
    for how, records, regions, bits in cases:

        def first(
            link: Link, how: str = how, all_: int = records, wide: int = regions, key: int = bits
        ) -> Any:
            begun = time.perf_counter()
            if how == "packed":
                counts_first(link, 1, keys[key], [at % wide for at in range(all_)], wide, 16)
            else:
                product_first(link, 1, keys[key], [at % 2 for at in range(all_)])
            return time.perf_counter() - begun, 0

        def second(link: Link, how: str = how, all_: int = records, wide: int = regions) -> Any:
            if how == "packed":
                counts_second(link, 0, [at % 16 for at in range(all_)], wide, 16)
            else:
                product_second(link, 0, [at % 3 % 2 for at in range(all_)])
            return 0.0, 0

        seconds, sent = measured([first, second])
        cells = regions * 16 if how == "packed" else 1
        rows.append([how, bits, records, cells, seconds, *sent, 1e3 * seconds / records / cells])
        if (regions, how) == (8, "packed"):
            lines.setdefault(f"packed, {bits:,} bits", []).append((records, seconds))
    heads = {"how": "", "bits": ",", "records": ",", "counts": ",", "s": ".2f", "first MB": ".2f",
             "second MB": ".3f", "ms a record and count": ".3f"}  # fmt: skip
    series = [Series(name, points) for name, points in lines.items()]
    chart = Chart("Packed counts, 8 regions and 16 groups", "records", "s", series, logarithmic=True)
    return Table("joint counts: all regions and groups at once, or one count each", heads, rows), chart


def run(*, full: bool) -> Outcome:
    by_choice, of_choices = choices(full=full)
    by_count, of_counts = counts(full=full)
    return Outcome(
        "joint-growth",
        "One joint choice and the joint counts of two parties",
        "By candidates, records, regions and the length of keys; plain products beside packed ones.",
        (by_choice, by_count),
        (
            f"the machine's load was {os.getloadavg()[0]:.1f} at the end; both parties share its processors",
            "people, exponential has epsilon 1/10: weights of a larger one do not fit 2,048 bits",
        ),
        {"joint-choice": of_choices, "joint-counts": of_counts},
    )
