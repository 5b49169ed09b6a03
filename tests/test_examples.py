"""Every example runs, is short, and says what it is."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run an example as `python NAME ARGUMENTS` does; the exit code."""
    path = next(path for path in EXAMPLES if path.stem == name)
    monkeypatch.setattr(sys, "argv", [str(path), *arguments])
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    return 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert 10 <= len(text.splitlines()) <= 40
    assert ast.get_docstring(ast.parse(text))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_publish_and_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("publish_a_csv", monkeypatch=monkeypatch) == 0
    assert "verified: True" in capsys.readouterr().out
    assert run("publish_a_csv", "patients.csv", "hospital.toml", "again", monkeypatch=monkeypatch) == 0
    assert run("verify_a_release", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "holds" in said
    assert "caution: " in said
    data = tmp_path / "again" / "data.csv"
    data.write_text(data.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert run("verify_a_release", "again", monkeypatch=monkeypatch) == 1
    assert "not as the evidence says: data.csv" in capsys.readouterr().out
    assert run("verify_a_release", "nowhere", monkeypatch=monkeypatch) == 1


def test_next_batch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("next_batch", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert said.count("True") == 5
    assert "False" not in said
    assert "refused: broken-promise" in said


def test_from_pandas(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    assert run("from_pandas", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "[41-120)" in said
    assert "Ada" not in said
    assert said.endswith("int64\n")


def test_own_model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("own_model", monkeypatch=monkeypatch) == 0
    assert "DistinctValues(n=4, sensitive='surgery')" in capsys.readouterr().out


def test_sweep_k(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sweep_k", monkeypatch=monkeypatch) == 0
    risks = [float(line.split()[2].rstrip("%")) for line in capsys.readouterr().out.splitlines()[1:]]
    assert risks == sorted(risks, reverse=True)


def test_publish_trips(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("publish_trips", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "routes survive" in said
    assert "verified: True" in said


def test_differential_privacy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("differential_privacy", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "as it should be: True" in said
    assert said.endswith("left of the budget: 1/2\n")


def test_documents(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("publish_documents", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "published: document-l-diversity holds, k = 3, l = 3" in said
    assert said.endswith("verified: True\n")


def test_every_example_is_run_here() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert not [path.stem for path in EXAMPLES if f'run("{path.stem}"' not in here]
