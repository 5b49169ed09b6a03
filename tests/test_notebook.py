"""Values in a notebook: escaped, and with nothing that does not leave."""

from __future__ import annotations

from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl

import privet as pv
from privet import notebook
from privet.core import Verdict
from privet.exploration import explore
from privet.verification import Verification

HOSTILE = "<script>alert(1)</script>"
CANARY = "canary-person"


class Reading(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs
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
        assert Reading(page).tags <= {"table", "caption", "tr", "th", "td"}
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
