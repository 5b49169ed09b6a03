"""What was lost and what risk is left, of every kind of release."""

from __future__ import annotations

from collections.abc import Mapping

from privet.evidence.part import Exact, Label, Part, inside, part, stated, verified
from privet.evidence.paths import PathSize, Patterns


@part
class SizeBin(Part):
    """Classes of a range of sizes."""

    from_: int = stated()
    to: int = stated()
    classes: int = stated()
    records: int = stated()


@part
class ClassSizes(Part):
    """How many classes there are, and how large they are."""

    count: int = stated()
    smallest: int = stated()
    largest: int = stated()
    average: float = stated()
    histogram: tuple[SizeBin, ...] = stated()


@part
class Exposure(Part):
    """How easily records are found by all their quasi-identifiers."""

    unique_records: int = stated()
    unique_share: float = stated()
    highest: float = stated()
    average: float = stated()
    classes: int = stated()


@part
class RiskNote(Part):
    """Exposure before and after."""

    before: Exposure | None = stated(default=None)  # None: nobody has seen the table as it was
    after: Exposure = verified("documents", "table")


@part
class WorstClass(Part):
    """What the worst class gives away of a sensitive attribute, by each measure."""

    distinct_l: int | None = stated(default=None)
    entropy_l: float | None = stated(default=None)
    recursive_c: float | None = stated(default=None)
    variational: float | None = stated(default=None)
    kl: float | None = stated(default=None)
    ordered: float | None = stated(default=None)


@part
class Loss(Part):
    """What was lost; which of these there are depends on what was done."""

    lm: float | None = stated(default=None)
    lm_weighted: float | None = stated(default=None)
    ncp: float | None = stated(default=None)
    precision: float | None = stated(default=None)
    entropy: float | None = stated(default=None)
    kl: float | None = stated(default=None)
    changed: float | None = stated(default=None)
    discernibility: int | None = stated(default=None)
    discernibility_ratio: float | None = stated(default=None)
    average_class_size: float | None = stated(default=None)
    height: float | None = stated(default=None)
    suppressed_cells: int | None = stated(default=None)
    suppressed_records: int | None = stated(default=None)
    gain_retained: float | None = stated(default=None)
    query_error: float | None = stated(default=None)
    suppression_accuracy: float | None = stated(default=None)


@part
class ColumnLoss(Part):
    """What was lost of one column, and what is left in it."""

    lm: float | None = stated(default=None)
    ncp: float | None = stated(default=None)
    precision: float | None = stated(default=None)
    entropy: float | None = stated(default=None)
    kl: float | None = stated(default=None)
    changed: float | None = stated(default=None)
    cut: float | None = stated(default=None)  # of documents: the part that went with its vertices
    published_values: int | None = stated(default=None)
    raw_values: int | None = stated(default=None)
    suppressed_share: float | None = stated(default=None)
    gain_retained: float | None = stated(default=None)
    distribution: tuple[tuple[Label, int], ...] | None = verified("table", default=None)


@part
class Width(Part):
    """Too many quasi-identifiers: how coarse values must become before k people share all of them."""

    k: int = stated()
    quasi_identifiers: int = stated()
    expected: tuple[float, ...] = stated()
    observed: float | None = stated(default=None)
    too_wide: bool = stated()


@part
class NoisyCounts(Part):
    """How many counts carry noise, and how much."""

    leaves: int = stated()
    cells: int = stated()
    scale: Exact = stated()
    noises: int | None = stated(default=None)  # of that scale in every count, where there is more than one
    error: float = stated()


@part
class Marginal(Part):
    """A column by itself, bought with noise of its own."""

    scale: Exact = stated()
    distribution: tuple[tuple[Label, int], ...] = stated()


@part
class Measures(Part):
    """What was lost and what risk is left."""

    records: int = verified()
    classes: ClassSizes | None = verified("documents", "table", "anatomy", default=None)
    groups: ClassSizes | None = verified("tree-anatomy", default=None)
    before: PathSize | None = stated(default=None)
    after: PathSize | None = verified("trajectories", default=None)
    patterns: Patterns | None = inside(default=None)
    counts: NoisyCounts | None = stated(default=None)
    risk: RiskNote | None = inside(default=None)
    loss: Loss | None = stated(default=None)
    attributes: Mapping[str, ColumnLoss] | None = inside(default=None)
    marginals: Mapping[str, Marginal] | None = stated(default=None)
    dimensionality: Width | None = stated(default=None)
    worst_classes: Mapping[str, WorstClass] | None = verified("table", default=None)
