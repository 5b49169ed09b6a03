"""Sums of whole numbers, and maxima above a public bound: every consistent whole table as the oracle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.disclose.audit.decision import DENIED, Constraint, Decision, Session
from privet.disclose.audit.exact import members_of
from privet.disclose.audit.examine import examine_max, examine_sum, examine_whole
from privet.disclose.audit.lattice import Lattice
from privet.disclose.audit.maximum import MaxAuditor
from privet.disclose.audit.summation import SumAuditor
from privet.disclose.audit.whole import WholeLog
from privet.errors import InputError, UnsupportedError

Facts = list[tuple[Any, Decision]]


def allowed(state: Sequence[int], facts: Facts) -> bool:
    for members, decision in facts:
        made = decision.constraint
        if made is None:
            continue
        total = sum(state[one] for one in members)
        if not {"=": total == made.value, "<=": total <= made.value, ">=": total >= made.value}[
            made.relation
        ]:
            return False
    return True


def widths(high: Sequence[int], facts: Facts) -> list[int]:
    """How far everybody can still move, from a list of all whole tables that the log allows."""
    left = [state for state in product(*(range(top + 1) for top in high)) if allowed(state, facts)]
    return [max(column) - min(column) for column in zip(*left, strict=True)]


def asked(
    x: Sequence[int], high: Sequence[int], width: int | Fraction, queries: Sequence[set[int]], **more: Any
) -> Facts:
    session = Session(x, SumAuditor([0] * len(x), high, width=width, **more))
    facts = []
    for query in queries:
        chosen = members_of(query, len(x))
        facts.append((chosen, session.decide(chosen)))
    assert allowed(x, facts)  # the truth is never off the log
    return facts


# The example of issue 14: four sums that leave everybody a real interval, and two people one whole number.

PAY = (1, 1, 1, 5, 1, 0)
FOUR = [{1, 4, 5}, {0, 1, 3}, {2, 3, 5}, {0, 1, 2, 4}]
NEARLY = Fraction(99, 100)  # a real interval of exactly 1 is left: less than that is promised, with a margin


def test_real_answers_that_whole_numbers_undo() -> None:
    high, edges = [7] * 6, ([Fraction(0)] * 6, [Fraction(7)] * 6)
    facts = asked(PAY, high, NEARLY, FOUR)
    assert all(decision.answer is not None for _, decision in facts)
    assert widths(high, facts).count(0) == 2  # two people are known
    assert examine_sum(*edges, NEARLY, facts)[1] is None  # and real numbers hide it
    breach = examine_whole(*edges, NEARLY, Fraction(1), facts)[1]
    assert breach == "somebody is known within less than the width, since values are multiples of the grid"
    for width in (NEARLY, 1):
        again = asked(PAY, high, width, FOUR, grid=1)
        assert 0 < sum(decision.answer is None for _, decision in again) < 4
        assert min(widths(high, again)) >= 1
        assert examine_whole(*edges, Fraction(width), Fraction(1), again)[1] is None


@settings(max_examples=25)
@given(st.data())
def test_every_whole_table_that_the_log_allows_leaves_everybody_the_width(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 4))
    high = data.draw(st.lists(st.integers(2, 6), min_size=n, max_size=n))
    width = data.draw(st.integers(1, min(high)))
    x = [data.draw(st.integers(0, top)) for top in high]
    queries = data.draw(st.lists(st.sets(st.integers(0, n - 1), min_size=1), min_size=1, max_size=5))
    facts = asked(x, high, width, queries, grid=1)
    assert min(widths(high, facts)) >= width
    edges = [Fraction(0)] * n, [Fraction(top) for top in high]
    assert examine_whole(*edges, Fraction(width), Fraction(1), facts)[1] is None


@settings(max_examples=40)
@given(st.data())
def test_whole_examination_is_the_definition(data: st.DataObject) -> None:
    """Whatever was answered, safe or not: the least width is that of the list of all tables."""
    n = data.draw(st.integers(2, 4))
    x = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    facts: Facts = []
    for query in data.draw(st.lists(st.sets(st.integers(0, n - 1), min_size=1), max_size=4)):
        total = Fraction(sum(x[one] for one in query))
        relation: Any = data.draw(st.sampled_from(["=", "<=", ">="]))
        facts.append((members_of(query, n), Decision(None, Constraint(relation, total))))
    least = min(widths([4] * n, facts))
    for width in (1, 2, 3):
        found = examine_whole([Fraction(0)] * n, [Fraction(4)] * n, Fraction(width), Fraction(1), facts)
        assert (found[1] is None) == (least >= width)


@pytest.mark.parametrize("top", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_what_everybody_hears_leaves_everybody_the_width(top: int) -> None:
    """All tables, not the log: those who hear the same cannot be told apart, denials included."""
    queries = [{0, 1}, {1, 2}, {0, 2}, {0, 1, 2}]
    heard = defaultdict(list)
    for x in product(range(top + 1), repeat=3):
        session = Session(x, SumAuditor([0] * 3, [top] * 3, width=1, grid=1))
        heard[tuple(session.ask(query) for query in queries)].append(x)
    assert len(heard) > top  # something is answered
    for tables in heard.values():
        assert min(max(column) - min(column) for column in zip(*tables, strict=True)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(600))
def test_attackers_of_whole_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    top = [9, 7, 5, 3][n - 3]
    width = int(rng.integers(1, 3))
    x = rng.integers(0, top + 1, n).tolist()
    queries: list[set[int]] = []
    for _ in range(7):
        query = set(rng.choice(n, rng.integers(1, n + 1), replace=False).tolist())
        if queries and rng.random() < 0.6:
            query = (query ^ queries[rng.integers(0, len(queries))]) or query
        queries.append(query)
    assert min(widths([top] * n, asked(x, [top] * n, width, queries, grid=1))) >= width


@settings(max_examples=60)
@given(st.data())
def test_a_lattice_is_all_whole_moves(data: st.DataObject) -> None:
    kinds = data.draw(st.integers(2, 5))
    rows: list[list[int]] = []
    for row in data.draw(
        st.lists(st.lists(st.integers(0, 1), min_size=kinds, max_size=kinds), min_size=1, max_size=4)
    ):
        if np.linalg.matrix_rank(np.array([*rows, row])) == len(rows) + 1:
            rows.append(row)
    if not rows:
        return
    lattice = Lattice.of(rows, np.ones(kinds))
    small = list(product(range(-2, 3), repeat=kinds))
    sums = [tuple(sum(a * b for a, b in zip(row, v, strict=True)) for row in rows) for v in small]
    basis = lattice.moves.astype(float)
    assert len(basis) == kinds - len(rows)
    for v, total in zip(small, sums, strict=True):
        assert lattice.reached(total)  # somebody is there
        if not any(total):  # a move: a whole combination of the basis, and of nothing else
            if not len(basis):
                assert not any(v)
                continue
            found, *_ = np.linalg.lstsq(basis.T, np.array(v, dtype=float), rcond=None)
            assert np.allclose(found, np.round(found))
            assert np.allclose(basis.T @ found, v)
    for at in range(len(rows)):
        assert not any(sum(a * int(b) for a, b in zip(rows[at], move, strict=True)) for move in lattice.moves)


def test_sums_that_whole_numbers_cannot_have() -> None:
    """Three sums of pairs have an even total: an odd one contradicts whole numbers, not real ones."""
    lattice = Lattice.of([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]], np.ones(4))
    assert lattice.reached([1, 1, 2])
    assert not lattice.reached([1, 1, 1])


def test_many_people_on_a_grid_are_answered_almost_everywhere() -> None:
    """A thousand salaries in whole euros, protected within 5000."""
    log = WholeLog((200_000,) * 1000, 5000)
    low, high = log.interval(np.arange(400)) or (0, 0)
    assert low <= 5001
    assert high >= 400 * 200_000 - 5001
    log.equal.append((np.arange(400), 20_000_000))
    found = log.interval(np.arange(200, 700))
    assert found is not None
    assert found[1] - found[0] > 0.9 * 300 * 200_000
    assert log.interval(np.arange(399)) is None  # all but one of those before


def test_bounds_and_widths_are_taken_to_the_grid() -> None:
    auditor = SumAuditor(["0.5", "0.5"], ["9.9", "9.9"], width="2.5", grid=2)
    assert [*map(int, auditor.low), *map(int, auditor.high)] == [2, 2, 8, 8]
    session = Session([4, 6], auditor)
    assert session.ask({0}) is DENIED
    with pytest.raises(InputError, match="not a multiple of the grid"):
        Session([4, 5], auditor)
    with pytest.raises(InputError, match="narrower than the width"):
        SumAuditor([0, 0], [5, 5], width=5, grid=2)  # at most 4 apart on the grid
    with pytest.raises(UnsupportedError, match="take values for real"):
        SumAuditor([0], [9], rule="source", unsafe=True, grid=1)
    with pytest.raises(InputError, match="grid: is above 0"):
        SumAuditor([0], [9], grid=-1)


def test_too_many_kinds_on_a_grid_are_denied() -> None:
    from privet.disclose.audit.whole import KINDS

    log = WholeLog(tuple(range(10, 11 + KINDS)), 1)
    assert log.interval(np.arange(5)) is None


def test_a_proposal_is_believed_only_if_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that lies about whole states gives nobody away."""
    from privet.disclose.audit import whole

    monkeypatch.setattr(whole, "propose", lambda goal, *_: tuple(7 for _ in goal))
    session = Session([1, 2, 1], SumAuditor([0] * 3, [3] * 3, width=2, grid=1))
    assert session.ask({0, 1}) is DENIED


