"""Bucketisation: classes of similar records, published as buckets instead of being generalised.

Xiao and Tao's two tables (see `anatomy`) with buckets made of neighbours instead of by dealing: the classes
that Mondrian would have published. What can be told about a bucket's members is more exact, since they are
alike; and every promise about the sensitive values of a class can be kept, not only l-diversity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privet.core import Algorithm, Finding, PrivacyModel, Progress, Tally, Terms, silent
from privet.counts.boxing import CellBoxes
from privet.declared import settle
from privet.errors import UnsupportedError
from privet.models.classcheck import ClassCheck
from privet.models.linkage import LinkageModel
from privet.recoding import Perturbation
from privet.relational import suits
from privet.relational.anatomy import need_split
from privet.relational.coded import refuse_coded
from privet.relational.judge import Judge, need_classes_that_merge
from privet.relational.mondrian import Choice, Cuts, Mondrian
from privet.relational.randomness import generator
from privet.relational.suits import raise_unsatisfiable


@dataclass(frozen=True, slots=True)
class Bucketisation(Algorithm):
    """Two linked tables: the classes of Mondrian as buckets, and the sensitive values of each.

    It serves promises about the values of one sensitive attribute in each class that merging classes keeps.
    `relaxed`, `cuts` and `choice` are Mondrian's.
    """

    relaxed: bool = False
    cuts: Cuts = Cuts.RANGES
    choice: Choice = Choice.MEDIAN

    name: ClassVar[str] = "bucketisation"
    why_records: ClassVar[str] = (
        "its buckets are made of records, and the rows of one person could fill one; give each person one "
        "row, or use top-down or optimal"
    )
    road: ClassVar[str | None] = "anatomy"

    def __post_init__(self) -> None:
        settle(self)
        self._boxes()  # refuses what does not go together

    def _boxes(self) -> Mondrian:
        return Mondrian(self.relaxed, self.cuts, self.choice)

    def complaints(self, policy: Terms) -> list[str]:
        wrong = suits.merges(self.name, policy.models, policy.nulls, suits.quasi_of(policy))
        return [f"algorithm: {complaint}" for complaint in wrong or _findable(self.name, policy.models)]

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        sensitive = need_split(self.name, tally)
        if complaints := _findable(self.name, policy.models):
            raise UnsupportedError(*complaints)
        refuse_coded(self.name, tally)
        judge = Judge(tally, policy.models)
        need_classes_that_merge(self.name, judge, tally, policy.models)
        if not judge.holds_for_all():
            raise_unsatisfiable(tally, policy.models)
        progress("search", 0)
        table = CellBoxes(tally, judge.sensitive)
        boxes = self._boxes().boxes(tally, table, judge)
        # Boxes are numbered in the order of their values; buckets are not to be.
        number = generator().permutation(boxes.count)[table.of_cell]
        labels = tuple(str(at + 1) for at in range(boxes.count))
        return Finding(
            Perturbation({sensitive.name: labels}, {sensitive.name: np.repeat(number, tally.counts)})
        )


def _findable(algorithm: str, models: Sequence[PrivacyModel]) -> list[str]:
    """The complaint about promises that nobody finds a person's record: its values leave as they are."""
    wrong = [m.name for m in models if isinstance(m, LinkageModel) and m.linkage().k > 1]
    wrong += [m.name for m in models if not isinstance(m, (LinkageModel, ClassCheck))]
    wrong += [m.name for m in models if isinstance(m, ClassCheck) and (m.class_size or 1) > 1]
    if not wrong:
        return []
    return [
        (
            f"{algorithm} publishes quasi-identifiers as they are, so that records can be found: it keeps "
            f"promises about the sensitive values of each class only, not {', '.join(wrong)}"
        )
    ]
