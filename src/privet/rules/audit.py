"""The auditor of hidden rules: supports counted record by record, with nothing that a search uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from privet.rules.baskets import Baskets


@dataclass(frozen=True, eq=False)
class Recount:
    """Counts records that have all of some items, by marking each of them."""

    baskets: Baskets

    @property
    def records(self) -> int:
        return self.baskets.records

    def support(self, items: Iterable[str]) -> int:
        """How many records have every one of these items; an item that nobody has is in none."""
        wanted = set(items)
        known = {label: at for at, label in enumerate(self.baskets.items)}
        if not wanted <= known.keys():
            return 0
        marked = np.zeros(len(known), dtype=bool)
        marked[[known[label] for label in wanted]] = True
        owner = np.repeat(np.arange(self.records), np.diff(self.baskets.starts))
        found = np.bincount(owner[marked[self.baskets.members]], minlength=self.records)
        return int(np.count_nonzero(found == len(wanted)))
