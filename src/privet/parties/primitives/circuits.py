"""Circuits: sums, comparison, maximum and argmax; `drawing` and `noisymax` have those that choose by chance.

Numbers are vectors of bits, the lowest first. An addition and a comparison cost one AND for each bit
(Kolesnikov, Sadeghi and Schneider 2009).

Trust, Leaks: of a circuit nothing; see `garbling`, which runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.parties.primitives.garbling import Circuit, Machine
from privet.parties.primitives.oblivious import Bits


def bits_of(number: int, wide: int) -> Bits:
    """A number as bits, the lowest first; modulo two to their number."""
    return np.array([number >> at & 1 for at in range(wide)], dtype=bool)


def number_of(bits: Bits) -> int:
    return sum(1 << at for at, bit in enumerate(bits.tolist()) if bit)


def joined(parts: Sequence[Any]) -> Any:
    return np.concatenate(list(parts))


def zeros(machine: Machine[Any], count: int) -> Any:
    return machine.known(np.zeros(count, dtype=bool))


def added(machine: Machine[Any], a: Any, b: Any, *, longer: bool = False, lanes: int = 1) -> Any:
    """The sum in as many bits as a has; `longer`: and one for the carry.

    With `lanes` so many numbers are added at once: the lowest bits of all stand first, then the next.
    """
    carry, found = zeros(machine, lanes), []
    for at in range(0, len(a), lanes):
        x, y = a[at : at + lanes], b[at : at + lanes]
        with_carry = machine.xor(x, carry)
        found.append(machine.xor(with_carry, y))
        carry = machine.xor(carry, machine.both(with_carry, machine.xor(y, carry)))
    return joined([*found, carry] if longer else found)


def sign_of_sum(machine: Machine[Any], a: Any, b: Any, *, lanes: int = 1) -> Any:
    """The highest bit of the sum in as many bits as a has, for each lane: one AND for each bit below it."""
    carry = zeros(machine, lanes)
    for at in range(0, len(a) - lanes, lanes):
        x, y = a[at : at + lanes], b[at : at + lanes]
        carry = machine.xor(carry, machine.both(machine.xor(x, carry), machine.xor(y, carry)))
    return machine.xor(machine.xor(a[-lanes:], b[-lanes:]), carry)


def above(machine: Machine[Any], a: Any, b: Any, *, lanes: int = 1) -> Any:
    """One bit, or one for each lane: is a > b?"""
    found = zeros(machine, lanes)
    for at in range(0, len(a), lanes):
        x, y = a[at : at + lanes], b[at : at + lanes]
        # x + (x + c)(y + c): carries c where the bits agree, x where they differ
        found = machine.xor(x, machine.both(machine.xor(x, found), machine.xor(y, found)))
    return found


def chosen(machine: Machine[Any], bit: Any, a: Any, b: Any) -> Any:
    """A where the bit is set, else b."""
    return machine.xor(b, machine.both(bit, machine.xor(a, b)))


def maximum(machine: Machine[Any], a: Any, b: Any) -> Any:
    return chosen(machine, above(machine, a, b), a, b)


def argmax(machine: Machine[Any], numbers: Sequence[Any]) -> Any:
    """The number of the largest, as bits; of equal ones the first."""
    wide = max(1, (len(numbers) - 1).bit_length())
    best, at = numbers[0], machine.known(bits_of(0, wide))
    for number, one in enumerate(numbers[1:], start=1):
        more = above(machine, one, best)
        best = chosen(machine, more, one, best)
        at = chosen(machine, more, machine.known(bits_of(number, wide)), at)
    return at


def any_set(machine: Machine[Any], bits: Any) -> Any:
    """One bit: is any of them set?"""
    while len(bits) > 1:
        half = len(bits) // 2
        left, right, odd = bits[:half], bits[half : 2 * half], bits[2 * half :]
        either = machine.xor(machine.xor(left, right), machine.both(left, right))
        bits = joined([either, odd])
    return bits


def equal(machine: Machine[Any], ours: Any, yours: Any) -> Any:
    """One bit: are the two the same, bit by bit?"""
    return machine.flip(any_set(machine, machine.xor(ours, yours)))


def any_sum_above(lanes: int, wide: int) -> Circuit:
    """Is any sum of the two parties' numbers (modulo two to `wide`) not below 0?

    Both put in `lanes` numbers; whoever knows the limit of a sum takes it, and one more, off its own number,
    so that a sum above its limit has no sign. The evaluator puts in one more bit, which is set where it found
    something else wrong: the answer does not tell which it was.
    """

    def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
        if not lanes:
            return yours[-1:]
        over = machine.flip(sign_of_sum(machine, ours, yours[: lanes * wide], lanes=lanes))
        return any_set(machine, joined([over, yours[-1:]]))

    return circuit


def sums_reach(lanes: int, wide: int, least: int) -> Circuit:
    """For each sum of the two parties' numbers (modulo two to `wide`): is it at least so much?"""

    def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
        limit = machine.known(lanes_of([least - 1] * lanes, wide))
        return above(machine, added(machine, ours, yours, lanes=lanes), limit, lanes=lanes)

    return circuit


def lanes_of(numbers: Sequence[int] | NDArray[Any], wide: int) -> Bits:
    """Numbers as bits for lanes: the lowest bits of all, then the next; modulo two to `wide`."""
    values = np.asarray(numbers).astype(np.uint64)
    shifted = values[None, :] >> np.arange(wide, dtype=np.uint64)[:, None]
    found: Bits = ((shifted & np.uint64(1)) == 1).reshape(-1)
    return found


def compared(wide: int) -> Circuit:
    """Is the garbler's number above the evaluator's?"""

    def circuit(machine: Machine[Any], mine: Any, theirs: Any) -> Any:
        return above(machine, mine[:wide], theirs[:wide])

    return circuit


def largest_of_two(wide: int) -> Circuit:
    """Which party's number is larger: one bit, set where the evaluator's is; of equal ones the garbler's."""

    def circuit(machine: Machine[Any], mine: Any, theirs: Any) -> Any:
        return above(machine, theirs[:wide], mine[:wide])

    return circuit
