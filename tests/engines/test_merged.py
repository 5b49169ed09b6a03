"""When equal rows become one cell: where it pays, which a sample of them must tell."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.core import Attribute, Role, Terms
from privet.engines import frames
from privet.engines.embedded import Embedded, Frame
from privet.engines.frames import SAMPLE
from privet.models.kanonymity import KAnonymity
from privet.relational.topdown import TopDown

ROWS = 3 * SAMPLE


def tallied(rows: list[tuple[str, str]]) -> Counter[tuple[str | None, str | None, int]]:
    terms = Terms((Attribute("a", Role.QUASI), Attribute("b", Role.QUASI)), (KAnonymity(k=2),), TopDown())
    tally = Embedded().tally(Frame(pl.DataFrame(rows, schema=["a", "b"], orient="row")), terms).tally
    first, second = tally.quasi
    return Counter(
        (first.domain.values[a], second.domain.values[b], count)
        for a, b, count in zip(first.codes, second.codes, tally.counts.tolist(), strict=True)
    )


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("kinds", [ROWS // 6, ROWS // 3])
def test_rows_of_many_kinds_are_merged_where_each_comes_several_times(kinds: int, ordered: bool) -> None:
    """A sample has few of them twice: its own repeats would say that merging does not pay."""
    numbers = np.arange(ROWS) % kinds
    if not ordered:
        numbers = np.random.default_rng(0).permutation(numbers)
    else:
        numbers.sort()
    rows = [(f"{n // 300:04d}", f"{n % 300:03d}") for n in numbers.tolist()]
    expected = Counter((*row, times) for row, times in Counter(rows).items())
    assert tallied(rows) == expected


def test_rows_that_never_repeat_stay_as_they_are() -> None:
    numbers = np.random.default_rng(0).permutation(ROWS).tolist()
    rows = [(f"{n // 300:04d}", f"{n % 300:03d}") for n in numbers]
    assert tallied(rows) == Counter((*row, 1) for row in rows)


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=40),
    st.integers(1, 4),
)
def test_rows_are_ordered_by_several_keys_as_by_one(rows: list[tuple[int, ...]], keys: int) -> None:
    """However many numbers a row's codes need, the order and the repeats are those of the codes."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    split = [columns[at::keys] for at in range(keys)]  # some keys hold several columns
    packed = [sum(c * 4**i for i, c in enumerate(reversed(part))) for part in split]
    order, fresh = frames.ordered([np.asarray(key) for key in packed])
    said = [tuple(int(key[at]) for key in packed) for at in order]
    assert said == sorted(said)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert fresh.tolist() == [at == 0 or said[at] != said[at - 1] for at in range(len(said))]
