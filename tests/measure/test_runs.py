"""Classes found as runs of cells that stand in order, against the obvious way."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privet.core import Column, begins
from privet.domain import flat
from privet.measure import classes
from privet.models import groups

ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=12)


def columns(rows: list[tuple[int, ...]]) -> list[Column]:
    domain = flat(("a", "b", "c"))
    return [Column(f"c{at}", domain, np.array([row[at] for row in rows], dtype=np.uint8)) for at in range(3)]


@given(ROWS)
def test_runs_begin_where_the_record_changes_and_only_in_order(rows: list[tuple[int, ...]]) -> None:
    found = begins(columns(rows), len(rows))
    if rows != sorted(rows):
        assert found is None
    else:
        assert found is not None
        assert found.tolist() == [at == 0 or row != rows[at - 1] for at, row in enumerate(rows)]


@given(ROWS, st.booleans())
def test_sizes_and_keys_are_the_same_whichever_way_they_are_found(
    rows: list[tuple[int, ...]], ordered: bool
) -> None:
    rows = sorted(rows) if ordered else rows
    counts = np.arange(1, len(rows) + 1, dtype=np.int64)
    small = classes.DENSE, groups.DENSE
    classes.DENSE = groups.DENSE = 0  # so that there are too many combinations for an array
    try:
        sizes = classes.group_sizes(columns(rows), counts)
        key, room = groups.group_keys(columns(rows), len(rows))
    finally:
        classes.DENSE, groups.DENSE = small
    expected: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(rows, counts.tolist(), strict=True):
        expected[row] += count
    assert sorted(sizes.tolist()) == sorted(expected.values())
    numbers = [sorted(set(rows)).index(row) for row in rows]
    assert np.unique(key, return_inverse=True)[1].tolist() == numbers
    assert all(0 <= number < room for number in key.tolist())
