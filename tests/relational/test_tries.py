"""A weaker promise loses no more: top-down begins under stronger promises too, and goes on from there."""

from __future__ import annotations

import pytest

import privet as pv
from privet.core import Step
from privet.engines.embedded import Embedded
from privet.errors import PolicyError
from privet.evidence.notes import cuts_after
from privet.measure.utility import losses, mean_lm
from privet.policy.notation import algorithm
from privet.relational.topdown import TopDown
from privet.samples import SAMPLES

POLICY = """policy = 1
[attributes]
sex = { role = "quasi" }
age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { type = "prefix", keep = [3, 1] } }
[[models]]
type = "k-anonymity"
k = 5
"""


def lost(k: int, tries: int) -> tuple[float, tuple[Step, ...]]:
    engine = Embedded()
    policy = pv.Policy.loads(POLICY.replace("k = 5", f"k = {k}"))
    raw = SAMPLES["patients"].generate(1_000, 0).select("sex", "age", "zip")
    tally = engine.tally(engine.read(raw, policy.form), policy).tally
    found = TopDown(tries=tries).search(tally, policy)
    return mean_lm(losses(tally, found.recoding)), found.steps  # type: ignore[arg-type]


def test_a_weaker_promise_loses_no_more() -> None:
    """Issue 19, line 6: 69 % at k = 5, and 35 % at k = 10 of the same table."""
    alone = {k: lost(k, 1)[0] for k in (5, 10)}
    assert alone[5] > alone[10]
    assert lost(5, 6)[0] <= alone[10]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("k", [2, 5, 20])
def test_more_tries_lose_no_more(k: int) -> None:
    found = [lost(k, tries)[0] for tries in (1, 2, 6)]
    assert found == sorted(found, reverse=True)


def test_the_log_begins_at_the_roots() -> None:
    steps = lost(5, 6)[1]
    assert all(cuts_after(steps))


def test_at_least_one_try() -> None:
    with pytest.raises(PolicyError, match="tries"):
        algorithm("top-down", tries=0)
