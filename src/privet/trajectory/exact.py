"""The best suppression there is, for small data: how far from it is the greedy one?

To take one point out of every violating sequence is a hitting-set problem, which is NP-hard (Mohammed 2012,
theorem 4.2). Branch and bound: of the sequences that are still there, the one with the fewest points left to
choose from; each of its points in turn is taken, and those tried before are ruled out. The best is what
loses the fewest patterns, and among those what removes the fewest points. Sets are bits of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from privet.errors import UnsupportedError
from privet.trajectory.sequences import Sequences

POINTS = 64  # in violating sequences; with more there is no hope of an end
CHOICES = 200_000  # that are looked at


def minimum(bad: Sequences, good: Sequences, known: Iterable[Sequence[int]] = ()) -> list[int]:
    """Points that leave no violating sequence and lose least; `known` are covers to begin with."""
    points = sorted({point for one in bad.tuples() for point in one})
    if len(points) > POINTS:
        raise UnsupportedError(
            f"{len(points)} points stand in violating sequences; the exact search takes at most {POINTS}; "
            'say cover = "greedy"'
        )
    search = Search(points, bad, good)
    for one in known:
        search.offer(sum(1 << points.index(point) for point in one))
    search.run()
    return [point for at, point in enumerate(points) if search.best >> at & 1]


class Search:
    """What has been found so far."""

    def __init__(self, points: Sequence[int], bad: Sequences, good: Sequences) -> None:
        at = {point: 1 << number for number, point in enumerate(points)}
        self._sequences = [sum(at[point] for point in one) for one in bad.tuples()]
        # For each point, the patterns that go with it.
        self._costs = [0] * len(points)
        for number, pattern in enumerate(good.tuples()):
            for point in pattern:
                if point in at:
                    self._costs[at[point].bit_length() - 1] |= 1 << number
        self.best = (1 << len(points)) - 1  # without all of them nothing violates
        self._worth = self._weighed(self.best)
        self._choices = 0

    def _weighed(self, chosen: int) -> tuple[int, int]:
        return self._lost(chosen).bit_count(), chosen.bit_count()

    def _lost(self, chosen: int) -> int:
        lost = 0
        for at in ones(chosen):
            lost |= self._costs[at]
        return lost

    def offer(self, chosen: int) -> None:
        """A cover, which may be better than what there is."""
        if self._weighed(chosen) < self._worth:
            self.best, self._worth = chosen, self._weighed(chosen)

    def run(self) -> None:
        self._branch(self._sequences, 0, 0, 0)

    def _branch(self, there: list[int], chosen: int, ruled_out: int, lost: int) -> None:
        """The best cover that has all that is chosen, and nothing that is ruled out."""
        self._choices += 1
        if self._choices > CHOICES:
            raise UnsupportedError(
                f"the exact search came to no end within {CHOICES:,} choices; "
                'say cover = "greedy", or promise less'
            )
        if not there:
            self.offer(chosen)
            return
        free = [one & ~ruled_out for one in there]
        if not all(free) or self._bound(free, chosen, lost) >= self._worth:
            return
        for at in sorted(ones(min(free, key=int.bit_count)), key=lambda at: self._price(at, free, lost)):
            point = 1 << at
            left = [one for one in there if not one & point]
            self._branch(left, chosen | point, ruled_out, lost | self._costs[at])
            ruled_out |= point

    def _price(self, at: int, free: Sequence[int], lost: int) -> tuple[int, int]:
        """Cheap ones first, and of these what solves most: a good cover early cuts the rest short."""
        return (self._costs[at] & ~lost).bit_count(), -sum(one >> at & 1 for one in free)

    def _bound(self, free: Sequence[int], chosen: int, lost: int) -> tuple[int, int]:
        """No cover from here on loses less, or has fewer points and loses as much.

        Every sequence loses one of its points; sequences that share none lose different ones.
        """
        more = {one: min((self._costs[at] & ~lost).bit_count() for at in ones(one)) for one in set(free)}
        apart = seen = 0
        for one in sorted(more, key=int.bit_count):
            if not one & seen:
                apart, seen = apart + 1, seen | one
        return lost.bit_count() + max(more.values()), chosen.bit_count() + apart


def ones(number: int) -> Iterator[int]:
    """The places of the ones among the bits.

    >>> list(ones(0b1011))
    [0, 1, 3]
    """
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1
