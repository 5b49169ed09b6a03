"""Random tables in random splits, a hundred for every score, way and number of parties: joint is pooled."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.parties import test_columns, test_people
from tests.parties.noisy import quick
from tests.parties.test_people import random_tally

from privet.counts.door import Score
from privet.errors import UnsatisfiableError
from privet.models.lkc import LKC
from privet.parties.words import Adding, Reveal
from privet.relational.topdown import TopDown
from privet.testing.adding import joined, parts_of
from privet.testing.contracts import policy_for

pytestmark = pytest.mark.slow

SEEDS = 100
BOTH = [Score.INFORMATION_GAIN, Score.DISCERNIBILITY]
PEOPLE = [
    (Reveal.COUNTS, Adding.RING, parties, score) for parties in (3, 4, 5) for score in Score
] + [
    (Reveal.COUNTS, Adding.PAIRWISE, parties, score) for parties in (3, 4, 5) for score in Score
] + [
    (Reveal.DECISIONS, Adding.PAIRWISE, parties, score) for parties in (2, 3, 4, 5) for score in BOTH
]  # fmt: skip
COLUMNS = [
    (reveal, parties, holder, score)
    for reveal in (Reveal.DECISIONS, Reveal.SCORES)
    for parties in (2, 3, 4)
    for holder in (None, 0, parties - 1)
    for score in BOTH
]


def promise(rng: Any) -> LKC:
    """Loose, strict, or beyond reach."""
    protected: dict[str, list[str]] = {"s": ["u"]} if rng.integers(2) else {}
    c = Fraction(int(rng.integers(1, 5)), 5)
    return LKC(l=int(rng.integers(1, 4)), k=int(rng.integers(1, 9)), c=c, sensitive=protected)


def told(finding: Any) -> list[Any]:
    cuts = {name: cut.nodes for name, cut in finding.recoding.cuts.items()}
    return [cuts, [(s.attribute, s.label, s.children, s.performed) for s in finding.steps]]


def compared(alone: Any, together: Any) -> None:
    """What one finds, or that there is nothing to be found."""
    try:
        want = told(alone())
    except UnsatisfiableError:
        with pytest.raises(UnsatisfiableError):
            together()
        return
    assert all(told(one) == want for one in together())


@pytest.mark.parametrize(("reveal", "adding", "parties", "score"), PEOPLE)
def test_by_people(reveal: Reveal, adding: Adding, parties: int, score: Score) -> None:
    search = TopDown(score=score)
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        tally = random_tally(seed, quasi=int(rng.integers(1, 4)))
        promises = [promise(rng)]
        # Of some splits a party has no row at all.
        whose = rng.integers(0, parties - seed % 2, tally.cells).tolist()
        parts = parts_of(tally, whose)
        empty = tally.where(np.zeros(tally.cells, dtype=bool))
        parts = [*parts, *[empty] * (parties - len(parts))]
        whole = joined(parts)
        with quick():
            compared(
                lambda w=whole, p=promises: search.search(w, policy_for(w, p, search)),
                lambda s=parts, p=promises: test_people.found_together(s, search, p, (reveal, adding)),
            )


@pytest.mark.parametrize(("reveal", "parties", "holder", "score"), COLUMNS)
def test_by_columns(reveal: Reveal, parties: int, holder: int | None, score: Score) -> None:
    search = TopDown(score=score)
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        tally = random_tally(seed, quasi=int(rng.integers(1, 5)))
        owner = rng.integers(0, parties, len(tally.quasi)).tolist()
        promises = [promise(rng)]
        with quick():
            compared(
                lambda t=tally, p=promises: search.search(t, policy_for(t, p, search)),
                lambda t=tally, o=owner, p=promises: test_columns.found_together(
                    t, o, parties, search, p, reveal, holder=holder
                ),
            )
