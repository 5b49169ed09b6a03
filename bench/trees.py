"""The experiments of Ozalp (2017), section 2.4: loss, query accuracy and KL by l, for five methods.

Figures 2.3 to 2.5 survive only as statements, so what is shown is whether these statements hold here. The
fifth method stands in for dMiRaCle, whose paper is not at hand; queries on generalised labels are answered
by uniform spread.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from bench.child import scratch
from bench.curves import Chart, Series
from bench.documents import generated, schema_of
from bench.outcome import Cell, Outcome, Table
from bench.repair import KAnonThenRepair
from privet.core import Role
from privet.document.anatomy_measure import query_accuracy
from privet.document.clustree import ClusTree, CToff
from privet.document.edits import DocumentEdits, published
from privet.document.forest import Forest, Vertex
from privet.document.measures import divergence, lm, sensitive_counts, suppression
from privet.document.query import Query, Step, count
from privet.document.schema import Schema
from privet.document.spread import estimated
from privet.engines.documents.files import Documents

STAND_IN = "stand-in"
METHODS = ("CToff-GRD", "CToff-LSAP", "ClusTree-GRD", "ClusTree-LSAP", STAND_IN)
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
    kl: float | None  # None: of some attribute nothing is left
    gone: int
    seconds: float


def run(*, full: bool) -> Outcome:
    sizes = {"syntheticS": 1_000, "syntheticT": 1_000, "sparse": 3_162} if full else dict.fromkeys(SETS, 100)
    points: list[Point] = []
    for name, rows in sizes.items():
        ls = (2, 3, 4, 5) if full and name != "sparse" else (2, 3, 4)
        points += measured(name, rows, ls, queries=300 if full else 40, steps=10 if full else 2)
    return reported(points)


def measured(name: str, rows: int, ls: Sequence[int], *, queries: int, steps: int) -> list[Point]:
    """Every method at every l; `steps`: how finely the stand-in's threshold is swept for its best."""
    schema = schema_of(SETS[name])
    with scratch() as folder:
        original = list(Documents(generated(SETS[name], rows, folder), schema))
    forest = Forest.of(schema, original)
    rng = random.Random(0)
    asked = [
        query
        for query in (drawn(schema, original, rng, vertices=at % 2 == 1) for at in range(queries))
        if query
    ]
    answers = [(query, true) for query in asked if (true := count(query, original, schema)) >= FEW]
    before = sensitive_counts(schema, original)
    found = []
    for l in ls:
        for method in METHODS:
            begun = time.perf_counter()
            edits = clustered(method, forest, l, steps)
            seconds = time.perf_counter() - begun
            release = list(published(forest, edits))
            told = [
                (float(true), float(estimated(query, release, schema, forest.domains)))
                for query, true in answers
            ]
            apart = divergence(sensitive_counts(schema, release), before).values()
            kl = sum(apart) / len(apart)
            gone = suppression(forest, edits)["records"].gone
            accuracy = query_accuracy(told, FEW).mean
            found.append(
                Point(
                    name,
                    method,
                    l,
                    float(lm(forest, edits)),
                    accuracy,
                    kl if isfinite(kl) else None,
                    gone,
                    seconds,
                )
            )
    return found


def clustered(method: str, forest: Forest, l: int, steps: int) -> DocumentEdits:
    if method == STAND_IN:
        swept = (KAnonThenRepair(threshold=Fraction(at, steps)).cluster(forest, l) for at in range(steps + 1))
        return min(swept, key=lambda edits: lm(forest, edits))
    kind = ClusTree if method.startswith("ClusTree") else CToff
    return kind(mapping="lsap" if method.endswith("LSAP") else "greedy", part=0).cluster(forest, l)


