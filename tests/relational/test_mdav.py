"""MDAV against the definition, spelled out with lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet import native
from privet.core import Attribute, Role, Terms
from privet.errors import UnsatisfiableError, UnsupportedError
from privet.hierarchy import Auto
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.recoding import Regions
from privet.relational import mdav as module
from privet.relational.mdav import mdav, standardised
from privet.relational.microaggregation import Microaggregation


def twin(points: list[tuple[int, ...]], k: int) -> list[int]:
    """The rounds of MDAV, one record after the other, in whole numbers."""
    left, group_of, groups = list(range(len(points))), [-1] * len(points), 0

    def apart(a: tuple[float, ...], b: tuple[float, ...]) -> float:
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))

    def gather(of: tuple[int, ...]) -> None:
        nonlocal left, groups
        near = sorted(left, key=lambda row: apart(points[row], of))[:k]  # stable: the first of equals
        for row in near:
            group_of[row] = groups
        left, groups = [row for row in left if group_of[row] < 0], groups + 1

    def farthest(of: tuple[float, ...]) -> tuple[int, ...]:
        return points[max(left, key=lambda row: (apart(points[row], of), -row))]

    while len(left) >= 2 * k:
        many = len(left) >= 3 * k
        centre = tuple(sum(points[row][j] for row in left) / len(left) for j in range(len(points[0])))
        first = farthest(centre)
        gather(first)
        if many:
            gather(farthest(first))
    for row in left:
        group_of[row] = groups
    return group_of


# Powers of two keep sums and means exact, so that ties are ties in both.
grids = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(0, 6)] * d), min_size=1, max_size=40)
)


@settings(max_examples=150)
@given(grids, st.integers(2, 6))
def test_both_forms_group_like_the_definition(points: list[tuple[int, ...]], k: int) -> None:
    places = np.array(points, dtype=np.float64)
    expected = twin(points, k)
    assert module._in_python(places, k).tolist() == expected
    if native.library() is not None:
        assert module._one_block(places, k).tolist() == expected


@settings(max_examples=60)
@given(grids, st.integers(2, 4), st.integers(4, 12))
def test_blocks_change_who_is_together_but_not_the_sizes(
    points: list[tuple[int, ...]], k: int, block: int
) -> None:
    found = mdav(np.array(points, dtype=np.float64), k, block=block)
    sizes = np.bincount(found)
    assert sizes.sum() == len(points)
    if len(points) >= k:
        assert sizes.min() >= k
        assert sizes.max() < 2 * k


def test_standardising_forgets_the_unit_and_leaves_constants_alone() -> None:
    places = np.array([[1.0, 1000.0, 7.0], [2.0, 2000.0, 7.0], [3.0, 3000.0, 7.0]])
    found = standardised(places)
    assert np.allclose(found[:, 0], found[:, 1])
    assert not found[:, 2].any()


def policy(*models: object) -> Terms:
    return Terms(
        (Attribute("age", Role.QUASI, Auto()), Attribute("pay", Role.QUASI, Auto())),
        tuple(models),  # type: ignore[arg-type]
        Microaggregation(),
    )


def test_groups_leave_as_their_means() -> None:
    tally = tally_of(
        {"age": [20, 21, 22, 60, 61, 63], "pay": [1, 2, 3, 8, 9, 10]}, sensitive={"s": list("abcdef")}
    )
    recoding = Microaggregation().search(tally, policy(KAnonymity(k=3))).recoding
    assert isinstance(recoding, Regions)
    published = tally.recoded(recoding)
    found = {
        tuple(column.domain.values[int(column.codes[cell])] for column in published.quasi)
        for cell in range(published.cells)
    }
    assert found == {("21", "2"), ("61.3", "9")}
    assert KAnonymity(k=3).check(published).achieved["k"] == 3


def test_records_of_one_cell_stay_together() -> None:
    tally = tally_of({"age": [20] * 7 + [40] * 3 + [41], "pay": [1] * 11}, sensitive={"s": ["x"] * 11})
    published = tally.recoded(Microaggregation().search(tally, policy(KAnonymity(k=2))).recoding)
    assert KAnonymity(k=2).check(published).holds


def test_what_it_cannot_do_is_refused() -> None:
    tally = tally_of({"age": [20, 30], "pay": [1, 2]}, sensitive={"s": ["x", "x"]})
    with pytest.raises(UnsatisfiableError, match="fewer than k = 3"):
        Microaggregation().search(tally, policy(KAnonymity(k=3)))
    with pytest.raises(UnsupportedError, match="needs k-anonymity"):
        Microaggregation().search(tally, policy(DistinctLDiversity(l=2, sensitive=("s",))))
    with pytest.raises(UnsatisfiableError, match="distinct-l-diversity"):
        Microaggregation().search(tally, policy(KAnonymity(k=2), DistinctLDiversity(l=2, sensitive=("s",))))
    words = tally_of({"age": ["old", "young"], "pay": [1, None]}, sensitive={"s": ["x", "y"]})
    with pytest.raises(UnsupportedError) as caught:
        Microaggregation().search(words, policy(KAnonymity(k=2)))
    assert [complaint.split(":")[0] for complaint in caught.value.complaints] == [
        "attributes.age",
        "attributes.pay",
    ]
