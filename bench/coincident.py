"""Coincident generalisation on Adult: what safety from a well-read adversary costs, and how long it takes.

Zhang (2010), section 5.5 (figures 5.5 to 5.8): quasi-identifiers age, education and workclass, sensitive
occupation; average group size by the promise's parameter. Mondrian, whose groups are not safe once the
algorithm is known, cuts in the middle with the same promise.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import polars as pl

from bench import adult
from bench.curves import Chart, Series
from bench.outcome import Cell, Outcome, Table, rated
from privet.core import Algorithm, Finding, Form, PrivacyModel, Regions, Tally
from privet.engines.embedded import Embedded
from privet.errors import UnsatisfiableError
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity
from privet.policy import Policy
from privet.relational.coincident import Coincident, Strategy
from privet.relational.mondrian import Mondrian

SAMPLES = {"14 values": 14, "8 values": 8, "5 values": 5}
PARAMETERS = (2, 4, 6, 8)
ALGORITHMS: dict[str, Algorithm] = {
    "UU": Coincident(strategy=Strategy.UU),
    "UA": Coincident(strategy=Strategy.UA),
    "GI-UU": Coincident(strategy=Strategy.UU, interleaved=True),
    "GI-UA": Coincident(strategy=Strategy.UA, interleaved=True),
    "Mondrian": Mondrian(relaxed=True),
}
POLICY = """
policy = 1
[attributes]
age = { role = "quasi" }
education = { role = "quasi" }
workclass = { role = "quasi" }
occupation = { role = "sensitive" }
[[models]]
type = "distinct-l-diversity"
l = 2
sensitive = ["occupation"]
"""


def people(values: int, times: int = 1) -> tuple[Tally, Policy]:
    """Adult's people with the most frequent occupations."""
    table = adult.load().filter(pl.col("occupation").is_not_null() & (pl.col("occupation") != "?"))
    often = table["occupation"].value_counts(sort=True)["occupation"].head(values)
    table = table.filter(pl.col("occupation").is_in(often.to_list()))
    policy, engine = Policy.loads(POLICY), Embedded()
    names = [attribute.name for attribute in policy.attributes]
    return engine.tally(engine.read(pl.concat([table] * times), Form(), names), policy), policy


def average(tally: Tally, policy: Policy, algorithm: Algorithm, model: PrivacyModel) -> float | None:
    """People in a group on average; groups that read alike are counted apart, as they were made."""
    asked = Policy(policy.attributes, (model,), algorithm)
    try:
        finding = algorithm.search(tally, asked)
    except UnsatisfiableError:
        return None
    if isinstance(algorithm, Coincident):
        made = int(finding.notes[0].split(" groups were made")[0].split()[-1])
        withheld = int(finding.notes[0].split(" people withheld")[0].split()[-1])
        return (tally.records - withheld) / made
    return tally.records / _boxes(finding)


def _boxes(finding: Finding) -> int:
    if not isinstance(finding.recoding, Regions):
        return 0
    return len(np.unique(np.stack(list(finding.recoding.positions.values())), axis=1)[0])


def sizes(samples: Sequence[str], parameters: Sequence[int]) -> tuple[Table, dict[str, Chart]]:
    rows: list[list[Cell]] = []
    charts = {}
    for name in samples:
        tally, policy = people(SAMPLES[name])
        for kind in ("distinct", "entropy"):
            curves: dict[str, list[tuple[float, float | None]]] = {one: [] for one in ALGORITHMS}
            for l in parameters:
                if kind == "distinct":
                    model: PrivacyModel = DistinctLDiversity(l=l, sensitive=("occupation",))
                else:
                    model = EntropyLDiversity(l=l, sensitive=("occupation",))
                found = {one: average(tally, policy, a, model) for one, a in ALGORITHMS.items()}
                rows.append([name, kind, l, *found.values()])
                for one, size in found.items():
                    curves[one].append((float(l), size))
            lines = [Series(one, points, dashed=one == "Mondrian") for one, points in curves.items()]
            charts[f"coincident-{kind}-{SAMPLES[name]}"] = Chart(
                f"Average group size, {kind} l-diversity, {name} (figures 5.5, 5.7)", "l", "people", lines
            )
    heads = {"sample": "", "promise": "", "l": "d", **dict.fromkeys(ALGORITHMS, ".1f")}
    return Table("people in a group on average", heads, rows), charts


def speed(times: Sequence[int]) -> Table:
    rows: list[list[Cell]] = []
    for many in times:
        tally, policy = people(14, many)
        model = DistinctLDiversity(l=4, sensitive=("occupation",))
        algorithm = Coincident(start=10)
        asked = Policy(policy.attributes, (model,), algorithm)
        spent = []
        for _ in range(3 if many == 1 else 1):
            begun = time.process_time()
            algorithm.search(tally, asked)
            spent.append(time.process_time() - begun)
        most = 1 if many == 1 else 60
        middle = sorted(spent)[len(spent) // 2]
        rows.append([tally.records, middle, rated(middle, most, " s")])
    return Table("search, UU, start size 10, distinct 4", {"people": "d", "CPU s": ".2f", "target": ""}, rows)


def run(*, full: bool) -> Outcome:
    table, charts = sizes(list(SAMPLES) if full else ["14 values"], PARAMETERS if full else (2, 4, 6))
    return Outcome(
        "coincident",
        "Groups that stay safe when the algorithm is known",
        "Zhang (2010), figures 5.5 to 5.8: grows with the parameter, shrinks with more values, UU and UA "
        "differ little, the price against Mondrian is marginal. Start sizes are chosen by the search.",
        (table, speed([1, 105] if full else [1])),
        notes=(
            "Mondrian's boxes are counted as a recipient sees them: those that read alike are one.",
            "The others' groups are counted as they were made, which makes Mondrian's look larger.",
        ),
        charts=charts,
    )
