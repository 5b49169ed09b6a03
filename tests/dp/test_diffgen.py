"""DiffGen against its definition: leaves, counts, scores, accounts, refusals; with the plainest code."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dp.odds import implausible
from tests.dp.paths import reaches
from tests.dp.small import JOBS, PREDICTORS, TABLE_6_1, table, without

from privet.dp.budget import CountBudget
from privet.dp.choose_h import buy_h, planned_h
from privet.dp.contingency import contingency
from privet.dp.counts import Consistency, consistent, project
from privet.dp.diffgen import DiffGen, Selection
from privet.dp.exact import Exact
from privet.dp.marginals import marginals
from privet.dp.plan import expect, mean_error, variance
from privet.dp.publicdomain import Categories, ItemSets, Numbers, Predictor, public_domain
from privet.dp.queries import Count, Interactive, estimate, matching
from privet.dp.scores import GRID, SplitScore, entropy_bound, gain, logarithm, majority, scoring
from privet.dp.sets import survivors
from privet.dp.spend import Tab
from privet.dp.tail import Enclosed, binomial, distribution, uniform
from privet.errors import BudgetError, HierarchyError, InputError, PolicyError, UnsupportedError
from privet.hierarchy.flat import Flat
from privet.hierarchy.intervals import Intervals
from privet.hierarchy.tree import Tree

ITEMS = Tree.of({"**": {"1*": ["11", "12"], "2*": ["21", "22", "23"]}})
MIXED = (
    Predictor("Job", Categories(JOBS)),
    Predictor("Age", Numbers(18, 30)),
    Predictor("Codes", ItemSets(ITEMS)),
    Predictor("More", ItemSets(Tree.of({"any": ["a", "b"]}), separator=";")),
)
rows = st.lists(
    st.tuples(
        st.sampled_from(JOBS.leaves),
        st.integers(18, 29).map(str),
        st.sets(st.sampled_from(ITEMS.leaves)).map(lambda items: "|".join(sorted(items))),
        st.sets(st.sampled_from("ab")).map(lambda items: ";".join(items) or None),
        st.sampled_from(["Y", "N", "Z"]),
    ),
    max_size=30,
)


class Quiet(Exact):
    """Choices at random, no noise in counts of scale 1 / rest; emptiness tests keep what has records."""

    def laplace(self, scale: Fraction, size: int) -> np.ndarray:
        del scale
        return np.zeros(size, dtype=np.int64)


class Keeping(Quiet):
    """Everything passes the emptiness test, records or not."""

    def laplace(self, scale: Fraction, size: int) -> np.ndarray:
        return np.full(size, 10**9 if scale == self.tested else 0, dtype=np.int64)

    tested: Fraction


@given(rows, st.integers(0, 10**6), st.sampled_from(list(SplitScore)))
@settings(max_examples=40)
def test_every_record_is_counted_once_where_it_belongs(
    drawn: list[tuple[str, ...]], seed: int, score: SplitScore
) -> None:
    """With all subsets kept and no noise, the release is the generalised table, counted naively."""
    columns = table(drawn, MIXED, ("Y", "N", "Z"))
    diffgen = DiffGen(epsilon=Fraction(1), h=4, score=score)
    noise = Keeping(Random(seed))
    noise.tested = 1 / diffgen.step(1)
    made = diffgen.release(columns, noise)
    applied = made.apply_cut(columns)
    names = ["Job", "Age", "Codes", "More", "Class"]
    expected = Counter(zip(*(applied[name].texts() for name in names), strict=True))
    shown, counts = made.rows(zeros=True)
    cells = list(zip(*(shown[name].texts() for name in names), strict=True))
    assert len(set(cells)) == len(cells) == 3 * made.leaves
    assert {cell: n for cell, n in zip(cells, counts.tolist(), strict=True) if n} == dict(expected)
    assert made.epsilon == 1
    # relational children are all there: the leaves of any node sets are a product of the cuts
    boxes = Counter((codes, more) for _, _, codes, more, _ in cells)
    assert set(boxes.values()) == {3 * len(made.cuts[0]) * len(made.cuts[1])} or any(
        step.attribute in {"Codes", "More"} for step in made.steps
    )


@given(rows, st.integers(0, 10**6))
@settings(max_examples=40)
def test_dropped_partitions_take_their_records_along(drawn: list[tuple[str, ...]], seed: int) -> None:
    columns = table(drawn, MIXED, ("Y", "N", "Z"))
    made = DiffGen(epsilon=Fraction(1), h=4).release(columns, Quiet(Random(seed)))
    tested = any(step.attribute in {"Codes", "More"} for step in made.steps)
    assert made.records == (0 if tested else len(drawn))  # without noise no count reaches the threshold
    assert made.leaves == (0 if tested else len(made.cuts[0]) * len(made.cuts[1]))


counts_of = st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=4)


@given(counts_of)
def test_scores_are_their_definitions(drawn: list[list[int]]) -> None:
    counts = np.array(drawn)
    assert int(majority(counts)) == sum(max(child) for child in drawn)

    def entropy(classes: list[int]) -> float:
        return -sum(n / sum(classes) * math.log2(n / sum(classes)) for n in classes if n)

    total = sum(map(sum, drawn))
    expected = 0.0
    if total:
        expected = entropy([sum(c) for c in zip(*drawn, strict=True)])
        expected -= sum(sum(child) / total * entropy(child) for child in drawn if sum(child))
    assert abs(int(gain(counts)) / 2**GRID - expected) < 6 * 2**-GRID


@given(counts_of, st.integers(0, 3), st.integers(0, 2))
def test_one_record_changes_a_score_by_at_most_its_sensitivity(
    drawn: list[list[int]], child: int, label: int
) -> None:
    for score in SplitScore:
        scored = scoring(score, 3)
        more = [list(row) for row in drawn]
        more[child % len(drawn)][label] += 1
        before, after = int(scored.of(np.array(drawn))), int(scored.of(np.array(more)))
        assert abs(after - before) <= scored.sensitivity
        assert before >= 0
        if scored.monotone:
            assert after >= before


def test_logarithms_are_never_too_high_and_nearly_exact() -> None:
    numbers = np.unique(np.concatenate([np.arange(1, 5000), 2 ** np.arange(40), 2 ** np.arange(1, 40) - 1]))
    for number, found in zip(numbers.tolist(), logarithm(numbers).tolist(), strict=True):
        exact = math.log2(number) * 2**GRID  # a float is right to far more digits than the grid has
        assert found <= exact + 1e-6
        assert found > exact - 2
    assert [entropy_bound(n) for n in (1, 2, 4)] == [1, 2**GRID, 2 * 2**GRID]
    assert entropy_bound(3) >= math.log2(3) * 2**GRID


# test-and-generate


def test_bounds_of_the_binomial_hold_its_value() -> None:
    arithmetic = Enclosed(40)
    p = reaches(3, 0.5)
    cdf = 0.0
    for number, (low, high) in enumerate(distribution(arithmetic, 9, Fraction(1, 2), 3)):
        cdf += math.comb(9, number) * p**number * (1 - p) ** (9 - number)
        assert float(low) <= cdf + 1e-12
        assert float(high) >= cdf - 1e-12
        assert float(high - low) < 1e-30


def test_binomial_and_uniform_draws() -> None:
    noise = Exact(Random(1))
    p = reaches(2, 0.5)
    law: dict[Hashable, float] = {n: math.comb(6, n) * p**n * (1 - p) ** (6 - n) for n in range(7)}
    assert not implausible((binomial(noise, 6, Fraction(1, 2), 2) for _ in range(1200)), law)
    assert not implausible((uniform(noise, 300) % 3 for _ in range(1200)), {0: 1 / 3, 1: 1 / 3, 2: 1 / 3})


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dense", [0, 100])
def test_test_and_generate_is_the_same_as_testing_all(dense: int) -> None:
    """k = 2 and k = 3 children: the law of kept subsets from the formula, for both ways."""
    noise = Exact(Random(dense))
    for counts in ([2, 0, 1], [0, 3, 0, 0, 0, 1, 0]):
        chances = [reaches(2 - c, 0.5) for c in counts]
        law: dict[Hashable, float] = {
            kept: math.prod(p if at in kept else 1 - p for at, p in enumerate(chances))
            for size in range(len(counts) + 1)
            for kept in combinations(range(len(counts)), size)
        }
        drawn = [
            tuple(survivors(noise, np.array(counts), Fraction(1, 2), 2, dense=dense).tolist())
            for _ in range(1000)
        ]
        assert not implausible(drawn, law)


# account


@given(st.integers(0, 10**6), st.fractions(Fraction(1, 20), 3), st.integers(1, 6))
@settings(max_examples=30)
def test_the_account_adds_up_to_epsilon(seed: int, epsilon: Fraction, h: int) -> None:
    columns = table(TABLE_6_1)
    payer = Tab(epsilon)
    diffgen = DiffGen(epsilon=epsilon, h=h, class_totals=Fraction(1, 9))
    made = diffgen.release(columns, Exact(Random(seed)), payer)
    assert made.epsilon == epsilon == payer.spent
    assert payer.charges == made.charges
    assert 1 / made.scale >= epsilon / 2 * Fraction(8, 9)
    fixed = DiffGen(epsilon=epsilon, h=h, counts=CountBudget.FIXED).release(columns, Exact(Random(seed)))
    assert fixed.scale == 2 / epsilon
    assert fixed.epsilon <= epsilon


def test_a_payer_without_money_stops_the_release_before_any_noise() -> None:
    class Silent(Exact):
        def choose(self, *_: object) -> int:
            raise AssertionError("noise was drawn")

    with pytest.raises(BudgetError):
        DiffGen(epsilon=Fraction(1), h=2).release(table(TABLE_6_1), Silent(), Tab(Fraction(1, 100)))


def test_early_stop_gives_the_rest_to_the_counts() -> None:
    job = (Predictor("Job", Categories(Tree.of({"Any": ["a", "b"]}))),)
    made = DiffGen(epsilon=Fraction(1), h=5).release(table([("a", "Y")], job), Exact(Random(0)))
    assert len(made.steps) == 1
    assert 1 / made.scale == 1 - Fraction(1, 20)


def test_scores_and_counts_stay_inside() -> None:
    made = DiffGen(epsilon=Fraction(1), h=3).release(table(TABLE_6_1), Exact(Random(2)))
    assert all(step.score is None for step in made.steps)
    assert "array" not in repr(made)
    assert str(made.account_document()["epsilon"]) == "1"
    assert set(made.cut_document()) == {"Job", "Age", "Codes"}


# refusals


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": Fraction(0)},
        {"epsilon": Fraction(-1)},
        {"epsilon": 0.5},
        {"h": 0},
        {"h": True},
        {"class_totals": Fraction(1)},
        {"records_per_person": 0},
        {"selection": Selection.MONOTONE, "score": SplitScore.INFORMATION_GAIN},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((PolicyError, BudgetError)):
        DiffGen(**{"epsilon": Fraction(1), **wrong})  # type: ignore[arg-type]


def test_values_outside_are_refused_without_being_named() -> None:
    for at, bad in ((0, "Astronaut"), (1, "65"), (1, "40.5"), (1, None), (2, "11|77"), (2, ""), (3, "Maybe")):
        row: list[str | None] = list(TABLE_6_1[0])
        row[at] = bad
        with pytest.raises(InputError, match="1 of 2 records") as refusal:
            table([TABLE_6_1[1], row])
        assert not bad or bad not in str(refusal.value)


def test_domains_that_the_data_would_define_are_refused() -> None:
    assert public_domain("age", Intervals(low=0, high=120)).size == 120
    assert public_domain("job", Tree.of({"Any": ["a", "b"]})).size == 2
    for hierarchy in (None, Flat(), Intervals(), Intervals(low=0), Intervals(bottom=0, high=9)):
        with pytest.raises(PolicyError, match=r"attributes\.x: hierarchy: "):
            public_domain("x", hierarchy)
    for wrong in ({"low": 5, "high": 5}, {"high": 9, "unit": 0}, {"high": 9, "unit": 2}, {"edges": (3, 3)}):
        with pytest.raises(HierarchyError):
            Numbers(**wrong)


def test_item_taxonomies_with_too_many_children_are_refused() -> None:
    wide = Tree.of({"**": [str(n) for n in range(9)]})
    with pytest.raises(HierarchyError, match="9 children"):
        ItemSets(wide)
    assert len(ItemSets(wide, fan_out=9).root.children) == 10
    with pytest.raises(HierarchyError, match="fan_out"):
        ItemSets(wide, fan_out=13)
    with pytest.raises(HierarchyError, match="NONE"):
        ItemSets(Tree.of({"**": ["NONE", "a"]}))


# what is done with a release


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.integers(0, 20))
def test_projection_is_the_nearest(drawn: list[int], total: int) -> None:
    found = project(np.array(drawn), total)
    assert found.sum() == total
    assert (found >= 0).all()
    off = int(((found - np.array(drawn)) ** 2).sum())
    for at, to in product(range(len(drawn)), repeat=2):  # convex: if no single move helps, nothing does
        if at != to and found[at] > 0:
            moved = found.copy()
            moved[at], moved[to] = moved[at] - 1, moved[to] + 1
            assert int(((moved - np.array(drawn)) ** 2).sum()) >= off


def test_consistent_counts() -> None:
    diffgen = DiffGen(epsilon=Fraction(1, 2), h=2, class_totals=Fraction(1, 4))
    made = diffgen.release(table(TABLE_6_1 * 20), Exact(Random(4)))
    assert (made.counts < 0).any()
    assert consistent(made, Consistency.RAW) is made
    assert (consistent(made, Consistency.CLAMP).counts == np.maximum(made.counts, 0)).all()
    summed = consistent(made, Consistency.TOTALS)
    assert made.totals is not None
    assert summed.counts.sum(axis=0).tolist() == np.maximum(made.totals, 0).tolist()
    assert len(summed.expand()["Age"].codes) == summed.records


def test_contingency_and_queries() -> None:
    relational = [(job, age, label) for job, age, _, label in TABLE_6_1]
    columns = table(relational, PREDICTORS[:2])
    full = contingency(columns, Fraction(1), Quiet(Random(0)))
    assert full.leaves == 4 * 47
    young = Count({"Age": Numbers(18, 65).node(0, 22)})
    assert estimate(full, young) == matching(columns, young).sum() == 7
    lawyers = Count({"Job": PREDICTORS[0].domain.root.children[0]}, ("Y",))
    assert estimate(full, lawyers) == 2
    codes = Count({"Codes": PREDICTORS[2].domain.root.children[1]})
    assert matching(table(TABLE_6_1), codes).sum() == 4
    with pytest.raises(UnsupportedError, match="column of sets"):
        contingency(table(TABLE_6_1), Fraction(1), Quiet())
    session = Interactive(table(TABLE_6_1), Fraction(1), Quiet())
    assert session.ask(codes, Fraction(3, 4)) == 4
    with pytest.raises(BudgetError):
        session.ask(codes, Fraction(1, 2))
    assert session.left == Fraction(1, 4)
    with pytest.raises(InputError):
        session.ask(Count({"nothing": codes.where["Codes"]}), Fraction(1, 8))


def test_marginals_share_epsilon() -> None:
    payer = Tab(Fraction(1))
    found = marginals(table(TABLE_6_1), ["Job", "Age", "Class"], Fraction(1), Quiet(), payer)
    assert payer.spent == 1
    assert dict(zip(found[0].labels, found[0].counts, strict=True)) == dict.fromkeys(JOBS.leaves, 2)
    assert sum(found[1].counts) == 8
    assert found[2].counts == (4, 4)
    with pytest.raises(UnsupportedError):
        marginals(table(TABLE_6_1), ["Codes"], Fraction(1), Quiet())


def test_the_plan_is_near_what_happens() -> None:
    diffgen = DiffGen(epsilon=Fraction(1), h=3)
    plan = expect(diffgen, MIXED[:2], 2)
    made = [
        diffgen.release(table([], MIXED[:2]), Exact(Random(seed))) for seed in range(200)
    ]  # without records every split is equally likely, as in the plan
    assert plan.leaves == pytest.approx(np.mean([m.leaves for m in made]), rel=0.1)
    assert float(plan.count_epsilon) == pytest.approx(np.mean([float(1 / m.scale) for m in made]), rel=0.02)
    drawn = Exact(Random(1)).laplace(Fraction(2), 40_000)
    assert mean_error(0.5) == pytest.approx(np.abs(drawn).mean(), rel=0.03)
    assert variance(0.5) == pytest.approx(drawn.var(), rel=0.08)


def test_h_is_bought() -> None:
    diffgen = DiffGen(epsilon=Fraction(1))
    columns = table(TABLE_6_1 * 50)
    payer = Tab(Fraction(1))
    bought = buy_h(diffgen, columns, Exact(Random(0)), payer)
    assert payer.spent == Fraction(1, 100)
    assert bought.diffgen.epsilon == Fraction(99, 100)
    assert bought.diffgen.h == planned_h(bought.diffgen, PREDICTORS, 2, bought.records)
    assert planned_h(diffgen, PREDICTORS, 2, 10**6) > planned_h(diffgen, PREDICTORS, 2, 100)
    made = bought.diffgen.release(columns, Exact(Random(0)), payer)
    assert payer.spent == 1 == made.epsilon + bought.charges[0].epsilon


def test_noise_of_a_whole_release_has_its_law() -> None:
    """Table 6.2 is one draw: over many, counts minus the truth are discrete Laplace."""
    relational = [(job, label) for job, _, _, label in TABLE_6_1]
    drawn: list[int] = []
    for seed in range(300):
        made = DiffGen(epsilon=Fraction(2), h=1).release(
            table(relational, PREDICTORS[:1]), Exact(Random(seed))
        )
        drawn += (made.counts - 2).reshape(-1).tolist()
    e = 2 - Fraction(1, 2)
    law: dict[Hashable, float] = {z: reaches(z, float(e)) - reaches(z + 1, float(e)) for z in range(-8, 9)}
    assert not implausible(drawn, law)
    assert without(TABLE_6_1, 0)
