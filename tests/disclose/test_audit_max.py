"""Maxima: the worked examples, the printed algorithm's failures, and the literal definition as oracle."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.disclose.audit_finite import determined, remaining, widths
from tests.disclose.audit_naive import NaiveMax, PrintedMax, grid_states

from privet.disclose.audit.decision import DENIED, Constraint, Decision, Session
from privet.disclose.audit.exact import Column, members_of
from privet.disclose.audit.maximum import MaxAuditor, Status
from privet.errors import InputError, UnsupportedError


def zero(query: Collection[int]) -> set[int]:
    """The spec counts from 1."""
    return {j - 1 for j in query}


def started(x: Collection[Any], family: str = "binding", log: str = "tight", **more: Any) -> Session:
    return Session(x, MaxAuditor(len(x), family=family, log=log, unsafe=family == "simple", **more))


def statuses(session: Session, query: Collection[int]) -> dict[str, str]:
    plan: Any = session.auditor.plan(members_of(zero(query), session.auditor.n))
    return {str(a): Status(s).name.lower() for a, s in zip(plan.answers, plan.statuses.tolist(), strict=True)}


@pytest.mark.parametrize("second", [3, 4, 5, 6, 9])
def test_e2_two_queries(second: int) -> None:
    x = (5, 1, second, 2)
    expected = {"simple": second >= 5, "simulatable": False, "binding": second > 5}
    for family, answered in expected.items():
        session = started(x, family)
        assert session.ask(zero({1, 2})) == 5
        if family == "binding":
            assert statuses(session, {2, 3, 4}) == {"4": "unsafe", "5": "safe", "6": "safe"}
        assert (session.ask(zero({2, 3, 4})) == second) is answered


def test_e2_what_is_logged() -> None:
    for log, relation, off in (("equality", "=", True), ("tight", "<=", False)):
        session = started((5, 1, 3, 2), log=log)
        session.ask(zero({1, 2}))
        decision = session.decide(members_of(zero({2, 3, 4}), 4))
        assert decision == Decision(None, Constraint(relation, Fraction(5)), off=off)  # type: ignore[arg-type]


def test_e3_repeating_a_denied_query() -> None:
    x = (5, 1, 2, 3)
    printed = PrintedMax(list(map(Fraction, x)))
    assert [printed.ask(zero(q)) for q in ({1, 2}, {2, 3, 4}, {2, 3, 4})] == [
        5,
        DENIED,
        3,
    ]  # x1 = 5 is exposed
    for log, last in (("equality", DENIED), ("tight", Fraction(3))):
        session = started(x, log=log)
        said = [session.ask(zero(q)) for q in ({1, 2}, {2, 3, 4}, {2, 3, 4}, {3, 4})]
        assert said == [5, DENIED, DENIED, last]
        same = started((5, 1, 5, 3), log=log)
        assert [same.ask(zero(q)) for q in ({1, 2}, {2, 3, 4}, {2, 3, 4})] == [5, DENIED, DENIED]


def test_e4_inconsistent_candidates() -> None:
    session = started((5, 2, 7, 1))
    assert [session.ask(zero({1, 2})), session.ask(zero({3, 4}))] == [5, 7]
    found = statuses(session, {1, 2, 3})
    assert list(found.values()) == ["inconsistent", "unsafe", "unsafe", "unsafe", "inconsistent"]
    assert session.decide(members_of(zero({1, 2, 3}), 4)) == Decision(None)
    printed = PrintedMax([Fraction(v) for v in (5, 2, 7, 1)])
    for query in ({1, 2}, {3, 4}, {1, 2, 3}):
        printed.ask(zero(query))
    assert printed.equal[-1][1] == 4  # which nothing satisfies


def test_e5_a_denial_that_tells_nothing() -> None:
    for third in (3, 5, 8):
        session = started((5, 1, third))
        session.ask(zero({1, 2}))
        assert statuses(session, {1, 3}) == {"4": "unsafe", "5": "safe", "6": "unsafe"}
        assert session.decide(members_of(zero({1, 3}), 3)) == Decision(None)
        other = started((5, 1, third), log="equality")
        other.ask(zero({1, 2}))
        made = other.decide(members_of(zero({1, 3}), 3))
        assert made.answer is None
        assert made.constraint == Constraint("=", Fraction(5))
    assert started((5, 1)).decide(members_of({0}, 2)) == Decision(None)
    assert started((5, 1)).ask({0, 1}) == 5


E6 = [{1, 2}, {3, 4, 5}, {2, 3, 6}, {1, 4, 6}, {2, 4}, {1, 2}, {4, 5, 6}, {2, 3, 4, 5, 6}]


@pytest.mark.parametrize(
    ("family", "log", "expected"),
    [
        ("simple", "tight", "5 7 7 - - 5 - 7"),
        ("simulatable", "tight", "5 7 - - - 5 - -"),
        ("binding", "equality", "5 7 7 - - 5 - 7"),
        ("binding", "tight", "5 7 7 - - 5 - 7"),
    ],
)
def test_e6_a_longer_session(family: str, log: str, expected: str) -> None:
    session = started((5, 3, 7, 2, 6, 4), family, log)
    said: list[Any] = []
    for query in E6:
        if len(said) == 2:
            found = list(statuses(session, query).values())
            assert found == ["unsafe", "safe", "safe", "safe", "unsafe"]
        if len(said) == 3 and family == "binding":
            found = list(statuses(session, query).values())
            assert found == ["unsafe", "unsafe", "unsafe", "safe", "inconsistent"]
        said.append(session.ask(zero(query)))
    assert " ".join("-" if one is DENIED else str(one) for one in said) == expected


QUERIES = st.lists(st.sets(st.integers(0, 5), min_size=1), max_size=9)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=6, max_size=6), QUERIES, st.sampled_from(["tight", "equality"]))
def test_the_quick_auditor_is_the_literal_one(x: list[int], queries: list[set[int]], log: str) -> None:
    for family in ("binding", "simulatable", "simple"):
        quick, literal = started(x, family, log), NaiveMax(list(map(Fraction, x)), log=log, family=family)
        for query in queries:
            if family == "binding":
                plan: Any = quick.auditor.plan(members_of(query, 6))
                named = {
                    a: Status(s).name.lower()
                    for a, s in zip(plan.answers, plan.statuses.tolist(), strict=True)
                }
                assert named == literal.statuses(frozenset(query))
            assert quick.ask(query) == literal.ask(query)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 40), min_size=60, max_size=60), st.randoms(use_true_random=False))
def test_watched_extremes_are_enough(x: list[int], random: Any) -> None:
    """More people than are watched, so that the short cut is taken, and taken back."""
    quick, literal = started(x), NaiveMax(list(map(Fraction, x)))
    for _ in range(10):
        query = set(random.sample(range(60), random.choice([2, 5, 30, 55])))
        assert quick.ask(query) == literal.ask(query)
    assert quick.auditor.weakest is None or quick.auditor.weakest >= 2  # type: ignore[attr-defined]


FAMILIES = {
    "simple": ("simple", "tight"),
    "simulatable": ("simulatable", "tight"),
    "equality": ("binding", "equality"),
    "tight": ("binding", "tight"),
}
Sessions = list[tuple[frozenset[int], ...]]


def groups(
    family: str, states: Any, queries: Sequence[frozenset[int]], said: tuple[Any, ...] = (), log: Any = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """What is said on these queries, with the states on which just that is said.

    States that were told the same so far have the same log, so one auditor decides for all of them. That
    a denial puts the same into the log whatever the truth is, is asserted on the way: this is what makes
    the log the adversary's own knowledge.
    """
    if not queries:
        yield said, states
        return
    kind, form = FAMILIES[family]
    n = states.shape[1]
    auditor = MaxAuditor(n, family=kind, log=form, unsafe=kind == "simple")
    for known, decision in log:
        auditor.record(known, decision)
    members = members_of(queries[0], n)
    plan = auditor.plan(members)
    truths = states[:, members].max(axis=1)
    denied, denials = np.zeros(len(states), dtype=bool), set()
    for truth in np.unique(truths):
        decision = plan.judge(Fraction(int(truth), 2))
        if decision.answer is None:
            denied |= truths == truth
            denials.add(decision)
            continue
        rest = states[truths == truth]
        yield from groups(family, rest, queries[1:], (*said, decision.answer), (*log, (members, decision)))
    if denials:
        (denial,) = denials
        yield from groups(family, states[denied], queries[1:], (*said, DENIED), (*log, (members, denial)))


def breaches(n: int, posed: Sessions, family: str, halves: range) -> tuple[int, int]:
    """Groups of states that a whole session cannot tell apart: how many give somebody away, of how many.

    Answers at the edge of the grid are skipped: beyond it there are states that the grid does not have.
    """
    states = np.array(list(product(halves, repeat=n)))
    low, high = Fraction(halves[1], 2), Fraction(halves[-1], 2)
    broken = seen = 0
    for queries in posed:
        for said, group in groups(family, states, queries):
            if any(one is not DENIED and (one <= low or one >= high) for one in said):
                continue
            seen += 1
            broken += bool(np.any(group.max(axis=0) == group.min(axis=0)))
    return broken, seen


def sessions(n: int, length: int) -> Sessions:
    every = [frozenset(q) for size in range(1, n + 1) for q in combinations(range(n), size)]
    return list(product(every, repeat=length))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", FAMILIES)
def test_e9_every_session_of_two_queries_on_three_people(family: str) -> None:
    broken, seen = breaches(3, sessions(3, 2), family, range(2, 10))
    assert seen > 100
    assert (broken > 0) == (family == "simple")  # the oracle finds what is unsafe


def test_e9_the_printed_algorithm_is_broken_by_asking_again() -> None:
    history: Any = [(zero({1, 2}), Fraction(5)), (zero({2, 3, 4}), DENIED), (zero({2, 3, 4}), Fraction(3))]
    states = grid_states(4, [2, 3, 5, 6])
    left = remaining(states, history, lambda x: PrintedMax(x).ask)
    assert determined(left) == [0]
    ours = remaining(states, [*history[:2], (history[2][0], DENIED)], lambda x: started(x).ask)
    assert determined(ours) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "length", "halves"), [(3, 3, range(2, 11)), (4, 2, range(2, 11)), (4, 3, range(2, 9))]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_e9_exhaustive(family: str, n: int, length: int, halves: range) -> None:
    """All sessions of three queries on three people, and of two and of three on four."""
    broken, seen = breaches(n, sessions(n, length), family, halves)
    assert seen > 300
    assert (broken > 0) == (family == "simple")


def attack(n: int, seed: int, length: int, log: str) -> None:
    """Poses queries that follow from what was said: again, unions, differences, neighbours of denied ones.

    After each, the states that the log leaves must leave everybody two values, by the literal test.
    """
    from tests.disclose.audit_naive import SAFE, status

    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, n)
    session = started(x.tolist(), log=log)
    facts: list[tuple[frozenset[int], Decision]] = []
    for _ in range(length):
        query = set(rng.choice(n, rng.integers(1, n + 1), replace=False).tolist())
        if facts and rng.random() < 0.7:
            one, other = (facts[at][0] for at in rng.integers(0, len(facts), 2))
            query = (
                set([one, one | other, one - other, one ^ other, one | query][rng.integers(0, 5)]) or query
            )
        decision = session.decide(members_of(query, n))
        facts.append((frozenset(query), decision))
        equal = [(q, d.answer) for q, d in facts if d.answer is not None]
        equal += [
            (q, d.constraint.value)
            for q, d in facts
            if d.answer is None and d.constraint is not None and d.constraint.relation == "="
        ]
        at_most = [
            (q, d.constraint.value)
            for q, d in facts
            if d.constraint is not None and d.constraint.relation == "<="
        ]
        if equal:
            assert status(equal, at_most) == SAFE


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(200))
def test_an_attacker_determines_nobody(seed: int) -> None:
    attack(4 + seed % 6, seed, 15, ("tight", "equality")[seed % 2])


@pytest.mark.slow
def test_thousands_of_attackers_determine_nobody() -> None:
    for seed in range(5_000):
        attack(3 + seed % 10, seed, 25, ("tight", "equality")[seed % 2])


def test_small_sessions_leave_the_adversary_nobody() -> None:
    """Not only the log: all states that would have been answered alike, by running the auditor on each."""
    rng = np.random.default_rng(3)
    grid = [Fraction(v, 2) for v in range(9)]
    states = grid_states(3, grid)
    for seed in range(4):
        x = tuple(Fraction(int(v)) for v in np.random.default_rng(seed).integers(1, 4, 3))
        session = started(x)
        history = []
        for _ in range(4):
            query = frozenset(rng.choice(3, rng.integers(1, 4), replace=False).tolist())
            history.append((query, session.ask(query)))
        left = remaining(states, history, lambda state: started(state).ask)
        assert x in left
        assert min(widths(left)) > 0


def test_integers_on_a_grid() -> None:
    session = started((5, 1, 4, 2, 6, 6), grid=1)
    session.ask(zero({1, 2}))
    session.ask(zero({5, 6}))
    plan: Any = session.auditor.plan(members_of({2, 3}, 6))
    assert [str(a) for a in plan.answers] == ["4", "5", "6", "7"]  # nothing lies between 5 and 6
    session.ask(zero({3, 4}))
    plan = session.auditor.plan(members_of({0, 2}, 6))
    assert [str(a) for a in plan.answers] == ["3", "4", "5", "6", "7"]


def test_what_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="gives people away"):
        MaxAuditor(3, family="simple")
    with pytest.raises(InputError, match="one of simple, simulatable, binding"):
        MaxAuditor(3, family="careful")
    with pytest.raises(InputError, match="one of tight, equality"):
        MaxAuditor(3, log="loose")
    with pytest.raises(InputError, match="nobody"):
        MaxAuditor(0)
    with pytest.raises(InputError, match="grid"):
        MaxAuditor(3, grid=0)
    session = started((1, 2, 3))
    for query, words in ((set(), "empty"), ({3}, r"outside 0\.\.2"), ({-1}, "outside")):
        with pytest.raises(InputError, match=words):
            session.ask(query)
    for value in (float("nan"), float("inf"), None, "x", True):
        with pytest.raises(InputError, match="value 2 is"):
            Session([1, value, 2], MaxAuditor(3))
    with pytest.raises(InputError, match="2 values for 3 people"):
        Session([1, 2], MaxAuditor(3))


def test_the_secret_shows_itself_to_nobody() -> None:
    column = Column([12345, "0.5", 1e300])
    assert "12345" not in repr(column)
    assert column.sum(members_of({0, 1}, 3)) == Fraction(24691, 2)
    assert column.max(members_of({0, 2}, 3)) == Fraction(10) ** 300
    assert column.negated().max(members_of({0, 1}, 3)) == Fraction(-1, 2)


def test_the_owner_is_told_why() -> None:
    session = started((5, 1, 3, 2))
    session.ask(zero({1, 2}))
    assert session.explain(zero({2, 3, 4})) == [
        "4: unsafe",
        "5: safe, bound",
        "6: safe",
        "a denial is logged as answer <= 5",
    ]
