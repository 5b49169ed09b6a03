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
from tests.tries import seldom

from privet.disclose.audit.decision import DENIED, Constraint, Decision, Family, Session
from privet.disclose.audit.exact import members_of
from privet.disclose.audit.examine import examine_sum
from privet.disclose.audit.rows import Rows, bits, primes
from privet.disclose.audit.summation import FEW, SumAuditor, SumPlan
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


@settings(max_examples=5)
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


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(15))
def test_an_attacker_confines_nobody(seed: int) -> None:
    attack(3 + seed % 3, seed, 5, "exact")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", seldom(range(8), (0, 2, 4)))
def test_an_attacker_confines_nobody_where_intervals_are_proved(seed: int) -> None:
    attack(4 + seed % 8, seed, 10, "certified")


@pytest.mark.slow
@pytest.mark.parametrize(("search", "sessions"), [("certified", 1_500), ("exact", 500)])
def test_thousands_of_attackers_confine_nobody(search: str, sessions: int) -> None:
    for seed in range(sessions):
        if search == "certified":
            attack(4 + seed % 10, seed, 12, search)
        else:
            attack(3 + seed % 4, seed, 7, search)


@pytest.mark.parametrize("sums", [8, pytest.param(12, marks=pytest.mark.slow)])
def test_a_hundred_people_are_answered_with_proofs(sums: int) -> None:
    rng = np.random.default_rng(5)
    session = started((rng.random(100) * 10).round(2).tolist(), search="certified")
    facts = []
    for _ in range(sums):
        chosen = np.nonzero(rng.random(100) < 0.5)[0]
        facts.append((chosen, session.decide(chosen)))
    assert sum(decision.answer is not None for _, decision in facts) == sums
    assert len(session.auditor.polytope.alike().first) > FEW  # type: ignore[attr-defined]
    assert examine_sum([Fraction(0)] * 100, [Fraction(10)] * 100, Fraction(1), facts)[1] is None


def parts(n: int, looks: Collection[int], seed: int = 0) -> list[float]:
    """Everybody of a kind of his own, random sums one after the other: which part of the interval is used?"""
    rng = np.random.default_rng((n, seed))
    x = (rng.random(n) * 10).round(3).tolist()
    whole, proved = (started(x, search=search) for search in ("exact", "certified"))
    found = []
    for at in range(max(looks) + 1):
        chosen = np.nonzero(rng.random(n) < 0.5)[0]
        if at in looks:
            plan: Any = proved.auditor.plan(chosen)
            exact: Any = whole.auditor.plan(chosen)
            assert exact.low <= plan.low < plan.high <= exact.high
            found.append(float((plan.high - plan.low) / (exact.high - exact.low)))
        total: Fraction = proved.column.sum(chosen)
        for one in (whole, proved):  # as if it had been answered: how long the log is, is what counts
            one.auditor.record(chosen, Decision(total, Constraint("=", total)))
    assert len(proved.auditor.polytope.alike().first) > FEW  # type: ignore[attr-defined]
    return found


