"""The experiments on paths, in small: every figure of the source has its curves, and the best is the best."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def _bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """bench/ is not an installed package: it is found from the root of the repository."""
    monkeypatch.syspath_prepend(ROOT)


@pytest.mark.slow
def test_every_figure_has_its_curves_for_every_support() -> None:
    from bench import routes

    tables, charts, notes = routes.drawn(full=False, rows=600)
    text = "\n".join(table.title for table in tables)
    assert all(f"figure 4.{number}" in text for number in (4, 5, 6, 7, 8))
    assert len({table.title for table in tables}) == len(tables) == 7
    assert len(charts) == 7 * len(routes.SUPPORTS)
    for table in tables[:-1]:
        assert sum("L = |d|" in head for head in table.heads) in {3, 6}
    for table in tables:
        assert {head.split(",")[0] for head in table.heads} >= {"Score1", "Score2", "Score3"}
        assert all(0 <= share <= 1 for row in table.rows for share in row[1:] if isinstance(share, float))
    assert all(note.endswith((": yes", ": NO")) for note in notes)


def test_the_data_sets_stand_beside_those_of_the_source() -> None:
    from bench import routes

    city, metro = (
        dict(zip(table.heads, row, strict=True)) for table in [routes.statistics(3000)] for row in table.rows
    )
    assert (city["data"], city["places"], city["times"], city["said  "]) == ("City80K", 26, 24, 624)
    assert (metro["data"], metro["places"], metro["records"]) == ("Metro100K", 65, 3000)


def test_no_greedy_search_beats_the_best() -> None:
    from bench import covers

    table = covers.row(2, 3, "3/5", 6)
    *_, best, score1, score2, score3, often, furthest = table
    assert isinstance(best, float)
    assert all(isinstance(one, float) and one >= best for one in (score1, score2, score3))
    assert isinstance(often, float)
    assert isinstance(furthest, float)
    assert 0 <= often <= 1
    assert furthest >= 0


def test_how_linear_it_is() -> None:
    from bench.trajectories import Case, linear

    cases = [Case("metro", 1000, 3), Case("metro", 5000, 3), Case("metro", 5000, 2)]
    rows = [{"all s": 1.0}, {"all s": 6.0}, {"all s": 99.0}]
    assert linear(cases, rows) == "5,000 records take 1.20 times as long per record as 1,000 (1: linear)"
