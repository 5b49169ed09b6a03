"""Computing on secrets with three parties: sums, products, comparisons, and nothing opened on the way.

Araki, Furukawa, Lindell, Nof and Ohara, "High-throughput semi-honest secure three-party computation with an
honest majority", CCS 2016; the change from sums to bits is that of ABY3 (Mohassel and Rindal, CCS 2018). A
number x is x0 + x1 + x2 modulo the size of its type; party i holds x_i and x_(i+1), so that any two know it
and each alone sees chance. Addition is local; a product, or a bitwise AND, costs each party one number.

Everything is done on whole vectors, so that a round of a search is a few messages, however many counts.

Where there are more parties than three, the first three of the contract compute and the others hand in their
numbers as shares. Why not MPyC: it would serve as well, at far more messages and time for each comparison.

Trust: of the three that compute no two collude. Others may, with one of the three at most.
Leaks: what is opened, and the lengths of vectors. Nothing else.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from privet.errors import InternalError, UnsupportedError
from privet.parties.primitives.randomness import Stream, agreed
from privet.parties.primitives.sharing import shared
from privet.parties.transport import Link, Words

COMPUTING = 3


@dataclass(frozen=True, eq=False)
class Shared:
    """A secret vector: two of its three shares, as one party holds them. By + or by XOR; its user knows."""

    here: Words
    there: Words

    def __len__(self) -> int:
        return len(self.here)

    def __add__(self, other: Shared) -> Shared:
        return Shared(self.here + other.here, self.there + other.there)

    def __sub__(self, other: Shared) -> Shared:
        return Shared(self.here - other.here, self.there - other.there)

    def __neg__(self) -> Shared:
        return Shared(np.negative(self.here), np.negative(self.there))

    def __xor__(self, other: Shared) -> Shared:
        return Shared(self.here ^ other.here, self.there ^ other.there)

    def __getitem__(self, some: Any) -> Shared:
        return Shared(self.here[some], self.there[some])

    def times(self, factor: int | Words) -> Shared:
        """Multiplied by what everybody knows."""
        by = np.asarray(factor).astype(self.here.dtype)
        return Shared(self.here * by, self.there * by)

    def summed(self, key: Any, room: int) -> Shared:
        """The sums of the entries that have the same key."""
        found = []
        for share in (self.here, self.there):
            made = np.zeros(room, dtype=share.dtype)
            np.add.at(made, key, share)  # wraps around, as it should
            found.append(made)
        return Shared(*found)

    def flat(self) -> Shared:
        return Shared(self.here.reshape(-1), self.there.reshape(-1))

    def shifted(self, bits: int) -> Shared:
        """To the left (or, below 0, to the right), as bits."""
        by = self.here.dtype.type(abs(bits))
        if bits < 0:
            return Shared(self.here >> by, self.there >> by)
        return Shared(self.here << by, self.there << by)


def along(parts: list[Shared]) -> Shared:
    return Shared(np.concatenate([p.here for p in parts]), np.concatenate([p.there for p in parts]))


class Computing(Protocol):
    """What a party that computes on secrets can do: one of three here, one of two in `paired`."""

    def feed(self, mine: Words) -> Shared:
        """The sum of what all parties hand in."""

    def open(self, secret: Shared, *, bits: bool = False) -> Words:
        """The secret itself; by XOR where it is `bits`."""

    def tell(self, opened: Words) -> None:
        """Whoever does not compute hears it."""

    def known(self, value: Words) -> Shared:
        """What everybody knows, as a secret."""

    def product(self, a: Shared, b: Shared) -> Shared:
        """Entry by entry."""

    def both(self, a: Shared, b: Shared) -> Shared:
        """AND of bits."""

    def flipped(self, bits: Shared) -> Shared:
        """0 for 1 and 1 for 0."""

    def negative(self, numbers: Shared) -> Shared:
        """For each number a bit: is its sign bit set?"""

    def any(self, bits: Shared) -> Shared:
        """One bit: is any of them set?"""

    def any_of_rows(self, bits: Shared, rows: int) -> Shared:
        """One bit for each row of as many bits: is any of them set?"""

    def looked_up(self, places: Shared, table: Words) -> Shared:
        """The entries of a public table at secret places."""


class Feeding:
    """A party beyond the third: it hands its numbers in, and hears what is opened for all."""

    def __init__(self, link: Link) -> None:
        self._link = link
        agreed(link, "three")

    def feed(self, mine: Words) -> None:
        for party, share in enumerate(shared(mine, COMPUTING)):
            self._link.send_words(party, "share", share)

    def heard(self, count: int, dtype: Any) -> Words:
        return self._link.receive_words(0, "opened", count, dtype)


class Three:
    """One of the three that compute."""

    def __init__(self, link: Link) -> None:
        if link.parties < COMPUTING:
            raise UnsupportedError("computing on shares needs three parties or more")
        if link.me >= COMPUTING:
            raise InternalError("the first three parties of a contract compute")
        self.link = link
        self.me = link.me
        self.after, self.before = (link.me + 1) % COMPUTING, (link.me - 1) % COMPUTING
        seeds = agreed(link, "three")
        self._seeds = {party: seeds[party] for party in (self.after, self.before)}
        self._mask_after = self.stream(self.after, "zero")
        self._mask_before = self.stream(self.before, "zero")
        self.shuffles = 0  # so many orders were drawn; the next is another

    def stream(self, party: int, purpose: str) -> Stream:
        """A stream that one other party draws alike."""
        return Stream(hashlib.sha256(self._seeds[party] + purpose.encode()).digest())

    # In and out.

    def feed(self, mine: Words) -> Shared:
        """The sum of what all parties hand in."""
        total = mine.copy()
        for party in range(COMPUTING, self.link.parties):
            total = total + self.link.receive_words(party, "share", len(mine), mine.dtype.type)
        return self.reshared(total)

    def open(self, secret: Shared, *, bits: bool = False) -> Words:
        """The secret itself, for all three; by XOR where it is `bits`."""
        self.link.send_words(self.after, "open", secret.here)
        last = self.link.receive_words(self.before, "open", len(secret), secret.here.dtype.type)
        if bits:
            return secret.here ^ secret.there ^ last
        return secret.here + secret.there + last

    def tell(self, opened: Words) -> None:
        """Whoever does not compute hears it from the first party."""
        if self.me == 0:
            for party in range(COMPUTING, self.link.parties):
                self.link.send_words(party, "opened", opened)

    def known(self, value: Words) -> Shared:
        """What everybody knows, as a secret; by + and by XOR alike."""
        nothing = np.zeros_like(value)
        return Shared(value if self.me == 0 else nothing, value if self.me == 2 else nothing)

    def reshared(self, part: Words) -> Shared:
        """From one summand at each party to two shares at each; fresh chance goes over it first."""
        count, dtype = len(part), part.dtype.type
        return self._passed(part + self._mask_after.draw(count, dtype) - self._mask_before.draw(count, dtype))

    def _reshared_bits(self, part: Words) -> Shared:
        count, dtype = len(part), part.dtype.type
        return self._passed(part ^ self._mask_after.draw(count, dtype) ^ self._mask_before.draw(count, dtype))

    def _passed(self, part: Words) -> Shared:
        self.link.send_words(self.before, "reshare", part)
        return Shared(part, self.link.receive_words(self.after, "reshare", len(part), part.dtype.type))

    # Arithmetic.

    def product(self, a: Shared, b: Shared) -> Shared:
        """Entry by entry."""
        return self.reshared(a.here * b.here + a.here * b.there + a.there * b.here)

    def both(self, a: Shared, b: Shared) -> Shared:
        """Bitwise AND of secrets that are shared by XOR."""
        return self._reshared_bits((a.here & b.here) ^ (a.here & b.there) ^ (a.there & b.here))

    def flipped(self, bits: Shared) -> Shared:
        """0 for 1 and 1 for 0, in entries that are a single bit."""
        return bits ^ self.known(np.ones_like(bits.here))

    # Comparison.

    def negative(self, numbers: Shared) -> Shared:
        """For each number a bit, shared by XOR: is its sign bit set?

        x0 + x1 is known to the first party, x2 to the others; the two are added as bits by a carry tree
        (Kogge and Stone 1973).
        """
        dtype = numbers.here.dtype.type
        width = numbers.here.dtype.itemsize * 8
        nothing = np.zeros_like(numbers.here)
        first = self._reshared_bits(numbers.here + numbers.there if self.me == 0 else nothing)
        second = Shared(numbers.here if self.me == 2 else nothing, numbers.there if self.me == 1 else nothing)
        sum_ = first ^ second
        carry, through = self.both(first, second), sum_
        reach = 1
        while reach < width:
            if 2 * reach < width:
                found = self.both(
                    along([through, through]), along([carry.shifted(reach), through.shifted(reach)])
                )
                carry, through = carry ^ found[: len(numbers)], found[len(numbers) :]
            else:
                carry ^= self.both(through, carry.shifted(reach))
            reach *= 2
        sign = (sum_ ^ carry.shifted(1)).shifted(1 - width)
        one = dtype(1)
        return Shared(sign.here & one, sign.there & one)

    def any(self, bits: Shared) -> Shared:
        """One bit: is any of them set?"""
        if not len(bits):
            return self.known(np.zeros(1, dtype=np.uint64))
        packed = Shared(_packed(bits.here), _packed(bits.there))
        while len(packed) > 1:
            half = (len(packed) + 1) // 2
            rest = packed[half:]
            grown = half - len(rest)
            empty = Shared(*(np.zeros(grown, dtype=np.uint64) for _ in range(2)))
            packed = self._either(packed[:half], along([rest, empty]))
        for by in (32, 16, 8, 4, 2, 1):
            packed = self._either(packed, packed.shifted(-by))
        one = np.uint64(1)
        return Shared(packed.here & one, packed.there & one)

    def any_of_rows(self, bits: Shared, rows: int) -> Shared:
        """One bit for each row of as many bits: is any of them set?"""
        wide = len(bits) // rows
        while wide > 1:
            half = wide // 2
            table = Shared(bits.here.reshape(rows, wide), bits.there.reshape(rows, wide))
            left, right, odd = table[:, :half], table[:, half : 2 * half], table[:, 2 * half :]
            found = self._either(left.flat(), right.flat())
            bits, wide = found, half
            if odd.here.size:
                pair = [
                    np.concatenate([f.reshape(rows, half), o], axis=1).reshape(-1)
                    for f, o in ((found.here, odd.here), (found.there, odd.there))
                ]
                bits, wide = Shared(*pair), half + 1
        return bits

    def _either(self, a: Shared, b: Shared) -> Shared:
        return a ^ b ^ self.both(a, b)

    # Tables.

    def looked_up(self, places: Shared, table: Words) -> Shared:
        """The entries of a public table at secret places; its length is a power of two.

        The third party turns the table by a secret number, the other two hold it in two summands and learn
        the place turned by that number, which is chance to them.
        """
        room, count = len(table), len(places)
        if room & (room - 1):
            raise InternalError("a table of secret places has a power of two of entries")
        last = np.uint64(room - 1)
        if self.me == 2:
            return self._turning(places, table, last)
        apart = self.link.receive_words(2, "turned", count, np.uint64)
        place = ((places.here + places.there).astype(np.uint64) + apart) & last
        if self.me == 0:
            half = self.stream_of_tables().draw(count * room, np.uint64)
        else:
            half = self.link.receive_words(2, "table", count * room, np.uint64)
        found = half.reshape(count, room)[np.arange(count), place.astype(np.intp)]
        return self.reshared(found)

    def _turning(self, places: Shared, table: Words, last: np.uint64) -> Shared:
        room, count = len(table), len(places)
        by = Stream(secrets.token_bytes(32)).below(room, count)
        # The first lacks x2, which is here; the second lacks x0, which is there.
        self.link.send_words(0, "turned", (places.here.astype(np.uint64) + by) & last)
        self.link.send_words(1, "turned", (places.there.astype(np.uint64) + by) & last)
        turned = table.astype(np.uint64)[(np.arange(room, dtype=np.uint64) - by[:, None]) & last]
        half = self.stream_of_tables().draw(count * room, np.uint64)
        self.link.send_words(1, "table", turned.reshape(-1) - half)
        return self.reshared(np.zeros(count, dtype=np.uint64))

    def stream_of_tables(self) -> Stream:
        """What the first and the third party draw alike, for tables."""
        if not hasattr(self, "_tables"):
            self._tables = self.stream(2 if self.me == 0 else 0, "tables")
        return self._tables


def _packed(bits: Words) -> Words:
    """Entries of one bit, 64 to a number."""
    room = -len(bits) % 64
    padded = np.concatenate([(bits & bits.dtype.type(1)).astype(np.uint8), np.zeros(room, dtype=np.uint8)])
    return np.packbits(padded, bitorder="little").view(np.uint64)
