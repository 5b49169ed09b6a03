"""Perturbed answers: how quick, how right, when to stop, what a classifier learns; beside pure-ldp.

pure-ldp lives in an environment of its own in bench/data/ldp, made at the first run; where that cannot be,
the line says why and the rest goes on. Adult is the real data.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench import adult
from bench.child import ChildError, answered
from bench.curves import Chart, Series
from bench.outcome import Cell, Outcome, Table, rated
from bench.peers import environment
from privet.collect import Plan, bayes, tree
from privet.collect.column import Column
from privet.collect.draw import perturbed
from privet.collect.estimate import estimate, from_counts
from privet.collect.iterate import Rule, Stop, iterate
from privet.collect.matrix import bin_of, binned
from privet.collect.observe import Answers, read
from privet.collect.stream import perturb_csv, true_codes
from privet.collect.training import Strategy, Training

HERE = Path(__file__).resolve().parent
PEER = HERE / "data" / "ldp"
# What it imports without asking for it stands beside it.
NEEDS = ("pure-ldp", "scikit-learn", "statsmodels", "bitstring", "bitarray", "xxhash")
MANY = 10_000_000
SECONDS = 5.0
NOISES: dict[str, dict[str, Any]] = {
    "uniform ±25": {"mechanism": "uniform", "half_width": 25},
    "gaussian 12.5": {"mechanism": "gaussian", "sigma": "12.5"},
    "laplace, epsilon 5": {"mechanism": "laplace", "epsilon": 5},
}
STOP = Stop(Rule.TOLERANCE)


def run(*, full: bool = False) -> Outcome:
    repeats = 10 if full else 3
    rows, notes = list(speeds()), []
    many = (1_000, 3_000, 10_000, 30_000, 100_000, *((300_000,) if full else ()))
    sizes, by_size = errors_by_size(max(repeats, 8), many)
    stops, by_step = errors_by_step(repeats)
    trained = classifiers(repeats)
    peers, why = beside(50_000 if full else 10_000)
    if why:
        notes.append(why)
    return Outcome(
        "collect",
        "perturbed answers and what comes back",
        f"{MANY:,} values perturbed and reconstructed in memory and from CSV; a mixture of two triangles on "
        "0 to 100 (spec 09, 5.1) and Adult. Error is the total variation distance to the true histogram.",
        (
            Table("speed", {"work": "", "s": ".2f", "of the processor": ".2f", "target": ""}, rows),
            sizes,
            stops,
            coverage(10 * repeats),
            trained,
            on_adult(full=full),
            road(full=full),
            peers,
        ),
        tuple(notes),
        {"collect-error-by-answers": by_size, "collect-error-by-iterations": by_step},
    )


def column(**said: Any) -> Column:
    table = {"type": "number", "low": 0, "high": 100, "step": "0.5", **said}
    return Plan.from_document({"collect": 1, "columns": {"a": table}}).columns["a"]


def speeds() -> Iterator[list[Cell]]:
    """Ten million values by every mechanism, from CSV to CSV, and back into a thousand bins."""
    chance = np.random.default_rng(0)
    fine = {"low": 0, "high": 999, "step": 1}
    values = {"type": "category", "values": [f"v{at}" for at in range(16)]}
    told = {
        "laplace, 1,000 values": column(**fine, mechanism="laplace", epsilon=1),
        "gaussian, 1,000 values": column(**fine, mechanism="gaussian", sigma=50),
        "uniform, 1,000 values": column(**fine, mechanism="uniform", half_width=100),
    }
    for name in ("k-randomised-response", "optimised-unary"):
        said = {**values, "mechanism": name, "epsilon": 1}
        told[f"{name}, 16 values"] = Plan.from_document({"collect": 1, "columns": {"a": said}}).columns["a"]
    for name, one in told.items():
        codes = chance.integers(0, one.channel.inputs, MANY)
        begun, busy = time.perf_counter(), time.process_time()
        outputs = perturbed(one.channel, codes)
        spent, worked = time.perf_counter() - begun, time.process_time() - busy
        yield [f"perturb {MANY:,}: {name}", spent, worked, rated(spent, SECONDS, " s")]
        if name.startswith("gaussian"):
            begun, busy = time.perf_counter(), time.process_time()
            from_counts(one, np.bincount(outputs, minlength=one.channel.outputs), bins=1000)
            spent, worked = time.perf_counter() - begun, time.process_time() - busy
            what = f"reconstruct {MANY:,} in 1,000 bins, with bands"
            yield [what, spent, worked, rated(spent, SECONDS, " s")]
        del outputs
    plan = Plan.from_document({"collect": 1, "columns": {"a": told["laplace, 1,000 values"].document()}})
    text = b"a\n" + "\n".join(map(str, chance.integers(0, 1000, MANY).tolist())).encode() + b"\n"
    begun, busy = time.perf_counter(), time.process_time()
    perturb_csv(plan, io.BytesIO(text), io.BytesIO())
    spent, worked = time.perf_counter() - begun, time.process_time() - busy
    yield [f"perturb {MANY:,}: laplace, CSV to CSV", spent, worked, rated(spent, SECONDS, " s")]


def triangles(size: int, seed: int) -> Any:
    chance = np.random.default_rng(seed)
    left = chance.random(size) < 0.5
    return np.where(left, chance.triangular(0, 25, 50, size), chance.triangular(50, 75, 100, size))


def sample(one: Column, size: int, seed: int) -> tuple[Any, Any]:
    """Outputs, and the true histogram in 20 bins; both drawn by the seed, so that figures come again."""
    codes = np.floor(triangles(size, seed) * 2 + 0.5).astype(np.int64)
    true = np.bincount(bin_of(one, codes, 20), minlength=20) / size
    return perturbed(one.channel, codes, np.random.default_rng([seed, size]).bytes), true


def distance(one: Any, other: Any) -> float:
    return float(np.abs(one - other).sum() / 2)


def errors_by_size(repeats: int, sizes: tuple[int, ...]) -> tuple[Table, Chart]:
    rows: list[list[Cell]] = []
    curves: dict[str, list[tuple[float, float | None]]] = {}
    for name, said in NOISES.items():
        one = column(**said)
        for size in sizes:
            found, raw = [], []
            for seed in range(repeats):
                outputs, true = sample(one, size, seed)
                got = estimate(one, outputs, confidence=None)
                found.append(distance(got.shares, true))
                raw.append(distance(got.perturbed, true))
            rows.append([name, size, float(np.mean(found)), float(np.mean(raw))])
            curves.setdefault(name, []).append((size, float(np.mean(found))))
    heads = {"noise": "", "answers": ",", "error": ".3f", "of the perturbed histogram": ".3f"}
    chart = Chart(
        "Error falls as more people answer",
        "answers",
        "total variation",
        [Series(name, points) for name, points in curves.items()],
        logarithmic=True,
    )
    return Table("error by number of answers", heads, rows), chart


def errors_by_step(repeats: int) -> tuple[Table, Chart]:
    """Where each rule stops, and what going on would cost."""
    rows: list[list[Cell]] = []
    curves: dict[str, list[tuple[float, float | None]]] = {}
    marks = (1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 200, 400, 800, 1500)
    rules = {
        "cross-validation": Stop(),
        "tolerance 1e-3": Stop(Rule.TOLERANCE, 1e-3),
        "tolerance 1e-4": Stop(Rule.TOLERANCE, 1e-4),
        "tolerance 1e-5": Stop(Rule.TOLERANCE, 1e-5),
        "chi-square": Stop(Rule.CHI_SQUARE),
        "never (1,500)": Stop(Rule.NEVER, most=1_500),
    }
    for name, said in NOISES.items():
        one = column(**said)
        shaped = binned(one, 20)
        at_marks = np.zeros(len(marks))
        by_rule: dict[str, list[tuple[float, int]]] = {}
        for seed in range(repeats):
            outputs, true = sample(one, 10_000, seed)
            counts = shaped.counted(np.bincount(outputs, minlength=one.channel.outputs))
            for rule, stop in rules.items():
                fit = iterate(shaped.matrix, counts, stop)
                by_rule.setdefault(rule, []).append((distance(fit.shares, true), fit.iterations))
            for at, most in enumerate(marks):
                shares = iterate(shaped.matrix, counts, Stop(Rule.NEVER, most=most)).shares
                at_marks[at] += distance(shares, true) / repeats
        best = float(at_marks.min())
        curves[name] = [(most, float(error)) for most, error in zip(marks, at_marks, strict=True)]
        for rule, found in by_rule.items():
            error, steps = (float(np.mean([pair[at] for pair in found])) for at in (0, 1))
            rows.append([name, rule, steps, error, error / best])
    heads = {"noise": "", "rule": "", "iterations": ",.0f", "error": ".3f", "times the least": ".2f"}
    chart = Chart(
        "Going on fits the noise (10,000 answers)",
        "iterations",
        "total variation",
        [Series(name, points) for name, points in curves.items()],
        logarithmic=True,
    )
    return Table("where the iteration stops, 10,000 answers", heads, rows), chart


def coverage(repeats: int) -> Table:
    """How often a 95 % band holds the true share."""
    rows: list[list[Cell]] = []
    for name, said in NOISES.items():
        for size in (2_000, 20_000):
            held, width, one = [], [], column(**said)
            for seed in range(repeats):
                outputs, true = sample(one, size, seed)
                got = estimate(one, outputs)
                assert got.low is not None
                assert got.high is not None
                held.append(float(((got.low <= true) & (true <= got.high)).mean()))
                width.append(float((got.high - got.low).mean()))
            rows.append([name, size, 100 * float(np.mean(held)), 100 * float(np.mean(width))])
    heads = {"noise": "", "answers": ",", "holds, %": ".0f", "mean width, points": ".1f"}
    return Table("95 % bands of twenty bins", heads, rows)


def classes(size: int, seed: int) -> tuple[Any, Any, Any]:
    """Two classes that overlap in two attributes, in half units."""
    chance = np.random.default_rng(seed)
    label = chance.integers(0, 2, size)
    one, two = (
        np.where(label == 0, chance.triangular(0, 30, 60, size), chance.triangular(40, 70, 100, size))
        for _ in range(2)
    )
    return label, np.floor(one * 2 + 0.5).astype(np.int64), np.floor(two * 2 + 0.5).astype(np.int64)


def classifiers(repeats: int) -> Table:
    """Spec 09, 5.1: naive Bayes and trees, 10,000 perturbed training and 5,000 true test records."""
    rows: list[list[Cell]] = []
    number = {"type": "number", "low": 0, "high": 100, "step": "0.5"}
    label = {"type": "category", "values": ["x", "y"], "mechanism": "as-is"}
    for half_width in (0, 25, 50, 100):
        noise = {"mechanism": "uniform", "half_width": half_width} if half_width else {"mechanism": "as-is"}
        plan = Plan.from_document(
            {"collect": 1, "columns": {"a": {**number, **noise}, "b": {**number, **noise}, "c": label}}
        )
        right: dict[tuple[str, Strategy], list[float]] = {}
        for seed in range(repeats):
            known, one, two = classes(10_000, seed)
            sent = {
                name: perturbed(plan.columns[name].channel, codes) for name, codes in (("a", one), ("b", two))
            }
            training = Training.of(Answers(plan, 10_000, {**sent, "c": known}), "c")
            test, left, other = classes(5_000, 1_000 + seed)
            for strategy in Strategy:
                models: dict[str, Any] = {"tree": tree.train(training, strategy, bins=20, stop=STOP)}
                if strategy is not Strategy.LOCAL:
                    models["naive Bayes"] = bayes.train(training, strategy, bins=20, stop=STOP)
                for name, model in models.items():
                    hit = float((model.predict({"a": left, "b": other}) == test).mean())
                    right.setdefault((name, strategy), []).append(hit)
        for name in ("naive Bayes", "tree"):
            cells = [right.get((name, strategy)) for strategy in Strategy]
            shown: list[Cell] = [None if one is None else 100 * float(np.mean(one)) for one in cells]
            rows.append([f"uniform ±{half_width}" if half_width else "none", name, *shown])
    heads = {"noise": "", "model": "", **{strategy.value: ".1f" for strategy in Strategy}}
    return Table("right on true records, %", heads, rows)


def on_adult(*, full: bool) -> Table:
    """Income on Adult: numbers with Laplace noise, sex and marital status by randomised response."""
    frame = adult.load()
    people = frame if full else frame.head(20_000)
    statuses = sorted(people["marital-status"].unique().to_list())
    rows: list[list[Cell]] = []
    for epsilon in ("1", "2", "4", "8", "as-is"):
        said: dict[str, Any] = {"mechanism": "as-is"} if epsilon == "as-is" else {"epsilon": epsilon}
        number = {"type": "number", "mechanism": "laplace", **said}
        choice = {"type": "category", "mechanism": "k-randomised-response", **said}
        plan = Plan.from_document(
            {
                "collect": 1,
                "columns": {
                    "age": {**number, "low": 17, "high": 90},
                    "hours-per-week": {**number, "low": 1, "high": 99},
                    "education-num": {**number, "low": 1, "high": 16},
                    "sex": {**choice, "values": ["Female", "Male"]},
                    "marital-status": {**choice, "values": statuses},
                    "income": {"type": "category", "values": ["<=50K", ">50K"], "mechanism": "as-is"},
                },
            }
        )
        codes = {
            name: np.array([one.code(str(value)) for value in people[name].to_list()], dtype=np.int64)
            for name, one in plan.columns.items()
        }
        half = len(people) // 2
        sent = {name: perturbed(one.channel, codes[name][:half]) for name, one in plan.columns.items()}
        training = Training.of(Answers(plan, half, sent), "income")
        test = {name: one[half:] for name, one in codes.items()}
        found: list[Cell] = []
        for strategy in (Strategy.BY_CLASS, Strategy.PERTURBED):
            model = bayes.train(training, strategy, bins=20, stop=STOP)
            found.append(100 * float((model.predict(test) == test["income"]).mean()))
        for strategy in (Strategy.BY_CLASS, Strategy.LOCAL, Strategy.PERTURBED):
            grown = tree.train(training, strategy, bins=20, stop=STOP)
            found.append(100 * float((grown.predict(test) == test["income"]).mean()))
        rows.append([epsilon, *found])
    heads = {
        "epsilon of each": "",
        "naive Bayes, by-class": ".1f",
        "naive Bayes, perturbed": ".1f",
        "tree, by-class": ".1f",
        "tree, local": ".1f",
        "tree, perturbed": ".1f",
    }
    return Table("income on Adult, right on true records, %", heads, rows)


def road(*, full: bool) -> Table:
    """Adult as it is used: a file of true answers, perturbed into another, and what that tells."""
    frame = adult.load()
    people = frame if full else frame.head(20_000)
    number = {"type": "number", "mechanism": "laplace", "epsilon": 2}
    choice = {"type": "category", "mechanism": "optimised-unary", "epsilon": 2}
    names = {name: sorted(people[name].unique().to_list()) for name in ("occupation", "race", "income")}
    columns: dict[str, Any] = {
        "age": {**number, "low": 17, "high": 90},
        "hours-per-week": {**number, "low": 1, "high": 99},
        "occupation": {**choice, "values": names["occupation"]},
        "race": {**choice, "values": names["race"], "mechanism": "k-randomised-response"},
        "income": {"type": "category", "values": names["income"], "mechanism": "as-is"},
    }
    plan = Plan.from_document({"collect": 1, "columns": columns})
    rows: list[list[Cell]] = []
    with TemporaryDirectory(prefix="privet-bench-") as scratch:
        true, sent = Path(scratch) / "true.csv", Path(scratch) / "sent.csv"
        people.write_csv(true)
        begun = time.process_time()
        with true.open("rb") as source, sent.open("wb") as target:
            done = perturb_csv(plan, source, target)
        rows.append([f"perturb {done.records:,} people", time.process_time() - begun, None, None])
        begun = time.process_time()
        with sent.open("rb") as source:
            answers = read(plan, source)
        rows.append(["read them", time.process_time() - begun, None, None])
        with true.open("rb") as source:
            codes = true_codes(plan, source)
    for name in ("age", "hours-per-week", "occupation", "race"):
        one = plan.columns[name]
        begun = time.process_time()
        got = estimate(one, answers.columns[name], bins=20 if one.numeric else None)
        spent = time.process_time() - begun
        at = bin_of(one, codes[name], 20) if one.numeric else codes[name]
        shares = np.bincount(at, minlength=len(got.shares)) / len(at)
        taken = None if got.perturbed is None else distance(got.perturbed, shares)
        rows.append([f"estimate {name}", spent, distance(got.shares, shares), taken])
    heads = {"step": "", "s of the processor": ".2f", "error": ".3f", "of the perturbed histogram": ".3f"}
    return Table("Adult from file to file, epsilon 2 for each question", heads, rows)


def beside(size: int) -> tuple[Table, str]:
    """Shares of occupations on Adult, by privet and by pure-ldp, from the same true answers."""
    frame = adult.load()
    names = sorted(frame["occupation"].unique().to_list())
    codes = np.array([names.index(value) for value in frame["occupation"].to_list()[:size]], dtype=np.int64)
    true = np.bincount(codes, minlength=len(names)) / len(codes)
    python, why = environment(PEER, ("pure_ldp.frequency_oracles",), NEEDS)
    rows: list[list[Cell]] = []
    for mechanism in ("k-randomised-response", "unary", "optimised-unary"):
        for epsilon in ("1", "3"):
            said = {"type": "category", "values": names, "mechanism": mechanism, "epsilon": epsilon}
            one = Plan.from_document({"collect": 1, "columns": {"a": said}}).columns["a"]
            begun = time.process_time()
            got = estimate(one, perturbed(one.channel, codes), confidence=None)
            spent = time.process_time() - begun
            theirs: dict[str, Any] = {}
            if python is not None:
                with TemporaryDirectory(prefix="privet-bench-") as scratch:
                    data = Path(scratch) / "codes.json"
                    data.write_text(json.dumps(codes.tolist()))
                    command = [str(python), "-I", str(HERE / "collect_child.py"), mechanism, epsilon]
                    try:
                        theirs = answered([*command, str(len(names)), str(data)])[1]
                    except ChildError as error:
                        why = f"pure-ldp did not come to its end: {str(error).strip().splitlines()[-1]}"
            other = None if not theirs else distance(np.array(theirs["shares"]), true)
            seconds = theirs.get("seconds")
            faster = None if seconds is None else seconds / max(spent, 1e-9)
            rows.append([mechanism, epsilon, spent, seconds, faster, distance(got.shares, true), other])
    heads = {
        "mechanism": "",
        "epsilon": "",
        "privet s": ".3f",
        "pure-ldp s": ".2f",
        "times faster": ".0f",
        "privet error": ".3f",
        "pure-ldp error": ".3f",
    }
    return Table(f"{len(codes):,} occupations of Adult beside pure-ldp", heads, rows), why
