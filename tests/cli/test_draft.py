"""What a draft guesses, and what it never says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

from privet.core import Form, Role
from privet.drafts.draft import draft
from privet.drafts.files import encoding_of
from privet.errors import InputError, PolicyError
from privet.policy.values import Policy
from privet.samples import SAMPLES

ROWS = 200
FRAME = pl.DataFrame(
    {
        "patient_id": [str(1000 + i) for i in range(ROWS)],
        "contact": [f"p{i % 150}@example.org" for i in range(ROWS)],
        "call": [f"+49 30 {1000000 + i % 120}" for i in range(ROWS)],
        "key": [f"x{i}" for i in range(ROWS)],
        "hospital_name": [f"H{i % 4}" for i in range(ROWS)],
        "age": [str(20 + i % 60) for i in range(ROWS)],
        "code": [f"{i % 90:05}" for i in range(ROWS)],
        "seen": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(ROWS)],
        "weightKg": [f"{50 + i / 7:.2f}" for i in range(ROWS)],
        "Diagnosis": [f"d{i % 9}" for i in range(ROWS)],
        "outcome": ["yes" if i % 3 else "no" for i in range(ROWS)],
        "note": [f"the patient number {i % 180} came in the morning and complained" for i in range(ROWS)],
        "site": ["main"] * ROWS,
        "colour": [("crimson", "teal", "?")[i % 3] for i in range(ROWS)],
    }
)
EXPECTED = {
    "patient_id": Role.IDENTIFIER,
    "contact": Role.IDENTIFIER,
    "call": Role.IDENTIFIER,
    "key": Role.IDENTIFIER,
    "hospital_name": Role.QUASI,
    "age": Role.QUASI,
    "code": Role.IDENTIFIER,
    "seen": Role.QUASI,
    "weightKg": Role.QUASI,
    "Diagnosis": Role.SENSITIVE,
    "outcome": Role.TARGET,
    "note": Role.IDENTIFIER,
    "site": Role.QUASI,
    "colour": Role.QUASI,
}


def test_guesses_have_reasons() -> None:
    guesses = {guess.name: guess for guess in draft(FRAME).guesses}
    assert {name: guess.role for name, guess in guesses.items()} == EXPECTED
    assert guesses["contact"].reason == "looks like e-mail addresses"
    assert guesses["call"].reason == "looks like telephone numbers"
    assert guesses["key"].reason.startswith("numbers as a register gives, and nearly every record")
    assert guesses["seen"].hierarchy.name == "dates"
    assert guesses["code"].hierarchy.name == "prefix"
    assert guesses["age"].hierarchy.name == "intervals"


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_draft_of_a_sample_guesses_what_its_author_knows(name: str) -> None:
    sample = SAMPLES[name]
    guesses = {guess.name: guess.role.value for guess in draft(sample.generate(400, 2)).guesses}
    for role in ("identifier",):
        assert all(guesses[column] == role for column in sample.plan.named(role))
    # What the census calls its final weight is nearly everybody's own.
    assert [c for c in sample.plan.named("quasi") if guesses[c] == "identifier"] in ([], ["fnlwgt"])


def test_a_draft_holds_no_value_and_decides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    FRAME.write_csv(path)
    text = draft(path).dumps()
    document = tomllib.loads(text)
    assert {spec["role"] for spec in document["attributes"].values()} == {"undecided"}
    assert "models" not in document
    for column in FRAME.columns:
        known = {value for value in FRAME[column].unique() if len(value) > 3 and column != "site"}
        assert [value for value in known if value in text] == []
    with pytest.raises(PolicyError) as refused:
        Policy.loads(text)
    assert {c.split(":")[1].strip() for c in refused.value.complaints if "undecided" in c} == {
        f"attributes.{name}" for name in FRAME.columns
    }


def test_the_form_of_the_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes("größe;ort\n1;Köln\n?;Bonn\nNA;Köln\n2;Bonn\n".encode("cp1252"))
    drafted = draft(path)
    assert drafted.form == Form("csv", ";", "cp1252", ("", "?", "NA"))
    assert any("cp1252" in doubt for doubt in drafted.doubts)
    assert any('"?" is read as missing (1 times)' in doubt for doubt in drafted.doubts)
    assert any('"NA" is read as missing (1 times)' in doubt for doubt in drafted.doubts)
    assert drafted.guesses[0].hierarchy.name == "intervals"  # without what is missing
    assert tomllib.loads(drafted.dumps())["form"]["nulls"] == ["", "?", "NA"]
    assert draft(path, Form(nulls=("NA",)), guess_nulls=False).form.nulls == ("NA",)


def test_encodings_are_guessed_from_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    for text, encoding in (("a\nx\n", "utf-8"), ("ä\nx\n", "utf-8"), ("ä\nx\n", "cp1252"), ("ä\n", "utf-16")):
        path.write_bytes(text.encode(encoding))
        assert encoding_of(path) == encoding
    path.write_bytes(b"a\n\x81\n")
    with pytest.raises(InputError, match="line 2 is neither UTF-8 nor cp1252"):  # nobody sees that in latin-1
        encoding_of(path)


def test_odd_column_names_stay_readable_toml(tmp_path: Path) -> None:
    names = ["a b", 'say "x"', "tab\there", "ünï", "a.b", "#"]
    frame = pl.DataFrame({name: ["1", "2"] for name in names})
    assert list(tomllib.loads(draft(frame).dumps())["attributes"]) == names


def test_a_file_without_a_header_is_doubted(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("31,7,red\n32,8,blue\n")
    drafted = draft(path)
    assert "header" in drafted.doubts[0]
    assert not drafted.form.header
    assert drafted.records == 2
    assert [guess.name for guess in drafted.guesses] == ["column_1", "column_2", "column_3"]


def test_other_languages_speak_too() -> None:
    frame = pl.DataFrame(
        {
            "Nachname": [f"n{i % 90}" for i in range(100)],
            "Straße": [f"s{i % 80}" for i in range(100)],
            "Alter": [str(i % 60) for i in range(100)],
            "Diagnose": [f"d{i % 4}" for i in range(100)],
            "prénom": [f"p{i % 70}" for i in range(100)],
            "ciudad": [f"c{i % 9}" for i in range(100)],
        }
    )
    roles = [guess.role for guess in draft(frame).guesses]
    who, known = Role.IDENTIFIER, Role.QUASI
    assert roles == [who, who, known, Role.SENSITIVE, who, known]


def test_numbers_and_dates_in_another_notation_are_read() -> None:
    frame = pl.DataFrame(
        {
            "size": ["-", "1.234,5", *(f"1,{i:02}" for i in range(22))],
            "born": ["31.12.1990", "1.2.1991"] * 12,
            "seen": ["2024-01-31", "2024-02-01"] * 12,
            "item": ["1,2,3", "4"] * 12,
        }
    )
    drafted = draft(frame)
    assert drafted.form.numbers == {"size": "1.234,5"}
    assert drafted.form.missing == {"size": ("-",)}
    assert "1234.5" in drafted.doubts[0]
    assert [guess.hierarchy.name for guess in drafted.guesses] == ["intervals", "dates", "dates", "flat"]
    assert drafted.guesses[1].hierarchy.to_policy()["format"] == "%d.%m.%Y"


def test_one_record_is_not_called_harmless() -> None:
    drafted = draft(pl.DataFrame({"name": ["Ann"], "age": ["30"], "x": [None]}))
    assert [guess.role for guess in drafted.guesses] == [Role.IDENTIFIER, Role.QUASI, Role.OTHER]
    assert drafted.doubts == ("there is 1 record only: few to hide in",)
    assert (
        draft(pl.DataFrame({"name": ["Ann", "Bob"]})).doubts[-1] == "there are 2 records only: few to hide in"
    )
