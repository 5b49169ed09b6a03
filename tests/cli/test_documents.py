"""Documents on the command line: every command, and what bad input is answered with."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tries import seldom

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
identifier = ["id"]
quasi = ["yob"]
sensitive = "gpa"
children = { courses = "course" }
[documents.types.course]
quasi = ["course"]
sensitive = "grade"
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


# Every collection in both notations, and every ending once: how an ending is read depends on no collection.
SAMPLED = [*((name, ending) for name in COLLECTIONS for ending in ("json", "xml"))]
MORE = [("transcripts", "jsonl"), ("encounters", "json.gz")]
SAMPLED += MORE


@pytest.mark.parametrize(
    ("name", "ending"),
    seldom(SAMPLED, [*zip(COLLECTIONS, ("xml", "json", "xml", "json"), strict=True), *MORE]),
)
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
    assert '[documents.types.student.children]\ncourses = "course"  # 1 to 2 in each, 1.5 on average' in text
    assert not [value for value in ("S1", "1991", "CS1") if f'"{value}"' in text + told.out]
    refused = privet("publish", "s.json", "draft.toml", "-o", "out")
    assert refused.code == 2
    assert (
        "documents.types.student: gpa is still undecided; it belongs into one of identifier," in refused.err
    )


def test_a_draft_becomes_a_policy(place: Path, privet: Privet) -> None:
    privet("init", "s.json", "-o", "draft.toml")
    text = (place / "draft.toml").read_text()
    decided = (
        text.replace('"id",', "")
        .replace("undecided = [", "quasi = [")
        .replace('"gpa",', "")
        .replace('"grade",', "")
    )
    decided = decided.replace(
        "[documents.types.student]", '[documents.types.student]\nidentifier = ["id"]\nsensitive = "gpa"'
    )
    decided = decided.replace("[documents.types.course]", '[documents.types.course]\nsensitive = "grade"')
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
PACKED = gzip.compress(json.dumps({"students": [{"yob": n, "gpa": 1} for n in range(99)]}).encode(), mtime=0)
BAD: dict[str, tuple[str, str | bytes, str]] = {
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
    "no number": ("json", '{"students": [{"yob": 1, "gpa": "good"}]}', "is not a number"),
    "outside": ("json", '{"students": [{"yob": 1, "gpa": 7}]}', "outside all buckets"),
    "too few": ("json", ONE, "1 records cannot form a class of 2"),
    "nobody": ("json", '{"students": []}', "s.json"),
    "empty JSON": ("json", "", "empty"),
    "empty XML": ("xml", "", "empty"),
    "not text": ("json", "\x00\x01", "s.json"),
    "bytes": ("json", '{"students": [{"yob": "é", "gpa": 1}]}'.encode("latin-1"), "are not UTF-8"),
    "bytes in XML": ("xml", "<students><student yob='é'/></students>".encode("latin-1"), "line 1, column"),
    "an encoding": ("xml", '<?xml version="1.0" encoding="x"?><students/>', "save it as UTF-8"),
    "endless": ("json", '{"students": [{"yob": ' + "9" * 100_000 + "}]}", "digits without an end"),
    "huge": ("json", '{"students": [{"yob": 1, "gpa": 1e999999999}]}', "is not a number"),
    "children twice": ("json", '{"students": [{"courses": [], "courses": []}]}', "are there twice"),
    "half a package": ("json.gz", PACKED[:40], "cannot be unpacked"),
    "a broken package": ("json.gz", PACKED[:20] + b"\xff" * 20 + PACKED[40:], "cannot be unpacked"),
    "no package": ("xml.gz", b"<students/>", "cannot be unpacked"),
    "half a package of XML": ("xml.gz", PACKED[:40], "cannot be unpacked"),
    "elsewhere": ("json", '{"people": [{"yob": 1}]}', "s.json"),
}


# Both roads read with the same readers; what a search refuses, every search is asked.
ASKED = [(what, algorithm) for what in BAD for algorithm in ("ctoff", "tree-anatomy")]
ASKED += [("too few", "clustree")]


@pytest.mark.parametrize(("what", "algorithm"), ASKED)
def test_bad_input_is_answered_and_nothing_is_written(
    what: str, algorithm: str, place: Path, privet: Privet
) -> None:
    ending, text, said = BAD[what]
    (place / f"s.{ending}").write_bytes(text if isinstance(text, bytes) else text.encode())
    policy = POLICY.replace('"ctoff"', f'"{algorithm}"')
    if algorithm == "tree-anatomy":
        policy, said = policy.replace("document-l", "anatomy-l"), said.replace("class", "group")
    (place / "p.toml").write_text(policy)
    before = sorted(path.name for path in place.iterdir())
    ended = privet("publish", f"s.{ending}", "p.toml", "-o", "out")
    assert ended.code == (1 if what == "too few" else 2), ended.err
    assert said in ended.err, ended.err
    assert "internal" not in ended.err
    assert "good" not in ended.err
    assert sorted(path.name for path in place.iterdir()) == before
    assert privet("check", f"s.{ending}", "p.toml").code == (1 if what == "too few" else 2)


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


# What a release answers.

HALVES = POLICY.replace("document-l-diversity", "anatomy-l-diversity").replace(
    'type = "ctoff"', 'type = "tree-anatomy"\nstyle = "t-t"'
)
RULED = HALVES.replace(
    "[algorithm]",
    '[[models]]\ntype = "pm-privacy"\nrules = [{ attribute = "grade", value = "A", m = 1, p = "1/9" }, '
    '{ attribute = "grade", value = "B", m = 7, p = "1/2" }, '
    '{ attribute = "grade", value = "C", m = 1, p = "1" }]\n[algorithm]',
)


@pytest.fixture
def halved(place: Path, privet: Privet) -> Path:
    (place / "h.toml").write_text(HALVES)
    assert privet("publish", "s.json", "h.toml", "-o", "halves").code == 0
    return place


def test_counts_of_a_release(halved: Path, privet: Privet) -> None:
    pattern = '{"courses": [{"course": "CS1"}]}'
    told = privet("documents", "count", "halves", pattern, "--raw", "s.json")
    assert told.code == 0, told.err
    assert "about 12.0 people match, by the release" in told.out
    assert "12 do in the original; the estimate is right by 100.0 %" in told.out
    (halved / "asked.json").write_text(pattern)
    found = json.loads(privet("documents", "count", "halves", "asked.json", "--json").out)
    assert found == {"kind": "documents", "counted": "people", "estimated": 12.0, "exactly": "12"}
    found = json.loads(privet("documents", "count", "halves", pattern, "--vertices", "--json").out)
    assert found["exactly"] == "12"
    assert privet("publish", "s.json", "p.toml", "-o", "out").code == 0
    refused = privet("documents", "count", "out", pattern)
    assert refused.code == 2
    assert "give the raw data, too" in refused.err
    told = privet("documents", "count", "out", '{"yob": {"from": 1990, "to": 1996}}', "--raw", "s.json")
    assert "6 do in the original" in told.out


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("{", "PATTERN: line 1, column 2: this is not JSON"),
        ("nofile.json", "there is no such file"),
        ('{"gpa": 1, "gpa": 2}', "an object has a key twice"),
        ('{"name": "x"}', "pattern: name: unknown key"),
        ('{"courses": ["CS1"]}', "pattern.courses[0]: is an object"),
    ],
)
def test_a_wrong_pattern(halved: Path, privet: Privet, pattern: str, words: str) -> None:
    told = privet("documents", "count", "halves", pattern)
    assert told.code == 2
    assert words in told.err


def test_one_way_to_put_halves_together(halved: Path, privet: Privet) -> None:
    for ending in ("json", "jsonl", "xml"):
        made = privet("documents", "reconstruct", "halves", "-o", f"drawn.{ending}")
        assert made.code == 0, made.err
        assert "wrote 12 records, put together at random" in made.out
    drawn = json.loads((halved / "drawn.json").read_text())["students"]
    raw = [student(n) for n in range(12)]
    assert sorted(one["yob"] for one in drawn) == sorted(one["yob"] for one in raw)
    assert sorted(one["gpa"] for one in drawn) == sorted(one["gpa"] for one in raw)
    assert all(one["courses"][0].keys() == {"course", "grade"} for one in drawn)
    assert privet("documents", "reconstruct", "halves", "-o", "drawn.json").code == 2
    assert privet("publish", "s.json", "p.toml", "-o", "out").code == 0
    whole = privet("documents", "reconstruct", "out", "-o", "no.json")
    assert whole.code == 2
    assert "publishes whole trees" in whole.err
    assert not (halved / "no.json").exists()


def test_what_somebody_concludes_who_knows_something(halved: Path, privet: Privet) -> None:
    general = privet("risk", "halves")
    assert general.code == 0, general.err
    assert "12 people in 6 groups, in two halves (t-t)" in general.out
    assert "these, and one sensitive value                             100.0 %" in general.out
    data = json.loads((halved / "halves/data.json").read_text())["groups"][0]
    known = {"yob": data["qi_trees"][0]["yob"], "gpa": data["sa_trees"][0]["gpa"]}
    told = privet("risk", "halves", "--known", json.dumps(known))
    assert "1 person fits the quasi-identifiers that are known" in told.out
    assert " ".join(told.out.split()).count("courses.grade 50.0 % 100.0 %") == 1
    assert str(data["sa_trees"][0]["courses"][0]["grade"]) + "  " not in told.out
    found = json.loads(privet("risk", "halves", "--known", json.dumps(known), "--json").out)
    assert all("value" not in one for one in found["person"]["conclusions"])
    nobody = privet("risk", "halves", "--known", '{"yob": 1700}')
    assert nobody.code == 2
    assert "nobody in the release fits" in nobody.err
    assert privet("publish", "s.json", "p.toml", "-o", "out").code == 0
    whole = privet("risk", "out", "--known", '{"yob": 1990}')
    assert whole.code == 2
    assert "no halves" in whole.err


def test_warnings_before_and_after(place: Path, privet: Privet) -> None:
    """What rules will erase, and which never bind, is said by check and by publish, without a value."""
    (place / "r.toml").write_text(RULED)
    checked = privet("check", "s.json", "r.toml")
    made = privet("publish", "s.json", "r.toml", "-o", "out")
    assert made.code == 0, made.err
    for said in (checked, made):
        assert (
            "warning: the rule about a value of grade has m = 1 and p below 1/2: it will be erased"
            in said.err
        )
        assert "warning: the rule about a value of grade never binds: nobody has 7 of it" in said.err
        assert "warning: the rule about a value of grade has p = 1 and never binds" in said.err
    assert len(json.loads(privet("check", "s.json", "r.toml", "--json").out)["warnings"]) == 3
    few = [{**student(n), "gpa": 0.1} if n else student(3) for n in range(12)]
    (place / "few.json").write_text(json.dumps({"students": few}))
    for command in (("check", "few.json", "p.toml"), ("publish", "few.json", "p.toml", "-o", "few")):
        told = privet(*command)
        assert "warning: type student, field gpa: one value has a share of 92%" in told.err
    assert "one value has a share of 92%" in privet("explain", "few").out


def test_explain_says_what_one_step_less_buys(place: Path, privet: Privet) -> None:
    (place / "three.toml").write_text(POLICY.replace("l = 2", "l = 3"))
    assert privet("publish", "s.json", "three.toml", "-o", "three").code == 0
    told = privet("explain", "three").out
    assert "what one step less would buy\n" in told
    assert "document-l-diversity l 3 to 2" in told
    found = json.loads(privet("explain", "three", "--json").out)["relaxations"][0]
    assert found["lm"]["then"] < found["lm"]["now"]
    assert found["tried"] == 12
    (place / "r.toml").write_text(RULED)
    assert privet("publish", "s.json", "r.toml", "-o", "ruled").code == 0
    (found,) = json.loads(privet("explain", "ruled", "--json").out)["relaxations"]
    assert found["kept"]["then"] > found["kept"]["now"]  # rules erase the value A
    told = privet("explain", "ruled").out
    assert "pm-privacy rules 3 to none" in told
    assert "anatomy-l-diversity l" not in told  # with l = 1 nothing is promised
    assert privet("publish", "s.json", "p.toml", "-o", "two").code == 0
    assert "with less than 2 alike, nothing is promised" in privet("explain", "two").out


@pytest.mark.parametrize("style", ["t-t", "v-v"])
def test_the_report_draws_a_group_and_says_which_way_is_for_what(
    halved: Path, privet: Privet, style: str
) -> None:
    (halved / "h.toml").write_text(HALVES.replace("t-t", style))
    assert privet("publish", "s.json", "h.toml", "-o", "drawn").code == 0
    page = (halved / "drawn/report.html").read_text()
    assert "The trees of 2 people in one group all have this shape" in page
    assert "2 different values" in page
    assert f"halves, {style} (tree-anatomy) (this release)" in page
    told = privet("documents", "--help").out
    for words in ("clustree", "t-t", "v-v", "repeated value attack"):
        assert words in told
