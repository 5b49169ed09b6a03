"""The auditor of hidden rules: supports counted record by record, with nothing that a search uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from privet.equality import key
from privet.rules.baskets import Baskets


@dataclass(frozen=True, eq=False)
class Recount:
    """Counts records that have all of some items, by marking each of them."""

    baskets: Baskets

    @property
    def records(self) -> int:
        return self.baskets.records

    def support(self, items: Iterable[str]) -> int:
        """How many records have every one of these items, in whatever spelling."""
        wanted = {one: at for at, one in enumerate(dict.fromkeys(map(key, items)))}
        which = np.array([wanted.get(key(label), -1) for label in self.baskets.items], dtype=np.int64)
        owner = np.repeat(np.arange(self.records), np.diff(self.baskets.starts))
        meant = which[self.baskets.members]
        # Each wanted item once in a record, however many spellings of it the record has.
        met = np.unique(owner[meant >= 0] * max(len(wanted), 1) + meant[meant >= 0]) // max(len(wanted), 1)
        return int(np.count_nonzero(np.bincount(met, minlength=self.records) == len(wanted)))
