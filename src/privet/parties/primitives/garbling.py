"""Garbled circuits: two parties compute a function of both inputs, and learn its result only.

Yao 1986, with free XOR (Kolesnikov and Schneider 2008) and half gates (Zahur, Rosulek and Evans, Eurocrypt
2015): an AND is two ciphertexts of 128 bits, XOR and NOT are free. The garbler's labels for the evaluator's
bits travel by oblivious transfer.

A circuit is a function of a `Machine` and two vectors of bits (`circuits`). It is run three times: on plain
bits to know how many gates it has, by the garbler, and by the evaluator; so there is one description of it,
and the plain run is what tests compare with. Gates of one step are made all at once.

Trust: two parties that follow the protocol. The garbler sees nothing but the evaluator's result where that is
sent back; the evaluator sees labels, one of two for each wire.
Leaks: the circuit and the lengths of the inputs, which both know; and the result, to whom it is for.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from privet.errors import InternalError
from privet.parties.primitives.oblivious import Bits, Labels, Receiver, Sender, hashed
from privet.parties.transport import Link

Wire = TypeVar("Wire", bound=Any)  # bits, or a label for each; the first axis is which bit


class Machine(Protocol[Wire]):
    """What a circuit is made of."""

    def xor(self, a: Wire, b: Wire) -> Wire: ...

    def both(self, a: Wire, b: Wire) -> Wire: ...

    def flip(self, a: Wire) -> Wire: ...

    def known(self, bits: Bits) -> Wire:
        """Bits that both parties know."""


Circuit: TypeAlias = Callable[[Machine[Any], Any, Any], Any]  # a machine, the garbler's bits, the evaluator's


class Plain(Generic[Wire]):
    """Bits as they are; counts the gates that cost something."""

    def __init__(self) -> None:
        self.gates = 0

    def xor(self, a: Bits, b: Bits) -> Bits:
        return a ^ b

    def both(self, a: Bits, b: Bits) -> Bits:
        found: Bits = a & b
        self.gates += len(found)
        return found

    def flip(self, a: Bits) -> Bits:
        return ~a

    def known(self, bits: Bits) -> Bits:
        return bits


class Garbler:
    """Makes two labels for every wire, and the tables of its gates."""

    def __init__(self) -> None:
        self.delta: Labels = _fresh(1)[0]
        self.delta[0] |= np.uint64(1)  # the last bit of a label tells which of the two it is, and not what
        self.tables: list[Labels] = []
        self._at = 0

    def wires(self, count: int) -> Labels:
        """The labels that stand for 0."""
        return _fresh(count)

    def xor(self, a: Labels, b: Labels) -> Labels:
        return a ^ b

    def flip(self, a: Labels) -> Labels:
        return a ^ self.delta

    def known(self, bits: Bits) -> Labels:
        # A label of zeros stands for 0 at both; for 1 the garbler counts from the other end.
        return np.where(bits[:, None], self.delta, np.uint64(0))

    def both(self, a: Labels, b: Labels) -> Labels:
        a, b = np.broadcast_arrays(a, b)
        first, second = _tweaks(self, len(a))
        delta = self.delta
        a0, a1 = hashed(a, first), hashed(a ^ delta, first)
        b0, b1 = hashed(b, second), hashed(b ^ delta, second)
        of_a, of_b = _mask(a), _mask(b)
        garbler = a0 ^ a1 ^ (of_b & delta)
        evaluator = b0 ^ b1 ^ a
        self.tables.append(np.stack([garbler, evaluator], axis=1))
        return a0 ^ (of_a & garbler) ^ b0 ^ (of_b & (evaluator ^ a))


class Evaluator:
    """Has one label of every wire, and the tables."""

    def __init__(self, tables: Labels) -> None:
        self._tables = tables
        self._at = 0
        self._used = 0

    def xor(self, a: Labels, b: Labels) -> Labels:
        return a ^ b

    def flip(self, a: Labels) -> Labels:
        return a

    def known(self, bits: Bits) -> Labels:
        return np.zeros((len(bits), 2), dtype=np.uint64)

    def both(self, a: Labels, b: Labels) -> Labels:
        a, b = np.broadcast_arrays(a, b)
        first, second = _tweaks(self, len(a))
        tables = self._tables[self._used : self._used + len(a)]
        self._used += len(a)
        garbler, evaluator = tables[:, 0], tables[:, 1]
        of_a: Labels = hashed(a, first) ^ (_mask(a) & garbler)
        of_b: Labels = hashed(b, second) ^ (_mask(b) & (evaluator ^ a))
        found: Labels = of_a ^ of_b
        return found


def _tweaks(machine: Any, count: int) -> tuple[Any, Any]:
    """Two numbers for each gate that no other gate has."""
    at = 2 * (machine._at + np.arange(count, dtype=np.uint64))  # noqa: SLF001 - the two machines count alike
    machine._at += count  # noqa: SLF001
    return at, at + np.uint64(1)


def _mask(labels: Labels) -> Labels:
    """All ones where a label's last bit is set."""
    found: Labels = np.negative(labels[:, :1] & np.uint64(1))
    return found


