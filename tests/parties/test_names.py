"""Names of parties: one way to write each, and no two that a reader takes for one another."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from tests.parties.hospitals import document

from privet.errors import PolicyError
from privet.parties.agreement import wrong_names
from privet.parties.contract import Contract
from privet.parties.names import MOST, alike, is_name

CYRILLIC_O, GREEK_O, DOTLESS = "\u043e", "\u03bf", "\u0131"
LOOKALIKES = [
    ("north", "North"),
    ("north", f"n{CYRILLIC_O}rth"),
    ("north", f"n{GREEK_O}rth"),
    ("north", "n0rth"),
    ("Zurich", "Z\u00fcrich"),
    ("hospital", "hospita1"),
    ("hospital", "hospitai"),
    ("citl", f"c{DOTLESS}tl"),
    ("modern", "modem"),
    ("stra\u00dfe", "STRASSE"),
    ("\u0441\u043e\u043a", "cok"),
]


@pytest.mark.parametrize(("one", "other"), LOOKALIKES)
def test_names_that_look_alike_are_refused(one: str, other: str) -> None:
    assert one != other
    assert wrong_names([one, "west", other]), "refused, for its looks or for being written so"
    if is_name(other):
        assert alike([one, "west", other]) == [(one, other)]


@pytest.mark.parametrize(
    "name",
    [
        f"n{CYRILLIC_O}rth",  # two alphabets
        unicodedata.normalize("NFD", "Z\u00fcrich"),
        "\uff4eorth",  # a wide letter
        "no-rth",
        "",
        "1st",
        "n" * 41,
        "north\u200b",
        7,
    ],
)
def test_what_is_no_name(name: object) -> None:
    assert not is_name(name)
    assert wrong_names([name, "west"])


@pytest.mark.parametrize(
    "name", ["north", "Z\u00fcrich", "site_10", "\u6771\u4eac\u306e\u75c5\u9662", "\u041a\u0438\u0457\u0432"]
)
def test_names_of_one_alphabet_are_names(name: str) -> None:
    assert is_name(name)
    assert not wrong_names([name, "west", "south"])


def test_many_sites_have_names_of_their_own() -> None:
    assert not wrong_names([f"site{at}" for at in range(MOST)])


def test_a_contract_has_parties_that_can_be_told_apart_and_counted() -> None:
    with pytest.raises(PolicyError, match="parties: north and North look alike"):
        Contract.from_document(document(parties=("north", "North", "west")), base=Path())
    with pytest.raises(PolicyError, match="parties: 100 at most, not 70,000"):
        Contract.from_document(document(parties=tuple(f"p{at}" for at in range(70_000))), base=Path())
