"""A table that is written before it is asked for is the same file, and no other table is mistaken for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from privet.core import Form
from privet.engines import embedded
from privet.engines.embedded import Embedded, Frame
from privet.errors import InputError

CSV = Form(format="csv", delimiter=",")


@pytest.fixture(autouse=True)
def small_tables_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "WORTH_BEGINNING", 0)


def table(*values: str) -> Frame:
    return Frame(pl.DataFrame({"a": list(values)}))


def begun(engine: Embedded, asked: Frame, form: Form) -> None:
    with ThreadPoolExecutor(1) as beside:
        engine.ahead(asked, form, beside)


def test_what_was_begun_is_what_would_have_been_written(tmp_path: Path) -> None:
    staging = tmp_path / "staging"
    staging.mkdir()
    engine, asked = Embedded(staging=staging), table("x", "y")
    begun(engine, asked, CSV)
    assert len(list(staging.iterdir())) == 1
    engine.write(asked, tmp_path / "data.csv", CSV)
    Embedded().write(asked, tmp_path / "plain.csv", CSV)
    assert (tmp_path / "data.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()
    assert not list(staging.iterdir())


@pytest.mark.parametrize("form", [CSV, Form(format="csv", delimiter=";")])
def test_another_table_or_another_form_is_written_afresh(tmp_path: Path, form: Form) -> None:
    engine, other = Embedded(staging=tmp_path), table("z", "z")
    asked = table("x", "y")
    begun(engine, asked, CSV)
    written = other if form == CSV else asked
    engine.write(written, tmp_path / "data.csv", form)
    Embedded().write(written, tmp_path / "plain.csv", form)
    assert (tmp_path / "data.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()


def test_what_cannot_be_written_is_said_when_it_is_asked_for(tmp_path: Path) -> None:
    form = Form(format="csv", delimiter=",", nulls=("NA",))
    engine, asked = Embedded(staging=tmp_path), table("x", "NA")
    begun(engine, asked, form)
    with pytest.raises(InputError, match="also a null token"):
        engine.write(asked, tmp_path / "data.csv", form)


def test_without_a_place_nothing_is_begun(tmp_path: Path) -> None:
    engine = Embedded()
    begun(engine, table("x"), CSV)
    assert not list(tmp_path.iterdir())
