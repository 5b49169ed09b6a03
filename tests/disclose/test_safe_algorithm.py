"""`safe-lattice` on the road: what is released, verified, and refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import privet as pv
from privet.assess import explain
from privet.cli import main
from privet.errors import PolicyError, UnsatisfiableError
from privet.release import read_private
from privet.verification import verify

POLICY = """
policy = 1
[attributes]
job = { role = "quasi", hierarchy = { type = "tree", tree = TREE } }
ill = { role = "sensitive" }
[[models]]
type = "MODEL"
l = 2
sensitive = ["ill"]
[algorithm]
type = "safe-lattice"
"""


def table(ill: str) -> pl.DataFrame:
    return pl.DataFrame(
        {"job": ["dancer", "dancer", "writer", "writer", "cook", "cook", "clerk", "clerk"], "ill": list(ill)}
    )


def policy(model: str = "entropy-l-diversity") -> pv.Policy:
    tree = '{ ANY = { Artist = ["dancer", "writer"], Pro = ["cook", "clerk"] } }'
    return pv.Policy.loads(POLICY.replace("MODEL", model).replace("TREE", tree))


@pytest.mark.parametrize("ill", ["abababab", "aabbabab", "aabbaabb"])
def test_a_release_is_diverse_and_verified(ill: str, tmp_path: Path) -> None:
    release = pv.publish(table(ill), policy())
    assert "a chain of" in release.evidence["notes"][0]
    assert verify(release.write(tmp_path / "out")).holds


def test_a_table_goes_up_with_one_that_looks_the_same_there() -> None:
    """The first table is diverse as it stands; yet it must not be told from the second one."""
    fine, coarse = (
        pv.publish(table(ill), policy()).to_polars()["job"].to_list() for ill in ("abababab", "aabbabab")
    )
    assert fine == coarse


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(PolicyError, match="no other"):
        policy("distinct-l-diversity")
    with pytest.raises(UnsatisfiableError, match="keep it to yourself"):
        pv.publish(table("aaaaaaab"), policy())


def test_the_chain_is_public_and_why_is_for_the_steward_alone(tmp_path: Path) -> None:
    """Whether an earlier candidate failed or only keeps another table company tells the two apart."""
    public = []
    for name, ill in (("one", "abababab"), ("two", "aabbabab")):
        release = pv.publish(table(ill), policy())
        release.write(tmp_path / name)
        assert "as levels of (job): (0) (1) (2)" in release.evidence["notes"][1]
        public.append((release.evidence["notes"], release.evidence["steps"]))
        written = [path.read_text(encoding="utf-8") for path in (tmp_path / name).iterdir()]
        assert not any("candidate" in text for text in written)
    assert public[0] == public[1]
    told = [read_private(tmp_path / name) or {} for name in ("one", "two")]
    assert told[0]["reasons"][0].startswith("candidate 1 is diverse on this table, but a table that looks")
    assert told[0]["reasons"][-1] == "candidate 3 of 3 is released"
    assert told[1]["reasons"][0] == "candidate 1 has a group that is not entropy 2-diverse"
    assert explain(tmp_path / "two")["reasons"] == told[1]["reasons"]


def test_nothing_is_an_outcome_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table("aaaaaaab").write_csv(tmp_path / "people.csv")
    tree = '{ ANY = { Artist = ["dancer", "writer"], Pro = ["cook", "clerk"] } }'
    text = POLICY.replace("MODEL", "entropy-l-diversity").replace("TREE", tree)
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    places = [str(tmp_path / name) for name in ("people.csv", "policy.toml", "out")]
    assert main(["publish", *places[:2], "-o", places[2]]) == 1  # the promise cannot be kept; no bad input
    said = capsys.readouterr().err
    assert "no member of the chain of 3 tables may be released" in said
    assert "dancer" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == before
