"""Numbers that a list hands out, told from those that somebody counted or measured."""

from __future__ import annotations

import pytest

from privet.core import Role
from privet.drafts.guess import guess


def role(name: str, values: list[str], records: int) -> Role:
    return guess(name, values, records).role


def test_numbers_without_a_gap_name_whoever_has_several_rows() -> None:
    """495 soldiers with three rows each, by a number from 1 on, were quasi under a name that says nothing."""
    assert role("zq", [str(n) for n in range(1, 496)], 1_485) is Role.IDENTIFIER
    assert role("zq", [f"{n}.0" for n in range(1, 496)], 1_485) is Role.IDENTIFIER
    assert role("zq", [str(n) for n in range(1, 70)], 188) is Role.IDENTIFIER  # families of a village
    assert (
        role("zq", [str(n) for n in range(1, 120_001)], 400_000) is Role.IDENTIFIER
    )  # of which a part is seen


@pytest.mark.parametrize(
    ("values", "records"),
    [
        ([str(n) for n in range(18, 97)], 300),  # ages of grown-ups
        ([str(n) for n in range(97)], 300),  # of a whole people
        ([str(n) for n in range(1, 101)], 6_763),  # a percentile
        ([str(n * 3) for n in range(1, 100)], 300),
        ([f"{n}.5" for n in range(1, 300)], 900),
    ],
)
def test_what_is_counted_or_measured_is_no_list(values: list[str], records: int) -> None:
    assert role("zq", values, records) is not Role.IDENTIFIER


def test_whole_numbers_that_most_rows_have_to_themselves_go_where_their_name_says_nothing() -> None:
    spread = [str(7 * n * n + 11) for n in range(300)]
    assert role("zq", spread, 500) is Role.IDENTIFIER
    assert role("zq", [f"{value}.25" for value in spread], 500) is not Role.IDENTIFIER
    assert role("survival_days", spread, 500) is not Role.IDENTIFIER
    assert role("readk", spread, 500) is not Role.IDENTIFIER  # no list knows it, and the score does
    assert role("num_calls", [str(n) for n in range(1, 300)], 900) is not Role.IDENTIFIER  # it counts


@pytest.mark.parametrize("name", ["subnum", "SUBNUM", "intnum", "mom", "tch"])
def test_numbers_of_persons_in_short(name: str) -> None:
    assert role(name, [str(37 * n) for n in range(1, 40)], 900) is Role.IDENTIFIER


def test_a_few_families_are_called_by_their_names() -> None:
    names = ["Breen", "Donner", "Eddy", "Fosdick", "Graves", "Keseberg", "McCutchen", "Murphy"]
    assert role("family", [f"{name}x" for name in names], 90) is Role.IDENTIFIER
    assert role("family", [f"type {n}" for n in range(8)], 90) is not Role.IDENTIFIER
    assert role("family", ["Nuclear", "Joint", "Single"], 90) is not Role.IDENTIFIER


def test_id_stands_before_small_letters_too() -> None:
    assert role("IDunit", [str(7_000 + 131 * n) for n in range(60)], 900) is Role.IDENTIFIER


def test_a_place_to_the_door_has_a_word_before_it_as_well() -> None:
    assert role("from_long", [f"77.{5_000 + 13 * n}" for n in range(60)], 900) is Role.IDENTIFIER
    assert role("how_long", ["1", "2", "3"], 900) is not Role.IDENTIFIER


def test_many_whole_numbers_under_one_letter_are_whose_nobody_knows() -> None:
    """`s` and `d`, students and lecturers with many rows each, were sensitive: such names lean that way."""
    assert role("s", [str(n) for n in range(1, 187)], 5_000) is Role.IDENTIFIER
    assert role("d", [str(13 * n) for n in range(826)], 5_000) is Role.IDENTIFIER
    assert role("s", [str(n) for n in range(1, 60)], 5_000) is not Role.IDENTIFIER
    assert role("d", [f"{n}.5" for n in range(826)], 5_000) is not Role.IDENTIFIER


def test_texts_that_most_records_have_to_themselves_go_under_a_word_that_others_may_know() -> None:
    """Titles of reviews stayed: `title` is one of a person, too."""
    assert role("Title", [f"so {n} of {n % 7}" for n in range(3_427)], 4_100) is Role.IDENTIFIER
    assert role("Title", [f"clerk {n} of {n % 7}" for n in range(300)], 4_100) is Role.QUASI


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("no.", [str(at) for at in range(1, 20)]),
        ("Consumer", [str(17 * at) for at in range(103)]),
        ("subject_orig", [str(at) for at in range(1, 23)]),
        ("ADO_PersonSK", ["11872", "12004", "13391", "14022", "15000", "15718"]),
    ],
)
def test_numbers_of_persons_under_names_of_half_a_word(name: str, values: list[str]) -> None:
    assert guess(name, values, 400).role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("no", ["0", "1", "2", "3"]),
        ("number", ["2", "4", "8", "9", "11"]),
        ("person_new", ["yes", "no", "unknown"]),
    ],
)
def test_how_many_there_are_is_no_number_of_a_person(name: str, values: list[str]) -> None:
    assert guess(name, values, 400).role is not Role.IDENTIFIER
