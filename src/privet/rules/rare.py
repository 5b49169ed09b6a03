"""What somebody may know of a person's items and must not: itemsets that too few records have.

Of up to m items, and minimal: no part of one is rare itself. Where none is left, whatever up to m items are
known is in at least k records. The same search as for the sequences of a path
(`privet.trajectory.violations`), with the places where each is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.models.linkage import Linkage
from privet.rules.baskets import Baskets, Ints
from privet.trajectory.sequences import Sequences
from privet.trajectory.violations import violations


@dataclass(frozen=True, eq=False)
class Rare:
    """Rare itemsets, and every record in which one of them is."""

    members: NDArray[np.int32] = field(repr=False)  # one itemset after the other
    starts: Ints = field(repr=False)
    support: Ints = field(repr=False)
    record: NDArray[np.int32] = field(repr=False)  # of each place
    which: NDArray[np.int32] = field(repr=False)  # and the itemset that is there

    def __len__(self) -> int:
        return len(self.support)

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)


def rare(baskets: Baskets, m: int, k: int) -> Rare:
    """Every minimal itemset of up to m items that at least one and fewer than k records have."""
    longest = min(m, int(baskets.lengths.max(initial=0)))
    handle = np.zeros(4, dtype=np.int64)
    if native.library() is not None and baskets.cells < 2**31:
        said = native.call(
            "privet_rare",
            np.ascontiguousarray(baskets.members),
            np.ascontiguousarray(baskets.starts),
            baskets.records,
            np.ones(baskets.records, dtype=np.int64),
            len(baskets.items),
            k,
            longest,
            handle,
        )
        if not said:
            return _taken(handle)
    return plain(baskets, m, k)


def _taken(handle: Ints) -> Rare:
    count, used, places = (int(number) for number in handle[1:])
    record, which = np.empty(places, np.int32), np.empty(places, np.int32)
    native.call("privet_places_take", int(handle[0]), record, which)
    members, ends, support = np.empty(used, np.int32), np.empty(count, np.int64), np.empty(count, np.int64)
    native.call("privet_sequences_take", int(handle[0]), members, ends, support)
    return Rare(members, np.concatenate(([0], ends)), support, record, which)


def plain(baskets: Baskets, m: int, k: int) -> Rare:
    """The same with numpy, one itemset after the other."""
    found: Sequences = violations(baskets.paths(), Linkage(m, k, ()))
    places = [baskets.holding(itemset) for itemset in found.tuples()]
    return Rare(
        found.members,
        found.starts,
        found.support,
        np.concatenate([*places, np.zeros(0, np.int32)]).astype(np.int32),
        np.repeat(np.arange(len(places), dtype=np.int32), [len(one) for one in places]),
    )
