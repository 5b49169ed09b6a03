"""Drawing tables that agree with every view, each draw with its weight (Algorithms 6.1 and 6.2).

One person after another gets a value. A table is reached with probability 1/w, where w is what the choices on
the way multiply up to; weighted by w, draws stand for all tables alike. All draws take a step at the same
time, as rows of arrays.

Two ways to choose:

`uniform` is the source's: each value with which the table can still be completed, all alike. Whether it can
be completed is decided exactly, so every draw ends in a table. With more than a few dozen people the weights
become so uneven that no number of draws helps.

`fitted`, the default, first spreads what is left of the views over the people who are left, as evenly as the
sums allow (`fitting`), and prefers values as that does: with one view that is exact, and with several it
nearly is, so weights stay even. It asks only whether each of the person's views has the value left. A draw
that finds itself with no value left for somebody ends there and weighs nothing: every table can still be
reached, with a known probability, so the estimates stay right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from privet.disclose.sources.completion import NODES, completed
from privet.disclose.sources.fitting import Fit
from privet.disclose.sources.prepare import Component, Counts, contradiction
from privet.errors import InputError, one_of

PROPOSALS = ("fitted", "uniform")
BATCH = 2_048  # draws that take their steps together
REMEMBERED = 200_000  # answers about completing a table that are kept

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Draws:
    """Some tables: for each, how many of each class have each value, and the logarithm of its weight;
    minus infinity for a draw that came to no table.
    """

    log_weights: Floats = field(repr=False)
    counts: Counts = field(repr=False)  # [draw, class, value]
    assigned: Counts | None = field(default=None, repr=False)  # [draw, place in the order]: value codes

    def joined(self, other: Draws) -> Draws:
        return Draws(
            np.concatenate([self.log_weights, other.log_weights]), np.concatenate([self.counts, other.counts])
        )


class Sampler:
    """Draws tables of one component."""

    def __init__(
        self,
        part: Component,
        *,
        order: Sequence[int] | None = None,
        proposal: str = "fitted",
        nodes: int = NODES,
    ) -> None:
        """`order` names every person of the component once; without it, those in most views come first."""
        if proposal not in PROPOSALS:
            raise InputError(one_of("the proposal", PROPOSALS, proposal))
        self.part, self.proposal, self.nodes = part, proposal, nodes
        self.order = tuple(order) if order is not None else default_order(part)
        of_person = {person: at for at, members in enumerate(part.classes) for person in members}
        if sorted(self.order) != sorted(of_person):
            raise InputError("the order names every person of the component once")
        steps = [of_person[person] for person in self.order]
        # Whoever is in one view only comes last, and then each view has one class left, which takes the rest.
        self.whole = order is not None or proposal == "uniform"
        self.steps = steps if self.whole else [at for at in steps if part.member[:, at].sum() > 1]
        self.views = [np.flatnonzero(column) for column in part.member.T]
        self._known: dict[tuple[int, bytes], NDArray[np.bool_]] = {}
        if proposal == "uniform":
            self.refuse_contradiction()

    def refuse_contradiction(self) -> None:
        """Is there a table at all? A draw that came to one says so by itself."""
        part = self.part
        if completed(part.member, part.sizes, part.margins, nodes=self.nodes) is None:
            raise contradiction()

    def draw(self, many: int, rng: np.random.Generator) -> Draws:
        """So many draws; raises NodeLimitError where it cannot be decided which values somebody may have."""
        part = self.part
        residual = np.repeat(part.margins[None], many, axis=0)
        counts = np.zeros((many, len(part.classes), len(part.values)), dtype=np.int64)
        weights = np.zeros(many)
        assigned = np.zeros((many, len(self.steps)), dtype=np.int64) if self.whole else None
        left = part.sizes.copy()
        rows = np.arange(many)
        fit = Fit(part, many) if self.proposal == "fitted" else None
        for step, at in enumerate(self.steps):
            views = self.views[at]
            if fit is not None:
                chance = fit.chances(at, left, residual)
            else:
                chance = self._completable(step, at, left, residual).astype(np.float64)
            total = chance.cumsum(axis=1)
            value = (total <= rng.random(many)[:, None] * total[:, -1:]).sum(axis=1)
            ended = total[:, -1] == 0
            value[ended] = 0
            with np.errstate(divide="ignore", invalid="ignore"):
                weights += np.where(ended, -np.inf, np.log(total[:, -1]) - np.log(chance[rows, value]))
            residual[rows[:, None], views[None, :], value[:, None]] -= ~ended[:, None]
            counts[rows, at, value] += 1
            left[at] -= 1
            if assigned is not None:
                assigned[:, step] = value
        if not self.whole:
            for at in np.flatnonzero(left).tolist():
                rest = residual[:, self.views[at][0], :]
                counts[:, at] = rest
                weights += float(_log_factorials(left[at : at + 1])) - _log_factorials(rest)
        return Draws(weights, counts, assigned)

    def _completable(self, step: int, at: int, left: Counts, residual: Counts) -> NDArray[np.bool_]:
        """[draw, value]: can the table still be completed when the person gets the value?"""
        shape = residual.shape
        distinct, which = np.unique(residual.reshape(len(residual), -1), axis=0, return_inverse=True)
        answers = [self._asked(step, at, left, row.reshape(shape[1:])) for row in distinct]
        return np.array(answers)[which.ravel()]

    def _asked(self, step: int, at: int, left: Counts, residual: Counts) -> NDArray[np.bool_]:
        key = (step, residual.tobytes())
        if key not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            sizes = left.copy()
            sizes[at] -= 1
            answer: NDArray[np.bool_] = np.all(residual[self.views[at]] > 0, axis=0)
            for value in np.flatnonzero(answer):
                after = residual.copy()
                after[self.views[at], value] -= 1
                answer[value] = completed(self.part.member, sizes, after, nodes=self.nodes) is not None
            self._known[key] = answer
        return self._known[key]


def default_order(part: Component) -> tuple[int, ...]:
    """People in many views first, then as the register has them: the rest then follows more evenly."""
    views = part.member.sum(axis=0).tolist()
    classes = sorted(range(len(part.classes)), key=lambda at: (-views[at], part.classes[at][0]))
    return tuple(person for at in classes for person in part.classes[at])


def _log_factorials(counts: Counts) -> Floats:
    """The logarithm of the product of factorials, for each row."""
    table = np.array([lgamma(number + 1) for number in range(int(counts.max(initial=0)) + 1)])
    found: Floats = table[counts].sum(axis=-1)
    return found
