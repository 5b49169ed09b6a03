"""Workbooks, and files of Stata, SPSS and SAS: in, and where it can be out again, with their labels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from privet.core import Form
from privet.drafts.accept import accept
from privet.drafts.draft import draft
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.errors import InputError, MissingExtraError, UnsupportedError
from privet.policy.presets import Preset
from privet.policy.values import Policy
from privet.roads import publish
from privet.verification import verify

LABELS = {"pid": "Person number", "sex": "Sex of respondent", "age": "Age at interview"}


def survey(records: int = 120) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "pid": [10_000 + 7 * i for i in range(records)],
            "sex": [1 + i % 2 for i in range(records)],
            "age": [float(20 + i % 50) for i in range(records)],
            "region": [("north", "south", None)[i % 3] for i in range(records)],
            "income": [None if i % 9 == 0 else 1000.5 + i % 7 for i in range(records)],
            "seen": [date(2020, 1 + i % 12, 1 + i % 28) for i in range(records)],
        }
    )


@pytest.fixture(params=["dta", "sav", "xpt"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / f"survey.{request.param}"
    write = {"dta": pyreadstat.write_dta, "sav": pyreadstat.write_sav, "xpt": pyreadstat.write_xport}
    more = {} if request.param == "xpt" else {"variable_value_labels": {"sex": {1: "male", 2: "female"}}}
    frame = survey().with_columns(pl.col("region").fill_null(""))
    write[request.param](frame, str(path), column_labels=LABELS, **more)
    return path


def test_values_are_read_as_people_write_them(file: Path) -> None:
    engine = Embedded()
    table = engine.read(file, Form())
    assert engine.columns(table) == tuple(survey().columns)
    expected = {"1", "2"} if file.suffix == ".xpt" else {"male", "female"}
    assert set(engine.distinct(table, "sex")) == expected
    assert "20" in engine.distinct(table, "age")  # a whole number, though all are stored as reals
    assert set(engine.distinct(table, "region")) == {"north", "south", None}
    assert None in engine.distinct(table, "income")
    assert "2020-01-01" in engine.distinct(table, "seen")


@pytest.mark.one_in(2)
def test_a_release_has_the_format_and_the_labels_again(file: Path, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    policy = Policy.loads(accept(draft(file), Preset.find("statistics-office-3")).text)
    folder = publish(file, policy).write(tmp_path / "out")
    assert verify(folder).holds
    if file.suffix == ".xpt":
        assert (folder / "data.csv").is_file()  # read, not written
        return
    made = folder / f"data{file.suffix}"
    read = pyreadstat.read_dta if file.suffix == ".dta" else pyreadstat.read_sav
    frame, meta = read(str(made), output_format="polars")
    assert frame.height == 120
    assert meta.column_names_to_labels["sex"] == LABELS["sex"]
    assert "pid" not in meta.column_names_to_labels  # dropped, and its label with it
    assert set(frame["sex"]) <= {"male", "female", "*"}


def labelled(path: Path, codes: Sequence[float], said: dict[int, str], label: str | None = None) -> Path:
    """A file with a column of codes, of which some have labels."""
    pyreadstat = pytest.importorskip("pyreadstat")
    write = {".dta": pyreadstat.write_dta, ".sav": pyreadstat.write_sav}[path.suffix]
    frame = pl.DataFrame(
        {"sex": [1 + at % 2 for at in range(120)], "v5": [codes[at % len(codes)] for at in range(120)]}
    )
    more = {} if label is None else {"column_labels": {"v5": label, "sex": "Sex"}}
    write(frame, str(path), variable_value_labels={"v5": said} if said else None, **more)
    return path


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_a_label_that_is_another_code_merges_nothing(ending: str, tmp_path: Path) -> None:
    """Code 2 was called 3, and so was code 3: a release said of 124 people what they had not answered."""
    path = labelled(tmp_path / f"a.{ending}", [1, 2, 3], {1: "one", 2: "3"})
    with pytest.raises(InputError, match="column 'v5': a code is labelled with what another code is"):
        Embedded().read(path, Form())
    for codes, said in (
        ([1, 2, 3], {1: "one", 2: "3", 3: "three"}),
        ([1, 2], {1: "2", 2: "1"}),
        ([1, 3], {2: "3"}),
    ):
        path = labelled(tmp_path / f"b.{ending}", codes, said)
        assert len(Embedded().distinct(Embedded().read(path, Form()), "v5")) == len(codes)


@pytest.mark.parametrize("ending", ["dta", "sav"])
@pytest.mark.parametrize(
    "label",
    [
        "Rated by Dr. Anna Smith, tel. +49 170 1234567",
        "ask José García",
        "see rater@example.org",
        "measured in Königstraße 12",
    ],
)
def test_a_label_that_names_somebody_does_not_leave(label: str, ending: str, tmp_path: Path) -> None:
    """A cell with that text would have dropped its column; the label left unread."""
    pyreadstat = pytest.importorskip("pyreadstat")
    path = labelled(tmp_path / f"a.{ending}", [1, 2, 3], {}, label)
    by_hand = """
        policy = 1
        kind = "table"
        rows = "persons"
        [[models]]
        type = "k-anonymity"
        k = 3
        [attributes.sex]
        role = "quasi"
        [attributes.v5]
        role = "sensitive"
    """
    for text in (by_hand, accept(draft(path), Preset.find("statistics-office-3")).text):
        release = publish(path, Policy.loads(text))
        warned = [one for one in release.private["warnings"] if "label" in one]
        assert len(warned) == 1
        assert "'v5'" in warned[0]
        folder = release.write(tmp_path / f"out{len(text)}")
        assert verify(folder).holds
        read = {"dta": pyreadstat.read_dta, "sav": pyreadstat.read_sav}[ending]
        _, meta = read(str(folder / f"data.{ending}"))
        assert {name: said for name, said in meta.column_names_to_labels.items() if said} == {"sex": "Sex"}
        for made in folder.iterdir():
            assert label.encode() not in made.read_bytes()
    assert not [
        one
        for one in publish(path, Policy.loads(by_hand), output="csv").private.get("warnings", ())
        if "label" in one
    ]


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_labels_are_used_among_fractions(ending: str, tmp_path: Path) -> None:
    path = labelled(tmp_path / f"a.{ending}", [1.0, 2.5, 9.0], {9: "refused"})
    assert set(Embedded().distinct(Embedded().read(path, Form()), "v5")) == {"1.0", "2.5", "refused"}
    path = labelled(tmp_path / f"b.{ending}", [1.0, 2.5, 9.0], {9: "2.5"})
    with pytest.raises(InputError, match="column 'v5'"):
        Embedded().read(path, Form())


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyreadstat")
    pytest.importorskip("fastexcel")
    for ending in ("dta", "sav", "sas7bdat", "xpt", "xlsx"):
        path = tmp_path / f"a.{ending}"
        path.write_bytes(b"PK no such thing")
        with pytest.raises(InputError, match="cannot be read"):
            Embedded().read(path, Form())
    with pytest.raises(UnsupportedError, match="embedded"):
        Plain().read(path, Form())


def test_a_missing_library_is_named_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    for ending, extra in (("dta", "statistics"), ("xlsx", "excel")):
        path = tmp_path / f"a.{ending}"
        path.write_bytes(b"x")
        with pytest.raises(MissingExtraError, match=rf"privet\[{extra}\]"):
            Embedded().read(path, Form())


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    with xlsxwriter.Workbook(str(path), {"default_date_format": "dd.mm.yyyy"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
    return path


ROWS: list[list[Any]] = [
    ["Name", "Größe", "gesehen", "n", "n"],
    *([f"P{i}", "1,75" if i % 2 else "k.A.", date(1990, 1 + i % 12, 2), i % 3, i % 4] for i in range(30)),
]


def test_a_workbook_is_a_table_of_text(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"leer": [], "Daten": [["Export 2024"], [], *ROWS]})
    engine = Embedded()
    table = engine.read(path, Form())
    assert engine.columns(table) == ("Name", "Größe", "gesehen", "n", "n_2")
    assert engine.rows(table) == 30
    assert "1990-01-02" in engine.distinct(table, "gesehen")
    assert set(engine.distinct(table, "n")) == {"0", "1", "2"}
    drafted = draft(path)
    assert drafted.form.numbers == {"Größe": "1.234,5"}
    assert drafted.form.missing == {"Größe": ("k.A.",)}
    assert drafted.guesses[1].hierarchy.name == "intervals"
    assert any("stands more than once: 'n'" in doubt for doubt in drafted.doubts)


def test_of_several_sheets_the_steward_names_one(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"Januar": ROWS, "Februar": ROWS[:5]})
    with pytest.raises(InputError, match="'Januar', 'Februar'; say which with --sheet"):
        Embedded().read(path, Form())
    with pytest.raises(InputError, match="no sheet 'März'"):
        Embedded().read(path, Form(sheet="März"))
    assert Embedded().rows(Embedded().read(path, Form(sheet="Februar"))) == 4
    empty = workbook(tmp_path / "b.xlsx", {"x": []})
    with pytest.raises(InputError, match="empty"):
        Embedded().read(empty, Form())


def test_a_workbook_leaves_as_csv_and_tells_nothing_of_its_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"Station Meier": ROWS, "x": ROWS})
    policy = Policy.loads(
        accept(draft(path, Form(sheet="Station Meier")), Preset.find("statistics-office-3")).text
    )
    folder = publish(path, policy).write(tmp_path / "out")
    assert verify(folder).holds
    assert "Meier" not in "".join(made.read_text(errors="replace") for made in folder.iterdir())
    assert Policy.load(folder / "policy.toml").form == Form("csv")
