"""What a site has heard of the boxes of a virtual database: each is united once, and then remembered.

A union hides whose a row is among decoys and behind a leader who is drawn. Of the same rows united again
and again, with other decoys and other leaders, whatever comes from a neighbour every time is its own. So
no box is united twice: its rows are those that all sites have heard already, and the next question is
answered from them. A site that has forgotten is told by one that has not. A union that did not end has
perhaps shown a bag, so how often a box was begun is counted, and bounded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Self

import numpy as np

from privet import jsonvalue
from privet.errors import InputError, PartyError
from privet.parties.primitives.extremes import Ints, Mask

VERSION = 1
TRIES = 3  # unions of a box that begin and do not end


def _nowhere(_: bytes) -> None:
    """Kept in this process only."""


class Memory:
    """One site's, of one database; several questions may be answered at a time."""

    def __init__(
        self,
        rows: dict[int, list[int]] | None = None,
        tries: dict[int, int] | None = None,
        save: Callable[[bytes], None] = _nowhere,
    ) -> None:
        self._rows = {} if rows is None else rows  # by box the sensitive values of its rows, packed
        self._tries = {} if tries is None else tries
        self._save = save
        self._under_way: set[int] = set()
        self._lock = threading.Lock()

    @classmethod
    def from_bytes(cls, text: bytes, save: Callable[[bytes], None] = _nowhere) -> Self:
        try:
            said = jsonvalue.loads(text.decode())
            rows = {int(box): [int(one) for one in rows] for box, rows in said["rows"].items()}
            tries = {int(box): int(count) for box, count in said["tries"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("what was answered before is damaged; make the virtual database anew") from None
        return cls(rows, tries, save)

    def knows(self, boxes: Sequence[int]) -> Mask:
        with self._lock:
            return np.array([box in self._rows for box in boxes], dtype=bool)

    def rows(self, boxes: Iterable[int]) -> tuple[Ints, Ints]:
        """By row its box and its packed sensitive values."""
        with self._lock:
            found = [(box, one) for box in boxes for one in self._rows[box]]
        both = np.array(found, dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def begin(self, boxes: Sequence[int]) -> None:
        """They are united now; refused where they are being united already, or were in vain too often."""
        with self._lock:
            if self._under_way.intersection(boxes) or self._rows.keys() & set(boxes):
                raise PartyError("another question about the same rows is being answered; ask again")
            if any(self._tries.get(box, 0) >= TRIES for box in boxes):
                raise PartyError(
                    f"answers about these rows were begun {TRIES} times and did not end, and each may have "
                    "shown something; make the virtual database anew"
                )
            for box in boxes:
                self._tries[box] = self._tries.get(box, 0) + 1
            self._under_way.update(boxes)
            self._written()

    def end(self, boxes: Iterable[int]) -> None:
        """They are not being united any more, however it ended."""
        with self._lock:
            self._under_way.difference_update(boxes)

    def learn(self, boxes: Sequence[int], box_of: Ints, packed: Ints) -> None:
        """All rows of some boxes."""
        found: dict[int, list[int]] = {box: [] for box in boxes}
        for box, one in zip(box_of.tolist(), packed.tolist(), strict=True):
            found[box].append(one)
        with self._lock:
            self._rows |= {box: sorted(rows) for box, rows in found.items()}
            for box in boxes:
                self._tries.pop(box, None)
            self._written()

    def _written(self) -> None:
        said = {"memory": VERSION, "rows": self._rows, "tries": self._tries}
        self._save(json.dumps(said, separators=(",", ":")).encode())
