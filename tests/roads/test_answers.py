"""Whatever is answered, on every road: a value with fields that shows itself, and that JSON can hold."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from privet.attackers import inference, membership
from privet.drafts.documents import drafted
from privet.samples import SAMPLES
from privet.samples.collections import COLLECTIONS

ROWS = {"patients": 60, "trips-metro": 60, "transcripts": 20, "baskets": 60}
SPENT = """policy = 1
[attributes]
age = { role = "quasi", hierarchy = { type = "intervals", low = 0, high = 120, unit = 1 } }
transfused = { role = "target", values = ["Y", "N"] }
[[models]]
type = "differential-privacy"
epsilon = "1"
[algorithm]
type = "diffgen"
h = 2
"""


def road(name: str, folder: Path) -> tuple[Any, pv.Policy]:
    """Data and a policy of that road."""
    sample = {"table": "patients", "anatomy": "patients", "noisy": "patients"}.get(name, name)
    data: Any = pv.sample(sample, rows=ROWS[sample], seed=1)
    if sample == "transcripts":
        path = folder / "data.json"
        path.write_text(json.dumps(data))
        data = path
    ready: dict[str, Any] = {**SAMPLES, **COLLECTIONS}
    policy = pv.Policy.loads(SPENT if name == "noisy" else ready[sample].policy())
    if name == "table":
        policy = replace(policy, models=(pv.KAnonymity(k=2),), algorithm=pv.TopDown())
    if name == "anatomy":
        promise = pv.DistinctLDiversity(l=2, sensitive=("surgery",))
        policy = replace(policy, models=(promise,), algorithm=pv.Anatomy())
    return data, policy


def released(data: Any, policy: pv.Policy, folder: Path) -> pv.Release:
    if policy.algorithm.spends is None:
        return pv.publish(data, policy)
    pv.Ledger(folder / "ledger.sqlite").open("d", Fraction(5))
    return pv.publish(data, replace(policy, ledger=pv.Purse(str(folder / "ledger.sqlite"), "d")))


def is_an_answer(value: Any) -> None:
    said, page = value.to_dict(), value._repr_html_()
    assert json.loads(json.dumps(said)) == said, "JSON holds it as it is"
    assert is_dataclass(value)
    assert fields(value)
    assert repr(value).startswith(f"{type(value).__name__}(")
    assert "object at 0x" not in repr(value)
    assert page.startswith(f"<table><caption>{type(value).__name__}</caption>")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["table", "anatomy", "noisy", "trips-metro", "transcripts", "baskets"])
def test_what_is_answered_is_a_value(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "ROUNDS", 10)  # how well an attack goes is not asked here
    monkeypatch.setattr(inference, "PEOPLE", 10)
    data, policy = road(name, tmp_path)
    release = released(data, policy, tmp_path)
    out = release.write(tmp_path / "out")
    if name != "noisy":  # whose promise is the same for everybody: both are refused
        is_an_answer(pv.risk(data, policy))
    is_an_answer(pv.compare(data, release))
    is_an_answer(pv.compare(data, out))
    if name not in {"noisy", "anatomy"}:  # which generalises nothing, and says so
        is_an_answer(pv.explain(out))
    is_an_answer(pv.verify(out))
    is_an_answer(pv.attack(release, raw=data, trials=5))
    if name == "table":
        is_an_answer(pv.explore(data, policy, k=[2], algorithms=["top-down"]))
        is_an_answer(pv.link(data.select("age", "sex"), out))
        is_an_answer(pv.draft(data))
    if name == "noisy":
        is_an_answer(pv.plan(policy, records=60, epsilon=["1"], h=[2]))
    if name == "transcripts":
        is_an_answer(drafted(data))
