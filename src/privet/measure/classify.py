"""What a release costs somebody who trains a classifier on it.

CE: error on the published table; BE: on the raw one; UE: on the raw one without its quasi-identifiers.
`cost` = CE - BE is what privacy costs, `benefit` = UE - CE what publishing the columns at all is worth.
Mohammed (2012), section 3.4: generalise all records, train on two thirds, test on the rest; sensitive
attributes are predictors.

The tree is scikit-learn's with the entropy criterion, in place of C4.5: at least two records in a leaf,
and a split must save `BITS` bits of entropy over the training records. So pruned, BE on Adult is 14.6 %
(mean of three splits; Mohammed: 14.7 %).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.domain import Value
from privet.errors import InputError, MissingExtraError
from privet.measure.attack import Rows

BITS = 12
LEAST = 2  # records in a leaf, as in C4.5
MOST = 60_000  # records used; more change the error's third digit and take minutes
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

    def error(table: Rows, predictors: Sequence[str]) -> float:
        train, test = divided(table)
        _, truth = np.unique([value or "" for value in table[target]], return_inverse=True)
        columns = [part for name in predictors for part in _encoded(table[name], train)]
        return _error(columns, truth, train, test)

    train, test = divided(raw)
    return Classification(
        ce=error(published, names),
        be=error(raw, names),
        ue=error(raw, [name for name in names if name not in quasi]),
        train=len(train),
        test=len(test),
    )


def _error(
    columns: list[NDArray[np.float32]], truth: NDArray[Any], train: NDArray[Any], test: NDArray[Any]
) -> float:
    if not columns:  # nothing to go by: the most frequent class of the training records
        return float((truth[test] != np.bincount(truth[train]).argmax()).mean())
    try:
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - an optional extra, slow to load
    except ImportError:
        raise MissingExtraError("classification error", "classify") from None
    x = np.stack(columns, axis=1)
    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=LEAST, ccp_alpha=BITS / len(train), random_state=0
    )
    tree.fit(x[train], truth[train])
    return float((tree.predict(x[test]) != truth[test]).mean())


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
