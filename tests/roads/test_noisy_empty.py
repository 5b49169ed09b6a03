"""A paid release always arrives, also where noise or the data leaves not one record (issue 14, line 5)."""

from __future__ import annotations

import gzip
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.roads import noisy
from tests.tries import seldom

import privet as pv
from privet.dp.exact import Exact
from privet.dp.ledger import Ledger
from privet.engines.plain import Plain
from privet.evidence import folder as ev

NONE = noisy.table(1).head(0)
COLUMNS = ["job", "age", "pay", "codes", "ill"]
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")
OUTPUTS = {"records": "", "counts": 'output = "counts"\n'}


@pytest.fixture
def far_below_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that takes every count below zero: half of all runs on a small table are like that."""
    monkeypatch.setattr(Exact, "laplace", lambda _self, _scale, n: np.full(n, -10_000, dtype=np.int64))


@pytest.mark.usefixtures("far_below_zero")
@pytest.mark.parametrize(
    ("output", "format_", "rows"),
    seldom(
        product(OUTPUTS, FORMATS, [0, 7]),
        [*product(OUTPUTS, ["csv"], [0, 7]), *product(["records"], FORMATS, [0])],
    ),
)
def test_an_empty_table_leaves_like_any_other(output: str, format_: str, rows: int, tmp_path: Path) -> None:
    noisy.ledger(tmp_path)
    raw = noisy.table(rows) if rows else NONE
    release = pv.publish(raw, noisy.policy(tmp_path, noisy.TEXT + OUTPUTS[output]), output=format_)
    folder = release.write(tmp_path / "out")
    assert release.evidence.records == 0
    assert release.to_polars().height == 0
    assert release.to_polars().columns == [*COLUMNS, *(["count"] if output == "counts" else [])]
    found = pv.verify(folder)
    assert found.holds, found.complaints
    compared = pv.compare(raw, folder)
    assert compared["records"] == {"raw": rows, "published": 0}
    assert compared["counts"]["total"] == rows
    assert pv.compare(raw, release)["counts"] == compared["counts"]
    assert "0 records" in (folder / "report.html").read_text("utf-8")
    (entry,) = Ledger(tmp_path / "ledger.sqlite").releases()
    assert (entry.state, entry.digest) == ("released", f"sha256:{ev.digest(folder / 'evidence.json')}")


def test_no_record_costs_what_one_does_and_is_not_told_apart(tmp_path: Path) -> None:
    """A table without a record is the neighbour of one with one: same payments, same columns, same words."""
    told = {}
    for rows in (0, 1):
        place = tmp_path / str(rows)
        place.mkdir()
        noisy.ledger(place)
        text = noisy.TEXT.replace("h = 5", "h = 1").replace('codes = { role = "quasi"', "# ")
        release = pv.publish(noisy.table(rows) if rows else NONE, noisy.policy(place, text))
        release.write(place / "out")
        paid = release.evidence.ledger
        assert paid is not None
        told[rows] = (paid.spent, release.evidence.columns, release.evidence.cautions)
        assert Ledger(place / "ledger.sqlite").balance("ward").spent == Fraction(1, 2)
    assert told[0] == told[1]


def test_a_record_too_many_is_still_found(tmp_path: Path) -> None:
    """An empty table is not a blank cheque: what a forger adds is found."""
    noisy.ledger(tmp_path)
    release = pv.publish(NONE, noisy.policy(tmp_path, noisy.TEXT + 'consistency = "clamp"\n'), output="jsonl")
    folder = release.write(tmp_path / "out")
    for name in ("data.jsonl", "counts.jsonl"):
        (folder / name).write_text('{"other": "x"}\n', "utf-8")
    evidence = ev.read(folder)
    assert evidence.files is not None
    files = {name: ev.digest(folder / name) for name in evidence.files}
    ev.write(folder / "evidence.json", replace(evidence, files=files))
    assert not pv.verify(folder).holds


def test_engines_refuse_no_record_unless_it_may_be(tmp_path: Path) -> None:
    from privet.core import Form
    from privet.engines.embedded import Embedded
    from privet.errors import InputError

    (tmp_path / "a.csv").write_text("x,y\n", "utf-8")
    (tmp_path / "a.jsonl").write_text("", "utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"\n"))
    for engine in (Embedded(), Plain()):
        for name in ("a.csv", "a.jsonl"):
            form = Form(format=name.rpartition(".")[2])
            with pytest.raises(InputError):
                engine.read(tmp_path / name, form, ["x"])
            table: Any = engine.read(tmp_path / name, form, ["x"], empty=True)
            assert engine.columns(table) == ("x",)
            assert engine.rows(table) == 0
    assert Embedded().read(tmp_path / "b.jsonl.gz", Form(), ["x"], empty=True).data.columns == ["x"]
