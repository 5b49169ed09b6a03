"""Noisy maximum in one circuit: which candidate's score is the largest under the noise of both parties.

Each party puts in noise for every candidate, of which the other knows nothing. Scores are one party's own
(`loudest`), or made inside of counts that each party has some of (`loudest_majority`: the records in the
majority class of their child, added up). Of equal ones the first.

`masked_majority` shows the scores themselves, less a number of the garbler's that hides them, to the
evaluator alone: for weights that are made of shares (`polynomial`).

Trust: two parties that follow the protocol. Against the other party a score is protected by one's own noise
alone, against a reader by both.
Leaks: which candidate it is, to both; `masked_majority` a number within 2**-HIDING of one that tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.parties.primitives.circuits import above, added, bits_of, chosen, joined, lanes_of, zeros
from privet.parties.primitives.drawing import beside, flat, in_lanes, less
from privet.parties.primitives.garbling import Circuit, Machine
from privet.parties.primitives.oblivious import Bits

HIDING = 64  # bits by which a mask is wider than the score that it hides
EDGE = 1024  # noise beyond so many times its scale is cut off: it occurs with a chance below e**-1024


@dataclass(frozen=True)
class Shape:
    """What both parties know of counts that are put in: by candidate, child and class."""

    candidates: int
    fan: int  # children of the candidate that has most; the others' missing ones have no record
    classes: int
    bits: int  # of all records together

    def laid(self, counts: NDArray[np.int64]) -> Bits:
        """Counts as they are put in, from [candidate, child, class]."""
        return lanes_of(np.transpose(counts, (2, 1, 0)).reshape(-1), self.bits)

    @property
    def size(self) -> int:
        return self.candidates * self.fan * self.classes * self.bits


def room_for(scale: int, most: int) -> int:
    """Bits for a score up to `most` and two noises of this scale, each moved up by `EDGE` scales."""
    return (most + 4 * EDGE * scale).bit_length()


def covered(noise: NDArray[np.int64], scale: int) -> NDArray[np.int64]:
    """Noise moved up until it is not below 0, and cut off at both ends."""
    edge = EDGE * scale
    found: NDArray[np.int64] = np.clip(noise, -edge, edge) + edge
    return found


def loudest(count: int, room: int) -> Circuit:
    """Both put in a number for every candidate, in lanes: its own score with its noise, or noise alone."""

    def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
        return first_largest(machine, added(machine, ours, yours, lanes=count), count, room)

    return circuit


def loudest_majority(shape: Shape, room: int) -> Circuit:
    """Both put in their counts (`Shape.laid`), then a noise for every candidate, in lanes of `room` bits."""
    count, size = shape.candidates, shape.size

    def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
        score = majorities(machine, ours[:size], yours[:size], shape)
        score = joined([score, zeros(machine, (room - shape.bits) * count)])
        noise = added(machine, ours[size:], yours[size:], lanes=count)
        return first_largest(machine, added(machine, score, noise, lanes=count), count, room)

    return circuit


def masked_majority(shape: Shape) -> Circuit:
    """The scores less the garbler's masks of `mask_bits`, which it puts in after its counts, in lanes."""
    count, size, wide = shape.candidates, shape.size, mask_bits(shape) + 1

    def circuit(machine: Machine[Any], ours: Any, yours: Any) -> Any:
        score = majorities(machine, ours[:size], yours[:size], shape)
        score = joined([score, zeros(machine, (wide - shape.bits) * count)])
        mask = joined([ours[size:], zeros(machine, count)])
        return less(machine, score, mask, lanes=count)

    return circuit


def mask_bits(shape: Shape) -> int:
    return shape.bits + HIDING


def majorities(machine: Machine[Any], ours: Any, yours: Any, shape: Shape) -> Any:
    """By candidate, in lanes: of every child the count of its largest class, added up."""
    lanes, each = shape.candidates * shape.fan * shape.classes, shape.candidates * shape.fan
    total = in_lanes(added(machine, ours, yours, lanes=lanes), shape.bits)
    best = flat(total[:, :each])
    for at in range(1, shape.classes):
        other = flat(total[:, at * each : (at + 1) * each])
        best = taken(machine, above(machine, other, best, lanes=each), other, best)
    by_child = in_lanes(best, shape.bits)
    found = flat(by_child[:, : shape.candidates])
    for at in range(1, shape.fan):
        more = flat(by_child[:, at * shape.candidates : (at + 1) * shape.candidates])
        found = added(machine, found, more, lanes=shape.candidates)
    return found


def first_largest(machine: Machine[Any], numbers: Any, count: int, room: int) -> Any:
    """The number of the largest of numbers in lanes, by pairs: of equal ones the first."""
    wide = max(1, (count - 1).bit_length())
    index = machine.known(np.stack([bits_of(at, wide) for at in range(count)], axis=1).reshape(-1))
    while count > 1:
        rows, places = in_lanes(numbers, room), in_lanes(index, wide)
        pairs = count // 2
        left, right = flat(rows[:, : 2 * pairs : 2]), flat(rows[:, 1 : 2 * pairs : 2])
        more = above(machine, right, left, lanes=pairs)
        best = taken(machine, more, right, left)
        at = taken(machine, more, flat(places[:, 1 : 2 * pairs : 2]), flat(places[:, : 2 * pairs : 2]))
        odd = count % 2
        numbers = beside([best, flat(rows[:, 2 * pairs :])], room) if odd else best
        index = beside([at, flat(places[:, 2 * pairs :])], wide) if odd else at
        count = pairs + odd
    return index


def taken(machine: Machine[Any], bits: Any, a: Any, b: Any) -> Any:
    """In every lane the number of a where its bit is set, else that of b."""
    return chosen(machine, joined([bits] * (len(a) // len(bits))), a, b)
