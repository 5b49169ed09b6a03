"""Whole numbers that a set of 0/1 sums leaves free: exact integer elimination, and short moves.

With rows A and whole numbers s, all s' with A s' = A s are s plus a *lattice*: whole combinations of a basis
of moves v with A v = 0. Columns are combined until each row has one pivot left (a Hermite form, by Euclid's
steps); what the columns became then tells which right sides whole numbers can reach at all, and the columns
without a pivot are a basis of the moves. It is then made short. Floats only suggest which basis vector to
take from which, so that it stays a basis whatever they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[Any]  # of Python's integers: nothing overflows
Floats = NDArray[np.float64]
ROUNDS = 60  # of shortening; each makes the basis shorter or is the last


@dataclass(frozen=True)
class Lattice:
    """What whole numbers can do about some sums."""

    moves: Whole  # basis of what changes none of the sums, one in each row
    _pivots: tuple[tuple[int, Whole], ...]  # of each row: its pivot, and what earlier pivots have in it

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], weights: Floats) -> Lattice:
        """Of independent rows; moves of what weighs little are taken for long."""
        kinds = len(weights)
        # One line for each column: what it is in the rows, then which combination of columns it is.
        lines = [
            np.array([*(int(row[at]) for row in rows), *(int(at == other) for other in range(kinds))], object)
            for at in range(kinds)
        ]
        pivots: list[tuple[int, Whole]] = []
        for at in range(len(rows)):
            rest = range(len(pivots), kinds)
            while True:
                filled = [line for line in rest if lines[line][at]]
                if not filled:
                    break
                least = min(filled, key=lambda line: (abs(lines[line][at]), _size(lines[line])))
                for line in filled:
                    if line != least:
                        lines[line] = lines[line] - (lines[line][at] // lines[least][at]) * lines[least]
                if len([line for line in rest if lines[line][at]]) == 1:
                    place = len(pivots)
                    lines[place], lines[least] = lines[least], lines[place]
                    earlier = np.array([lines[before][at] for before in range(place)], object)
                    pivots.append((int(lines[place][at]), earlier))
                    break
        free = [line[len(rows) :] for line in lines[len(pivots) :]]
        moves = np.array(free, object).reshape(len(free), kinds)
        return cls(_short(moves, weights), tuple(pivots))

    def reached(self, values: Sequence[int]) -> bool:
        """Are there whole numbers, of whatever sign, with these sums?

        >>> lattice = Lattice.of([[1, 1, 0], [0, 1, 1], [1, 0, 1]], np.ones(3))
        >>> lattice.reached([2, 3, 5]), lattice.reached([2, 3, 4])
        (True, False)
        """
        if len(values) != len(self._pivots):
            return False
        found: list[int] = []
        for value, (pivot, earlier) in zip(values, self._pivots, strict=True):
            rest = value - sum(int(a) * b for a, b in zip(earlier, found, strict=True))
            if rest % pivot:
                return False
            found.append(rest // pivot)
        return True

    def off(self, rows: Floats) -> Floats:
        """How far at most a linear function must move until a real point has become a whole one.

        Rounding every coefficient moves by at most half of each basis vector.
        """
        if not len(self.moves):
            return np.zeros(len(rows))
        return np.asarray(np.abs(rows @ self.moves.astype(float).T).sum(axis=1) / 2)


def _size(line: Whole) -> int:
    return int(sum(abs(value) for value in line))


def _short(moves: Whole, weights: Floats) -> Whole:
    """The same lattice with shorter vectors: from each, take the nearest multiple of another."""
    for _ in range(ROUNDS):
        scaled = moves.astype(float) / weights
        inner = scaled @ scaled.T
        changed = False
        for one in range(len(moves)):
            own = inner.diagonal().copy()
            own[one] = np.inf
            times = np.round(inner[one] / own)
            other = int(np.argmax(np.abs(inner[one] / own))) if len(moves) > 1 else one
            if other == one or not times[other]:
                continue
            moves[one] = moves[one] - int(times[other]) * moves[other]
            scaled[one] = moves[one].astype(float) / weights
            inner[one] = inner[:, one] = scaled @ scaled[one]
            changed = True
        if not changed:
            break
    return moves
