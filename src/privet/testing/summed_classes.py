"""The classes of a lattice's nodes, summed over several parts of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.core import PrivacyModel, Tally
from privet.counts.door import (
    Entries,
    Frequencies,
    Indexes,
    Ints,
    Levels,
    Mask,
    Rungs,
)
from privet.counts.rollup import Rollups, people, spread
from privet.errors import InternalError
from privet.recoding import Generalization, Regions
from privet.testing.adding import added, joined


class SummedClasses:
    """Classes of all parts: those that have the same group in every attribute are one."""

    def __init__(self, parts: Sequence[Tally], ladders: Sequence[Rungs], sensitive: Sequence[str]) -> None:
        self._tallies = parts
        self._ladders = ladders
        self._parts = [Rollups(part, ladders, sensitive) for part in parts]
        self.records = sum(part.records for part in self._parts)

    def at(self, node: Levels) -> Frequencies:
        return self._merged(node)[0]

    def beyond(self, node: Levels, smallest: int) -> None:
        """All classes are shown."""

    def holds(self, node: Levels, bad: Mask, models: Sequence[PrivacyModel]) -> bool:
        cut, of_cell = self._cut(node), self._of_cells(node)
        after = joined([cut.recode(t).where(~bad[of]) for t, of in zip(self._tallies, of_cell, strict=True)])
        return all(model.check(after).holds for model in models)

    def persons(self, node: Levels) -> Ints:
        whose = [tally.person for tally in self._tallies if tally.person is not None]
        if len(whose) < len(self._tallies):
            raise InternalError("persons are counted where the policy names them")
        return people(np.concatenate(self._of_cells(node)), np.concatenate(whose), len(self.at(node)))

    def recoding(self, node: Levels, bad: Mask, trims: Ints | None) -> Generalization | Regions:
        cut, of_cell = self._cut(node), self._of_cells(node)
        if trims is not None:
            return self._trimmed(node, bad, trims)
        if not bad.any():
            return cut
        whole = np.concatenate(of_cell)
        return self._regions(node, whole, ~bad[whole], by_record=False)

    def _trimmed(self, node: Levels, bad: Mask, trims: Ints) -> Generalization | Regions:
        counts = [tally.counts for tally in self._tallies]
        of_record = [np.repeat(of, n) for of, n in zip(self._of_cells(node), counts, strict=True)]
        kept = [~bad[of] for of in of_record]
        values = [
            np.repeat(next(c for c in t.sensitive if c.name == self._name).codes, t.counts)
            for t in self._tallies
        ]
        for one, code in zip(*np.nonzero(trims * ~bad[:, None]), strict=True):
            # Each part is told which of its own members go, in an order that runs through all parts.
            members = [
                np.flatnonzero((of == one) & (v == code)) for of, v in zip(of_record, values, strict=True)
            ]
            ends = np.cumsum([len(mine) for mine in members])
            gone = spread(np.arange(int(ends[-1])), int(trims[one, code]))
            for stays, mine, end in zip(kept, members, ends.tolist(), strict=True):
                here = gone[(gone >= end - len(mine)) & (gone < end)] - (end - len(mine))
                stays[mine[here]] = False
        whole = np.concatenate(kept)
        if whole.all():
            return self._cut(node)
        return self._regions(node, np.concatenate(of_record), whole, by_record=True)

    @property
    def _name(self) -> str:
        return self._parts[0].at(tuple(len(ladder) - 1 for ladder in self._ladders)).sensitive[0].column.name

    def _regions(self, node: Levels, of_cell: Indexes, kept: Mask, *, by_record: bool) -> Regions:
        found, cuts = self.at(node), self._cut(node).cuts
        return Regions(
            {name: cut.nodes for name, cut in cuts.items()},
            {
                name: cut.positions[found.members[at]].astype(np.intp)
                for at, (name, cut) in enumerate(cuts.items())
            },
            kept,
            by_record,
            of_cell,
        )

    def _cut(self, node: Levels) -> Generalization:
        return Generalization({l.name: l.cuts[at] for l, at in zip(self._ladders, node, strict=True)})

    def _of_cells(self, node: Levels) -> list[Indexes]:
        number = self._merged(node)[1]
        return [mine[part.of_cells(node)] for part, mine in zip(self._parts, number, strict=True)]

    def _merged(self, node: Levels) -> tuple[Frequencies, list[Indexes]]:
        """The classes of all parts, and the number among them of each part's own."""
        answers = [part.at(node) for part in self._parts]
        codes = [np.stack(a.codes(np.arange(len(a))), axis=1) for a in answers]
        # The last attribute varies slowest.
        rows = [
            np.stack(
                [
                    l.groups[level][of[:, at]]
                    for at, (l, level) in enumerate(zip(self._ladders, node, strict=True))
                ][::-1],
                axis=1,
            )
            for of in codes
        ]
        found, at, size = added(rows, [a.size for a in answers])
        ends = np.cumsum([len(a) for a in answers])[:-1]
        number = np.split(at, ends)
        member = np.zeros((len(found), len(self._ladders)), dtype=np.intp)
        member[at] = np.concatenate(codes)
        entries = []
        for which, one in enumerate(answers[0].sensitive):
            mine = [a.sensitive[which] for a in answers]
            keys = [np.stack([n[e.owner], e.value], axis=1) for n, e in zip(number, mine, strict=True)]
            pair, _, count = added(keys, [e.count for e in mine])
            entries.append(Entries(one.column, pair[:, 0], pair[:, 1], count))
        made = Frequencies(node, np.arange(len(found)), size, tuple(entries), list(member.T))
        return made, number
