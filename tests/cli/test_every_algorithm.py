"""What every algorithm for tables releases goes through every command, without a fault of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.pairs import every, policy_of, table_of
from tests.contract.test_pairs import CLAIMED

from privet.measure import classify

RELEASING = [name for name in every("algorithms") if CLAIMED[name]]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("algorithm", RELEASING)
def test_a_release_goes_through_every_command(
    algorithm: str, privet: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(classify, "TREES", 4)  # it must go through, and need not guess well
    promise = next(
        name for name in ("k-anonymity", *sorted(CLAIMED[algorithm])) if name in CLAIMED[algorithm]
    )
    policy = policy_of([promise], algorithm, town={"role": "target"})
    table_of(1, rows=60).write_csv("raw.csv")
    Path("policy.toml").write_text(policy.dumps(), "utf-8")
    for at, line in enumerate(
        (
            "publish raw.csv policy.toml -o out",
            "verify out",
            "risk raw.csv policy.toml",
            "risk out/data.csv out/policy.toml",
            "compare raw.csv out",
            "compare raw.csv out --classify",
            "explain out",
        )
    ):
        # A table of buckets has other columns than its policy: risk says so, and explain has nothing to say.
        other = (0, 2) if line.startswith(("risk out", "explain")) else (0,)
        if line.endswith("--classify") and policy.algorithm.road == "anatomy":
            other = (2,)  # values leave as they are, and no class of them could be guessed better or worse
        # Every command is read by people with one half of the algorithms, and by programs with the other.
        told = (at + RELEASING.index(algorithm)) % 2
        ran = privet(*line.split(), *(("--json",) if told else ()))
        assert ran.code in other, f"{line}: {ran.code} {ran.err}"
        if told:
            assert isinstance(ran.answer, dict)
        elif not ran.code:
            assert "None" not in ran.out
            assert ran.out.strip()
    assert "<html" in Path("out/report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("algorithm", "promise", "says"),
    [
        ("pram", "by-construction", "values that were replaced"),
        ("sampling", "by-construction", "records that were left out"),
        ("anatomy", "distinct-l-diversity", "records in 20 buckets"),
        ("mondrian", "k-anonymity", "detail lost on average (LM)"),
    ],
)
def test_what_was_lost_is_said_in_the_words_of_how_it_was_lost(  # noqa: PLR0917 - fixtures
    algorithm: str,
    promise: str,
    says: str,
    privet: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    table_of(1).write_csv("raw.csv")
    Path("policy.toml").write_text(policy_of([promise], algorithm).dumps(), "utf-8")
    assert privet("publish", "raw.csv", "policy.toml", "-o", "out").code == 0
    told = privet("compare", "raw.csv", "out").out
    assert says in told
    found = privet("compare", "raw.csv", "out", "--json").answer
    if algorithm in {"pram", "sampling"}:
        assert found["loss"]["lm"] is None
        assert found["loss"]["changed"] == (0 if algorithm == "sampling" else pytest.approx(0.4, abs=0.3))
    if algorithm == "anatomy":  # values leave as they are, and so does the risk of being found
        assert found["risk"]["after"] == found["risk"]["before"]
    explained = privet("explain", "out")
    assert explained.code == (0 if algorithm == "mondrian" else 2)
    assert ("weighs whole tables" in explained.out) == (algorithm == "mondrian")
