"""One row for each person, with the whole path in one column: `b2 → d3 → c4`.

Points are joined by `→`, `->` or blanks, the whole may stand in `<...>`. A point is a place and then a
whole number (`b2`), or place, `@` and a time (`Berri-UQAM@14`, `ward 3@2024-05-01T08:30`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Column
from privet.engines.trajectories.frames import (
    coded,
    columns_of,
    complaint,
    gathered,
    need,
    occurring,
    packed,
    refuse,
    unordered,
)
from privet.errors import InputError
from privet.trajectory.paths import Ints, Paths, PointCodes, Points, misfits, not_rising
from privet.trajectory.recode import Changed, PathRecoding

SHORT = re.compile(r"(.*\D)(\d+)", re.ASCII | re.DOTALL)
FORM = "a point is written place@time, or as a place and a whole number (b2)"


@dataclass(frozen=True, eq=False)
class PathColumn:
    """A frame with a path column, and its tally."""

    paths: Paths
    frame: pl.DataFrame = field(repr=False)
    name: str
    arrow: str = field(repr=False)  # what stands between two points
    brackets: bool = field(repr=False)
    text: Ints = field(repr=False)  # for each row, which of the distinct texts
    visits: PointCodes = field(repr=False)  # the points of each text, one after the other
    starts: Ints = field(repr=False)

    @classmethod
    def read(
        cls,
        frame: pl.DataFrame,
        *,
        path: str,
        sensitive: Sequence[str] = (),
        quasi: Sequence[str] = (),
        allow_empty: bool = False,
        copies: str | None = None,
    ) -> PathColumn:
        """Raises InputError for what is not a path; only a release may have empty ones.

        `copies`: a column that says how many records a row stands for.
        """
        need(frame, (path, *sensitive, *quasi))
        text, values = coded(frame.get_column(path))
        texts = pl.Series(values, dtype=pl.String).fill_null("").str.strip_chars()
        brackets = bool(texts.str.starts_with("<").any())
        closed = texts.str.ends_with(">") & ~texts.str.ends_with("->")
        half = (texts.str.starts_with("<") != closed).to_numpy()
        refuse(complaint(f"{path}: half a pair of brackets", half[text], "write <...> or no brackets"))
        texts = texts.str.replace(r"^<([\s\S]*)>$", "${1}").str.strip_chars()
        arrow, lists = split(texts)
        lengths = np.where((texts == "").to_numpy(), 0, lists.list.len().to_numpy()).astype(np.int64)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        tokens = lists.filter(pl.Series(lengths > 0)).explode()
        token, words = coded(tokens)
        pairs = [parsed(word or "") for word in words]
        wrong = np.array([pair is None for pair in pairs], dtype=bool)
        if wrong.any():
            refuse(complaint(f"{path}: unreadable points", in_rows(wrong[token], starts)[text], FORM))
        empty = None if allow_empty else complaint(f"{path}: no path", (lengths == 0)[text], "leave them out")
        refuse(empty)
        distinct = {pair: word for pair, word in zip(reversed(pairs), reversed(words), strict=True) if pair}
        try:
            points = Points.of(
                [p for p, _ in distinct], [t for _, t in distinct], [w or "" for w in distinct.values()]
            )
        except InputError as error:
            odd = misfits(when for _, when in distinct)
            late = np.array([pair is not None and pair[1] in odd for pair in pairs], dtype=bool)
            raise unordered(path, in_rows(late[token], starts)[text], error) from None
        number = np.array([points.codes[pair] for pair in pairs if pair], dtype=np.int32)
        visits = number[token]
        refuse(*not_in_order(path, points, visits, starts, text))
        # A quasi-identifier is told apart by how it is written; equal sensitive values are one.
        columns = (*columns_of(frame, sensitive, alike=True), *columns_of(frame, quasi, alike=False))
        many = None if copies is None else frame.get_column(copies).to_numpy()
        cells, counts = occurring(*packed(text, len(texts), columns), many)
        chosen = tuple(Column(c.name, c.domain, c.codes[cells]) for c in columns)
        return cls(
            paths=replace(
                tally(points, (visits, starts), text[cells], counts),
                sensitive=chosen[: len(sensitive)],
                quasi=chosen[len(sensitive) :],
            ),
            frame=frame,
            name=path,
            arrow=arrow,
            brackets=brackets,
            text=text,
            visits=visits,
            starts=starts,
        )

    def without(self, suppressed: Iterable[int]) -> pl.DataFrame:
        """The frame as it leaves: these points are gone from every path, nothing else is touched."""
        stays = np.ones(len(self.paths.points), dtype=bool)
        stays[np.fromiter(suppressed, dtype=np.int64)] = False
        return self._written(Changed(self.paths.points, stays[self.visits], self.visits))

    def changed(self, recoding: PathRecoding, *, keep_empty: bool = True) -> pl.DataFrame:
        """The frame as it leaves after any recoding of paths, with or without records that have none left."""
        texts = Paths(
            self.paths.points, self.visits, self.starts, np.ones(len(self.starts) - 1, dtype=np.int64)
        )
        return self._written(recoding.applied(texts), keep_empty=keep_empty)

    def _written(self, changed: Changed, *, keep_empty: bool = True) -> pl.DataFrame:
        kept, labels = changed.kept, changed.points.labels
        arrow = self.arrow
        if arrow == " " and changed.points is not self.paths.points and any(" " in one for one in labels):
            arrow = " \u2192 "  # a zone of several words would be read back as several points
        owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))[kept]
        joined = (
            pl.DataFrame({"owner": owner, "point": gathered(labels, changed.point[kept])})
            .group_by("owner", maintain_order=True)
            .agg(pl.col("point").str.join(arrow))
        )
        texts = np.full(len(self.starts) - 1, "", dtype=object)
        texts[joined.get_column("owner").to_numpy()] = joined.get_column("point").to_numpy()
        said = [f"<{text}>" for text in texts] if self.brackets else texts.tolist()
        made = self.frame.with_columns(gathered(said, self.text).alias(self.name))
        return made if keep_empty else made.filter(pl.Series((texts != "")[self.text]))


def split(texts: pl.Series) -> tuple[str, pl.Series]:
    """What stands between points, and the points of each text."""
    if bool(texts.str.contains("→", literal=True).any()):
        arrow = " → "
    elif bool(texts.str.contains("->", literal=True).any()):
        arrow = " -> "
    else:
        return " ", texts.str.replace_all(r"\s+", " ").str.split(" ")
    return arrow, texts.str.replace_all(r"\s*(→|->)\s*", "→").str.split("→")


def parsed(word: str) -> tuple[str, str] | None:
    """Place and time of a point.

    >>> parsed("b2"), parsed("stop 12@7"), parsed("b")
    (('b', '2'), ('stop 12', '7'), None)
    """
    if "@" in word:
        place, _, when = word.rpartition("@")
        return (place.strip(), when.strip()) if place.strip() and when.strip() else None
    match = SHORT.fullmatch(word)
    return (match[1].strip(), match[2]) if match and match[1].strip() else None


def in_rows(wrong: NDArray[np.bool_], starts: Ints) -> NDArray[np.bool_]:
    """For each path: is any of its visits wrong?"""
    before = np.concatenate(([0], np.cumsum(wrong)))
    return np.diff(before[starts]) > 0


def not_in_order(path: str, points: Points, visits: PointCodes, starts: Ints, text: Ints) -> list[str | None]:
    """Complaints about visits that do not come after the one before."""
    times = points.time[visits]
    late = not_rising(times, starts)
    if not late.any():
        return []
    before = np.concatenate((visits[:1], visits[:-1]))
    twice = late & (visits == before)
    together = late & ~twice & (times == points.time[before])
    return [
        complaint(f"{path}: the same visit twice", in_rows(twice, starts)[text], "keep one"),
        complaint(f"{path}: two places at one time", in_rows(together, starts)[text], "keep one"),
        complaint(
            f"{path}: times that run backwards",
            in_rows(late & ~twice & ~together, starts)[text],
            "sort by time",
        ),
    ]


def tally(points: Points, texts: tuple[PointCodes, Ints], chosen: Ints, counts: Ints) -> Paths:
    """A cell for each of the texts that are chosen, without sensitive values as yet."""
    visits, starts = texts
    lengths = np.diff(starts)[chosen]
    begin = np.concatenate(([0], np.cumsum(lengths)))
    at = np.arange(begin[-1]) + np.repeat(starts[:-1][chosen] - begin[:-1], lengths)
    return Paths(points, visits[at], begin, counts)
