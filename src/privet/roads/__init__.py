"""The roads out of the house: one for each kind of data, all with the same stations and the same end.

    read ──► tally ──► search ──► recoding ──► apply ──► check again ──► release

A policy's road follows from its kind, unless its algorithm brings a road of its own (an algorithm that
spends a budget has nothing to check, one that splits a table has two to write). `privet.publish`,
`verify`, `risk`, `compare` and `explain` find the road and walk it.

`Stations` walks the road once for every kind of data: each kind brings what differs at each station, in one
class of its own; the order of the stations, what is refused between them and the evidence at the end are the
same for all. What a station made goes to the later ones as a value (`Passed`); none reaches back. Options
that a call does not have are refused on every road alike, with the near one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, ClassVar, Generic, ParamSpec, Protocol, TypeVar, runtime_checkable

from privet.core import Progress, Verdicts, silent
from privet.engine import Cluster, Engine
from privet.errors import OptionError, unknown_option
from privet.evidence.notes import Told, evidence_of, kept_order
from privet.evidence.values import Evidence
from privet.policy.values import Policy, form_noted, policy_of
from privet.registry import find
from privet.release import Release
from privet.roads import absent
from privet.roads.absent import Occurring
from privet.roads.answers import Answer
from privet.roads.stations import (
    Asked,
    Counts,
    Data,
    Decided,
    Leaving,
    Once,
    Passed,
    Seen,
    about_labels,
    refuse_broken,
    source_digest,
)

P = ParamSpec("P")
R = TypeVar("R")


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


class Stations(ABC, Generic[Data, Counts, Decided, Leaving, Seen]):
    """What a kind of data does at each station."""

    name: ClassVar[str]
    # The stations that take long, and how they are called while one waits.
    waits: ClassVar[Mapping[str, str]] = {
        "read": "read",
        "count": "tally",
        "search": "search",
        "apply": "apply",
        "look": "check",
        "measure": "measure",
    }

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
        # Hashing and measuring need not wait for each other; the check waits for nothing and nobody.
        with ThreadPoolExecutor() as beside:
            asked = Asked(source, policy, engine, like, output, progress, beside)
            self.refuse(asked)
            digest = beside.submit(self.digest, source)
            self._arrive("read", progress)
            data = Once(self.read(asked))
            self._arrive("count", progress)
            counts = self.count(asked, data)
            unmet: list[str] = []
            if any(model.guarded() for model in policy.models):
                unmet = absent.remarks(policy, self.occurring(counts), further=like is not None)
            self._arrive("search", progress)
            found = self.search(asked, counts)
            self._arrive("apply", progress)
            leaving = self.apply(asked, counts, found)
            self._arrive("look", progress)
            seen = self.look(asked, leaving)
            verdicts = self.judge(asked, seen)
            refuse_broken(verdicts, policy, like)
            passed = Passed(asked, counts, found, leaving, seen, verdicts)
            self._arrive("measure", progress)
            told, private = self.measure(passed)
            if unmet:
                told = replace(told, notes=[*told.notes, *unmet])
            labels = about_labels(source, policy, output)
            aloud = [*kept_order(policy), *private.get("warnings", ()), *labels, *unmet]  # on the screen, too
            notes = {
                "source": digest.result(),
                "form": form_noted(policy.form),
                **private,
                **({"warnings": aloud} if aloud else {}),
            }
            return self.release(passed, evidence_of(policy, told), notes)

    def _arrive(self, station: str, progress: Progress) -> None:
        if station in self.waits:
            progress(self.waits[station], 0)

    def refuse(self, asked: Asked) -> None:
        """Raise where this cannot be done at all; before anything is read."""

    def digest(self, source: Any) -> str | None:
        """What the steward can recognise the source by."""
        return source_digest(source)

    @abstractmethod
    def read(self, asked: Asked) -> Data:
        """The data, as far as the policy names it."""

    @abstractmethod
    def count(self, asked: Asked, data: Once[Data]) -> Counts:
        """What a search may see of it, and what is needed to recode the same."""

    def occurring(self, counts: Counts) -> Occurring:  # noqa: ARG002 - for kinds with sensitive values
        """The sensitive values that occur, by attribute."""
        return {}

    @abstractmethod
    def search(self, asked: Asked, counts: Counts) -> Decided:
        """What to publish instead."""

    @abstractmethod
    def apply(self, asked: Asked, counts: Counts, found: Decided) -> Leaving:
        """The data that is about to leave."""

    @abstractmethod
    def look(self, asked: Asked, leaving: Leaving) -> Seen:
        """That data again, as its recipient will see it."""

    @abstractmethod
    def judge(self, asked: Asked, seen: Seen) -> Verdicts:
        """Every promise that can be checked, checked on what was seen."""

    @abstractmethod
    def measure(self, passed: Passed[Counts, Decided, Leaving, Seen]) -> tuple[Told, dict[str, Any]]:
        """What may be told of the release, and what the steward keeps."""

    @abstractmethod
    def release(
        self,
        passed: Passed[Counts, Decided, Leaving, Seen],
        evidence: Evidence,
        private: Mapping[str, Any],
    ) -> Release:
        """All of it together."""


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


def options(call: Callable[..., Any], policy: Policy, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a road's call is asked besides; an option that it does not declare is refused on every road."""
    declared = [
        name
        for name, one in signature(call).parameters.items()
        if one.kind is Parameter.KEYWORD_ONLY and name != "engine"
    ]
    wrong = [unknown_option(declared, name) for name in asked if name not in declared]
    if wrong:
        of = policy.kind if policy.algorithm.road is None else policy.algorithm.name
        raise OptionError(*(f"{call.__name__} of {of}: {complaint}" for complaint in wrong))
    return dict(asked)


def with_known_options(call: Callable[P, R]) -> Callable[P, R]:
    """A call that answers an option which it does not have as the roads do, with the near one."""
    kinds = signature(call).parameters.items()
    known = [name for name, one in kinds if one.kind is not Parameter.VAR_POSITIONAL]

    @wraps(call)
    def called(*given: P.args, **asked: P.kwargs) -> R:
        if wrong := [unknown_option(known, name) for name in asked if name not in known]:
            raise OptionError(*(f"{call.__name__}: {complaint}" for complaint in wrong))
        return call(*given, **asked)

    return called


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
    of one. `like` names an earlier release folder whose recoding is used again instead of a search. `output`
    is another format than the input's.
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
