"""The top-down loop: start with the most general values and split, as long as it may go on.

Top-down specialisation (Fung, Wang and Yu, ICDE 2005), DiffGen and their distributed forms differ in
three places only, and these are the three arguments: where counts come from, how the next split is
chosen, and when to stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Protocol

from privet.core import Progress, Step
from privet.counts.door import Candidate


class Ruling(Enum):
    """What may become of a candidate."""

    PERFORM = "perform"
    DROP = "drop"  # never again: what breaks a promise now breaks it after every further split
    STOP = "stop"  # no more splits at all


class SplitSource(Protocol):
    """Where counts come from, and where splits are performed."""

    def start(self) -> Iterable[Candidate]:
        """The roots that have children."""

    def perform(self, candidate: Candidate) -> Iterable[Candidate]:
        """Split; the new values that could be split in turn."""

    def instead(self, candidate: Candidate) -> Iterable[Candidate]:
        """What may be tried in place of a dropped candidate."""


class Chooser(Protocol):
    """How the next split is chosen among the candidates."""

    def add(self, candidates: Iterable[Candidate]) -> None: ...

    def choose(self) -> tuple[Candidate, float | None] | None:
        """Take out the next candidate, with its score where that may be known; None when there is none."""


class Stopper(Protocol):
    """When a split may not be made."""

    def rule(self, candidate: Candidate) -> tuple[Ruling, str]:
        """The ruling, and the reason where it is not to perform."""


def specialize(
    source: SplitSource, chooser: Chooser, stopper: Stopper, names: Sequence[str], progress: Progress
) -> list[Step]:
    """Run the loop; what was split is in the source, and every try is in the log."""
    log: list[Step] = []
    chooser.add(source.start())
    while (chosen := chooser.choose()) is not None:
        candidate, score = chosen
        ruling, reason = stopper.rule(candidate)
        if ruling is Ruling.STOP:
            break
        performed = ruling is Ruling.PERFORM
        chooser.add(source.perform(candidate) if performed else source.instead(candidate))
        log.append(
            Step(
                attribute=names[candidate.attribute],
                label=candidate.node.label,
                children=tuple(child.label for child in candidate.children),
                score=score,
                performed=performed,
                reason=reason,
            )
        )
        progress("search", len(log))
    return log
