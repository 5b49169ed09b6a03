"""What a party counts in its leaves, one by one; and that a question touches the records that it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.hospitals import document

from privet.core import Column, Nulls, Tally
from privet.counts.door import Candidate
from privet.parties.contract import Contract
from privet.parties.leaves import SharedLeaves

DOMAINS = [Contract.from_document(document(), base=Path()).domains[name] for name in ("Job", "Sex")]


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=30), data=st.data()
)
@settings(max_examples=40)
def test_a_round_touches_the_records_of_the_value_that_is_split(
    rows: list[tuple[int, int]], data: Any
) -> None:
    """Spec 03, acceptance 18."""
    codes = np.array(rows)
    quasi = tuple(
        Column(name, domain, domain.column(codes[:, at]))
        for at, (name, domain) in enumerate(zip(("Job", "Sex"), DOMAINS, strict=True))
    )
    counts = np.ones(len(rows), dtype=np.int64)
    leaves = SharedLeaves(Tally(quasi=quasi, sensitive=(), target=None, counts=counts, nulls=Nulls.VALUE), [])
    open_ = [Candidate(at, d.root, d.root.children, 0) for at, d in enumerate(DOMAINS)]
    while open_:
        candidate = open_.pop(data.draw(st.integers(0, len(open_) - 1)))
        node = candidate.node
        under = [row for row in rows if node.lo <= row[candidate.attribute] < node.hi]
        before = leaves.touched
        ahead = leaves.ahead(candidate)
        assert leaves.touched - before == len(under), "and no other record"
        for child, part in enumerate(candidate.children):
            want = sum(part.lo <= row[candidate.attribute] < part.hi for row in under)
            assert ahead[:, child, 0].sum() == want
        if not under:
            continue
        before = leaves.touched
        positions = leaves.split(candidate, ahead[:, :, 0] > 0)
        assert leaves.touched - before == len(under)
        open_ += [
            Candidate(candidate.attribute, part, part.children, position)
            for part, position in zip(candidate.children, positions, strict=True)
            if part.children
        ]
    assert sorted(leaves.sizes[leaves.sizes > 0].tolist()) == sorted(rows.count(row) for row in set(rows)), (
        "all is split: a leaf for each combination"
    )


def test_all_splits_together_touch_each_record_once_a_level() -> None:
    """Not once a round: the cost of a search is that of its depth, not of its number of splits."""
    codes = np.array([(job, sex) for job in range(6) for sex in range(2)] * 50)
    quasi = tuple(
        Column(n, d, d.column(codes[:, at])) for at, (n, d) in enumerate(zip("JS", DOMAINS, strict=True))
    )
    counts = np.ones(len(codes), dtype=np.int64)
    leaves = SharedLeaves(Tally(quasi=quasi, sensitive=(), target=None, counts=counts, nulls=Nulls.VALUE), [])
    level = [Candidate(0, DOMAINS[0].root, DOMAINS[0].root.children, 0)]
    depth = 0
    while level:
        depth += 1
        after = []
        for candidate in level:
            positions = leaves.split(candidate, leaves.ahead(candidate)[:, :, 0] > 0)
            pairs = zip(candidate.children, positions, strict=True)
            after += [Candidate(0, part, part.children, at) for part, at in pairs if part.children]
        level = after
    assert leaves.touched <= 2 * depth * len(codes)  # once to look ahead, once to split
