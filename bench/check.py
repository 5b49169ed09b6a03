"""How fast a promise is checked on published rows, and against pyCANON where both define the same."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from statistics import median
from typing import TypeVar

import polars as pl

from bench import adult
from bench.outcome import Cell, Outcome, Table
from privet.core import PrivacyModel
from privet.engines.embedded import Embedded, Frame
from privet.models.alphak import AlphaKAnonymity
from privet.models.kanonymity import KAnonymity
from privet.models.lkc import LKC
from privet.policy import Policy
from privet.road import publish
from privet.samples import SAMPLES

Answer = TypeVar("Answer")
SENSITIVE = {"marital-status": ("Divorced", "Separated")}


def run(*, full: bool) -> Outcome:
    rows = 1_000_000 if full else 200_000
    return measured(rows, small=20_000 if full else 5_000, repeats=5 if full else 3)


def measured(rows: int, *, small: int, repeats: int) -> Outcome:
    policy = Policy.loads(SAMPLES["census"].policy(l=4, k=20, c="1"))
    published = publish(adult.blow_up(rows), policy).to_polars()
    engine = Embedded()
    tallying, tally = took(lambda: engine.tally_published(Frame(published), policy), repeats)
    models: dict[str, PrivacyModel] = {
        "k-anonymity": KAnonymity(k=20),
        "alpha-k-anonymity": AlphaKAnonymity(alpha=Fraction(1, 2), k=20, sensitive=SENSITIVE),
        **{f"lkc-privacy, L = {l}": LKC(l=l, k=20, c=Fraction(1, 2), sensitive=SENSITIVE) for l in (2, 4, 6)},
    }
    checks: list[list[Cell]] = [["counting the rows", tallying, tallying / rows * 1e9, ""]]
    for name, model in models.items():
        seconds, verdict = took(lambda model=model: model.check(tally), repeats)  # type: ignore[misc]
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
        tables.append(against_pycanon(published.head(small), policy, repeats))
    return Outcome(
        "check",
        "checking promises",
        f"In this process, medians of {repeats}, kernels compiled; the table was published under L = 4, "
        "K = 20, C = 100 %. pyCANON gets the same rows as pandas, privet counts them anew each time.",
        tuple(tables),
        () if len(tables) > 1 else ("pycanon is not installed: no comparison",),
    )


def against_pycanon(published: pl.DataFrame, policy: Policy, repeats: int) -> Table:
    """The two promises that pyCANON defines as we do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyCANON's own, about its dependencies
        from pycanon import anonymity

    quasi = [attribute.name for attribute in policy.quasi]
    frame = Embedded.frame(Frame(published)).to_pandas()
    engine = Embedded()

    def ours(model: PrivacyModel) -> dict[str, int | Fraction]:
        return dict(model.check(engine.tally_published(Frame(published), policy)).achieved)

    alpha_k = AlphaKAnonymity(alpha=Fraction(1, 2), k=1, sensitive=("marital-status",))
    pairs: dict[str, tuple[Callable[[], str], Callable[[], str]]] = {
        "k": (
            lambda: str(ours(KAnonymity(k=1))["k"]),
            lambda: str(anonymity.k_anonymity(frame, quasi)),
        ),
        "alpha, k": (
            lambda: "{c:.4f}, {k}".format(
                **{key: float(v) if key == "c" else v for key, v in ours(alpha_k).items()}
            ),
            lambda: "{:.4f}, {}".format(*anonymity.alpha_k_anonymity(frame, quasi, ["marital-status"])),
        ),
    }
    rows: list[list[Cell]] = []
    for name, (we, they) in pairs.items():
        (mine, found), (theirs, expected) = took(we, repeats), took(they, repeats)
        rows.append([name, mine, theirs, theirs / mine, found, "agree" if found == expected else expected])
    return Table(
        f"against pyCANON on {published.height:,} published rows",
        {"": "", "privet s": ".4f", "pycanon s": ".4f", "ratio": ".0f", "achieved": "", "pycanon's": ""},
        rows,
    )


def took(act: Callable[[], Answer], repeats: int) -> tuple[float, Answer]:
    """The median of several runs after one that loads what it needs, and the answer."""
    answer = act()
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - begun)
    return median(seconds), answer
