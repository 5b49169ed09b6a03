"""Persons with several rows: the attack finds them where rows were counted, and not where persons were."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.contract.test_persons import OF_PERSONS, VARIANTS, asked, visits
from tests.roads.test_persons import FORTY, LKC, policy
from tests.sweep import covering

import privet as pv
from privet.attackers.attack import Judged
from privet.errors import UnsatisfiableError

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


PERSONS = [
    (variant, algorithm)
    for variant in VARIANTS
    for algorithm in ("top-down", "optimal", "local", "mondrian")
    if variant.split(" ")[0] in OF_PERSONS[algorithm] and not variant.endswith("dropping")
]
RECORDS = ["several-rows", "linkage", "homogeneity", "skewness", "similarity", "presence"]


@pytest.mark.parametrize(("variant", "algorithm"), covering(PERSONS, 10))
def test_no_attack_gets_more_of_persons_than_is_promised(variant: str, algorithm: str) -> None:
    """And none cries wolf: who sees records only is held to what the promise says of records."""
    made = 0
    for seed in range(4):
        raw = visits(seed)
        try:
            release = pv.publish(raw, asked(variant, algorithm))
        except UnsatisfiableError:
            continue
        found = pv.attack(release, raw=raw, only=RECORDS, trials=100, seed=seed)
        assert found.holds, [one.to_dict() for one in found.beyond]
        made += 1
    assert made


def test_there_are_hundreds_of_them() -> None:
    assert len(PERSONS) * 4 >= 200


def test_rows_that_were_suppressed_are_nobody_s() -> None:
    tried = 0
    for seed in range(4):
        raw = visits(seed)
        release = pv.publish(raw, asked("k-anonymity dropping", "optimal"))
        found = pv.attack(release, raw=raw, only=["several-rows"])
        assert found.holds, [one.to_dict() for one in found.beyond]
        tried += len(found.of("several-rows"))
    assert tried


def test_it_finds_what_persons_have(tmp_path: Path) -> None:
    """Four of five persons of a class have the value, each in one of five rows: a share of rows hides it."""
    rows = [
        (f"p{who}", str(30 + who // 5), "F", "HIV" if at == 0 and who % 5 else "flu")
        for who in range(20)
        for at in range(5)
    ]
    data = pl.DataFrame(rows, schema=["pid", "age", "sex", "ill"], orient="row")
    out = pv.publish(data, policy(LKC.replace('"9/10"', '"1"'))).write(tmp_path / "out")
    path = out / "policy.toml"
    said = path.read_text(encoding="utf-8")
    path.write_text(said.replace('c = "1"', 'c = "1/2"').replace("c = 1\n", 'c = "1/2"\n'), encoding="utf-8")
    found = pv.attack(out, raw=data, only=["several-rows", "linkage", "homogeneity"])
    beyond = [one for one in found.beyond if one.goal.startswith("ill")]
    assert beyond
    assert {one.attack for one in beyond} == {"several-rows"}
    assert max(one.worst or 0 for one in beyond) == 4 / 5


def test_presence_is_of_persons() -> None:
    """Half of the rows leave, and everybody with one of them: who counts rows sees a share of one half."""
    rows = [(f"p{who}", "30", "F", "flu", "yes" if at % 2 else "no") for who in range(12) for at in range(4)]
    data = pl.DataFrame(rows, schema=["pid", "age", "sex", "ill", "study"], orient="row")

    def said(high: str) -> pv.Policy:
        return pv.Policy.loads(
            'policy = 1\nperson = "pid"\npublish_only = { study = ["yes"] }\n[attributes]\n'
            'pid = "identifier"\nage = "quasi"\nsex = "quasi"\nill = "other"\nstudy = "sensitive"\n'
            "[[models]]\n"
            f'type = "delta-presence"\nlow = 0\nhigh = "{high}"\nsubset = "study"\nvalues = ["yes"]\n'
            '[algorithm]\ntype = "optimal"\n'
        )

    release = pv.publish(data, said("1"))
    assert pv.attack(release, raw=data, only=["presence"]).of("presence")[0].worst == 1.0
    with pytest.raises(UnsatisfiableError):
        pv.publish(data, said("3/4"))
