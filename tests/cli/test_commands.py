"""Every command does its job, for people and for programs."""

from __future__ import annotations

import json
import re
import sqlite3
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest

Run: TypeAlias = Callable[..., Any]  # the fixtures that run a command


def test_the_demonstration_tells_what_happened_with_real_numbers(privet: Run) -> None:
    ran = privet("demo")
    assert ran.code == 0
    assert "30,000 patients who do not exist" in ran.out
    assert "data.csv is not the file that the evidence was made for" in ran.out
    assert "next:" in ran.out
    assert not ran.err


def test_the_demonstration_can_be_kept_and_looked_at(privet: Run, tmp_path: Path) -> None:
    kept = tmp_path / "tour"
    story = privet("demo", "--keep", kept, "--json").answer
    assert story["verified"]
    assert story["tampered"]["caught"]
    assert 0 < story["unique"] <= story["records"]
    raw, published = story["first"]["raw"], story["first"]["published"]  # of one and the same patient
    assert (published["sex"], published["zip"][0], published["admitted"]) == (
        raw["sex"], raw["zip"][0], raw["admitted"][:4],
    )  # fmt: skip
    low, high = published["age"].strip("[)").split("-")
    assert int(low) <= int(raw["age"]) < int(high)
    assert privet("verify", kept / "out").code == 0
    assert privet("verify", kept / "tampered").code == 1
    again = privet("demo", "--keep", kept)
    assert again.code == 2
    assert "is not empty" in again.err


def test_check_says_that_raw_data_breaks_the_promise(privet: Run, place: Path) -> None:
    ran = privet("check", "patients.csv", "hospital.toml")
    assert ran.code == 1
    assert "BROKEN  lkc-privacy (l = 2, k = 3" in ran.out
    assert "privet publish patients.csv hospital.toml -o out" in ran.out
    answer = privet("check", "patients.csv", "hospital.toml", "--json")
    assert answer.code == 1
    assert not answer.answer["holds"]
    assert answer.answer["promises"][0]["achieved"]["k"] == 1


def test_check_holds_on_a_table_of_equal_rows(privet: Run, tmp_path: Path) -> None:
    (tmp_path / "same.csv").write_text("a,s\n" + "x,y\n" * 5)
    (tmp_path / "p.toml").write_text(
        'policy = 1\n[attributes]\na = "quasi"\ns = "sensitive"\n[[models]]\ntype = "k-anonymity"\nk = 5\n'
    )
    ran = privet("check", tmp_path / "same.csv", tmp_path / "p.toml")
    assert ran.code == 0
    assert "holds   k-anonymity (k = 5): found k = 5" in ran.out


def test_publish_makes_a_release_that_verifies(privet: Run, place: Path) -> None:
    ran = privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    assert ran.code == 0, ran.err
    assert "published 400 records in 7 columns" in ran.out
    assert "out.private stays with you" in ran.out
    assert "privet verify out" in ran.out
    assert sorted(p.name for p in (place / "out").iterdir()) == [
        "data.csv",
        "evidence.json",
        "policy.toml",
        "report.html",
    ]
    verified = privet("verify", "out")
    assert verified.code == 0
    assert "all hold" in verified.out


def test_publish_answers_programs(privet: Run, place: Path) -> None:
    ran = privet("publish", "patients.csv", "hospital.toml", "-o", "out", "--json")
    assert ran.code == 0
    assert ran.err == ""
    assert ran.answer["records"] == 400
    assert ran.answer["private"] == "out.private"
    assert ran.answer["promises"][0]["holds"]
    meeting, caution = ran.answer["warnings"]  # the sample grows its ranges from the data
    assert meeting.startswith("age: its intervals meet at values of records")
    assert caution.startswith("age: where its intervals begin and end comes from the data")


def test_publish_warns_of_a_second_version_of_the_same_data(privet: Run, place: Path) -> None:
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "one").code == 0
    again = privet("publish", "patients.csv", "hospital.toml", "-o", "two")
    assert again.code == 0
    assert "warning: one is a release of the same data" in again.err
    answer = privet("publish", "patients.csv", "hospital.toml", "-o", "three", "--json").answer
    assert sum("a release of the same data" in warning for warning in answer["warnings"]) == 2
    replaced = privet("publish", "patients.csv", "hospital.toml", "-o", "one", "--overwrite")
    assert "warning: one " not in replaced.err


def test_publish_replaces_a_release_only_when_told(privet: Run, place: Path) -> None:
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "out").code == 0
    before = (place / "out" / "evidence.json").read_bytes()
    refused = privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    assert refused.code == 2
    assert "--overwrite" in refused.err
    assert (place / "out" / "evidence.json").read_bytes() == before
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "out", "--overwrite").code == 0
    assert not list(place.glob(".out*"))


def test_notes_of_a_release_that_was_handed_away_are_not_lost(privet: Run, place: Path) -> None:
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "out").code == 0
    (place / "out").rename(place / "handed-away")
    ran = privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    assert ran.code == 2
    assert "out.private" in ran.err


