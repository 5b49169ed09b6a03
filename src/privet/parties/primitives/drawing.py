"""A draw by weight in one circuit: which candidate, and nothing of the weights, their sum or the draw.

Weights lie end to end; a number R, uniform below their sum Q, falls into one of them. (Mohammed 2012,
algorithms 7.2 and 7.5, with R < L: `R <= L` would give the first candidate one outcome too many and the last
one too few.) Nobody knows Q, so R is made inside: the random value protocol. The source takes it from Bunn
and Ostrovsky (CCS 2007), on encrypted shares. Here bits of chance that both parties put in are cut to as many
as Q has and tried against Q, several times at once; the first that is below Q is R, and the last try, where
it is not, is taken less Q. A try fails with a chance below 1/2, so with t tries every outcome's chance is
within 2**-(t - 1) of its value, by ratio. A product of Q and
a random number would be as good; of sums of 430 bits it has five times the gates.

`weighed`: each party has some candidates (a table split by columns). `of_shares`: the weight of every
candidate is the sum of two shares modulo N (a table split by people).

Trust: two parties that follow the protocol; the draw is one of chance while one of them draws its bits so.
Leaks: which candidate was drawn, to both; see `garbling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from privet.parties.primitives.circuits import above, added, bits_of, chosen, joined, zeros
from privet.parties.primitives.garbling import Circuit, Machine
from privet.parties.primitives.oblivious import Bits
from privet.parties.primitives.randomness import fresh

TRIES = 65
SLACK = Fraction(4, 1 << (TRIES - 1))  # of epsilon: ln((1 + d) / (1 - d)) is less, d = 2**-(tries - 1)


def chance_of(room: int) -> Bits:
    """What a party puts in beside its weights; `room`: the bits of the largest sum that could be."""
    found: Bits = (fresh(TRIES * room, np.uint8) & 1) == 1
    return found


def weighed(mine: int, theirs: int, room: int, tries: int = TRIES) -> Circuit:
    """The number of the drawn candidate; the garbler's come first.

    Each party puts in the running sums of its own weights, `room` bits each, in lanes; then its chance.
    """

    def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
        sums, begin = [], zeros(machine, room)
        if mine:
            sums.append(ours[: mine * room])
            begin = lane(sums[0], room, mine, mine - 1)
        if theirs:
            before = spread(begin, theirs)
            sums.append(added(machine, yours[: theirs * room], before, lanes=theirs))
        u = machine.xor(ours[mine * room :], yours[theirs * room :])
        return _fallen(machine, beside(sums, room), mine + theirs, room, u, tries)

    return circuit


def of_shares(count: int, modulus: int, room: int, tries: int = TRIES) -> Circuit:
    """The number of the drawn candidate; both put in shares of every weight modulo N, then their chance.

    Shares are in lanes, as many bits as N has; a weight, and the sum of all, has `room` bits at most.
    """
    wide = modulus.bit_length()
    size = count * wide

    def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
        total = added(machine, ours[:size], yours[:size], longer=True, lanes=count)
        limit = machine.known(np.repeat(bits_of(modulus - 1, wide + 1), count))
        over = above(machine, total, limit, lanes=count)
        # Less N where it went over: a bit of N that both know costs nothing.
        nothing = zeros(machine, count)
        taken = joined([over if bit else nothing for bit in bits_of(modulus, room).tolist()])
        run = less(machine, total[: room * count], taken, lanes=count)
        step = 1
        while step < count:  # running sums, in as many steps as the count has digits
            rows = in_lanes(run, room)
            shifted = np.concatenate([in_lanes(zeros(machine, room * step), room), rows[:, :-step]], axis=1)
            run = added(machine, run, flat(shifted), lanes=count)
            step *= 2
        return _fallen(machine, run, count, room, machine.xor(ours[size:], yours[size:]), tries)

    return circuit


def random_below(machine: Machine[Any], q: Any, u: Any, tries: int) -> Any:
    """For u of chance a number below q; `u`: as many bits as q has for each try, in lanes."""
    room = len(q)
    seen, cut = zeros(machine, 1), []
    for at in range(room - 1, -1, -1):  # every place from the highest bit of q on
        bit = q[at : at + 1]
        seen = machine.xor(machine.xor(seen, bit), machine.both(seen, bit))
        cut.append(seen)
    mask = joined(cut[::-1])
    short = machine.both(spread(mask, tries), u)
    below = above(machine, spread(q, tries), short, lanes=tries)
    last = lane(short, room, tries, tries - 1)
    found = chosen(machine, below[tries - 1 :], last, less(machine, last, q))
    for at in range(tries - 2, -1, -1):
        found = chosen(machine, below[at : at + 1], lane(short, room, tries, at), found)
    return found


def less(machine: Machine[Any], a: Any, b: Any, *, lanes: int = 1) -> Any:
    """A - b in as many bits as a has, which is not below 0 or is taken modulo two to their number."""
    borrow, found = zeros(machine, lanes), []
    for at in range(0, len(a), lanes):
        x, y = a[at : at + lanes], b[at : at + lanes]
        either = machine.xor(x, borrow)
        found.append(machine.xor(either, y))
        # x < y + borrow: the borrow where x differs from it, else y
        borrow = machine.xor(y, machine.both(either, machine.xor(y, borrow)))
    return joined(found)


def first_set(machine: Machine[Any], rising: Any) -> Any:
    """The number of the first bit that is set, where all after it are and the last one is: no gate at all."""
    count = len(rising)
    wide = max(1, (count - 1).bit_length())
    first = machine.xor(rising, joined([zeros(machine, 1), rising[:-1]]))
    found = []
    for digit in range(wide):
        bit = zeros(machine, 1)
        for at in range(count):
            if at >> digit & 1:
                bit = machine.xor(bit, first[at : at + 1])
        found.append(bit)
    return joined(found)


def _fallen(  # noqa: PLR0917 - the running sums, and what is drawn with
    machine: Machine[Any], sums: Any, count: int, room: int, u: Any, tries: int
) -> Any:
    """In which of the weights the draw falls."""
    drawn = random_below(machine, lane(sums, room, count, count - 1), u, tries)
    return first_set(machine, above(machine, sums, spread(drawn, count), lanes=count))


# Lanes: the lowest bits of all numbers stand first, then the next.


def wide_lanes(numbers: Sequence[int], wide: int) -> Bits:
    """Numbers of any size as bits in lanes; modulo two to `wide`."""
    if not numbers:
        return np.zeros(0, dtype=bool)
    size = (wide + 7) // 8
    raw = b"".join((number % (1 << wide)).to_bytes(size, "little") for number in numbers)
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(len(numbers), size)
    found: Bits = np.unpackbits(rows, axis=1, count=wide, bitorder="little").T.reshape(-1) == 1
    return found


def wide_numbers(bits: Bits, wide: int) -> list[int]:
    """The numbers again."""
    rows = np.packbits(bits.reshape(wide, -1).T, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def in_lanes(wires: Any, room: int) -> Any:
    """By bit and lane."""
    return wires.reshape(room, -1, *wires.shape[1:])


def flat(rows: Any) -> Any:
    return np.ascontiguousarray(rows).reshape(-1, *rows.shape[2:])


def lane(wires: Any, room: int, lanes: int, at: int) -> Any:
    """One number of several."""
    return flat(wires.reshape(room, lanes, *wires.shape[1:])[:, at : at + 1])


def spread(wires: Any, lanes: int) -> Any:
    """One number as often as there are lanes."""
    return np.repeat(wires, lanes, axis=0)


def beside(groups: Sequence[Any], room: int) -> Any:
    """Lanes of several groups as one."""
    return flat(np.concatenate([in_lanes(group, room) for group in groups], axis=1))
