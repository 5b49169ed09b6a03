"""Full-domain and local recoding on Adult with ARX's hierarchies, beside what ARX 3.9.2 reaches.

The table and its hierarchies are looked for in $PRIVET_ARX and in ../shared/data/arx/example: the folder
`data` of the ARX repository, Apache 2.0. Times are seconds of this process, the better of several runs, of
the search alone; those of the reference are its own, warm, from another day on the same machine. Whole
processes on larger tables are `growing`'s.
"""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench import anytime, growing
from bench.outcome import Cell, Outcome, Table, rated
from privet.core import Algorithm, Attribute, Form, PrivacyModel, Role, Tally, Terms
from privet.engines.embedded import Embedded
from privet.errors import InputError
from privet.hierarchy.tree import Tree
from privet.models.classes import Classes
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.tcloseness import Distance, TCloseness
from privet.recoding import Perturbation, Recoding
from privet.relational.local import Local
from privet.relational.mondrian import Choice, Cuts, Mondrian
from privet.relational.optimal import Optimal

HERE = Path(__file__).resolve().parent
COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
SENSITIVE = "occupation"
K5 = KAnonymity(k=5)
TWENTIETH = Fraction(5, 100)


@dataclass(frozen=True)
class Case:
    """A promise, and what the reference reached with it."""

    name: str
    models: tuple[PrivacyModel, ...]
    quasi: int  # 9, or 8 where the occupation is sensitive
    suppression: Fraction
    ncp: float  # of the reference
    seconds: float  # at most


@dataclass(frozen=True)
class Recoded:
    """A local search, a promise, and what it must reach."""

    name: str
    search: Algorithm
    models: tuple[PrivacyModel, ...]
    quasi: int
    ncp: float | None
    seconds: float


def folder() -> Path:
    """Where the data is."""
    given = os.environ.get("PRIVET_ARX")
    places = [Path(given)] if given else [HERE.parent.parent / "shared" / "data" / "arx" / "example"]
    for place in places:
        if (place / "adult.csv.gz").is_file():
            return place
    raise InputError(
        "lattice: put ARX's adult.csv.gz and adult_hierarchy_*.csv in a folder, named in PRIVET_ARX"
    )


def tree(name: str) -> Tree:
    return Tree.from_csv(folder() / f"adult_hierarchy_{name}.csv")


def records() -> pl.DataFrame:
    """The table itself, every value as text."""
    packed = (folder() / "adult.csv.gz").read_bytes()
    return pl.read_csv(gzip.decompress(packed), separator=";", infer_schema=False).select(COLUMNS)


def prepared(
    models: Sequence[PrivacyModel], algorithm: Any, *, quasi: int, sample: int | None = None
) -> tuple[Tally, Terms]:
    """The tally of the table, or of some records of it by chance, with the occupation sensitive or not."""
    attributes = tuple(
        Attribute(name, Role.SENSITIVE)
        if quasi < len(COLUMNS) and name == SENSITIVE
        else Attribute(name, Role.QUASI, tree(name))
        for name in COLUMNS
    )
    policy = Terms(attributes, tuple(models), algorithm)
    data = records() if sample is None else records().sample(sample, seed=0)
    engine = Embedded()
    return engine.tally(engine.read(data, Form()), policy).tally, policy


def cases() -> list[Case]:
    about = (SENSITIVE,)
    fifth = Fraction(1, 5)
    nested: Any = tree(SENSITIVE).to_policy()["tree"]
    equal = TCloseness(t=fifth, sensitive=about, distance=Distance.EQUAL)
    layered = TCloseness(t=fifth, sensitive=about, distance=Distance.HIERARCHICAL, tree=nested)
    distinct = DistinctLDiversity(l=3, sensitive=about)
    recursive = RecursiveLDiversity(c=Fraction(4), l=3, sensitive=about)
    entropy = EntropyLDiversity(l=3, sensitive=about)
    return [
        Case("k = 5, 0 %", (K5,), 9, Fraction(0), 0.63554, 0.15),
        Case("k = 5, 5 %", (K5,), 9, TWENTIETH, 0.26963, 1.16),
        Case("k = 5, 100 %", (K5,), 9, Fraction(1), 0.22770, 3.85),
        Case("k = 5, distinct 3, 5 %", (K5, distinct), 8, TWENTIETH, 0.17988, 0.59),
        Case("k = 5, recursive (4, 3), 5 %", (K5, recursive), 8, TWENTIETH, 0.21977, 0.60),
        Case("k = 5, entropy 3, 5 %", (K5, entropy), 8, TWENTIETH, 0.22573, 0.59),
        Case("k = 5, 0.2-close, equal, 5 %", (K5, equal), 8, TWENTIETH, 0.83969, 1.18),
        Case("k = 5, 0.2-close, hierarchical, 5 %", (K5, layered), 8, TWENTIETH, 0.67495, 1.32),
    ]


