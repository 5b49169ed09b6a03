"""What a site has heard of the boxes of a virtual database: each is united once, and then remembered.

A union hides whose a row is among decoys and behind a leader who is drawn. Of the same rows united again
and again, with other decoys and other leaders, whatever comes from a neighbour every time is its own. So
no box is united twice: its rows are those that all sites have heard already, and the next question is
answered from them. A site that has forgotten is told by one that has not. A union that did not end has
perhaps shown a bag, so how often a box was begun is counted, and bounded; one that came out wrong was changed
by somebody, and is the last of its boxes.

Whoever tells another what it has forgotten must have it from a union in which both took part: all sites put a
seal to the rows that came out, and each believes nothing but its own. Otherwise a site could claim to
remember what was never united, with rows of its own making, and learn by who objects whose rows are among
them, as often as it likes. Its own seal stands beside its own rows, too: what somebody has changed there is
not answered from.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

import numpy as np

from privet import jsonvalue
from privet.errors import InputError
from privet.parties.primitives.extremes import Ints, Mask

VERSION = 1
TRIES = 3  # unions of a box that begin and do not end
FILE = "heard.json"  # where it is kept
DAMAGED = (
    f"what was answered before ({FILE}) is damaged; bring it back from a copy, or delete it, and the other "
    "sites tell it again"
)
SEAL = 16  # bytes
BUSY = "another question about the same rows is being answered; ask again"


def _nowhere(_: bytes) -> None:
    """Kept in this process only."""


class Memory:
    """One site's, of one database; several questions may be answered at a time."""

    def __init__(
        self,
        rows: dict[int, list[int]] | None = None,
        tries: dict[int, int] | None = None,
        save: Callable[[bytes], None] = _nowhere,
        *,
        secret: bytes | None = None,
        seals: dict[int, dict[str, str]] | None = None,
    ) -> None:
        """`secret`: of this site, and kept when all else is forgotten; `seals`: by box and site."""
        self._secret = secret or secrets.token_bytes(32)
        self._seals = {} if seals is None else seals
        self._rows = {} if rows is None else rows  # by box the sensitive values of its rows, packed
        self._tries = {} if tries is None else tries
        self._save = save
        self._under_way: set[int] = set()
        self._lock = threading.Lock()

    @classmethod
    def from_bytes(
        cls, text: bytes, save: Callable[[bytes], None] = _nowhere, *, secret: bytes | None = None
    ) -> Self:
        try:
            said = jsonvalue.loads(text.decode())
            rows = {int(box): [int(one) for one in rows] for box, rows in said["rows"].items()}
            tries = {int(box): int(count) for box, count in said["tries"].items()}
            seals = {
                int(box): {str(site): bytes.fromhex(one).hex() for site, one in of.items()}
                for box, of in said.get("seals", {}).items()
            }
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(DAMAGED) from None
        return cls(rows, tries, save, secret=secret, seals=seals)

    def knows(self, boxes: Sequence[int]) -> Mask:
        with self._lock:
            return np.array([box in self._rows for box in boxes], dtype=bool)

    def rows(self, boxes: Iterable[int]) -> tuple[Ints, Ints]:
        """By row its box and its packed sensitive values."""
        with self._lock:
            found = [(box, one) for box in boxes for one in self._rows[box]]
        both = np.array(found, dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def seal(self, database: bytes, box: int, rows: Sequence[int]) -> bytes:
        """What only this site can put to the rows of a box."""
        said = json.dumps([box, sorted(rows)]).encode()
        return hmac.digest(self._secret, b"privet box " + database + said, "sha256")[:SEAL]

    def seal_of(self, site: str, box: int) -> bytes:
        """What a site has put to them, this one too; nothing where it has not."""
        with self._lock:
            return bytes.fromhex(self._seals.get(box, {}).get(site, "")).ljust(SEAL, b"\0")[:SEAL]

    def reserved(self, boxes: Sequence[int]) -> str:
        """They are to be united; or why not: they are already, or were in vain too often."""
        with self._lock:
            if self._under_way.intersection(boxes) or self._rows.keys() & set(boxes):
                return BUSY
            if any(self._tries.get(box, 0) >= TRIES for box in boxes):
                return (
                    f"answers about these rows were begun {TRIES} times and did not end, or somebody has "
                    "changed what came out, and each may have shown something; make the virtual database anew"
                )
            self._under_way.update(boxes)
            return ""

    def begin(self, boxes: Sequence[int]) -> None:
        """All sites have reserved them: from here on a bag may be seen."""
        with self._lock:
            for box in boxes:
                self._tries[box] = self._tries.get(box, 0) + 1
            self._written()

    def spoil(self, boxes: Iterable[int]) -> None:
        """Somebody has changed what came out: they are never united again."""
        with self._lock:
            self._tries |= dict.fromkeys(boxes, TRIES)
            self._written()

    def end(self, boxes: Iterable[int]) -> None:
        """They are not being united any more, however it ended."""
        with self._lock:
            self._under_way.difference_update(boxes)

    def learn(
        self,
        boxes: Sequence[int],
        box_of: Ints,
        packed: Ints,
        seals: Mapping[int, Mapping[str, str]] | None = None,
    ) -> None:
        """All rows of some boxes, and what every site has put to them."""
        found: dict[int, list[int]] = {box: [] for box in boxes}
        for box, one in zip(box_of.tolist(), packed.tolist(), strict=True):
            found[box].append(one)
        with self._lock:
            self._rows |= {box: sorted(rows) for box, rows in found.items()}
            self._seals |= {box: dict(of) for box, of in (seals or {}).items()}
            for box in boxes:
                self._tries.pop(box, None)
            self._written()

    def _written(self) -> None:
        said = {"memory": VERSION, "rows": self._rows, "tries": self._tries, "seals": self._seals}
        self._save(json.dumps(said, separators=(",", ":")).encode())
