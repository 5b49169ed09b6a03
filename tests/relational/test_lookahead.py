"""The look-ahead by the compiled loop, over blocks, against the plain one, combination by combination."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import blocks, native
from privet.core import Column, Tally
from privet.domain import Domain, Node, flat
from privet.relational import lookahead_native
from privet.relational.bounds import Bound
from privet.relational.lookahead import keeps_plainly
from privet.relational.partition import Partition
from privet.relational.specialize import Candidate


def two_levels(width: int) -> Domain:
    """Values under halves under the root."""
    leaves = [Node(str(at), at, at + 1) for at in range(width)]
    if width < 2:
        return Domain(("0",), leaves[0])
    middle = width // 2
    halves = (
        Node("low", 0, middle, tuple(leaves[:middle])),
        Node("high", middle, width, tuple(leaves[middle:])),
    )
    return Domain(tuple(str(at) for at in range(width)), Node("*", 0, width, halves))


@st.composite
def tables(draw: st.DrawFn) -> Tally:
    widths = draw(st.lists(st.integers(1, 5), min_size=2, max_size=7))
    cells = draw(st.integers(1, 120))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    skew = draw(st.sampled_from([1.0, 3.0]))
    quasi = []
    for at, width in enumerate(widths):
        domain = two_levels(width)
        codes = np.floor(random.random(cells) ** skew * width).astype(np.intp)
        quasi.append(Column(f"q{at}", domain, domain.column(codes)))
    secret = flat(("a", "b", "c"))
    return Tally(
        quasi=tuple(quasi),
        sensitive=(Column("s", secret, secret.column(random.integers(0, 3, cells))),),
        target=None,
        counts=random.integers(1, 4, cells).astype(np.int64),
    )


@settings(max_examples=300)
@given(data=st.data(), tally=tables())
def test_compiled_and_plain_look_ahead_agree(data: st.DataObject, tally: Tally) -> None:
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")
    masks = [tally.sensitive[0].codes == code for code in (0, 1)]
    partition = Partition(tally, masks, needs_leaves=data.draw(st.booleans()))
    shares = data.draw(
        st.lists(
            st.tuples(st.sampled_from([0, 1]), st.fractions(Fraction(1, 4), 1, max_denominator=9)), max_size=2
        )
    )
    bound = Bound(
        frozenset(range(len(tally.quasi))),
        data.draw(st.integers(1, 5)),
        data.draw(st.integers(1, 6)),
        tuple(shares),
    )
    open_values = [
        Candidate(at, c.domain.root, c.domain.root.children, 0)
        for at, c in enumerate(tally.quasi)
        if c.domain.root.children
    ]
    with pytest.MonkeyPatch.context() as patch:
        # small tables would be one block: let the dealing be as for large ones
        patch.setattr(blocks, "CACHED", data.draw(st.sampled_from([16, 64, 1 << 16])))
        blocks._dealt.cache_clear()
        while open_values:
            candidate = open_values.pop(data.draw(st.integers(0, len(open_values) - 1)))
            others = [
                at for at in range(len(tally.quasi)) if at != candidate.attribute and partition.width[at] > 1
            ]
            reach = min(bound.l - 1, len(others))
            ahead = partition.ahead(candidate)
            plain = keeps_plainly(partition, candidate, ahead, others, reach, bound)
            compiled = lookahead_native.keeps(partition, candidate, ahead, others, reach, bound)
            assert compiled in {plain, None}
            if others and blocks.CACHED == 1 << 16:
                assert compiled is plain  # everything fits
            positions = partition.split(candidate)
            open_values += [
                Candidate(candidate.attribute, child, child.children, position)
                for child, position in zip(candidate.children, positions, strict=True)
                if child.children
            ]
    blocks._dealt.cache_clear()