# Maxima above a public bound.


def hears(
    n: int, values: range, queries: Sequence[set[int]], **more: Any
) -> dict[Any, list[tuple[int, ...]]]:
    heard = defaultdict(list)
    for x in product(values, repeat=n):
        session = Session(x, MaxAuditor(n, **more))
        heard[tuple(session.ask(query) for query in queries)].append(x)
    return heard


def test_a_maximum_at_the_public_bound_would_tell_everybody() -> None:
    """Without the bound in the decision, a maximum of 0 is answered, and everybody is known to have 0."""
    blind = hears(3, range(4), [{0, 1, 2}], grid=1)
    assert any(len(tables) == 1 for tables in blind.values())
    seeing = hears(3, range(4), [{0, 1, 2}], grid=1, low=0)
    assert all(len({x[at] for x in tables}) > 1 for tables in seeing.values() for at in range(3))
    assert Session([3, 0, 2], MaxAuditor(3, grid=1, low=0)).ask({0, 1, 2}) == 3


@pytest.mark.one_in(3)
@pytest.mark.parametrize("bounds", [{"low": 0}, {"low": 0, "high": 3}, {"low": "-0.5"}])
@pytest.mark.parametrize("log", ["tight", "equality"])
@pytest.mark.parametrize("turns", [6, pytest.param(12, marks=pytest.mark.slow)])
def test_nobody_is_determined_above_a_public_bound(bounds: dict[str, Any], log: str, turns: int) -> None:
    """All tables, and sequences of two to four queries; tables at the top of the list are not proof."""
    exact = {name: Fraction(value) for name, value in bounds.items()}
    sets = [set(one) for size in (1, 2, 3) for one in combinations(range(3), size)]
    rng = np.random.default_rng(3)
    sequences = [[sets[at] for at in rng.integers(0, len(sets), 2 + turn % 3)] for turn in range(turns)]
    top = 3 if "high" in bounds else 4
    for queries in sequences:
        for said, tables in hears(3, range(top + 1), queries, grid=1, log=log, **exact).items():
            if "high" not in bounds and any(one == top for one in said):
                continue
            for at in range(3):
                assert len({x[at] for x in tables}) > 1, (queries, said)


@pytest.mark.parametrize("seed", range(20))
def test_real_maxima_above_a_public_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.choice([0, 0, 0, 1, 2, 3], 5).tolist()
    session = Session(x, MaxAuditor(5, low=Fraction(0)))
    facts: Facts = []
    for _ in range(8):
        chosen = members_of(rng.choice(5, rng.integers(1, 6), replace=False).tolist(), 5)
        facts.append((chosen, session.decide(chosen)))
    assert examine_max(facts, Fraction(0))[1] is None


def test_bounds_of_a_maximum_are_a_fact_about_the_data() -> None:
    for x in ([-1, 2], [1, 11]):
        with pytest.raises(InputError, match="outside the public bounds"):
            Session(x, MaxAuditor(2, low=0, high=10))
    with pytest.raises(InputError, match="everybody is known already"):
        MaxAuditor(2, low=Fraction(1, 2), high=Fraction(3, 2), grid=1)
    five = Decision(Fraction(0), Constraint("=", Fraction(0)))
    assert "no higher than the public lower bound" in str(
        examine_max([(np.array([0, 1]), five)], Fraction(0))[1]
    )
