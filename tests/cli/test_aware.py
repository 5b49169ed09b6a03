"""`privet risk --algorithm-aware`: is a search coincident? Where it is not, the attack is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.tries import seldom

from privet.samples import SAMPLES

Run: TypeAlias = Callable[..., Any]

POLICY = """\
policy = 1
[attributes]
age = { role = "quasi" }
ill = { role = "sensitive" }
[[models]]
type = "entropy-l-diversity"
l = 2
sensitive = ["ill"]
[algorithm]
type = "ALGORITHM"
"""


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{30 + at},{'abc'[at % 3]}" for at in range(12)]
    (tmp_path / "people.csv").write_text("age,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def asked(privet: Run, algorithm: str, *more: str) -> Any:
    Path("policy.toml").write_text(POLICY.replace("ALGORITHM", algorithm), encoding="utf-8")
    return privet("risk", "people.csv", "policy.toml", "--algorithm-aware", *more)


@pytest.mark.parametrize("algorithm", seldom(["mondrian", "bucketisation"], ["mondrian"]))
def test_the_attack_is_shown_with_the_search_that_is_asked_about(
    privet: Run, people: Path, algorithm: str
) -> None:
    ran = asked(privet, algorithm)
    assert ran.code == 0
    assert f"{algorithm} is not coincident" in ran.out
    assert "two of whom share a value: their class shows a value with a chance of 2/5" in ran.out
    assert "who knows the algorithm knows it with 1\n" in ran.out
    found = asked(privet, algorithm, "--json").answer["algorithm_aware"]
    assert (found["always"], found["example"]["by"]) == (False, algorithm)


@pytest.mark.parametrize("algorithm", ["coincident", "safe-lattice", "anatomy"])
def test_a_safe_search_is_said_to_be_safe(privet: Run, people: Path, algorithm: str) -> None:
    ran = asked(privet, algorithm)
    assert ran.code == 0
    assert f"{algorithm}: whoever knows it learns no more than the release shows" in ran.out
    assert "not coincident" not in ran.out


def test_it_is_for_tables(privet: Run, people: Path) -> None:
    sample = SAMPLES["trips-city"]
    sample.generate(50, 1).write_csv("trips.csv")
    Path("trips.toml").write_text(sample.policy(), encoding="utf-8")
    ran = privet("risk", "trips.csv", "trips.toml", "--algorithm-aware")
    assert ran.code == 2
    assert "--algorithm-aware: is tried with tables, not with trajectories" in ran.err
