"""km-anonymity by suppression: items go, from every record or only from those that they give away.

From every record: the items that break most rare itemsets for what they cost, as in the thinning of paths.
Only where needed: each record that has a rare itemset loses one of its items, and of those the one that is in
most of its rare itemsets; a record of very many items loses several at once. Then supports have fallen, what
was common may be rare, and it begins again; items only ever go, so it ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.errors import UnsatisfiableError
from privet.models.linkage import Linkage
from privet.rules.baskets import Baskets, Mask, distinct
from privet.rules.rare import Rare, rare
from privet.trajectory.suppress import Suppress

AT_ONCE = 64  # of so many items that a record might lose, one goes in a round: a long record is soon done


def feasible(records: int, k: int) -> None:
    """Refuse a promise that only the removal of every item would keep."""
    if k > records:
        raise UnsatisfiableError(
            f"k = {k} cannot be kept by {records} records, unless every item is removed; "
            f"the largest k that can is {records}"
        )


def everywhere(baskets: Baskets, m: int, k: int, progress: Progress = silent) -> Mask:
    """For each item in a basket, whether it stays; an item goes from all records or from none."""
    found = Suppress(max(baskets.records, 1)).search(baskets.paths(), Linkage(m, k, ()), progress)
    stays = np.ones(len(baskets.items), dtype=bool)
    stays[[removal.point for removal in found.removals]] = False
    return stays[baskets.members]


def locally(baskets: Baskets, m: int, k: int, progress: Progress = silent) -> Mask:
    """For each item in a basket, whether it stays."""
    stays = np.ones(baskets.cells, dtype=bool)
    now = baskets
    while True:
        found = rare(now, m, k)
        progress("search", int(len(stays) - stays.sum()), len(stays))
        if not len(found):
            return stays
        kept = ~hit(now, found)
        stays[np.flatnonzero(stays)[~kept]] = False
        now = now.keeping(kept)


def hit(baskets: Baskets, found: Rare) -> Mask:
    """Items whose deletion breaks every rare itemset of every record, few for each record."""
    wide = max(len(baskets.items), 1)
    lengths = found.lengths[found.which]
    begin = found.starts[found.which]
    at = np.arange(lengths.sum()) + np.repeat(begin - np.cumsum(lengths) + lengths, lengths)
    place = np.repeat(np.arange(len(found.which)), lengths)  # the occurrence that each item belongs to
    record, item = found.record[place].astype(np.int64), found.members[at].astype(np.int64)
    # An item that is rare by itself goes wherever it is, and is in no other rare itemset: those are minimal.
    alone = lengths[place] == 1
    cells: list[NDArray[np.int64]] = [distinct((record * wide + item)[alone])]
    place, record, item = place[~alone], record[~alone], item[~alone]
    while len(place):
        keys, which, many = np.unique(record * wide + item, return_inverse=True, return_counts=True)
        owner, code = np.divmod(keys, wide)
        # Of each record the item that most of its rare itemsets have; of equals the one most records have.
        order = np.lexsort((code, -baskets.supports[code], -many, owner))
        sorted_ = owner[order]
        starts = np.flatnonzero(np.diff(sorted_, prepend=-1))
        size = np.diff(np.append(starts, len(order)))
        rank = np.arange(len(order)) - np.repeat(starts, size)
        chosen = np.zeros(len(keys), dtype=bool)
        chosen[order[rank < np.repeat(-(-size // AT_ONCE), size)]] = True
        cells.append(keys[chosen])
        broken = np.zeros(len(found.which), dtype=bool)
        broken[place[chosen[which]]] = True
        left = ~broken[place]
        place, record, item = place[left], record[left], item[left]
    gone = np.concatenate(cells)
    return np.isin(baskets.owner * wide + baskets.members, gone)
