"""What a release costs somebody who trains a classifier on it.

CE: error on the published table; BE: on the raw one; UE: on the raw one without its quasi-identifiers.
`cost` = CE - BE is what privacy costs, `benefit` = UE - CE what publishing the columns at all is worth.
Mohammed (2012), section 3.4: generalise all records, train on two thirds, test on the rest; sensitive
attributes are predictors.

The tree is scikit-learn's with the entropy criterion, in place of C4.5: at least two records in a leaf,
and a split must save `BITS` bits of entropy over the training records. So pruned, BE on Adult is 14.6 %
(mean of three splits; Mohammed: 14.7 %). What a release costs depends on the learner, so others are
trained on the same records too: a random forest, logistic regression and naive Bayes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.domain import Value
from privet.errors import InputError, MissingExtraError
from privet.measure.attack import Rows

BITS = 12
LEAST = 2  # records in a leaf, as in C4.5
MOST = 60_000  # records used; more change the error's third digit and take minutes
LEARNERS = (
    "decision tree",
    "random forest",
    "logistic regression",
    "naive Bayes",
)  # the first speaks for all
TREES = 40  # of the forest
WIDEST = 64  # categories that get a column of their own, most frequent first

_NUMBER = r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_ORDERED = re.compile(
    rf"\[?(?P<low>{_NUMBER})(?:(?:-|\.\.){_NUMBER}\))?|>=(?P<over>{_NUMBER})|<(?P<under>{_NUMBER})"
)


@dataclass(frozen=True, slots=True)
class Classification:
    """Errors as shares of the test records."""

    ce: float
    be: float
    ue: float
    train: int
    test: int
    learners: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by name: ce, be, ue of each

    @property
    def cost(self) -> float:
        return self.ce - self.be

    @property
    def benefit(self) -> float:
        return self.ue - self.ce

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"cost": self.cost, "benefit": self.benefit}


def chosen_rows(rows: int, *, seed: int, most: int = MOST) -> NDArray[np.intp]:
    """Which rows are used, in the order in which they are split: the first two thirds are for training."""
    return np.random.default_rng(seed).permutation(rows)[:most]


def classify(raw: Rows, published: Rows, *, target: str, quasi: Collection[str], seed: int) -> Classification:
    """Train and test on both tables, each by itself: a release does not say which row is whose."""
    names = [name for name in published if name != target and name in raw]
    if target not in raw or target not in published:
        raise InputError("classification needs the target in both tables")

    def divided(table: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        order = chosen_rows(len(table[target]), seed=seed)
        split = len(order) * 2 // 3
        if not 0 < split < len(order):
            raise InputError("classification needs at least two records")
        return order[:split], order[split:]

    def errors(table: Rows, predictors: Sequence[str]) -> dict[str, float]:
        train, test = divided(table)
        _, truth = np.unique([value or "" for value in table[target]], return_inverse=True)
        columns = [part for name in predictors for part in _encoded(table[name], train)]
        return _errors(columns, truth, train, test)

    train, test = divided(raw)
    ce, be = errors(published, names), errors(raw, names)
    ue = errors(raw, [name for name in names if name not in quasi])
    return Classification(
        ce=ce[LEARNERS[0]],
        be=be[LEARNERS[0]],
        ue=ue[LEARNERS[0]],
        train=len(train),
        test=len(test),
        learners={name: {"ce": ce[name], "be": be[name], "ue": ue[name]} for name in LEARNERS},
    )


def _errors(
    columns: list[NDArray[np.float32]], truth: NDArray[Any], train: NDArray[Any], test: NDArray[Any]
) -> dict[str, float]:
    """Of each learner, the share of the test records that it gets wrong."""
    if not columns or len(np.unique(truth[train])) < 2:  # nothing to go by: the most frequent class
        return dict.fromkeys(LEARNERS, float((truth[test] != np.bincount(truth[train]).argmax()).mean()))
    x = np.stack(columns, axis=1)
    # Where a number is missing, learners that know no such thing read the mean of those that are there.
    there = ~np.isnan(x[train])
    mean = np.where(there, x[train], 0).sum(axis=0) / np.maximum(1, there.sum(axis=0))
    spread = np.sqrt(
        np.where(there, (x[train] - mean) ** 2, 0).sum(axis=0) / np.maximum(1, there.sum(axis=0))
    )
    level = np.where(np.isnan(x), 0, (x - mean) / np.where(spread > 0, spread, 1))
    found = {}
    for name, learner in _learners(len(train)).items():
        seen = x if name in LEARNERS[:2] else level  # trees know where a number is missing
        learner.fit(seen[train], truth[train])
        found[name] = float((learner.predict(seen[test]) != truth[test]).mean())
    return found


def _learners(train: int) -> dict[str, Any]:
    try:
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - an optional extra, slow to load
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
        from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("classification error", "classify") from None
    made = (
        DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=LEAST, ccp_alpha=BITS / train, random_state=0
        ),
        RandomForestClassifier(TREES, min_samples_leaf=LEAST, random_state=0, n_jobs=1),
        LogisticRegression(max_iter=200, tol=1e-3),
        GaussianNB(var_smoothing=1e-3),
    )
    return dict(zip(LEARNERS, made, strict=True))


def _encoded(column: Sequence[Value], train: NDArray[Any]) -> list[NDArray[np.float32]]:
    """Numbers and intervals by where they begin, in one column; categories by a column for each."""
    number = {value: _place(value) for value in set(column)}
    if all(place is not None for value, place in number.items() if value is not None):
        places = {value: np.nan if place is None else place for value, place in number.items()}
        found = np.array([places[value] for value in column], dtype=np.float32)
        return [found] if len(number) > 1 else []
    frequent = Counter(column[row] for row in train.tolist()).most_common(WIDEST)
    code = {
        value: at
        for at, (value, _) in enumerate(sorted(frequent, key=lambda pair: (-pair[1], pair[0] or "")))
    }
    codes = np.array([code.get(value, -1) for value in column])
    return [(codes == at).astype(np.float32) for at in range(len(code))] if len(code) > 1 else []


def _place(value: Value) -> float | None:
    """Where a number or an interval stands on its axis; None for anything else."""
    found = _ORDERED.fullmatch(value) if value is not None else None
    if found is None:
        return None
    if found["under"] is not None:
        return float(found["under"]) - 1
    return float(found["low"] if found["low"] is not None else found["over"])
