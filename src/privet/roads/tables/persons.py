"""Whose rows are they? Persons on the road of tables: looked for, counted, and left behind.

Where an identifier repeats, forty people with five rows each would be published as "k = 5" although each
class is one person. So a table is refused until its policy says whose rows are: `person = "patient_id"`
counts persons, `rows = "persons"` says that each row is a person of its own, whatever repeats.

The column of persons goes along with the rows until what is about to leave was counted; then it is dropped.
A receiver does not have it: what rows alone show is checked again, the rest is the steward's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privet.core import Form, PrivacyModel, Role, Terms, Verdict, Verdicts
from privet.engine import Engine
from privet.errors import InputError, PersonError
from privet.evidence import notes as ev
from privet.evidence.values import Promise
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.models.linkage import LinkageCheck
from privet.models.lkc import LKC
from privet.models.psensitive import PSensitiveKAnonymity
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.readings import Rows
from privet.roads.stations import columns_needed

WITH = "list of persons"  # what such a promise was checked with
CAUTION = (
    "Promises count persons, who may have several records; the release does not say whose a record is, so a "
    "receiver can check that groups have as many records, and takes the number of persons on trust. Classes "
    "and risks among the measures are counted in records."
)


def looked_at(policy: Terms) -> list[str]:
    """The identifiers that are read only to see whether they repeat."""
    if policy.person is not None:
        return [policy.person]
    if policy.rows is not Rows.UNSAID:
        return []
    # A date that is shifted with somebody's others says by which column it is theirs; days repeat.
    return [a.name for a in policy.with_role(Role.IDENTIFIER) if a.person is None]


def columns_read(policy: Policy) -> list[str]:
    """The columns of what is published, and those that are read only to see whether they repeat."""
    return list(dict.fromkeys([*columns_needed(policy), *looked_at(policy)]))


def refuse_unsaid(engine: Engine[Any], table: Any, policy: Terms) -> None:
    """Refuse a table whose identifiers repeat, until the policy says whose rows are."""
    if policy.person is not None:
        lacking = engine.repeated(table, policy.person)[1]
        if lacking:
            raise InputError(
                f"person: {policy.person}: {lacking} records say nobody; to count persons, whose they are "
                "must be known"
            )
        return
    complaints = []
    for name in looked_at(policy):
        shared = engine.repeated(table, name)[0]
        if shared:
            complaints.append(
                f"attributes.{name}: {shared} of {engine.rows(table)} records share it with another record, "
                f'so a person may have several; say person = "{name}" to count persons, or rows = "persons" '
                "if each record is a person of its own"
            )
    if complaints:
        raise PersonError(*complaints)


def opened(engine: Engine[Any], source: Any, form: Form, policy: Policy) -> Any:
    """A table as it is read, once it is said whose its rows are."""
    table = engine.read(source, form, columns_read(policy))
    refuse_unsaid(engine, table, policy)
    return table


def going_along(policy: Policy) -> Terms:
    """The terms under which rows are recoded: whose they are goes along, to be counted once more."""
    if policy.person is None:
        return policy
    return policy.asking(
        attributes=tuple(
            replace(a, role=Role.OTHER) if a.name == policy.person else a for a in policy.attributes
        )
    )


def left_behind(engine: Engine[Any], table: Any, policy: Terms) -> Any:
    """The same rows without whose they are."""
    if policy.person is None:
        return table
    return engine.only(table, {policy.person: engine.distinct(table, policy.person)})


def promise(model: PrivacyModel, verdict: Verdict) -> Promise:
    """A promise in evidence: it was checked with persons, whom the release does not show."""
    return Promise.read({**ev.promise(model, verdict), "checked": False, "checked_with": WITH})


def complaints(policy: Terms, promises: Sequence[Promise], verdicts: Verdicts) -> list[str]:
    """What evidence says of persons and cannot be so, for a receiver who sees records only."""
    said = [promise for promise in promises if promise.checked_with == WITH and not promise.shown]
    if len(said) < len(promises) or [dict(one.model) for one in said] != list(map(describe, policy.models)):
        return ["the evidence speaks of other promises than the policy"]
    found = []
    fewest = min((int(v.achieved["k"]) for _, v in verdicts if "k" in v.achieved), default=None)
    for promise in said:
        k = promise.achieved.get("k")
        if promise.broken or not promise.holds:
            found.append(f"{promise.type}: the evidence says itself that it is broken")
        if fewest is not None and isinstance(k, int) and k > fewest and promise.model.get("l") is None:
            found.append(f"{promise.type}: the evidence claims more persons than a group has records")
    return found


def shown(policy: Terms) -> Terms:
    """What a receiver can check of promises about persons: groups have no fewer records than persons."""
    if policy.person is None:
        return policy
    models = tuple(weaker for model in policy.models for weaker in _of_records(model))
    return policy.asking(models=models, person=None, across=False)


def _of_records(model: PrivacyModel) -> tuple[PrivacyModel, ...]:
    """What follows for records alone. Not shares: a person may have many rows with a value, or without."""
    if isinstance(model, LKC):
        return (LKC(l=model.l, k=model.k, c=Fraction(1), sensitive={}),)
    if isinstance(model, LinkageCheck):
        bound = model.linkage()
        return (KAnonymity(k=bound.k),) if bound.k > 1 else ()
    if isinstance(model, DistinctLDiversity | PSensitiveKAnonymity):
        return (model,)  # more records have no fewer values
    return ()
