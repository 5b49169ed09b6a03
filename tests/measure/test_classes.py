from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Column, Tally
from privet.domain import Domain, Node
from privet.measure import classes
from privet.testing import tallies

few = settings(max_examples=60, deadline=None)


def slow_sizes(tally: Tally) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for cell in range(tally.cells):
        found[tuple(c.domain.values[int(c.codes[cell])] for c in tally.quasi)] += int(tally.counts[cell])
    return found


def wide(name: str, size: int, codes: list[int]) -> Column:
    """A column of a large domain of which few values occur."""
    domain = Domain(tuple(map(str, range(size))), Node("*", 0, size))
    return Column(name, domain, domain.column(np.array(codes)))


@few
@given(tallies(quasi=4, cells=20))
def test_class_sizes_are_those_of_records_that_agree(tally: Tally) -> None:
    assert sorted(classes.class_sizes(tally).tolist()) == sorted(slow_sizes(tally).values())


@few
@given(tallies(quasi=4, cells=20), st.integers(2, 60), st.integers(0, 30))
def test_keys_that_would_not_fit_a_number_are_ranked(tally: Tally, limit: int, room: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "LIMIT", limit)
        patch.setattr(classes, "roomy", lambda _: room)
        key, above = classes.keys(tally.quasi, tally.cells)
        found = classes.class_sizes(tally)
    assert key.max() < above
    rows = list(zip(*(column.codes.tolist() for column in tally.quasi), strict=True))
    for a, one in enumerate(rows):
        for b, other in enumerate(rows):
            assert (key[a] == key[b]) == (one == other)
    assert sorted(found.tolist()) == sorted(slow_sizes(tally).values())


def test_domains_whose_product_does_not_fit_a_number() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, size=(300, 5))
    columns = [wide(f"q{at}", 70_000, (rows[:, at] * 30_000).tolist()) for at in range(5)]
    assert classes.LIMIT < 70_000**5
    key, room = classes.keys(columns, len(rows))
    assert 0 <= key.min() <= key.max() < room < classes.LIMIT
    expected = Counter(map(tuple, rows.tolist()))
    for counts in (np.ones(300, dtype=np.int64), np.full(300, 2)):
        found = classes.group_sizes(columns, counts)
        assert sorted(found.tolist()) == sorted(n * int(counts[0]) for n in expected.values())


sizes = st.lists(st.integers(1, 5000), min_size=1, max_size=30).map(lambda s: np.array(s, dtype=np.int64))


@few
@given(st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_discernibility_is_what_every_record_pays(found: list[int]) -> None:
    records = [group for group, size in enumerate(found) for _ in range(size)]
    pairs = sum(a == b for a in records for b in records)
    assert classes.discernibility(np.array(found)) == pairs
    assert classes.discernibility_ratio(np.array(found)) == pairs / len(records) ** 2


def test_discernibility_of_many_records_does_not_overflow() -> None:
    assert classes.discernibility(np.array([4_000_000_000, 4_000_000_000])) == 2 * 4_000_000_000**2


@few
@given(sizes)
def test_the_histogram_has_every_class_once(found: Any) -> None:
    bins = classes.histogram(found)
    for bin_ in bins:
        inside = [size for size in found.tolist() if bin_["from"] <= size <= bin_["to"]]
        assert (bin_["classes"], bin_["records"]) == (len(inside), sum(inside))
    assert sum(bin_["classes"] for bin_ in bins) == len(found)
    for one, other in pairwise(bins):
        assert one["to"] + 1 == other["from"]
    assert bins[0]["classes"]
    assert bins[-1]["classes"]


def test_average_class_size_and_its_normal_form() -> None:
    found = np.array([2, 4, 6])
    assert classes.average_class_size(found) == 4
    assert classes.normalised_class_size(found, k=2) == 2


@few
@given(sizes, st.fractions(0, 1, max_denominator=50))
def test_risk_is_one_in_the_size_of_the_class(found: Any, threshold: Any) -> None:
    each = [1 / size for size in found.tolist() for _ in range(size)]
    assert float(classes.highest(found)) == max(each)
    assert float(classes.average(found)) == pytest.approx(sum(each) / len(each))
    assert classes.uniques(found) == sum(chance == 1 for chance in each)
    above = sum(size for size in found.tolist() if Fraction(1, size) > threshold)
    assert classes.above(found, threshold) == above


def test_a_table_without_records_has_no_risk() -> None:
    none = np.array([], dtype=np.int64)
    assert classes.risk(none)["highest"] == 0
    assert classes.histogram(none) == []
    assert classes.average_class_size(none) == 0
    assert classes.discernibility_ratio(none) == 0
