"""The check of every promise about how sensitive values lie in a class: it asks the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from privet.core import PrivacyModel, Tally, Verdict
from privet.models.classes import Classes, Histogram, Mask

Number: TypeAlias = int | Fraction


@dataclass(frozen=True)
class Reading:
    """What one sensitive attribute comes to: which classes break the promise, and the numbers reached."""

    bad: Mask
    reached: Mapping[str, Number]


class ClassCheck(PrivacyModel):
    """The `check` of every model that looks at each class, and at each sensitive attribute by itself."""

    __slots__ = ()
    monotone: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]]  # how each number adds up over attributes
    sensitive: tuple[str, ...]

    def protects(self) -> tuple[tuple[str, str], ...]:
        return tuple(("sensitive", name) for name in self.sensitive)

    def read(self, histogram: Histogram) -> Reading:
        raise NotImplementedError  # each model says what it asks of a class

    def read_of(self, classes: Classes, tally: Tally, attribute: str) -> Reading:
        """The same, of a tally."""
        return self.read(classes.histogram(tally, attribute))

    def check(self, tally: Tally) -> Verdict:
        classes = Classes.of(tally, self.name)
        read = {name: self.read_of(classes, tally, name) for name in self.sensitive}
        achieved: dict[str, Number] = {}
        for number, pick in self.worst.items():
            each = {name: one.reached[number] for name, one in read.items() if number in one.reached}
            if each:
                achieved[number] = pick(list(each.values()))
            if len(read) > 1:
                achieved |= {f"{number} of {name}": reached for name, reached in each.items()}
        bad = np.logical_or.reduce([one.bad for one in read.values()])
        return Verdict(achieved, int(bad.sum()), int(classes.size[bad].sum()))

    def histograms(self, tally: Tally) -> list[Histogram]:
        classes = Classes.of(tally, self.name)
        return [classes.histogram(tally, name) for name in self.sensitive]


Model = TypeVar("Model")


def without_bound(model: Model, parameter: str) -> Model:
    """A promise that bounds nothing, for `nearest` where no number would do.

    Neither a policy nor a constructor makes one: a promise without its number is refused when it is signed.
    """
    made = copy(model)
    object.__setattr__(made, parameter, None)
    return made
