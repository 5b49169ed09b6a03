"""Inherent against apparent: the printed examples of coincident generalisation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.disclose.inherent import exactly, first_that_holds, groups, sampled
from privet.disclose.structure import is_interleaved, is_symmetric
from privet.errors import UnsupportedError

A, B, C, D, E, F = range(6)
PATIENTS = ("flu", "tracheitis", "cancer", "cancer", "pneumonia", "gastritis")
G1 = groups([A, B], [C, D], [E, F])
G2 = groups([A, B, C], [D, E, F])
G3 = groups([A, B, C, D], [E, F])
HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)


def two(bag: Sequence[Hashable]) -> bool:
    return len(set(bag)) >= 2


def half(bag: Sequence[Hashable]) -> bool:
    return max(Counter(bag).values()) * 2 <= len(bag)


def test_the_usual_search_gives_people_away() -> None:  # E1
    found = exactly(first_that_holds([G1, G2], two), PATIENTS, G2)
    assert found.assignments == 4
    assert not found.coincident
    assert found.apparent[A] == {"flu": THIRD, "tracheitis": THIRD, "cancer": THIRD}
    assert found.inherent[A] == {"flu": HALF, "tracheitis": HALF}
    assert found.inherent[C] == found.inherent[D] == {"cancer": Fraction(1)}
    assert found.certain == 2
    assert found.farthest == Fraction(2, 3)


def test_merging_whole_groups_does_not() -> None:  # E1
    found = exactly(first_that_holds([G1, G3], two), PATIENTS, G3)
    assert found.assignments == 8
    assert found.coincident
    assert found.inherent[A] == {"flu": QUARTER, "tracheitis": QUARTER, "cancer": HALF}
    assert found.inherent[F] == {"pneumonia": HALF, "gastritis": HALF}
    assert found.certain == 0


def test_a_self_symmetric_disclosure_set() -> None:  # E2
    algorithm = first_that_holds([groups([0, 1], [2, 3]), groups([0, 1, 2, 3])], two)
    found = exactly(algorithm, ("c", "c", "f", "t"), groups([0, 1, 2, 3]))
    assert found.assignments == 4
    assert found.coincident


def test_looking_at_the_level_before_is_not_enough() -> None:  # E6
    levels = [
        groups([1, 2], [3, 4], [5, 6], [7, 8]),
        groups([1, 3, 5, 7], [2, 4, 6, 8]),
        groups([1, 2, 3, 6], [4, 5, 7, 8]),
    ]
    assert all(is_interleaved(levels[at : at + 2]) for at in (0, 1))
    assert not is_interleaved(levels)
    shifted = [groups(*([person - 1 for person in group] for group in level)) for level in levels]
    algorithm = first_that_holds(shifted, half)
    found = None
    for values in _orders("aaabbbcd"):
        bags = [sorted(values[p] for p in group) for group in shifted[2]]
        if bags == [list("aabc"), list("abbd")] and algorithm(values).get(shifted[2]):
            found = exactly(algorithm, values, shifted[2])
            break
    assert found is not None
    assert found.assignments == 16
    assert not found.coincident
    assert found.inherent[0] == {"a": Fraction(9, 16), "b": Fraction(3, 16), "c": QUARTER}


def _orders(values: str) -> list[tuple[str, ...]]:
    from privet.disclose.safe.adversary import orderings

    return list(orderings(tuple(values)))


def test_interleaving_alone_does_not_make_it_safe() -> None:  # E7
    levels = [groups([0, 1], [2, 3], [4, 5]), groups([0, 1], [3, 4], [2, 5]), groups(range(6))]
    assert is_interleaved(levels)
    assert not is_symmetric(levels)
    algorithm = first_that_holds(levels, two)
    values = next(v for v in _orders("aabbcd") if algorithm(v).get(levels[2]))
    found = exactly(algorithm, values, levels[2])
    assert found.assignments == 24
    assert not found.coincident
    assert found.inherent[0] == found.inherent[1] == {"a": HALF, "b": HALF}
    assert set(found.inherent[2].values()) == {QUARTER}
    values = next(v for v in _orders("aabcde") if algorithm(v).get(levels[2]))
    assert exactly(algorithm, values, levels[2]).inherent[0] == {"a": Fraction(1)}


def test_the_structures_that_are_used_are_symmetric() -> None:  # E5, E7
    assert is_symmetric([groups([0, 1], [2, 3], [4, 5]), groups([0, 2, 4], [1, 3, 5]), groups(range(6))])
    assert is_symmetric(
        [groups([0, 1], [2, 3], [4, 5], [6, 7]), groups(range(4), range(4, 8)), groups(range(8))]
    )
    assert not is_symmetric([groups([0, 1], [2]), groups([0, 1, 2])])


def test_a_sample_comes_near_the_exact_answer() -> None:
    algorithm = first_that_holds([G1, G2], two)

    def run(values: tuple[Hashable, ...]) -> tuple[tuple[int, ...], ...]:
        (released,) = algorithm(values)
        return released

    found = sampled(run, PATIENTS, G2, tries=400, rng=np.random.default_rng(1))
    exact = exactly(algorithm, PATIENTS, G2)
    assert not found.exact
    assert found.assignments == exact.assignments
    assert found.inherent[C] == exact.inherent[C]
    # Around 400 * 4 / 36 draws count; five standard errors of a half.
    assert abs(found.inherent[A]["flu"] - HALF) < Fraction(4, 10)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=6, max_size=6), st.integers(0, 2**32 - 1))
def test_samples_and_exact_answers_agree(values: list[str], seed: int) -> None:
    """Nobody's chance of any value is further off than the sample itself says it may be."""
    algorithm = first_that_holds([G1, G2], two)
    (released,) = algorithm(tuple(values))
    if not released:
        return
    exact = exactly(algorithm, values, released)

    def run(mixed: tuple[Hashable, ...]) -> tuple[tuple[int, ...], ...]:
        return next(iter(algorithm(mixed)))

    found = sampled(run, values, released, tries=300, rng=np.random.default_rng(seed))
    assert found.apparent == exact.apparent
    if not found.draws:
        return
    assert found.assignments <= exact.assignments
    for mine, true in zip(found.inherent, exact.inherent, strict=True):
        assert set(mine) <= set(true)  # what cannot be is never drawn
        assert all(abs(mine.get(v, Fraction(0)) - chance) <= found.tolerance for v, chance in true.items())
    if not found.coincident:
        assert not exact.coincident  # a sample shows a difference only where there is one


def test_too_many_assignments_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="take a sample"):
        exactly(first_that_holds([], two), tuple(range(12)), groups(range(12)))
