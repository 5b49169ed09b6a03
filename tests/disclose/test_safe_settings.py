"""Disclosure functions: the worked examples of spec 11, and the algorithms against the definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privet.disclose.safe.predicates import (
    AtLeast,
    Brought,
    EntropyDiversity,
    WeightedSum,
    all_splits,
    diverse,
    is_monotone,
)
from privet.disclose.safe.settings import (
    Disclosure,
    Setting,
    States,
    disclosure_set,
    enumerate_safe,
    is_locally_better,
    is_optimal,
    is_safe,
)
from privet.disclose.safe.traversal import backward, forward, naive, one_pass, one_state
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError

# E3: ZIP codes. T1 to T6 keep five to no digits.
ZIPS = ("22030", "22031", "22040", "23000", "24000")


def zip_setting() -> Setting:
    schemas = [
        [[at for at in range(5) if ZIPS[at][:keep] == p] for p in dict.fromkeys(z[:keep] for z in ZIPS)]
        for keep in (5, 4, 3, 2, 1)
    ]
    return Setting.of(*schemas, states=5)


def test_zip_codes_as_in_the_tables() -> None:
    setting, two = zip_setting(), AtLeast(2)
    assert [setting.instance_set(i, 2) for i in range(6)] == [
        {2}, {2}, {0, 1, 2}, {0, 1, 2}, set(range(5)), set(range(5)),
    ]  # fmt: skip
    # Schemas are numbered from 0 here: T2 is 1.
    assert naive(setting, two) == (1, 1, 2, 4, 4)
    assert backward(setting, two) == (2, 2, 2, 4, 4)
    assert forward(setting, two) == (1, 1, 4, 4, 4)
    assert disclosure_set(setting, naive(setting, two), 2) == {2}
    assert not is_safe(setting, naive(setting, two), two)
    safe = list(enumerate_safe(setting, two))
    assert len(safe) == 40
    assert {one for one in safe if is_optimal(setting, one, two)} == {(2, 2, 2, 4, 4), (1, 1, 4, 4, 4)}
    # With "the remainder must not be empty" Algorithm 4.2 would end here, which is not optimal.
    assert is_safe(setting, (4, 4, 4, 5, 5), two)
    assert not is_optimal(setting, (4, 4, 4, 5, 5), two)


def test_one_forward_pass_is_not_enough() -> None:
    setting = Setting.of([[0], [1, 2, 3]], [[0, 1], [2, 3]], states=4)
    with pytest.raises(UnsupportedError, match="1 states"):
        one_pass(setting, AtLeast(2))
    assert not is_safe(setting, (2, 0, 0, 0), AtLeast(2))
    assert forward(setting, AtLeast(2)) == (1, 1, 0, 0)
    assert is_optimal(setting, (1, 1, 0, 0), AtLeast(2))
    # Counting in another dress, whose splits are searched for: the company lands as early.
    assert forward(setting, WeightedSum((Fraction(1),) * 4, Fraction(2))) == (1, 1, 0, 0)
    with pytest.raises(UnsupportedError, match="refine"):
        backward(setting, AtLeast(2))


def printed_backward(setting: Setting, k: int) -> Disclosure:
    """Algorithm 4.2 as printed: all states of a schema are split at once, whatever cell they are in."""
    chosen = dict.fromkeys(setting.states, setting.nothing)
    for i in range(setting.nothing - 1, -1, -1):
        left = frozenset(s for s, schema in chosen.items() if schema == i + 1)
        for cell in setting.cells(i, left):
            moved = next(all_splits(AtLeast(k), left, cell), frozenset())
            chosen.update(dict.fromkeys(moved, i))
            left -= moved
    return tuple(chosen[state] for state in sorted(chosen))


def test_the_printed_backward_traversal_leaves_somebody_alone() -> None:
    setting = Setting.of([[0, 1], [2], [3, 4], [5]], [[0, 1, 2], [3, 4, 5]], states=6)
    printed = printed_backward(setting, 2)
    assert disclosure_set(setting, printed, 2) == {2}
    assert not is_safe(setting, printed, AtLeast(2))
    assert is_optimal(setting, backward(setting, AtLeast(2)), AtLeast(2))


@st.composite
def partitions(draw: st.DrawFn, states: int) -> list[list[int]]:
    of_state = draw(st.lists(st.integers(0, states - 1), min_size=states, max_size=states))
    return [[s for s in range(states) if of_state[s] == cell] for cell in sorted(set(of_state))]


@st.composite
def problems(draw: st.DrawFn, *, nested: bool) -> Setting:
    states = draw(st.integers(3, 6))
    many = draw(st.integers(1, 3))
    found: list[list[list[int]]] = [draw(partitions(states)) for _ in range(many)]
    if nested:  # each joined with the one before
        for at in range(1, many):
            joined: list[set[int]] = []
            for cell in [*found[at - 1], *found[at]]:
                together = set(cell)
                for other in [one for one in joined if one & together]:
                    together |= other
                    joined.remove(other)
                joined.append(together)
            found[at] = [sorted(one) for one in joined]
    return Setting.of(*found, states=states)


@settings(max_examples=60, deadline=None)
@given(problems(nested=True), st.integers(2, 3))
def test_backward_is_safe_and_optimal(setting: Setting, k: int) -> None:
    assume(len(setting.states) >= k)
    assert setting.nested
    found = backward(setting, AtLeast(k))
    assert is_optimal(setting, found, AtLeast(k))


@settings(max_examples=60, deadline=None)
@given(problems(nested=False), st.integers(2, 3))
def test_forward_is_safe_and_optimal_for_counting(setting: Setting, k: int) -> None:
    assume(len(setting.states) >= k)
    found = forward(setting, AtLeast(k))
    assert is_optimal(setting, found, AtLeast(k))


@settings(max_examples=60, deadline=None)
@given(problems(nested=False), st.lists(st.integers(0, 5), min_size=6, max_size=6))
def test_forward_is_safe_for_any_weights(setting: Setting, weights: list[int]) -> None:
    exact = tuple(map(Fraction, weights[: len(setting.states)]))
    assume(sum(exact) > 0)
    heavy = WeightedSum(exact, sum(exact, Fraction(0)) / 2)
    assert is_safe(setting, forward(setting, heavy), heavy)


@settings(max_examples=60, deadline=None)
@given(problems(nested=False), st.integers(2, 3))
def test_one_state_asked_alone_gets_what_one_pass_gives(setting: Setting, k: int) -> None:
    assume(len(setting.states) >= k)
    try:
        whole = one_pass(setting, AtLeast(k))
    except UnsupportedError:
        return
    asked = one_state(setting, AtLeast(k))
    assert tuple(map(asked, sorted(setting.states))) == whole


@settings(max_examples=60, deadline=None)
@given(problems(nested=False), st.integers(2, 3), st.data())
def test_safety_is_what_the_definition_says(setting: Setting, k: int, data: st.DataObject) -> None:
    many = len(setting.states)
    chosen = tuple(data.draw(st.lists(st.integers(0, setting.nothing), min_size=many, max_size=many)))
    by_definition = all(len(disclosure_set(setting, chosen, state)) >= k for state in setting.states)
    assert is_safe(setting, chosen, AtLeast(k)) == by_definition


def naive_splits(safe: Callable[[States], bool], whole: States, cell: States) -> set[States]:
    inside = sorted(whole & cell)
    parts = [frozenset(some) for size in range(1, len(inside) + 1) for some in combinations(inside, size)]
    good = {one for one in parts if safe(one) and (whole == one or safe(whole - one))}
    return {one for one in good if not any(one < other for other in good)}


@given(st.frozensets(st.integers(0, 6)), st.frozensets(st.integers(0, 6)), st.integers(1, 4))
def test_splits(whole: States, cell: States, k: int) -> None:
    every = naive_splits(AtLeast(k), whole, cell)
    assert set(all_splits(Brought(AtLeast(k)), whole, cell)) == every
    quick = set(all_splits(AtLeast(k), whole, cell))
    assert quick <= every
    assert bool(quick) == bool(every)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=3, max_size=7, unique=True))
def test_optimality_is_as_hard_as_partition(numbers: Sequence[int]) -> None:
    """E8, the gadget of Theorem 9: saying nothing is optimal exactly if no subset sums to half."""
    setting = Setting.of([[0], list(range(1, len(numbers)))], states=len(numbers))
    heavy = WeightedSum(tuple(map(Fraction, numbers)), Fraction(sum(numbers), 2))
    halves = any(
        2 * sum(some) == sum(numbers) for size in range(len(numbers)) for some in combinations(numbers, size)
    )
    assert is_optimal(setting, (1,) * len(numbers), heavy) == (not halves)


def test_entropy_diversity_over_states_is_not_monotone() -> None:
    """E2: the states that violate at T1 are not safe, two of them are."""
    from privet.disclose.safe.adversary import orderings

    states = [state for state in orderings("AAABBCDE") if state[0] == state[1]]
    # {3..8} is never the violating group: its bag has five of the values or more.
    assert len(states) == 480
    assert sum(state[0] == "A" for state in states) == 360
    everything = EntropyDiversity(tuple(states), 2)
    assert not everything(frozenset(range(480)))
    two = frozenset(states.index(tuple(text)) for text in ("AABBAECD", "BBAACDAE"))
    assert everything(two)
    assert not everything.monotone
    setting = Setting.of(states=480)
    with pytest.raises(UnsatisfiableError):
        forward(setting, everything)


def test_a_predicate_of_ones_own_is_tried_not_believed() -> None:
    setting = Setting.of([[0, 1], [2]], states=3)
    assert is_monotone(Brought(lambda states: len(states) >= 2), setting.states)
    odd = Brought(lambda states: len(states) in {1, 3})
    assert not is_monotone(odd, setting.states)
    for algorithm in (backward, forward, one_pass):
        with pytest.raises(UnsupportedError, match="set-monotonic"):
            algorithm(setting, odd)
    with pytest.raises(UnsupportedError, match="up to 12"):
        forward(Setting.of(states=13), Brought(bool))
    assert forward(setting, Brought(lambda states: len(states) >= 2)) == (1, 1, 1)


def test_even_saying_nothing_may_be_too_much() -> None:
    for algorithm in (naive, backward, forward, one_pass):
        with pytest.raises(UnsatisfiableError):
            algorithm(Setting.of(states=2), AtLeast(3))


def test_wrong_problems_are_refused() -> None:
    with pytest.raises(PolicyError, match="exactly one cell"):
        Setting.of([[0, 1], [1, 2]], states=3)
    with pytest.raises(PolicyError, match="says nothing"):
        Setting(((0, 1),))
    with pytest.raises(UnsupportedError, match="functions to look at"):
        is_optimal(Setting.of(*[[[s] for s in range(30)]] * 3, states=30), (3,) * 30, AtLeast(2))
    assert is_locally_better((0, 1), (1, 1))
    assert not is_locally_better((0, 1), (1, 0))
    assert not is_locally_better((0, 1), (0, 1))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(1, 6))
def test_diversity_is_decided_exactly(counts: list[int], l: int) -> None:
    size = sum(counts)
    product = l**size
    for count in counts:
        product *= count**count
    assert diverse(counts, l) == (size**size >= product)
