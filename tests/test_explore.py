"""Exploring: runs are what publishing would make, and dominance is what its definition says."""

from __future__ import annotations

from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.pairs import easy, policy_of, table_of

import privet as pv
from privet.errors import PolicyError, UnsupportedError
from privet.exploration import dominates, explore, frontier, trials
from privet.report.explored import render

POINT = st.tuples(st.integers(0, 5).map(float), st.integers(0, 5).map(float))


def better(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """No worse in either, less in one: said the long way."""
    no_worse = all(a <= b for a, b in zip(one, other, strict=True))
    return no_worse and any(a < b for a, b in zip(one, other, strict=True))


@given(POINT, POINT)
def test_dominance_is_what_it_says(one: tuple[float, float], other: tuple[float, float]) -> None:
    assert dominates(one, other) == better(one, other)


@given(st.lists(POINT, max_size=12))
def test_the_frontier_is_whom_nobody_dominates(points: list[tuple[float, float]]) -> None:
    judged = {str(at): point for at, point in enumerate(points)}
    found = frontier(judged)
    assert set(found) == {
        name for name, point in judged.items() if not any(better(other, point) for other in points)
    }
    assert [judged[name] for name in found] == sorted(judged[name] for name in found)


class Counting:
    """An engine that counts how often it reads."""

    name = "embedded"

    def __init__(self) -> None:
        from privet.engines.embedded import Embedded

        self._engine, self.reads = Embedded(), 0

    def __getattr__(self, name: str) -> Any:
        if name == "read":
            self.reads += 1
        return getattr(self._engine, name)


def test_a_run_has_the_numbers_of_its_release_and_data_is_read_once() -> None:
    engine: Any = Counting()
    raw = table_of(3, rows=120)
    policy = policy_of(["k-anonymity", "distinct-l-diversity"], "mondrian")
    found = explore(
        raw,
        policy,
        algorithms=["mondrian", "optimal"],
        k=[2, 6],
        suppression=[Fraction(1, 10)],
        engine=engine,
    )
    assert engine.reads == 1
    assert [run["name"] for run in found["runs"]] == [
        "mondrian, k = 2",
        "mondrian, k = 6",
        "optimal, k = 2, suppression 10 %",
        "optimal, k = 6, suppression 10 %",
    ]
    for run in found["runs"]:
        models: list[Any] = [{"type": "k-anonymity", "k": run["k"]}, "distinct-l-diversity"]
        release = pv.publish(raw, policy_of(models, run["algorithm"]))
        assert run["loss"] == {name: release.measures["loss"][name] for name in run["loss"]}
        after = release.measures["risk"]["after"]
        assert (run["risk"]["highest"], run["risk"]["average"]) == (after["highest"], after["average"])
        assert run["risk"]["unique_records"] == after["unique_records"]
        assert run["classes"] == release.measures["classes"]["count"]
        assert run["suppressed_records"] == release.evidence["suppressed_records"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("risk", ["highest", "average", "unique"])
@pytest.mark.parametrize("loss", ["lm", "ncp", "discernibility"])
def test_every_run_is_on_the_frontier_or_dominated_by_it(risk: str, loss: str) -> None:
    policy = policy_of(["k-anonymity"], "top-down")
    found = explore(table_of(5, rows=80), policy, k=[2, 4], suppression=[Fraction(0)], risk=risk, loss=loss)
    name = "discernibility_ratio" if loss == "discernibility" else loss
    points = {
        run["name"]: (run["risk"][risk], run["loss"][name]) for run in found["runs"] if "refused" not in run
    }
    assert points
    for run in found["runs"]:
        if "refused" in run:
            continue
        above = {other for other, point in points.items() if better(point, points[run["name"]])}
        assert run["frontier"] == (not above)
        assert set(run["dominated_by"]) == above & set(found["frontier"])


def test_what_cannot_be_done_is_said_and_the_rest_is_done() -> None:
    policy = policy_of(["lkc-privacy"], "top-down")
    found = explore(easy(), policy, algorithms=["top-down", "mondrian"], k=[2, 1000])
    refused = {run["name"]: run["refused"] for run in found["runs"] if "refused" in run}
    assert "about each class by itself" in refused["mondrian, k = 2"]
    assert "cannot be kept" in refused["top-down, k = 1000"]
    assert found["frontier"] == ["top-down, k = 2"]


def test_a_policy_without_k_is_explored_once_for_each_algorithm() -> None:
    policy = policy_of(["distinct-l-diversity"], "mondrian")
    assert [trial.name for trial in trials(policy, ["mondrian", "local"])] == ["mondrian", "local"]
    with pytest.raises(PolicyError, match="no promise of this policy has a k"):
        list(trials(policy, k=[2]))


def test_what_is_not_said_is_chosen_by_the_policy() -> None:
    names = [
        trial.name for trial in trials(policy_of(["k-anonymity"], {"type": "mondrian", "relaxed": True}))
    ]
    assert names[:5] == [f"mondrian, k = {k}" for k in (2, 3, 5, 10, 20)]  # 3 is the policy's own
    assert "optimal, k = 3, suppression 5 %" in names
    assert len(names) == len(set(names))
    first = next(trials(policy_of(["k-anonymity"], {"type": "mondrian", "relaxed": True})))
    assert first.algorithm.relaxed is True  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("asked", "kind", "says"),
    [
        ({"algorithms": ["pram"]}, PolicyError, "algorithms: pram: keep is missing"),
        ({"algorithms": ["nothing"]}, PolicyError, "algorithms: nothing: type is one of"),
        ({"algorithms": ["anatomy"]}, UnsupportedError, "anatomy does something else"),
        ({"k": [0]}, PolicyError, "k: is at least 1"),
        ({"risk": "low"}, PolicyError, "risk is one of highest, average, unique, not 'low'"),
        ({"loss": "low"}, PolicyError, "loss is one of lm, ncp, discernibility, not 'low'"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        explore(easy(), policy_of(["k-anonymity"], "mondrian"), **asked)
    with pytest.raises(UnsupportedError, match="not by-construction"):
        explore(easy(), policy_of(["by-construction"], "pram"))


def test_a_population_is_explored_by_the_rows_that_leave() -> None:
    policy = policy_of(["k-map"], "optimal")
    found = explore(table_of(2, rows=100), policy, algorithms=["optimal"], k=[3], suppression=[Fraction(0)])
    release = pv.publish(table_of(2, rows=100), policy)
    assert found["records"] == release.evidence["records"] < 100
    assert found["runs"][0]["loss"]["lm"] == release.measures["loss"]["lm"]


class Page(HTMLParser):
    """What a page fetches, and its marks."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_report_shows_every_run_and_fetches_nothing() -> None:
    found = explore(table_of(3, rows=80), policy_of(["k-anonymity"], "top-down"), k=[2, 5, 300])
    made = [run for run in found["runs"] if "refused" not in run]
    text = render(found)
    page = Page(text)
    points = [tag for tag, attrs in page.tags if (attrs.get("class") or "").startswith("mark") and tag == "g"]
    assert len(points) == len(made)
    bars = [tag for tag, attrs in page.tags if (attrs.get("class") or "").startswith("mark") and tag == "li"]
    assert len(bars) == sum(
        run["utility"].get(name) is not None
        for run in made
        if run["name"] in found["best"]
        for name in ("query_error", "prediction_error", "marginals", "pairs", "correlations")
    )
    assert 1 <= len(found["best"]) <= 3
    assert len(bars) >= len(found["best"])
    assert all(run["name"] in text for run in found["runs"])
    assert not [attrs for _, attrs in page.tags if {"src", "srcset"} & set(attrs)]
    assert all((attrs.get("href") or "#").startswith("#") for _, attrs in page.tags)
    assert any("default-src 'none'" in str(attrs.get("content")) for tag, attrs in page.tags if tag == "meta")
    assert sum(tag == "script" for tag, _ in page.tags) == 1


def test_the_best_keep_the_policys_own_promise_and_lose_least() -> None:
    policy = policy_of(["k-anonymity"], "top-down")
    own = policy.models[0].k  # type: ignore[attr-defined]
    found = explore(table_of(3, rows=80), policy, k=[2, own, 20])
    runs = {run["name"]: run for run in found["runs"]}
    able = [run for run in found["runs"] if "refused" not in run and run["k"] in {None, own}]
    assert {runs[name]["k"] for name in found["best"]} <= {None, own}
    losses = [runs[name]["loss"]["lm"] for name in found["best"]]
    assert losses == sorted(losses)
    assert losses[0] == min(run["loss"]["lm"] for run in able if run["loss"]["lm"] is not None)


def test_no_value_of_the_data_is_in_what_is_found() -> None:
    raw = table_of(3).with_columns(pl.lit("canary").alias("ill"), pl.lit(987654).alias("age"))
    found = explore(raw, policy_of(["k-anonymity"], "top-down"), k=[2])
    assert "canary" not in str(found) + render(found)
    assert "987654" not in str(found) + render(found)