def test_the_next_batch_is_published_like_the_first(privet: Run, place: Path, table: pl.DataFrame) -> None:
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "out").code == 0
    table.sample(fraction=1.0, shuffle=True, seed=3).write_csv(place / "next.csv")
    ran = privet("publish", "next.csv", "hospital.toml", "--like", "out", "-o", "out2")
    assert ran.code == 0, ran.err
    one, two = (pl.read_csv(place / name / "data.csv", infer_schema=False) for name in ("out", "out2"))
    assert set(one["age"]) == set(two["age"])


def test_a_batch_that_breaks_the_promise_under_the_old_recoding_is_refused(
    privet: Run, place: Path, table: pl.DataFrame
) -> None:
    said = (place / "hospital.toml").read_text("utf-8")
    (place / "hospital.toml").write_text(
        said.replace("policy = 1", 'policy = 1\nabsent = "allowed"'), "utf-8"
    )
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "out").code == 0
    table.head(2).write_csv(place / "next.csv")
    ran = privet("publish", "next.csv", "hospital.toml", "--like", "out", "-o", "out2")
    assert ran.code == 1
    assert "publish without --like" in ran.err
    assert not (place / "out2").exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "arrow"])
def test_every_format_comes_in_and_goes_out(privet: Run, place: Path, kind: str) -> None:
    assert privet("sample", "patients", "-o", f"p.{kind}", "--rows", 300).code == 0
    ran = privet("publish", f"p.{kind}", "hospital.toml", "-o", "out")
    assert ran.code == 0, ran.err
    assert (place / "out" / f"data.{kind}").is_file()
    assert privet("publish", f"p.{kind}", "hospital.toml", "-o", "other", "--to", "parquet").code == 0
    assert pl.read_parquet(place / "other" / "data.parquet").height == 300


def test_a_file_is_read_as_the_options_say(privet: Run, place: Path, table: pl.DataFrame) -> None:
    text = table.with_columns(pl.lit("Zoë").alias("name")).write_csv(separator="|")
    (place / "odd.dat").write_bytes(text.encode("latin-1"))
    said = ("--format", "csv", "--delimiter", "|", "--encoding", "latin-1", "--null", "NA", "--null", "")
    ran = privet("publish", "odd.dat", "hospital.toml", "-o", "out", *said)
    assert ran.code == 0, ran.err
    assert (place / "out" / "data.csv").read_text("latin-1").startswith("job|sex")


def test_a_database_is_a_source(privet: Run, place: Path, table: pl.DataFrame) -> None:
    with sqlite3.connect(place / "a.db") as connection:
        connection.execute(f"CREATE TABLE p ({', '.join(table.columns)})")
        rows = table.cast(pl.String).rows()  # sqlite3 no longer writes dates by itself
        connection.executemany(f"INSERT INTO p VALUES ({', '.join('?' * table.width)})", rows)
    connection.close()
    query = "SELECT * FROM p WHERE name <> 'CANARY'"
    ran = privet("publish", "sqlite:///a.db", "hospital.toml", "-o", "out", "--query", query)
    assert ran.code == 0, ran.err
    assert "CANARY" not in (place / "out" / "policy.toml").read_text()
    assert privet("verify", "out").code == 0


def test_the_plain_engine_can_be_chosen(privet: Run, place: Path) -> None:
    ran = privet("publish", "patients.csv", "hospital.toml", "-o", "out", "--engine", "plain")
    assert ran.code == 0, ran.err
    assert privet("verify", "out", "--engine", "plain").code == 0
    unknown = privet("publish", "patients.csv", "hospital.toml", "-o", "x", "--engine", "spqr")
    assert unknown.code == 2
    assert "--engine: type is one of embedded, plain, spark, not 'spqr'" in unknown.err


def test_verify_names_everything_that_is_wrong(privet: Run, place: Path) -> None:
    privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    data = place / "out" / "data.csv"
    data.write_bytes(data.read_bytes() + data.read_bytes().splitlines()[-1] + b"\n")
    (place / "out" / "extra.txt").write_text("more")
    ran = privet("verify", "out")
    assert ran.code == 1
    assert "error: out: data.csv is not the file that the evidence was made for" in ran.problems
    assert "error: out: extra.txt is not part of the release" in ran.problems
    answer = privet("verify", "out", "--json")
    assert answer.code == 1
    assert not answer.answer["holds"]
    assert len(answer.answer["complaints"]) >= 2


def test_a_release_without_evidence_does_not_verify(privet: Run, place: Path) -> None:
    privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    (place / "out" / "evidence.json").unlink()
    assert privet("verify", "out").code == 1
    assert privet("explain", "out").code == 2
    assert privet("verify", "nowhere").code == 2


