"""The classes of a lattice's nodes, counted on the cluster.

A node's classes come here where they are few enough, and so do those of a finer one, from which the driver
adds up all that lie above it: one job serves many nodes. How far down such a stop may lie is estimated by one
more job for a whole way of nodes; the estimate decides which job is asked, never what is answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from privet.core import Column, PrivacyModel, Tally
from privet.counts.door import Beyond, Frequencies, Ints, Levels, Mask, Rungs
from privet.counts.rollup import Rollups
from privet.engines.spark.cells import COUNT, Cells, Key, Question, TooManyError
from privet.engines.spark.jobs import all_told, fetched, functions
from privet.engines.spark.placement import Placement
from privet.errors import UnsupportedError
from privet.recoding import Generalization, Regions

TRIED = 8  # nodes of a way that are estimated at a time
KEPT = 2_000_000  # rows of a stop: as many classes as `Rollups` remembers
SAID = (
    "the engine 'spark': a node of the lattice that may have to be published has more than {:,} classes, "
    "which is what is brought to one machine; {}"
)
ADVICE = "allow higher levels only, or say cells=… to pv.Spark"


@all_told("searching")
class ClusterClasses:
    """The frequencies of every node that is asked for."""

    def __init__(self, cells: Cells, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> None:
        self._cells = cells
        self._ladders = ladders
        self._sensitive = tuple(sensitive)
        self._stops: list[tuple[Levels, Rollups]] = []
        self._beyond: dict[Levels, Beyond] = {}
        self.records = cells.records

    def at(self, node: Levels) -> Frequencies:
        return self._stop(node).at(node)

    def beyond(self, node: Levels, smallest: int) -> Beyond | None:
        if node not in self._beyond:
            try:
                self._stop(node)
            except TooManyError:
                self._beyond[node] = self._summary(node, smallest)
        return self._beyond.get(node)

    def _summary(self, node: Levels, smallest: int) -> Beyond:
        """How many classes there are, and how many of their records are in small ones: one row."""
        f, names = functions(), []
        frame = self._cells.frame
        for key in self._keys(node, ()):
            frame, value = self._cells.mapped(frame, key, f"g{key.column}")
            names.append(value.alias(f"k{key.column}"))
        sizes = frame.select(*names, COUNT).groupBy(*(f"k{key.column}" for key in self._keys(node, ())))
        size = f.col("size")
        small = f.when(size < f.lit(smallest), size).otherwise(f.lit(0))
        row = fetched(
            sizes.agg(f.sum(COUNT).alias("size")).agg(
                f.count(f.lit(1)).alias("classes"),
                f.sum(small).alias("lost"),
                f.sum(size.cast("double") * size.cast("double")).alias("squares"),
            ),
            "counting small classes",
        ).to_pylist()[0]
        return Beyond(int(row["classes"]), int(row["lost"]), float(row["squares"]))

    def holds(self, node: Levels, bad: Mask, models: Sequence[PrivacyModel]) -> bool:
        every = [column.name for column in self._cells.heading.sensitive]
        return Rollups(self._counted(node, every), self._ladders).holds(node, bad, models)

    def persons(self, node: Levels) -> Ints:  # noqa: ARG002 - the door's form
        raise UnsupportedError("persons do not add up over parts: where they are counted, counts come here")

    def recoding(self, node: Levels, bad: Mask, trims: Ints | None) -> Generalization | Regions:
        cuts = {l.name: l.cuts[at] for l, at in zip(self._ladders, node, strict=True)}
        if trims is not None:
            raise UnsupportedError(
                "suppression drops single records of a combination here, and these combinations "
                "stay on the cluster; say trim = false in the algorithm, or cells=… to pv.Spark"
            )
        if not bad.any():
            return Generalization(cuts)
        # A box for each combination of nodes; those that read alike are several boxes of one class.
        keys = [
            Key(f"q{at}", len(cut.nodes), cut.positions.astype(np.int64))
            for at, cut in enumerate(cuts.values())
        ]
        (found,) = self._cells.asked([Question(keys)], "counting the classes that leave")
        first = [np.array([node.lo for node in cut.nodes]) for cut in cuts.values()]
        members = [lows[key] for lows, key in zip(first, found.keys, strict=True)]
        of_class = Rollups(self._tally(members, found.counts, ()), self._ladders).of_cells(node)
        return Regions(
            nodes={name: cut.nodes for name, cut in cuts.items()},
            boxes=dict(zip(cuts, found.keys, strict=True)),
            kept=~bad[of_class],
            elsewhere=Placement.of_keys(self._cells, keys, found.keys),
        )

    def _stop(self, node: Levels) -> Rollups:
        """The classes of this node or of a finer one."""
        below = [(levels, stop) for levels, stop in self._stops if _finer(levels, node)]
        if below:
            return min(below, key=lambda one: one[1].cells)[1]
        if self._too_many(node):
            raise TooManyError(SAID.format(self._cells.most, self._cells.advised(ADVICE)))
        try:
            levels = self._far_down(node)
            stop = self._rollups(levels)
        except TooManyError:  # what was estimated is more
            levels, stop = node, self._rollups(node)
        self._stops.append((levels, stop))
        return stop

    def _rollups(self, levels: Levels) -> Rollups:
        return Rollups(self._counted(levels, self._sensitive), self._ladders, self._sensitive)

    def _too_many(self, node: Levels) -> bool:
        """Is it finer than one that has too many classes? Then it has no fewer."""
        return any(_finer(node, other) for other in self._beyond)

    def _far_down(self, node: Levels) -> Levels:
        """The finest node on a way down whose classes are likely few enough."""
        room = min(self._cells.most, KEPT)
        way = [levels for levels in self._way(node) if not self._too_many(levels)]
        sure = [levels for levels in way if self._room(levels) <= room]
        unsure = [levels for levels in way if self._room(levels) > room and levels != node]
        if not unsure:
            return sure[-1] if sure else node
        tried = [unsure[at] for at in sorted({round(at) for at in np.linspace(0, len(unsure) - 1, TRIED)})]
        f = functions()
        distinct = []
        frame = self._cells.frame
        for number, levels in enumerate(tried):
            values = []
            for key in self._keys(levels, self._sensitive):
                frame, value = self._cells.mapped(frame, key, f"e{number}_{key.column}")
                values.append(value)
            distinct.append(f.approx_count_distinct(f.hash(*values)).alias(f"d{number}"))
        row = fetched(frame.agg(*distinct), "estimating classes").to_pylist()[0]
        fits = [levels for number, levels in enumerate(tried) if row[f"d{number}"] * 1.2 <= room]
        found: Levels = [*(sure or [node]), *fits][-1]
        return found

    def _way(self, node: Levels) -> list[Levels]:
        """From a node down to the bottom, each time by the step that makes the fewest more groups."""
        way = [node]
        while any(way[-1]):
            here = way[-1]
            steps = [at for at, level in enumerate(here) if level]
            least = min(steps, key=lambda at: (self._wide(at, here[at] - 1) / self._wide(at, here[at]), at))
            way.append((*here[:least], here[least] - 1, *here[least + 1 :]))
        return way

    def _wide(self, at: int, level: int) -> int:
        return max(1, self._ladders[at].widths[level])

    def _room(self, levels: Levels) -> int:
        """As many classes as there could be, with their sensitive values."""
        found = 1
        for at, level in enumerate(levels):
            found *= self._wide(at, level)
        for name in self._sensitive:
            found *= max(1, self._cells.size(self._cells.inside(name)))
        return found

    def _keys(self, levels: Levels, sensitive: Sequence[str]) -> list[Key]:
        return [
            *(
                Key(f"q{at}", self._wide(at, level), self._ladders[at].groups[level])
                for at, level in enumerate(levels)
            ),
            *(self._cells.plain(self._cells.inside(name)) for name in sensitive),
        ]

    def _counted(self, levels: Levels, sensitive: Sequence[str]) -> Tally:
        """The classes of a node with their sensitive values, each class by one code of each group."""
        (found,) = self._cells.asked([Question(self._keys(levels, sensitive))], "counting classes")
        members = []
        for at, level in enumerate(levels):
            groups = self._ladders[at].groups[level]
            first = np.zeros(self._wide(at, level), dtype=np.int64)
            first[groups[::-1]] = np.arange(len(groups))[::-1]
            members.append(first[found.keys[at]])
        return self._tally(
            members, found.counts, tuple(zip(sensitive, found.keys[len(levels) :], strict=True))
        )

    def _tally(self, codes: Sequence[Ints], counts: Ints, sensitive: Sequence[tuple[str, Ints]]) -> Tally:
        heading = self._cells.heading
        by_name = dict(sensitive)
        return replace(
            heading,
            quasi=tuple(
                Column(c.name, c.domain, c.domain.column(code))
                for c, code in zip(heading.quasi, codes, strict=True)
            ),
            sensitive=tuple(
                Column(c.name, c.domain, c.domain.column(by_name[c.name]))
                for c in heading.sensitive
                if c.name in by_name
            ),
            target=None,
            counts=counts,
        )


def _finer(levels: Levels, node: Levels) -> bool:
    return all(one <= other for one, other in zip(levels, node, strict=True))
