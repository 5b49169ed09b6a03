"""Paths on a cluster: different ones come here, with how many persons have each, and records stay there.

What leaves is told by those, too: so it must not say anything of a single record beside its path and its
sensitive values. Everything else is refused by name, before any work.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from privet.core import Role
from privet.engine import Cluster, Engine
from privet.engines.trajectories.frames import in_one_spelling
from privet.errors import UnsupportedError
from privet.policy.values import Policy
from privet.roads.trajectories.shape import TIMES, Layout, Trajectories


def refuse(engine: Engine[Any], policy: Policy) -> None:
    """What cannot run there."""
    shape: Trajectories = policy.shape
    said = f"the engine {engine.name!r} tells paths apart by places, times and sensitive values alone"
    complaints = [
        f"attributes.{a.name}: {said}; leave it out, or use the engine 'embedded'"
        for a in policy.attributes
        if a.role in {Role.QUASI, Role.TARGET, Role.OTHER} or a.disguise is not None
    ]
    if shape.form not in {Layout.COLUMN, Layout.VISITS}:
        complaints.append(
            f'trajectories.form: "{shape.form.value}": the engine {engine.name!r} takes "column" and '
            "\"visits\"; the engine 'embedded' makes visits of the others"
        )
    if complaints:
        raise UnsupportedError(*complaints)


def met(engine: Cluster[Any], table: Any, shape: Trajectories) -> pl.DataFrame:
    """Persons whose rows are alike once, with how many they are."""
    if shape.form is Layout.COLUMN:
        frame = pl.DataFrame(engine.different(table, TIMES))
    else:
        point = str(shape.place), str(shape.time)
        frame = pl.DataFrame(engine.people(table, str(shape.person), point, TIMES))
    return frame


def named_only(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """What the policy names and nothing else, and how many persons it is."""
    shape: Trajectories = policy.shape
    sensitive = [a.name for a in policy.with_role(Role.SENSITIVE)]
    named = {*shape.columns, *sensitive, TIMES}
    return in_one_spelling(frame.select(name for name in frame.columns if name in named), sensitive)


def settled(engine: Cluster[Any], frame: pl.DataFrame, shape: Trajectories) -> Any:
    """The table that leaves, as it lies in files; `frame`: told in order, as `met` does."""
    return engine.settled(engine.expanded(frame, TIMES, shape.person))


def sorted_paths(engine: Cluster[Any], table: Any, arranged: pl.DataFrame, shape: Trajectories) -> bool:
    """Do published paths stand in canonical order? Written again in it, they are the same."""
    return engine.same_rows(table, settled(engine, arranged, shape))
