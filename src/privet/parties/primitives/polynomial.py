"""Oblivious polynomial evaluation: the receiver learns the sender's polynomial at one point of its own.

Naor and Pinkas 1999, with the receiver's Paillier key: it sends its point's powers encrypted, the sender puts
them together with its coefficients. Several polynomials travel together, each at a point of its own.

Trust: two parties that follow the protocol.
Leaks: the degree. The sender sees ciphertexts, the receiver one value of each polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from privet.parties.primitives.paillier import PrivateKey, PublicKey
from privet.parties.primitives.scalar import receive_ciphers, send_ciphers
from privet.parties.transport import Link


def evaluate(link: Link, other: int, key: PrivateKey, points: Sequence[int], degree: int) -> list[int]:
    """The receiver: the other's polynomials, each at its point, modulo N."""
    n = int(key.public.n)
    powers = (pow(at, power, n) for at in points for power in range(1, degree + 1))
    link.send(other, "powers", key.sent(powers))
    return [key.decrypt(one) for one in receive_ciphers(link, other, "evaluated", key.public, len(points))]


def let_evaluate(link: Link, other: int, key: PublicKey, polynomials: Sequence[Sequence[int]]) -> None:
    """The sender: by polynomial its coefficients, from the constant one up, modulo the receiver's N."""
    degree = len(polynomials[0]) - 1
    powers = receive_ciphers(link, other, "powers", key, len(polynomials) * degree)
    made = []
    for at, coefficients in enumerate(polynomials):
        found = key.encrypt(coefficients[0])
        for power, coefficient in zip(powers[at * degree : (at + 1) * degree], coefficients[1:], strict=True):
            found += power * coefficient
        made.append(found)
    send_ciphers(link, other, "evaluated", made)


def shifted(coefficients: Sequence[int], by: int, less: int, modulus: int) -> list[int]:
    """The coefficients of z -> V(by + z) - less, modulo N."""
    degree = len(coefficients)
    powers = [1]
    for _ in range(degree):
        powers.append(powers[-1] * by % modulus)
    found = [
        sum(coefficients[i] * comb(i, j) * powers[i - j] for i in range(j, degree)) % modulus
        for j in range(degree)
    ]
    found[0] = (found[0] - less) % modulus
    return found
