"""What somebody learns who knows the algorithm too: the minimality attack, tried on a table.

A search that releases the least general table that keeps a promise tells, by stopping there, that everything
less general did not; which may tell whose value is whose. Searches that are coincident by construction say
so (`coincident`); of the others a table is tried: values are exchanged inside its published classes, the
search runs again, and only exchanges after which it would have released the same are still possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod
from typing import Any

import numpy as np

from privet.core import Policy, Progress, Tally, silent
from privet.disclose.inherent import (
    MOST,
    Inherent,
    Partition,
    Values,
    exactly,
    first_that_holds,
    groups,
    sampled,
)
from privet.errors import UnsatisfiableError, UnsupportedError

TRIES = 200
RECORDS = 3_000  # more would take long: each try is a search
FEW = 2_000  # assignments that are tried one by one


def algorithm_aware(
    tally: Tally, policy: Policy, *, tries: int = TRIES, seed: int = 0, progress: Progress = silent
) -> dict[str, Any]:
    """How far inherent distributions lie from what the release would show; numbers only."""
    algorithm: Any = policy.algorithm
    found: dict[str, Any] = {"algorithm": algorithm.name, "example": example()}
    if getattr(algorithm, "coincident", False):
        return found | {"coincident": True, "how": "by construction"}
    if getattr(algorithm, "spends", None) is not None:
        return found | {"coincident": None, "how": "it works by chance, which is part of what it promises"}
    if len(tally.sensitive) != 1:
        return found | {"coincident": None, "how": "tried with one sensitive attribute only"}
    if tally.records > RECORDS:
        return found | {"coincident": None, "how": f"tables of up to {RECORDS} records are tried"}
    records = tally.by_record()
    values = tuple(records.sensitive[0].codes.tolist())

    def run(mixed: Values) -> Partition:
        progress("search", 0)
        return _released(records, mixed, policy)

    try:
        partition = run(values)
    except UnsupportedError as error:
        return found | {"coincident": None, "how": error.complaints[0]}
    if not partition:
        return found | {"coincident": None, "how": "nothing can be released"}
    known = _known(run, values, partition, tries, seed)
    return found | {
        # A sample can show that something is learnt, never that nothing is.
        "coincident": known.coincident if known.exact or not known.coincident else None,
        "how": "every exchange of values was tried"
        if known.exact
        else f"{tries} random exchanges, of which {known.draws} are possible; chance explains differences of "
        f"{known.tolerance:.0%}",
        "possible": known.assignments,
        "farthest": round(float(known.farthest), 6),
        "certain": known.certain,
    }


def _known(run: Any, values: Values, partition: Partition, tries: int, seed: int) -> Inherent:
    many = factorial(len(values)) // prod(factorial(times) for times in Counter(values).values())
    if many <= min(FEW, MOST):
        return exactly(lambda mixed: {run(mixed): Fraction(1)}, values, partition)
    return sampled(run, values, partition, tries=tries, rng=np.random.default_rng(seed))


def _released(records: Tally, values: Values, policy: Policy) -> Partition:
    """The classes that the search would publish if people had these values."""
    column = records.sensitive[0]
    codes: Any = values
    mixed = replace(records, sensitive=(replace(column, codes=np.array(codes, dtype=column.codes.dtype)),))
    try:
        published = mixed.recoded(policy.algorithm.search(mixed, policy).recoding)
    except UnsatisfiableError:
        return ()
    if published.records != mixed.records:
        raise UnsupportedError("tried only where no record is left out")
    classes: dict[tuple[int, ...], list[int]] = {}
    for person, labels in enumerate(zip(*(c.codes.tolist() for c in published.quasi), strict=True)):
        classes.setdefault(labels, []).append(person)
    return groups(*classes.values())


def example() -> dict[str, Any]:
    """Six patients in three pairs or two triples: the usual search gives two of them away.

    Zhang 2010, tables 5.1 to 5.3. The first grouping in which every group has two different values is
    released; it is the second one, so some pair had one value twice.
    """

    def two(bag: tuple[Hashable, ...]) -> bool:
        return len(set(bag)) >= 2

    patients = ("flu", "tracheitis", "cancer", "cancer", "pneumonia", "gastritis")
    triples = groups([0, 1, 2], [3, 4, 5])
    known = exactly(first_that_holds([groups([0, 1], [2, 3], [4, 5]), triples], two), patients, triples)
    return {
        "people": len(patients),
        "shown": str(known.apparent[2]["cancer"]),
        "known": str(known.inherent[2]["cancer"]),
        "certain": known.certain,
    }
