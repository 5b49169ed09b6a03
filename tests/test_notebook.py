"""Values in a notebook: escaped, and with nothing that does not leave."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.notebooks import NOTEBOOKS, executed

import privet as pv
from privet import notebook
from privet.core import Verdict
from privet.exploration import explore
from privet.roads.answers import Exploration, TableComparison
from privet.verification import Verification

HOSTILE = "<script>alert(1)</script>"
CANARY = "canary-person"


class Reading(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        drawn = tag in {"svg", "rect", "circle", "text"}  # numbers of ours, and no other attribute anywhere
        assert drawn or not attrs
        for name, value in attrs:
            assert name in {
                "x",
                "y",
                "width",
                "height",
                "cx",
                "cy",
                "r",
                "fill-opacity",
                "text-anchor",
                "font-size",
            }
            assert re.fullmatch(r"[0-9.]+|start|end", value or "")
        self.tags.add(tag)


def policy() -> pv.Policy:
    return pv.Policy.loads(
        f"""
policy = 1
purpose = "{HOSTILE}"
rows = "persons"
[attributes]
name = {{ role = "identifier" }}
job = {{ role = "quasi", hierarchy = {{ type = "tree", tree = {{ any = {{ x = ["a", "{CANARY}"] }} }} }} }}
ill = {{ role = "sensitive" }}
[[models]]
type = "k-anonymity"
k = 2
[algorithm]
type = "top-down"
"""
    )


RAW = pl.DataFrame({"name": [CANARY] * 4, "job": ["a", CANARY, "a", "a"], "ill": ["u", "v", "u", "v"]})


def test_everything_shows_itself_escaped_and_without_raw_values() -> None:
    release = pv.publish(RAW, policy())
    made: list[Any] = [
        release,
        release.evidence,
        release.measures,
        release.policy,
        release.verdicts[0][1],
        pv.risk(RAW, policy()),
        pv.compare(RAW, release),
        explore(RAW, policy(), k=[2], algorithms=["top-down"]),
    ]
    for value in made:
        page = value._repr_html_()
        drawn = {"svg", "rect", "circle", "text"}
        assert Reading(page).tags <= {"table", "caption", "tr", "th", "td", *drawn}
        if isinstance(value, (pv.Release, TableComparison, Exploration)):
            assert "svg" in Reading(page).tags
        assert CANARY not in page
        assert CANARY not in repr(value) or value is release.policy
    assert "&lt;script&gt;" in release._repr_html_()


def test_a_verdict_shows_its_numbers() -> None:
    page = Verdict({"k": 3, "c": Fraction(1, 5)}, 2, 7)._repr_html_()
    assert "<td>no</td>" in page
    assert "<th>c</th><td>1/5</td>" in page
    assert "<th>records at risk</th><td>7</td>" in page


def test_long_things_are_shown_by_their_first_few() -> None:
    assert notebook.shown(list(range(20))).endswith("11, 8 more")
    assert "8 more" in notebook.shown({str(at): at for at in range(20)})
    assert len(notebook.text("x" * 1000)) == notebook.LONGEST + 1


def test_answers_have_fields_and_are_mappings() -> None:
    found = pv.risk(RAW, policy())
    assert found.records == found["records"] == 4  # type: ignore[attr-defined]
    assert found == found.to_dict()
    assert repr(found).startswith("TableRisk(records=4, quasi_identifiers=<1>")


def test_what_verify_found_is_shown_escaped(tmp_path: Path) -> None:
    made = Verification(tmp_path / HOSTILE, ((pv.KAnonymity(k=2), Verdict({"k": 3})),), (HOSTILE,))
    shown = made._repr_html_()
    assert Reading(shown).tags == {"table", "caption", "tr", "th", "td"}
    assert "k-anonymity" in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_showed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    found = executed(path)
    for cell, before in zip(found["cells"], stored["cells"], strict=True):
        if cell["cell_type"] == "code":
            assert cell["execution_count"] == before["execution_count"], "keep what it shows: tests.notebooks"
            kinds = [sorted(one.get("data", {"text": ""})) for one in cell["outputs"]]
            assert kinds == [sorted(one.get("data", {"text": ""})) for one in before["outputs"]]


def test_there_is_a_notebook_for_each_kind_of_data() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"tables", "trajectories", "documents", "sets", "noise"}
    shown = {path.stem: path.read_text(encoding="utf-8") for path in NOTEBOOKS}
    assert shown["tables"].count("<svg") >= 3
    for call in ("pv.explore", "pv.draft", "pv.link", "pv.compare"):
        assert call in shown["tables"]
    assert "pv.plan" in shown["noise"]
