"""What a classifier is trained on: perturbed answers, a class that was collected as it is, and a strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from privet.collect.channels import AsIs
from privet.collect.column import Column
from privet.collect.draw import Codes
from privet.collect.observe import Answers
from privet.errors import InputError


class Strategy(Enum):
    """Where distributions are reconstructed."""

    GLOBAL = "global"  # once for each column, over all classes
    BY_CLASS = "by-class"  # once for each column and class
    LOCAL = "local"  # by class, again at every node of a tree
    PERTURBED = "perturbed"  # nowhere: the noise is taken for true, to see what reconstruction gains


@dataclass(frozen=True)
class Training:
    """Perturbed answers of every column but the label, which is known."""

    label: Column
    classes: Codes
    columns: Mapping[str, Column]
    outputs: Mapping[str, Any]

    @classmethod
    def of(cls, answers: Answers, label: str) -> Training:
        """The answers, with one column as the class to predict."""
        column = answers.plan.column(label)
        if not isinstance(column.channel, AsIs) or column.numeric:
            raise InputError(
                f'{label}: the class is a category that is collected as it is (mechanism = "as-is"); without '
                "it nothing can be learned class by class"
            )
        if not answers.records:
            raise InputError("there are no answers")
        others = {name: one for name, one in answers.plan.columns.items() if name != label}
        if not others:
            raise InputError("the plan has no other column than the class")
        return cls(column, answers.columns[label], others, {name: answers.columns[name] for name in others})
