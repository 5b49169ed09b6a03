"""Attacks on noisy tables: a mechanism without its noise is caught, and one with it stays within epsilon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.roads import noisy

import privet as pv
from privet.attackers import noisy as game
from privet.attackers.attack import Judged
from privet.attackers.suite import Attacked

POLICY = """
policy = 1
purpose = "a test"

[attributes]
job.role = "quasi"
job.hierarchy = {{ type = "tree", tree = {{ Any = {{ Hand = ["cook", "smith"], Desk = ["clerk"] }} }} }}
age = {{ role = "quasi", hierarchy = {{ type = "intervals", low = 18, high = 65 }} }}
ill = {{ role = "target", values = ["yes", "no"] }}

[[models]]
type = "differential-privacy"
epsilon = "{epsilon}"

[algorithm]
type = "{algorithm}"
noise = "exact"
output = "counts"
"""
CONTINGENCY, DIFFGEN = "noisy-contingency", "diffgen"


@dataclass
class Silent:
    """A source that draws no noise at all, whatever was paid for it."""

    label = "none"

    def laplace(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)

    def choose(self, scores: Any, *_: Any, **__: Any) -> int:
        return int(np.argmax(np.asarray(scores)))


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    noisy.ledger(tmp_path, 3000)
    path = tmp_path / "raw.csv"
    noisy.table(300).select("job", "age", "ill").write_csv(path)
    return path


def released(raw: Path, name: str, epsilon: str, algorithm: str = CONTINGENCY) -> Path:
    text = POLICY.format(epsilon=epsilon, algorithm=algorithm) + ("h = 4\n" if algorithm == DIFFGEN else "")
    policy = noisy.policy(raw.parent, text)
    return pv.publish(raw, policy).write(raw.parent / name)


def attacked(raw: Path, *folders: Path, only: str) -> Attacked:
    return pv.attack(*folders, raw=raw, only=[only])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("algorithm", [CONTINGENCY, DIFFGEN])
def test_membership_stays_within_epsilon(raw: Path, algorithm: str) -> None:
    (found,) = attacked(raw, released(raw, "out", "1/2", algorithm), only="membership").outcomes
    assert found.judged is Judged.WITHIN
    assert found.allowed == pytest.approx(exp(0.5) / (1 + exp(0.5)))
    assert found.baseline == 0.5


@pytest.mark.parametrize("algorithm", [CONTINGENCY, pytest.param(DIFFGEN, marks=pytest.mark.slow)])
def test_membership_is_certain_with_a_huge_epsilon(raw: Path, algorithm: str) -> None:
    (found,) = attacked(raw, released(raw, "out", "60", algorithm), only="membership").outcomes
    assert found.rate > 0.97  # and the promise allows it: it promises nothing


def test_membership_catches_a_mechanism_without_noise(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = released(raw, "out", "1/2")
    monkeypatch.setattr(game, "production", lambda _: Silent())
    found = attacked(raw, folder, only="membership")
    assert [one.attack for one in found.beyond] == ["membership"]
    assert found.beyond[0].rate == 1


def test_attribute_inference_catches_a_mechanism_that_tells_the_own_record(
    raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People who are the only ones of their kind: without noise their own record says all."""
    kinds = [(job, age) for job in ("cook", "smith", "clerk") for age in range(18, 65)]
    alone = [(job, age, ("yes", "no")[at % 2]) for at, (job, age) in enumerate(kinds)]
    pl.DataFrame(alone, schema=["job", "age", "ill"], orient="row").write_csv(raw)
    folder = released(raw, "out", "1/100")
    (kept,) = attacked(raw, folder, only="attribute-inference").outcomes
    assert kept.judged is Judged.WITHIN
    monkeypatch.setattr(game, "production", lambda _: Silent())
    (told,) = attacked(raw, folder, only="attribute-inference").outcomes
    assert told.rate == 1
    assert told.judged is Judged.BEYOND


def test_averaging_sees_through_repeated_noise(raw: Path) -> None:
    folders = [released(raw, f"out{at}", "2") for at in range(9)]
    (single,) = attacked(raw, folders[0], only="averaging").outcomes
    (many,) = attacked(raw, *folders, only="averaging").outcomes
    assert many.rate > single.rate + 0.1
    assert many.goal.endswith("from 9 noisy releases")
    assert single.judged is many.judged is Judged.WITHIN
    assert many.allowed is not None
    assert many.allowed > 0.99  # nine times two: the ledger has it, and so does the bound
    assert "exact in" in many.note


def test_counts_without_noise_are_beyond_what_their_epsilon_allows(raw: Path) -> None:
    folder = released(raw, "out", "1/2")
    true = pl.read_csv(raw).group_by("job", "age", "ill").len(name="count")
    made = pl.read_csv(folder / "data.csv")
    assert {"job", "age", "ill", "count"} == set(made.columns)
    true.select(made.columns).write_csv(folder / "data.csv")
    found = attacked(raw, folder, only="averaging")
    assert found.beyond
    assert found.beyond[0].rate == 1


def test_noisy_releases_of_other_cells_have_no_mean(raw: Path) -> None:
    first, second = released(raw, "a", "20", DIFFGEN), released(raw, "b", "1")
    found = attacked(raw, first, second, only="averaging")
    assert found.not_tried[0][1].startswith("the releases do not have the same cells")


def test_nothing_is_spent_by_an_attack(raw: Path) -> None:
    folder = released(raw, "out", "1/2")
    book = raw.parent / "ledger.sqlite"
    before = pv.Ledger(book).releases()
    attacked(raw, folder, only="membership")
    assert pv.Ledger(book).releases() == before


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_membership_stays_within_epsilon_over_many_tables(tmp_path: Path, epsilon: str) -> None:
    noisy.ledger(tmp_path, 3000)
    for seed in range(5):
        draw = np.random.default_rng(seed)
        path = tmp_path / "raw.csv"
        table = noisy.table(200).select("job", "age", "ill")
        table[draw.permutation(200)[: 20 + 30 * seed]].write_csv(path)
        folder = released(path, f"out{seed}", epsilon, [CONTINGENCY, DIFFGEN][seed % 2])
        for only in ("membership", "averaging", "attribute-inference"):
            assert pv.attack(folder, raw=path, only=[only], seed=seed).holds
    assert replace(noisy.policy(tmp_path), purpose="x").purpose == "x"
