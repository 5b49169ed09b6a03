"""Numbers that were handed out, one to each person or entry, by nothing but how they lie beside each other.

What is counted or measured crowds somewhere and thins out; what a list hands out runs from 1 to its end
without a gap, however many rows each number has.
"""

from __future__ import annotations

from collections.abc import Sequence

from privet.drafts.column import MANY_TEXTS

FEWEST = 50  # different numbers; fewer are grades, ages or days
OLDEST = 130  # years
GAPLESS = 0.97
LISTED = 8  # of a list that its name calls one
ROWS = 8  # of one person, on average, where there are not many persons
FIRST = 0.01  # where a sample may begin, as a share of all


def whole(values: Sequence[str]) -> list[int] | None:
    """The numbers, if all are whole and none is below zero.

    >>> whole(["3", "12.0"]), whole(["3", "1.5"]), whole(["-1"])
    ([3, 12], None, None)
    """
    plain = [value.strip().removesuffix(".0") for value in values]
    return list(map(int, plain)) if all(one.isascii() and one.isdigit() for one in plain) else None


def from_one(values: Sequence[str]) -> bool:
    """Do they run from 1 to their end, every one of them?

    >>> from_one([str(n) for n in range(1, 20)]), from_one(["1", "2", "4"])
    (True, False)
    """
    numbers = whole(values)
    return numbers is not None and len(numbers) >= LISTED and sorted(numbers) == [*range(1, len(numbers) + 1)]


def gapless(looked: Sequence[str], different: int, records: int) -> bool:
    """Do they run from 0 or 1 to their end, and has each a few rows at most or is there no end of them?

    >>> gapless([str(n) for n in range(1, 80)], 79, 200), gapless([str(n) for n in range(18, 97)], 79, 200)
    (True, False)
    """
    if different <= FEWEST or (different <= MANY_TEXTS and different * ROWS < records):
        return False
    numbers = whole(looked)
    if numbers is None or min(numbers) > max(1, FIRST * different * (len(looked) < different)):
        return False
    if min(numbers) == 0 and different <= OLDEST:
        return False  # ages of a whole people
    return different >= GAPLESS * (max(numbers) - min(numbers) + 1)
