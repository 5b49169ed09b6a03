"""`privet explore` as people and programs use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def policy(place: Path) -> Path:
    """The sample's policy with a promise that every search can keep."""
    text = (place / "hospital.toml").read_text("utf-8")
    head = text[: text.index("[[models]]")]
    path = place / "k.toml"
    path.write_text(head + '[[models]]\ntype = "k-anonymity"\nk = 3\n', "utf-8")
    return path


def test_lines_for_people(privet: Callable[..., Any], policy: Path) -> None:
    ran = privet("explore", "patients.csv", policy, "--k", "2, 5", "--algorithms", "mondrian,local")
    assert ran.code == 0, ran.err
    assert "400 records" in ran.out
    for name in ("mondrian, k = 2", "mondrian, k = 5", "local, k = 2", "local, k = 5"):
        assert name in ran.out
    assert "dominates" in ran.out
    assert "* on the frontier" in ran.out


def test_a_document_for_programs_and_a_page_for_people(privet: Callable[..., Any], policy: Path) -> None:
    asked = ("--k", "4", "--suppression", "0,1%,1/20", "--algorithms", "optimal", "-o", "f.html")
    ran = privet("explore", "patients.csv", policy, *asked, "--json")
    assert ran.code == 0, ran.err
    assert [run["suppression"] for run in ran.answer["runs"]] == ["0", "1/100", "1/20"]
    assert set(ran.answer["frontier"]) <= {run["name"] for run in ran.answer["runs"]}
    page = (policy.parent / "f.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    again = privet("explore", "patients.csv", policy, *asked)
    assert again.code == 2
    assert "--overwrite" in again.err


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--k", "two"), "--k: is a list of whole numbers such as 2,5,10, not 'two'"),
        (("--k", ","), "--k: is a list with commas between"),
        (("--suppression", "a"), "--suppression: is an exact number"),
        (("--algorithms", "fast"), "algorithms: fast: type is one of"),
        (("--risk", "small"), "risk is one of"),
        (("--time-limit", "0"), "--time-limit: is a number of seconds above 0"),
    ],
)
def test_what_is_wrong_is_said(
    privet: Callable[..., Any], policy: Path, asked: tuple[str, ...], says: str
) -> None:
    ran = privet("explore", "patients.csv", policy, *asked)
    assert ran.code == 2
    assert says in ran.err


def test_a_draft_can_be_explored(
    privet: Callable[..., Any], policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its search is `auto`, which drops records in a full-domain search alone."""
    monkeypatch.setattr("privet.exploration.USUAL", ())
    monkeypatch.setattr("privet.exploration.SIZES", ())
    text = policy.read_text("utf-8")
    assert "[algorithm]" not in text
    for more, shares in (
        ('type = "auto"', ["0"]),
        ('type = "auto"\nrecoding = "full-domain"', ["0", "1/100", "1/20"]),
    ):
        policy.write_text(f"{text}\n[algorithm]\n{more}\n", "utf-8")
        ran = privet("explore", "patients.csv", policy, "--json")
        assert ran.code == 0, ran.err
        runs = ran.answer["runs"]
        assert [(run["algorithm"]["type"], run["suppression"]) for run in runs] == [
            ("auto", share) for share in shares
        ]
