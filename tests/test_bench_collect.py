"""The experiments on collection run, and have the shape that they promise; no test looks at a clock."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """bench/ is not an installed package: it is found from the root of the repository."""
    monkeypatch.syspath_prepend(ROOT)


def test_error_falls_with_answers_and_reconstruction_beats_the_perturbed_histogram() -> None:
    from bench.collect import NOISES, errors_by_size
    from bench.curves import drawn

    table, chart = errors_by_size(3, (500, 20_000))
    for name in NOISES:
        small, large = [[float(str(cell)) for cell in row[2:]] for row in table.rows if row[0] == name]
        assert large[0] < small[0]
        assert large[0] < large[1]
    assert ET.fromstring(drawn(chart)).tag.endswith("svg")


@pytest.mark.slow
def test_cross_validation_stops_nearer_to_the_least_error_than_going_on() -> None:
    from bench.collect import NOISES, errors_by_step

    table, chart = errors_by_step(2)
    for name in NOISES:
        times = {row[1]: float(str(row[4])) for row in table.rows if row[0] == name}
        assert times["cross-validation"] < times["never (1,500)"]
        assert times["cross-validation"] < 1.6
    assert len(chart.series) == len(NOISES)


@pytest.mark.slow
def test_classifiers_and_bands_have_a_line_for_each_case() -> None:
    from bench.collect import classifiers, coverage

    table = classifiers(1)
    assert [row[0] for row in table.rows] == [
        *("none", "none", "uniform ±25", "uniform ±25", "uniform ±50", "uniform ±50"),
        *("uniform ±100", "uniform ±100"),
    ]
    assert all(float(str(row[2])) > 40 for row in table.rows)
    held = [float(str(row[2])) for row in coverage(1).rows]
    assert len(held) == 6
    assert sum(held) / len(held) > 65  # of twenty bins each; one case alone may be drawn badly
