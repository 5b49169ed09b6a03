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
from privet.core import Algorithm, Form, PrivacyModel, Tally
from privet.counts.boxing import CellBoxes
from privet.engines.embedded import Embedded
from privet.errors import UnsatisfiableError
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity
from privet.policy.values import Policy
from privet.relational.coincident import Coincident, Strategy
from privet.relational.judge import Judge
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
    return engine.tally(engine.read(pl.concat([table] * times), Form(), names), policy).tally, policy


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
    return tally.records / _boxes(algorithm, tally, model)


def _boxes(algorithm: Algorithm, tally: Tally, model: PrivacyModel) -> int:
    """Mondrian's boxes as they were made: some read alike."""
    assert isinstance(algorithm, Mondrian)
    judge = Judge(tally, (model,))
    return algorithm.boxes(tally, CellBoxes(tally, judge.sensitive), judge).count


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


def saved(table: Table) -> Table:
    """Figure 5.6: by how much beginning with sizes 2, 3 and 6 makes groups smaller, in %."""
    rows: list[list[Cell]] = []
    for row in table.rows:
        held = dict(zip(table.heads, row, strict=True))
        gains: list[Cell] = []
        for strategy in ("UU", "UA"):
            plain, interleaved = held[strategy], held[f"GI-{strategy}"]
            both = isinstance(plain, float) and isinstance(interleaved, float)
            gains.append(100 * (1 - interleaved / plain) if both else None)  # type: ignore[operator]
        rows.append([*row[:3], *gains])
    heads = {"sample": "", "promise": "", "l": "d", "UU %": ".0f", "UA %": ".0f"}
    return Table("how much smaller groups are with sizes 2, 3, 6 (figure 5.6)", heads, rows)


def starts(sizes: Sequence[int]) -> tuple[Table, Chart]:
    """Figure 5.8: the start size varied, entropy 8-diversity, everybody."""
    tally, policy = people(14)
    model = EntropyLDiversity(l=8, sensitive=("occupation",))
    found = [(size, average(tally, policy, Coincident(size, Strategy.UA), model)) for size in sizes]
    curve = Series("UA", [(float(size), made) for size, made in found])
    chart = Chart("Average group size, entropy 8-diversity (figure 5.8)", "start size", "people", [curve])
    rows: list[list[Cell]] = [[size, made] for size, made in found]
    return Table("by start size, UA, entropy 8 (figure 5.8)", {"start": "d", "people": ".0f"}, rows), chart


def generated(kind: str, many: int, seed: int) -> tuple[Tally, Policy]:
    """People whose values have nothing to do with their quasi-identifiers: uniform, or binomial."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(8, size=many) if kind == "uniform" else rng.binomial(7, 0.5, size=many)
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 80, size=many),
            "education": rng.integers(16, size=many),
            "workclass": rng.integers(8, size=many),
            "occupation": ill,
        }
    ).cast(pl.String)
    policy, engine = Policy.loads(POLICY), Embedded()
    return engine.tally(engine.read(table, Form(), table.columns), policy).tally, policy


def difference(many: int, parameters: Sequence[int], times: int) -> tuple[Table, Chart]:
    """Figure 5.9: how much larger the groups of UA are than those of UU."""
    rows: list[list[Cell]] = []
    lines = []
    for kind in ("uniform", "binomial"):
        points: list[tuple[float, float | None]] = []
        for l in parameters:
            model = DistinctLDiversity(l=l, sensitive=("occupation",))
            apart = []
            for seed in range(times):
                tally, policy = generated(kind, many, seed)
                uu, ua = (average(tally, policy, Coincident(strategy=one), model) for one in Strategy)
                if uu is not None and ua is not None:
                    apart.append(ua - uu)
            mean = sum(apart) / len(apart) if apart else None
            rows.append([kind, l, mean])
            points.append((float(l), mean))
        lines.append(Series(kind, points))
    chart = Chart("UA - UU on generated people (figure 5.9)", "l", "people", lines)
    heads = {"values": "", "l": "d", "UA - UU": "+.2f"}
    return Table(f"{many:,} generated people, distinct l-diversity (figure 5.9)", heads, rows), chart


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
    by_start, start_chart = starts(range(20, 101, 8) if full else (26, 52))
    apart, apart_chart = difference(10_000 if full else 2_000, (2, 3, 4, 5, 6) if full else (2, 4), 5)
    return Outcome(
        "coincident",
        "Groups that stay safe when the algorithm is known",
        "Zhang (2010), figures 5.5 to 5.9: grows with the parameter, shrinks with more values, UU and UA "
        "differ little, the price against Mondrian is marginal, the start size matters little, UU is better "
        "for uniform and UA for binomial values.",
        (table, saved(table), by_start, apart, speed([1, 105] if full else [1])),
        notes=(
            "Start sizes are chosen by the search, but for figure 5.8.",
            "Groups and boxes are counted as they were made, also where some read alike.",
            "Mondrian here never parts people who look alike; coincident groups do, and so are smaller.",
        ),
        charts={**charts, "figure-5.8": start_chart, "figure-5.9": apart_chart},
    )
