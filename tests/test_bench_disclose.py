"""The experiments on disclosure run, and have the shape that they promise; no test looks at a clock."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """bench/ is not an installed package: it is found from the root of the repository."""
    monkeypatch.syspath_prepend(ROOT)


def test_the_usual_recipe_exposes_people_and_the_safe_rule_does_not() -> None:
    from bench.safe import Family, attack

    (patients, _), charts = attack((4,), 1)
    assert patients.rows == [["naive", 3, 36, 4, 2], ["permutation", 3, 360, 360, 0]]
    assert set(charts) == {"safe-exposed", "safe-price"}
    # E7 of the spec: two of six people are certain under the rotation rule.
    chain = [np.array(text) for text in ([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0] * 6)]
    family = Family()
    family.add(chain, (0, 1, 2, 3, 4, 4))
    assert family.tables == 360
    assert family.certain["rotation"] > 0 == family.exposed["permutation"]
    assert family.index["naive"] < family.index["rotation"] < family.index["permutation"]


def test_chains_are_nested_and_lists_are_not() -> None:
    from bench.safe import nested, random_chain, random_list

    rng = np.random.default_rng(1)
    for people in (4, 6, 7):
        chain = random_chain(rng, people)
        assert all(np.bincount(groups).min() >= 2 for groups in [*chain, *random_list(rng, people)])
        for fine, coarse in pairwise(chain):
            assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))
    assert nested(rng, 20, 4).nested


def test_the_price_of_safety_and_time_have_a_row_for_each_size() -> None:
    from bench.safe import growth, price

    table, chart = price((6, 8), 3)
    assert [row[0] for row in table.rows] == [6, 8]
    assert {series.name for series in chart.series} == {"naive", "backward", "forward"}
    (times, exact), _ = growth((10, 20), (3, 4), (3, 4))
    assert [row[:2] for row in times.rows] == [[10, 3], [20, 3], [10, 4]]
    assert [row[:2] for row in exact.rows] == [[3, 64], [4, 256]]


def test_views_are_published_until_they_violate_and_then_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench import sources
    from bench.outcome import Outcome
    from bench.sources import People, restored

    monkeypatch.setattr(sources, "TRIALS", 10)
    monkeypatch.setattr(sources, "PAIRED", 3)
    people = People.drawn(np.random.default_rng(1))
    assert list(people.known_by(2).register.columns) == ["age", "rest SBP"]
    table, charts = restored(1, ["2-4 %"], people)
    assert [row[1] for row in table.rows] == [1, 2, 3, 4]
    for _, _, runs, ended, counted, _, one, two in table.rows:
        assert 0 <= counted <= ended <= runs == 1  # type: ignore[operator]
        assert 0 <= one <= two <= 100  # type: ignore[operator]
    written = Outcome("sources", "", "", (table,), charts=charts).write(tmp_path)
    drawing = ET.fromstring(next(p for p in written if p.suffix == ".svg").read_text(encoding="utf-8"))
    assert "2-4 %, one or two" in "".join(drawing.itertext())


def test_without_the_wheel_tables_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import sources
    from bench.outcome import Table

    from privet.errors import InputError

    def offline(*_: object) -> dict[str, Path]:
        raise InputError("no network here")

    given: list[object] = []

    def restored(runs: int, widths: list[str], base: object) -> tuple[Table, dict[str, object]]:
        given.append((runs, widths, base))
        return Table("", {}, []), {}

    monkeypatch.setattr(sources, "fetched", offline)
    monkeypatch.setattr(sources, "restored", restored)
    monkeypatch.setattr(sources, "speed", lambda _: Table("", {}, []))
    assert "Drawn tables" in sources.run(full=False).notes[0]
    assert given == [(3, ["2-4 %"], None)]


def test_generated_people_show_which_strategy_is_better() -> None:
    from bench.coincident import difference, generated, saved
    from bench.outcome import Table

    tally, _ = generated("binomial", 200, 1)
    assert tally.records == 200
    table, chart = difference(200, (2, 3), 1)
    assert [row[:2] for row in table.rows] == [
        ["uniform", 2],
        ["uniform", 3],
        ["binomial", 2],
        ["binomial", 3],
    ]
    assert [series.name for series in chart.series] == ["uniform", "binomial"]
    heads = dict.fromkeys(("sample", "promise", "l", "UU", "UA", "GI-UU", "GI-UA"), "")
    gains = saved(Table("", heads, [["all", "distinct", 2, 4.0, 5.0, 3.0, None]]))
    assert gains.rows == [["all", "distinct", 2, 25.0, None]]
