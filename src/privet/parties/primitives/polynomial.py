"""Oblivious polynomial evaluation: the receiver learns the sender's polynomial at one point of its own.

Naor and Pinkas 1999, with the receiver's Paillier key: it sends its point's powers encrypted, the sender puts
them together with its coefficients. And the integer weights that stand for exponentials (Mohammed 2012,
section 7.5): w! 10**(s w) times a Taylor polynomial, with whole coefficients only.

Trust: two parties that follow the protocol.
Leaks: the degree. The sender sees ciphertexts, the receiver one value.

From Python only: a building block that no joint release takes yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial

from privet.errors import UnsupportedError
from privet.parties.primitives.paillier import PrivateKey
from privet.parties.primitives.scalar import receive_ciphers, receive_key, send_ciphers, send_key
from privet.parties.transport import Link


def evaluate(link: Link, other: int, key: PrivateKey, at: int, degree: int) -> int:
    """The receiver: the other's polynomial at this point, modulo N."""
    public = key.public
    n = int(public.n)
    send_key(link, other, public)
    link.send(other, "powers", public.sent(pow(at, power, n) for power in range(1, degree + 1)))
    (found,) = receive_ciphers(link, other, "evaluated", public, 1)
    return key.decrypt(found)


def let_evaluate(link: Link, other: int, coefficients: Sequence[int]) -> None:
    """The sender: coefficients from the constant one up, modulo the receiver's N."""
    key = receive_key(link, other)
    powers = receive_ciphers(link, other, "powers", key, len(coefficients) - 1)
    found = key.encrypt(coefficients[0])
    for power, coefficient in zip(powers, coefficients[1:], strict=True):
        found += power * coefficient
    send_ciphers(link, other, "evaluated", [found])


def truncated(c: Fraction, s: int) -> int:
    """C in s decimal places, cut off and never rounded up: rounding up would spend more than was agreed.

    >>> truncated(Fraction(34657, 100000), 4)
    3465
    """
    found = int(c.numerator * 10**s // c.denominator)
    if found < 1 or Fraction(found, 10**s) < c * Fraction(99, 100):
        raise UnsupportedError("s: so few places would waste more than one part in a hundred; take more")
    return found


def weights(c: int, s: int, w: int) -> list[int]:
    """The coefficients of V(u) = sum over i of w!/i! 10**(s(w-i)) c**i u**i.

    >>> sum(q * 10**i for i, q in enumerate(weights(5, 2, 4)))
    3956250000
    """
    return [factorial(w) // factorial(i) * 10 ** (s * (w - i)) * c**i for i in range(w + 1)]


def shifted(coefficients: Sequence[int], by: int, less: int, modulus: int) -> list[int]:
    """The coefficients of z -> V(by + z) - less, modulo N."""
    found = [
        sum(q * comb(i, j) * pow(by, i - j, modulus) for i, q in enumerate(coefficients) if i >= j) % modulus
        for j in range(len(coefficients))
    ]
    found[0] = (found[0] - less) % modulus
    return found
