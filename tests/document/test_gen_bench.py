"""The benchmarks of this room run and say what they promise; no test looks at a clock."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import tomli_w
from bench import collections as bench_collections
from bench import halves
from bench.documents import ROAD, Case, generated, staged
from bench.trees import METHODS, measured, reported

import privet as pv
from privet.drafts import documents as document_draft
from privet.policy.values import Policy


def test_stages(tmp_path: Path) -> None:
    data = generated("transcripts", 24, tmp_path)
    said = staged(data, Case("ctoff", "lsap", 2, part=12), tmp_path)
    assert set(said["seconds"]) == set(ROAD)
    assert 0 < said["lm"] < 1
    assert (tmp_path / "out.json").stat().st_size > 0


def test_experiments() -> None:
    points = [
        point
        for name in ("syntheticS", "syntheticT", "sparse")
        for point in measured(name, 14, (2,), queries=12, steps=1)
    ]
    outcome = reported(points)
    assert [point.method for point in points[: len(METHODS)]] == list(METHODS)
    assert all(0 <= point.lm <= 1 for point in points)
    assert len(outcome.charts or {}) == 3 * 4
    assert any("LSAP below GRD: in" in note and "of 6" in note for note in outcome.notes)


@pytest.mark.slow
def test_experiments_with_halves() -> None:
    outcome = halves.reported(halves.Experiments(9, 1, 1), full=False)
    drawn = {f"anatomy-3.{number}" for number in range(5, 17)}
    assert set(outcome.charts or {}) == drawn  # every row of the table of runs
    assert {table.title.split()[0] for table in outcome.tables} == {
        *("3.5", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.14", "3.15"),
    }
    for table in outcome.tables:
        assert all(len(row) == len(table.heads) for row in table.rows)
    equal = next(note for note in outcome.notes if note.startswith("t-t keeps as much as v-v"))
    assert "in 7 of 7 comparisons" in equal  # l = 2, 3, 4 at m = 3, and four others at l = 3
    assert any("gains 6 to 10 points over generalisation: found" in note for note in outcome.notes)


def test_a_draft_of_somebody_elses_data_is_decided_and_taken_down_the_road(tmp_path: Path) -> None:
    """As `bench collections` does with FHIR and PubMed, which are fetched: every path is settled."""
    people = [
        {
            "id": f"p{n}",
            "town": "AB"[n % 2],
            "name": [{"family": f"F{n}", "given": ["x", "y"]}],
            "condition": [{"code": {"text": f"ill {n}", "coding": [{"code": str(n)}]}}],
        }
        for n in range(6)
    ]
    (tmp_path / "people.json").write_text(json.dumps(people))
    one = bench_collections.Collection(
        "people", Path, frozenset({"record.id", "record.name", "code.coding"}), frozenset({"code.text"})
    )
    drafted = tomllib.loads(document_draft.drafted(tmp_path / "people.json").dumps())
    for way in bench_collections.WAYS:
        policy = Policy.loads(tomli_w.dumps(bench_collections.decided(drafted, one, way, full=False)))
        release = pv.publish(tmp_path / "people.json", policy)
        assert release.evidence["records"] == 6
        written = release.write(tmp_path / way)
        assert pv.verify(written).holds
        text = (written / "data.json").read_text()
        assert "ill 3" in text
        assert not any(hidden in text for hidden in ("F3", "p3", "coding", "given"))
