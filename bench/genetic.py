"""Many columns: `optimal` beside a genetic search over the same nodes, at equal work.

24, 20 and 16 columns of the KDD census (see `chosen`), the hierarchies of an accepted draft, k = 5. `optimal`
may look at so many nodes, and the genetic search at as many, or at what it gets through in as many seconds of
the processor. It keeps a population of nodes; the worse half goes, the best stay, the rest are crossed and
changed by a level. Nodes are judged by the same code for both. One seed says little: medians and the worst.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from statistics import median
from typing import Any, TypeAlias

import numpy as np

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
from privet.relational.looks import CLOSE
from privet.relational.objective import Objective
from privet.relational.optimal import Optimal

K5 = KAnonymity(k=5)
POPULATION, BEST, CHANGED = 100, 10, 0.2  # nodes; of them stay; chance that a column moves by a level
IDLE = 1_000  # generations without a new node: it finds no more
AIM = {24: 0.40}  # of the detail, by columns, that `local` may lose
LOCAL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("local", {}),
    ("local", {"labels": "levels"}),
    ("top-down", {}),
    ("top-down", {"tries": 7}),
)

Found: TypeAlias = tuple[float, int, float]  # loss, nodes looked at, seconds of the processor


def run(*, full: bool) -> Outcome:
    notes: list[str] = []
    found = census(notes)
    tables = []
    if found is not None:
        tally = accepted(found if full else found.head(5_000)).tally
        tables = [measured(tally, columns, full=full) for columns in (24, 20, 16)]
    return Outcome(
        "genetic",
        "many columns of the KDD census, k = 5, beside a genetic search at equal work",
        "LM, suppressed records lose everything: the best, the median and the worst of some seeds; nodes "
        "looked at and seconds of the processor, medians. `optimal` and the genetic search may suppress "
        "any record, `local` and `top-down` none.",
        tuple(tables),
        tuple(notes),
    )


def measured(whole: Tally, columns: int, *, full: bool) -> Table:
    tally = replace(whole, quasi=whole.quasi[:columns])
    seeds = range(10 if full else 2)
    rows: list[list[Cell]] = []
    for nodes in (500, 2_000) if full else (300,):
        ours = [_timed(partial(_walked, tally, nodes, seed)) for seed in seeds]
        alike = [_timed(partial(bred, tally, seed, nodes=nodes)) for seed in seeds]
        timed = [_timed(partial(bred, tally, seed, seconds=ours[seed][2])) for seed in seeds]
        rows += [
            _row("optimal", f"{nodes:,} nodes", ours, "no worse: " + _no_worse(ours, alike, timed)),
            _row("genetic", f"{nodes:,} nodes", alike),
            _row("genetic", "as many CPU seconds", timed),
        ]
    for name, said in LOCAL:
        search = algorithm(name, **said)
        begun = time.process_time()
        lost = _lost(tally, search)
        spent = time.process_time() - begun
        shown = ", ".join(f"{key} = {value}" for key, value in said.items())
        aim = AIM.get(columns) if said.get("labels") and full else None
        target = "" if aim is None else rated(lost, aim, "")
        rows.append([name, shown, None, lost, None, None, spent, target])
    heads = {
        "search": "",
        "with": "",
        "best": ".4f",
        "median LM": ".4f",
        "worst": ".4f",
        "looked at": ",.0f",
        "CPU s": ".1f",
        "target": "",
    }
    return Table(f"{columns} columns, {tally.records:,} records, {len(seeds)} seeds", heads, rows)


def _walked(tally: Tally, nodes: int, seed: int) -> tuple[float, int]:
    found = Optimal(suppression=Fraction(1), nodes=nodes, seed=seed).solve(tally, [K5])
    return found.loss, found.looked_at


def _timed(search: Callable[[], tuple[float, int]]) -> Found:
    begun = time.process_time()
    loss, looked = search()
    return loss, looked, time.process_time() - begun


def _no_worse(ours: Sequence[Found], *others: Sequence[Found]) -> str:
    """Is neither the median nor the worst above those of the others?"""
    for of in (median, max):
        most = of([each[0] for each in ours]) - CLOSE
        if any(most > of([each[0] for each in other]) for other in others):
            return "MISSED"
    return "met"


def _row(search: str, given: str, found: Sequence[Found], target: str = "") -> list[Cell]:
    lost, looked, spent = zip(*found, strict=True)
    return [search, given, min(lost), median(lost), max(lost), median(looked), median(spent), target]


def bred(
    tally: Tally, seed: int, *, nodes: int | None = None, seconds: float | None = None
) -> tuple[float, int]:
    """The loss of the best node that a genetic search finds with so much work, and how many it looked at."""
    begun = time.process_time()
    counts, rng = counted(tally), np.random.default_rng(seed)
    lattice, judge = Lattice.of(counts.heading, {}), Judge(counts, [K5], Fraction(1))
    objective, rollups = Objective(counts, lattice), counts.grouping(lattice.ladders, judge.sensitive)
    top, known = np.array(lattice.top), dict[Levels, float]()
    idle = 0

    def over() -> bool:
        late = seconds is not None and time.process_time() - begun >= seconds
        return late or (nodes is not None and len(known) >= nodes) or idle >= IDLE

    def lost(node: Levels) -> float:
        if node not in known and not over():
            ruling = judge.rule(rollups, node)
            known[node] = objective.of(rollups.at(node), ruling) if ruling.holds else float("inf")
        return known.get(node, float("inf"))

    def child(one: Levels, other: Levels) -> Levels:
        mixed = np.where(rng.random(len(top)) < 0.5, one, other)
        moves = np.where(rng.random(len(top)) < CHANGED, rng.choice((-1, 1), len(top)), 0)
        return tuple(map(int, np.clip(mixed + moves, 0, top)))

    people = [lattice.top, *(tuple(map(int, rng.integers(0, top + 1))) for _ in range(POPULATION - 1))]
    while not over():
        before = len(known)
        people = sorted(dict.fromkeys(people), key=lost)[: POPULATION // 2]
        idle = idle + 1 if len(known) == before else 0
        parents = rng.integers(0, len(people), (POPULATION - BEST, 2))
        people = people[:BEST] + [child(people[one], people[other]) for one, other in parents]
    return min(known.values()), len(known)


def _lost(tally: Tally, search: Algorithm) -> float:
    terms = Terms(tuple(Attribute(column.name, Role.QUASI, None) for column in tally.quasi), (K5,), search)
    found = search.search(tally, terms).recoding
    assert isinstance(found, (Generalization, Regions))  # both generalise
    return mean_lm(losses(found.over(tally), found))
