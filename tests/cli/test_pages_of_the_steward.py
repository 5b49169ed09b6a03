"""The pages of `risk` and `compare`, and `privet link`: what they show, and what never leaves."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said += data

    @property
    def sections(self) -> list[str | None]:
        return [attrs.get("id") for tag, attrs in self.tags if tag == "section"]


def drawn(path: Path) -> Page:
    text = path.read_text("utf-8")
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert not re.search(r'(?:src|href)="(?!#)', text)  # nothing is fetched
    assert "stays with you" in page.said
    return page


def test_risk_draws_everything_that_it_counts(privet: Callable[..., Any], place: Path) -> None:
    asked = ("--fraction", "1/5", "--widths", "-o", "risk.html")
    ran = privet("risk", "patients.csv", "hospital.toml", *asked)
    assert ran.code == 0, ran.err
    assert "drawn in risk.html" in ran.out
    page = drawn(place / "risk.html")
    assert page.sections == [
        *("attackers", "at-risk", "classes", "population"),
        *("columns", "promises", "linkage", "dimensions"),
    ]
    for word in ("Prosecutor", "Journalist", "Marketer", "zayatz", "Separation", "In this table"):
        assert word in page.said
    again = privet("risk", "patients.csv", "hospital.toml", "-o", "risk.html")
    assert again.code == 2
    assert "--overwrite" in again.err
    assert privet("risk", "patients.csv", "hospital.toml", "-o", "risk.html", "--overwrite").code == 0


def test_without_a_policy_columns_are_drawn(privet: Callable[..., Any], place: Path) -> None:
    assert privet("risk", "patients.csv", "-o", "columns.html").code == 0
    page = drawn(place / "columns.html")
    assert page.sections == ["columns"]
    assert "patient_id" in page.said


def test_compare_draws_and_nothing_is_drawn_into_a_release(privet: Callable[..., Any], place: Path) -> None:
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "out").code == 0
    ran = privet("compare", "patients.csv", "out", "--classify", "-o", "compare.html", "--json")
    assert ran.code == 0, ran.err
    page = drawn(place / "compare.html")
    assert page.sections[:6] == ["risk", "classes", "worst", "loss", "columns", "counts"]
    assert "classifier" in page.sections
    assert ran.answer["recoding"]["type"] in {"unchanged", "full-domain", "global", "local"}
    assert set(ran.answer["worst_classes"]) == {"surgery"}
    for command in (("compare", "patients.csv", "out"), ("risk", "patients.csv", "hospital.toml")):
        refused = privet(*command, "-o", "out/page.html")
        assert refused.code == 2
        assert "must not lie in a release folder" in refused.err
    assert sorted(path.name for path in (place / "out").iterdir()) == [
        *("data.csv", "evidence.json", "policy.toml", "report.html"),
    ]


def test_no_raw_value_is_in_the_pages(privet: Callable[..., Any], place: Path) -> None:
    table = pl.read_csv(place / "patients.csv", infer_schema=False)
    table = table.with_columns(job=pl.lit("<canary>"), surgery=pl.lit("canary"))
    table.write_csv(place / "c.csv")
    policy = (place / "hospital.toml").read_text("utf-8")
    head = re.sub(r"(?m)^job.*\n", "", policy[: policy.index("[[models]]")])
    (place / "c.toml").write_text(head + 'job.role = "quasi"\n[[models]]\ntype = "k-anonymity"\nk = 2\n')
    assert privet("risk", "c.csv", "c.toml", "--fraction", "1/2", "-o", "c.html").code == 0
    assert "canary" not in (place / "c.html").read_text("utf-8")


@pytest.fixture
def voters(place: Path, table: pl.DataFrame) -> Path:
    """The first ten patients by name, and somebody who is not in the data."""
    listed = table.head(10).select("name", "age", "zip", "sex").cast(pl.String)
    stranger = pl.DataFrame({"name": ["Nobody"], "age": ["150"], "zip": ["99999"], "sex": ["M"]})
    pl.concat([listed, stranger]).write_csv(place / "voters.csv")
    return place / "voters.csv"


def test_a_list_is_linked_with_raw_data_and_with_a_release(
    privet: Callable[..., Any], place: Path, voters: Path, table: pl.DataFrame
) -> None:
    raw = privet("link", voters, "patients.csv", "hospital.toml", "--json")
    assert raw.code == 0, raw.err
    keys = table.select("age", "zip", "sex").cast(pl.String).rows()
    sizes = [keys.count(key) for key in keys[:10]]
    assert raw.answer["matched"] == 10
    assert raw.answer["identified"] == sizes.count(1)
    assert raw.answer["on"] == ["sex", "age", "zip"]
    assert privet("publish", "patients.csv", "hospital.toml", "-o", "out").code == 0
    released = privet("link", voters, "out", "--json")
    assert released.answer["identified"] <= raw.answer["identified"]
    assert released.answer["matched"] >= 10
    told = privet("link", voters, "out")
    assert f"{released.answer['matched']:,}" in told.out
    assert table["name"][0] not in told.out
    # Whoever has the folder alone links no better than the steward's notes allow.
    (place / "out.private" / "steward.json").unlink()
    alone = privet("link", voters, "out", "--json")
    assert alone.code == 0, alone.err
    assert alone.answer["matched"] >= released.answer["matched"]


def test_what_cannot_be_linked_is_refused(privet: Callable[..., Any], place: Path, voters: Path) -> None:
    raw = privet("link", voters, "patients.csv")
    assert (raw.code, "name its policy too" in raw.err) == (2, True)
    (place / "other.csv").write_text("town\nRome\n")
    other = privet("link", "other.csv", "patients.csv", "hospital.toml")
    assert (other.code, "none of the quasi-identifiers" in other.err) == (2, True)
    hidden = privet("link", voters, "patients.csv", "hospital.toml", "--show-values")
    assert (hidden.code, "terminal" in hidden.err) == (2, True)
