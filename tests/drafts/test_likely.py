"""Which way a column leans that no rule explains: by its name, its values and what stands beside it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from privet.core import Role
from privet.drafts import likely
from privet.drafts.accept import Answers, accept
from privet.drafts.answers import answers
from privet.drafts.draft import draft
from privet.drafts.guess import guess
from privet.drafts.together import settled
from privet.policy.presets import Preset
from privet.policy.values import Policy

MEASURED = [f"{n}.{n % 10}" for n in range(40, 90)]
COUNTED = [str(n) for n in range(9)]


def roles(*columns: tuple[str, list[str]]) -> list[Role]:
    return [one.role for one in settled([guess(name, values, 2_000) for name, values in columns])]


def test_measures_that_nobody_explained_are_sensitive_beside_what_others_know() -> None:
    """Most of what a study measures stands in no list of words: it was quasi, and was generalised."""
    found = roles(("age", COUNTED), ("sex", ["f", "m"]), ("ferr", MEASURED), ("lbm", MEASURED))
    assert found == [Role.QUASI, Role.QUASI, Role.SENSITIVE, Role.SENSITIVE]


def test_a_row_of_questions_is_sensitive() -> None:
    names = [f"q{n}" for n in range(1, 9)]
    assert set(roles(*((name, COUNTED[:5]) for name in names))) == {Role.SENSITIVE}


@pytest.mark.parametrize("name", ["momage", "hhsize", "nkids", "educyrs", "jobcat", "birthyr", "brthord"])
def test_what_others_know_stays_quasi_in_the_words_of_a_study(name: str) -> None:
    assert roles((name, COUNTED), ("bili", MEASURED), ("sex", ["f", "m"]))[0] is Role.QUASI


def test_company_decides_what_a_name_leaves_open() -> None:
    """Alone it leans this way or that; among measurements it is one."""
    open_ = min(
        ("ab", "zz", "kk", "column", "wert"), key=lambda name: abs(likely.score(name, ["is a number"]))
    )
    own = likely.score(open_, ["is a number"])
    company, near = (
        [open_, "b", "c", "d"],
        [likely.beside([own, one, 0.0], ["a", "b", "c"])[0] for one in (-4, 4)],
    )
    home, clinic = (likely.beside([own, 0.0, far, far], company)[0] for far in (-4.0, 4.0))
    assert None not in {home, clinic, *near}
    assert home < clinic  # type: ignore[operator]
    assert near[0] < near[1]  # type: ignore[operator]


def test_a_column_that_says_nothing_moves_no_other() -> None:
    scores = likely.beside([1.0, None, 1.0], ["a", "b", "c"])
    assert scores[1] is None
    assert [scores[0], scores[2]] == likely.beside([1.0, 1.0], ["a", "c"])


def test_a_word_that_explains_a_column_holds_where_it_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likely, "score", lambda *_: 9.0)
    time, zq = ("time", ["1", "2", "3"]), ("zq", ["1", "2", "3"])
    assert roles(time) == [Role.QUASI]
    assert roles(time, zq) == [Role.SENSITIVE, Role.SENSITIVE]


def test_no_score_takes_a_column_out_of_the_identifiers() -> None:
    """However clinical its company, and its name."""
    some = settled(
        [
            guess("patient_id", [str(n) for n in range(2_000)], 2_000),
            *(guess(name, MEASURED, 2_000) for name in ("bili", "alb", "chol", "ast")),
        ]
    )
    assert some[0].role is Role.IDENTIFIER
    assert some[0].leaning is None


def test_the_reason_says_which_part_of_the_name_spoke() -> None:
    (found,) = (one for one in settled([guess("mathk", MEASURED, 2_000)]) if one.name == "mathk")
    assert found.reason.startswith('names with "mat')
    assert "mostly" in found.reason
    assert [len(likely.because(name).strip("-")) for name in ("ferr", "premi", "lowbp")] == [3, 3, 3]
    assert "50 different values" in found.reason


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["Strongly agree", "Agree", "Disagree"], True),
        (["nie", "selten", "oft"], True),
        (["阳性", "阴性"], True),
        (["yes", "no"], False),
        (["Ulm", "Bonn"], False),
        ([f"agree {n}" for n in range(20)], False),
    ],
)
def test_some_values_are_answers_whatever_the_column_is_called(values: list[str], said: bool) -> None:
    assert answers(values) is said


def test_answers_lean_as_answers_do() -> None:
    agree, towns = (
        guess("zq", some, 2_000).leaning
        for some in (["agree", "disagree", "neutral"], ["Ulm", "Bonn", "Kiel"])
    )
    assert agree is not None
    assert towns is not None
    assert agree.score > towns.score


def test_safe_harbour_takes_what_nobody_explained_for_known_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A small place under a name that leans elsewhere would leave as it is."""
    monkeypatch.setattr(likely, "score", lambda *_: 9.0)
    frame = pl.DataFrame({"block": ["Nord", "Ost", "West"] * 20, "sex": ["F", "M"] * 30})
    assert draft(frame).guesses[0].leans
    text = accept(draft(frame), Preset.find("hipaa-safe-harbor"), Answers()).text
    attributes = {one.name: one.role for one in Policy.loads(text).attributes}
    assert attributes["block"] is Role.IDENTIFIER


def test_what_leaves_unchanged_because_it_leans_is_told_to_who_accepts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The impatient steward reads nothing else; what a person has said is not repeated."""
    monkeypatch.setattr(likely, "score", lambda *_: 9.0)
    days = ["1950-01-02", "1951-03-04", "1960-05-06"] * 20
    frame = {"block": ["Nord", "Ost", "West"] * 20, "sex": ["F", "M"] * 30, "born": days}
    drafted = draft(pl.DataFrame(frame))
    preset = Preset.find("statistics-office-3")
    assert any("'block', 'sex': leave unchanged" in one for one in accept(drafted, preset).told)
    decided = Answers(roles={"block": Role.SENSITIVE, "sex": Role.QUASI})
    assert not any("unchanged" in one for one in accept(drafted, preset, decided).told)


def test_where_nothing_else_remains_what_leans_is_taken_for_known_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table of which nobody had explained a column was refused: there was nothing to generalise."""
    monkeypatch.setattr(likely, "score", lambda *_: 9.0)
    drafted = draft(pl.DataFrame({"hut": ["Nord", "Ost", "West"] * 20, "climb": ["a", "b"] * 30}))
    assert all(one.leans for one in drafted.guesses)
    made = accept(drafted, Preset.find("statistics-office-3"))
    assert {one.role for one in Policy.loads(made.text).attributes} == {Role.QUASI}
    assert not any("unchanged" in one for one in made.told)


def test_the_weights_are_loaded_when_they_are_needed() -> None:
    """Half of the commands never draft."""
    likely._weights.cache_clear()
    __import__("privet.drafts.draft")
    assert likely._weights.cache_info().currsize == 0
    assert likely.score("age", []) < likely.score("bilirubin", [])
    assert likely._weights.cache_info().currsize == 1


def test_weights_are_read_by_people_too() -> None:
    lines = Path(likely.WEIGHTS).read_text("utf-8").splitlines()
    assert lines == sorted(lines)
    assert all(len(line.split("\t")) == 2 for line in lines)
    assert {line.split("\t")[0] for line in lines} >= {*likely.COMPANY, "always"}
