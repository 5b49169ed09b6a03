"""Paths in canonical order: that of raw rows may tell whose they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from privet.core import Role
from privet.declared import Order
from privet.engines import persons
from privet.engines.frames import in_order, is_in_order
from privet.engines.trajectories.visits import Visits
from privet.policy.values import Policy
from privet.roads.trajectories.check import read_paths, shape_of
from privet.roads.trajectories.shape import TIMES, Read
from privet.trajectory.searches import PathFinding


def arranged(frame: pl.DataFrame, policy: Policy, finding: PathFinding) -> tuple[Read, pl.DataFrame]:
    """What is about to leave as its recipient reads it; rows of visits by person and time.

    The order of raw rows may tell whose they are, and what a slot hides.
    """
    shape = shape_of(policy).published(finding.grid)
    theirs = replace(policy, shape=shape)
    final = read_paths(frame, theirs, published=True)
    kept = policy.order is Order.KEPT
    if isinstance(final.source, Visits):
        varying = [
            a.name
            for a in policy.with_role(Role.OTHER, Role.TARGET)
            if frame.select(str(shape.person), a.name).n_unique()
            > frame.get_column(str(shape.person)).n_unique()
        ]
        # What is said of one visit goes with it, also where a person keeps a row without any.
        nowhere = pl.Series(final.source.point < 0)
        frame = frame.with_columns(pl.when(~nowhere).then(pl.col(name)).alias(name) for name in varying)
        if kept:
            return final, persons.as_they_came(frame, str(shape.person), within=final.source.point)
        frame = persons.in_order(frame, **of_persons(final.source, policy), aside=_aside(frame))
    elif not kept:
        frame = in_order(frame)
    return final, frame


def arranged_as(frame: pl.DataFrame, read: Read, policy: Policy) -> pl.DataFrame:
    """A frame in canonical order."""
    if isinstance(read.source, Visits):
        return persons.in_order(frame, **of_persons(read.source, policy), aside=_aside(frame))
    return in_order(frame)


def _aside(frame: pl.DataFrame) -> str | None:
    return TIMES if TIMES in frame.columns else None


def of_persons(visits: Visits, policy: Policy) -> dict[str, Any]:
    """By what rows of visits are sorted: persons, and the time of each row."""
    person = shape_of(policy).person
    named = any(a.name == person and a.disguise is not None for a in policy.attributes)
    return {"person": str(person), "within": visits.point, "named": named}


def sorted_paths(frame: pl.DataFrame, read: Read, policy: Policy) -> bool:
    """Do published paths stand in canonical order?"""
    if isinstance(read.source, Visits):
        return persons.is_in_order(frame, **of_persons(read.source, policy))
    return is_in_order(frame)
