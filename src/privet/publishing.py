"""The one road out of the house: read, tally, search, apply, check again, release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privet.core import Progress, silent
from privet.engine import Engine
from privet.policy.values import Policy, policy_of
from privet.release import Release
from privet.roads import Verdicts, fit, road_of
from privet.roads.stations import with_known_options


@with_known_options
def publish(
    source: Any,
    policy: Policy | str | Path,
    *,
    engine: Engine[Any] | str = "embedded",
    like: str | Path | None = None,
    output: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Make a release of `source` that keeps `policy`, or raise; nothing is written yet.

    `source` is a path, a database URL, or a polars, pandas or pyarrow table; `policy` a policy, or the path
    of one. `like` names an earlier
    release folder whose recoding is used again instead of a search. `output` is another format than
    the input's.
    """
    policy = policy_of(policy)
    return road_of(policy).publish(
        source,
        policy,
        engine=fit(engine, policy),
        like=None if like is None else Path(like),
        output=output,
        progress=progress,
    )


@with_known_options
def check(source: Any, policy: Policy | str | Path, *, engine: Engine[Any] | str = "embedded") -> Verdicts:
    """What data achieves as it stands, without any recoding."""
    policy = policy_of(policy)
    return road_of(policy).check(source, policy, engine=fit(engine, policy))
