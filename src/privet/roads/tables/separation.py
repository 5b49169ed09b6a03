"""Which columns tell people apart: asked of a whole table, before or after roles are given."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from privet import core
from privet.core import Attribute, Form, Role, Tally
from privet.engine import Engine
from privet.errors import InputError, UnsupportedError
from privet.measure import separation
from privet.policy.values import Policy
from privet.relational.topdown import TopDown
from privet.roads.stations import columns_needed, settle


def telling(
    source: Any, policy: Policy | None = None, *, form: Form | None = None, engine: Engine[Any]
) -> dict[str, Any]:
    """Which columns and small combinations of them tell people apart, whatever their roles.

    It needs no policy: it helps to write one. With one, each column has its role, and None where the
    policy does not name it.
    """
    form = settle(source, form or (policy.form if policy is not None else Form()))
    try:
        tally = _counted(source, form, None, engine)
    except (InputError, UnsupportedError):
        if policy is None:
            raise
        # A column that no policy names need not be readable, nor few enough to be counted on a cluster.
        tally = _counted(source, form, columns_needed(policy), engine)
    roles = {} if policy is None else {a.name: a.role.value for a in policy.attributes}
    return {
        "records": tally.records,
        "single": [_noted(one) | {"role": roles.get(one.columns[0])} for one in separation.single(tally)],
        "together": [_noted(one) for one in separation.together(tally)],
    }


def _counted(source: Any, form: Form, columns: list[str] | None, engine: Engine[Any]) -> Tally:
    table = engine.read(source, form, columns)
    every = tuple(Attribute(name, Role.QUASI) for name in engine.columns(table))
    return engine.tally_published(table, core.Terms(every, models=(), algorithm=TopDown()))


def _noted(one: separation.Telling) -> dict[str, Any]:
    return asdict(one) | {"columns": list(one.columns)}
