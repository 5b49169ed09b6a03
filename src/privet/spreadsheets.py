"""Texts that a spreadsheet may take for formulas, and how they are written so that it does not.

A text that begins with `=`, `+`, `-`, `@` (of full width, too), a tab or the end of a line is run by some
spreadsheets that open a CSV or TSV file ("CSV injection"), and a value of the data, or a header, may be
anybody's. An apostrophe before it says that it is a text.
"""

from __future__ import annotations

import re

BEGINS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
ESCAPE = "'"

_NUMBER = re.compile(r"[+\-\uff0b\uff0d][0-9.,]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)? ?%?")


def like_formula(value: str | None) -> bool:
    """May a spreadsheet run this? Not a number with its sign, nor signs alone, as for a missing value.

    >>> [like_formula(text) for text in ("=1+1", "@SUM(A1)", "-2+3", "-2.5", "+1e6", "-", "a=b")]
    [True, True, True, False, False, False, False]
    """
    return (
        value is not None
        and value[:1] in BEGINS
        and bool(value.strip(BEGINS + " "))
        and _NUMBER.fullmatch(value) is None
    )


def escaped(value: str | None) -> str | None:
    """A text that no spreadsheet runs.

    >>> escaped("=1+1"), escaped("-2.5"), escaped("'=1+1")
    ("'=1+1", '-2.5', "'=1+1")
    """
    return f"{ESCAPE}{value}" if like_formula(value) else value
