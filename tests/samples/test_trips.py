"""Trips: sizes and shapes as the spec has them, and the trends that the source reports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from privet.engines.trajectories.column import PathColumn
from privet.errors import InputError
from privet.models.linkage import Linkage
from privet.models.lkc import LKC
from privet.samples import trips
from privet.trajectory.paths import Paths
from privet.trajectory.suppress import PointScore, Suppress, Thinning


def paths_of(table: pl.DataFrame) -> Paths:
    return PathColumn.read(table, path="path", sensitive=["status"]).paths


def asked(l: int, k: int, c: str) -> Linkage:
    return LKC(l=l, k=k, c=Fraction(c), sensitive={"status": [trips.SENSITIVE]}).linkage()


def mean_length(paths: Paths) -> float:
    return float(np.average(paths.lengths, weights=paths.counts))


@pytest.fixture(scope="module")
def city() -> Paths:
    return paths_of(trips.city(80_000, 0))


@pytest.fixture(scope="module")
def metro() -> Paths:
    return paths_of(trips.metro(100_000, 0))


def test_the_city(city: Paths) -> None:
    assert city.records == 80_000
    assert 7.9 < mean_length(city) < 8.1
    assert 540 <= city.dimensions <= 624
    assert len(city.points.places) == 26
    assert len(city.points.times) == 24
    assert city.longest <= 12


def test_the_metro(metro: Paths) -> None:
    assert metro.records == 100_000
    assert 7.5 < mean_length(metro) < 9
    assert len(metro.points.places) == 65
    assert max(int(time) for time in metro.points.times) < 60
    assert 1_500 < metro.dimensions <= 3_900


def test_the_map() -> None:
    assert [len(line) for line in trips.LINES] == [27, 28, 3, 12]
    assert len(trips.STATIONS) == 65
    ways = trips.shortest()
    assert len(ways) == 65 * 64
    lengths = {(way[0], way[-1]): len(way) for way in ways}
    assert all(lengths[a, b] == lengths[b, a] for a, b in lengths)
    ends = trips.STATIONS.index("Angrignon"), trips.STATIONS.index("Honoré-Beaugrand")
    assert lengths[ends] == 27


@pytest.mark.parametrize("make", [trips.city, trips.metro])
def test_the_same_seed_gives_the_same_trips(make: object) -> None:
    assert callable(make)
    one, same, other = make(500, 3), make(500, 3), make(500, 4)
    assert one.equals(same)
    assert not one.equals(other)
    assert make(0, 0).height == 0
    shares = make(20_000, 1).get_column("status").value_counts(normalize=True).get_column("proportion")
    assert 0.18 < shares.min() < shares.max() < 0.22


@pytest.mark.parametrize("wrong", [{"blocks": 27}, {"stops": 25}, {"routes": 0}, {"visited": 0.0}])
def test_a_city_that_cannot_be(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="a city has"):
        trips.city(10, 0, **wrong)
    with pytest.raises(InputError, match="a metro needs"):
        trips.metro(10, 0, hop=0)
    with pytest.raises(InputError, match="rows >= 0"):
        trips.metro(-1, 0)


def losses(paths: Paths, promise: Linkage, at_least: str) -> dict[PointScore, Thinning]:
    return {score: Suppress(Fraction(at_least), score).search(paths, promise) for score in PointScore}


@pytest.mark.slow
def test_trends_of_the_city(city: Paths) -> None:
    """Section 5.4: no loss up to two points, then more with L, K and C below a fifth; Score2 is worst."""
    best = PointScore.GAIN_PER_LOSS

    def loss(l: int, k: int, c: str) -> Fraction:
        return Suppress(Fraction(1, 200), best).search(city, asked(l, k, c)).loss

    assert loss(1, 30, "3/5") == loss(2, 30, "3/5") == 0
    assert 0 < loss(3, 30, "3/5") < loss(3, 50, "3/5") < loss(4, 50, "3/5")
    assert loss(3, 30, "1/5") > Fraction(9, 10)
    assert loss(3, 30, "2/5") < Fraction(1, 5)
    by_score = losses(city, asked(3, 50, "3/5"), "1/200")
    assert by_score[best].loss < by_score[PointScore.GAIN].loss
    assert by_score[PointScore.LEAST_LOSS].loss < by_score[PointScore.GAIN].loss


def test_trends_of_the_metro(metro: Paths) -> None:
    """Violations have one or two points, so L beyond 2 changes nothing; larger K' loses less."""
    two, four = (losses(metro, asked(l, 30, "3/5"), "1/200") for l in (2, 4))
    for score in PointScore:
        assert two[score].removals == four[score].removals
    assert two[PointScore.GAIN].violations.lengths.max() <= 2
    assert two[PointScore.GAIN_PER_LOSS].loss < two[PointScore.GAIN].loss
    assert two[PointScore.LEAST_LOSS].loss < two[PointScore.GAIN].loss
    larger = losses(metro, asked(2, 30, "3/5"), "3/200")
    assert larger[PointScore.GAIN_PER_LOSS].loss < two[PointScore.GAIN_PER_LOSS].loss
