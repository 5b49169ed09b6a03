"""A table that holds a population, of which some rows leave: who is asked about whom.

Promises about the population (k-map, delta-presence) are checked on everybody, as published; all others
on the rows that leave. The column that says which rows leave does not leave itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from privet.core import PrivacyModel, Tally, Terms, Verdict
from privet.engine import Engine
from privet.errors import InputError, UnsupportedError
from privet.evidence import notes as ev
from privet.evidence.values import Promise
from privet.models.presence import OfSubset, leaves
from privet.policy.values import Policy
from privet.recoding import Generalization, Recoding, Regions
from privet.roads.stations import checkable, judge

WITH = "population"  # what such a promise was checked with


def about_everybody(model: PrivacyModel) -> bool:
    """Is a promise about the population, so that a release alone does not show whether it holds?"""
    return model.population


def searched(policy: Policy) -> Terms:
    """The terms that a search over everybody keeps: promises about the rows that leave say so."""
    if not policy.publish_only:
        return policy
    ((subset, values),) = policy.publish_only.items()

    def asked(model: PrivacyModel) -> Any:
        # A promise about how a release is made is about nobody in particular.
        return model if about_everybody(model) or model.spent else OfSubset(model, subset, values)

    return policy.asking(models=tuple(map(asked, policy.models)))


def leaving(policy: Terms) -> Terms:
    """The terms of what has left, as far as it can be checked there: without the population."""
    if not policy.publish_only:
        return policy
    return policy.asking(
        attributes=tuple(a for a in policy.attributes if a.name not in policy.publish_only),
        models=tuple(model for model in policy.models if not about_everybody(model)),
        publish_only={},
    )


def rows_that_leave(engine: Engine[Any], table: Any, policy: Policy) -> Any:
    """A table without those who stay, and without the column that says who they are."""
    if not policy.publish_only:
        return table
    found = engine.only(table, policy.publish_only)
    if not engine.rows(found):
        raise InputError("publish_only: not one row of the table has these values, so none would leave")
    return found


def part_that_leaves(tally: Tally, policy: Policy) -> Tally:
    """The same of a tally; the column goes too."""
    if not policy.publish_only:
        return tally
    ((subset, values),) = policy.publish_only.items()
    part = tally.where(leaves(tally, subset, values))
    return replace(part, sensitive=tuple(c for c in part.sensitive if c.name != subset))


def recoding_of_part(tally: Tally, policy: Policy, recoding: Recoding) -> Recoding:
    """What a recoding says of the rows that leave; its arrays have an entry for each cell."""
    if not policy.publish_only:
        return recoding
    if recoding.kept is not None or not isinstance(recoding, (Generalization, Regions)):
        # Who is dropped or changed is still one of the population, so counting would be wrong.
        raise UnsupportedError(
            f"publish_only and {policy.algorithm.name}: a population is generalised, none of it dropped or "
            "changed; use an algorithm that generalises, with suppression = 0"
        )
    if isinstance(recoding, Generalization):
        return recoding
    ((subset, values),) = policy.publish_only.items()
    here = leaves(tally, subset, values)
    return replace(
        recoding, of_cell=np.flatnonzero(here) if recoding.of_cell is None else recoding.of_cell[here]
    )


def judge_all(everybody: Tally, left: Tally, policy: Policy) -> tuple[tuple[PrivacyModel, Verdict], ...]:
    """Every promise that can be checked, each on those it is about, in the policy's order."""
    if not policy.publish_only:
        return judge(left, policy)
    return tuple((m, m.check(everybody if about_everybody(m) else left)) for m in checkable(policy))


def promise(model: PrivacyModel, verdict: Verdict) -> Promise:
    """A promise about the population in evidence: it says that the release does not show it."""
    return Promise.read({**ev.promise(model, verdict), "checked": False, "checked_with": WITH})
