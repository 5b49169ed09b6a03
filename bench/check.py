"""How fast a promise is checked on published rows, and against pyCANON where both define the same."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from math import isclose
from statistics import median
from typing import TypeVar

import polars as pl

from bench import adult
from bench.outcome import Cell, Outcome, Table
from privet.core import PrivacyModel
from privet.engines.embedded import Embedded, Frame
from privet.models.alphak import AlphaKAnonymity
from privet.models.disclosure import DeltaDisclosure
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.lkc import LKC
from privet.models.presence import DeltaPresence, KMap
from privet.models.psensitive import PSensitiveKAnonymity
from privet.models.risk import AverageRisk, MaximumRisk, RecordsAtRisk, SampleUniqueness
from privet.models.tcloseness import Distance, TCloseness
from privet.policy.values import Policy
from privet.roads import publish
from privet.samples import SAMPLES

Answer = TypeVar("Answer")
ENOUGH = 5  # seconds of repeating
SENSITIVE = {"marital-status": ("Divorced", "Separated")}


def run(*, full: bool) -> Outcome:
    if full:
        return measured(1_000_000, ls=(2, 4, 6), small=20_000, repeats=5)
    return measured(100_000, ls=(2, 4), small=2_000, repeats=3)


def measured(rows: int, *, ls: Sequence[int], small: int, repeats: int) -> Outcome:
    policy = Policy.loads(SAMPLES["census"].policy(l=4, k=20, c="1"))
    published = publish(adult.blow_up(rows), policy).to_polars()
    engine = Embedded()
    tallying, tally = took(lambda: engine.tally_published(Frame(published), policy), repeats)
    models: dict[str, PrivacyModel] = {
        "k-anonymity": KAnonymity(k=20),
        "alpha-k-anonymity": AlphaKAnonymity(alpha=Fraction(1, 2), k=20, sensitive=SENSITIVE),
        **class_models(),
        **{f"lkc-privacy, L = {l}": LKC(l=l, k=20, c=Fraction(1, 2), sensitive=SENSITIVE) for l in ls},
    }
    checks: list[list[Cell]] = [["counting the rows", tallying, tallying / rows * 1e9, ""]]
    for name, model in models.items():
        seconds, verdict = took(partial(model.check, tally), repeats)
        found = ", ".join(f"{key} {value}" for key, value in verdict.achieved.items() if " of " not in key)
        checks.append([name, seconds, seconds / rows * 1e9, found])
    tables = [
        Table(
            f"on {rows:,} published rows, 13 quasi-identifiers",
            {"": "", "s": ".3f", "ns a row": ".0f", "achieved": ""},
            checks,
        )
    ]
    if find_spec("pycanon") is not None:
        tables.append(against_pycanon("published", published.head(small), policy, repeats))
        tables.append(against_pycanon("raw", adult.blow_up(small), policy, repeats))
    return Outcome(
        "check",
        "checking promises",
        f"In this process, medians of {repeats}, kernels compiled; the table was published under L = 4, "
        "K = 20, C = 100 %. pyCANON gets the same rows as pandas, privet counts them anew each time.",
        tuple(tables),
        () if len(tables) > 1 else ("pycanon is not installed: no comparison",),
    )


def class_models() -> dict[str, PrivacyModel]:
    """A promise of each kind about classes, whether the table keeps it or not: all are checked."""
    names, some = tuple(SENSITIVE), Fraction(1, 2)
    values = next(iter(SENSITIVE.values()))
    found: list[PrivacyModel] = [
        PSensitiveKAnonymity(p=2, k=20, sensitive=names),
        DistinctLDiversity(l=3, sensitive=names),
        EntropyLDiversity(l=2, sensitive=names),
        RecursiveLDiversity(c=Fraction(4), l=3, sensitive=names),
        *(TCloseness(t=some, sensitive=names, distance=d) for d in (Distance.EQUAL, Distance.KL)),
        BetaLikeness(beta=some, sensitive=names),
        EnhancedBetaLikeness(beta=some, sensitive=names),
        DeltaDisclosure(delta=some, sensitive=names),
        AverageRisk(at_most=some),
        MaximumRisk(at_most=some),
        RecordsAtRisk(above=some, at_most=some),
        SampleUniqueness(at_most=some),
        KMap(k=20, subset=names[0], values=values),
        DeltaPresence(low=Fraction(0), high=some, subset=names[0], values=values),
    ]
    return {
        f"{model.name}, {model.distance.value}" if isinstance(model, TCloseness) else model.name: model
        for model in found
    }


def against_pycanon(title: str, table: pl.DataFrame, policy: Policy, repeats: int) -> Table:
    """The two promises that pyCANON defines as we do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyCANON's own, about its dependencies
        from pycanon import anonymity

    quasi = [attribute.name for attribute in policy.quasi]
    every = tuple(SENSITIVE)
    engine = Embedded()
    frame = engine.arrow(Frame(table)).to_pandas()

    def ours(model: PrivacyModel) -> tuple[float, ...]:
        achieved = model.check(engine.tally_published(Frame(table), policy)).achieved
        return tuple(float(achieved[key]) for key in ("c", "k") if key in achieved)

    def theirs_k() -> tuple[float, ...]:
        return (float(anonymity.k_anonymity(frame, quasi)),)

    def theirs_alpha_k() -> tuple[float, ...]:
        return tuple(map(float, anonymity.alpha_k_anonymity(frame, quasi, list(every))))

    pairs: dict[str, tuple[PrivacyModel, Callable[[], tuple[float, ...]]]] = {
        "k": (KAnonymity(k=1), theirs_k),
        "alpha, k": (AlphaKAnonymity(alpha=Fraction(1, 2), k=1, sensitive=every), theirs_alpha_k),
    }
    rows: list[list[Cell]] = []
    for name, (model, they) in pairs.items():
        mine, found = took(partial(ours, model), repeats)
        theirs, expected = took(they, repeats)
        shown = ", ".join(f"{number:.4g}" for number in found)
        agree = all(isclose(a, b) for a, b in zip(found, expected, strict=True))
        rows.append([name, mine, theirs, theirs / mine, shown, "agree" if agree else "DIFFER"])
    return Table(
        f"against pyCANON on {table.height:,} {title} rows",
        {"": "", "privet s": ".4f", "pycanon s": ".4f", "ratio": ".1f", "achieved": "", "both": ""},
        rows,
    )


def took(act: Callable[[], Answer], repeats: int) -> tuple[float, Answer]:
    """The median of several runs, of fewer where they are slow, after one that loads what it needs."""
    answer = act()
    seconds: list[float] = []
    while not seconds or (len(seconds) < repeats and sum(seconds) < ENOUGH):
        begun = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - begun)
    return median(seconds), answer
