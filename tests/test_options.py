"""An option that a call does not have is refused alike on every road, with the near one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import privet as pv
from privet.assess import link
from privet.registry import installed
from privet.roads import options
from privet.samples import SAMPLES

POLICY = pv.Policy.loads(SAMPLES["patients"].policy())


@pytest.mark.parametrize("name", installed("roads"))
@pytest.mark.parametrize("call", ["risk", "compare", "explain"])
def test_every_road_declares_its_options(name: str, call: str) -> None:
    found: Any = getattr(installed("roads")[name].load()(), call)
    meant = {"risk": "show_values", "compare": "classify", "explain": "show_values"}[call]
    wrong = f"{meant[:-2]}x"
    with pytest.raises(pv.OptionError) as caught:
        options(found, POLICY, {wrong: True})
    assert str(caught.value) == f"{call} of table: {wrong}: unknown option; did you mean {meant}?"
    assert options(found, POLICY, {meant: False}) == {meant: False}


def test_a_misspelt_option_is_a_type_error_too() -> None:
    table = SAMPLES["patients"].generate(50, 0)
    with pytest.raises(
        pv.OptionError, match=r"risk of table: treshold: unknown option; did you mean threshold"
    ):
        pv.risk(table, POLICY, treshold=1)
    with pytest.raises(TypeError):
        pv.publish(table, POLICY, lik="out")  # type: ignore[call-arg]


def test_whatever_is_called_says_which_option_was_meant() -> None:
    table: Any = SAMPLES["patients"].generate(50, 0)
    wrong: tuple[tuple[Any, tuple[Any, ...], str, str], ...] = (
        (pv.publish, (table, POLICY), "lik", "like"),
        (pv.check, (table, POLICY), "engin", "engine"),
        (pv.explore, (table, POLICY), "algorithm", "algorithms"),
        (pv.verify, ("out",), "engin", "engine"),
        (link, (table, table), "polic", "policy"),
        (pv.attack, ("out",), "trails", "trials"),
        (pv.plan, (POLICY,), "record", "records"),
        (pv.draft, (table,), "path", "paths"),
    )
    for call, given, said, meant in wrong:
        with pytest.raises(pv.OptionError) as caught:
            call(*given, **{said: None})
        assert str(caught.value) == f"{call.__name__}: {said}: unknown option; did you mean {meant}?"


def test_on_the_road_of_paths(tmp_path: Path) -> None:
    ready = SAMPLES["trips-metro"]
    policy, table = pv.Policy.loads(ready.policy()), ready.generate(200, 0)
    pv.publish(table, policy).write(tmp_path / "out")
    with pytest.raises(
        pv.OptionError, match=r"risk of trajectories: trails: unknown option; did you mean trials"
    ):
        pv.risk(table, policy, trails=3)
    with pytest.raises(pv.OptionError, match="compare of trajectories: clasify"):
        pv.compare(table, tmp_path / "out", clasify=True)
    with pytest.raises(pv.OptionError, match="explain of trajectories: show_value"):
        pv.explain(tmp_path / "out", show_value=True)


@pytest.mark.parametrize("name", sorted(set(installed("roads")) - {"table"}))
def test_a_classifier_is_refused_where_there_is_nothing_to_predict(name: str, tmp_path: Path) -> None:
    """It was left out without a word: nobody may think that it was trained and found nothing."""
    compare: Any = installed("roads")[name].load()().compare
    with pytest.raises(pv.UnsupportedError, match="--classify"):
        compare(None, tmp_path, POLICY, engine=None, classify=True)
