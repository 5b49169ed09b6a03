"""Data as a folder of parts: read by every engine, sealed by one digest, looked at part by part."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.tries import seldom

import privet as pv
from privet import parts
from privet.core import Form
from privet.engine import Engine
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.engines.spark.order import is_in_order
from privet.errors import InputError, TamperedError
from privet.evidence import folder as ev

TABLE = pl.DataFrame({"age": ["30", "31"] * 20, "ill": ["flu", "HIV", None, "flu"] * 10})
RULES = pv.Policy.loads(
    'policy = 1\nrows = "persons"\n[attributes]\nage = { role = "quasi" }\nill = { role = "sensitive" }\n'
    '[[models]]\ntype = "k-anonymity"\nk = 4\n[algorithm]\ntype = "top-down"\n'
)


def in_parts(folder: Path, kind: str) -> Path:
    """A release as a cluster writes it: the data of one that was written here, cut into three parts."""
    pv.publish(TABLE, RULES, output=kind).write(folder)
    data = folder / f"data.{kind}"
    whole = pl.read_csv(data, infer_schema=False) if kind == "csv" else pl.read_parquet(data)
    data.unlink()
    data.mkdir()
    for number, (start, many) in enumerate(((0, 13), (13, 7), (20, 20))):
        Embedded().write(
            Embedded().read(whole[start : start + many], Form()),
            data / parts.name(number, f".{kind}"),
            Form(kind),
        )
    sealed(folder, kind, 3)
    return folder


def sealed(folder: Path, kind: str, many: int) -> None:
    """The evidence as it would be for what lies there: by whoever forges, too."""
    evidence = json.loads((folder / ev.FILE).read_text())
    evidence["data"]["parts"] = many
    evidence["files"][f"data.{kind}"] = parts.digest(folder / f"data.{kind}")
    (folder / ev.FILE).write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_release_in_parts_is_verified(tmp_path: Path, kind: str) -> None:
    folder = in_parts(tmp_path / "out", kind)
    found = pv.verify(folder)
    assert found.holds, found.complaints
    if kind == "csv":
        assert pv.verify(folder, engine="plain").holds
    assert pv.compare(TABLE, folder).to_dict()["records"] == 40
    assert pv.publish(TABLE, RULES, like=folder).evidence.records == 40


def test_one_digest_that_anybody_can_count_again(tmp_path: Path) -> None:
    """As `sha256sum part-* | sha256sum` says it."""
    data = in_parts(tmp_path / "out", "csv") / "data.csv"
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in sorted(data.iterdir())]
    assert parts.digest(data) == hashlib.sha256("".join(lines).encode()).hexdigest()


def complaints(folder: Path) -> str:
    try:
        return " / ".join(pv.verify(folder).complaints)
    except TamperedError as error:
        return " / ".join(error.complaints)


def test_what_is_wrong_with_parts_is_said(tmp_path: Path) -> None:
    folder = in_parts(tmp_path / "changed", "csv")
    part = folder / "data.csv/part-00002.csv"
    part.write_text(part.read_text().replace("flu", "HIV", 1))
    assert "not the file that the evidence was made for" in complaints(folder)

    folder = in_parts(tmp_path / "fewer", "csv")
    (folder / "data.csv/part-00002.csv").unlink()
    assert "other parts than the evidence says" in complaints(folder)

    folder = in_parts(tmp_path / "gap", "csv")
    (folder / "data.csv/part-00002.csv").rename(folder / "data.csv/part-00003.csv")
    sealed(folder, "csv", 3)
    assert "other parts than the evidence says" in complaints(folder)

    folder = in_parts(tmp_path / "beside", "csv")
    (folder / "data.csv/_notes").write_text("Mrs Smith is in row 7")
    sealed(folder, "csv", 4)
    assert "is not the name of a part" in complaints(folder)

    folder = in_parts(tmp_path / "link", "csv")
    (folder / "data.csv/part-00002.csv").unlink()
    (folder / "data.csv/part-00002.csv").symlink_to("/etc/passwd")
    assert "is a link" in complaints(folder)

    folder = in_parts(tmp_path / "deeper", "csv")
    (folder / "data.csv/part-00003.csv").mkdir()
    assert "is a folder" in complaints(folder)

    folder = in_parts(tmp_path / "swapped", "csv")
    first, last = folder / "data.csv/part-00000.csv", folder / "data.csv/part-00002.csv"
    texts = first.read_text(), last.read_text()
    first.write_text(texts[1]), last.write_text(texts[0])
    sealed(folder, "csv", 3)
    assert "canonical order" in complaints(folder)

    folder = in_parts(tmp_path / "unsaid", "csv")
    evidence = json.loads((folder / ev.FILE).read_text())
    del evidence["data"]["parts"]
    (folder / ev.FILE).write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n")
    assert "data.csv is missing" in complaints(folder)

    folder = in_parts(tmp_path / "other", "csv")
    (folder / "report.html").rename(tmp_path / "r")
    (folder / "report.html").mkdir()
    assert "report.html is a folder" in complaints(folder)

    folder = in_parts(tmp_path / "large", "csv")
    with pytest.raises(TamperedError, match="at most 100 are read"):
        pv.verify(folder, limit=100)


def test_a_part_has_one_spelling(tmp_path: Path) -> None:
    """What one part says beside its records is found, as it is in one file."""
    folder = in_parts(tmp_path / "spelt", "csv")
    part = folder / "data.csv/part-00002.csv"
    part.write_text(part.read_text().replace("flu", '"flu"', 1))
    sealed(folder, "csv", 3)
    assert "part-00002.csv holds more than its records" in complaints(folder)

    folder = in_parts(tmp_path / "noted", "parquet")
    part = folder / "data.parquet/part-00001.parquet"
    pl.read_parquet(part).write_parquet(part, metadata={"owner": "Mrs Smith is in row 7"})
    sealed(folder, "parquet", 3)
    assert "part-00001.parquet carries notes" in complaints(folder)


FIELDS: list[dict[str, object]] = [
    {"name": name, "type": "string", "nullable": True, "metadata": {}} for name in ("age", "ill")
]
SCHEMA = "org.apache.spark.sql.parquet.row.metadata"


@pytest.mark.parametrize(
    ("version", "fields", "fine"),
    [
        ("4.0.1", FIELDS, True),
        ("Mrs Smith", FIELDS, False),
        ("4.0.1", [{**FIELDS[0], "metadata": {"comment": "Mrs Smith"}}, FIELDS[1]], False),
        ("4.0.1", [{**FIELDS[0], "name": "Mrs Smith"}, FIELDS[1]], False),
        ("4.0.1", [*FIELDS, {**FIELDS[0], "name": "Mrs Smith"}], False),
        ("4.0.1", [{**FIELDS[0], "type": "Mrs Smith"}, FIELDS[1]], False),
        ("4.0.1", "Mrs Smith", False),
    ],
)
def test_notes_of_spark_say_nothing_but_the_columns(
    tmp_path: Path, version: str, fields: object, *, fine: bool
) -> None:
    folder = in_parts(tmp_path / "out", "parquet")
    said = {SCHEMA: json.dumps({"type": "struct", "fields": fields}), "org.apache.spark.version": version}
    part = folder / "data.parquet/part-00001.parquet"
    pl.read_parquet(part).write_parquet(part, metadata=said)
    sealed(folder, "parquet", 3)
    assert ("carries notes" not in complaints(folder)) is fine


def test_folders_as_a_source(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    with pytest.raises(InputError, match="holds no data"):
        pv.publish(folder, RULES)
    TABLE[:10].write_csv(folder / "part-1.csv")
    TABLE[10:].write_csv(folder / "part-2.csv")
    (folder / "_SUCCESS").touch()
    (folder / ".part-1.csv.crc").touch()
    expected = pv.publish(TABLE, RULES).to_polars()
    for engine in (Embedded(), Plain()):
        assert pv.publish(folder, RULES, engine=engine).to_polars().equals(expected)
    TABLE.rename({"ill": "sick"}).write_csv(folder / "part-3.csv")
    for engine in (Embedded(), Plain()):
        with pytest.raises(InputError, match="column"):
            pv.publish(folder, RULES, engine=engine)
    (folder / "part-3.csv").rename(folder / "part-3.txt")
    with pytest.raises(InputError, match="different endings"):
        pv.publish(folder, RULES)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_parts_are_found_by_their_names(tmp_path: Path, kind: str) -> None:
    form = Form(kind)
    Embedded().write(Embedded().read(TABLE[:10], form), tmp_path / f"part-1.{kind}", form)
    other = TABLE[10:].select("ill", "age")
    Embedded().write(Embedded().read(other, form), tmp_path / f"part-2.{kind}", form)
    expected = pv.publish(TABLE, RULES).to_polars()
    engines: list[Engine[Any]] = [Embedded()]
    if kind == "csv":
        engines.append(Plain())
    for engine in engines:
        assert pv.publish(tmp_path, RULES, engine=engine).to_polars().equals(expected)


@pytest.mark.parametrize(
    ("name", "kind"),
    seldom(
        product(["a*", "a?", "a[1]", "a[!x]"], ["csv", "parquet", "jsonl", "arrow"]),
        [*product(["a*", "a?", "a[1]", "a[!x]"], ["csv"]), *product(["a[1]"], ["parquet", "jsonl", "arrow"])],
    ),
)
def test_a_name_is_no_pattern(tmp_path: Path, name: str, kind: str) -> None:
    """A file that is called so is read, and neither those that a pattern stands for nor none."""
    form, more = Form(kind), pl.concat([TABLE, TABLE])
    for beside in ("ab", "a1"):
        (tmp_path / beside).mkdir()
        for file in (f"{beside}.{kind}", f"{beside}/{beside}.{kind}"):
            Embedded().write(Embedded().read(more, form), tmp_path / file, form)
    place = tmp_path / name
    place.mkdir()
    for source in (tmp_path / f"{name}.{kind}", place / f"{name}.{kind}"):
        Embedded().write(Embedded().read(TABLE, form), source, form)
        assert pv.check(source, RULES)[0][1].holds
        assert pv.publish(source, RULES).evidence.records == 40
    out = tmp_path / f"out {name}"
    pv.publish(place, RULES).write(out)
    found = pv.verify(out)
    assert found.holds
    assert found.complaints == ()
    assert pv.compare(place, out).to_dict()["records"] == 40


def test_parts_have_columns_of_one_type(tmp_path: Path) -> None:
    TABLE.write_parquet(tmp_path / "part-1.parquet")
    TABLE.with_columns(age=pl.col("age").cast(pl.Int64)).write_parquet(tmp_path / "part-2.parquet")
    with pytest.raises(InputError, match=r"part-2\.parquet: has other columns .* other types"):
        pv.publish(tmp_path, RULES)


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_column_without_a_value_in_one_part_has_the_type_of_the_others(tmp_path: Path, empty: int) -> None:
    """Of JSON lines nothing else says it; nulls stand last, so the last part of a release is often such."""
    for number in range(3):
        said = [{"q": "a", "s": None if number == empty else "x", "n": None}] * 2
        place = tmp_path / parts.name(number, ".jsonl")
        place.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
    found = Embedded().read(tmp_path, Form("jsonl")).data
    assert found.get_column("s").to_list() == [None if at // 2 == empty else "x" for at in range(6)]
    assert found.get_column("n").null_count() == 6
    assert is_in_order(tmp_path, Form("jsonl")) == (empty == 2)


def test_the_extra_is_named() -> None:
    """Without pyspark one line says what to install; asked in a process that cannot see it."""
    program = (
        "import sys\nsys.modules['pyspark'] = None\nimport privet as pv\n"
        "try:\n pv.publish('raw.parquet', pv.Policy.loads(sys.argv[1]), engine='spark')\n"
        "except pv.MissingExtraError as error:\n print(error)\n"
        "import privet.engines.spark.engine as engine\n"
        "engine.find_spec = lambda name: None\n"
        "try:\n pv.Spark(master='sail')\n"
        "except pv.MissingExtraError as error:\n print(error)\n"
    )
    text = (
        'policy = 1\nrows = "persons"\n[attributes]\nage = { role = "quasi" }\n'
        '[[models]]\ntype = "k-anonymity"\nk = 4\n[algorithm]\ntype = "top-down"\n'
    )
    done = subprocess.run([sys.executable, "-c", program, text], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "the engine 'spark' needs an extra: pip install 'privet[spark]'",
        "--master sail needs an extra: pip install 'privet[sail]'",
    ]
