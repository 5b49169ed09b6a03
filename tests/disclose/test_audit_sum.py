"""Sums: the worked examples, where the printed rule fails, exact programs as oracle, attackers."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.disclose.audit_naive import safe_interval

from privet.disclose.audit.decision import DENIED, Constraint, Decision, Session
from privet.disclose.audit.exact import members_of
from privet.disclose.audit.replay import examine_sum
from privet.disclose.audit.rows import Rows, bits, primes
from privet.disclose.audit.summation import SumAuditor
from privet.errors import InputError, UnsupportedError


def started(x: Collection[float], high: int = 10, **more: Any) -> Session:
    unsafe = more.get("rule") == "source" or more.get("family") == "simple"
    return Session(x, SumAuditor([0] * len(x), [high] * len(x), unsafe=unsafe, **more))


def members(query: Collection[int], n: int) -> Any:
    return members_of({j - 1 for j in query}, n)


E7 = [{1, 2}, {2, 3}, {3, 4}, {1, 4}]


def test_e7_a_session() -> None:
    strict, source = started((1, 2, 8, 9)), started((1, 2, 8, 9), rule="source")
    expected = [(1, 19, 0, 20), (1, 12, 0, 13), (8, 19, 7, 20)]
    for query, truth, (low, high, least, most) in zip(E7, (3, 10, 17), expected, strict=False):
        plan: Any = strict.auditor.plan(members(query, 4))
        assert float(plan.low) == pytest.approx(low, abs=1e-4)
        assert float(plan.high) == pytest.approx(high, abs=1e-4)
        assert plan.low > low  # on the safe side
        assert plan.high < high
        printed: Any = source.auditor.plan(members(query, 4))
        assert (printed.least, printed.most) == (least, most)
        assert strict.decide(members(query, 4)).answer == truth
        assert source.decide(members(query, 4)).answer == truth
    # The fourth follows from the others: the printed rule denies what tells nothing.
    assert source.decide(members(E7[3], 4)) == Decision(None)
    assert strict.decide(members(E7[3], 4)) == Decision(Fraction(10))


@pytest.mark.parametrize(
    ("truth", "printed", "strict"),
    [
        ("0.4", "=1.4", "<="),
        ("1", "=1", "<="),
        ("1.5", "=1.5", ""),
        ("2", "", ""),
        ("10", "", ""),
        ("18", "", ""),
        ("18.5", "=18.5", ""),
        ("19", "=19", ">="),
        ("19.5", "=18.5", ">="),
    ],
)
def test_e7_the_ends(truth: str, printed: str, strict: str) -> None:
    x = (truth, 0) if Fraction(truth) <= 10 else (10, Fraction(truth) - 10)
    source = started(x, rule="source").decide(members({1, 2}, 2))  # type: ignore[arg-type]
    if printed:
        assert source == Decision(None, Constraint("=", Fraction(printed[1:])))
    else:
        assert source.answer == Fraction(truth)
    decision = started(x).decide(members({1, 2}, 2))  # type: ignore[arg-type]
    if strict:
        assert decision.answer is None
        assert decision.constraint is not None
        assert decision.constraint.relation == strict
        assert float(decision.constraint.value) == pytest.approx(1 if strict == "<=" else 19, abs=1e-4)
    else:
        assert decision.answer == Fraction(truth)


TEST_2 = [{1, 2}, {1, 3}, {1, 6}, {2, 3, 4, 6}, {4, 5}]


def test_e7_the_printed_rule_gives_people_away() -> None:
    x = (5, 5, 5, 1, 1, 5)
    source, strict = started(x, rule="source"), started(x)
    facts = []
    for query in TEST_2:
        decision = source.decide(members(query, 6))
        assert decision.answer is not None
        facts.append((members(query, 6), decision))
    _, breach = examine_sum([Fraction(0)] * 6, [Fraction(10)] * 6, Fraction(1), facts)
    assert breach == "somebody is known within less than the width"
    assert examine_sum([Fraction(0)] * 6, [Fraction(10)] * 6, Fraction(2, 3), facts)[1] is None  # 0.667
    for query in TEST_2[:4]:
        assert strict.decide(members(query, 6)).answer is not None
    last = strict.decide(members(TEST_2[4], 6))
    assert last.answer is None
    assert last.constraint is not None
    assert (last.constraint.relation, round(float(last.constraint.value), 4)) == ("<=", 3.0)


def test_e8_simulatable_denies_everything_that_is_new() -> None:
    for query in ({1}, {1, 2}, {1, 2, 3, 4}):
        assert started((1, 2, 8, 9), family="simulatable").decide(members(query, 4)) == Decision(None)
        plan: Any = started((1, 2, 8, 9)).auditor.plan(members(query, 4))
        assert plan.low is None or plan.low > 0  # the slice at the least possible sum is never safe


def test_a_denied_sum_asked_again_stays_denied() -> None:
    for search in ("exact", "certified"):
        session = started((0.1, 0.2, 5, 5), search=search)
        first = session.decide(members({1, 2}, 4))
        assert first.answer is None
        assert [session.ask({0, 1}) for _ in range(5)] == [DENIED] * 5
        assert session.ask({0, 1, 2, 3}) is not DENIED
        assert session.ask({2, 3}) is DENIED  # the difference would tell


@settings(max_examples=12)
@given(
    st.lists(st.sets(st.integers(0, 2), min_size=1), min_size=1, max_size=3),
    st.lists(st.integers(0, 12), min_size=3, max_size=3),
)
def test_intervals_are_inside_the_exact_ones(queries: list[set[int]], quarters: list[int]) -> None:
    """HiGHS with its margin, and the proofs at the centre, against a simplex in fractions."""
    x = [Fraction(v, 4) for v in quarters]
    session, other = started(x, high=3, search="exact"), SumAuditor([0] * 3, [3] * 3, search="certified")  # type: ignore[arg-type]
    equal: list[tuple[frozenset[int], Fraction]] = []
    at_most: list[tuple[frozenset[int], int, Fraction]] = []
    for query in queries:
        chosen = members_of(query, 3)
        plan: Any = session.auditor.plan(chosen)
        proof: Any = other.plan(chosen)
        truth = safe_interval([3] * 3, equal, at_most, frozenset(query))
        if not plan.implied:
            for found in (plan, proof):
                if found.low is not None:
                    assert truth is not None
                    assert truth[0] < found.low < found.high < truth[1]
            if truth is not None and truth[1] - truth[0] > Fraction(1, 1000):
                assert plan.low is not None
                assert plan.low - truth[0] < Fraction(1, 1000)
        decision = session.decide(chosen)
        other.record(chosen, decision)
        made = decision.constraint
        if made is not None and made.relation == "=":
            equal.append((frozenset(query), made.value))
        elif made is not None:
            sign = 1 if made.relation == "<=" else -1
            at_most.append((frozenset(query), sign, sign * made.value))


@settings(max_examples=60)
@given(st.lists(st.sets(st.integers(0, 5), min_size=1), max_size=8))
def test_what_follows_is_decided_exactly(queries: list[set[int]]) -> None:
    rows = Rows(6)
    known: list[list[int]] = []
    for query in queries:
        row = [int(j in query) for j in range(6)]
        before = np.linalg.matrix_rank(np.array(known)) if known else 0
        implied = np.linalg.matrix_rank(np.array([*known, row])) == before
        chosen = members_of(query, 6)
        assert rows.implied(chosen) == implied
        units = [np.eye(6, dtype=int)[j].tolist() for j in range(6)]
        together = [*known, row]
        rank = np.linalg.matrix_rank(np.array(together))
        alone = any(np.linalg.matrix_rank(np.array([*together, unit])) == rank for unit in units)
        assert rows.would_determine(chosen) == alone
        if not implied:
            rows.add(chosen)
            known.append(row)


def test_primes_are_enough_for_every_determinant() -> None:
    assert all(all(p % d for d in range(2, 1000)) for p in primes(5))
    assert bits(3) >= 1  # a 3x3 determinant of 0/1 reaches 2
    assert 30 * (int(bits(200) // 30) + 2) > bits(200)


def attack(n: int, seed: int, length: int, search: str) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.random(n) * 5).round(2)
    session = started(x.tolist(), high=5, search=search)
    facts: list[tuple[Any, Decision]] = []
    low, high = [Fraction(0)] * n, [Fraction(5)] * n
    for _ in range(length):
        query = set(rng.choice(n, rng.integers(1, n + 1), replace=False).tolist())
        if facts and rng.random() < 0.7:
            one, other = (set(facts[at][0].tolist()) for at in rng.integers(0, len(facts), 2))
            query = [one, one | other, one - other, one ^ other, one | query][rng.integers(0, 5)] or query
        chosen = members_of(query, n)
        facts.append((chosen, session.decide(chosen)))
    assert examine_sum(low, high, Fraction(1), facts)[1] is None
    for chosen, decision in facts:  # the truth is never off the log
        made, truth = decision.constraint, session.column.sum(chosen)
        assert (
            made is None
            or {"=": truth == made.value, "<=": truth <= made.value, ">=": truth >= made.value}[made.relation]
        )


@pytest.mark.parametrize("seed", range(30))
def test_an_attacker_confines_nobody(seed: int) -> None:
    attack(3 + seed % 3, seed, 5, "exact")


@pytest.mark.parametrize("seed", range(60))
def test_an_attacker_confines_nobody_where_intervals_are_proved(seed: int) -> None:
    attack(4 + seed % 8, seed, 10, "certified")


@pytest.mark.slow
def test_thousands_of_attackers_confine_nobody() -> None:
    for seed in range(1_500):
        attack(4 + seed % 10, seed, 12, "certified")
    for seed in range(500):
        attack(3 + seed % 4, seed, 7, "exact")


def test_a_hundred_people_are_answered_with_proofs() -> None:
    rng = np.random.default_rng(5)
    session = started((rng.random(100) * 10).round(2).tolist())
    assert session.auditor.search == "certified"  # type: ignore[attr-defined]
    facts = []
    for _ in range(12):
        chosen = np.nonzero(rng.random(100) < 0.5)[0]
        facts.append((chosen, session.decide(chosen)))
    assert sum(decision.answer is not None for _, decision in facts) == 12
    assert examine_sum([Fraction(0)] * 100, [Fraction(10)] * 100, Fraction(1), facts)[1] is None


def test_units_and_bounds_of_each_person() -> None:
    """A shift and a scale change nothing."""
    x = (1, 2, 8, 9)
    shifted = SumAuditor([-7, 3, 0, 100], [193, 203, 200, 300], width=20)
    other = Session([20 * a + b for a, b in zip(x, (-7, 3, 0, 100), strict=True)], shifted)
    plain = started(x)
    for query in E7:
        mine, theirs = plain.decide(members(query, 4)), other.decide(members(query, 4))
        base = sum((-7, 3, 0, 100)[j - 1] for j in query)
        assert mine.answer is not None
        assert theirs.answer == mine.answer * 20 + base


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="bounds of 1 people are narrower than the width"):
        SumAuditor([0, 0], [10, 3], width=4)
    with pytest.raises(InputError, match="above 0"):
        SumAuditor([0], [1], width=0)
    with pytest.raises(InputError, match="lower and an upper"):
        SumAuditor([0, 0], [1])
    with pytest.raises(UnsupportedError, match="less than the width"):
        SumAuditor([0], [1], rule="source")
    with pytest.raises(UnsupportedError, match="gives people away"):
        SumAuditor([0], [1], family="simple")
    with pytest.raises(InputError, match="one of strict, source"):
        SumAuditor([0], [1], rule="lax")
    with pytest.raises(InputError, match="one of exact, certified"):
        SumAuditor([0], [1], search="quick")
    assert started((1, 2)).decide(members({1}, 2)) == Decision(None)  # one person: no answer is safe


def test_an_undecided_program_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.disclose.audit import polytope
    from privet.disclose.audit.solver import UndecidedError

    def gives_up(*_: Any) -> None:
        raise UndecidedError

    monkeypatch.setattr(polytope, "least", gives_up)
    assert started((5, 5, 5)).decide(members({1, 2}, 3)) == Decision(None)
