"""A short walk of the fuzzer, everything that it ever found, and whether it would find anything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fuzz.families import HERE, Family
from tests.fuzz.runner import _side_by_side, case, fuzzed, prepared, tried

CASES = 12
Prepared = tuple[list[Family], Path]


@pytest.fixture(scope="module")
def place() -> Iterator[Prepared]:
    with prepared() as made:
        yield made


def test_no_find_in_a_short_walk(place: Prepared) -> None:
    families, said = place
    ran, finds = fuzzed(families, said, seconds=600, start=0, most=CASES)
    assert finds == []
    assert set(ran.values()) == {CASES}


@pytest.mark.parametrize("path", sorted((HERE / "finds").glob("*.*")), ids=lambda path: path.name)
def test_what_was_found_stays_found(place: Prepared, path: Path) -> None:
    families, said = place
    family = next(one for one in families if one.name == path.name.rsplit(".", 1)[0])
    for words in family.commands or [()]:
        assert tried(family, path.read_bytes(), tuple(words), said) is None
    if family.file and family.name.startswith(("evidence", "notes", "release")):
        Path(family.file).write_bytes(family.seeds[0])


def test_the_same_number_is_the_same_case(place: Prepared) -> None:
    for family in place[0]:
        assert case(family, 7) == case(family, 7)
    assert len({case(place[0][0], number)[0] for number in range(50)}) > 40


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("raise KeyError('x')", "exit 3"),
        ("import sys; sys.stderr.write('panicked at'); return 2", "panicked"),
        ("print(CANARY); return 0", "a value of the data"),
        ("Path('left').touch(); return 0", "leaves"),
        ("return 7", "exit 7"),
        ("import time; time.sleep(60); return 0", "no end"),
    ],
)
def test_the_oracle_sees_every_fault(
    place: Prepared, fault: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An oracle that cannot fail finds nothing."""
    families, file = place
    inside = Path(families[0].file).parent
    monkeypatch.chdir(inside)
    space: dict[str, object] = {}
    exec(
        f"from pathlib import Path\nfrom tests.fuzz.families import CANARY\ndef faulty(args):\n    {fault}\n",
        space,
    )
    if said == "exit 3":
        monkeypatch.setattr("privet.cli.check.checked", space["faulty"])
    else:
        monkeypatch.setattr("tests.fuzz.runner.main", space["faulty"])
    monkeypatch.setattr("tests.fuzz.runner.SECONDS", 1.0)
    wrong = tried(families[0], families[0].seeds[0], tuple(families[0].commands[0]), file)
    (inside / "left").unlink(missing_ok=True)
    assert wrong is not None
    assert said in wrong


def test_a_job_that_dies_is_a_find(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One ended in the middle of a damaged Parquet file, and nothing was said of it."""
    dies = "import sys, os; open(sys.argv[-1], 'w').write('parquet 7'); os.kill(os.getpid(), 6)"
    popen = subprocess.Popen
    monkeypatch.setattr(
        "tests.fuzz.runner.subprocess.Popen",
        lambda command: popen([sys.executable, "-c", dies, *command[-2:]]),
    )
    assert _side_by_side(2, 0, []) == 2
    assert capsys.readouterr().out.count("parquet 7: ended the process with signal 6") == 2


def test_a_sample_in_processes_of_their_own(place: Prepared, tmp_path: Path) -> None:
    """What a process says at its very end is not heard from inside."""
    families, _ = place
    for number, family in enumerate([one for one in families if one.commands][::6]):
        raw, words = case(family, 1000 + number)
        before = Path(family.file).read_bytes() if Path(family.file).exists() else raw
        Path(family.file).write_bytes(raw)
        done = subprocess.run(
            [sys.executable, "-m", "privet.cli", *words],
            capture_output=True,
            cwd=tmp_path,
            timeout=120,
            check=False,
            env=os.environ | {"PYTHONWARNINGS": "error::ResourceWarning"},
        )
        Path(family.file).write_bytes(before)
        assert done.returncode in {0, 1, 2}, (family.name, number, done.stderr)
        for bad in (b"Traceback", b"panicked", b"Exception ignored"):
            assert bad not in done.stderr, (family.name, number, done.stderr)
