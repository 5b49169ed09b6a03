"""A few names under a word for a person, which no list knows; and what stands there besides names."""

from __future__ import annotations

import pytest

from privet.core import Role
from privet.drafts.calling import may_be_names
from privet.drafts.guess import guess
from privet.drafts.telling import telling

NAMES = ["Mamani", "Quispe", "Thandeka Zulu", "Иванова Анна", "李娜", "राम शर्मा"]
PEOPLE = (
    *("doctor", "Physician", "nurse", "Arzt", "médico", "lname", "given", "last", "witness", "guardian"),
    *("next_of_kin", "spouse", "author", "interviewer", "referring_physician", "emergencyContact", "Ehemann"),
)


@pytest.mark.parametrize("name", PEOPLE)
def test_two_names_under_a_word_for_a_person_name_them(name: str) -> None:
    for some in (NAMES[:2], NAMES[2:], NAMES):
        assert guess(name, some, 300).role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("mother", ("Alive", "Dead", "Unknown")),
        ("spouse", ("Employed", "Retired", "Homemaker")),
        ("person", ("Bride", "Groom")),
        ("partner", ("yes", "no", "no answer")),
        ("contact", ("cellular", "telephone", "unknown")),
        ("child", ("first", "second", "third")),
        ("member", ("Gold", "Silver")),
        ("provider", ("Nurse", "Doctor")),
        ("case", ("A", "B")),
        ("doctor visits", ("Few", "Several")),
    ],
)
def test_kinds_of_persons_are_none(name: str, values: tuple[str, ...]) -> None:
    assert guess(name, values, 300).role is not Role.IDENTIFIER


@pytest.mark.parametrize(
    "values",
    [
        ["Ann-Marie O\u2019Neil", "Jos\u00e9"],
        ["de la Cruz, Ana", "Gómez, Luz"],
        ["อานนท์", "สมชาย ใจดี"],
        ["Eze", "Zulu", "other"],
        ["HillaryClinton", "realDonaldTrump"],
        ["Eze", "Zulu", "White", "Okoye"],
    ],
)
def test_how_persons_are_called(values: list[str]) -> None:
    assert may_be_names(values)


@pytest.mark.parametrize(
    "values",
    [["Eze", "other"], ["Eze", "Zulu 2"], ["Eze", "White"], ["eze", "zulu"], ["Al", "Bo"], ["李", "王"], []],
)
def test_what_nobody_is_called(values: list[str]) -> None:
    assert not may_be_names(values)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age_at_dx", [str(at) for at in range(18, 99)]),
        ("crime_age", [str(at) for at in range(18, 99)]),
        ("zipOfDiagnosis", [f"537{at:02}" for at in range(90)]),
        ("hiv_zip", [f"902{at:02}" for at in range(90)]),
        ("job_at_dx", ["Nurse", "Lawyer", "Plumber"]),
        ("maritalOfDiagnosis", ["married", "single", "widowed"]),
        ("blood_sex", ["M", "F"]),
    ],
)
def test_what_others_know_is_no_secret_for_a_word_beside_it(name: str, values: list[str]) -> None:
    assert guess(name, values, 500).role is Role.QUASI


@pytest.mark.parametrize("name", ["job_satisfaction", "salary_at_hire", "death_of_spouse", "cancer_stage"])
def test_a_secret_stays_one_beside_what_others_know(name: str) -> None:
    assert guess(name, ["1", "2", "3"], 500).role in {Role.SENSITIVE, Role.TARGET}


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Seen by Bongani Mkhize", "a person beside what they did"),
        ("Seen by Treating Physician", None),
        ("Completed by Mobile Phone", None),
        ("Stratified by Age Group", None),
    ],
)
def test_whoever_did_something_is_named(label: str, kind: str | None) -> None:
    assert telling([label]) == kind
