"""A plan sees no record, and says about what happens: how many records splits of sets drop."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean

import pytest
from tests.roads import noisy

import privet as pv
from privet.dp import settings
from privet.dp.choose_h import planned_h
from privet.dp.coded import CodedTable
from privet.dp.diffgen import DiffGen
from privet.dp.exact import Exact
from privet.dp.plan import expect, reaches
from privet.dp.splitting import Splitter
from privet.roads.noisy.road import coded

KNOWN = settings.public(pv.Policy.loads(noisy.TEXT))


def really_dropped(table: CodedTable, diffgen: DiffGen, runs: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """The share of records that are in no leaf at the end; nobody may look at this but a test."""
    kept: list[int] = []
    counted = Splitter.counted

    def watched(splitter: Splitter) -> object:
        grid, counts = counted(splitter)
        kept.append(int(counts.sum()))
        return grid, counts

    with monkeypatch.context() as patch:
        patch.setattr(Splitter, "counted", watched)
        for _ in range(runs):
            diffgen.release(table, Exact())
    return 1 - fmean(kept) / table.records


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("rows", "epsilon", "h"), [(300, "1/10", 5), (3000, "1/2", 5), (3000, "2", 5), (300, "1/10", 12)]
)
def test_what_is_dropped_is_about_what_was_planned(
    rows: int, epsilon: str, h: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    diffgen = DiffGen(epsilon=Fraction(epsilon), h=h)
    plan = expect(diffgen, KNOWN.predictors, len(KNOWN.classes), records=rows)
    runs = 36_000 // rows  # of few rows one run keeps nearly all, the next hardly any
    found = really_dropped(coded(noisy.table(rows), KNOWN), diffgen, runs, monkeypatch)
    assert plan.dropped == pytest.approx(found, abs=0.3)


def test_where_most_is_dropped_the_plan_does_not_promise_little_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 14: fifteen percent were promised where two thirds were dropped."""
    diffgen = DiffGen(epsilon=Fraction(1, 2), h=20)
    rows = 400
    found = really_dropped(coded(noisy.table(rows), KNOWN), diffgen, 12, monkeypatch)
    assert found > 0.5
    plan = expect(diffgen, KNOWN.predictors, len(KNOWN.classes), records=rows)
    assert plan.dropped > 0.4
    assert plan.total_error - plan.counts * plan.error == pytest.approx(plan.dropped * rows)


def test_fewer_records_lose_more_and_without_sets_nothing_is_dropped() -> None:
    diffgen = DiffGen(epsilon=Fraction(1, 2), h=6)
    shares = [
        expect(diffgen, KNOWN.predictors, 3, records=rows).dropped for rows in (30, 300, 3000, 30_000, 10**7)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.5
    assert shares[-1] < 0.01
    plain = [p for p in KNOWN.predictors if p.name != "codes"]
    one, other = (expect(diffgen, plain, 3, records=records) for records in (30, None))
    assert (one.dropped, one.total_error) == (0, other.total_error)
    assert expect(diffgen, KNOWN.predictors, 3).dropped == 0  # nothing is said where no number is known
    assert expect(diffgen, KNOWN.predictors, 3, records=0).dropped >= 0


def test_rounds_are_chosen_with_what_is_dropped() -> None:
    diffgen = DiffGen(epsilon=Fraction(1, 2))
    plain = [p for p in KNOWN.predictors if p.name != "codes"]
    assert planned_h(diffgen, KNOWN.predictors, 3, 300) <= planned_h(diffgen, KNOWN.predictors, 3, 30_000)
    assert planned_h(diffgen, plain, 3, 0) == 1


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_tail_is_the_sum(epsilon: float) -> None:
    from math import exp

    q = exp(-epsilon)
    law = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-600, 601)}
    for least in (-7, -1, 0, 1, 2, 9):
        assert reaches(least, epsilon) == pytest.approx(
            sum(p for z, p in law.items() if z >= least), abs=1e-9
        )
