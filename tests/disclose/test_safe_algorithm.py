"""`safe-lattice` on the road: what is released, verified, and refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import privet as pv
from privet.errors import UnsatisfiableError, UnsupportedError
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
    with pytest.raises(UnsupportedError, match="no other"):
        pv.publish(table("abababab"), policy("distinct-l-diversity"))
    with pytest.raises(UnsatisfiableError, match="keep it to yourself"):
        pv.publish(table("aaaaaaab"), policy())
