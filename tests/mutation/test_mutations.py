"""Fifty lines that matter, each broken once in a copy of the tree: the named test must fail.

`make test-slow` runs them all, each by `pytest` with the files that are named: with all that `make test` and
`make test-more` run of them. In the default tests only that every line is still there: a mutation of a line
that is gone guards nothing.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
MUTATIONS: list[dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("mutations.toml").read_text(encoding="utf-8")
)["mutation"]
NAMES = [f"{at}-{Path(one['path']).stem}" for at, one in enumerate(MUTATIONS)]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=NAMES)
def test_the_line_is_there_once(mutation: dict[str, str]) -> None:
    assert (TREE / mutation["path"]).read_text(encoding="utf-8").count(mutation["old"]) == 1
    for word in shlex.split(mutation["test"]):
        if word.startswith("tests/"):
            assert (TREE / word).exists()


def test_there_are_fifty() -> None:
    assert len({(one["path"], one["old"]) for one in MUTATIONS}) >= 50


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mutated")
    for name in ("src", "tests", "docs", "examples", "bench"):
        shutil.copytree(TREE / name, made / name, ignore=shutil.ignore_patterns("__pycache__", "data", "out"))
    for name in ("pyproject.toml", "Makefile", "README.md", "CHANGELOG.md"):
        shutil.copy(TREE / name, made / name)
    return made


def ran(copy: Path, test: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n0",
        "-p",
        "no:cacheprovider",
        *shlex.split(test),
    ]
    env = os.environ | {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=copy, env=env, capture_output=True, text=True, check=False, timeout=900
    )


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=NAMES)
def test_every_mutation_is_caught(copy: Path, mutation: dict[str, str]) -> None:
    path = copy / mutation["path"]
    sound = path.read_text(encoding="utf-8")
    path.write_text(sound.replace(mutation["old"], mutation["new"]), encoding="utf-8")
    try:
        done = ran(copy, mutation["test"])
    finally:
        path.write_text(sound, encoding="utf-8")
    # 1: a test failed; below 0: the process itself was killed by what it met.
    assert done.returncode == 1 or done.returncode < 0, (
        f"survived: {mutation['path']}: {mutation['new']!r}\n{done.stdout[-800:]}"
    )


@pytest.mark.slow
def test_the_tests_pass_on_the_sound_copy(copy: Path) -> None:
    """Else they would fail on anything, and catch nothing."""
    for test in sorted({one["test"] for one in MUTATIONS}):
        done = ran(copy, test)
        assert done.returncode == 0, f"{test}\n{done.stdout[-800:]}"