def _fresh(count: int) -> Labels:
    return np.frombuffer(secrets.token_bytes(16 * count), dtype=np.uint64).reshape(count, 2).copy()


class Garbling:
    """The garbler's side, for as many circuits as are wanted."""

    def __init__(self, link: Link, other: int) -> None:
        self._link, self._other = link, other
        self.sender = Sender(link, other)

    def run(self, circuit: Circuit, mine: Bits, theirs: int, *, learn: bool = True) -> Bits | None:
        """The result, where it is for this party too; `theirs`: how many bits the other puts in."""
        garbler = Garbler()
        my = garbler.wires(len(mine))
        their = self.sender.apart(theirs, garbler.delta)
        self._link.send_words(
            self._other, "labels", (my ^ np.where(mine[:, None], garbler.delta, 0)).reshape(-1)
        )
        out: Labels = circuit(garbler, my, their)
        tables = np.concatenate(garbler.tables) if garbler.tables else np.zeros((0, 2, 2), dtype=np.uint64)
        self._link.send_words(self._other, "tables", tables.reshape(-1))
        self._link.send_words(self._other, "decoding", (out[:, 0] & np.uint64(1)).astype(np.uint8))
        if not learn:
            return None
        return self._link.receive_words(self._other, "result", len(out), np.uint8).astype(bool)


class Evaluating:
    """The evaluator's side, which learns every result."""

    def __init__(self, link: Link, other: int) -> None:
        self._link, self._other = link, other
        self.receiver = Receiver(link, other)

    def run(self, circuit: Circuit, mine: Bits, theirs: int, *, tell: bool = True) -> Bits:
        """The result; `theirs`: how many bits the garbler puts in. `tell`: the garbler learns it too."""
        link, other = self._link, self._other
        keys = self.receiver.keys(mine)  # the garbler needs nothing else to begin
        plain: Plain[Bits] = Plain()
        shape = circuit(plain, np.zeros(theirs, dtype=bool), np.zeros(len(mine), dtype=bool))
        my = self.receiver.apart(mine, keys)
        their = link.receive_words(other, "labels", 2 * theirs, np.uint64).reshape(-1, 2)
        tables = link.receive_words(other, "tables", 4 * plain.gates, np.uint64).reshape(-1, 2, 2)
        decoding = link.receive_words(other, "decoding", len(shape), np.uint8)
        out: Labels = circuit(Evaluator(tables), their, my)
        if len(out) != len(shape):
            raise InternalError("a circuit gives as many bits whoever runs it")
        found = ((out[:, 0] & np.uint64(1)).astype(np.uint8) ^ decoding).astype(bool)
        if tell:
            link.send_words(other, "result", found.astype(np.uint8))
        return found
