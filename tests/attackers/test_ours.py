"""Over random releases of every model by every algorithm, no attack gets more than the promise allows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.contract.pairs import policy_of, table_of
from tests.contract.test_pairs import CLAIMED, CLASSES, WHOLE
from tests.sweep import covering

import privet as pv
from privet.attackers.attack import Judged
from privet.errors import UnsatisfiableError

# Minimality runs every search again, dozens of times.
QUICK = [
    "composition",
    "definetti",
    "downcoding",
    "homogeneity",
    "linkage",
    "order",
    "presence",
    "register",
    "similarity",
    "singling-out",
    "skewness",
]
PAIRS = [
    (model, algorithm)
    for algorithm, models in CLAIMED.items()
    for model in sorted(models & (CLASSES | WHOLE | {"personalised-privacy"}))
]


def attacked(model: str, algorithm: str, seed: int, only: list[str]) -> pv.Release | None:
    """The release of a random table, attacked; None where its promise cannot be kept."""
    raw = table_of(seed)
    try:
        release = pv.publish(raw, policy_of([model], algorithm))
    except UnsatisfiableError:
        return None
    people = raw.select("age", "hours")
    found = pv.attack(release, raw=raw, known=people, only=only, trials=200, seed=seed)
    assert found.holds, [one.to_dict() for one in found.beyond]
    for one in found.outcomes:
        low, high = one.between
        assert 0 <= low <= one.rate <= high <= 1
        assert 0 <= one.baseline <= 1
        assert (one.allowed is None) == (one.judged is Judged.NOT_COVERED)
    return release


TABLES = ["0", "1"]


@pytest.mark.parametrize(
    ("model", "algorithm", "seed"), covering([(*pair, seed) for pair in PAIRS for seed in TABLES], 15)
)
def test_no_attack_gets_more_than_is_promised(model: str, algorithm: str, seed: str) -> None:
    attacked(model, algorithm, int(seed), QUICK)


def test_there_are_hundreds_of_releases() -> None:
    assert len(PAIRS) * len(TABLES) >= 200


@pytest.mark.slow
@pytest.mark.parametrize(("model", "algorithm"), PAIRS)
def test_no_attack_gets_more_than_is_promised_over_thousands(model: str, algorithm: str) -> None:
    made = [attacked(model, algorithm, seed, QUICK) for seed in range(100, 110)]
    attacked(model, algorithm, 7, ["minimality"])
    assert len(made) == 10


def test_what_is_promised_is_what_is_judged_by() -> None:
    """Every promise that bounds an attack on classes is the bound of one, so that `within` says something."""
    tight = {"type": "delta-disclosure", "delta": 1, "sensitive": ["ill"]}  # with 3 any share is allowed
    judged = set()
    models: list[Any] = [
        *sorted(CLASSES - {"delta-disclosure"}),
        "lkc-privacy",
        "personalised-privacy",
        tight,
    ]
    for model in models:
        raw = table_of(1)
        found = pv.attack(pv.publish(raw, policy_of([model], "optimal")), raw=raw, only=QUICK, trials=50)
        judged |= {one.promise for one in found.outcomes if one.judged is Judged.WITHIN}
    assert judged == CLASSES | {"lkc-privacy", "personalised-privacy", "a shuffle of each class"}


@pytest.mark.parametrize(
    ("promise", "goal"),
    [
        ({"type": "delta-presence", "low": 0, "high": "2/3"}, "whether a person"),
        ({"type": "k-map", "k": 4}, "the person of the population"),
    ],
)
def test_presence_finds_who_is_in_a_release_that_does_not_hide_it(promise: dict[str, Any], goal: str) -> None:
    """The same people once under the promise, and once under one that asks for nothing."""
    raw = table_of(5, rows=60)
    study = {"subset": "study", "values": ["yes"]}
    kept = pv.publish(raw, policy_of([{**promise, **study}], "top-down"))
    found = next(one for one in pv.attack(kept, raw=raw, only=["presence"]).outcomes if goal in one.goal)
    assert found.judged is Judged.WITHIN
    assert found.promise == promise["type"]
    loose = {"type": "delta-presence", "low": 0, "high": 1, **study}
    told = pv.publish(raw, policy_of([loose, {"type": "k-map", "k": 1, **study}], "top-down"))
    strict = policy_of([{**promise, **study}], "top-down")
    weak = next(
        one
        for one in pv.attack(replace(told, policy=strict), raw=raw, only=["presence"]).outcomes
        if goal in one.goal
    )
    assert weak.judged is Judged.BEYOND
    assert weak.worst == 1


def test_an_order_that_a_policy_keeps_is_read_off() -> None:
    raw = table_of(3, rows=200)
    policy = policy_of(["k-anonymity"], "top-down")
    kept = pv.publish(raw, replace(policy, order=type(policy.order)("kept")))
    assert [one.attack for one in pv.attack(kept, raw=raw).beyond] == ["order"]
    assert pv.attack(pv.publish(raw, policy), raw=raw).holds


def test_a_release_that_breaks_its_promise_is_found_from_its_folder(tmp_path: Path) -> None:
    """The raw table under a policy that promises something: what a forger would hand out."""
    raw = table_of(0)
    policy = policy_of([{"type": "k-anonymity", "k": 5}], "top-down")
    folder = pv.publish(raw, policy).write(tmp_path / "out")
    assert pv.attack(folder, trials=50).holds
    raw.select("age", "hours", "ill").write_csv(folder / "data.csv")
    forged = pv.attack(folder, trials=50)
    assert {one.attack for one in forged.beyond} == {"linkage"}
    assert isinstance(pl.read_csv(folder / "data.csv"), pl.DataFrame)
