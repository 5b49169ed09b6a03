"""A source of randomness that takes every branch: the exact distribution of a sampler, by running it.

`outcomes(program)` runs a program again and again, once for each way its random draws can be seen to fall,
and adds up the exact probability of every result. A drawn number is not decided until the program looks at
it, and then only as far as the program looks (`number < 5` splits it in two), so draws from 2**256
numbers are not an obstacle. Paths below a probability are not followed; what they weigh together is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction


class GivenUpError(Exception):
    """This path is too unlikely to be followed, or belongs to another attempt."""


class Branches:
    """Looks like `random.Random` to a sampler."""

    def __init__(self, script: list[int], least: Fraction, attempts_of: int | None) -> None:
        self._script, self._least, self._attempts_of = script, least, attempts_of
        self.taken: list[tuple[int, list[Fraction]]] = []  # at each fork: the branch, and what all weigh
        self.probability = Fraction(1)
        self._attempts = 0

    def fork(self, weights: list[Fraction]) -> int:
        """Which way to go: as the script says, or the first one that is possible."""
        if len(self.taken) < len(self._script):
            branch = self._script[len(self.taken)]
        else:
            branch = next(i for i, weight in enumerate(weights) if weight)
        self.taken.append((branch, weights))
        self.probability *= weights[branch]
        if self.probability < self._least:
            raise GivenUpError
        return branch

    def randrange(self, stop: int) -> Number:
        if self._attempts_of is not None and stop > self._attempts_of:
            self._attempts += 1
            if self._attempts > 1:
                raise GivenUpError
        return Number(self, 0, stop)

    def getrandbits(self, k: int) -> Number:
        return Number(self, 0, 1 << k)


class Number:
    """Uniform in low .. high - 1; looking at it narrows it."""

    def __init__(self, source: Branches, low: int, high: int) -> None:
        self._source, self._low, self._high = source, low, high

    def __lt__(self, other: int) -> bool:
        cut = min(max(other, self._low), self._high)
        if cut in {self._low, self._high}:
            return cut == self._high
        part = Fraction(cut - self._low, self._high - self._low)
        below = self._source.fork([part, 1 - part]) == 0
        self._low, self._high = (self._low, cut) if below else (cut, self._high)
        return below

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, int)
        return not self < other and self < other + 1

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __index__(self) -> int:
        if self._high - self._low > 1:
            size = self._high - self._low
            self._low += self._source.fork([Fraction(1, size)] * size)
            self._high = self._low + 1
        return self._low

    def __bool__(self) -> bool:
        return bool(self.__index__())

    def __add__(self, other: int) -> int:
        return self.__index__() + other

    def __sub__(self, other: int) -> Number:
        return Number(self._source, self._low - other, self._high - other)

    def __divmod__(self, by: int) -> tuple[int, int | Number]:
        """The quotient is decided, the rest stays open if every rest is possible for each quotient."""
        if self._high - self._low <= 64:
            return divmod(self.__index__(), by)
        assert self._low == 0
        assert self._high % by == 0
        return int(Number(self._source, 0, self._high // by)), Number(self._source, 0, by)


def outcomes(
    program: Callable[[Branches], Hashable], least: Fraction, attempts_of: int | None = None
) -> tuple[dict[Hashable, Fraction], Fraction]:
    """The probability of each result, and of what was not followed. `attempts_of`: draws from more than this
    many numbers begin an attempt, and only the first attempt is followed."""
    found: dict[Hashable, Fraction] = {}
    given_up = Fraction(0)
    script: list[int] | None = []
    while script is not None:
        source = Branches(script, least, attempts_of)
        try:
            result = program(source)
            found[result] = found.get(result, Fraction(0)) + source.probability
        except GivenUpError:
            given_up += source.probability
        script = _next(source.taken)
    assert sum(found.values()) + given_up == 1
    return found, given_up


def _next(taken: list[tuple[int, list[Fraction]]]) -> list[int] | None:
    """The path after this one in the order of a tree walk, or None after the last."""
    while taken:
        branch, weights = taken.pop()
        later = [i for i in range(branch + 1, len(weights)) if weights[i]]
        if later:
            return [before for before, _ in taken] + [later[0]]
    return None
