"""Several rows of one person in canonical order: persons by what is published of them, their rows together.

Who has no name in a release has a number. It is given in that order, so it tells no more than the
rows themselves: not who came first, and not who had the same number in another release.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.engines.frames import keys_of_rows
from privet.engines.trajectories.frames import coded, grouped

Ints = NDArray[np.int64]


def in_order(
    frame: pl.DataFrame, person: str, *, within: Any = None, named: bool, aside: str | None = None
) -> pl.DataFrame:
    """The rows of each person together, by `within` (a time) and then by their texts.

    `named`: persons stand in the order of their disguised names; else of their rows, and are numbered anew.
    `aside`: a column that goes along and does not leave.

    >>> rows = pl.DataFrame({"who": [7, 5, 7], "item": ["b", "c", "a"]})
    >>> in_order(rows, "who", named=False).rows()
    [(1, 'a'), (1, 'b'), (2, 'c')]
    """
    if not frame.height:
        return frame
    who = grouped(frame.get_column(person))
    rest = keys_of_rows(frame.drop(person, *([] if aside is None else [aside])))
    text: Ints = np.zeros(frame.height, dtype=np.int64) if rest is None else rest.astype(np.int64)
    time: Ints = np.zeros(frame.height, dtype=np.int64) if within is None else within
    place = coded(frame.get_column(person))[0] if named else _by_rows(who, time, text)[who]
    order = np.lexsort((text, time, place))
    sorted_ = frame[order]
    return sorted_ if named else sorted_.with_columns(pl.Series(person, place[order] + 1, dtype=pl.Int64))


def is_in_order(frame: pl.DataFrame, person: str, *, within: Any = None, named: bool) -> bool:
    """Do the rows stand in that order, and are persons numbered by it?"""
    texts = pl.col(person).cast(pl.String)
    found = in_order(frame, person, within=within, named=named)
    return found.with_columns(texts).equals(frame.with_columns(texts))


def as_they_came(frame: pl.DataFrame, person: str, *, within: Any = None) -> pl.DataFrame:
    """The rows of each person together, persons by their first row."""
    who = grouped(frame.get_column(person))
    time = np.zeros(frame.height, dtype=np.int64) if within is None else within
    _, first, which = np.unique(who, return_index=True, return_inverse=True)
    return frame[np.lexsort((np.arange(frame.height), time, first[which]))]


def _by_rows(who: Ints, time: Ints, text: Ints) -> Ints:
    """The place of each person among all, by their rows one after the other."""
    order = np.lexsort((text, time, who))
    ends = np.cumsum(np.bincount(who))
    said = text[order].astype(">u8").tobytes()  # compares as the numbers do
    rows = [said[8 * a : 8 * b] for a, b in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
    place = np.empty(len(rows), dtype=np.int64)
    place[sorted(range(len(rows)), key=rows.__getitem__)] = np.arange(len(rows))
    return place
