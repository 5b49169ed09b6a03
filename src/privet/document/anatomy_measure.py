"""What anatomy costs: vertices suppressed by depth and type, which values are left, how counts came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.document.anatomy import Grouping
from privet.document.forest import Vertex
from privet.document.measures import sensitive_counts
from privet.document.publication import Publication, with_sensitive
from privet.document.style import Style
from privet.domain import Value


def suppression_accuracy(grouping: Grouping) -> Fraction:
    """The share of a person's vertices that is published, on average over people; 0 for who is suppressed."""
    sizes = grouping.forest.sizes()
    kept = sum(
        (Fraction(len(group), int(sizes[record])) for group in grouping.groups for record in group.members),
        Fraction(0),
    )
    return kept / len(grouping.forest)


@dataclass(frozen=True, slots=True)
class Lost:
    """Vertices before and after, of one type at one depth."""

    level: int
    type: str
    before: int
    after: int

    @property
    def share(self) -> Fraction:
        return Fraction(self.before - self.after, self.before) if self.before else Fraction(0)


def suppression(grouping: Grouping) -> tuple[Lost, ...]:
    """What was lost at each depth: a parent that is cut takes its children along."""
    forest = grouping.forest
    kept = published(grouping)
    kinds = len(forest.schema.kinds)
    place = forest.levels.astype(np.int64) * kinds + forest.kinds
    before, after = Counter(place.tolist()), Counter(place[kept].tolist())
    return tuple(
        Lost(at // kinds, forest.schema.kinds[at % kinds].name, before[at], after[at])
        for at in sorted(before)
    )


def published(grouping: Grouping) -> NDArray[np.bool_]:
    """For each vertex of the forest: is it in the publication?"""
    kept = np.zeros(grouping.forest.vertices, dtype=bool)
    for group in grouping.groups:
        kept[group.vertices.ravel()] = True
    return kept


def sensitive_of(publication: Publication) -> Mapping[str, Counter[int | Value]]:
    """How often each sensitive value (or bucket) is published, as `measures.divergence` wants it."""
    schema = publication.schema
    if publication.style is Style.TREES:
        return sensitive_counts(schema, (tree for group in publication.groups for tree in group.sa))
    return sensitive_counts(
        schema,
        (
            with_sensitive(
                Vertex(bag.type, (None,) * len(schema.kind(bag.type).published)), iter([value]), schema
            )
            for group in publication.groups
            for bag in group.bags.values()
            for value in bag
        ),
    )


@dataclass(frozen=True, slots=True)
class QueryAccuracy:
    """Over many counts: the mean of 1 - |estimate - true| / true; `clipped` takes negative ones as 0."""

    queries: int
    mean: float
    clipped: float


def query_accuracy(answers: Iterable[tuple[float, float]], least: float = 1) -> QueryAccuracy:
    """From pairs (true, estimated); questions whose true answer is below `least` are not asked."""
    asked: Sequence[float] = [
        1 - abs(estimate - true) / true for true, estimate in answers if true >= least and true > 0
    ]
    if not asked:
        return QueryAccuracy(0, 0.0, 0.0)
    return QueryAccuracy(
        len(asked), sum(asked) / len(asked), sum(max(one, 0.0) for one in asked) / len(asked)
    )