def test_risk_compare_and_explain_answer_people_and_programs(privet: Run, place: Path) -> None:
    privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    risk = privet("risk", "patients.csv", "hospital.toml")
    assert (risk.code, risk.err) == (0, "")
    assert "400 records, known by job, sex, age, zip, admitted" in risk.out
    assert privet("risk", "patients.csv", "hospital.toml", "--json").answer["records"] == 400
    lost = privet("compare", "patients.csv", "out")
    assert (lost.code, lost.err) == (0, "")
    assert "detail lost on average (LM)" in lost.out
    assert 0 <= privet("compare", "patients.csv", "out", "--json").answer["loss"]["lm"] <= 1
    why = privet("explain", "out")
    assert (why.code, why.err) == (0, "")
    assert "would break lkc-privacy" in why.out
    assert "what one step more would save" in why.out
    assert privet("explain", "out", "--json").answer["records"] == 400


def test_explain_works_without_the_private_notes(privet: Run, place: Path) -> None:
    privet("publish", "patients.csv", "hospital.toml", "-o", "out")
    (place / "out.private").rename(place / "elsewhere")
    ran = privet("explain", "out")
    assert ran.code == 0, ran.err
    assert "the private notes do not lie beside the release" in ran.out


def test_samples_are_the_same_for_the_same_seed(privet: Run, place: Path) -> None:
    for name, seed in (("a.csv", 5), ("b.csv", 5), ("c.csv", 6)):
        assert privet("sample", "census", "-o", name, "--rows", 50, "--seed", seed).code == 0
    assert (place / "a.csv").read_bytes() == (place / "b.csv").read_bytes()
    assert (place / "a.csv").read_bytes() != (place / "c.csv").read_bytes()


def test_a_sample_is_not_written_over_a_file(privet: Run, place: Path) -> None:
    before = (place / "patients.csv").read_bytes()
    ran = privet("sample", "patients", "-o", "patients.csv")
    assert ran.code == 2
    assert (place / "patients.csv").read_bytes() == before
    assert privet("sample", "patients", "-o", "patients.csv", "--overwrite").code == 0
    taken = privet("sample", "patients", "-o", "new.csv", "--policy", "hospital.toml")
    assert taken.code == 2
    assert not (place / "new.csv").exists()


def test_the_adult_files_are_converted(privet: Run, tmp_path: Path) -> None:
    line = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    (tmp_path / "adult.data").write_text(f"{line}2174, 0, 40, United-States, <=50K\n" * 3)
    out = tmp_path / "adult.csv"
    ran = privet("sample", "adult", "--from", tmp_path / "adult.data", "-o", out, "--json")
    assert ran.code == 0
    assert ran.answer["records"] == 3
    assert pl.read_csv(out).columns[0] == "age"
    assert privet("sample", "adult", "-o", tmp_path / "b.csv").code == 2
    assert privet("sample", "unicorns", "-o", tmp_path / "b.csv").code == 2
    assert privet("sample", "census", "-o", tmp_path / "b.csv", "--from", out).code == 2
    assert not (tmp_path / "b.csv").exists()


def test_list_shows_what_is_installed(privet: Run) -> None:
    answer = privet("list", "--json").answer
    names = {kind: {thing["name"] for thing in things} for kind, things in answer.items()}
    assert {"lkc-privacy", "k-anonymity", "confidence-bounding", "alpha-k-anonymity"} <= names["models"]
    assert "top-down" in names["algorithms"]
    assert {"embedded", "plain"} <= names["engines"]
    assert {"tree", "intervals", "prefix", "dates"} <= names["hierarchies"]
    assert {"pseudonym", "hash", "mask", "shift"} <= names["disguises"]
    assert {"patients", "census", "adult"} <= names["samples"]
    assert names["measures"]
    assert all(thing["summary"] for things in answer.values() for thing in things)
    assert "lkc-privacy" in privet("list").out


def test_the_version_is_said(privet: Run, process: Run) -> None:
    said = privet("--version").out
    assert re.fullmatch(r"privet \S+ \(engine embedded: polars \S+; .*loops.*; Python \S+\)\n", said)
    assert process("--version").out == privet("--version").out


def test_a_draft_becomes_a_policy_by_deciding(privet: Run, place: Path) -> None:
    ran = privet("init", "patients.csv", "-o", "draft.toml")
    assert ran.code == 0
    text = (place / "draft.toml").read_text()
    assert {spec["role"] for spec in tomllib.loads(text)["attributes"].values()} == {"undecided"}
    refused = privet("publish", "patients.csv", "draft.toml", "-o", "out")
    assert refused.code == 2
    for column in tomllib.loads(text)["attributes"]:
        assert f"attributes.{column}: the role is still undecided" in refused.err
    assert "models: at least one promise" in refused.err
    decided = text
    for line in text.splitlines():
        if "{ role = " in line:
            guess = line.split("# ")[1].split("?")[0]
            decided = decided.replace(line, line.replace("undecided", guess))
    decided += '[[models]]\ntype = "k-anonymity"\nk = 3\n'
    decided = decided.replace("# rows =", "rows =")  # names repeat
    (place / "draft.toml").write_text(decided)
    published = privet("publish", "patients.csv", "draft.toml", "-o", "out")
    assert published.code == 0, published.err
    assert json.loads((place / "out" / "evidence.json").read_text())["records"] == 400
    assert privet("init", "patients.csv", "-o", "draft.toml").code == 2
    assert privet("init", "patients.csv", "-o", "other.toml", "--json").answer["records"] == 400
