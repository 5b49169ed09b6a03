"""What somebody learns who knows the algorithm too: the minimality attack, tried on a table.

A search that releases the least general table that keeps a promise tells, by stopping there, that everything
less general did not; which may tell whose value is whose. Searches that are coincident by construction say
so (`coincident`). The others are attacked twice: on a table of five people, which shows whether the search
can give somebody away at all, and on the table at hand: values are exchanged inside its published classes,
the search runs again, and only exchanges after which it would have released the same are still possible.

The adversary knows all sensitive values together, and who stands in which class; people who were left out
are a class of their own (Zhang 2010, section 5.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod
from typing import Any

import numpy as np

from privet.core import Attribute, Column, Progress, Role, Tally, Terms, silent
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
from privet.domain import Domain, flat
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.hierarchy import Tree
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.recoding import Perturbation

TRIES = 200
RECORDS = 3_000  # more would take long: each try is a search
FEW = 2_000  # assignments that are tried one by one
# Proven, though not built for it: dealing to buckets by chance makes every assignment equally likely.
PROVEN = {"anatomy": "who shares a bucket is left to chance"}
LOOKS_AT_NONE = "no promise of this policy looks at sensitive values"
CHANCE = "it works by chance, which is part of what it promises"


def algorithm_aware(
    tally: Tally, policy: Terms, *, tries: int = TRIES, seed: int = 0, progress: Progress = silent
) -> dict[str, Any]:
    """How far inherent distributions lie from what the release would show; numbers only.

    `coincident` is about the release of this table, `always` about every table: True where that is proven,
    False where a small example shows the contrary, None where neither is known.
    """
    algorithm: Any = policy.algorithm
    found: dict[str, Any] = {"algorithm": algorithm.name}
    proof = proven(policy)
    if proof is not None:
        return found | {"example": example(), "always": True, "coincident": True, "how": proof}
    shown = _attacked(policy)
    found |= {"example": shown or example(), "always": False if shown else None}
    tried = inherently(tally, policy, tries=tries, seed=seed, progress=progress)
    if isinstance(tried, str):
        return found | {"coincident": None, "how": tried}
    known, _ = tried
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


def proven(policy: Terms) -> str | None:
    """Why knowing the policy's algorithm does not help, where that is proven."""
    algorithm: Any = policy.algorithm
    proof = "by construction" if algorithm.coincident else PROVEN.get(algorithm.name)
    if proof is None and policy.models and all(isinstance(model, KAnonymity) for model in policy.models):
        return LOOKS_AT_NONE
    return proof


def inherently(
    tally: Tally, policy: Terms, *, tries: int, seed: int = 0, progress: Progress = silent
) -> tuple[Inherent, Values] | str:
    """What is known of everybody in this table by who knows the algorithm, and everybody's true value.

    Or why that cannot be tried.
    """
    if policy.algorithm.spends is not None:
        return CHANCE
    if len(tally.sensitive) != 1:
        return "tried with one sensitive attribute only"
    if tally.records > RECORDS:
        return f"tables of up to {RECORDS} records are tried"
    records = tally.by_record()
    values = tuple(records.sensitive[0].codes.tolist())

    def run(mixed: Values) -> Partition:
        progress("search", 0)
        return _released(records, mixed, policy)

    try:
        partition = run(values)
    except UnsupportedError as error:
        return error.complaints[0]
    if not partition:
        return "nothing can be released"
    return _known(run, values, partition, tries, seed), values


def _known(run: Any, values: Values, partition: Partition, tries: int, seed: int) -> Inherent:
    many = factorial(len(values)) // prod(factorial(times) for times in Counter(values).values())
    if many <= min(FEW, MOST):
        return exactly(lambda mixed: {run(mixed): Fraction(1)}, values, partition)
    return sampled(run, values, partition, tries=tries, rng=np.random.default_rng(seed))


def _released(records: Tally, values: Values, policy: Terms) -> Partition:
    """The classes that the search would publish if people had these values; those left out are one more."""
    column = records.sensitive[0]
    codes: Any = values
    mixed = replace(records, sensitive=(replace(column, codes=np.array(codes, dtype=column.codes.dtype)),))
    try:
        recoding = policy.algorithm.search(mixed, policy).recoding
    except UnsatisfiableError:
        return ()
    kept = np.ones(mixed.records, dtype=bool) if recoding.kept is None else recoding.kept
    classes: dict[Hashable, list[int]] = {}
    if isinstance(recoding, Perturbation):  # buckets: they are named where the values were
        if set(recoding.labels) != {column.name}:
            raise UnsupportedError("tried with classes and with buckets only")
        labels = [(at,) for at in recoding.positions[column.name][kept].tolist()]
    else:
        published = recoding.recode(mixed)
        labels = list(zip(*(c.codes.tolist() for c in published.quasi), strict=True))
    for person, label in zip(np.flatnonzero(kept).tolist(), labels, strict=True):
        classes.setdefault(label, []).append(person)
    left_out = np.flatnonzero(~kept).tolist()
    return groups(*classes.values(), *([left_out] if left_out else []))


# Tables of five people in which a pair has one value twice, and the search shows by what it does that it is
# the pair: a pair and three who could be published apart, or a pair and one who could not be published.
_JOBS = Tree.of({"ANY": {"Artist": ["dancer", "writer"], "Pro": ["cook", "clerk", "judge"]}})
_FIVE = (("dancer", "writer", "cook", "clerk", "judge"), ("dancer", "dancer", "writer", "cook", "cook"))
_ILL = ("x", "x", "y", "z", "w")
_INCOME = ("low", "low", "high", "high", "high")


def _attacked(policy: Terms) -> dict[str, Any] | None:
    """The policy's own algorithm, attacked on five people: None where it gives nobody away there."""
    attributes = (
        Attribute("job", Role.QUASI, _JOBS),
        Attribute("ill", Role.SENSITIVE),
        Attribute("income", Role.TARGET),  # some scores need one
    )
    model = DistinctLDiversity(l=2, sensitive=("ill",))
    small = Terms(attributes, (model,), policy.algorithm)
    for jobs in _FIVE:
        tally = Tally(
            (_column("job", _JOBS.domain(jobs), jobs),),
            (_column("ill", flat(tuple(dict.fromkeys(_ILL))), _ILL),),
            _column("income", flat(("high", "low")), _INCOME),
            counts=np.ones(len(jobs), dtype=np.int64),
        )
        ill = tuple(tally.sensitive[0].codes.tolist())
        try:
            partition = _released(tally, ill, small)
            if not partition:
                continue
            known = exactly(lambda mixed: {_released(tally, mixed, small): Fraction(1)}, ill, partition)  # noqa: B023 - called at once
        except (UnsupportedError, PolicyError):
            continue
        if not known.coincident:
            return _told(known, 0, ill[0]) | {"by": policy.algorithm.name}
    return None


def _column(name: str, domain: Domain, values: Sequence[str]) -> Column:
    return Column(name, domain, domain.column(np.array([domain.codes[value] for value in values])))


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
    return _told(known, 2, "cancer") | {"by": None}


def _told(known: Inherent, person: int, value: Hashable) -> dict[str, Any]:
    return {
        "people": len(known.apparent),
        "shown": str(known.apparent[person][value]),
        "known": str(known.inherent[person].get(value, Fraction(0))),
        "certain": known.certain,
    }
