"""The roads out of the house: one for each kind of data, all with the same stations and the same end.

    read ──► tally ──► search ──► recoding ──► apply ──► check again ──► release

A policy's road follows from its kind, unless its algorithm brings a road of its own (an algorithm that
spends a budget has nothing to check, one that splits a table has two to write). `privet.publish`,
`verify`, `risk`, `compare` and `explain` find the road and walk it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from privet.core import PrivacyModel, Progress, Verdict
from privet.engine import Cluster, Engine
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.registry import find
from privet.release import Release
from privet.roads.answers import Answer

Verdicts = tuple[tuple[PrivacyModel, Verdict], ...]


@dataclass(frozen=True)
class Found:
    """What a second look at a release found."""

    verdicts: Verdicts
    complaints: tuple[str, ...] = ()  # what is not as the evidence says
    remarks: tuple[str, ...] = ()  # what nobody can check of it
    unseen: tuple[str, ...] = ()  # protected values that do not occur


class Road(Protocol):
    """How one kind of data leaves, and how what has left is looked at again."""

    name: ClassVar[str]

    def publish(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        like: Path | None,
        output: str | None,
        progress: Progress,
    ) -> Release:
        """A release that keeps the policy, in memory; or an error."""

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        """What data achieves as it stands."""

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        """What a release folder holds, against what its evidence says; digests are looked at already.

        Raises TamperedError where the evidence lacks something, InputError where data is unreadable.
        """

    # Each of the next three declares its own options by keyword; `options` refuses what is not declared.

    def risk(self, source: Any, policy: Policy, *, engine: Engine[Any], **asked: Any) -> Answer:
        """How exposed the people in the data are, as it stands."""

    def compare(
        self, raw: Any, release: Release | Path, policy: Policy, *, engine: Engine[Any], **asked: Any
    ) -> Answer:
        """What was lost between the data and its release."""

    def explain(
        self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any], **asked: Any
    ) -> Answer:
        """Why so much was lost."""


@runtime_checkable
class Foresees(Protocol):
    """A road that can tell from raw data what promises will meet."""

    def foreseen(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> tuple[Verdicts, list[str]]:
        """What data achieves as it stands, and warnings."""


def road_of(policy: Policy) -> Road:
    """The road that a policy takes."""
    name = policy.algorithm.road or policy.kind
    road: Road = find("roads", name)()
    return road


def engine_of(engine: Engine[Any] | str) -> Engine[Any]:
    """An engine by its name, or the one that was given."""
    found: Engine[Any] = find("engines", engine)() if isinstance(engine, str) else engine
    return found


def fit(engine: Engine[Any] | str, policy: Policy) -> Engine[Any]:
    """An engine for a policy; what it cannot do at all is said by name, before any work."""
    found = engine_of(engine)
    if isinstance(found, Cluster):
        found.refuse(policy, policy.algorithm.road or policy.kind)
    return found
