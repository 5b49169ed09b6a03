"""People of a list against the records of a release: what each may have, as an attacker believes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privet.attackers.attack import NotTriedError
from privet.attackers.scene import Ints, Target
from privet.measure.attack import Rows
from privet.measure.linkage import linkage


@dataclass(frozen=True, eq=False)
class Beliefs:
    """For each kind of people, how the values of an attribute lie among the records that may be theirs."""

    person: Ints = field(repr=False)  # the kind of each person
    shares: NDArray[np.float64] = field(repr=False)  # kinds x values; a row of zeros: no record fits
    values: tuple[object, ...] = field(repr=False)


def beliefs(target: Target, people: Rows, attribute: str) -> Beliefs:
    """Who knows how labels translate looks everybody up, and counts the values of what fits."""
    table = target.shown
    on = [name for name in table.quasi if name in people]
    bag = table.bag(attribute)
    if not on or bag is None or target.translation is None:
        raise NotTriedError(
            "the releases and the list have no quasi-identifiers, or no sensitive value, in common"
        )
    if not table.bucketed:
        found = linkage(people, table.rows, on, target.translation, [attribute])
        weights = found.matches.astype(np.float64) @ found.secrets[attribute].astype(np.float64)
        return Beliefs(found.person.astype(np.int64), _shares(weights), found.values[attribute])
    rows = dict(table.rows)
    rows["\0bucket"] = [str(number) for number in table.group.tolist()]
    found = linkage(people, rows, on, target.translation, ["\0bucket"])
    near = found.matches.astype(np.float64) @ found.secrets["\0bucket"].astype(np.float64)
    order = [int(str(bucket)) for bucket in found.values["\0bucket"]]
    held = np.zeros((len(bag.size), len(bag.values)))
    held[bag.owner, bag.value] = bag.count / bag.size[bag.owner]
    return Beliefs(found.person.astype(np.int64), _shares(near @ held[order]), bag.values)


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    total = weights.sum(axis=1, keepdims=True)
    found: NDArray[np.float64] = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return found


def truth(values: Sequence[object], column: Sequence[object]) -> Ints:
    """The number of each person's true value; -1 where the release has no such value."""
    at = {value: number for number, value in enumerate(values)}
    return np.array([at.get(value, -1) for value in column], dtype=np.int64)
