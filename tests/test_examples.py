"""Every example runs, is short, and says what it is."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
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


PIPELINE = Path(__file__).parent.parent / "examples" / "pipeline"


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A folder with data and a policy, as the examples of pipelines want it."""
    from privet.samples import SAMPLES

    SAMPLES["patients"].generate(300, 1).write_csv(tmp_path / "patients.csv")
    (tmp_path / "hospital.toml").write_text(SAMPLES["patients"].policy(k=3, l=2), encoding="utf-8")
    return tmp_path


def made(clinic: Path) -> subprocess.CompletedProcess[str]:
    privet = f"{sys.executable} -m privet.cli"
    command = ["make", "-f", str(PIPELINE / "Makefile"), f"PRIVET={privet}"]
    return subprocess.run(command, cwd=clinic, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_makefile_makes_a_release_once(clinic: Path) -> None:
    pytest.importorskip("duckdb")
    first = made(clinic)
    assert first.returncode == 0, first.stderr
    assert json.loads((clinic / "verified").read_text(encoding="utf-8"))
    assert (clinic / "clinic.duckdb").is_file()
    assert "publish" not in made(clinic).stdout
    policy = clinic / "hospital.toml"
    policy.write_text(policy.read_text(encoding="utf-8").replace("k = 3", "k = 3000"), encoding="utf-8")
    (clinic / "verified").unlink()
    assert made(clinic).returncode != 0
    assert not (clinic / "verified").exists()


def test_dbt_builds_on_the_copy(clinic: Path) -> None:
    dbt = shutil.which("dbt") or os.environ.get("PRIVET_DBT")
    if dbt is None:
        pytest.skip("there is no dbt with its adapter for DuckDB")
    from privet.cli import main

    into = ["--into", "duckdb:///clinic.duckdb", "--table", "safe"]
    assert main(["publish", "patients.csv", "hospital.toml", "-o", "out", "--quiet", *into]) == 0
    shutil.copytree(PIPELINE / "dbt", clinic / "dbt")
    done = subprocess.run(
        [dbt, "build", "--project-dir", "dbt", "--profiles-dir", "dbt"],
        cwd=clinic,
        env=os.environ | {"CLINIC": str(clinic / "clinic.duckdb"), "DO_NOT_TRACK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_dag_of_airflow_loads_and_its_commands_run(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With Airflow where it is installed; else what it would run, read from the file."""
    source = (PIPELINE / "airflow" / "nightly.py").read_text(encoding="utf-8")
    if importlib.util.find_spec("airflow") is not None:
        monkeypatch.setenv("PRIVET_HOME", str(clinic))
        dag = runpy.run_path(str(PIPELINE / "airflow" / "nightly.py"))["dag"]
        assert [task.task_id for task in dag.topological_sort()] == ["publish", "verify"]
    said = [
        node.value.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.keyword)
        and node.arg == "bash_command"
        and isinstance(node.value, ast.Constant)
    ]
    from privet.cli import main

    assert len(said) == 2
    assert [main(shlex.split(str(command))[1:]) for command in said] == [0, 0]
    assert "all hold" in capsys.readouterr().out


def test_the_container_is_built_from_what_is_there() -> None:
    root = PIPELINE.parent.parent
    text = (root / "Containerfile").read_text(encoding="utf-8")
    extras = next(line for line in text.splitlines() if "pip install" in line).split("[")[1].split("]")[0]
    known = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras.split(",")) <= set(known["optional-dependencies"])
    assert "USER steward" in text
