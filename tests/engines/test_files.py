"""Files: the fast reader and the plain one see the same table, or refuse the same file."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privet.core import Form
from privet.engine import Engine
from privet.engines.embedded import Embedded, Frame
from privet.engines.plain import Plain, Rows
from privet.engines.plain_text import as_text
from privet.errors import InputError, UnsupportedError

EMBEDDED, PLAIN = Embedded(), Plain()


def read(
    engine: Engine[Any], path: Path, form: Form, columns: list[str] | None = None
) -> dict[str, list[Any]] | None:
    """The table as texts, or None where the file is refused."""
    try:
        table = engine.read(path, form, columns)
    except InputError:
        return None
    frame = pl.DataFrame(engine.arrow(table))
    return {
        name: [as_text(value) for value in frame.get_column(name).to_list()] for name in engine.columns(table)
    }


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


# Whatever the bytes are: texts made of the characters that matter. (A carriage return that stands alone
# and unquoted is not among them: polars takes a field of nothing else for a null.)

SPECIAL = st.sampled_from(
    ["a", "b", ",", ";", '"', '""', "\n", "\r\n", " ", "NA", "é", ',"x"', '"x,y"', "\n\n"]
)


@settings(max_examples=400)
@given(
    header=st.sampled_from(["a,b", "a", '"a,b",c', "a,b,c", '"a""b",c']),
    body=st.lists(SPECIAL, max_size=14).map("".join),
    nulls=st.sampled_from([("",), ("NA",), ("", "NA"), ()]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
@example(header="a", body='"x"\n\n"y"\n\n', nulls=("",), ending="\n")
@example(header="a,b", body='x,""\n"",\n', nulls=("",), ending="\n")
@example(header="a,b", body="1,2\n\n\n", nulls=("",), ending="\n")
@example(header="a,b", body="1,2\n\n3,4\n", nulls=("",), ending="\n")
@example(header="a,b", body='5" x,1\n2,3\n6" y,4\n', nulls=("",), ending="\n")
def test_any_text_is_read_alike_or_refused_alike(
    folder: Path, header: str, body: str, nulls: tuple[str, ...], ending: str
) -> None:
    path = folder / "fuzz.csv"
    path.write_bytes((header + ending + body).encode())
    form = Form(delimiter=",", nulls=nulls)
    one, other = read(EMBEDDED, path, form), read(PLAIN, path, form)
    if one is None or other is None:
        # Only where quotes or line ends are broken may one be more careful than the other; and an empty
        # field too many at the very end, without a line end, is nothing to polars.
        assert one is other or "\r" in body or '"' in body or body.endswith(",")
        return
    assert one == other


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(st.none() | words, st.none() | words), min_size=1, max_size=6),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    zipped=st.booleans(),
)
def test_what_one_writes_the_other_reads(
    folder: Path, rows: list[tuple[str | None, str | None]], delimiter: str, zipped: bool
) -> None:
    table: dict[str, list[Any]] = {"a": [a for a, _ in rows], 'b "c"': [b for _, b in rows]}
    frame = pl.DataFrame(table, schema=dict.fromkeys(table, pl.String))
    form = Form(format="csv", delimiter=delimiter)
    end = ".csv.gz" if zipped else ".csv"
    EMBEDDED.write(EMBEDDED.read(frame, form), folder / f"one{end}", form)
    PLAIN.write(Rows(dict(table)), folder / f"two{end}", form)
    for engine in (EMBEDDED, PLAIN):
        for name in ("one", "two"):
            assert read(engine, folder / f"{name}{end}", form) == table


numbers = st.integers(-(2**40), 2**40) | st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: x != int(x))
kinds = [st.booleans(), numbers, words, st.integers(-9, 9), words | st.integers(-9, 9)]


@settings(max_examples=150)
@given(st.data())
def test_json_lines_are_read_alike(folder: Path, data: st.DataObject) -> None:
    height = data.draw(st.integers(1, 6))
    columns = {
        name: data.draw(
            st.lists(st.none() | data.draw(st.sampled_from(kinds)), min_size=height, max_size=height)
        )
        for name in ("a", "b é")
    }
    lines = [{name: values[at] for name, values in columns.items()} for at in range(height)]
    path = folder / "fuzz.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read(EMBEDDED, path, Form()) == read(PLAIN, path, Form())


def both(path: Path, form: Form | None = None) -> dict[str, list[Any]]:
    one, other = (read(engine, path, form or Form()) for engine in (EMBEDDED, PLAIN))
    assert one == other
    assert one is not None
    return one


def test_text_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("zip,price,flag,date\n007,1.50,TRUE,2024-01-01\n0e3,-0,1,\n")
    assert both(path) == {
        "zip": ["007", "0e3"],
        "price": ["1.50", "-0"],
        "flag": ["TRUE", "1"],
        "date": ["2024-01-01", None],
    }


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig", "utf-32", "shift_jis", "UTF_8"]
)
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
def test_encodings(tmp_path: Path, encoding: str, zipped: bool) -> None:
    town = "東京" if encoding == "shift_jis" else "Zürich"
    raw = f"town;n\n{town};1\n".encode(encoding)
    path = tmp_path / ("a.csv.gz" if zipped else "a.csv")
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    assert both(path, Form(encoding=encoding)) == {"town": [town], "n": ["1"]}


@pytest.mark.parametrize("engine", [EMBEDDED, PLAIN], ids=["embedded", "plain"])
def test_a_letter_that_the_encoding_lacks_does_not_stop_a_release(
    tmp_path: Path, engine: Engine[Any]
) -> None:
    (tmp_path / "a.csv").write_text("a\n≥90\n", encoding="utf-8")
    form = Form(format="csv", encoding="latin-1")
    engine.write(engine.read(tmp_path / "a.csv", Form()), tmp_path / "b.csv", form)
    assert (tmp_path / "b.csv").read_bytes() == b"a\n&#8805;90\n"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_header_tells_the_delimiter(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"sex{mark}age{mark}race or origin\nM{mark}1{mark}x\n")
    assert both(path) == {"sex": ["M"], "age": ["1"], "race or origin": ["x"]}


def test_only_what_is_asked_for_is_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2,3\n")
    for engine in (EMBEDDED, PLAIN):
        assert read(engine, path, Form(), ["c", "a"]) == {"a": ["1"], "c": ["3"]}


@pytest.mark.parametrize(
    "rows", ["Smith, John,34,9\n", "Smith, John,34,9\n1,2\n"], ids=["long", "long and short"]
)
def test_a_row_that_is_too_long_is_refused_whatever_is_asked_for(tmp_path: Path, rows: str) -> None:
    """Else a comma in a name that is not quoted moves half of the name into a column that is published."""
    path = tmp_path / "a.csv"
    path.write_text(f"name,age,x\n{rows}B,3,4\n")
    for engine in (EMBEDDED, PLAIN):
        with pytest.raises(InputError, match="line 2 has 4 fields, the header has 3"):
            engine.read(path, Form(), ["age", "x"])


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.csv", b"", "the file is empty"),
    "blank": ("a.csv", b"\n\n", "empty"),
    "header only": ("a.csv", b"a,b\n", "not one record"),
    "short row": ("a.csv", b"a,b\n1,2\n3\n", "line 3 has 1 fields, the header has 2"),
    "long row": ("a.csv", b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, the header has 2"),
    "blank row": ("a.csv", b"a,b\n1,2\n\n3,4\n", "line 3 has 0 fields"),
    "many bad rows": ("a.csv", b"a,b\n" + b"1\n" * 9, "and 4 more lines like these"),
    "open quote": ("a.csv", b'a,b\n1,"2\n', "not closed"),
    "text after quote": ("a.csv", b'a,b\n"1"x,2\n', "not closed"),
    "wrong encoding": ("a.csv", b"a,b\n1,2\n\xff,4\n", "line 3 is not utf-8"),
    "binary": ("a.csv", bytes(range(256)), "not a text file"),
    "huge field": ("a.csv", b"a,b\n1," + b"x" * 140_000 + b"\n", "140,000 bytes"),
    "huge header": ("a.csv", b"x" * 200_000, "header"),
    "no gzip": ("a.csv.gz", b"a,b\n1,2\n", "really what its name says"),
    "no ending": ("data", b"a,b\n1,2\n", "say --format"),
    "unknown ending": ("a.dat", b"PK", "format is one of"),
    "no json": ("a.jsonl", b'{"a": 1}\n\n{"a": 1\n', "line 3 is not JSON"),
    "json list": ("a.jsonl", b"[1]\n", "line 1 is JSON, but no object"),
    "json nested": ("a.jsonl", b'{"a": {"b": 1}}\n', "line 1: column 'a' holds lists or objects"),
    "a note for Excel": ("a.csv", b"sep=;\r\na;b\r\n1;2\r\n", "line 1 is a note for Excel"),
    "a note for Excel behind a mark": ("a.csv", b'\xef\xbb\xbf"sep=,"\na,b\n1,2\n', "line 1 is a note"),
    "json of two kinds": ("a.jsonl", b'{"a": 1}\n{"a": true}\n', "line 2: column 'a' holds true or false"),
}


@pytest.mark.parametrize("engine", [EMBEDDED, PLAIN], ids=["embedded", "plain"])
@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_the_same_words(tmp_path: Path, engine: Engine[Any], name: str) -> None:
    file, content, words_ = BAD[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(InputError) as caught:
        engine.read(tmp_path / file, Form())
    assert words_ in str(caught.value)
    assert all(complaint.startswith(str(tmp_path)) for complaint in caught.value.complaints)


@pytest.mark.parametrize("engine", [EMBEDDED, PLAIN], ids=["embedded", "plain"])
def test_lists_in_a_column_that_nobody_asks_for_are_no_trouble(tmp_path: Path, engine: Engine[Any]) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": [1, 2]}\n{"a": 2, "b": []}\n')
    assert read(engine, tmp_path / "a.jsonl", Form(), ["a"]) == {"a": ["1", "2"]}
    with pytest.raises(InputError, match="'b' holds lists or objects"):
        engine.read(tmp_path / "a.jsonl", Form(), ["a", "b"])


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([[1, 2], []]),
        pl.Series([["a"], [None]]),
        pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
        pl.Series([{"k": 1}, {"k": 2}]),
    ],
    ids=["list", "texts", "array", "object"],
)
def test_lists_in_a_frame_are_refused_by_name(column: pl.Series) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": column})
    assert EMBEDDED.read(frame, Form(), ["a"]).data.columns == ["a"]
    with pytest.raises(InputError, match=r"'b' holds lists or objects; .*: leave it out, or write"):
        EMBEDDED.read(frame, Form(), ["a", "b"])


@pytest.mark.parametrize("engine", [EMBEDDED, PLAIN], ids=["embedded", "plain"])
def test_no_file_and_no_column(tmp_path: Path, engine: Engine[Any]) -> None:
    with pytest.raises(InputError, match="no such file"):
        engine.read(tmp_path / "nowhere.csv", Form())
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    with pytest.raises(InputError) as caught:
        engine.read(tmp_path / "a.csv", Form(delimiter=","), ["a", "b"])
    assert len(caught.value.complaints) == 2
    assert "is ',' the delimiter? say --delimiter" in str(caught.value)


@pytest.mark.parametrize("engine", [EMBEDDED, PLAIN], ids=["embedded", "plain"])
@pytest.mark.parametrize("form", [Form(encoding="klingon"), Form(delimiter=";;"), Form(format="xml")])
def test_a_form_that_is_none(tmp_path: Path, engine: Engine[Any], form: Form) -> None:
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    with pytest.raises(InputError):
        engine.read(tmp_path / "a.csv", form)


@pytest.mark.parametrize("format_", ["parquet", "arrow"])
def test_plain_says_what_it_cannot_do(tmp_path: Path, format_: str) -> None:
    (tmp_path / f"a.{format_}").write_bytes(b"x")
    with pytest.raises(UnsupportedError, match=rf"'plain'.*{format_}.*'embedded'"):
        PLAIN.read(tmp_path / f"a.{format_}", Form())
    with pytest.raises(UnsupportedError, match=rf"'plain'.*{format_}"):
        PLAIN.write(Rows({"a": ["1"]}), tmp_path / "b", Form(format=format_))
    with pytest.raises(UnsupportedError, match="database"):
        PLAIN.read("sqlite:///a.db", Form(query="select 1"))
    with pytest.raises(UnsupportedError, match="DataFrame"):
        PLAIN.read(pl.DataFrame({"a": [1]}), Form())


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_moments_leave_in_the_texts_by_which_they_are_counted(tmp_path: Path, kind: str) -> None:
    moments = pl.Series([0, 1_000_001, None]).cast(pl.Datetime("us"))
    zoned = moments.dt.replace_time_zone("Europe/Berlin")
    table = pl.DataFrame({"a": moments, "b": zoned, "c": moments.dt.time(), "d": moments.dt.date()})
    EMBEDDED.write(Frame(table), tmp_path / f"t.{kind}", Form(kind))
    assert read(EMBEDDED, tmp_path / f"t.{kind}", Form()) == {
        column.name: column.cast(pl.String).to_list() for column in table
    }


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64) | st.booleans()


@example([0.0, -0.0, 1e3, 1e25, 1e-7, 5e-324, 752198436225737.25, 12345678901234567890123])
@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_numbers_among_texts_are_written_alike(folder: Path, values: list[float]) -> None:
    path = folder / "mixed.jsonl"
    path.write_text("".join(json.dumps({"a": value}) + "\n" for value in [*values, "a text"]))
    assert read(PLAIN, path, Form()) == read(EMBEDDED, path, Form()) is not None