def run(*, full: bool) -> Outcome:
    known = cases()
    by_name = {case.name: case.models for case in known}
    distinct, close = by_name["k = 5, distinct 3, 5 %"], by_name["k = 5, 0.2-close, equal, 5 %"]
    k10 = (KAnonymity(k=10),)
    local = [
        Recoded("local", Local(), (K5,), 9, 0.0589, 4.0),
        Recoded("local", Local(), distinct, 8, 0.0367, 1.5),
        Recoded("local", Local(), close, 8, 0.44, 10.0),
        Recoded("mondrian", Mondrian(), k10, 8, None, 0.3),
        Recoded("mondrian, best", Mondrian(choice=Choice.BEST), k10, 8, None, 0.3),
        Recoded("mondrian, hierarchy", Mondrian(cuts=Cuts.HIERARCHY), k10, 8, None, 0.3),
    ]
    runs = 5 if full else 2
    return Outcome(
        "lattice",
        "Full-domain and local recoding of Adult, 30,162 records",
        "Levels are in the order sex, age, race, marital-status, education, native-country, workclass, "
        "(occupation,) salary-class. A suppressed record loses everything. Reference: ARX 3.9.2.",
        (
            Table(
                "optimal",
                {
                    "promise, limit": "",
                    "levels": "",
                    "suppressed": ".0f",
                    "classes": ".0f",
                    "NCP": ".5f",
                    "reference": ".5f",
                    "loss": "",
                    "nodes": ".0f",
                    "s": ".3f",
                    "time": "",
                },
                [optimum(case, runs) for case in known],
            ),
            Table(
                "local recoding, nothing suppressed",
                {
                    "search": "",
                    "promise": "",
                    "classes": ".0f",
                    "mean size": ".2f",
                    "NCP": ".4f",
                    "loss": "",
                    "s": ".3f",
                    "time": "",
                },
                [recoded(one, runs) for one in local],
            ),
            growing.table(full=full),
            anytime.table(full=full),
        ),
    )


def optimum(case: Case, runs: int) -> list[Cell]:
    search = Optimal(suppression=case.suppression)
    tally, _ = prepared(case.models, search, quasi=case.quasi)
    seconds, found = best_of(lambda: search.solve(tally, case.models), runs)
    return [
        case.name,
        ",".join(map(str, found.node)),
        found.suppressed,
        found.classes,
        found.loss,
        case.ncp,
        rated(found.loss, case.ncp + 5e-6, ""),
        found.looked_at,
        seconds,
        rated(seconds, case.seconds, " s"),
    ]


def recoded(case: Recoded, runs: int) -> list[Cell]:
    tally, policy = prepared(case.models, case.search, quasi=case.quasi)
    seconds, finding = best_of(lambda: case.search.search(tally, policy), runs)
    published = tally.recoded(finding.recoding)
    if not all(model.check(published).holds for model in case.models):
        raise SystemExit("what is about to leave does not keep the promise")
    classes = len(Classes.of(published, "bench").size)
    lost = ncp(tally, finding.recoding)
    return [
        case.name,
        ", ".join(model.name for model in case.models),
        classes,
        tally.records / classes,
        lost,
        None if case.ncp is None else rated(lost, case.ncp, ""),
        seconds,
        rated(seconds, case.seconds, " s"),
    ]


def ncp(tally: Tally, recoding: Recoding) -> float:
    """The mean over records and quasi-identifiers of the share of other values that a label could mean.

    A record that is not published could mean any.
    """
    if isinstance(recoding, Perturbation):
        raise TypeError("a perturbation has no labels that could mean several values")
    lost = 0.0
    for column in tally.quasi:
        shown = recoding.shown(column)
        each = np.array([(node.leaves - 1) / max(1, column.domain.size - 1) for node in shown.nodes])
        paid = each[shown.positions]
        lost += float(
            ((paid if shown.kept is None else np.where(shown.kept, paid, 1.0)) * tally.counts).sum()
        )
    return lost / tally.records / len(tally.quasi)


def best_of(work: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """The fewest seconds of the processor that it took, and what came out."""
    seconds, found = float("inf"), None
    for _ in range(runs):
        begun = time.process_time()
        found = work()
        seconds = min(seconds, time.process_time() - begun)
    return seconds, found
