"""Mondrian beside full-domain generalisation, and what many columns cost: two tables of the toolbox's spec.

Aggarwal, "Data mining", 2015, chapter 20, claims both and measures neither. The figures beside ours are a
seeded computation of the claims, not of this code. Full-domain figures are the same; Mondrian's depend on how
ties and uneven boxes are cut, and ours never parts records that agree in everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bench import lattice
from bench.outcome import Cell, Outcome, Table, rated
from privet.core import Attribute, Form, Role, Tally, Terms
from privet.counts.boxing import CellBoxes
from privet.engines.embedded import Embedded
from privet.hierarchy import Intervals
from privet.measure.classes import class_sizes, discernibility
from privet.measure.summary import expected_width
from privet.models.kanonymity import KAnonymity
from privet.relational.judge import Judge
from privet.relational.lattice import Lattice
from privet.relational.mondrian import Mondrian
from privet.relational.optimal import Optimal
from privet.relational.widths import cut_up

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
# k: smallest height, best at it, best of all nodes, Mondrian relaxed, Mondrian strict
CLAIMED = {
    2: (8, 56017560, 49216658, 120012, 3489090),
    5: (9, 55170356, 55170356, 226516, 3507796),
    10: (9, 55170356, 55170356, 445938, 3562398),
    25: (10, 97868020, 97868020, 888678, 3800008),
    50: (10, 162312130, 162312130, 1776890, 4299608),
    100: (10, 162312130, 162312130, 3553734, 5699416),
}
# columns: mean width
WIDTHS = {1: 0.002, 2: 0.042, 3: 0.115, 5: 0.271, 8: 0.423, 10: 0.497, 15: 0.632, 20: 0.700}
RECORDS, K = 10_000, 10
NEAR = 0.08  # how far a width may be from the formula: boxes end at points, so they cover less


def run(*, full: bool) -> Outcome:
    ks = list(CLAIMED) if full else [2, 10, 100]
    columns = list(WIDTHS) if full else [1, 2, 5, 10]
    return Outcome(
        "boxes",
        "Mondrian beside full-domain generalisation; widths by number of columns",
        "Adult, 30,162 records, six quasi-identifiers, every node of the lattice looked at; discernibility. "
        f"Then {RECORDS:,} records spread evenly, k = {K}: mean share of a range that a box covers. Beside "
        "each figure the one of the spec.",
        (
            Table(
                "discernibility (spec 09, 5.2)",
                {
                    "k": "",
                    "height": "",
                    "lowest node": ",",
                    "(spec)": ",",
                    "best node": ",",
                    "(spec) ": ",",
                    "relaxed": ",",
                    "(spec)  ": ",",
                    "strict": ",",
                    "(spec)   ": ",",
                    "best / strict": ".1f",
                    "order of magnitude": "",
                },
                beside(adult(), ks),
            ),
            Table(
                "widths (spec 09, 5.3)",
                {
                    "columns": "",
                    "mean box": ".1f",
                    "width": ".3f",
                    "(spec)": ".3f",
                    "(box / N)^(1/d)": ".3f",
                    "(k / N)^(1/d)": ".3f",
                    "apart": "",
                },
                widths(columns),
            ),
        ),
    )


def adult() -> Tally:
    """The table with ARX's hierarchies."""
    attributes = tuple(Attribute(name, Role.QUASI, lattice.tree(name)) for name in QUASI)
    policy = Terms(attributes, (KAnonymity(k=2),), Optimal())
    engine = Embedded()
    return engine.tally(engine.read(lattice.records(), Form()), policy).tally


@dataclass(frozen=True, slots=True)
class Looked:
    """A node of the lattice: its height, its smallest class, what it costs."""

    height: int
    smallest: int
    paid: int


def every_node(tally: Tally) -> list[Looked]:
    """Every node, counted by itself."""
    whole = Lattice.of(tally)
    found = []
    for node in whole.nodes():
        sizes = class_sizes(tally.recoded(whole.recoding(node)))
        found.append(Looked(sum(node), int(sizes.min()), discernibility(sizes)))
    return found


def beside(tally: Tally, ks: Sequence[int]) -> list[list[Cell]]:
    looked = every_node(tally)
    rows: list[list[Cell]] = []
    for k in ks:
        good = [node for node in looked if node.smallest >= k]
        height = min(node.height for node in good)
        lowest = min(node.paid for node in good if node.height == height)
        best = min(node.paid for node in good)
        relaxed, strict = (boxed(tally, k, relaxed=loose) for loose in (True, False))
        said = CLAIMED[k]
        rows.append(
            [
                k,
                f"{height} ({said[0]})",
                *(lowest, said[1]),
                *(best, said[2]),
                *(relaxed, said[3]),
                *(strict, said[4]),
                best / strict,
                f">= 10x: {'met' if best >= 10 * strict else 'MISSED'}",
            ]
        )
    return rows


def boxed(tally: Tally, k: int, *, relaxed: bool) -> int:
    """What Mondrian's boxes cost."""
    table = CellBoxes(tally, ())
    Mondrian(relaxed=relaxed).boxes(tally, table, Judge(tally, (KAnonymity(k=k),)))
    sizes = np.bincount(table.of_cell, weights=tally.counts).astype(np.int64)
    return discernibility(sizes)


def widths(columns: Sequence[int]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for many in columns:
        cut = cut_up(even(many), K)
        size = RECORDS / cut.count
        formula = (size / RECORDS) ** (1 / many)
        near = rated(abs(cut.width - formula), NEAR, "")
        rows.append([many, size, cut.width, WIDTHS[many], formula, expected_width(RECORDS, K, many), near])
    return rows


def even(columns: int, seed: int = 0) -> Tally:
    """Records spread evenly over a cube."""
    drawn = np.random.default_rng(seed).integers(0, 1_000_000, size=(RECORDS, columns))
    table = pl.DataFrame({f"x{at}": drawn[:, at] for at in range(columns)})
    attributes = tuple(Attribute(name, Role.QUASI, Intervals()) for name in table.columns)
    engine = Embedded()
    return engine.tally(engine.read(table, Form()), Terms(attributes, (KAnonymity(k=K),), Mondrian())).tally
