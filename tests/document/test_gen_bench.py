"""The benchmarks of this room run and say what they promise; no test looks at a clock."""

from __future__ import annotations

from pathlib import Path

from bench.documents import ROAD, Case, generated, staged
from bench.trees import METHODS, measured, reported


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
