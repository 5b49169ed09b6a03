"""Paths read by a policy, and every promise about them checked by the auditor."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import polars as pl

from privet.core import Role, Verdict, Verdicts
from privet.engine import Cluster, Engine
from privet.errors import UnsupportedError
from privet.models.linkage import Linkage
from privet.policy.values import Policy
from privet.roads.stations import columns_needed, in_frame, settle
from privet.roads.trajectories import afar
from privet.roads.trajectories.shape import Read, Trajectories
from privet.trajectory.audit import OfLength, audit
from privet.trajectory.paths import Paths
from privet.trajectory.quasi import as_table, widened
from privet.trajectory.searches import promises_of

MOST = 400_000_000  # sequences that the auditor writes out; more would take hours
PATHS, BESIDE = "paths", "beside"  # what a promise is about
MIXED = "who knows visits and other quasi-identifiers of one person is not bounded by these promises"


@dataclass(frozen=True)
class VerdictOn(Verdict):
    """A verdict that says whether it is on paths or on what stands beside them."""

    about: str = PATHS


def shape_of(policy: Policy) -> Trajectories:
    shape: Trajectories = policy.shape
    return shape


def framed(source: Any, policy: Policy, engine: Engine[Any]) -> pl.DataFrame:
    """The columns that paths are read from, and those that are published."""
    wanted = dict.fromkeys([*columns_needed(policy), *shape_of(policy).columns])
    if isinstance(engine, Cluster):
        afar.refuse(engine, policy)
    return met(engine, engine.read(source, settle(source, policy.form), list(wanted)), policy)


def met(engine: Engine[Any], table: Any, policy: Policy) -> pl.DataFrame:
    """A table as a frame; of one on a cluster, persons whose rows are alike once, with how many they are."""
    if isinstance(engine, Cluster):
        return afar.met(engine, table, shape_of(policy))
    frame: pl.DataFrame = in_frame(engine, table)
    return frame


def read_paths(
    frame: pl.DataFrame, policy: Policy, *, published: bool = False, allow_empty: bool = False
) -> Read:
    """The paths of a frame; `allow_empty`: it may be a release, in which people have no visit left."""
    sensitive = [a.name for a in policy.with_role(Role.SENSITIVE)]
    quasi = [a.name for a in policy.quasi]
    return shape_of(policy).read(
        frame, sensitive, quasi, published=published, allow_empty=allow_empty or published
    )


def judged(paths: Paths, policy: Policy) -> tuple[Verdicts, list[tuple[OfLength, ...]]]:
    """Every promise, on paths by the auditor and on what stands beside them by the models' own check."""
    verdicts: list[Any] = []
    by_length = []
    for model, promise in zip(policy.models, promises_of(policy), strict=True):
        refuse_endless(paths, promise)
        found = audit(paths, promise)
        by_length.append(found.by_length)
        verdicts.append((model, on(found.verdict, PATHS)))
    if policy.quasi:
        table = as_table(paths, policy.nulls)
        verdicts += [(model, on(model.check(table), BESIDE)) for model in policy.models]
    return tuple(verdicts), by_length


def on(verdict: Verdict, about: str) -> VerdictOn:
    return VerdictOn(verdict.achieved, verdict.broken, verdict.at_risk, about)


def refuse_endless(paths: Paths, promise: Linkage) -> None:
    """An auditor who writes everything out needs an end."""
    if (sequences := how_many(paths, promise.l)) > MOST:
        raise UnsupportedError(
            f"{sequences:,} sequences would have to be counted for an adversary who knows everything; "
            "promise lkc-privacy with a small l, or cut the paths"
        )


def how_many(paths: Paths, l: int | None) -> int:
    """Sequences of up to l points in all cells, each as often as it occurs."""
    lengths, cells = np.unique(paths.lengths, return_counts=True)
    return sum(
        many * sum(comb(length, size) for size in range(1, min(l or length, length) + 1))
        for length, many in zip(lengths.tolist(), cells.tolist(), strict=True)
    )


def mixed(paths: Paths, policy: Policy) -> dict[str, Any]:
    """What up to L things of any kind give away; measured, not promised."""
    wide, broken, at_risk = widened(paths), 0, 0
    for promise in promises_of(policy):
        if how_many(wide, promise.l) > MOST:
            return {"counted": False, "warning": f"{MIXED}; how much it finds was not counted"}
        found = audit(wide, promise).verdict
        broken, at_risk = broken + found.broken, max(at_risk, found.at_risk)
    said = "in this release the same numbers hold all the same"
    if broken:
        said = (
            f"in this release {broken:,} combinations break the same numbers, "
            f"with {at_risk:,} records at risk"
        )
    return {"counted": True, "broken": broken, "at_risk": at_risk, "warning": f"{MIXED}; {said}"}
