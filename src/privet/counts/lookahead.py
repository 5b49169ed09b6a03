"""Would a split keep a linkage bound? Asked before it is made, from the counts it would leave.

Spec: a split of `x` is valid iff for every child and every combination of up to `l` attributes with
the one of `x` among them, each group that occurs is large enough and within every template.

Attributes that are still at their root add nothing to a combination, so only *active* ones (more than
one value in the cut) are combined; that is exact, and it is what makes many attributes feasible.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.counts import blockwise
from privet.counts.bounds import Bound
from privet.counts.door import Ahead, Candidate

DENSE = 1 << 16  # a table of counts this small is dense whatever the number of entries


def keeps(ahead: Ahead, width: Sequence[int], candidate: Candidate, bound: Bound) -> bool:
    """Would every group still be within the bound after the split? `width`: values in each cut before it."""
    others = [at for at in sorted(bound.attributes) if at != candidate.attribute and width[at] > 1]
    reach = min(bound.l - 1, len(others))
    # Wide attributes first: their combinations are the smallest groups, and a split that fails should
    # fail at once.
    others.sort(key=lambda at: -width[at])
    everything = reach == len(others) and len(bound.attributes) == len(width)
    if everything and ahead.whole:
        return within(ahead.count, [ahead.having[at] for at, _ in bound.shares], bound)
    if native.pays(comb(len(others), reach) * len(ahead.unit)):
        verdict = blockwise.keeps(ahead, width, candidate, others, reach, bound)
        if verdict is not None:
            return verdict
    return keeps_plainly(ahead, width, candidate, others, reach, bound)


def keeps_plainly(  # noqa: PLR0917 - what `keeps` has at hand
    ahead: Ahead, width: Sequence[int], candidate: Candidate, others: Sequence[int], reach: int, bound: Bound
) -> bool:
    """The same without the compiled loop, one combination after the other."""
    columns = {at: ahead.position[at][ahead.unit] for at in others}
    return all(
        _combination_keeps(
            ahead,
            len(candidate.children),
            [columns[at] for at in subset],
            [width[at] for at in subset],
            bound,
        )
        for subset in combinations(others, reach)
    )


def _combination_keeps(
    ahead: Ahead, fan: int, columns: Sequence[NDArray[Any]], widths: Sequence[int], bound: Bound
) -> bool:
    key, room = ahead.child.astype(np.int64, copy=False), fan
    for column, width in zip(columns, widths, strict=True):
        key, room = key * width + column, room * width
        if room > max(DENSE, 4 * len(key)):
            found, key = np.unique(key, return_inverse=True)
            room = len(found)
    size = np.bincount(key, weights=ahead.count, minlength=room)
    having = [np.bincount(key, weights=ahead.having[at], minlength=room) for at, _ in bound.shares]
    return within(size, having, bound)


def within(size: NDArray[Any], having: Sequence[NDArray[Any]], bound: Bound) -> bool:
    """Are all groups that occur large enough, and no share above its limit? Exactly, by integers."""
    if bool(((size > 0) & (size < bound.k)).any()):
        return False
    for count, (_, at_most) in zip(having, bound.shares, strict=True):
        top, bottom = at_most.numerator, at_most.denominator
        if float(size.max(initial=0)) * bottom >= 2**53:
            pairs = zip(count.tolist(), size.tolist(), strict=True)
            if any(int(c) * bottom > int(s) * top for c, s in pairs):
                return False
        elif bool((count * bottom > size * top).any()):
            return False
    return True
