"""What a suppressed record leaves behind: none of its values, but a part in what was chosen; it is said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.forge.forging import evidence, refused, seal

import privet as pv
from privet.evidence.notes import SUPPRESSED
from privet.verification import verify

POLICY = """
policy = 1
[attributes]
age = { role = "quasi", hierarchy = { type = "intervals", width = [10, 40] } }
zip = { role = "quasi", hierarchy = { type = "flat" } }
row = { role = "other" }
[[models]]
type = "k-anonymity"
k = 2
[algorithm]
type = "optimal"
suppression = "1/5"
"""
Rows = list[tuple[int, str, str]]


def released(rows: Rows, policy: str = POLICY) -> pv.Release:
    table = pl.DataFrame(rows, schema=["age", "zip", "row"], orient="row")
    return pv.publish(table, pv.Policy.loads(policy))


def left(rows: Rows) -> pl.DataFrame:
    found: pl.DataFrame = released(rows, POLICY.replace("1/5", "1/9")).to_polars()
    return found.sort("row")


def test_somebody_who_is_not_there_can_change_what_the_others_look_like() -> None:
    """So a caution is due: two may go, and a third, who goes as well, makes everybody's level coarser."""
    rows: Rows = [(at // 8 * 10, "a", f"r{at:02}") for at in range(16)] + [(20, "a", "x"), (30, "a", "y")]
    without, with_ = left(rows), left([*rows, (70, "c", "z")])
    assert "z" not in with_["row"].to_list()
    assert set(without["row"]) < set(with_["row"]), "who was suppressed before"
    assert set(without["age"]) == {0, 10}
    assert set(with_["age"]) == {"[0-40)"}


def test_the_evidence_says_so_and_who_leaves_it_out_is_found(tmp_path: Path) -> None:
    rows: Rows = [(at // 5 * 10, "a", f"r{at}") for at in range(10)] + [(70, "c", "r10")]
    out = released(rows).write(tmp_path / "out")
    said = evidence(out)
    assert said["suppressed_records"] == 1
    assert SUPPRESSED in said["cautions"]
    assert verify(out).holds
    said["cautions"].remove(SUPPRESSED)
    assert refused(seal(out, said)) == (f"cautions: is not said: {SUPPRESSED}",)


@pytest.mark.parametrize("share", ["0", "1/5"])
def test_who_leaves_nobody_out_says_nothing(share: str) -> None:
    rows: Rows = [(at // 5 * 10, "a", f"r{at}") for at in range(10)]
    release = released(rows, POLICY.replace("1/5", share))
    assert release.evidence["suppressed_records"] == 0
    assert SUPPRESSED not in release.evidence["cautions"]
