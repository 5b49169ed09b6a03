"""One value among many choices is enough, and what only looks so is none."""

from __future__ import annotations

import time

import polars as pl
import pytest

from privet.core import Role
from privet.drafts.draft import draft
from privet.drafts.forms import among_numbers
from privet.drafts.telling import telling

OTHERS = ["red", "green", "blue"]


@pytest.mark.parametrize(
    "value",
    [
        *("078-05-1120", "QQ123456C", "QQ 12 34 56 C", "529.982.247-25", "2345 6789 0123", "131052-308T"),
        *("07911123456", "0123456789", "13812345678", "555-0199", "x4412 / 555-0199"),
        *("12 Elm Street", "221B Baker Street, London", "Flat 3, 9 Oak Rd", "7 Long Meadow Ln."),
        *("Hauptstr. 5", "Lindenweg 12a", "Lange Straße 5", "Kerkstraat 4", "14 Rue de la Paix"),
        *("via Roma 12", "calle Mayor, 5", "ul. Długa 5", "rua das Flores 10", "\u0443л. Ленина 5"),
        *("84.23.11.9", "from ip 10.0.0.7", "linkedin.com/in/wkolt", "kolt.example.com/wera"),
        *("52.52001, 13.40495", "-33.868,151.209"),
        *("born 12.03.1971", "dob 1971-03-12", "geb. 12.3.71", "born on 12 March 1971"),
        *("wera[at]example.org", "wera (at) example.org", "wera AT example.org", "wera AT example DOT org"),
        *(
            "wera\u200bkolt@exam\u200bple.org",
            "\uff10\uff19\uff10\u2212\uff11\uff12\uff13\uff14\u2212\uff15\uff16\uff17\uff18",
        ),
        *("JOHN SMITH", "SMITH, JOHN", "patient: JOHN SMITH", "Patient John Smith"),
        *("Margaret Thornbury", "late (Margaret Thornbury)", "Thornbury, Margaret", "MARGARET THORNBURY"),
        "see son Tim",
        *(
            "Jürgen Müller",
            "JÜRGEN MÜLLER",
            "José García",
            "García, José",
            "François Dubois",
            "Björn Andersson",
        ),
        *(
            "Ju\u0308rgen Mu\u0308ller",
            "Jose\u0301\u00a0Garci\u0301a",
            "Søren Nielsen",
            "Ayşe Y\u0131lmaz",
            "Şahin, Hüseyin",
        ),
        *(
            "Małgorzata Wójcik",
            "Nguyễn, Đức",
            "Jean-Luc Martin",
            "Anna Smith-Müller",
            "So\ufb01a Martin, Zo\ufb01a Nowak",
        ),
        *(
            "Kevin O'Brien",
            "Kevin O\u2019Brien",
            "Vincenzo D\u2019Angelo",
            "D'Angelo, Vincenzo",
            "call daughter José",
        ),
    ],
)
def test_one_value_is_enough(value: str) -> None:
    """Each of them left, in one record of thousands."""
    assert telling([*OTHERS, value]) is not None
    found = draft(pl.DataFrame({"grp": [*OTHERS * 200, value], "sex": ["F", *"MF" * 300]})).guesses[0]
    assert found.role is Role.IDENTIFIER
    assert value not in found.reason


@pytest.mark.parametrize(
    "value",
    [
        *("1.2.3.4", "2021-03-04", "01.02.2003", "2000 2010 2020", "501-1000", "100,000-200,000"),
        *("(17.999, 28.512]", "0.123, 0.456", "0.95 - 1.05", "10.0.19041.1", "300.1.2.3"),
        *(
            "4 Wheel Drive",
            "3 Supreme Court",
            "Parkplatz 5",
            "Arbeitsplatz 12",
            "via email 2",
            "34 St",
            "5 Way",
        ),
        *("born 1971", "born in Ulm", "stopped AT home", "at home", "N.A./no", "and/or", "I.V./oral"),
        *("Christian Democrat", "Angel Dust", "Mark Up", "Mother Tongue", "the son has it", "01234567890123"),
        *(
            "Crème Brûlée",
            "São Paulo",
            "José",
            "Ärztin",
            "Rosé d\u2019Anjou",
            "Zona Müller",
            "né à Nantes",
            "Côte d'Or",
        ),
        *("Grade 4", "T2 N1 M0", "120/80", "A12345678", "12345"),
    ],
)
def test_what_only_looks_so_is_none(value: str) -> None:
    assert telling([*OTHERS, value]) is None


def test_what_stands_beside_a_value_says_what_it_is() -> None:
    assert telling(["200-1999", "348-2211", "51-75", "none"]) is None  # ranges
    assert telling(["84.23.11.9", "84.23.11.10.2", "1.2"]) is None  # versions
    assert telling(["Margaret Thornbury", "Blue Circle", "Red Square", "Green Mile"]) is None
    assert telling(["red", "green", "blue", "Margaret Thornbury"], names=False) is None  # places


@pytest.mark.parametrize("number", ["7911123456", "07911123456", "4915112345678"])
def test_a_telephone_number_among_short_numbers(number: str) -> None:
    """`score` left with it: texts alone were asked what a single value tells."""
    scores = [str(at % 90) for at in range(600)]
    table = pl.DataFrame({"score": [*scores, number], "sex": ["F", *"MF" * 300]})
    found = draft(table).guesses[0]
    assert found.role is Role.IDENTIFIER
    assert number not in found.reason


def test_long_numbers_among_long_ones_are_no_telephones() -> None:
    assert not among_numbers(["7911123456", "12000", "17"])
    assert not among_numbers(["7911123456", "7911123457", "17"])
    assert not among_numbers(["9999999999", "12", "17"])  # no answer
    assert not among_numbers(["12", "7911123456"])
    assert among_numbers(["0", "1", "4111111111111111"]) == "a number of a register"


@pytest.mark.parametrize(
    "value",
    [
        *(
            "call Bongani Mkhize",
            "passport X1234567",
            "Reisepass C01X00T47",
            "12 ELM STREET",
            "12 elm street",
        ),
        *("Storgata 4B", "Mannerheimintie 5", "SMITH Anna", "D\u2019Angelo Maria", "Garcia Luis"),
    ],
)
def test_one_of_them_among_choices_is_told(value: str) -> None:
    assert telling(["ok", "pending", "late", value]) is not None


@pytest.mark.parametrize(
    "value",
    [
        *("call Mobile Phone", "per Protocol Analysis", "by Mouth Daily", "2 weeks on road", "Necktie 5"),
        *("passport expired", "Grace Period", "contact Primary School", "4 Wheel Drive", "Gate 4"),
    ],
)
def test_what_only_looks_like_it_is_not(value: str) -> None:
    assert telling(["ok", "pending", "late", value]) is None


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "piece",
    [
        *("1 ", "Mr ", "A", "Aa", "a@", "0-", "a.", "JOHN ", "John ", "a at ", "12 Elm ", "1.234 ", "123-"),
        *("Rue ", "born ", "ip ", "ul. ", "1", " ", "5 Elm", "call 1", "\u00e9", "[at"),
    ],
)
def test_an_enormous_value_costs_no_more_than_reading_it(piece: str) -> None:
    """`Aaa...` behind a name took time by the square of its length."""
    value = piece * (130_000 // len(piece))
    start = time.process_time()
    telling(["ok", value])
    telling(["ok", f"John Smit {value}"])
    assert time.process_time() - start < 1
