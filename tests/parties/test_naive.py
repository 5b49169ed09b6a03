"""Each for itself, for comparison: what tables 5.3 and 5.4 of Mohammed 2012 are about."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
import tomli_w
from tests.parties import test_loan
from tests.parties.hospitals import document, parts

from privet.cli import main
from privet.errors import InputError
from privet.parties.contract import Contract
from privet.registry import find
from privet.rehearsal import rehearse
from privet.roads.parties.naive import lost, published_apart

ENGINE = find("engines", "embedded")()


def test_each_for_itself_loses_more_than_together(tmp_path: Path) -> None:
    agreed = Contract.from_document(document(), base=tmp_path)
    sources = [str(path) for path in parts(tmp_path)]
    alone = published_apart(agreed, sources, ENGINE)
    together = rehearse(agreed, sources)
    assert alone.nothing == ()
    assert alone.loss is not None
    assert alone.loss > lost(together.table, agreed) > 0
    rows = sum(table.height for table in alone.tables.values())
    assert rows == together.table.height == 11


def test_loss_by_hand(tmp_path: Path) -> None:
    agreed = Contract.from_document(document(), base=tmp_path)
    domains = agreed.domains
    raw = {name: [domains[name].values[0]] for name in ("Job", "Sex", "Age")}
    assert lost(pl.DataFrame(raw), agreed) == 0
    top = {name: [domains[name].root.label] for name in ("Job", "Sex", "Age")}
    assert lost(pl.DataFrame(top), agreed) == 1
    half = {**raw, "Job": ["Non-Technical"]}  # two of six jobs
    assert lost(pl.DataFrame(half), agreed) == Fraction(1, 5) / 3


def test_who_has_too_few_rows_publishes_nothing_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = document()
    said["policy"]["models"] = [{"type": "k-anonymity", "k": 4}]
    path = tmp_path / "contract.toml"
    path.write_text(tomli_w.dumps(said))
    sources = [str(part) for part in parts(tmp_path)]
    assert main(["joint", "rehearse", str(path), *sources, "--apart"]) == 0
    told = capsys.readouterr().out
    assert "A alone could publish nothing" in told
    assert "B alone" not in told
    assert main(["joint", "rehearse", str(path), *sources, "--apart", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nothing_apart"] == ["A"]
    assert found["loss"] < found["loss_apart"]


def test_of_columns_it_is_not_offered(tmp_path: Path) -> None:
    agreed = Contract.from_document(test_loan.document(), base=tmp_path)
    with pytest.raises(InputError, match="not private"):
        published_apart(agreed, [], ENGINE)
