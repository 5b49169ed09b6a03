"""The linkage attack on paths, carried out many times: what do a few known visits find in a release?

A target is drawn from the raw data, and some of its visits become known: as places and times, as places
only, or as times only. The adversary knows how places and times were made coarser, leaves out what occurs
nowhere in the release, and looks up the rest. Before stands beside after, for the same knowledge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privet.errors import InputError, PolicyError
from privet.trajectory.known import Knowledge
from privet.trajectory.living import common
from privet.trajectory.paths import Ints, Paths
from privet.trajectory.recode import PathRecoding


@dataclass(frozen=True, slots=True)
class Success:
    """How well the adversary did over all targets; shares are exact."""

    alone: int  # targets whose record was the only match
    missed: int  # targets that are not among the matches: the adversary was misled
    identity: Fraction  # mean probability of picking the target's record
    worst: Fraction  # the largest of these probabilities
    attribute: dict[str, Fraction]  # mean probability of guessing the target's value, column by column


@dataclass(frozen=True, slots=True)
class Simulated:
    """The same attacks on the raw data and on what is published."""

    knowledge: Knowledge
    known: int
    targets: int
    before: Success
    after: Success


def simulate(
    paths: Paths,
    recoding: PathRecoding,
    *,
    known: int,
    targets: int = 1000,
    knowledge: Knowledge = Knowledge.POINTS,
    seed: int = 0,
    keep_empty: bool = True,
) -> Simulated:
    """Attack random records, each by up to `known` random things from its raw path.

    Without `keep_empty` the release leaves out records that have no visit left.
    """
    if known < 1 or targets < 1:
        raise PolicyError(f"known and targets are whole numbers from 1 on, not {known} and {targets}")
    rng = np.random.default_rng(seed)
    weights = np.where(paths.lengths > 0, paths.counts, 0)
    if not weights.any():
        raise InputError("no record has a visit that could be known")
    cells = rng.choice(paths.cells, size=targets, p=weights / weights.sum())
    published = recoding.applied(paths).paths(paths)
    index, later = Index(paths, knowledge), Index(published, knowledge, keep_empty=keep_empty)
    becomes = translated(paths, published, recoding, knowledge)
    items = [things(index, int(cell), known, rng) for cell in cells]
    return Simulated(
        knowledge,
        known,
        targets,
        succeeded(paths, cells, [index.matching(one) for one in items]),
        succeeded(paths, cells, [later.matching(becomes[one]) for one in items]),
    )


def things(index: Index, cell: int, known: int, rng: np.random.Generator) -> Ints:
    """What the adversary happens to know of a path."""
    every = index.of(cell)
    return rng.choice(every, size=min(known, len(every)), replace=False)


class Index:
    """Who was seen where: for each thing that can be known, the cells that have it."""

    def __init__(self, paths: Paths, knowledge: Knowledge, *, keep_empty: bool = True) -> None:
        names, of_point = {
            Knowledge.POINTS: (len(paths.points), np.arange(len(paths.points), dtype=np.int32)),
            Knowledge.PLACES: (len(paths.points.places), paths.points.place),
            Knowledge.TIMES: (len(paths.points.times), paths.points.time),
        }[knowledge]
        self._of_point, self._paths = of_point, paths
        self._everybody = np.flatnonzero(keep_empty | (paths.lengths > 0))
        keys = np.unique(of_point[paths.visits].astype(np.int64) * max(paths.cells, 1) + paths.owner)
        self._item, self._owner = np.divmod(keys, max(paths.cells, 1))
        self._begin = np.searchsorted(self._item, np.arange(names + 1))
        self._found: dict[frozenset[int], Ints] = {}

    def of(self, cell: int) -> Ints:
        """What can be known of a cell's path, each thing once."""
        start, end = self._paths.starts[cell : cell + 2]
        return np.unique(self._of_point[self._paths.visits[start:end]]).astype(np.int64)

    def matching(self, items: Ints) -> Ints:
        """The cells that have all of these; what nobody has does not count, for it tells nothing.

        Many targets are known by the same few things: what was looked up once is there.
        """
        asked = frozenset(items.tolist())
        if (known := self._found.get(asked)) is not None:
            return known
        ranges = [(self._begin[item], self._begin[item + 1]) for item in asked if item >= 0]
        there = [self._owner[start:end] for start, end in ranges if end > start]
        found = self._found[asked] = common(there) if there else self._everybody
        return found


def translated(before: Paths, after: Paths, recoding: PathRecoding, knowledge: Knowledge) -> Ints:
    """For each thing known of the raw data, what it is in the release; -1 where it is nothing there."""
    if knowledge is Knowledge.POINTS:
        return recoding.image(before.points)[1].astype(np.int64)
    places = knowledge is Knowledge.PLACES
    raw, new = (one.points.places if places else one.points.times for one in (before, after))
    labels = recoding.places if places else recoding.times
    at = {label: code for code, label in enumerate(new)}
    return np.array([at.get(labels.get(name, name), -1) for name in raw], dtype=np.int64)


def succeeded(paths: Paths, cells: Ints, matches: Sequence[Ints]) -> Success:
    # How many match, and how often so many do: fractions of one size are added up as whole numbers.
    found: Counter[int] = Counter()
    guessed: dict[str, Counter[int]] = {column.name: Counter() for column in paths.sensitive}
    sizes, shared = dict[int, int](), dict[tuple[int, str, int], int]()  # of matches, each counted once
    for cell, match in zip(cells.tolist(), matches, strict=True):
        if (size := sizes.get(id(match), -1)) < 0:
            size = sizes[id(match)] = int(paths.counts[match].sum())
        if cell in match:
            found[size] += 1
        for column in paths.sensitive:
            code = int(column.codes[cell])
            if (alike := shared.get((id(match), column.name, code), -1)) < 0:
                same = match[column.codes[match] == code]
                alike = shared[id(match), column.name, code] = int(paths.counts[same].sum())
            guessed[column.name][size] += alike

    def mean(by_size: Counter[int]) -> Fraction:
        return sum((Fraction(n, size) for size, n in by_size.items() if size), Fraction(0)) / len(cells)

    return Success(
        found[1],
        len(cells) - found.total(),
        mean(found),
        Fraction(1, min(found)) if found else Fraction(0),
        {name: mean(by_size) for name, by_size in guessed.items()},
    )
