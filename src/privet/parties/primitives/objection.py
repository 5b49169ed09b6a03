"""Does anybody object? All learn whether, and nobody learns who.

A party whose own rows are not among those that came out of a protocol has to say so. But a party that has
changed a row on purpose would learn from who objects whose row it was. So each puts in nought, or where it
objects a number drawn by chance, under masks that cancel out pairwise (Bonawitz et al., "Practical secure
aggregation", CCS 2017); the sum is nought where nobody objects, and else chance: not even how many do can be
told. Each promises what it puts in by a digest before it sees anything of the others', so that nobody's
objection is taken off again by a party that speaks last.

First all tell the digest of what they hold: whoever sees another one objects, so that results which differ
end in the same place as rows which are missing.

Trust: up to n - 2 parties that collude learn no more than whether one of the others objects. A party can
object without a reason, which ends the run; it silences an objection with a chance of 2**-64.
Leaks: to all, whether anybody objects, and whether all hold the same.
"""

from __future__ import annotations

import secrets
from hashlib import sha256

import numpy as np

from privet.errors import PartyError
from privet.parties.primitives.randomness import Stream, agreed, fresh
from privet.parties.primitives.securesum import refuse_two
from privet.parties.transport import Link

DIGEST = 32  # bytes
NONCE = 16


class ObjectedError(PartyError):
    """What came out of a protocol is not what went in, says somebody; nobody is told who."""


def refuse_objected(link: Link, held: bytes, why: str, *, objects: bool) -> None:
    """Refuse at all parties, at the same moment and with the same words, what any of them objects to."""
    if anybody_objects(link, held, objects=objects):
        raise ObjectedError(f"{why}; whose they are is told to nobody")


def anybody_objects(link: Link, held: bytes, *, objects: bool) -> bool:
    """Does any party object, or hold something else? `held`: what this one has."""
    refuse_two(link.parties)
    mine = sha256(held).digest()
    told = _exchanged(link, "held", mine)
    objects = objects or any(one != mine for one in told.values())
    number = fresh(1, np.uint64) if objects else np.zeros(1, dtype=np.uint64)
    for party, seed in agreed(link, "objection").items():
        mask = Stream(seed).draw(1, np.uint64)
        number = number + mask if link.me < party else number - mask
    said = secrets.token_bytes(NONCE) + number.astype("<u8").tobytes()
    promised = _exchanged(link, "promise", sha256(said).digest())
    total = number
    try:
        shown = _exchanged(link, "objection", said)
    except PartyError as error:
        # Whoever keeps its own number back has those of the others, and so knows what they do not.
        raise ObjectedError(*error.complaints) from None
    for party, opened in shown.items():
        if sha256(opened).digest() != promised[party]:
            raise ObjectedError(f"{link.name(party)}: says something else than it has promised")
        total = total + np.frombuffer(opened[NONCE:], dtype="<u8").astype(np.uint64)
    return bool(total[0])


def _exchanged(link: Link, kind: str, mine: bytes) -> dict[int, bytes]:
    """What every other party says; nobody is answered before all have spoken."""
    for party in link.others:
        link.send(party, kind, mine)
    return {party: link.receive(party, kind, len(mine)) for party in link.others}
