"""When equal rows become one cell: where it pays, which a sample of them must tell."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from privet.core import Attribute, Role, Terms
from privet.engines.embedded import SAMPLE, Embedded, Frame
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
