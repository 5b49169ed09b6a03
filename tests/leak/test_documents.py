"""Canaries in documents: not heard in errors, evidence, reports or policies."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from privet.assess import compare, explain, risk
from privet.cli import main
from privet.errors import PrivetError
from privet.verification import verify

CANARY = "zqx" + "jkv"  # in two halves: a traceback quotes the lines of this file
POLICY = """
policy = 1
kind = "documents"
[documents]
record = { type = "student", json = "$[*]", xml = "/students/student" }
[documents.types.student]
identifier = ["id"]
quasi = ["town"]
sensitive = "gpa"
children = { courses = "course" }
[documents.types.course]
quasi = ["course"]
sensitive = "grade"
other = ["room"]
[documents.attributes]
gpa = { buckets = { from = 0, to = 4, width = "0.5" } }
course.hierarchy.type = "tree"
course.hierarchy.tree.any = { some = ["CS1", "CS2", "CANARY-course"], more = ["M1"] }
[[models]]
type = "PROMISE"
l = 2
[algorithm]
type = "WAY"
""".replace("CANARY", CANARY)
WAYS = {
    "ctoff": "document-l-diversity",
    "clustree": "document-l-diversity",
    "tree-anatomy": "anatomy-l-diversity",
}


def policy(way: str) -> pv.Policy:
    return pv.Policy.loads(POLICY.replace("WAY", way).replace("PROMISE", WAYS[way]))


def people() -> list[dict[str, Any]]:
    made = []
    for n in range(12):
        course = f"{CANARY}-course" if n == 5 else ("CS1", "CS2", "M1")[n % 3]
        grade = f"{CANARY}-grade" if n == 3 else "ABCD"[n % 4]
        made.append(
            {
                "id": f"{CANARY}-id-{n}",
                "town": f"{CANARY}-town" if n == 7 else f"town{n % 3}",
                "gpa": 0.5 * (n % 8),
                "courses": [{"course": course, "grade": grade, "room": f"{CANARY}-room"}],
            }
        )
    return made


def silent(*texts: str) -> None:
    for text in texts:
        assert CANARY not in text, f"a canary sings: …{text[max(0, text.index(CANARY) - 80) :][:120]}…"


@pytest.mark.parametrize("way", WAYS)
def test_the_release_is_silent(way: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    raw = tmp_path / "s.json"
    raw.write_text(json.dumps(people()))
    (tmp_path / "p.toml").write_text(POLICY.replace("WAY", way).replace("PROMISE", WAYS[way]))
    release = pv.publish(raw, policy(way))
    folder = release.write(tmp_path / "out")
    for path in folder.iterdir():
        if path.name != "data.json":
            silent(path.read_text())
    data = (folder / "data.json").read_text()
    silent(data.replace(f"{CANARY}-room", "").replace(f"{CANARY}-grade", "") if way != "tree-anatomy" else "")
    assert f"{CANARY}-id" not in data
    silent(repr(release), repr(release.policy), repr(verify(folder)))
    answers = (compare(raw, folder), explain(folder), risk(raw, policy(way)))
    silent(*(json.dumps(one.to_dict()) + repr(one) + one._repr_html_() for one in answers))
    for command in (
        ("publish", raw, tmp_path / "p.toml", "-o", tmp_path / "again"),
        ("verify", folder),
        ("check", raw, tmp_path / "p.toml"),
        ("risk", raw, tmp_path / "p.toml"),
        ("compare", raw, folder),
        ("explain", folder),
        ("init", raw, "-o", tmp_path / "d.toml"),
    ):
        main([str(word) for word in command])
    silent((tmp_path / "d.toml").read_text())
    said = capfd.readouterr()
    silent(said.out, said.err)


BAD = [
    lambda one: one.update({"gpa": CANARY}),
    lambda one: one.update({"gpa": [CANARY, CANARY]}),
    lambda one: one.update({"town": {"name": CANARY}}),
    lambda one: one.update({"courses": [CANARY]}),
    lambda one: one["courses"][0].update({"course": CANARY}),
    lambda one: one["courses"][0].update({"grade": {CANARY: CANARY}}),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bad", range(len(BAD)))
def test_errors_are_silent(bad: int, way: str) -> None:
    raw = people()
    BAD[bad](raw[4])
    with pytest.raises(PrivetError) as error:
        pv.publish(raw, policy(way))
    silent(str(error.value), repr(error.value), "".join(traceback.format_exception(error.value)))
