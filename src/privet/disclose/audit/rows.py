"""Which sums follow from earlier ones: exact linear algebra over 0/1 rows.

Rows are kept in reduced form modulo primes. A row that is independent modulo one prime is independent over
the rationals. The other way round, a non-zero determinant of 0/1 rows is at most Hadamard's bound, so it
cannot vanish modulo primes whose product is larger: what depends modulo all of them depends indeed. One
prime is kept at hand; the others are asked only where the first one sees a dependence.
"""

from __future__ import annotations

from math import log2

import numpy as np
from numpy.typing import NDArray

from privet.disclose.audit.exact import Members

Vector = NDArray[np.int64]


def primes(count: int) -> list[int]:
    """The largest primes below 2^31: products of two residues fit into 64 bits.

    >>> primes(2)
    [2147483647, 2147483629]
    """
    small = np.ones(46_342, dtype=bool)
    small[:2] = False
    for at in range(2, 216):
        if small[at]:
            small[at * at :: at] = False
    divisors = np.nonzero(small)[0]
    found: list[int] = []
    number = (1 << 31) - 1
    while len(found) < count:
        if np.all(number % divisors):
            found.append(number)
        number -= 2
    return found


def bits(rows: int) -> float:
    """Hadamard's bound for determinants of 0/1 rows, in bits: (r+1)^((r+1)/2) / 2^r."""
    return (rows + 1) / 2 * log2(rows + 1) - rows


class Residues:
    """Rows in reduced form modulo one prime."""

    def __init__(self, n: int, prime: int) -> None:
        self.prime = prime
        self._rows = np.zeros((16, n), dtype=np.int64)
        self._pivots: list[int] = []

    @property
    def rows(self) -> NDArray[np.int64]:
        return self._rows[: len(self._pivots)]

    def rest(self, row: Vector) -> Vector:
        """What is left of a row when all that follows from the others is taken away."""
        left = row % self.prime
        factors = left[self._pivots]
        used = np.nonzero(factors)[0]
        # In reduced form no row has another one's pivot, so that all can be taken away at once.
        taken = factors[used, None] * self.rows[used] % self.prime
        return np.asarray((left - taken.sum(axis=0)) % self.prime, dtype=np.int64)

    def _reduced(self, left: Vector) -> tuple[int, Vector]:
        """The pivot of what is left of a row, and the row with 1 there."""
        pivot = int(np.nonzero(left)[0][0])
        return pivot, left * pow(int(left[pivot]), -1, self.prime) % self.prime

    def add(self, row: Vector) -> bool:
        """Take a row in; False where it follows from those that are there."""
        left = self.rest(row)
        if not np.any(left):
            return False
        pivot, left = self._reduced(left)
        held = len(self._pivots)
        touched = np.nonzero(self.rows[:, pivot])[0]
        self._rows[touched] = (self._rows[touched] - self._rows[touched, pivot, None] * left) % self.prime
        if held == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[held] = left
        self._pivots.append(pivot)
        return True

    def determines(self, row: Vector) -> bool:
        """With this row, would some variable stand alone in a reduced row?"""
        left, rows = self.rest(row), self.rows
        if np.any(left):
            pivot, left = self._reduced(left)
            rows = np.vstack([(rows - rows[:, pivot, None] * left) % self.prime, left])
        return bool(np.any(np.count_nonzero(rows, axis=1) == 1))


class Rows:
    """Sums that were answered, as an exact linear space."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._all: list[Vector] = []
        self._primes = primes(1)
        self._spaces: list[Residues] = [Residues(n, self._primes[0])]

    def __len__(self) -> int:
        return len(self._all)

    def _row(self, members: Members) -> Vector:
        row = np.zeros(self._n, dtype=np.int64)
        row[members] = 1
        return row

    def _enough(self, rows: int) -> list[Residues]:
        """Spaces modulo so many primes that no determinant of this many rows vanishes in all."""
        count = int(bits(rows) // 30) + 2
        if count > len(self._primes):
            self._primes = primes(count)
            for prime in self._primes[len(self._spaces) :]:
                space = Residues(self._n, prime)
                for row in self._all:
                    space.add(row)
                self._spaces.append(space)
        return self._spaces

    def implied(self, members: Members) -> bool:
        """Does this sum follow from the others?"""
        row = self._row(members)
        if np.any(self._spaces[0].rest(row)):
            return False
        return not any(np.any(space.rest(row)) for space in self._enough(len(self._all) + 1))

    def add(self, members: Members) -> None:
        """Take a sum in."""
        row = self._row(members)
        self._all.append(row)
        for space in self._spaces:
            space.add(row)

    def would_determine(self, members: Members) -> bool:
        """Would somebody be determined whatever the bounds are? (Chin 1986.)"""
        row = self._row(members)
        return any(space.determines(row) for space in self._enough(len(self._all) + 1))
