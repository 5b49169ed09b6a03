"""Paillier encryption: sums under encryption, and many small counts in one ciphertext.

Paillier, "Public-key cryptosystems based on composite degree residuosity classes", Eurocrypt 1999, with
g = N + 1. Enc(a) * Enc(b) = Enc(a + b), Enc(a) ** k = Enc(k a), modulo N. Our own on gmpy2: `phe` is under
GPLv3 and lacks packing, the others are slow, young or drift apart (docs/explain/why-these-libraries.md).

A `Cipher` is what goes on being computed with; only `PublicKey.sealed`, which puts fresh chance over it,
makes the bytes that may be sent: what was made of a peer's ciphertexts would otherwise show how.

A key comes with a proof that N has no factor in common with (p - 1)(q - 1), of which one learns nothing else
(Goldberg, Reyzin, Sagga and Baldimtsi, "Efficient noninteractive certification of RSA moduli and beyond",
Asiacrypt 2019): of any other N the powers that are put over a ciphertext do not cover what it was made of.

Primes are drawn so that the factors of p - 1 are known to whoever drew them: p = 2 s r + 1, r a prime that is
24 bits shorter than p, s small. The chance over a number, which is an N-th power, is then put together from a
list of powers of one number. That rests on nothing new:

* Exponents are not short. They are drawn below p - 1, the order of the number in the list, so every N-th
  power is exactly as likely as any other: a ciphertext has the distribution of g^m r^N, and is secure where
  that is (N-th powers cannot be told from other numbers: decisional composite residuosity).
* p - 1 is not smooth: it has a prime factor of 1,000 bits and more, which keeps Pollard's p - 1 away, as FIPS
  186-5 asks of RSA primes (A.1.6, with shorter factors). p + 1 is like that of any prime. The two r are
  independent, so p - 1 and q - 1 have small factors in common only.
* What is given up is choice: of 1,024 bits one prime in about a thousand is of this form, and of those each
  is drawn as often as another, within a factor of two. Who factored such N would factor about one in a
  million of all N of that length: 20 bits are lost at most, and nobody knows how to gain any.

Trust: whoever holds the private key reads everything, so a key holder is sent only what is masked by the
other side. Secure as factoring N is hard: 3072 bits are 128 bits of security, 2048 are the least taken. Not
in constant time: whoever shares a processor with a party may learn from its caches what it encrypts.
Leaks: the number of ciphertexts.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from privet.errors import MissingExtraError, PartyError, UnsupportedError

try:
    import gmpy2
    from gmpy2 import mpz
except ImportError:  # pragma: no cover - where the extra is not installed
    raise MissingExtraError("encryption that adds", "parties") from None

USUAL, LEAST = 3072, 2048  # bits of N
SMALL = 6370  # no factor of N is smaller
SMALLER = 24  # bits by which the large factor of p - 1 is shorter than p
ROOTS = 11  # in a proof; another N passes with a chance below SMALL**-ROOTS, which is 2**-139


class Sizes:
    """The least size of a key. Tests may lower it for themselves, and nobody else does."""

    least: ClassVar[int] = LEAST

    @classmethod
    @contextmanager
    def for_tests(cls, bits: int) -> Iterator[None]:
        """Allow smaller keys inside a test: a small key is broken in seconds."""
        before, cls.least = cls.least, bits
        try:
            yield
        finally:
            cls.least = before


@dataclass(frozen=True)
class Cipher:
    """An encrypted number, to be computed with; `PublicKey.sealed` makes it fit to be sent."""

    value: Any = field(repr=False)
    key: PublicKey

    def __add__(self, other: Cipher | int) -> Cipher:
        key = self.key
        if isinstance(other, int):
            return Cipher(self.value * key.bare(other) % key.square, key)
        if other.key != key:
            raise UnsupportedError("numbers under different keys are not added")
        return Cipher(self.value * other.value % key.square, key)

    def __mul__(self, factor: int) -> Cipher:
        return Cipher(gmpy2.powmod(self.value, factor % int(self.key.n), self.key.square), self.key)


@dataclass(frozen=True)
class PublicKey:
    """N, and all that can be done without knowing its factors."""

    n: Any = field(repr=False)
    square: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.n.bit_length() < Sizes.least:
            raise UnsupportedError(f"a Paillier key has {Sizes.least} bits at least")
        if self.n % 2 == 0 or gmpy2.is_prime(self.n):
            raise PartyError("a Paillier key is a product of two odd primes")
        object.__setattr__(self, "square", self.n * self.n)

    def refuse_unproved(self, proof: bytes, context: bytes) -> None:
        """Refuse a key whose owner cannot take roots that exist of every number only under a fit one."""
        wide = self.wide
        roots = [mpz(int.from_bytes(proof[at * wide : (at + 1) * wide], "little")) for at in range(ROOTS)]
        fits = (
            0 < root < self.n and gmpy2.powmod(root, self.n, self.n) == asked
            for root, asked in zip(roots, self._challenge(context), strict=True)
        )
        if len(proof) != ROOTS * wide or gmpy2.gcd(self.n, gmpy2.primorial(SMALL)) != 1 or not all(fits):
            raise PartyError("a Paillier key is not proved to be one")

    def _challenge(self, context: bytes) -> list[Any]:
        """Numbers modulo N that nobody chooses."""
        raw = int(self.n).to_bytes(self.wide, "little")
        made = (
            hashlib.shake_256(b"privet-paillier-key" + bytes([at]) + context + raw).digest(self.wide + 16)
            for at in range(ROOTS)
        )
        return [mpz(int.from_bytes(one, "little")) % self.n for one in made]

    @property
    def wide(self) -> int:
        """Bytes of N."""
        return (int(self.n.bit_length()) + 7) // 8

    @property
    def length(self) -> int:
        """Bytes of a ciphertext."""
        return (int(self.square.bit_length()) + 7) // 8

    def bare(self, number: int) -> Any:
        """A number without any chance over it: for sums only, never to be sent."""
        return (1 + (number % self.n) * self.n) % self.square

    def encrypt(self, number: int) -> Cipher:
        return Cipher(self.bare(number) * self._chance() % self.square, self)

    def sealed(self, cipher: Cipher) -> bytes:
        """As it is sent: with fresh chance, so that it does not tell what it was made of."""
        return int(cipher.value * self._chance() % self.square).to_bytes(self.length, "little")

    def opened(self, sent: bytes) -> Cipher:
        """What a peer sent; refused where it cannot be a ciphertext."""
        value = mpz(int.from_bytes(sent, "little"))
        if not 0 < value < self.square or gmpy2.gcd(value, self.n) != 1:
            raise PartyError("a ciphertext is not one under this key")
        return Cipher(value, self)

    def total(self, ciphers: Iterable[Cipher]) -> Cipher:
        value = mpz(1)
        for cipher in ciphers:
            value = value * cipher.value % self.square
        return Cipher(value, self)

    def _chance(self) -> Any:
        while True:
            r = mpz(secrets.randbelow(int(self.n)))
            if r > 0 and gmpy2.gcd(r, self.n) == 1:
                return gmpy2.powmod(r, self.n, self.square)


class Roots:
    """Modulo the square of a prime, the numbers to the power of that prime: each as likely as any other.

    There are p - 1 of them, all powers of one, where the prime factors of p - 1 are known and so that one can
    be found. Its powers by every byte of an exponent are kept, so that one more is a product for each byte:
    eight times as fast as a power of its own.
    """

    def __init__(self, prime: Any, factors: Sequence[int]) -> None:
        self._order, self._square = int(prime) - 1, prime * prime
        base = gmpy2.powmod(_generator(prime, factors), prime, self._square)
        self._rows: list[list[Any]] = []
        for _ in range((self._order.bit_length() + 7) // 8):
            row = [mpz(1)]
            while len(row) < 256:
                row.append(row[-1] * base % self._square)
            self._rows.append(row)
            base = row[-1] * base % self._square

    def draw(self) -> Any:
        return self.to_power(secrets.randbelow(self._order))

    def to_power(self, exponent: int) -> Any:
        found = mpz(1)
        for row, digit in zip(self._rows, exponent.to_bytes(len(self._rows), "little"), strict=True):
            found = found * row[digit] % self._square
        return found


def _generator(prime: Any, factors: Sequence[int]) -> Any:
    """A number of which all others are powers, modulo a prime."""
    while True:
        found = mpz(2 + secrets.randbelow(int(prime) - 3))
        if all(gmpy2.powmod(found, (prime - 1) // factor, prime) != 1 for factor in factors):
            return found


class PrivateKey:
    """The factors of N; decrypts, by the remainders modulo each of them.

    `factors`: the prime factors of p - 1 and of q - 1, where they are known: then it encrypts faster.
    """

    def __init__(self, p: Any, q: Any, factors: tuple[Sequence[int], Sequence[int]] | None = None) -> None:
        self._factors = factors
        if p == q:
            raise UnsupportedError("the two primes of a key differ")
        self.public = PublicKey(p * q)
        self._p, self._q = p, q
        self._h_p, self._h_q = self._h(p), self._h(q)
        self._q_inverse = gmpy2.invert(q, p)
        self._of_square = gmpy2.invert(q * q, p * p)

    def __repr__(self) -> str:
        return "PrivateKey(secret)"

    @classmethod
    def fresh(cls, bits: int = USUAL) -> PrivateKey:
        if bits < Sizes.least or bits % 2:
            raise UnsupportedError(f"a Paillier key has {Sizes.least} bits at least, {USUAL} as usual")
        while True:
            (p, of_p), (q, of_q) = _prime(bits // 2), _prime(bits // 2)
            # Then N has no common factor with (p - 1)(q - 1), as decryption needs.
            if p != q and (p * q).bit_length() == bits:
                return cls(p, q, (of_p, of_q) if of_p and of_q else None)

    def proof(self, context: bytes) -> bytes:
        """That N is fit, for `PublicKey.refuse_unproved` in the same context: roots of numbers by chance."""
        p, q, public = self._p, self._q, self.public
        found = []
        for number in public._challenge(context):  # noqa: SLF001 - one of a pair
            of_p, of_q = (gmpy2.powmod(number, gmpy2.invert(public.n, prime - 1), prime) for prime in (p, q))
            found.append(of_q + q * ((of_p - of_q) * self._q_inverse % p))
        return b"".join(int(root).to_bytes(public.wide, "little") for root in found)

    def sent(self, numbers: Iterable[int]) -> bytes:
        """Numbers encrypted as they are sent, one after the other, each with chance of its own.

        Much faster than `PublicKey.encrypt`: whoever knows the factors draws modulo each by itself.
        """
        public = self.public
        return b"".join(
            int(public.bare(number) * self._chance() % public.square).to_bytes(public.length, "little")
            for number in numbers
        )

    def _chance(self) -> Any:
        """A number to the power of N, each as likely as any other.

        Modulo p squared those are the numbers to the power of p: q has no common factor with p - 1.
        """
        p, q = self._p, self._q
        if self._roots is not None:
            of_p, of_q = (roots.draw() for roots in self._roots)
        else:
            of_p, of_q = (
                gmpy2.powmod(mpz(1 + secrets.randbelow(int(prime) - 1)), prime, prime * prime)
                for prime in (p, q)
            )
        return of_q + q * q * ((of_p - of_q) * self._of_square % (p * p))

    @cached_property
    def _roots(self) -> tuple[Roots, Roots] | None:
        """Made with the first number that is encrypted."""
        if self._factors is None:
            return None
        return Roots(self._p, self._factors[0]), Roots(self._q, self._factors[1])

    def decrypt(self, cipher: Cipher) -> int:
        """The number, from 0 up to N."""
        if cipher.key != self.public:
            raise UnsupportedError("a number under another key cannot be read")
        p, q = self._p, self._q
        of_p = (gmpy2.powmod(cipher.value, p - 1, p * p) - 1) // p * self._h_p % p
        of_q = (gmpy2.powmod(cipher.value, q - 1, q * q) - 1) // q * self._h_q % q
        return int(of_q + q * ((of_p - of_q) * self._q_inverse % p))

    def _h(self, prime: Any) -> Any:
        n = self.public.n
        return gmpy2.invert((gmpy2.powmod(n + 1, prime - 1, prime * prime) - 1) // prime, prime)


def _prime(bits: int) -> tuple[Any, tuple[int, ...]]:
    """A prime by chance, and the prime factors of one less: a large one, drawn first, and small ones.

    Of a prime that is short, as tests have, the factors are not known.
    """
    high = 3 << (bits - 2)  # the two highest bits set: the product of two such has full length
    large = mpz(0)
    while bits >= 4 * SMALLER and not gmpy2.is_prime(large, 40):
        large = mpz(secrets.randbits(bits - SMALLER) | 1 << (bits - SMALLER - 1) | 1)
    while True:
        found = mpz(secrets.randbits(bits) | high | 1)
        if large:
            few = found // (2 * large)
            found = 2 * large * few + 1
        if found.bit_length() == bits and found >= high and gmpy2.is_prime(found, 40):
            return found, (*_factored(2 * int(few)), int(large)) if large else ()


def _factored(number: int) -> tuple[int, ...]:
    """The different prime factors of a small number.

    >>> _factored(720)
    (2, 3, 5)
    """
    found = []
    divisor = 2
    while number > 1:
        if divisor * divisor > number:
            divisor = number
        if number % divisor == 0:
            found.append(divisor)
            while number % divisor == 0:
                number //= divisor
        divisor += 1
    return tuple(found)


def signed(number: int, key: PublicKey) -> int:
    """Numbers above half of N stand for negative ones."""
    n = int(key.n)
    return number - n if number > n // 2 else number


@dataclass(frozen=True)
class Packing:
    """Many small numbers in one plaintext, each in a slot of its own.

    A slot holds the sum of so many numbers, and a mask that hides it: wide enough that no slot runs over
    into the next.
    """

    slot: int  # bits
    slots: int

    @classmethod
    def of(cls, key: PublicKey, most: int, hiding: int = 40) -> Packing:
        """Slots for sums up to `most`, and masks that are 2**hiding times as wide."""
        slot = most.bit_length() + hiding + 2
        return cls(slot, (int(key.n.bit_length()) - 2) // slot)

    @property
    def mask_bits(self) -> int:
        """How wide a mask may be that is added to a full slot."""
        return self.slot - 1

    def packed(self, numbers: Sequence[int]) -> int:
        """The numbers as one.

        >>> Packing(8, 3).packed([1, 2, 3])
        197121
        """
        if len(numbers) > self.slots or any(not 0 <= n < 1 << self.slot for n in numbers):
            raise UnsupportedError(f"{self.slots} numbers of {self.slot} bits fit into one ciphertext")
        return sum(number << (at * self.slot) for at, number in enumerate(numbers))

    def unpacked(self, number: int, count: int) -> list[int]:
        """The numbers again.

        >>> Packing(8, 3).unpacked(197121, 3)
        [1, 2, 3]
        """
        return [number >> (at * self.slot) & ((1 << self.slot) - 1) for at in range(count)]
