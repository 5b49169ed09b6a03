"""Tables: what is at risk as they stand.

It decides about no release, and repeats no value of the data unless the caller asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from privet.core import PrivacyModel, Progress, Tally, silent
from privet.domain import Value
from privet.engine import Engine
from privet.errors import InputError
from privet.evidence import notes as ev
from privet.measure import attack as attacks
from privet.measure import classes, summary
from privet.models import population as people
from privet.models.presence import presence
from privet.policy.values import Policy
from privet.roads.answers import TableRisk
from privet.roads.stations import columns_needed, settle
from privet.roads.tables import minimality as aware
from privet.roads.tables import population
from privet.roads.tables.opened import audits_of, k_of
from privet.roads.tables.separation import telling

TRIALS = 200


def risk(
    source: Any,
    policy: Policy,
    *,
    threshold: Fraction | None = None,
    fraction: Fraction | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    show_values: bool = False,
    algorithm_aware: bool = False,
    widths: bool = False,
    engine: Engine[Any],
    progress: Progress = silent,
) -> TableRisk:
    """How exposed the people in a table are, as it stands.

    `threshold`: the chance of being found that is too high; without it, what the policy's strictest k
    promises. `fraction`: which part of a population the table is a random sample of; then the population's
    uniques are estimated. `show_values` lists the groups that break a promise with their values.
    `algorithm_aware` tries what somebody would learn who knows the policy's algorithm too. `widths` cuts the
    table into boxes of k, by one quasi-identifier, two and more: how wide values become with each.
    """
    if fraction is not None and not 0 < fraction <= 1:
        raise InputError("the sampling fraction is above 0 and at most 1, such as 1/10")
    progress("read", 0)
    table = engine.read(source, settle(source, policy.form), columns_needed(policy))
    progress("tally", 0)
    everybody = engine.tally_published(table, policy)
    tally = population.part_that_leaves(everybody, policy)
    progress("measure", 0)
    sizes = classes.class_sizes(tally)
    found = classes.risk(sizes)
    limit = threshold if threshold is not None else _promised(policy.models)
    prosecutor: dict[str, Any] = {"highest": found["highest"], "average": found["average"]}
    if limit is not None:
        above = classes.above(sizes, limit)
        prosecutor |= {
            "threshold": ev.number(limit),
            "records_above": above,
            "share_above": above / tally.records,
        }
    audits = audits_of(tally, population.leaving(policy), show_values=show_values)
    known = max((found.l for found in audits), default=len(tally.quasi))
    # No population is known to most: then the prosecutor's chance is the bound.
    journalist: dict[str, Any] = {"at_most": found["highest"]}
    if policy.publish_only:
        ((subset, values),) = policy.publish_only.items()
        chances = classes.journalist(*presence(everybody, "k-map", subset, values)[:2])
        journalist = {"at_most": chances["highest"], **chances, "people": everybody.records}
    k = max((number for model in policy.models if (number := k_of(model))), default=None)
    return TableRisk(
        records=tally.records,
        quasi_identifiers=[column.name for column in tally.quasi],
        unique_records=found["unique_records"],
        unique_share=found["unique_share"],
        classes=summary.classes(sizes),
        prosecutor=prosecutor,
        journalist=journalist,
        marketer={"average": found["average"]},
        records_at_risk=classes.at_risk(sizes),
        population=None if fraction is None else people.uniqueness(sizes, fraction),
        dimensionality=None
        if k is None
        else summary.dimensionality(
            tally.records,
            k,
            len(tally.quasi),
            widths=_widths(engine.tally(table, policy).tally, k) if widths else None,
        ),
        columns=telling(source, policy, engine=engine),
        promises=[found.to_dict() for found in audits],
        linkage=_simulated(tally, known, trials, seed),
        algorithm_aware=aware.algorithm_aware(engine.tally(table, policy).tally, policy, progress=progress)
        if algorithm_aware
        else None,
    )


def _promised(models: Sequence[PrivacyModel]) -> Fraction | None:
    promised = [number for model in models if (number := k_of(model))]
    return Fraction(1, max(promised)) if promised else None


def _widths(tally: Tally, k: int) -> list[float]:
    from privet.relational.widths import observed_widths  # noqa: PLC0415 - loads a search, for few who ask

    return observed_widths(tally, k)


def _simulated(tally: Tally, known: int, trials: int, seed: int) -> list[dict[str, Any]]:
    """Random attacks on a table as it stands, for each number of known values."""

    def itself(attribute: str, raw: Value) -> frozenset[Value]:  # noqa: ARG001 - a translation's form
        return frozenset({raw})

    rng = np.random.default_rng(seed)
    found = []
    for l in range(1, known + 1) if trials else ():
        tried = attacks.simulate(tally, tally, itself, known=l, trials=trials, rng=rng)
        found.append({"known": l, "trials": trials, **asdict(tried.before), "guess": tried.guess})
    return found
