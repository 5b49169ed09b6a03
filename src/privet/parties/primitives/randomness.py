"""Randomness: from the operating system, and streams that two parties draw alike from a common seed.

Fresh numbers come from `secrets`. A stream is ChaCha20 under a 256-bit seed (`cryptography`): whoever does
not hold the seed cannot tell it from chance. Two parties that hold the same seed and ask in the same order
draw the same numbers, which saves sending them.

Trust: a seed is as secret as the two who hold it.
Leaks: nothing.
"""

from __future__ import annotations

import secrets
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privet.errors import MissingExtraError, PartyError
from privet.parties.transport import Link

try:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
except ImportError:  # pragma: no cover - where the extra is not installed
    raise MissingExtraError("a protocol between organisations", "parties") from None

SEED = 32  # bytes

Number = TypeVar("Number", bound=np.unsignedinteger[Any])


def fresh(count: int, dtype: type[Number]) -> NDArray[Number]:
    """Numbers drawn uniformly from all that the type holds."""
    return np.frombuffer(secrets.token_bytes(count * np.dtype(dtype).itemsize), dtype=dtype).copy()


def below(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each bound, which is 1 or more, a number drawn uniformly from 0 up to it; by rejection."""
    wide = bounds.astype(np.uint64)
    last = np.uint64((1 << 64) - 1)
    kept = last - (last % wide + np.uint64(1)) % wide  # the largest number that no residue gains from
    found = fresh(len(wide), np.uint64)
    while len(bad := np.flatnonzero(found > kept)):
        found[bad] = fresh(len(bad), np.uint64)
    return (found % wide).astype(np.int64)


class Stream:
    """Numbers from a seed; the same for everybody who has it and asks in the same order."""

    def __init__(self, seed: bytes) -> None:
        self._key = Cipher(ChaCha20(seed, bytes(16)), mode=None).encryptor()

    def draw(self, count: int, dtype: type[Number]) -> NDArray[Number]:
        return np.frombuffer(self._key.update(bytes(count * np.dtype(dtype).itemsize)), dtype=dtype).copy()

    def below(self, bound: int, count: int) -> NDArray[np.uint64]:
        """Numbers drawn uniformly from 0 up to a bound, by rejection: no residue is likelier than another."""
        if not 0 < bound <= 1 << 63:
            raise ValueError("a bound is between 1 and 2**63")
        limit = (1 << 64) // bound * bound - 1  # the largest number that may be kept
        found = self.draw(count, np.uint64)
        while len(bad := np.flatnonzero(found > np.uint64(limit))):
            found[bad] = self.draw(len(bad), np.uint64)
        return found % np.uint64(bound)

    def permutation(self, count: int) -> NDArray[np.intp]:
        """One of all orders, each as likely as any other, but for chances of less than count**2 / 2**128."""
        high, low = self.draw(count, np.uint64), self.draw(count, np.uint64)
        return np.lexsort((low, high)).astype(np.intp)


def agreed(link: Link, purpose: str) -> dict[int, bytes]:
    """A seed with every other party, by X25519; `purpose` keeps the seeds of different uses apart.

    The network sees public keys only. Whoever carries the messages must authenticate them.
    """
    mine = X25519PrivateKey.generate()
    for party in link.others:
        link.send(party, "key", mine.public_key().public_bytes_raw())
    found = {}
    for party in link.others:
        theirs = X25519PublicKey.from_public_bytes(link.receive(party, "key", 32))
        try:
            common = mine.exchange(theirs)
        except ValueError:  # a point of small order: the key would be the same whoever asks
            raise PartyError(f"{link.name(party)}: sent a key that is not one of the group") from None
        names = "|".join(sorted((link.name(link.me), link.name(party))))
        info = b"|".join(
            (b"privet", purpose.encode(), link.session.id, link.session.contract, names.encode())
        )
        found[party] = HKDF(hashes.SHA256(), SEED, salt=None, info=info).derive(common)
    return found
