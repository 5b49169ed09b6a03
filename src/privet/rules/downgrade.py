"""Classifier downgrading: cells are suppressed until a sensitive class cannot be guessed much better than
by always saying its commonest value.

Spec 09, section 3.13, after Chang and Moskowitz, "Parsimonious downgrading and decision trees applied to the
inference problem", NSPW 1998. The best of a fixed set of classifiers, naive Bayes and a decision tree of
limited depth, is cross-validated; as long as it is too good, the cells of one value of one column go: the
value that tells most about the class for each cell that is suppressed.

Stops: these classifiers. Does not stop: another one, or somebody who knows more than the table says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.errors import InputError, PolicyError, UnsatisfiableError
from privet.rules.baskets import Ints, Mask

FOLDS = 5
DEPTH = 4
SMALLEST = 5  # records of a leaf that is split further
AT_ONCE = 20  # of the values that tell something, one in so many goes before guesses are tried again


@dataclass(frozen=True, eq=False)
class Downgraded:
    """Which cells are suppressed, and how well the class is guessed before and after; shares are exact."""

    suppressed: tuple[Mask, ...] = field(repr=False)  # by column
    majority: Fraction
    before: Fraction
    after: Fraction

    @property
    def cells(self) -> int:
        return sum(int(mask.sum()) for mask in self.suppressed)


def downgrade(
    columns: Sequence[Ints], classes: Ints, *, at_most: Fraction, progress: Progress = silent
) -> Downgraded:
    """Suppress until the best guess is at most `at_most` above the share of the commonest class."""
    share: Any = at_most
    if not isinstance(share, Fraction) or not 0 <= share < 1:
        raise PolicyError(f'at_most: is an exact share from 0 on and below 1, such as "1/20", not {at_most}')
    if not columns or not len(classes):
        raise InputError("a class is guessed from at least one column and one record")
    if len(np.unique(classes)) < 2:
        raise InputError("the class has one value only: everybody knows it")
    # A suppressed cell is a value like any other to who reads the table: the code after the last.
    now = [np.asarray(codes, dtype=np.int64).copy() for codes in columns]
    stars = [int(codes.max(initial=0)) + 1 for codes in now]
    majority = Fraction(int(np.bincount(classes).max()), len(classes))
    before = after = guessed(now, classes)
    while after > majority + at_most:
        worth = [
            (score, column, value)
            for column, codes in enumerate(now)
            for value, score in enumerate(telling(codes, classes, stars[column]))
            if score > 0
        ]
        if not worth:
            worth = [
                (0.0, column, value)
                for column, codes in enumerate(now)
                for value in np.unique(codes[codes != stars[column]]).tolist()
            ]
        if not worth:
            raise UnsatisfiableError(
                "with every cell suppressed the class is still guessed too well; a larger at_most is needed"
            )
        worth.sort(reverse=True)
        for _, column, value in worth[: max(1, len(worth) // AT_ONCE)]:
            now[column][now[column] == value] = stars[column]
        after = guessed(now, classes)
        progress("search", sum(int((c == s).sum()) for c, s in zip(now, stars, strict=True)))
    masks = tuple(codes == star for codes, star in zip(now, stars, strict=True))
    return Downgraded(masks, majority, before, after)


def telling(codes: Ints, classes: Ints, star: int) -> list[float]:
    """For each value of a column: information gain about the class per cell, were it told from all others."""
    table = counted(codes, classes, star + 1)
    rest = table.sum(axis=0)[None, :] - table
    size, total = table.sum(axis=1), table.sum()
    whole = entropy(table.sum(axis=0)[None, :])[0]
    split = (size * entropy(table) + (total - size) * entropy(rest)) / max(total, 1)
    gain = np.where(size > 0, (whole - split) / np.maximum(size, 1), 0.0)
    gain[star] = 0
    return [float(one) if one > 1e-12 else 0.0 for one in gain]


def entropy(table: NDArray[np.int64]) -> NDArray[np.float64]:
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1))


def counted(codes: Ints, classes: Ints, wide: int) -> NDArray[np.int64]:
    many = int(classes.max(initial=0)) + 1
    return np.bincount(codes * many + classes, minlength=wide * many).reshape(-1, many)


def guessed(columns: Sequence[Ints], classes: Ints) -> Fraction:
    """The share of right guesses of the best classifier, each record guessed from the other folds."""
    fold = np.empty(len(classes), dtype=np.int64)
    order = np.argsort(classes, kind="stable")
    fold[order] = np.arange(len(classes)) % FOLDS  # every class in every fold
    best = 0
    for learn in (bayes, tree):
        right = 0
        for at in range(FOLDS):
            train, test = fold != at, fold == at
            if train.any() and test.any():
                guess = learn([c[train] for c in columns], classes[train], [c[test] for c in columns])
                right += int((guess == classes[test]).sum())
        best = max(best, right)
    return Fraction(best, len(classes))


def bayes(columns: Sequence[Ints], classes: Ints, unknown: Sequence[Ints]) -> Ints:
    """Naive Bayes, with one added to every count."""
    many = int(classes.max(initial=0)) + 1
    score = np.log(np.bincount(classes, minlength=many) + 1.0)[None, :].repeat(len(unknown[0]), axis=0)
    for codes, asked in zip(columns, unknown, strict=True):
        wide = int(max(codes.max(initial=0), asked.max(initial=0))) + 1
        table = counted(codes, classes, wide)
        more = np.pad(table, ((0, 0), (0, many - table.shape[1]))) + 1.0
        score += np.log(more / more.sum(axis=0))[asked]
    return np.asarray(score.argmax(axis=1), dtype=np.int64)


def tree(columns: Sequence[Ints], classes: Ints, unknown: Sequence[Ints]) -> Ints:
    """A decision tree that asks for a whole column at each node, the most telling first."""
    answer = np.zeros(len(unknown[0]), dtype=np.int64)

    def grown(rows: Ints, asked: Ints, left: tuple[int, ...], depth: int) -> None:
        answer[asked] = int(np.bincount(classes[rows]).argmax())
        if depth == DEPTH or not left or len(rows) < SMALLEST or not len(asked):
            return
        gains = []
        for column in left:
            codes = columns[column][rows]
            table = counted(codes, classes[rows], int(codes.max(initial=0)) + 1)
            size = table.sum(axis=1)
            gains.append(-float((size * entropy(table)).sum()))
        best = left[int(np.argmax(gains))]
        rest = tuple(column for column in left if column != best)
        values = columns[best][rows]
        wanted = unknown[best][asked]
        for value in np.unique(values).tolist():
            grown(rows[values == value], asked[wanted == value], rest, depth + 1)

    grown(np.arange(len(classes)), np.arange(len(answer)), tuple(range(len(columns))), 0)
    return answer
