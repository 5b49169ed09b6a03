"""Persons with several rows: the attack finds them where rows were counted, and not where persons were."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.roads.test_persons import FORTY, LKC, policy

import privet as pv
from privet.attackers.attack import Judged

K = 'type = "k-anonymity"\nk = {}'
ACROSS = 'person = "pid"\nacross = true'


@pytest.mark.parametrize(
    ("model", "top"),
    [(K.format(5), 'person = "pid"'), (LKC, 'person = "pid"'), (LKC.replace('"9/10"', '"1"'), ACROSS)],
)
def test_it_stays_within_a_promise_about_persons(model: str, top: str, tmp_path: Path) -> None:
    out = pv.publish(FORTY, policy(model, top=top)).write(tmp_path / "out")
    found = pv.attack(out, raw=FORTY, only=["several-rows", "linkage", "homogeneity"])
    assert found.of("several-rows")
    assert found.holds
    assert any(one.allowed == 1 / 5 for one in found.of("several-rows"))
    assert any("several rows" in one.goal for one in found.of("several-rows")) == ("across" in top)


def test_it_finds_persons_where_rows_were_counted(tmp_path: Path) -> None:
    """Five rows of each person: k = 5 of rows is one person, though the policy says k = 5 of persons."""
    out = pv.publish(FORTY, policy(K.format(1))).write(tmp_path / "out")
    path = out / "policy.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("k = 1", "k = 5"), encoding="utf-8")
    found = pv.attack(out, raw=FORTY, only=["several-rows", "linkage"])
    assert any(one.judged is Judged.BEYOND and one.worst == 1 for one in found.of("several-rows"))
    assert not any(one.judged is Judged.BEYOND for one in found.of("linkage")), "records tell nothing of it"


def test_values_of_two_rows_find_somebody_whom_one_row_does_not(tmp_path: Path) -> None:
    rows = [("p1", "30", "F", "a"), ("p1", "40", "M", "b")]
    rows += [(f"q{at}", age, sex, "a") for at, (age, sex) in enumerate([("30", "F"), ("40", "M")] * 4)]
    data = pl.DataFrame(rows, schema=["pid", "age", "sex", "ill"], orient="row")
    model = 'type = "lkc-privacy"\nl = 2\nk = {}\nc = "1"\nsensitive = {{ ill = ["a"] }}'
    out = pv.publish(data, policy(model.format(1), top=ACROSS)).write(tmp_path / "out")
    path = out / "policy.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("k = 1", "k = 4"), encoding="utf-8")
    found = pv.attack(out, raw=data, only=["several-rows"]).of("several-rows")
    assert {one.goal for one in found if one.judged is Judged.BEYOND} == {
        "which person it is of whom 2 of several rows is known"
    }


def test_without_persons_it_is_not_tried(tmp_path: Path) -> None:
    out = pv.publish(FORTY, policy(top='rows = "persons"')).write(tmp_path / "out")
    found = pv.attack(out, raw=FORTY, only=["several-rows"])
    assert [name for name, _ in found.not_tried] == ["several-rows"]
