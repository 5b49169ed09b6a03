"""Classifier downgrading: spec 09, section 3.13."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privet.errors import InputError, PolicyError
from privet.rules.downgrade import bayes, downgrade, guessed, tree


def test_a_class_that_a_column_tells_is_told_no_more() -> None:
    chance = np.random.default_rng(0)
    secret = chance.integers(2, size=600)
    told = np.where(chance.random(600) < 0.9, secret, 1 - secret) + 2 * chance.integers(3, size=600)
    noise = chance.integers(4, size=600)
    found = downgrade([told, noise], secret, at_most=Fraction(1, 20))
    assert found.before > Fraction(4, 5)
    assert found.after <= found.majority + Fraction(1, 20)
    # The cells that went are those that told; noise costs, and buys nothing.
    assert found.suppressed[0].sum() > 10 * found.suppressed[1].sum()
    again = [np.where(m, 99, c) for m, c in zip(found.suppressed, (told, noise), strict=True)]
    assert guessed(again, secret) == found.after


def test_what_is_not_told_stays() -> None:
    chance = np.random.default_rng(1)
    found = downgrade([chance.integers(3, size=500)], chance.integers(2, size=500), at_most=Fraction(1, 10))
    assert (found.cells, found.before) == (0, found.after)


def test_a_table_of_two_columns_needs_the_tree() -> None:
    """Exclusive or: no column tells anything by itself, both together tell all; the tree finds it."""
    chance = np.random.default_rng(2)
    a, b = chance.integers(2, size=400), chance.integers(2, size=400)
    both = [a, b]
    assert (tree(both, a ^ b, both) == (a ^ b)).all()
    assert (bayes(both, a ^ b, both) == (a ^ b)).mean() < 0.8
    found = downgrade(both, a ^ b, at_most=Fraction(1, 10))
    assert found.after <= found.majority + Fraction(1, 10)


def test_bayes_by_hand() -> None:
    """Two of three with value 0 are of class 0: (2+1)/(2+2) * 3 against (1+1)/(2+2) * 3."""
    codes, classes = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    assert bayes([codes], classes, [np.array([0, 1])]).tolist() == [0, 1]


def test_bad_input() -> None:
    one = np.zeros(3, dtype=np.int64)
    with pytest.raises(InputError, match="one value only"):
        downgrade([one], one, at_most=Fraction(1, 10))
    with pytest.raises(InputError):
        downgrade([], one, at_most=Fraction(1, 10))
    with pytest.raises(PolicyError):
        downgrade([one], np.array([0, 1, 0]), at_most=Fraction(2))
