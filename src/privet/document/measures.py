"""What was lost: LM, what is gone, how the sensitive values have shifted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np

from privet.document.edits import DocumentEdits
from privet.document.forest import NONE, Forest, Vertex, bucket_of
from privet.document.schema import Kind, Schema
from privet.domain import Value


@dataclass(frozen=True, slots=True)
class Share:
    """How many there were, how many are gone."""

    before: int
    gone: int

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.gone, self.before) if self.before else Fraction(0)


def lm(forest: Forest, edits: DocumentEdits, *, weighted: bool = True) -> Fraction:
    """LM of the collection: the loss of every label that is left, and 1 for each that is gone, over all.

    `weighted`: a label counts as much as its type's weight says, above and below the line.
    """
    weights = [kind.weight if weighted else Fraction(1) for kind in forest.schema.kinds]
    labels = [weight * len(kind.quasi) for weight, kind in zip(weights, forest.schema.kinds, strict=True)]
    left = kept(forest, edits)
    before = np.bincount(forest.kinds, minlength=len(labels)).tolist()
    all_labels = sum((count * price for count, price in zip(before, labels, strict=True)), Fraction(0))
    lost = sum((b - k) * price for b, k, price in zip(before, left, labels, strict=True))
    nodes = edits.nodes
    often = np.zeros(len(nodes.labels), dtype=np.int64)
    for group in edits.classes:
        there = group.rep.nodes[group.rep.nodes != NONE]
        often += len(group.members) * np.bincount(there, minlength=len(often))
    dulled = sum(
        int(often[node]) * weights[nodes.kinds[node]] * nodes.loss(node)
        for node in np.flatnonzero(often).tolist()
    )
    return (lost + dulled) / all_labels if all_labels else Fraction(0)


def kept(forest: Forest, edits: DocumentEdits) -> list[int]:
    """How many vertices of each type are published."""
    counts = np.zeros(len(forest.schema.kinds), dtype=np.int64)
    for group in edits.classes:
        counts += len(group.members) * np.bincount(group.rep.kinds, minlength=len(counts))
    found: list[int] = counts.tolist()
    return found


def suppression(forest: Forest, edits: DocumentEdits) -> Mapping[str, Share]:
    """What is gone: records, vertices, labels, sensitive values, and the vertices of each type."""
    kinds = forest.schema.kinds
    before = np.bincount(forest.kinds, minlength=len(kinds)).tolist()
    gone = [b - k for b, k in zip(before, kept(forest, edits), strict=True)]

    def weighed(weight: list[int]) -> Share:
        return Share(
            sum(b * w for b, w in zip(before, weight, strict=True)),
            sum(g * w for g, w in zip(gone, weight, strict=True)),
        )

    return {
        "records": Share(len(forest), len(forest) - edits.records),
        "vertices": weighed([1] * len(kinds)),
        "labels": weighed([len(kind.quasi) for kind in kinds]),
        "sensitive values": weighed([int(kind.sensitive is not None) for kind in kinds]),
        **{f"type {k.name}": Share(b, g) for k, b, g in zip(kinds, before, gone, strict=True)},
    }


def discernibility(forest: Forest, edits: DocumentEdits) -> int:
    """The usual form for tables; the source of this method does not define one for trees."""
    squares = sum(len(group.members) ** 2 for group in edits.classes)
    return squares + len(forest) * len(edits.suppressed)


def sensitive_counts(schema: Schema, records: Iterable[Vertex]) -> Mapping[str, Counter[int | Value]]:
    """How often each sensitive value (or bucket) occurs, by attribute `type.field`."""
    found: dict[str, Counter[int | Value]] = {}
    places = {kind.name: _sensitive_place(kind) for kind in schema.kinds}
    for record in records:
        for vertex in record.walk():
            place = places[vertex.type]
            if place is not None:
                name, at, kind = place
                f = kind.published[at]
                value = vertex.values[at]
                bucket = value if f.buckets is None else bucket_of(kind, f, f.buckets, value)
                found.setdefault(name, Counter())[bucket] += 1
    return found


def _sensitive_place(kind: Kind) -> tuple[str, int, Kind] | None:
    if kind.sensitive is None:
        return None
    return f"{kind.name}.{kind.sensitive.name}", kind.position(kind.sensitive.name), kind


def divergence(
    release: Mapping[str, Counter[int | Value]], original: Mapping[str, Counter[int | Value]]
) -> Mapping[str, float]:
    """Kullback-Leibler divergence of the released sensitive values from the original ones, in nats.

    An attribute of which nothing is left has no distribution: its divergence is infinite. So it is where a
    release has a value that the original has not; no true release has.
    """
    found = {}
    for name, before in original.items():
        now = release.get(name, Counter())
        share, total = now.total(), before.total()
        found[name] = (
            sum(count / share * log(count * total / (share * before[value])) for value, count in now.items())
            if share and all(before[value] for value in now)
            else float("inf")
        )
    return found
