"""Paths on a cluster: by person, the same rows and the same figures as the embedded engine."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.engines.test_spark_same import figures

import privet as pv
from privet.errors import InputError, UnsupportedError

pytestmark = pytest.mark.services
FORMS = {
    "column": 'form = "column"\npath = "path"',
    "visits": 'form = "visits"\nperson = "who"\nplace = "where"\ntime = "when"',
}
SEARCHES = ["suppress-points", "suppress-points-locally", "lightest"]


def rules(form: str, search: str = "suppress-points", more: str = "", attributes: str = "") -> pv.Policy:
    person = 'who = { role = "identifier" }\n' if form == "column" else ""
    return pv.Policy.loads(
        f'policy = 1\nkind = "trajectories"\n[trajectories]\n{FORMS.get(form, form)}\n{more}\n'
        f'[attributes]\n{person}ill = {{ role = "sensitive" }}\n{attributes}\n'
        '[[models]]\ntype = "lkc-privacy"\nl = 2\nk = 3\nc = "1/2"\n'
        f'sensitive = {{ ill = ["HIV", "é"] }}\n[algorithm]\ntype = "{search}"\n'
    )


def visits(persons: int, seed: int) -> pl.DataFrame:
    """Some persons are alike, some have a null beside their path; several alphabets, a formula."""
    mixed, rows = Random(seed), []
    for who in range(persons):
        ill = mixed.choice(["flu", "flu", "HIV", "\u00e9", "e\u0301", None])
        for when in sorted(mixed.sample(range(5), mixed.randint(1, 4))):
            where = mixed.choice(["a", "教", "=b", "stop-12", "é"])
            rows.append((f"p{who}", dt.date(2024, 1, 1 + when), where, ill))
    mixed.shuffle(rows)
    return pl.DataFrame(rows, schema=["who", "when", "where", "ill"], orient="row")


def column(persons: int, seed: int) -> pl.DataFrame:
    by = visits(persons, seed).sort("who", "when")
    point = pl.concat_str(pl.col("where"), pl.lit("@"), pl.col("when").cast(pl.String))
    return by.group_by("who", "ill", maintain_order=True).agg(point.str.join(" -> ").alias("path"))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("form", FORMS)
def test_same_rows_and_figures(session: Any, tmp_path: Path, form: str, search: str) -> None:
    frame = (column if form == "column" else visits)(90, seed=len(search))
    frame.write_parquet(tmp_path / "raw.parquet")
    spark, policy = pv.Spark(session, staging=tmp_path), rules(form, search)
    for name, engine in (("here", "embedded"), ("there", spark)):
        pv.publish(tmp_path / "raw.parquet", policy, engine=engine).write(tmp_path / name)
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    there = pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet")
    assert there.equals(here)
    assert figures(tmp_path / "there") == figures(tmp_path / "here")
    for engine in ("embedded", spark):
        assert pv.verify(tmp_path / "there", engine=engine).complaints == ()
        assert pv.check(tmp_path / "raw.parquet", policy, engine=engine) == pv.check(
            tmp_path / "raw.parquet", policy
        )
    for ask in (pv.risk, lambda raw, rules, **how: pv.compare(raw, tmp_path / "there", **how)):
        assert ask(tmp_path / "raw.parquet", policy, engine=spark) == ask(tmp_path / "raw.parquet", policy)


TIMES: dict[str, list[Any]] = {
    "numbers": [1, 2, 10, 20],
    "of no zone": [dt.datetime(2024, 1, 1, hour, 30, 0, 120000) for hour in range(4)],  # noqa: DTZ001
    "moments": [dt.datetime(2024, 1, 1, hour, tzinfo=dt.UTC) for hour in range(4)],
    "texts": ["07:05", "08:30", "23:59"],
}


@pytest.mark.parametrize("name", TIMES)
def test_times_and_places_of_any_type(session: Any, tmp_path: Path, name: str) -> None:
    """Places hold what a careless join would part: quotes, brackets, letters in two compositions."""
    mixed, times, rows = Random(7), TIMES[name], list[Any]()
    for who in range(50):
        for when in sorted(mixed.sample(range(len(times)), mixed.randint(1, 3))):
            rows.append((who, times[when], mixed.choice(['a","b', "[", "\\", "é", "e\u0301"]), "HIV"))
    frame = pl.DataFrame(rows, schema=["who", "when", "where", "ill"], orient="row")
    policy = pv.Policy.loads(
        'policy = 1\nkind = "trajectories"\nabsent = "allowed"\n[trajectories]\n'
        f"{FORMS['visits']}\n[[models]]\ntype = 'lkc-privacy'\nl = 2\nk = 3\nc = '1/1'\n"
        "sensitive = { ill = ['flu'] }\n[attributes]\nill = { role = 'sensitive' }\n"
    )
    frame.write_parquet(tmp_path / "raw.parquet")
    spark = pv.Spark(session, staging=tmp_path / "staging")
    for to, engine in (("here", "embedded"), ("there", spark)):
        pv.publish(tmp_path / "raw.parquet", policy, engine=engine).write(tmp_path / to)
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    assert pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet").equals(here)
    assert figures(tmp_path / "there") == figures(tmp_path / "here")
    assert pv.verify(tmp_path / "there", engine=spark).complaints == ()


@pytest.mark.parametrize("form", FORMS)
def test_who_has_no_visit_left_is_left_out_or_kept_alike(session: Any, tmp_path: Path, form: str) -> None:
    frame = (column if form == "column" else visits)(30, seed=5)
    spark, policy = pv.Spark(session, staging=tmp_path), rules(form, more='empty = "drop"')
    pv.publish(frame, policy).write(tmp_path / "here")
    pv.publish(frame, policy, engine=spark).write(tmp_path / "there")
    assert figures(tmp_path / "there") | {"notes": 0} == figures(tmp_path / "here") | {"notes": 0}
    assert pv.verify(tmp_path / "there", engine=spark).complaints == ()


@pytest.mark.parametrize("form", FORMS)
def test_rows_in_another_order_are_noticed(session: Any, tmp_path: Path, form: str) -> None:
    frame, spark = (column if form == "column" else visits)(40, seed=3), pv.Spark(session, staging=tmp_path)
    pv.publish(frame, rules(form), engine=spark, output="parquet").write(tmp_path / "out")
    data = next((tmp_path / "out/data.parquet").iterdir())
    pl.read_parquet(data).reverse().write_parquet(data)
    found = pv.verify(tmp_path / "out", engine=spark)
    assert any("canonical order" in one for one in found.complaints)


WRONG: dict[str, tuple[pl.DataFrame, str]] = {
    "nobody": (
        pl.DataFrame({"who": [None, "b"], "when": [1, 1], "where": ["x", "y"], "ill": ["a", "b"]}),
        "who",
    ),
    "nowhere": (
        pl.DataFrame({"who": ["a", "b"], "when": [1, 1], "where": [None, "y"], "ill": ["a", "b"]}),
        "where: nothing",
    ),
    "twice": (
        pl.DataFrame({"who": ["a", "a"], "when": [1, 1], "where": ["x", "x"], "ill": ["a", "a"]}),
        "the same visit twice",
    ),
    "at two places": (
        pl.DataFrame({"who": ["a", "a"], "when": [1, 1], "where": ["x", "y"], "ill": ["a", "a"]}),
        "two places at one time",
    ),
    "changing": (
        pl.DataFrame({"who": ["a", "a"], "when": [1, 2], "where": ["x", "y"], "ill": ["a", "b"]}),
        "two values where a person has one",
    ),
    "odd times": (
        pl.DataFrame({"who": ["a", "a"], "when": ["1", "soon"], "where": ["x", "y"], "ill": ["a", "a"]}),
        "cannot be put in order",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_a_visit_is_refused_as_elsewhere(session: Any, tmp_path: Path, name: str) -> None:
    frame, said = WRONG[name]
    with pytest.raises(InputError, match=said):
        pv.publish(frame, rules("visits"), engine=pv.Spark(session, staging=tmp_path))
    with pytest.raises(InputError):
        pv.publish(frame, rules("visits"))


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (rules("visits", attributes='note = { role = "other" }'), "attributes.note"),
        (rules("visits", attributes="age = { role = 'quasi' }"), "age"),
        (rules(FORMS["visits"].replace("visits", "readings")), "readings"),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused_by_name_before_any_work(policy: pv.Policy, said: str) -> None:
    for ask in (pv.publish, pv.check, pv.risk):
        with pytest.raises(UnsupportedError, match=said):
            ask("there/is/no/such/file.parquet", policy, engine=pv.Spark(master="sc://nowhere:1"))


def test_more_paths_than_may_come_here_are_refused(session: Any, tmp_path: Path) -> None:
    for few in (pv.Spark(session, staging=tmp_path, cells=20), pv.Spark(session, staging=tmp_path, values=5)):
        with pytest.raises(UnsupportedError, match=r"pv\.Spark"):
            pv.publish(visits(60, 1), rules("visits"), engine=few)
