"""Cells that a spreadsheet may run are said before anybody opens a release in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.roads.test_transactions import reseal

import privet as pv
from privet.cli import main
from privet.errors import PolicyError
from privet.spreadsheets import like_formula

POLICY = """policy = 1
[attributes]
sex = { role = "quasi" }
s = { role = "sensitive" }
note = { role = "other" }
[[models]]
type = "k-anonymity"
k = 2
"""
ESCAPED = POLICY.replace("[attributes]", 'formulas = "escaped"\n[attributes]', 1)
RAW = "sex,s,note\nF,=1+1,-1\nF,@SUM(A1),=secret()\nM,+cmd,=secret()\nM,flu,-\n"
SAID = ["s: 3 different values begin like a formula", "note: 1 value begins like a formula"]


def published(folder: Path, raw: str = RAW, **how: Any) -> Path:
    (folder / "raw.csv").write_text(raw, encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    return pv.publish(folder / "raw.csv", folder / "policy.toml", **how).write(folder / "out")


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_cells_like_formulas_are_a_caution(engine: str, tmp_path: Path) -> None:
    """They left as they came, and nobody was told."""
    folder = published(tmp_path, engine=engine)
    said = json.loads((folder / "evidence.json").read_text())["cautions"]
    found = [one for one in said if "like a formula" in one]
    assert [one.split(";")[0] for one in found] == SAID
    assert not any("secret" in one or "cmd" in one for one in said)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(one in page for one in SAID)
    assert pv.verify(folder, engine=engine).holds


def test_a_release_that_does_not_say_it_is_complained_of(tmp_path: Path) -> None:
    folder = published(tmp_path)

    def silent(evidence: dict[str, list[str]]) -> None:
        evidence["cautions"] = [one for one in evidence["cautions"] if "like a formula" not in one]

    reseal(folder, silent)
    found = pv.verify(folder)
    assert not found.holds
    assert sum("like a formula" in one for one in found.complaints) == 2


def test_the_screen_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raw.csv").write_text(RAW, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    main(["publish", str(tmp_path / "raw.csv"), str(tmp_path / "policy.toml"), "-o", str(tmp_path / "out")])
    told = " ".join("".join(capsys.readouterr()).split())
    assert all(one in told for one in SAID)


def test_numbers_are_not_formulas_and_typed_files_say_what_is_text(tmp_path: Path) -> None:
    plain = published(tmp_path, "sex,s,note\nF,-1,+2.5\nF,-1e3,-\nM,a=b,--\nM,-7 %,\n")
    assert not any("formula" in one for one in json.loads((plain / "evidence.json").read_text())["cautions"])
    (tmp_path / "typed").mkdir()
    typed = published(tmp_path / "typed", output="parquet")
    assert not any("formula" in one for one in json.loads((typed / "evidence.json").read_text())["cautions"])


@pytest.mark.parametrize(
    "text", ["=A1", "+49 170", "-2+3", "@x", "\tx", "\rx", "-1..2x", "=B2", "\n=1", "\uff1d1+1"]
)
def test_like_a_formula(text: str) -> None:
    assert like_formula(text)


@pytest.mark.parametrize(
    "text", [None, "", "-", "--", "-5", "+5", "-1,000.50", "-.5", "a", "5-3", " =A1", "[-5, 0)"]
)
def test_unlike_a_formula(text: str | None) -> None:
    assert not like_formula(text)


def test_both_tables_of_anatomy_are_looked_at(tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("sex,s,note\n" + "=F,flu,a\nM,=1+1,b\n" * 3, encoding="utf-8")
    said = tmp_path / "policy.toml"
    model = 'type = "distinct-l-diversity"\nsensitive = ["s"]\nl = 2\n[algorithm]\ntype = "anatomy"\n'
    said.write_text(POLICY.replace('type = "k-anonymity"\nk = 2\n', model), encoding="utf-8")
    release = pv.publish(raw, said)
    folder = release.write(tmp_path / "out")
    found = [one for one in release.evidence.cautions if "like a formula" in one]
    assert [one.split(":")[0] for one in found] == ["sex", "s"]
    assert pv.verify(folder).holds
    reseal(folder, lambda evidence: evidence.update(cautions=[]))
    assert not pv.verify(folder).holds


@pytest.mark.parametrize("engine", ["embedded", "plain"])
def test_escaped_cells_begin_with_an_apostrophe(engine: str, tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text(RAW, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        POLICY.replace("[attributes]", 'formulas = "escaped"\n[attributes]', 1)
    )
    folder = pv.publish(tmp_path / "raw.csv", tmp_path / "policy.toml", engine=engine).write(tmp_path / "out")
    text = (folder / "data.csv").read_text(encoding="utf-8")
    cells = [cell for line in text.splitlines()[1:] for cell in line.split(",")]
    assert not any(map(like_formula, cells))
    assert "'=1+1" in cells
    assert "-1" in cells, "a number is a number"
    said = json.loads((folder / "evidence.json").read_text())["cautions"]
    assert not any("like a formula" in one for one in said)
    assert pv.verify(folder, engine=engine).holds
    (folder / "data.csv").write_text(text.replace("'=1+1", "=1+1"), encoding="utf-8")
    reseal(folder, lambda evidence: None)
    assert any('the policy says formulas = "escaped"' in one for one in pv.verify(folder).complaints)


def test_labels_that_are_escaped_are_counted_again(tmp_path: Path) -> None:
    rows = "=F,a,x\n=F,b,x\nM,a,x\nM,b,x\n" * 3
    (tmp_path / "raw.csv").write_text("sex,s,note\n" + rows, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        POLICY.replace("[attributes]", 'formulas = "escaped"\n[attributes]', 1)
    )
    folder = pv.publish(tmp_path / "raw.csv", tmp_path / "policy.toml").write(tmp_path / "out")
    assert "'=F" in (folder / "data.csv").read_text(encoding="utf-8")
    assert pv.verify(folder).complaints == ()


def test_buckets_are_escaped_too(tmp_path: Path) -> None:
    text = POLICY.replace(
        'type = "k-anonymity"\nk = 2', 'type = "distinct-l-diversity"\nl = 2\nsensitive = ["s"]'
    )
    text = (
        text.replace("[attributes]", 'formulas = "escaped"\n[attributes]', 1)
        + '[algorithm]\ntype = "anatomy"\n'
    )
    (tmp_path / "raw.csv").write_text(RAW, encoding="utf-8")
    folder = pv.publish(tmp_path / "raw.csv", pv.Policy.loads(text)).write(tmp_path / "out")
    assert "'=1+1" in (folder / "buckets.csv").read_text(encoding="utf-8")
    assert "'=secret()" in (folder / "data.csv").read_text(encoding="utf-8")
    assert pv.verify(folder).holds


def test_a_protected_value_that_would_be_escaped_is_refused() -> None:
    text = POLICY.replace("[attributes]", 'formulas = "escaped"\n[attributes]', 1).replace(
        'type = "k-anonymity"\nk = 2',
        'type = "alpha-k-anonymity"\nk = 2\nalpha = "1/2"\nsensitive = { s = ["=HIV"] }',
    )
    with pytest.raises(pv.PolicyError, match="another spelling"):
        pv.Policy.loads(text)
    with pytest.raises(pv.PolicyError, match="formulas"):
        pv.Policy.loads(POLICY.replace("[attributes]", 'formulas = "run"\n[attributes]', 1))


PATHS = """policy = 1
kind = "trajectories"
[trajectories]
form = "column"
path = "p"
[attributes]
s = { role = "sensitive" }
[[models]]
type = "lkc-privacy"
l = 1
k = 2
c = "1"
sensitive = { s = ["flu"] }
[algorithm]
type = "lightest"
"""
BASKETS = """policy = 1
kind = "transactions"
[transactions]
form = "baskets"
[[models]]
type = "km-anonymity"
m = 1
k = 2
"""


@pytest.mark.parametrize(
    ("text", "raw", "caution"),
    [
        (PATHS, "p,s\n=a1 b2,flu\n=a1 b2,=flu\n", "p: 1 value begins like a formula"),
        (BASKETS, "=a,b\n=a,b\n", "items: 1 value begins like a formula"),
    ],
)
def test_paths_and_sets_say_it_too(text: str, raw: str, caution: str, tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text(raw, encoding="utf-8")
    folder = pv.publish(tmp_path / "raw.csv", pv.Policy.loads(text)).write(tmp_path / "out")
    said = json.loads((folder / "evidence.json").read_text())["cautions"]
    assert any(one.startswith(caution) for one in said)
    assert pv.verify(folder).holds

    def silent(evidence: dict[str, list[str]]) -> None:
        evidence["cautions"] = [one for one in evidence["cautions"] if "like a formula" not in one]

    reseal(folder, silent)
    assert any(caution in one for one in pv.verify(folder).complaints)
    with pytest.raises(pv.PolicyError, match="for tables"):
        pv.Policy.loads(text.replace("policy = 1", 'policy = 1\nformulas = "escaped"', 1))


HEADER = '=HYPERLINK("http://e.org")'


def test_a_header_like_a_formula_is_a_caution_and_refused_where_cells_are_escaped(tmp_path: Path) -> None:
    raw = "sex,s,note\n" + "F,a,b\nM,a,b\n" * 3
    quoted = '"' + HEADER.replace('"', '""') + '"'
    (tmp_path / "raw.csv").write_text(raw.replace("note", quoted), encoding="utf-8")
    named = POLICY.replace("note = {", f"{json.dumps(HEADER)} = {{")
    (tmp_path / "policy.toml").write_text(named, encoding="utf-8")
    folder = pv.publish(tmp_path / "raw.csv", tmp_path / "policy.toml").write(tmp_path / "out")
    said = json.loads((folder / "evidence.json").read_text())["cautions"]
    assert f"{HEADER}: its name begins like a formula" in {one.partition(";")[0] for one in said}
    assert pv.verify(folder).holds
    with pytest.raises(PolicyError, match="the name begins like a formula"):
        pv.Policy.loads(named.replace("[attributes]", 'formulas = "escaped"\n[attributes]', 1))
    dropped = named.replace('role = "other"', 'role = "identifier"')
    pv.Policy.loads(dropped.replace("[attributes]", 'formulas = "escaped"\n[attributes]', 1))
