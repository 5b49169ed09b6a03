"""Top-down specialisation: from the most general table down, as far as every promise allows.

Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data", KDD 2009, on the loop of Fung, Wang and
Yu, "Top-down specialization for information and privacy preservation", ICDE 2005.

Differs from the paper: a split that would break a promise is dropped from the candidates, its value
stays in the cut (taken literally, the paper's text would leave a hole in it); validity is asked only
of the best candidate, because what is invalid once stays invalid after every further split.

A greedy search under a weak promise may go down a way that ends early, and lose more than under a strong
one. With `tries` it also searches under stronger promises, of classes of some sizes that are the same
whatever was asked for, the largest first. Under each it begins anew, goes on from what each size before found
when it began anew, and from the best so far; what loses least is taken. So with all sizes a promise of
smaller classes never loses more than one of these sizes does: it goes on from what that one found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from privet.core import Algorithm, Finding, PrivacyModel, Progress, Step, Tally, Terms, silent
from privet.counts.door import Candidate, Counts, Score
from privet.counts.memory import counted
from privet.declared import settle
from privet.errors import PolicyError, UnsupportedError
from privet.relational import suits
from privet.relational.specialize import Best, Cuts, KeepsPromises, Splits, specialize

__all__ = ["Score", "Splits", "TopDown"]


SIZES = (5, 10, 20, 50, 100, 500)  # of classes, where further searches begin


@dataclass(frozen=True, slots=True)
class TopDown(Algorithm):
    """Split the best value of the cut again and again, while a valid split exists.

    The result is locally maximal: no single further split keeps every promise.
    """

    score: Score | None = None  # None: information gain where there is a target, else discernibility
    splits: Splits = Splits.STRICT
    tries: int = 1  # searches, each after the first begun under a promise of larger classes; 7 are all

    name: ClassVar[str] = "top-down"
    cuts_at_values: ClassVar[bool] = True
    asks: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        if self.tries < 1:
            raise PolicyError("tries is a whole number from 1 on")

    def complaints(self, policy: Terms) -> list[str]:
        return [f"algorithm: {wrong}" for wrong in suits.splits(self.name, policy.models)]

    def search(self, data: Tally | Counts, policy: Terms, progress: Progress = silent) -> Finding:
        counts = counted(data)
        heading = counts.heading
        refuse_infeasible(counts, policy.models)
        score = self.score or (Score.DISCERNIBILITY if heading.target is None else Score.INFORMATION_GAIN)
        if heading.target is None and score is not Score.DISCERNIBILITY:
            raise PolicyError(f'algorithm: score = "{score.value}" needs an attribute with role = "target"')
        larger: list[Sequence[PrivacyModel]] = [policy.models]  # and every size after it larger
        for size in SIZES:
            stronger = tuple(model.with_classes_of(size) for model in policy.models)
            if len(larger) == self.tries or counts.beyond_reach(stronger):
                break
            if stronger != larger[-1]:
                larger.append(stronger)
        records = counts.histograms([column.name for column in heading.quasi]) if len(larger) > 1 else []
        firsts: list[Sequence[Candidate]] = []
        source: Cuts | None = None
        for models in reversed(larger):
            begun = [(), *firsts, *([source.performed] if source is not None else [])]
            ways = [self._cut(counts, score, models, splits, progress) for splits in begun]
            source, steps = min(ways, key=lambda way: way[0].lost(records)) if len(larger) > 1 else ways[0]
            firsts.append(ways[0][0].performed)
        assert source is not None
        return Finding(source.recoding(), tuple(steps))

    def _cut(
        self,
        counts: Counts,
        score: Score,
        models: Sequence[PrivacyModel],
        begun: Sequence[Candidate],
        progress: Progress,
    ) -> tuple[Cuts, list[Step]]:
        """One search, from splits that another one has made on."""
        heading = counts.heading
        table = counts.cutting(score, models)
        source = Cuts(heading, table, self.splits, begun)
        names = [column.name for column in heading.quasi]
        steps = specialize(source, Best(table), KeepsPromises(table), names, progress)
        made = [
            Step(names[c.attribute], c.node.label, tuple(n.label for n in c.children), None, performed=True)
            for c in begun
        ]
        return source, [*made, *steps]


def refuse_infeasible(counts: Counts, models: Sequence[PrivacyModel]) -> None:
    """Say before the search what no search can reach, and what could be."""
    if complaints := suits.splits(TopDown.name, models):
        raise UnsupportedError(*complaints)
    suits.refuse_beyond_reach(counts, models)
