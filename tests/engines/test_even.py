"""Lines with as many fields as the header: counted by bytes, against the csv module and polars."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privet import native
from privet.core import Form
from privet.engines import files
from privet.errors import InputError

CSV = Form(format="csv", delimiter=",")
texts = st.text(alphabet='aé,"\n\r;', max_size=30)


@pytest.fixture(autouse=True)
def _built() -> None:
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")


@given(texts, st.integers(2, 4))
@example('a,"', 2)
@example('a,"b""', 2)
@example('a,"b"\r\n', 2)
@example("a,b\r", 2)
@example('a,"b" \n', 2)
@example("a,b\n\n", 2)
@example('a,"\n"\n', 2)
def test_where_lines_are_even_every_reader_agrees(text: str, fields: int) -> None:
    found = files.even_lines(text.encode(), CSV, fields)
    if found is not None:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        assert [len(row) for row in rows] == [fields] * found


@given(st.lists(st.lists(st.text(alphabet='aé,"\n;', max_size=400), min_size=3, max_size=3), max_size=5))
def test_whatever_is_written_properly_is_even(rows: list[list[str]]) -> None:
    for end in ("\n", "\r\n"):
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator=end).writerows(rows)
        for text in (out.getvalue(), out.getvalue().removesuffix(end)):
            assert files.even_lines(text.encode(), CSV, 3) == len(rows)
            assert files.even_lines(text.encode(), CSV, 4) == (None if rows else 0)


@given(st.lists(st.lists(st.text(alphabet='aé," \n', max_size=9), min_size=3, max_size=3), min_size=1))
def test_some_columns_are_those_of_the_whole_table(rows: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["x", "y", "z"], *rows])
    source = out.getvalue().encode()
    assert files.even_lines(source, CSV, 3) == len(rows) + 1
    kept = files._parsed(Path("a.csv"), source, CSV, ["x", "y", "z"], ["x", "z"])
    whole = files._parsed(Path("a.csv"), source, CSV, names := ["x", "y", "z"], names)
    assert kept.equals(whole.select("x", "z"))


@pytest.mark.parametrize("row", ["Doe, Jane,31,flu", "Doe,31", '"Doe,31,flu', 'D"oe,31,flu'])
def test_a_row_that_is_too_long_is_refused_whatever_is_read(row: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"name,age,illness\nA,1,b\n{row}\nB,2,c\n")
    with pytest.raises(InputError):
        files.read(path, CSV, ["age"])


def test_columns_that_nobody_wants_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text('name,age,illness\n"Doe, J",1,b\nB,2,\n')
    asked: list[object] = []
    read = pl.read_csv

    def noted(source: Path, **how: Any) -> pl.DataFrame:
        asked.append(how["columns"])
        return read(source, **how)

    monkeypatch.setattr(pl, "read_csv", noted)
    assert files.read(path, CSV, ["illness", "age"]).columns == ["age", "illness"]
    assert asked == [[1, 2]]
