"""Whole numbers as somebody typed them: plain digits, and no more of them than any number here has."""

from __future__ import annotations

from privet.errors import InputError

LONGEST = 12  # digits


def is_whole(word: str) -> bool:
    """Plain digits: not those of other scripts, raised ones, or thousands of them.

    >>> [is_whole(word) for word in ("12", "-1", "²", "9" * 5000)]
    [True, False, False, False]
    """
    return word.isascii() and word.isdigit() and len(word) <= LONGEST


def whole(word: str, name: str) -> int:
    """The number that a word says; `name` is what it is asked for."""
    if not is_whole(word):
        raise InputError(f"{name}: is a whole number of at most {LONGEST} digits")
    return int(word)
