"""How well somebody predicts who trains on a release: naive Bayes on generalised values.

A published value is a range of codes in leaf order. A record that is published so counts, for every value
that it may have, with an even share; what is learnt then is a distribution over raw values for each class of
the target, and it is asked about raw records that it has not seen. So a model of a release is tested on
people as they are, not on how they would be published.

Each record is predicted once, by a model of the others: they are dealt into a few parts in the order of their
values, so the same counts give the same errors whoever counted them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.errors import InputError
from privet.measure.spread import Boxes
from privet.recoding import Generalization, Regions

PARTS = 3  # of the records, each predicted by the others
PRIOR = 1.0  # records that every value of every class is given beforehand

Floats = NDArray[np.float64]


def bayes_error(raw: Tally, recoding: Generalization | Regions | None = None) -> float:
    """The share of raw records whose target is predicted wrongly; None: by who has the raw table."""
    if raw.target is None:
        raise InputError("prediction needs a target")
    weights, order = _dealt(raw)
    boxes = None if recoding is None else Boxes.of(raw, recoding)
    kept = np.ones(raw.cells, dtype=bool) if recoding is None or recoding.kept is None else recoding.kept
    classes = raw.target.domain.size
    of_target = raw.target.codes.astype(np.intp)
    truth = of_target[order]
    wrong = 0.0
    for part in range(PARTS):
        train = (weights.sum(axis=1) - weights[:, part]) * kept
        told = _priors(of_target, train, classes)[:, None] + np.zeros(raw.cells)
        for column in raw.quasi:
            lo = column.codes.astype(np.intp) if boxes is None else _unkept(boxes.lo[column.name], kept)
            hi = lo + 1 if boxes is None else _unkept(boxes.hi[column.name], kept, 1)
            learnt = _learnt(of_target, train, classes, lo, hi, column.domain.size)
            told += learnt[:, column.codes]
        guessed = told.argmax(axis=0)[order]
        wrong += float(weights[order, part] @ (guessed != truth))
    return wrong / max(1, raw.records)


def majority_error(raw: Tally) -> float:
    """The error of who knows nothing but how common each class is."""
    if raw.target is None:
        raise InputError("prediction needs a target")
    seen = np.bincount(raw.target.codes, weights=raw.counts)
    return 1.0 - float(seen.max(initial=0)) / max(1, raw.records)


def _dealt(raw: Tally) -> tuple[Floats, NDArray[np.intp]]:
    """How many records of each cell are in each part, and the cells in the order of their values."""
    columns = [*raw.quasi, *raw.sensitive, *((raw.target,) if raw.target else ())]
    order = np.lexsort([column.codes for column in reversed(columns)])
    behind = np.cumsum(raw.counts[order])
    before = behind - raw.counts[order]
    weights = np.empty((raw.cells, PARTS))
    for part in range(PARTS):
        # Of the first n records those whose number leaves this rest: (n - part - 1) // PARTS + 1.
        weights[order, part] = (behind - part - 1) // PARTS - (before - part - 1) // PARTS
    return weights, order


def _unkept(ends: NDArray[np.intp], kept: NDArray[np.bool_], other: int = 0) -> NDArray[np.intp]:
    """Ends of all cells, where those that are not published have any: they weigh nothing."""
    found = np.full(len(kept), other, dtype=np.intp)
    found[kept] = ends
    return found


def _priors(target: NDArray[np.intp], weights: Floats, classes: int) -> Floats:
    seen = np.bincount(target, weights=weights, minlength=classes) + PRIOR
    return np.asarray(np.log(seen / seen.sum()))


def _learnt(  # noqa: PLR0917 - a column of a table: its classes, its records, its ranges
    target: NDArray[np.intp],
    weights: Floats,
    classes: int,
    lo: NDArray[np.intp],
    hi: NDArray[np.intp],
    size: int,
) -> Floats:
    """By class and value: the logarithm of how likely the value is."""
    wide = size + 1
    each = weights / (hi - lo)
    begins = np.bincount(target * wide + lo, weights=each, minlength=classes * wide)
    ends = np.bincount(target * wide + hi, weights=each, minlength=classes * wide)
    spread = np.cumsum((begins - ends).reshape(classes, wide), axis=1)[:, :size]
    spread = np.maximum(spread, 0.0) + PRIOR / size
    return np.asarray(np.log(spread / spread.sum(axis=1, keepdims=True)))
