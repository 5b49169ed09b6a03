"""Work that cannot end is refused before it begins, with the fix; who wants it anyway may have it."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from privet import effort
from privet.cli import main
from privet.errors import InputError, UnsupportedError

ROWS, COLUMNS = 400, 40
POLICY = """
policy = 1
[attributes]
{}
ill = {{ role = "sensitive" }}
[[models]]
type = "lkc-privacy"
l = {}
k = 2
c = "4/5"
sensitive = {{ ill = ["yes"] }}
[algorithm]
type = "{}"
"""


@pytest.fixture
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    draw = np.random.default_rng(1)
    columns = {f"q{at}": draw.integers(0, 4, ROWS) for at in range(COLUMNS)}
    pl.DataFrame(columns | {"ill": draw.choice(["yes", "no"], ROWS)}).write_csv(tmp_path / "wide.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def policy(l: int, algorithm: str) -> str:
    quasi = 'q{} = {{ role = "quasi", hierarchy = {{ type = "intervals", width = [2] }} }}'
    text = POLICY.format("\n".join(quasi.format(at) for at in range(COLUMNS)), l, algorithm)
    Path("policy.toml").write_text(text, "utf-8")
    return "policy.toml"


def for_classes(file: str) -> str:
    """The same policy with k-anonymity."""
    text = Path(file).read_text("utf-8")
    start, end = text.index("[[models]]"), text.index("[algorithm]")
    Path(file).write_text(text[:start] + '[[models]]\ntype = "k-anonymity"\nk = 3\n' + text[end:], "utf-8")
    return file


@pytest.mark.parametrize("algorithm", ["top-down", "optimal", "samarati"])
def test_half_of_forty_columns_is_refused_at_once(
    wide: Path, algorithm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = policy(20, algorithm)
    began = time.process_time()
    for words in (["check", "wide.csv", file], ["publish", "wide.csv", file, "-o", "out"]):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert "137,846,528,820 combinations of 20 of 40 quasi-identifiers" in said
        assert "promise l = 8 (76,904,685)" in said
        assert "--effort 552" in said
    assert time.process_time() - began < 30  # seconds of work; it did not end
    assert sorted(path.name for path in wide.iterdir()) == ["policy.toml", "wide.csv"]


def test_risk_goes_as_far_as_it_can(wide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["risk", "wide.csv", policy(20, "top-down")]) in {0, 1, 2}
    assert "Traceback" not in capsys.readouterr().err


def test_all_columns_at_once_are_one_combination(wide: Path) -> None:
    assert main(["check", "wide.csv", policy(40, "top-down")]) == 1


def test_the_limit_follows_the_work() -> None:
    effort.refuse_endless("x", columns=40, known=8, records=400)
    with pytest.raises(UnsupportedError):
        effort.refuse_endless("x", columns=40, known=8, records=40_000)
    effort.refuse_endless("x", columns=5, known=20, records=10**9)
    with effort.allowed(1000):
        effort.refuse_endless("x", columns=40, known=20, records=400)
    with effort.allowed(551), pytest.raises(UnsupportedError, match="--effort 552"):
        effort.refuse_endless("x", columns=40, known=20, records=400)
    with pytest.raises(InputError), effort.allowed(0):
        pytest.fail("nothing is no effort")


def test_a_check_asks_before_it_counts(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "USUAL", 1000)
    file = policy(2, "top-down")
    assert main(["check", "wide.csv", file]) == 2
    assert main(["check", "wide.csv", file, "--effort", "1000000"]) == 0


@pytest.mark.parametrize(
    ("algorithm", "nodes", "times"),
    [
        ("samarati", "the lattice has 12,157,665,459,056,928,801 nodes", 3039416364765),
        # Columns that are left out are one level more.
        (
            "incognito",
            f"the lattices over all parts of the columns have {4**40:,} nodes",
            4**40 // 4_000_000 + 1,
        ),
    ],
)
def test_a_lattice_that_nobody_can_walk_is_refused_at_once(
    wide: Path, algorithm: str, nodes: str, times: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", "wide.csv", for_classes(policy(2, algorithm)), "-o", "out"]) == 2
    said = capsys.readouterr().err
    assert f"{algorithm}: {nodes}" in said
    assert "optimal" in said
    assert f"--effort {times} does it anyway" in said
    assert not Path("out").exists()


def test_incognito_counts_the_parts_of_columns_that_stand_at_one_level(
    wide: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lattice of one node, and 2**40 ways to leave columns out."""
    file = Path(for_classes(policy(2, "incognito")))
    names = [f"q{at}" for at in range(40)]
    file.write_text(file.read_text("utf-8") + "[algorithm.levels]\n" + "\n".join(f"{n} = 2" for n in names))
    assert main(["publish", "wide.csv", str(file), "-o", "out"]) == 2
    assert f"{2**40:,} nodes" in capsys.readouterr().err


def test_the_limit_of_a_lattice_can_be_raised() -> None:
    effort.refuse_lattice("x", effort.NODES)
    with pytest.raises(UnsupportedError, match="--effort 2 "):
        effort.refuse_lattice("x", effort.NODES + 1)
    with effort.allowed(2):
        effort.refuse_lattice("x", effort.NODES + 1)
