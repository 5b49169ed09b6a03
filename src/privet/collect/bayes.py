"""Naive Bayes on reconstructed distributions: nobody's record is needed, only how values are spread by class.

Agrawal and Srikant 2000; spec 09, 3.2. The class is collected as it is. Shares are smoothed as if every bin
had one more record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.collect.assign import assigned
from privet.collect.column import Column
from privet.collect.draw import Codes
from privet.collect.estimate import estimate
from privet.collect.iterate import Stop
from privet.collect.matrix import Floats, bin_of, bins_of
from privet.collect.training import Strategy, Training


@dataclass(frozen=True)
class NaiveBayes:
    """Logarithms of shares: of the classes, and of the bins of each column by class."""

    label: Column
    columns: Mapping[str, Column]
    bins: int
    classes: Floats
    shares: Mapping[str, Floats]  # a row for each class

    def predict(self, codes: Mapping[str, Any]) -> Codes:
        """The likeliest class of each record, from the numbers of its true values."""
        score: Any = self.classes[None, :]
        for name, column in self.columns.items():
            score = score + self.shares[name].T[bin_of(column, codes[name], self.bins)]
        return np.asarray(np.argmax(score, axis=1))

    def document(self) -> dict[str, Any]:
        return {
            "model": "naive-bayes",
            "classes": np.exp(self.classes).tolist(),
            "shares": {name: np.exp(table).tolist() for name, table in self.shares.items()},
        }


def train(training: Training, strategy: Strategy, *, bins: int, stop: Stop) -> NaiveBayes:
    """By class: a reconstruction for each class and column; global: for each column, records put back."""
    sizes = np.bincount(training.classes, minlength=training.label.channel.inputs)
    tables = {}
    for name, column in training.columns.items():
        if strategy is Strategy.GLOBAL:
            chance = np.random.default_rng(0)
            at = assigned(column, training.outputs[name], bins, stop, chance)
            width = bins_of(column, bins)
            counts = np.bincount(training.classes * width + at, minlength=len(sizes) * width)
            tables[name] = _smoothed(counts.reshape(len(sizes), width).astype(np.float64))
        else:
            rows = [
                _counts(column, training.outputs[name][training.classes == one], bins, stop, strategy)
                for one in range(len(sizes))
            ]
            tables[name] = _smoothed(np.array(rows))
    classes = np.log((sizes + 1) / (sizes.sum() + len(sizes)))
    return NaiveBayes(training.label, training.columns, bins, classes, tables)


def _counts(column: Column, outputs: Any, bins: int, stop: Stop, strategy: Strategy) -> Floats:
    """How many records of one class each bin has, reconstructed, or with the noise taken for true."""
    if not len(outputs):
        return np.zeros(bins_of(column, bins))
    found = estimate(column, outputs, bins=bins, stop=stop, confidence=None)
    if strategy is Strategy.PERTURBED and found.perturbed is not None:
        return np.asarray(found.perturbed * len(outputs))
    return np.asarray(found.shares * len(outputs))


def _smoothed(counts: Floats) -> Floats:
    return np.asarray(np.log((counts + 1) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])))
