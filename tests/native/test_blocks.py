"""The compiled loops, over blocks, against the plain ones, combination by combination."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet import native
from privet.core import Column, Tally
from privet.counts import lookahead
from privet.counts.door import Candidate
from privet.counts.lookahead import Bound, keeps_plainly
from privet.counts.partition import Partition
from privet.domain import Domain, Node, flat
from privet.models import blockwise as check_blockwise
from privet.models import groups
from privet.models.template import Template, protected


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


def dealings(attributes: int) -> st.SearchStrategy[tuple[tuple[int, ...], ...]]:
    """Every attribute in one of a few groups."""
    return st.lists(st.integers(0, 3), min_size=attributes, max_size=attributes).map(
        lambda to: tuple(tuple(at for at, g in enumerate(to) if g == group) for group in sorted(set(to)))
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
    while open_values:
        candidate = open_values.pop(data.draw(st.integers(0, len(open_values) - 1)))
        others = [
            at for at in range(len(tally.quasi)) if at != candidate.attribute and partition.width[at] > 1
        ]
        reach = min(bound.l - 1, len(others))
        ahead = partition.ahead([candidate])[0]
        plain = keeps_plainly(ahead, partition.width, candidate, others, reach, bound)
        if others:
            with pytest.MonkeyPatch.context() as patch:
                # any dealing of attributes into groups must do, not only the one that is quickest here
                dealing = data.draw(dealings(len(others)))
                patch.setattr(lookahead, "dealt", lambda *_, dealing=dealing: dealing)
                assert (
                    lookahead.keeps_by_blocks(ahead, partition.width, candidate, others, reach, bound)
                    is plain
                )
        positions = partition.split(candidate)
        open_values += [
            Candidate(candidate.attribute, child, child.children, position)
            for child, position in zip(candidate.children, positions, strict=True)
            if child.children
        ]


@settings(max_examples=200)
@given(data=st.data(), tally=tables())
def test_compiled_and_plain_survey_agree(data: st.DataObject, tally: Tally) -> None:
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")
    columns = [column for column in tally.quasi if column.domain.size > 1]
    size = data.draw(st.integers(1, 4))
    if not columns:
        return
    size = min(size, len(columns))
    k = data.draw(st.integers(1, 6))
    at_most = data.draw(st.fractions(Fraction(1, 4), Fraction(8, 9), max_denominator=9))
    bounds = protected(tally, [Template("s", "a", at_most), Template("s", "b", at_most)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "WORTH_CALLING", 10**12)
        plain = groups.survey(tally, columns, (size,), k, bounds)
    with pytest.MonkeyPatch.context() as patch:
        dealing = data.draw(dealings(len(columns)))
        patch.setattr(check_blockwise, "dealt", lambda *_: dealing)
        patch.setattr(native, "WORTH_CALLING", 0)
        assert groups.survey(tally, columns, (size,), k, bounds) == plain


@pytest.mark.parametrize(
    "dealing", [((0,), (1,), (2,)), ((0, 1), (2,)), ((2,), (0, 1)), ((0, 1, 2),), ((0, 2), (1,))]
)
@pytest.mark.parametrize(("rare", "holds"), [(1, False), (10, True)])
def test_a_small_group_inside_one_group_of_attributes_is_found(
    dealing: tuple[tuple[int, ...], ...], rare: int, holds: bool
) -> None:
    """Only the combination of the first three attributes has a group of two."""
    if native.library() is None:
        pytest.skip("the compiled loops are not built: no C compiler on this machine")
    cells = np.array(list(np.ndindex(2, 2, 2, 2)))
    domain = two_levels(2)
    quasi = tuple(Column(f"q{at}", domain, domain.column(cells[:, at])) for at in range(4))
    counts = np.where((cells[:, :3] == 0).all(axis=1), rare, 10).astype(np.int64)
    partition = Partition(Tally(quasi, (), None, counts), [], needs_leaves=True)
    halves = domain.root.children
    for at in (1, 2, 3):
        partition.split(Candidate(at, domain.root, halves, 0))
    candidate = Candidate(0, domain.root, halves, 0)
    bound = Bound(frozenset(range(4)), 3, 5, ())
    ahead = partition.ahead([candidate])[0]
    assert keeps_plainly(ahead, partition.width, candidate, [1, 2, 3], 2, bound) is holds
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookahead, "dealt", lambda *_: dealing)
        assert lookahead.keeps_by_blocks(ahead, partition.width, candidate, [1, 2, 3], 2, bound) is holds


@given(data=st.data(), tally=tables())
def test_protected_values_are_counted_whatever_they_have_in_common(data: st.DataObject, tally: Tally) -> None:
    some = st.lists(st.booleans(), min_size=tally.cells, max_size=tally.cells)
    masks = [np.array(mask, dtype=bool) for mask in data.draw(st.lists(some, max_size=5))]
    partition = Partition(tally, masks, needs_leaves=True)
    cut = [np.zeros(tally.cells, dtype=int) for _ in tally.quasi]  # by attribute the place of each cell
    for at, column in enumerate(tally.quasi):
        root = column.domain.root
        if not root.children:
            continue
        candidate = Candidate(at, root, root.children, 0)
        ahead = partition.ahead([candidate])[0]
        child_of = np.repeat(np.arange(len(root.children)), [child.leaves for child in root.children])
        child = child_of[column.codes]
        leaves = [tuple(int(p[unit]) for p in ahead.position) for unit in ahead.unit]
        for mask, having in zip(masks, ahead.having, strict=True):
            want = Counter[tuple[Any, int]]()
            for cell in np.flatnonzero(mask):
                leaf = tuple(int(places[cell]) for places in cut)
                want[leaf, int(child[cell])] += int(tally.counts[cell])
            told = zip(leaves, ahead.child, having, strict=True)
            assert +Counter({(leaf, int(under)): int(n) for leaf, under, n in told}) == +want
        cut[at] = np.array(partition.split(candidate))[child]


@given(
    records=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    bounds=st.lists(
        st.tuples(st.integers(1, 8), st.fractions(Fraction(1, 9), 1, max_denominator=9)),
        min_size=1,
        max_size=3,
    ),
)
def test_only_values_that_no_group_could_have_too_many_of_are_left_out(
    records: list[int], bounds: list[tuple[int, Fraction]]
) -> None:
    values = [(0, code) for code in range(len(records))]
    asked = [
        Bound(frozenset({0}), 1, k, tuple((at, share) for at in range(len(records)))) for k, share in bounds
    ]
    told, kept = lookahead.telling(asked, values, records)
    for bound, (k, share) in zip(told, bounds, strict=True):
        looked_at = {kept[at][1] for at, at_most in bound.shares if at_most == share}
        breaking = {
            code
            for code, many in enumerate(records)
            if any(Fraction(count, max(k, count)) > share for count in range(1, many + 1))
        }
        assert breaking <= looked_at
        assert share == 1 or looked_at == breaking
