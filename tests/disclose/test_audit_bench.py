"""The experiments of auditing run, and have the shape that they promise."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """bench/ is not an installed package: it is found from the root of the repository."""
    monkeypatch.syspath_prepend(ROOT)
    from bench import auditing

    return auditing


def test_sets_of_every_size_are_as_likely_as_they_are_many(bench: Any) -> None:
    counts, chances = bench.sizes(40)
    every = [comb(40, k) for k in range(1, 5)]
    assert counts == [1, 2, 3, 4]
    assert chances == pytest.approx([one / sum(every) for one in every])


@pytest.mark.slow
def test_shares_and_curves(bench: Any) -> None:
    size = bench.Size((100, 150), 1, 1, ((6, 1), (8, 1)), (60,), 3, ((6, 1),))
    outcome = bench.measured(size, speed=False)
    assert set(outcome.charts) == {
        "figure-3.8a",
        "figure-3.8b",
        "figure-3.8b-subset",
        "figure-3.8c",
        "figure-3.9",
    }
    size_rows, subset_rows, every, first, needless = (table.rows for table in outcome.tables)
    assert len(size_rows) == len(subset_rows) == 2 * len(bench.NAMES)
    for n, _, before, *answered in [*size_rows, *subset_rows]:
        assert n in (100, 150)
        assert answered == sorted(answered)  # of more queries, never fewer
        assert answered[0] >= min(before, 50)
        assert answered[-1] <= 250
    for n, _, posed, strict, printed, broken in every:
        assert posed == n - 1
        assert 0 < strict <= posed
        assert printed <= posed
        assert broken in (0, 1)
    assert [tuple(row) for row in first] == [(60, 3, 3, 0)]
    ((_, _, said, lost, proved),) = needless
    assert 0 <= lost <= said
    assert 0 < proved < 1
    assert len(outcome.lines()) > 20
