"""Private set intersection: which persons all parties know, and in which order to speak of them.

Commutative encryption (Agrawal, Evfimievski and Srikant, SIGMOD 2003) on Curve25519 (RFC 7748): an identifier
is hashed to a point, everybody multiplies it by a secret number of its own, and the order does not matter:
what all have multiplied is the same where the identifier is. An identifier is hashed anew until its point is
on the curve and not on its twist: which of the two it is would otherwise tell half of all guesses from the
other half. X25519 makes every secret number a multiple of 8, so only the large subgroup is left.

`openmined.psi` does the same for two parties, over its own messages; this serves any number, over ours.

Trust: parties that follow the protocol; identifiers may be guessable, since no guess can be tried without the
others' secret numbers. Those are drawn anew for every run.
Leaks: to all, how many identifiers each party has, and how many any of them have in common; to each party,
which of its own each other party has: of three, too, not only which are common to all.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.equality import key
from privet.errors import InputError, MissingExtraError, PartyError
from privet.parties.primitives.randomness import Stream
from privet.parties.transport import Link

try:
    import gmpy2
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
except ImportError:  # pragma: no cover - where the extra is not installed
    raise MissingExtraError("an intersection of secret sets", "parties") from None

PRIME = 2**255 - 19
SIZE = 32
MOST = 1 << 24  # identifiers of one party


def on_curve(identifier: str, salt: bytes) -> bytes:
    """The first of a row of hashes that is a point of the curve: u**3 + 486662 u**2 + u is a square."""
    for at in range(256):
        digest = hashlib.sha512(b"privet-psi" + salt + bytes([at]) + identifier.encode()).digest()
        u = int.from_bytes(digest, "little") % PRIME
        if u > 1 and gmpy2.legendre((u * u + 486662 * u + 1) * u, PRIME) == 1:
            return u.to_bytes(SIZE, "little")
    raise InputError("an identifier cannot be hashed")  # one in 2**256


def _multiplied(secret: X25519PrivateKey, points: Sequence[bytes], whose: str) -> list[bytes]:
    try:
        return [secret.exchange(X25519PublicKey.from_public_bytes(point)) for point in points]
    except ValueError:
        raise PartyError(f"{whose}: sent a point that is not one of the group") from None


def common(link: Link, identifiers: Sequence[str]) -> NDArray[np.intp]:
    """Where the persons that all parties know stand in one's own list, in an order that all share.

    Identifiers are the same by the rule of `equality`, not by their letters: `2` is `2.0`.
    """
    identifiers = [key(identifier) for identifier in identifiers]
    if len(set(identifiers)) < len(identifiers):
        twice = len(identifiers) - len(set(identifiers))
        raise InputError(f"{twice} identifiers stand in more than one row; each person has one row")
    secret = X25519PrivateKey.generate()
    counts = _counts(link, len(identifiers))
    after, before = (link.me + 1) % link.parties, (link.me - 1) % link.parties
    # In an order of chance: neither where a row stood in the table is told, nor what lies between two hashes
    # that others know, too, by which they could rule out whoever is hashed to where nobody is.
    order = Stream(secrets.token_bytes(32)).permutation(len(identifiers)).tolist()
    hashes = [on_curve(identifiers[at], link.session.id) for at in order]
    points = _multiplied(secret, hashes, link.name(link.me))
    for turn in range(1, link.parties):
        link.send(after, "points", b"".join(points))
        owner = (link.me - turn) % link.parties
        points = _multiplied(
            secret, _cut(link.receive(before, "points", SIZE * counts[owner])), link.name(owner)
        )
    # These are the next party's, with all secret numbers on them; each gets its own back, in its order.
    link.send(after, "own", b"".join(points))
    mine = _cut(link.receive(before, "own", SIZE * counts[link.me]))
    for party in link.others:
        link.send(party, "handles", b"".join(sorted(mine)))
    shared = set(mine)
    for party in link.others:
        shared &= set(_cut(link.receive(party, "handles", SIZE * counts[party])))
    place = dict(zip(mine, order, strict=True))
    return np.array([place[handle] for handle in sorted(shared)], dtype=np.intp)


def _counts(link: Link, mine: int) -> list[int]:
    for party in link.others:
        link.send_words(party, "how many", np.array([mine], dtype=np.uint32))
    found = [
        mine if party == link.me else int(link.receive_words(party, "how many", 1, np.uint32)[0])
        for party in range(link.parties)
    ]
    if max(found) > MOST:
        raise PartyError(f"more than {MOST:,} identifiers")
    return found


def _cut(raw: bytes) -> list[bytes]:
    return [raw[at : at + SIZE] for at in range(0, len(raw), SIZE)]
