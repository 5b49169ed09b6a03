"""Computing on secrets with two parties: the same verbs as with three, by garbled circuits and transfers.

A number is the sum of what the two hold, modulo the size of its type; a bit is the XOR. Sums are local.
Signs, ANDs and whether any bit is set come out of a garbled circuit whose garbler (the first party) puts in
chance over the result, so that each holds a bit of chance. A product is made of transfers bit by bit (Gilboa,
"Two party RSA key generation", CRYPTO 1999). A table is looked up at a secret place by one transfer out of as
many as it has entries: the first party turns it by its summand and covers it with chance, the second takes
the entry at its own summand.

What is opened is a sum or an XOR of both parts. Of a sum each could take off its own part: with two parties
whoever opens a sum shows the summands. Bits are covered by fresh chance.

Trust: two parties that follow the protocol.
Leaks: what is opened, and the lengths of vectors. Nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.errors import InternalError, UnsupportedError
from privet.parties.primitives.circuits import any_set, lanes_of, sign_of_sum
from privet.parties.primitives.garbling import Circuit, Evaluating, Garbling, Machine
from privet.parties.primitives.oblivious import Bits, Labels, hashed
from privet.parties.primitives.randomness import fresh
from privet.parties.primitives.replicated import Shared
from privet.parties.transport import Link, Words

WORD = 64  # bits of a number that is multiplied
AT_ONCE = 1 << 14  # numbers of one circuit; more are done in turns, or their labels would fill the memory


class Two:
    """One of the two."""

    def __init__(self, link: Link) -> None:
        if link.parties != 2:
            raise UnsupportedError("this is a protocol of two parties")
        self.link, self.me = link, link.me
        self._garbling = Garbling(link, 1) if link.me == 0 else None
        self._evaluating = None if link.me == 0 else Evaluating(link, 0)

    # In and out.

    def feed(self, mine: Words) -> Shared:
        """The sum of what both hand in: each keeps its own."""
        return _alone(mine.copy())

    def open(self, secret: Shared, *, bits: bool = False) -> Words:
        """The secret itself, for both; by XOR where it is `bits`."""
        other = 1 - self.me
        self.link.send_words(other, "open", secret.here)
        theirs = self.link.receive_words(other, "open", len(secret), secret.here.dtype.type)
        return secret.here ^ theirs if bits else secret.here + theirs

    def tell(self, opened: Words) -> None:
        """There is nobody else to hear it."""

    def known(self, value: Words) -> Shared:
        """What everybody knows, as a secret; by + and by XOR alike."""
        return _alone(value if self.me == 0 else np.zeros_like(value))

    # Bits.

    def flipped(self, bits: Shared) -> Shared:
        """0 for 1 and 1 for 0, in entries that are a single bit."""
        return bits ^ self.known(np.ones_like(bits.here))

    def both(self, a: Shared, b: Shared) -> Shared:
        """AND, bit by bit, of entries that are a single bit."""
        n = len(a)

        def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
            x = machine.xor(ours[:n], yours[:n])
            y = machine.xor(ours[n : 2 * n], yours[n : 2 * n])
            return machine.xor(machine.both(x, y), ours[2 * n :])

        return self._bits(circuit, np.concatenate([a.here, b.here]) == 1, n, a.here.dtype)

    def negative(self, numbers: Shared) -> Shared:
        """For each number a bit, shared by XOR: is its sign bit set?"""
        parts = [
            self._negative(numbers.here[at : at + AT_ONCE]) for at in range(0, len(numbers), AT_ONCE)
        ] or [numbers.here]
        return _alone(np.concatenate(parts))

    def _negative(self, mine: Words) -> Words:
        lanes, wide = len(mine), mine.dtype.itemsize * 8
        room = lanes * wide

        def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
            return machine.xor(sign_of_sum(machine, ours[:room], yours[:room], lanes=lanes), ours[room:])

        return self._bits(circuit, lanes_of(mine, wide), lanes, mine.dtype).here

    def any(self, bits: Shared) -> Shared:
        """One bit: is any of them set?"""
        n = len(bits)
        if not n:
            return self.known(np.zeros(1, dtype=np.uint64))

        def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
            return machine.xor(any_set(machine, machine.xor(ours[:n], yours[:n])), ours[n:])

        return self._bits(circuit, bits.here == 1, 1, np.dtype(np.uint64))

    def any_of_rows(self, bits: Shared, rows: int) -> Shared:
        """One bit for each row of as many bits: is any of them set?"""
        n, wide = len(bits), len(bits) // rows

        def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
            left = machine.xor(ours[:n], yours[:n])  # the first bits of all rows, then the second ones
            found = left[:rows]
            for at in range(1, wide):
                one = left[at * rows : (at + 1) * rows]
                found = machine.xor(machine.xor(found, one), machine.both(found, one))
            return machine.xor(found, ours[n:])

        mine = np.ascontiguousarray(bits.here.reshape(rows, wide).T).reshape(-1) == 1
        return self._bits(circuit, mine, rows, np.dtype(np.uint64))

    def _bits(self, circuit: Circuit, mine: Bits, count: int, dtype: Any) -> Shared:
        """A circuit's bits, shared: the garbler's are the chance that it put in after its own."""
        if self._garbling is not None:
            chance = fresh(count, np.uint8) & 1 == 1
            self._garbling.run(circuit, np.concatenate([mine, chance]), len(mine), learn=False)
            return _alone(chance.astype(dtype))
        if self._evaluating is None:
            raise InternalError("one garbles, the other evaluates")
        found = self._evaluating.run(circuit, mine, len(mine) + count, tell=False)
        return _alone(found.astype(dtype))

    # Numbers.

    def product(self, a: Shared, b: Shared) -> Shared:
        """Entry by entry, of numbers of 64 bits: the own parts at home, the two mixed terms by transfers."""
        if a.here.dtype != np.uint64:
            raise InternalError("numbers of 64 bits are multiplied")
        n = len(a)
        if self._garbling is not None:
            factors = np.concatenate([a.here, b.here])
            mixed = self._offering(factors)
        else:
            mixed = self._choosing(np.concatenate([b.here, a.here]))
        return _alone(a.here * b.here + mixed[:n] + mixed[n:])

    def _offering(self, factors: Words) -> Words:
        """Summands of the products of these with the other's numbers."""
        if self._garbling is None:
            raise InternalError("the first party offers")
        zero, one = self._garbling.sender.keys(len(factors) * WORD)
        r, cover = zero[:, 0].reshape(-1, WORD), one[:, 0].reshape(-1, WORD)
        raised = factors[:, None] << np.arange(WORD, dtype=np.uint64)
        self.link.send_words(1, "product", (r + raised - cover).reshape(-1))
        found: Words = np.negative(r.sum(axis=1, dtype=np.uint64))
        return found

    def _choosing(self, mine: Words) -> Words:
        if self._evaluating is None:
            raise InternalError("the second party chooses")
        digits = ((mine[:, None] >> np.arange(WORD, dtype=np.uint64)) & np.uint64(1)) == 1
        keys = self._evaluating.receiver.keys(digits.reshape(-1))[:, 0].reshape(-1, WORD)
        told = self.link.receive_words(0, "product", digits.size, np.uint64).reshape(-1, WORD)
        found: Words = np.where(digits, keys + told, keys).sum(axis=1, dtype=np.uint64)
        return found

    # Tables.

    def looked_up(self, places: Shared, table: Words) -> Shared:
        """The entries of a public table at secret places; its length is a power of two."""
        room = len(table)
        if room & (room - 1) or room < 4:
            raise InternalError("a table of secret places has a power of two of entries, four at least")
        last, bits = np.uint64(room - 1), room.bit_length() - 1
        at = places.here.astype(np.uint64) & last
        if self._garbling is not None:
            cover = fresh(len(at), np.uint64)
            zero, one = (k.reshape(len(at), bits, 2) for k in self._garbling.sender.keys(len(at) * bits))
            every = np.arange(room, dtype=np.uint64)
            for number, place in enumerate(at):
                turned = table[((every + place) & last).astype(np.intp)] + cover[number]
                self.link.send_words(1, "table", turned + _pads(zero[number], one[number], every))
            return _alone(np.negative(cover))
        if self._evaluating is None:
            raise InternalError("the second party chooses")
        digits = ((at[:, None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)) == 1
        keys = self._evaluating.receiver.keys(digits.reshape(-1)).reshape(len(at), bits, 2)
        found = np.zeros_like(at)
        for number in range(len(at)):
            one_place = at[number : number + 1]
            told = self.link.receive_words(0, "table", room, np.uint64)[one_place.astype(np.intp)]
            found[number : number + 1] = told - _pads(keys[number], keys[number], one_place)
        return _alone(found)


def _pads(zero: Labels, one: Labels, places: Words) -> Words:
    """What covers the entries at these places: chance to whoever lacks a key of one of the place's bits.

    Bits are taken in two halves: the keys of a half are combined once for all places that share it. `zero`
    and `one`: by bit the key of either; whoever has only those of one place gives them as both.
    """
    middle = len(zero) // 2
    found = np.zeros(len(places), dtype=np.uint64)
    for number, (first, end) in enumerate(((0, middle), (middle, len(zero)))):
        wanted = (places >> np.uint64(first)) & np.uint64((1 << (end - first)) - 1)
        values, which = np.unique(wanted, return_inverse=True)
        combined = np.zeros((len(values), 2), dtype=np.uint64)
        for at in range(first, end):
            set_ = ((values >> np.uint64(at - first)) & np.uint64(1)) == 1
            key = np.where(set_[:, None], one[at], zero[at])
            combined ^= hashed(key, values * np.uint64(WORD) + np.uint64(at))
        found ^= hashed(combined[which.reshape(-1)], places * np.uint64(2) + np.uint64(number))[:, 0]
    return found


def _alone(part: Words) -> Shared:
    """One part of a secret: with two parties there is no second."""
    return Shared(part, np.zeros_like(part))
