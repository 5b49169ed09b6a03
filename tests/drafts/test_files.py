"""How a file is written, guessed: headers, notations, words for "missing"."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from privet.core import Form
from privet.drafts.draft import draft
from privet.drafts.files import missing_in, notation_of
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.policy.values import Policy

ENGINES: list[Any] = [Embedded(), Plain()]


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_odd_headers_are_read_under_names_of_their_own(engine: Any, tmp_path: Path) -> None:
    """Padded, unnamed (pandas and R leave the first so) and doubled names were refused."""
    path = written(tmp_path / "a.csv", ", age ,score,score,score_2\n1,30,a,b,c\n2,31,d,e,f\n")
    table = engine.read(path, Form())
    assert engine.columns(table) == ("column_1", "age", "score", "score_3", "score_2")
    assert engine.distinct(table, "score_3") == ["b", "e"]
    doubts = " ".join(draft(path).doubts)
    assert "column_1" in doubts
    assert "'score'" in doubts


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_file_without_a_header_loses_no_record(engine: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "adult.data", "39, State-gov, 77516\n50, ?, 83311\n38, Private, 215646\n")
    drafted = draft(path)
    assert (drafted.form.header, drafted.form.trim, drafted.records) == (False, True, 3)
    table = engine.read(path, drafted.form)
    assert set(engine.distinct(table, "column_2")) == {"State-gov", None, "Private"}
    assert "State-gov" not in drafted.dumps()
    assert draft(written(tmp_path / "b.csv", "name,2019,2020\na,1,2\nb,3,4\n")).form.header  # years are names


@pytest.mark.parametrize(
    ("raw", "header", "told"),
    [
        ("F,Anna\nM,Ben\nF,Carla\n", False, "looks like a record"),  # the first person was two columns' names
        ("Not in universe;White;?\nPrivate;White;x\nNot in universe;Black;y\n", False, "looks like a record"),
        ("F,30\nF,30\nM,30\nF,20\n", False, "looks like a record"),  # a record that comes again is no header
        ("asthma,name\nasthma,Ben\n,Carla\n", True, None),  # a box to tick
        ("sex,age\nm,30\nsex,age\nf,40\n", True, "stands again among the records (1 times)"),
        ("x,n,k,l\nu,n,1,2\nv,m,2,3\n", True, "'n': the name stands among the values too"),
        ("total,n,k,l\nu,n2,1,2\nv,m,2,3\n", True, None),
    ],
)
def test_a_first_line_whose_fields_are_values_of_their_columns_is_a_record(
    raw: str, header: bool, told: str | None, tmp_path: Path
) -> None:
    drafted = draft(written(tmp_path / "a.csv", raw))
    assert drafted.form.header is header
    assert drafted.records == raw.count("\n") - header
    about = [doubt for doubt in drafted.doubts if "record" in doubt and "only" not in doubt]
    assert about == [] if told is None else any(told in doubt for doubt in about)
    if not header:
        assert not any(field in " ".join(drafted.doubts) for field in ("Anna", "White", "30"))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_one_blank_does_not_make_a_text_of_a_number(engine: Any, tmp_path: Path) -> None:
    """A column of ages with one " 21" was a column of words, and all of it was lost."""
    ages = [" 21", "22 ", *map(str, range(23, 60))] * 3
    path = written(tmp_path / "a.csv", "age,sex\n" + "".join(f"{age},m\n" for age in ages))
    drafted = draft(path)
    assert drafted.form.trim
    assert drafted.guesses[0].hierarchy.name == "intervals"
    assert set(engine.distinct(engine.read(path, drafted.form), "age")) == set(map(str, range(21, 60)))
    assert not draft(written(tmp_path / "b.csv", "a,b c\n1,x y\n2,z\n")).form.trim


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("P1;20\nP2;30\nSumme;50\n", True),
        ("P1;20\nP2;30\n;Total\n", True),  # under the first column stands nothing
        ("P1;20\nP2;30\nGRAND TOTAL ;50\n", True),
        ("P1;20\nSumme;50\nP2;30\n", False),
        ("general;20\nspecial;30\ngeneral;50\n", False),  # a value like others
        ("P1;20\nP2;30\nP3;total\n", False),
        ("P1;20\nP2;30\nTotalina;50\n", False),
    ],
)
def test_a_row_of_totals_is_told(rows: str, found: bool, tmp_path: Path) -> None:
    doubts = draft(written(tmp_path / "a.csv", "who;pay\n" + rows)).doubts
    assert any("seems to be a total ('" in doubt for doubt in doubts) is found
    assert "Summe" not in " ".join(doubts)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_notations_and_tokens_of_columns_are_read_alike(engine: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "a;b\n1.234,50;1\n7,25;9999\nk.A.;2\n-12;9999\n0,5;x\n")
    form = Form(numbers={"a": "1.234,5"}, missing={"a": ("k.A.",), "b": ("9999",)})
    table = engine.read(path, form)
    assert set(engine.distinct(table, "a")) == {"1234.50", "7.25", None, "-12", "0.5"}
    assert set(engine.distinct(table, "b")) == {"1", None, "2", "x"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1.234,5", "7,25", "12"], "1.234,5"),
        (["1,5", "2"], "1.234,5"),
        (["1,234.5", "7"], "1,234.5"),
        (["1 234,5", "7,1"], "1 234,5"),
        (["1'234.5", "7"], "1'234.5"),
        (["1.5", "7"], None),
        (["1,2,3", "4"], None),
        (["red", "1,5"], None),
        (["01.02.2003"], None),
    ],
)
def test_notations_are_told_apart(values: list[str], expected: str | None) -> None:
    assert notation_of(values) == (expected, False)


def test_a_notation_that_could_be_another_is_doubted(tmp_path: Path) -> None:
    assert notation_of(["1,234", "56,789"]) == ("1,234.5", True)
    assert notation_of(["0,234", "56,789"])[0] == "1.234,5"
    assert notation_of(["1.234", "567"], comma=True) == ("1.234,5", True)
    path = written(tmp_path / "a.csv", "a;b\n1,234;x\n2,345;y\n")
    assert any("another reading fits" in doubt for doubt in draft(path).doubts)


def test_tokens_are_offered_counted_and_decided_by_the_steward(tmp_path: Path) -> None:
    rows = "".join(f"{20 + i % 60};{'-' if i % 10 == 0 else i}\n" for i in range(100))
    path = written(tmp_path / "a.csv", f"age;score\n{rows}9999;1\n9999;2\n")
    drafted = draft(path)
    assert [(o.column, o.token, o.records) for o in drafted.offers] == [("age", "9999", 2)]
    assert drafted.form.missing == {"score": ("-",)}  # all others are numbers
    text = drafted.dumps()
    assert tomllib.loads(text)["form"]["missing"] == {"score": ["-"]}
    line = next(line for line in text.splitlines() if line.startswith("# missing"))
    decided = tomllib.loads(text.replace(line, line[2:]))  # the "#" is taken away
    assert decided["form"]["missing"]["age"] == ["9999"]


def test_what_may_be_missing() -> None:
    assert missing_in(["1", "2", "-", "k.A."]) == (["-", "k.A."], [])
    assert missing_in(["red", "blue", "-"]) == ([], ["-"])
    assert missing_in(["2024-01-01", "2024-02-03", "unknown"]) == (["unknown"], [])
    assert missing_in(["30", "40", "9999"]) == ([], ["9999"])
    assert missing_in(["30", "40", "-1"]) == ([], ["-1"])
    assert missing_in(["5000", "8000", "9999"]) == ([], [])  # one number among others
    assert missing_in(["-5", "-1", "4"]) == ([], [])


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["31.12.1990", "1.2.1991"], "%d.%m.%Y"),
        (["5/19/2006 0:00:00", "1/2/2006 0:00:00"], "%m/%d/%Y %H:%M:%S"),
        (["19/5/2006 08:30", "1/2/2006 9:15"], "%d/%m/%Y %H:%M"),
        (["20240131", "19991201"], "%Y%m%d"),
        (["5 Mar 2024", "17 Dec 1999"], "%d %b %Y"),
    ],
)
def test_dates_of_other_forms_have_a_calendar(values: list[str], form: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "seen;x\n" + "".join(f"{value};1\n" for value in values * 3))
    (seen, _) = draft(path).guesses
    assert seen.hierarchy.to_policy()["format"] == form
    labels = {node.label for node in seen.hierarchy.domain(values).root.walk()}
    assert {value for value in labels if value and value.endswith("0s")}  # decades


def test_dates_that_could_be_read_both_ways_are_doubted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "seen;x\n1/2/2024;1\n3/4/2024;2\n")
    assert any("day first" in doubt for doubt in draft(path).doubts)


def test_a_quoted_nothing_among_numbers_is_missing(tmp_path: Path) -> None:
    """Files with quotes around everything had an empty text among their numbers, and did not leave."""
    rows = "".join(f'"{i % 40}","a"\n' for i in range(80))
    path = written(tmp_path / "a.csv", f'"age","x"\n{rows}"","b"\n')
    drafted = draft(path)
    assert drafted.form.missing == {"age": ("",)}
    assert drafted.guesses[0].hierarchy.name == "intervals"
    assert None in Embedded().distinct(Embedded().read(path, drafted.form), "age")


def test_a_column_whose_type_changes_midway_is_one_column(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "x\n" + "1\n" * 3000 + "red\n" * 3000)
    assert draft(path).guesses[0].hierarchy.name == "flat"


def test_a_frame_is_read_as_its_form_says_too() -> None:
    frame = pl.DataFrame({"size": ["1,75", "1,80", "k.A.", "1,75"] * 9, "x": [1, 2, 9999, 1] * 9})
    form = draft(frame).form
    assert (form.numbers, form.missing) == ({"size": "1.234,5"}, {"size": ("k.A.",)})
    assert set(Embedded().distinct(Embedded().read(frame, form), "size")) == {"1.75", "1.80", None}


def test_many_values_are_sampled_and_it_is_said() -> None:
    frame = pl.DataFrame({"v": [str(i) for i in range(60_000)], "w": ["a", "b"] * 30_000})
    assert any("sample of 50,000" in doubt and "'v'" in doubt for doubt in draft(frame).doubts)


def test_the_form_survives_a_policy() -> None:
    text = """
        policy = 1
        [form]
        header = false
        trim = true
        sheet = "Patienten"
        numbers.size = "1.234,5"
        missing.age = ["9999", "-"]
        [attributes]
        age = { role = "quasi" }
        [[models]]
        type = "k-anonymity"
        k = 2
    """
    policy = Policy.loads(text)
    assert policy.form.missing == {"age": ("9999", "-")}
    assert Policy.loads(policy.dumps()).form == policy.form
    assert "header" not in Policy.loads(text.replace("header = false", "")).dumps()
