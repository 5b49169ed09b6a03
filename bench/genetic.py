"""Many columns with a limit of time: `optimal` beside a genetic search over the same nodes.

24 and 16 columns of the KDD census (see `chosen`), the hierarchies of an accepted draft, k = 5; `optimal` may
24 and 16 columns of the KDD census (see `chosen`), the hierarchies of an accepted draft, k = 5. `optimal` may
the rest are crossed and changed by a level. Nodes are judged by the same code for both.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from bench.chosen import accepted, census
from bench.outcome import Cell, Outcome, Table, rated
from privet.core import Algorithm, Attribute, Role, Tally, Terms
from privet.counts.door import Levels
from privet.counts.memory import counted
from privet.measure.utility import losses, mean_lm
from privet.models.kanonymity import KAnonymity
from privet.policy.notation import algorithm
from privet.recoding import Generalization, Regions
from privet.relational.judge import Judge
from privet.relational.lattice import Lattice
from privet.relational.objective import Objective
from privet.relational.optimal import Optimal

K5 = KAnonymity(k=5)
POPULATION, BEST, CHANGED = 100, 10, 0.2  # nodes; of them stay; chance that a column moves by a level
AIM = {24: 0.40}  # of the detail, by columns, that `local` may lose
LOCAL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("local", {}),
    ("local", {"labels": "levels"}),
    ("top-down", {}),
    ("top-down", {"tries": 7}),
)


def run(*, full: bool) -> Outcome:
    notes: list[str] = []
    found = census(notes)
    tables = [] if found is None else [measured(found, columns, full=full) for columns in (24, 16)]
    return Outcome(
        "genetic",
        "many columns of the KDD census with a limit of time, k = 5",
        "LM, suppressed records lose everything; seconds by the clock that the two are given, and of the "
        "processor. `optimal` and the genetic search may suppress any record, `local` and `top-down` none.",
        tuple(tables),
        tuple(notes),
    )


def measured(table: pl.DataFrame, columns: int, *, full: bool) -> Table:
    whole = accepted(table if full else table.head(5_000)).tally
    tally = replace(whole, quasi=whole.quasi[:columns])
    limit, seeds = (30.0, (0, 1, 2)) if full else (3.0, (0,))
    rows: list[list[Cell]] = []
    for seed in seeds:
        begun = time.process_time()
        node = Optimal(suppression=Fraction(1), time_limit=limit, seed=seed).solve(tally, [K5])
        row: list[Cell] = ["optimal", f"seed = {seed}", limit, node.loss, node.suppressed, node.looked_at]
        rows.append([*row, time.process_time() - begun, ""])
    for seed in seeds:
        begun = time.process_time()
        loss, looked = bred(tally, limit, seed)
        row = ["genetic", f"seed = {seed}", limit, loss, None, looked, time.process_time() - begun, ""]
        rows.append(row)
    for name, said in LOCAL:
        search = algorithm(name, **said)
        begun = time.process_time()
        lost = _lost(tally, search)
        spent = time.process_time() - begun
        shown = ", ".join(f"{key} = {value}" for key, value in said.items())
        aim = AIM.get(columns) if said.get("labels") and full else None
        target = "" if aim is None else rated(lost, aim, "")
        rows.append([name, shown, None, lost, 0, None, spent, target])
    heads = {
        "search": "",
        "with": "",
        "limit s": ".0f",
        "LM": ".4f",
        "suppressed": ",",
        "looked at": ",",
        "CPU s": ".1f",
        "target": "",
    }
    return Table(f"{columns} columns, {tally.records:,} records", heads, rows)


def bred(tally: Tally, seconds: float, seed: int) -> tuple[float, int]:
    """The loss of the best node that a genetic search finds in time, and how many it looked at."""
    counts, rng = counted(tally), np.random.default_rng(seed)
    lattice, judge = Lattice.of(counts.heading, {}), Judge(counts, [K5], Fraction(1))
    objective, rollups = Objective(counts, lattice), counts.grouping(lattice.ladders, judge.sensitive)
    top, known = np.array(lattice.top), dict[Levels, float]()
    until = time.monotonic() + seconds

    def lost(node: Levels) -> float:
        if node not in known and time.monotonic() < until:
            ruling = judge.rule(rollups, node)
            known[node] = objective.of(rollups.at(node), ruling) if ruling.holds else float("inf")
        return known.get(node, float("inf"))

    def child(one: Levels, other: Levels) -> Levels:
        mixed = np.where(rng.random(len(top)) < 0.5, one, other)
        moves = np.where(rng.random(len(top)) < CHANGED, rng.choice((-1, 1), len(top)), 0)
        return tuple(map(int, np.clip(mixed + moves, 0, top)))

    people = [lattice.top, *(tuple(map(int, rng.integers(0, top + 1))) for _ in range(POPULATION - 1))]
    while time.monotonic() < until:
        people = sorted(dict.fromkeys(people), key=lost)[: POPULATION // 2]
        parents = rng.integers(0, len(people), (POPULATION - BEST, 2))
        people = people[:BEST] + [child(people[one], people[other]) for one, other in parents]
    return min(known.values()), len(known)


def _lost(tally: Tally, search: Algorithm) -> float:
    terms = Terms(tuple(Attribute(column.name, Role.QUASI, None) for column in tally.quasi), (K5,), search)
    found = search.search(tally, terms).recoding
    assert isinstance(found, (Generalization, Regions))  # both generalise
    return mean_lm(losses(found.over(tally), found))
