"""Do two parties have the same? One bit of a garbled circuit, and nothing else of what they have.

Each hashes what it has with the session's id; the circuit compares the hashes. Shown to each other, a hash
could be tried with guesses: who differs in one person would find out in which.

Trust: parties that follow the protocol.
Leaks: to the two, whether they have the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from privet.errors import PartyError
from privet.parties.primitives.circuits import equal
from privet.parties.primitives.drawing import wide_lanes
from privet.parties.primitives.garbling import Evaluating, Garbling
from privet.parties.transport import Link

WIDE = 128  # bits of a hash
FIRST = 0


def beside_first(link: Link) -> dict[int, Garbling | Evaluating]:
    """The first party with each of the others, by the other: what all have is what the first has."""
    if link.me != FIRST:
        return {FIRST: Evaluating(link, FIRST)}
    return {other: Garbling(link, other) for other in link.others}


def refuse_others(link: Link, sides: Mapping[int, Garbling | Evaluating], values: bytes, what: str) -> None:
    """Raise where another party has other values; `what`: how one of them is called."""
    digest = hashlib.sha256(b"privet-classes" + link.session.id + values).digest()[: WIDE // 8]
    mine = wide_lanes([int.from_bytes(digest, "little")], WIDE)
    for other, side in sides.items():
        found = side.run(equal, mine, WIDE)
        if found is None or not found[0]:
            raise PartyError(
                f"{link.name(other)}: has another {what} for some person than we have; all must have the "
                "same ones"
            )
