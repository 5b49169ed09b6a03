"""Documents on the command line: every command, and what bad input is answered with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privet.samples.collections import COLLECTIONS

Privet = Callable[..., Any]

POLICY = """
policy = 1
kind = "documents"
[documents.record]
type = "student"
json = "$.students[*]"
xml = "/students/student"
[documents.types.student]
drop = ["id"]
qi = ["yob"]
sa = "gpa"
children = { courses = "course" }
[documents.types.course]
qi = ["course"]
sa = "grade"
[documents.attributes.gpa]
buckets = { from = 0, to = 4, width = "0.5" }
[[models]]
type = "document-l-diversity"
l = 2
[algorithm]
type = "ctoff"
"""


def student(n: int) -> dict[str, Any]:
    courses = [{"course": "CS1", "grade": "ABCD"[n % 4]}, {"course": "CS2", "grade": "DCBA"[n % 4]}]
    return {"id": f"S{n}", "yob": 1990 + n, "gpa": 0.5 * (n % 8), "courses": courses[: 1 + n % 2]}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "s.json").write_text(json.dumps({"students": [student(n) for n in range(12)]}))
    return tmp_path


def test_the_whole_road(place: Path, privet: Privet) -> None:
    assert privet("check", "s.json", "p.toml").code == 1
    made = privet("publish", "s.json", "p.toml", "-o", "out")
    assert made.code == 0, made.err
    assert "published 12 records in 4 columns" in made.out
    assert "    course" in made.out
    assert list(json.loads((place / "out/data.json").read_text())) == ["students"]
    assert privet("verify", "out").code == 0
    told = privet("compare", "s.json", "out")
    assert "12 of 12 that were looked at are true versions of an original" in told.out
    assert "every quasi-identifier in the tree" in privet("risk", "s.json", "p.toml").out
    assert "because vertices are gone" in privet("explain", "out").out
    report = (place / "out/report.html").read_text()
    assert "A published class as a tree" in report
    assert "What is left of the trees" in report
    for command in (
        ("compare", "s.json", "out"),
        ("explain", "out"),
        ("verify", "out"),
        ("risk", "s.json", "p.toml"),
    ):
        assert privet(*command, "--json").answer


def test_tree_anatomy(place: Path, privet: Privet) -> None:
    text = POLICY.replace("document-l", "anatomy-l").replace('"ctoff"', '"tree-anatomy"\nstyle = "v-v"')
    rule = (
        '[[models]]\ntype = "pm-privacy"\nrules = [{ value = "A", m = 2, p = "1/2", attribute = "grade" }]\n'
    )
    (place / "p.toml").write_text(text + rule)
    made = privet("publish", "s.json", "p.toml", "-o", "out")
    assert made.code == 0, made.err
    assert "of a person's vertices are published, on average" in made.out
    assert json.loads((place / "out/data.json").read_text())["method"] == "v-v"
    assert privet("verify", "out").code == 0
    assert "groups come from people of their own" in privet("compare", "s.json", "out").out
    assert privet("explain", "out").code == 0
    report = (place / "out/report.html").read_text()
    assert "Nobody is linked to 2 or more of “A” of grade" in report


@pytest.mark.parametrize("ending", ["json", "jsonl", "xml", "json.gz"])
@pytest.mark.parametrize("name", COLLECTIONS)
def test_samples(name: str, ending: str, place: Path, privet: Privet) -> None:
    made = privet("sample", name, "-o", f"raw.{ending}", "--policy", "fits.toml", "--rows", 30)
    assert made.code == 0, made.err
    assert privet("publish", f"raw.{ending}", "fits.toml", "-o", "out").code == 0
    assert (place / "out" / f"data.{ending}").is_file()
    assert privet("verify", "out").code == 0


def test_a_draft_decides_nothing_and_tells_no_value(place: Path, privet: Privet) -> None:
    told = privet("init", "s.json", "-o", "draft.toml")
    assert told.code == 0
    assert "drafted draft.toml for 12 records with 2 types of vertices" in told.out
    text = (place / "draft.toml").read_text()
    assert "$['students'][*]" in text
    assert 'children = { courses = "course" }  # 1 to 2, 1.5 on average' in text
    assert not [value for value in ("S1", "1991", "CS1") if f'"{value}"' in text + told.out]
    refused = privet("publish", "s.json", "draft.toml", "-o", "out")
    assert refused.code == 2
    assert (
        "documents.types.student: gpa is still undecided; it belongs into one of drop, qi, sa, keep"
        in refused.err
    )


def test_a_draft_becomes_a_policy(place: Path, privet: Privet) -> None:
    privet("init", "s.json", "-o", "draft.toml")
    text = (place / "draft.toml").read_text()
    decided = (
        text.replace('"id",', "")
        .replace("undecided = [", "qi = [")
        .replace('"gpa",', "")
        .replace('"grade",', "")
    )
    decided = decided.replace(
        "[documents.types.student]", '[documents.types.student]\ndrop = ["id"]\nsa = "gpa"'
    )
    decided = decided.replace("[documents.types.course]", '[documents.types.course]\nsa = "grade"')
    (place / "draft.toml").write_text(decided + '[[models]]\ntype = "document-l-diversity"\nl = 2\n')
    made = privet("publish", "s.json", "draft.toml", "-o", "out")
    assert made.code == 0, made.err


def test_flat_lines_are_a_table_and_nested_ones_are_not(place: Path, privet: Privet) -> None:
    (place / "flat.jsonl").write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
    (place / "deep.jsonl").write_text('{"a": 1, "b": [{"c": 1}]}\n{"a": 2}\n')
    privet("init", "flat.jsonl", "-o", "flat.toml")
    privet("init", "deep.jsonl", "-o", "deep.toml")
    privet("init", "flat.jsonl", "-o", "said.toml", "--kind", "documents")
    kinds = {
        name: 'kind = "documents"' in (place / f"{name}.toml").read_text()
        for name in ("flat", "deep", "said")
    }
    assert kinds == {"flat": False, "deep": True, "said": True}
    assert privet("init", "flat.jsonl", "-o", "x.toml", "--kind", "trees").code == 2


BOMB = """<?xml version="1.0"?>
<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<students><student yob="&b;" gpa="1"/></students>
"""
DEEP = '{"students": [' + '{"courses": [' * 10_000 + "]}" * 10_000 + "]}"
ONE = '{"students": [{"yob": 1990, "gpa": 1}]}'
BAD: dict[str, tuple[str, str, str]] = {
    "malformed JSON": ("json", '{"students": [{"yob": 1990,\n "gpa": }]}', "line 2, column"),
    "cut off": ("json", '{"students": [{"yob": 1990', "s.json"),
    "malformed XML": ("xml", "<students>\n<student yob='1'></students>", "line 2, column"),
    "entities": ("xml", BOMB, "s.xml"),
    "deep JSON": ("json", DEEP, "s.json"),
    "deep XML": ("xml", "<students>" + "<student>" * 10_000 + "</student>" * 10_000 + "</students>", "s.xml"),
    "two sensitive values": ("json", '{"students": [{"yob": 1, "gpa": [1, 2]}]}', "gpa"),
    "a key twice": ("json", '{"students": [{"yob": 1, "gpa": 1, "gpa": 2}]}', "gpa"),
    "two in XML": ("xml", "<students><student gpa='1'><gpa>2</gpa></student></students>", "gpa"),
    "mixed roots": ("xml", "<students><student yob='1' gpa='1'/><teacher yob='1'/></students>", "s.xml"),
    "no object": ("json", '{"students": [{"yob": 1, "gpa": 1}, 7]}', "record 2"),
    "a field of nobody": ("json", '{"students": [{"yob": 1, "gpa": 1, "shoe": 41}]}', "shoe"),
    "no number": ("json", '{"students": [{"yob": 1, "gpa": "good"}]}', "is no number"),
    "outside": ("json", '{"students": [{"yob": 1, "gpa": 7}]}', "outside all buckets"),
    "too few": ("json", ONE, "1 records cannot form a class of 2"),
    "nobody": ("json", '{"students": []}', "s.json"),
    "empty JSON": ("json", "", "empty"),
    "empty XML": ("xml", "", "empty"),
    "not text": ("json", "\x00\x01", "s.json"),
    "elsewhere": ("json", '{"people": [{"yob": 1}]}', "s.json"),
}


@pytest.mark.parametrize("algorithm", ["ctoff", "clustree", "tree-anatomy"])
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_answered_and_nothing_is_written(
    what: str, algorithm: str, place: Path, privet: Privet
) -> None:
    ending, text, said = BAD[what]
    (place / f"s.{ending}").write_text(text)
    policy = POLICY.replace('"ctoff"', f'"{algorithm}"')
    if algorithm == "tree-anatomy":
        policy, said = policy.replace("document-l", "anatomy-l"), said.replace("class", "group")
    (place / "p.toml").write_text(policy)
    before = sorted(path.name for path in place.iterdir())
    ended = privet("publish", f"s.{ending}", "p.toml", "-o", "out")
    assert ended.code in {1, 2}, ended.err
    assert said in ended.err, ended.err
    assert "internal" not in ended.err
    assert "good" not in ended.err
    assert sorted(path.name for path in place.iterdir()) == before
    assert privet("check", f"s.{ending}", "p.toml").code in {0, 1, 2}


def test_a_promise_that_cannot_be_kept_says_why(place: Path, privet: Privet) -> None:
    people = [{**student(n), "gpa": 3.1} for n in range(12)]
    (place / "s.json").write_text(json.dumps({"students": people}))
    ended = privet("publish", "s.json", "p.toml", "-o", "out")
    assert ended.code == 1
    assert "nothing would be left to publish" in ended.err
    assert "field gpa: 1 different values, fewer than l = 2" in ended.err
    assert not (place / "out").exists()


def test_fields_that_nobody_described_can_be_dropped(place: Path, privet: Privet) -> None:
    people = [{**student(n), "shoe": 40 + n} for n in range(12)]
    (place / "s.json").write_text(json.dumps({"students": people}))
    assert privet("publish", "s.json", "p.toml", "-o", "out").code == 2
    (place / "p.toml").write_text(
        POLICY.replace("[documents.record]", '[documents]\nundeclared = "drop"\n[documents.record]')
    )
    assert privet("publish", "s.json", "p.toml", "-o", "out").code == 0
    assert "shoe" not in (place / "out/data.json").read_text()
    assert privet("verify", "out").code == 0
