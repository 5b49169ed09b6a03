"""Nodes that were looked at: what they lose, which is the best, and which need no look for being worse."""

from __future__ import annotations

from math import inf

from privet.core import Progress
from privet.counts.door import Grouping, Levels
from privet.relational.finer import Finer
from privet.relational.judge import Judge, Ruling
from privet.relational.objective import Objective

CLOSE = 1e-12  # losses that differ by less are rounding noise


class Looks:
    """The nodes of one search."""

    def __init__(self, rollups: Grouping, judge: Judge, objective: Objective, progress: Progress) -> None:
        self.number = 0
        self.best: tuple[float, Levels, Ruling] | None = None
        self._rollups = rollups
        self._judge = judge
        self._objective = objective
        self._progress = progress
        self._losses: dict[Levels, float] = {}  # of nodes that were asked for
        self._finer: Finer | None = None

    @property
    def least(self) -> float:
        """What the best node loses."""
        return self.best[0] if self.best is not None else inf

    def count(self) -> None:
        self.number += 1
        if not self.number % 64:
            self._progress("search", self.number)

    def at(self, node: Levels) -> Ruling:
        """Look at a node."""
        self.count()
        ruling = self._judge.rule(self._rollups, node)
        if ruling.holds:
            loss = self._objective.of(self._rollups.at(node), ruling)
            if loss < self.least - CLOSE:
                self.best = (loss, node, ruling)
        return ruling

    def lost(self, node: Levels, enough: float = inf) -> float:
        """What a node loses, infinite where it breaks a promise.

        Where more than `enough` is surely lost it need not be looked at: then that is infinite, too.
        """
        if node not in self._losses:
            least = self._objective.floor(node)
            if least > enough or (self._finer is not None and self._finer.loses(node, enough - least)):
                return inf
            ruling = self.at(node)
            holds = ruling.holds
            self._losses[node] = self._objective.of(self._rollups.at(node), ruling) if holds else inf
            if self._judge.monotone:
                self._finer = self._finer or Finer(len(node))
                self._finer.say(node, self._more(node, ruling))
        return self._losses[node]

    def _more(self, node: Levels, ruling: Ruling) -> float:
        """What every finer node loses more than with nothing suppressed."""
        if ruling.at_least > self._judge.limit or (self._judge.prunes and not ruling.holds):
            return inf
        more = self._objective.below(self._rollups.at(node), ruling)
        return 0.0 if more is None else sum(float(each[-1]) for each in more)
