"""An auditor that believes neither search nor check: what leaves, judged by the naive definitions.

Search and check of a promise about classes share one thing, the definition of its verdict (`models/`). So it
is said once more here, for every such promise and every search, on the very table that is handed out.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from tests.contract.pairs import policy_of, table_of
from tests.contract.test_pairs import CLAIMED, CLASSES, SPLIT
from tests.models.naive import breaks
from tests.sweep import covering

import privet as pv
from privet.errors import UnsatisfiableError

SEEDS = range(3)
PAIRS = [(model, algorithm) for algorithm in CLAIMED if algorithm not in SPLIT for model in sorted(CLASSES)]
PAIRS = [(model, algorithm) for model, algorithm in PAIRS if model in CLAIMED[algorithm]]


def broken(model: Any, group: list[str | None], table: list[str | None]) -> bool:
    """Does this class break the promise? By its words, with lists and fractions."""
    share = {value: Fraction(group.count(value), len(group)) for value in group}
    match model.name:
        case "k-anonymity":
            return bool(len(group) < model.k)
        case "maximum-risk":
            return bool(Fraction(1, len(group)) > model.at_most)
        case "alpha-k-anonymity":
            return len(group) < model.k or any(one > model.alpha for one in share.values())
        case "confidence-bounding":
            return share.get("a", Fraction(0)) > Fraction(9, 10)  # as tests/contract/pairs.py says it
    return breaks(model, group, table)


def audited(published: pl.DataFrame, model: Any) -> list[list[str | None]]:
    """The classes that break the promise, of a table as its recipient reads it."""
    classes: dict[tuple[Any, ...], list[str | None]] = defaultdict(list)
    for *known, ill in published.select("age", "hours", "ill").iter_rows():
        classes[tuple(known)].append(ill)
    table = published.get_column("ill").to_list()
    return [group for group in classes.values() if broken(model, group, table)]


def test_the_auditor_knows_every_promise_about_classes() -> None:
    raw = pl.DataFrame({"age": [*range(9)], "hours": [1] * 9, "ill": ["a", *"bbbbbbbb"]})
    for name in sorted(CLASSES):
        (model,) = policy_of([name], "top-down").models
        assert audited(raw, model), f"{name}: nobody is alone with a value that is known, says the auditor"


@pytest.mark.parametrize(("model", "algorithm"), covering(PAIRS, 10))
def test_nothing_leaves_that_the_auditor_refuses(model: str, algorithm: str) -> None:
    policy = policy_of([model], algorithm)
    for seed in SEEDS:
        try:
            release = pv.publish(table_of(seed), policy)
        except UnsatisfiableError:
            continue  # of a random table, more than it can keep may be asked
        assert not audited(release.to_polars(), policy.models[0])