def drawn(schema: Schema, records: Sequence[Vertex], rng: random.Random, *, vertices: bool) -> Query | None:
    """A random pattern that somebody meets: conditions on one person's root and on a path below it."""
    vertex = rng.choice(records)
    path = [vertex]
    while vertex.children and (len(path) == 1 or rng.random() < 0.5):
        vertex = rng.choice(vertex.children)
        path.append(vertex)
    step: Step | None = None
    for level, at in reversed(list(enumerate(path))):
        fields = schema.kind(at.type).published
        wanted = {
            f.name: frozenset({value})
            for f, value in zip(fields, at.values, strict=True)
            # the last step asks for something in any case, sensitive values are asked for now and then
            if (f.role is Role.QUASI and (level == len(path) - 1 or rng.random() < 0.3))
            or (f.role is Role.SENSITIVE and f.buckets is None and rng.random() < 0.2)
        }
        step = Step(at.type, wanted, (step,) if step else ())
    return Query(step, vertices=vertices) if step else None


def reported(points: Sequence[Point]) -> Outcome:
    heads = {
        **dict.fromkeys(("data", "method", "l"), ""),
        "LM": ".4f",
        "query accuracy": ".1%",
        "KL": ".4f",
        "records gone": ".0f",
        "s": ".1f",
    }
    rows: list[list[Cell]] = [
        [p.data, p.method, str(p.l), p.lm, p.accuracy, p.kl, p.gone, p.seconds] for p in points
    ]
    return Outcome(
        "trees",
        "Trees that become one: what it costs by l",
        "Ozalp (2017), figures 2.3 to 2.6; the data sets are generated, the competitor is a stand-in.",
        (Table("series", heads, rows),),
        tuple(trends(points)),
        {
            f"trees-{what.lower().replace(' ', '-')}-{data}": chart(points, data, what, of)
            for data in dict.fromkeys(p.data for p in points)
            for what, of in MEASURES.items()
        },
    )


MEASURES: dict[str, Callable[[Point], float | None]] = {
    "LM": lambda p: p.lm,
    "Query accuracy": lambda p: p.accuracy,
    "KL": lambda p: p.kl,
    "Seconds": lambda p: p.seconds,
}


def chart(points: Sequence[Point], data: str, what: str, of: Callable[[Point], float | None]) -> Chart:
    lines = [
        Series(
            method, [(p.l, of(p)) for p in points if (p.data, p.method) == (data, method)], method == STAND_IN
        )
        for method in METHODS
    ]
    return Chart(f"{data}: {what}", "l", what, lines)


def trends(points: Sequence[Point]) -> Iterator[str]:
    """What section 2.4 of the source states, and in how many comparisons it is so here."""
    by = {(p.data, p.method, p.l): p for p in points}

    def said(text: str, cases: Sequence[bool]) -> str:
        return f"{text}: in {sum(cases)} of {len(cases)} comparisons"

    pairs = [(p, by[key]) for p in points if (key := (p.data, p.method, p.l + 1)) in by]
    yield said("LM grows with l", [a.lm < b.lm for a, b in pairs])
    yield said("KL grows with l", [b.kl is None or (a.kl is not None and a.kl < b.kl) for a, b in pairs])
    yield said("query accuracy falls with l", [a.accuracy > b.accuracy for a, b in pairs])
    ours = [p for p in points if p.method != STAND_IN]
    yield said("LM below the stand-in's", [p.lm < by[p.data, STAND_IN, p.l].lm for p in ours])
    lsap = [p for p in ours if p.method.endswith("LSAP")]
    yield said("LSAP below GRD", [p.lm < by[p.data, p.method[:-4] + "GRD", p.l].lm for p in lsap])
    late = [p for p in ours if p.method.startswith("ClusTree")]
    yield said(
        "ClusTree below CToff",
        [p.lm < by[p.data, p.method.replace("ClusTree", "CToff"), p.l].lm for p in late],
    )
    flat = [p for p in ours if p.data == "syntheticS" and ("syntheticT", p.method, p.l) in by]
    yield said("syntheticS below syntheticT", [p.lm < by["syntheticT", p.method, p.l].lm for p in flat])
    yield said(
        "syntheticS below sparse",
        [p.lm < by[key].lm for p in flat if (key := ("sparse", p.method, p.l)) in by],
    )
