"""Restoring privacy: the fewest true views, a public rule, and planning."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.disclose.sources import (
    DONALD,
    ELEVEN,
    FLU,
    HALF,
    HD,
    MISLEADING,
    SARS,
    SEVEN,
    VI,
    every_table,
    register,
    share,
    view,
    views,
)
from tests.disclose.test_sources_counting import family

from privet.disclose.sources.gamma import Assessment, Confidence, Decision, assess
from privet.disclose.sources.planning import can_add, companions
from privet.disclose.sources.public import possible_tables, publish_by_rule, ranked
from privet.disclose.sources.restoring import Refinement, by_size, refinements, restore
from privet.disclose.sources.views import Register, View, counted
from privet.domain import Value
from privet.errors import InputError, UnsupportedError


def test_seven_employees_need_two_more_views() -> None:
    given_ = views("AB", SEVEN)
    assert not restore(register(7), SEVEN, given_, HALF, most=1).found
    found = restore(register(7), SEVEN, given_, HALF, most=2)
    assert found.found
    assert len(found.views) == 2
    after = assess([*given_, *found.views], HALF)
    assert after.decision is Decision.PRIVATE
    assert found.after is not None
    assert found.after.instances == after.instances
    assert found.before.instances is not None
    assert after.instances is not None
    assert after.instances < found.before.instances  # total protection falls
    for one in found.views:
        assert one.counts == counted(SEVEN[person] for person in one.people)  # never a false view
        assert one.where is not None
        assert register(7).selected(one.where) == one.people


def test_what_is_proposed_is_what_was_judged() -> None:
    """Clark and Donald share a value here, so that one candidate is none, and those after it are meant."""
    base: tuple[Value, ...] = (VI, HD, SARS, SARS, VI, SARS, FLU)
    given_ = views("AB", base)
    found = restore(register(7), base, given_, HALF, most=2)
    assert [one.name for one in found.views] == ["age >= 24 and age <= 25", "age >= 26 and age <= 27"]
    after = assess([*given_, *found.views], HALF)
    assert found.after is not None
    assert (after.decision, after.instances) == (Decision.PRIVATE, found.after.instances)


def test_the_view_that_the_source_restores_with_is_among_the_candidates() -> None:
    candidates = refinements(register(7), views("AB", SEVEN))
    people = {one.people for one in candidates}
    # Within A by age: 23-24, 23-25, 24-25, 24-26, 25-26; by sex nothing new. Within B: 26-27, 27-28, 28.
    assert people == {
        frozenset(some)
        for some in ((0, 1), (0, 1, 2), (1, 2), (1, 2, 3), (2, 3), (3, 4), (4, 5, 6), (5, 6))
    }  # fmt: skip
    sizes = [len(one.people) for one in by_size(candidates)]
    assert sizes == sorted(sizes)
    both = refinements(register(7), views("AB", SEVEN), attributes=2)
    assert {one.people for one in both} >= people


def naive_restore(views_: list[View], pool: list[View], gamma: Fraction, most: int) -> int | None:
    """The fewest candidates that restore, by trying all and looking at every table."""
    for many in range(1, most + 1):
        for extra in combinations(pool, many):
            tables = list(every_table([*views_, *extra]))
            people = {person for one in views_ for person in one.people}
            values = {value for one in views_ for value, _ in one.counts}
            if all(share(tables, person, value) <= gamma for person in people for value in values):
                return many
    return None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from("ab"), min_size=4, max_size=6), st.data())
def test_it_finds_the_fewest(base: list[Value], data: st.DataObject) -> None:
    people = len(base)
    everybody = Register(tuple(map(str, range(people))), {"n": tuple(map(str, range(people)))})
    ends = st.tuples(st.integers(0, people - 2), st.integers(2, people)).filter(lambda e: e[1] - e[0] >= 2)
    chosen = data.draw(st.lists(ends, min_size=1, max_size=2, unique=True))
    given_ = [View.of(range(*e), base[e[0] : e[1]]) for e in chosen]
    found = restore(everybody, base, given_, HALF, most=2)
    if assess(given_, HALF).decision is Decision.PRIVATE:
        assert found.found
        assert not found.views
        return
    pool = [View.of(one.people, [base[p] for p in one.people]) for one in refinements(everybody, given_)]
    pool = [one for one in pool if one.largest * 2 <= len(one.people)]
    fewest = naive_restore(given_, pool, HALF, 2)
    assert (len(found.views) if found.found else None) == fewest


def test_two_views_are_needed_and_four_pairs_do() -> None:
    """E4 with K = 2: subsets of two or three people of one view, themselves private."""
    given_, base = family(2)
    pool = [
        View.of(some, [base[p] for p in some])
        for one in given_
        for size in (2, 3)
        for some in combinations(sorted(one.people), size)
    ]
    pool = [one for one in pool if one.largest * 2 <= len(one.people)]
    assert len(pool) == 14

    def private(extra: Iterable[View]) -> bool:
        return assess([*given_, *extra], HALF).decision is Decision.PRIVATE

    assert not any(private([one]) for one in pool)
    pairs = {frozenset(one.people for one in pair) for pair in combinations(pool, 2) if private(pair)}
    sides = [({0, 2}, {1, 6}), ({3, 5}, {4, 6})]
    assert pairs == {frozenset({frozenset(a), frozenset(b)}) for a in sides[0] for b in sides[1]}


def test_who_is_certain_stays_certain() -> None:
    given_ = [*views("AB", SEVEN), View.of([DONALD], [SARS])]
    found = restore(register(7), SEVEN, given_, HALF)
    assert not found.found
    assert found.complete
    assert found.tried == 0


def test_only_the_part_that_is_not_private_is_mended() -> None:
    """Eleven employees: view E is private by itself and of other people."""
    found = restore(register(11), ELEVEN, views("ABE", ELEVEN), HALF)
    assert found.found
    assert all(max(one.people) <= 6 for one in found.views)
    assert found.after is not None
    assert len(found.after.parts) == 2
    assert found.after.decision is Decision.PRIVATE


def test_parts_that_share_nobody_are_mended_one_by_one() -> None:
    """The seven employees twice: two more views for each, and no need to try all sets of four."""
    ages = (*(str(age) for age in range(23, 30)), *(str(age) for age in range(60, 67)))
    twice = Register(tuple(map(str, range(14))), {"age": ages})
    base = (*SEVEN, *SEVEN)
    given_ = [
        View.of([at + person for person in one.people], [SEVEN[person] for person in one.people])
        for at in (0, 7)
        for one in views("AB", SEVEN)
    ]
    alone = restore(Register(twice.keys[:7], {"age": ages[:7]}), SEVEN, given_[:2], HALF, most=2)
    assert len(alone.views) == 2
    found = restore(twice, base, given_, HALF, most=4)
    assert (found.parts, len(found.views), found.tried) == (2, 4, 2 * alone.tried)
    after = assess([*given_, *found.views], HALF)
    assert found.after is not None
    assert (after.decision, after.instances) == (Decision.PRIVATE, found.after.instances)
    few = restore(twice, base, given_, HALF, most=3)
    assert not few.found
    assert few.complete


def test_a_stopped_search_says_so() -> None:
    found = restore(register(7), SEVEN, views("AB", SEVEN), HALF, trials=2)
    assert not found.found
    assert not found.complete


def test_the_order_is_a_preference_that_can_be_replaced() -> None:
    def wide_first(candidates: Iterable[Refinement]) -> list[Refinement]:
        return by_size(candidates)[::-1]

    one = restore(register(7), SEVEN, views("AB", SEVEN), HALF)
    other = restore(register(7), SEVEN, views("AB", SEVEN), HALF, order=wide_first)
    assert one.found
    assert other.found
    assert {v.people for v in one.views} != {v.people for v in other.views}


def test_restoring_by_samples() -> None:
    sure = Confidence(Fraction(1, 20), Fraction(19, 20))
    found = restore(register(7), SEVEN, views("AB", SEVEN), Fraction(48, 100), steps=20, confidence=sure)
    assert found.before.decision is Decision.NOT_PRIVATE
    if found.found:  # within epsilon of one half
        assert assess([*views("AB", SEVEN), *found.views], Fraction(53, 100)).decision is Decision.PRIVATE


def test_a_view_of_another_table_is_refused() -> None:
    with pytest.raises(InputError, match="view 1 is not true"):
        restore(register(7), MISLEADING, [view("C", SEVEN), view("B", SEVEN)], HALF)


def test_the_rule_reads_nothing_but_what_is_public() -> None:
    """E3: the same views of another table get the same list, and privacy is restored there too."""
    lists = [ranked(register(7), views("AB", base), HALF) for base in (SEVEN, MISLEADING)]
    assert lists[0] == lists[1]
    for base in (SEVEN, MISLEADING):
        found = publish_by_rule(register(7), base, views("AB", base), HALF, most=3)
        assert found.before.decision is Decision.NOT_PRIVATE
        assert found.views  # something is done, also where the views only mislead
        assert all(one.counts == counted(base[p] for p in one.people) for one in found.views)
        assert found.views[0].people == lists[0][0].people


def test_the_list_is_by_how_often_a_view_would_mend_it() -> None:
    given_ = views("ABC", SEVEN)  # one more view mends this
    merits = []
    for one in ranked(register(7), given_, HALF):
        outcomes = (
            assess([*given_, View.of(one.people, [table[p] for p in one.people])], HALF).decision
            for table in every_table(given_)
        )
        merits.append(sum(decision is Decision.PRIVATE for decision in outcomes))
    assert merits == sorted(merits, reverse=True)
    assert merits[0] > merits[-1]


def test_the_rule_tells_nothing_beyond_its_views() -> None:
    """Every table that agrees with all that was published would have been published in the same way."""
    found = publish_by_rule(register(7), SEVEN, views("AB", SEVEN), HALF, most=2)
    out = [*views("AB", SEVEN), *found.views]
    for table in every_table(out):
        base = [table[person] for person in range(7)]
        again = publish_by_rule(register(7), base, views("AB", base), HALF, most=2)
        assert [(one.people, one.counts) for one in again.views] == [
            (one.people, one.counts) for one in found.views
        ]


def test_the_rule_does_nothing_where_nothing_is_needed() -> None:
    found = publish_by_rule(register(7), SEVEN, views("A", SEVEN), HALF)
    assert found.restored
    assert not found.views
    with pytest.raises(UnsupportedError, match="more than 10"):
        ranked(register(7), views("AB", SEVEN), HALF, tables=10)


def test_possible_tables_are_all_tables() -> None:
    given_ = views("AB", SEVEN)
    assert {tuple(sorted(table.items())) for table in possible_tables(given_, 100)} == {
        tuple(sorted(table.items())) for table in every_table(given_)
    }


def test_planning_a_release() -> None:
    found: Assessment = can_add(views("A", SEVEN), view("B", SEVEN), HALF)
    assert found.decision is Decision.NOT_PRIVATE
    bundle = companions(register(7), SEVEN, views("A", SEVEN), view("B", SEVEN), HALF)
    assert bundle.found
    assert can_add(views("ABC", SEVEN), view("D", SEVEN), HALF).decision is Decision.PRIVATE
