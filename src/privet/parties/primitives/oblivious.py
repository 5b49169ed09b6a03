"""Oblivious transfer: the receiver gets one of two messages, the sender does not learn which one.

A few transfers are made with public keys (Naor and Pinkas, "Efficient oblivious transfer protocols", SODA
2001, in the group ffdhe3072 of RFC 7919); they are extended to as many as are needed with a block cipher
only (Ishai, Kilian, Nissim and Petrank, "Extending oblivious transfers efficiently", CRYPTO 2003). One of
many, and several of many, are made of transfers of keys.

Trust: two parties that follow the protocol. The receiver's choice is hidden in the first transfers
unconditionally; the rest is as secure as AES and discrete logarithms in the group.
Leaks: how many messages there are, and their lengths.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import MissingExtraError, PartyError, UnsupportedError
from privet.parties.primitives.randomness import Stream
from privet.parties.transport import Link

try:
    import gmpy2
    from gmpy2 import mpz
except ImportError:  # pragma: no cover - where the extra is not installed
    raise MissingExtraError("oblivious transfer", "parties") from None
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

Labels: TypeAlias = NDArray[np.uint64]  # 128 bits each: an array of pairs
Bits: TypeAlias = NDArray[np.bool_]

KAPPA = 128  # transfers that are made with public keys
SIZE = 384  # bytes of a number of the group
EXPONENT = 320  # bits; RFC 7919 asks for 275 at least
DIGIT = 6  # bits of an exponent that are looked up at once: the fewest multiplications for KAPPA powers
FIXED = bytes(range(16))  # the key of a permutation that everybody knows


@cache
def group() -> tuple[Any, Any]:
    """The prime of ffdhe3072 and its generator, by the formula of RFC 7919: nobody chose it."""
    with gmpy2.context(precision=3200):
        e = gmpy2.exp(1)
        middle = mpz(gmpy2.floor(gmpy2.mul_2exp(e, 2942)))
    prime = mpz(2) ** 3072 - mpz(2) ** 3008 + (middle + 2625351) * mpz(2) ** 64 - 1
    return prime, mpz(2)


class Powers:
    """Many powers of one number: each is a product of looked-up ones, a quarter of the work of its own."""

    def __init__(self, base: Any) -> None:
        self._prime, _ = group()
        self._rows = []
        for _ in range(0, EXPONENT, DIGIT):
            row = [mpz(1)]
            for _ in range(1 << DIGIT):
                row.append(row[-1] * base % self._prime)
            base = row.pop()
            self._rows.append(row)

    def to(self, exponent: int) -> Any:
        found = mpz(1)
        for row in self._rows:
            found = found * row[exponent & ((1 << DIGIT) - 1)] % self._prime
            exponent >>= DIGIT
        return found


@cache
def generated() -> Powers:
    """Powers of the generator: the same for every session."""
    return Powers(group()[1])


def permuted(blocks: Labels) -> Labels:
    """AES under a fixed key, over all blocks at once."""
    engine = Cipher(AES(FIXED), ECB()).encryptor()  # noqa: S305 - a permutation, not a mode to hide data in
    raw = engine.update(np.ascontiguousarray(blocks).tobytes())
    return np.frombuffer(raw, dtype=np.uint64).reshape(blocks.shape)


def hashed(labels: Labels, tweak: NDArray[np.uint64]) -> Labels:
    """A hash that stays chance for labels with a common secret difference.

    TMMO of Guo, Katz, Wang and Yu, "Efficient and secure multiparty computation from fixed-key block
    ciphers", S&P 2020: p(p(x) + i) + p(x).
    """
    inner = permuted(labels)
    turned = inner.copy()
    turned[..., 0] ^= tweak
    return permuted(turned) ^ inner


def _number(raw: bytes, whose: str) -> Any:
    prime, _ = group()
    found = mpz(int.from_bytes(raw, "little"))
    # The group is the squares. A sender whose `common` were none would read every choice off the peer's keys:
    # of those that were made first all are squares, of the others none.
    if not 1 < found < prime - 1 or gmpy2.legendre(found, prime) != 1:
        raise PartyError(f"{whose}: sent a number that is not in the group")
    return found


def _raw(number: Any) -> bytes:
    return int(number).to_bytes(SIZE, "little")


def _key(number: Any, at: int, choice: int) -> bytes:
    return hashlib.sha256(b"privet-ot" + _raw(number) + at.to_bytes(4, "little") + bytes([choice])).digest()


def base_send(link: Link, other: int, count: int) -> list[tuple[bytes, bytes]]:
    """So many pairs of keys, of which the other gets one each."""
    prime, g = group()
    common = gmpy2.powmod(g, mpz(secrets.randbits(EXPONENT)), prime)
    r = mpz(secrets.randbits(EXPONENT))
    link.send(other, "ot common", _raw(common) + _raw(gmpy2.powmod(g, r, prime)))
    raw = link.receive(other, "ot keys", count * SIZE)
    found = []
    common_r = gmpy2.powmod(common, r, prime)
    for at in range(count):
        theirs = _number(raw[at * SIZE : (at + 1) * SIZE], link.name(other))
        first = gmpy2.powmod(theirs, r, prime)
        second = common_r * gmpy2.invert(first, prime) % prime
        found.append((_key(first, at, 0), _key(second, at, 1)))
    return found


def base_receive(link: Link, other: int, choices: Bits) -> list[bytes]:
    """The key of each pair that was chosen."""
    prime, _ = group()
    raw = link.receive(other, "ot common", 2 * SIZE)
    common, g_r = (_number(raw[at : at + SIZE], link.name(other)) for at in (0, SIZE))
    secret = [secrets.randbits(EXPONENT) for _ in choices]
    mine = [generated().to(one) for one in secret]
    # The key of the other choice is common / mine: the sender cannot tell which of the two was made first.
    told = [
        common * gmpy2.invert(key, prime) % prime if c else key for key, c in zip(mine, choices, strict=True)
    ]
    link.send(other, "ot keys", b"".join(map(_raw, told)))
    powers = Powers(g_r)
    return [_key(powers.to(one), at, int(c)) for at, (one, c) in enumerate(zip(secret, choices, strict=True))]


class Sender:
    """As many transfers as needed: keys for pairs of messages."""

    def __init__(self, link: Link, other: int) -> None:
        self._link, self._other = link, other
        self._secret: Bits = np.frombuffer(secrets.token_bytes(KAPPA), dtype=np.uint8) % 2 == 1
        self._streams = [Stream(seed) for seed in base_receive(link, other, self._secret)]
        self._at = 0

    def keys(self, count: int) -> tuple[Labels, Labels]:
        """For each transfer the two keys, 128 bits each."""
        wide = (count + 7) // 8
        columns = np.stack([stream.draw(wide, np.uint8) for stream in self._streams])
        theirs = self._link.receive_words(self._other, "ot columns", KAPPA * wide, np.uint8).reshape(
            KAPPA, wide
        )
        columns ^= np.where(self._secret[:, None], theirs, 0).astype(np.uint8)
        rows = _turned(columns, count)
        tweak = np.arange(self._at, self._at + count, dtype=np.uint64)
        self._at += count
        return hashed(rows, tweak), hashed(rows ^ _packed_bits(self._secret), tweak)

    def apart(self, count: int, offset: Labels) -> Labels:
        """The first of pairs of labels that are this offset apart; of each pair the other gets one.

        The first label is the key itself, so that one message a pair is enough (correlated transfer: Asharov,
        Lindell, Schneider and Zohner, CCS 2013).
        """
        zero, one = self.keys(count)
        self._link.send_words(self._other, "ot offsets", (zero ^ one ^ offset).reshape(-1))
        return zero

    def send(self, first: Labels, second: Labels) -> None:
        """Messages of 128 bits; of each pair the other reads one."""
        zero, one = self.keys(len(first))
        self._link.send_words(
            self._other, "ot messages", np.concatenate([first ^ zero, second ^ one]).reshape(-1)
        )


class Receiver:
    """The other side of it."""

    def __init__(self, link: Link, other: int) -> None:
        self._link, self._other = link, other
        pairs = base_send(link, other, KAPPA)
        self._streams = [(Stream(zero), Stream(one)) for zero, one in pairs]
        self._at = 0

    def keys(self, choices: Bits) -> Labels:
        """For each transfer the key that was chosen."""
        count = len(choices)
        wide = (count + 7) // 8
        chosen = np.packbits(choices, bitorder="little")
        mine = np.stack([zero.draw(wide, np.uint8) for zero, _ in self._streams])
        told = mine ^ np.stack([one.draw(wide, np.uint8) for _, one in self._streams]) ^ chosen
        self._link.send_words(self._other, "ot columns", told.reshape(-1))
        tweak = np.arange(self._at, self._at + count, dtype=np.uint64)
        self._at += count
        return hashed(_turned(mine, count), tweak)

    def apart(self, choices: Bits, keys: Labels) -> Labels:
        """The labels that were chosen, of pairs that are an offset apart; `keys`: asked for before."""
        told = self._link.receive_words(self._other, "ot offsets", 2 * len(choices), np.uint64).reshape(-1, 2)
        found: Labels = keys ^ np.where(choices[:, None], told, np.uint64(0))
        return found

    def receive(self, choices: Bits) -> Labels:
        keys = self.keys(choices)
        count = len(choices)
        both = self._link.receive_words(self._other, "ot messages", 4 * count, np.uint64).reshape(2, count, 2)
        found: Labels = np.where(choices[:, None], both[1], both[0]) ^ keys
        return found


def send_some(sender: Sender, link: Link, other: int, messages: Sequence[bytes], times: int) -> None:
    """Messages of one length, of which the other reads so many; each is a choice of its own."""
    length, bits = len(messages[0]), _bits_for(len(messages))
    if any(len(message) != length for message in messages):
        raise UnsupportedError("messages that are chosen from have one length")
    for _ in range(times):
        zero, one = sender.keys(bits)
        covered = [_covered(message, at, zero, one) for at, message in enumerate(messages)]
        link.send(other, "ot chosen", b"".join(covered))


def receive_some(  # noqa: PLR0917 - who, what and out of how many
    receiver: Receiver, link: Link, other: int, choices: Sequence[int], count: int, length: int
) -> list[bytes]:
    """The messages of these numbers, out of `count` of `length` bytes."""
    bits, found = _bits_for(count), []
    for choice in choices:
        if not 0 <= choice < count:
            raise UnsupportedError("a choice is the number of a message")
        keys = receiver.keys(_digits(choice, bits))
        raw = link.receive(other, "ot chosen", count * length)
        found.append(_covered(raw[choice * length : (choice + 1) * length], choice, keys, keys))
    return found


def _covered(message: bytes, at: int, zero: Labels, one: Labels) -> bytes:
    """A message under the keys that its number's bits choose."""
    digits = _digits(at, len(zero))
    keys = np.where(digits[:, None], one, zero).tobytes()
    seed = hashlib.sha256(b"privet-ot-chosen" + at.to_bytes(8, "little") + keys).digest()
    pad = Stream(seed).draw(len(message), np.uint8)
    return (np.frombuffer(message, dtype=np.uint8) ^ pad).tobytes()


def _bits_for(count: int) -> int:
    return max(1, (count - 1).bit_length())


def _digits(number: int, bits: int) -> Bits:
    return np.array([number >> at & 1 for at in range(bits)], dtype=bool)


def _packed_bits(bits: Bits) -> Labels:
    return np.packbits(bits, bitorder="little").view(np.uint64)


def _turned(columns: NDArray[np.uint8], count: int) -> Labels:
    """From a line of bits for each of the 128 columns to a label for each row."""
    bits = np.unpackbits(columns, axis=1, count=count, bitorder="little")
    packed = np.ascontiguousarray(np.packbits(bits.T, axis=1, bitorder="little"))
    return packed.view(np.uint64).reshape(count, 2)
