"""What a search claims of its result, in numbers that anybody may see and the auditor counts again.

Sequences fall into classes: those of one length that occur in equally many records, of which equally many
have each protected value. The proof is the list of classes and how many sequences each has. It names no
place, no time and no value, so it can stand in the evidence; and it is complete: a sequence that the search
forgot, or counted wrongly, makes the auditor's list another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from privet.models.linkage import Linkage


@dataclass(frozen=True, slots=True, order=True)
class SequenceClass:
    """Sequences that are alike in everything that a promise looks at."""

    length: int
    support: int
    having: tuple[int, ...]  # records with each protected value, in the order of the promise
    sequences: int

    def keeps(self, k: int, bounds: Sequence[Fraction]) -> bool:
        return self.support >= k and all(
            having <= bound * self.support for having, bound in zip(self.having, bounds, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Argument:
    """The classes of one promise."""

    promise: Linkage
    bounds: tuple[Fraction, ...]  # of each protected value that occurs
    classes: tuple[SequenceClass, ...]

    @classmethod
    def of(cls, promise: Linkage, bounds: Sequence[Fraction], counts: Mapping[tuple[int, ...], int]) -> Self:
        """From how many sequences there are of each (length, support, having...).

        A value that no sequence has is left out: whoever had it may have been left out of the release, and
        then its reader does not know of it.
        """
        telling = [at for at in range(len(bounds)) if any(kind[2 + at] for kind in counts)]
        classes = (
            SequenceClass(length, support, tuple(having[at] for at in telling), many)
            for (length, support, *having), many in counts.items()
        )
        return cls(promise, tuple(bounds[at] for at in telling), tuple(sorted(classes)))

    @property
    def holds(self) -> bool:
        return all(one.keeps(self.promise.k, self.bounds) for one in self.classes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it: [length, support, [records having each protected value], sequences]."""
        return {
            "l": self.promise.l,
            "k": self.promise.k,
            "bounds": [str(bound) for bound in self.bounds],
            "classes": [[one.length, one.support, [*one.having], one.sequences] for one in self.classes],
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """One argument for each promise, in the order of the policy."""

    arguments: tuple[Argument, ...]

    @property
    def holds(self) -> bool:
        return all(argument.holds for argument in self.arguments)

    def to_dict(self) -> list[dict[str, Any]]:
        return [argument.to_dict() for argument in self.arguments]