def test_beyond_forty_kinds_nearly_the_whole_interval_is_used() -> None:
    """With half as many sums in the log as people, and with three quarters: there it was 87 %."""
    assert min(parts(48, {24, 36})) > 0.97


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 80, 100])
def test_up_to_a_hundred_kinds_nearly_the_whole_interval_is_used(n: int) -> None:
    assert min(parts(n, {n // 2, 3 * n // 4})) > 0.97


def test_many_people_of_few_kinds_are_decided_exactly() -> None:
    """Two thousand people of a few kinds: the whole interval, up to where one person would stand out."""
    auditor = SumAuditor([0] * 2000, [10] * 2000)
    first: Any = auditor.plan(np.arange(1000))
    assert (float(first.low), float(first.high)) == pytest.approx((1, 9999), abs=0.01)
    auditor.record(np.arange(1000), Decision(Fraction(3), Constraint("=", Fraction(3))))
    second: Any = auditor.plan(np.arange(500, 1500))  # 500 share 3 with the other 500
    assert (float(second.low), float(second.high)) == pytest.approx((1, 5002), abs=0.01)
    alone: Any = auditor.plan(np.arange(999))  # all of the first but one: the difference would tell
    assert alone.low is None


def test_which_way_is_taken_is_a_matter_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs up to forty kinds of people and sixty denials, proofs beyond."""
    taken = []
    monkeypatch.setattr(SumAuditor, "_exact", lambda *_: taken.append("exact"))
    monkeypatch.setattr(SumAuditor, "_certified", lambda *_: taken.append("certified"))
    for kinds in (39, 40):  # and one more: those who are asked about
        SumAuditor([0] * 80, [10 + at % kinds for at in range(80)]).plan(np.arange(1))
    auditor = SumAuditor([0] * 8, [10] * 8)
    for at in range(61):
        sign = 1.0 if at % 2 else -1.0
        auditor.polytope.bound(np.flatnonzero([(at + 2) >> j & 1 for j in range(8)]), sign, 5.0)
        if at >= 59:
            auditor.plan(np.arange(2))
    assert taken == ["exact", "certified", "exact", "certified"]


def test_people_who_are_alike_are_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.disclose.audit import polytope
    from privet.disclose.audit.solver import least

    sizes = []

    def counted(goal: Any, *rest: Any) -> Any:
        sizes.append(len(goal))
        return least(goal, *rest)

    monkeypatch.setattr(polytope, "least", counted)
    SumAuditor([0] * 500, [10] * 400 + [20] * 100).plan(np.arange(300))
    assert sizes == [8] * 6  # three kinds: two programs each, with two states of three kinds and a person


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(5))
def test_kinds_of_people_against_everybody_for_himself(seed: int) -> None:
    """The same people, once as kinds and once with bounds that differ by nothing that counts."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 4, 9)
    kinds, each = (
        SumAuditor([0] * 9, [4] * 9),
        SumAuditor([0] * 9, [4 + Fraction(j, 10**9) for j in range(9)]),
    )
    x = (rng.random(9) * 4).round(2)
    for _ in range(4):
        chosen = np.nonzero(np.isin(blocks, rng.choice(4, rng.integers(1, 4), replace=False)))[0]
        if not len(chosen):
            continue
        mine: Any = kinds.plan(chosen)
        theirs: Any = each.plan(chosen)
        assert (mine.implied, mine.low is None) == (theirs.implied, theirs.low is None)
        if mine.low is not None:
            assert (float(mine.low), float(mine.high)) == pytest.approx(
                (float(theirs.low), float(theirs.high)), abs=1e-5
            )
        decision = mine.judge(Fraction(str(round(float(x[chosen].sum()), 2))))
        kinds.record(chosen, decision)
        each.record(chosen, decision)
    assert len(kinds.polytope.alike().first) <= 4
    assert len(each.polytope.alike().first) == 9


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(4))
def test_an_attacker_confines_nobody_of_few_kinds(seed: int) -> None:
    """Departments, and departments without one person: everybody is looked at, whatever kind they are."""
    rng = np.random.default_rng(seed)
    n, blocks = 24, rng.integers(0, 5, 24)
    auditor = SumAuditor([0] * n, [5] * n)
    session = Session(np.where(rng.random(n) < 0.5, 0.1, rng.random(n) * 5).round(2).tolist(), auditor)
    said = []
    for _ in range(8):
        query = set(np.nonzero(np.isin(blocks, rng.choice(5, rng.integers(1, 4), replace=False)))[0].tolist())
        query ^= set(rng.choice(n, rng.integers(0, 2), replace=False).tolist())
        if query:
            said.append(session.ask(query) is DENIED)
    assert len(auditor.polytope.alike().first) <= FEW
    for person in range(n):
        goal = np.zeros(n)
        goal[person] = 1.0
        low, high = auditor.polytope.extent(goal)
        assert high - low >= 1
    assert not all(said)


def test_a_bound_asked_for_again_takes_the_place_of_the_wider_one() -> None:
    from privet.disclose.audit.polytope import Polytope

    polytope = Polytope(np.full(4, 10.0))
    for sign, value in ((1.0, 9.0), (1.0, 7.0), (-1.0, 2.0), (1.0, 8.0), (-1.0, 3.0)):
        polytope.bound(np.array([0, 1]), sign, value)
    polytope.bound(np.array([0, 2]), 1.0, 5.0)
    assert [(m.tolist(), s, v) for m, s, v in polytope.at_most] == [
        ([0, 1], 1.0, 7.0),
        ([0, 1], -1.0, -3.0),
        ([0, 2], 1.0, 5.0),
    ]


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


def test_sums_that_nearly_depend_are_denied() -> None:
    """Rows whose inverse grows like Fibonacci's numbers: what the solver is off by would grow as well."""
    from privet.disclose.audit.polytope import Polytope

    n = 24
    rows = [np.array([j for j in range(i + 1) if j == i or (i - j) % 2]) for i in range(n)]
    polytope = Polytope(np.full(n + 1, 10.0))
    fine = []
    for row in rows:
        fine.append(polytope.apart(row))
        polytope.equal.append((row, 1.0))
    assert fine[:8] == [True] * 8
    assert not fine[-1]
    auditor = SumAuditor([0] * (n + 1), [10] * (n + 1))
    for row in rows[:-1]:
        auditor.record(row, Decision(Fraction(5), Constraint("=", Fraction(5))))
    assert auditor.plan(rows[-1]) == SumPlan(Family.BINDING, implied=False)


def test_wide_bounds_take_more_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.disclose.audit.polytope import Polytope

    asked = []
    monkeypatch.setattr(Polytope, "safe_interval", lambda _, __, width: asked.append(width))
    for high in (10, 10**9):
        SumAuditor([0] * 4, [high] * 4).plan(np.array([0, 1]))
    assert asked[0] == pytest.approx(1 + 1e-7, abs=1e-12)
    assert asked[1] == pytest.approx(1 + 4e-5, abs=1e-12)
