"""Small tables for the tests of DiffGen, and table 6.1 of Mohammed (2012)."""

from __future__ import annotations

from collections.abc import Sequence

from privet.domain import Value
from privet.dp.coded import CodedTable, Dictionary, encode
from privet.dp.publicdomain import Categories, ItemSets, Numbers, Predictor
from privet.hierarchy.tree import Tree

JOBS = Tree.of({"Any_Job": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}})
CODES = Tree.of({"**": {"1*": ["11", "12"], "2*": ["21", "22"]}})

TABLE_6_1 = [
    ("Engineer", "34", "11|12|21|22", "Y"),
    ("Lawyer", "50", "12|22", "N"),
    ("Engineer", "38", "12", "N"),
    ("Lawyer", "33", "11|12", "Y"),
    ("Dancer", "20", "12", "Y"),
    ("Writer", "37", "11", "N"),
    ("Writer", "32", "11|12|21|22", "Y"),
    ("Dancer", "25", "12|21|22", "N"),
]
PREDICTORS = (
    Predictor("Job", Categories(JOBS)),
    Predictor("Age", Numbers(18, 65)),
    Predictor("Codes", ItemSets(CODES, empty=False)),
)


def table(
    rows: Sequence[Sequence[Value]],
    predictors: Sequence[Predictor] = PREDICTORS,
    classes: Sequence[Value] = ("Y", "N"),
) -> CodedTable:
    """Rows with the class last."""
    names = [*(p.name for p in predictors), "Class"]
    data = {name: Dictionary.of([row[at] for row in rows]) for at, name in enumerate(names)}
    return encode(data, predictors, "Class", classes)


def without(rows: Sequence[Sequence[Value]], at: int) -> list[Sequence[Value]]:
    return [row for place, row in enumerate(rows) if place != at]
