"""The road out of the house, walked once for every kind of data.

    read ──► count ──► search ──► apply ──► look again ──► measure ──► release

Each kind of data brings what differs at each station, in one class of its own; the order of the stations,
what is refused between them and the evidence at the end are the same for all, and stand here. What a
station made goes to the later ones as a value (`Passed`); none reaches back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic

from privet.core import Progress, Verdicts
from privet.engine import Engine
from privet.evidence.notes import Told, evidence_of, kept_order
from privet.evidence.values import Evidence
from privet.policy.values import Policy, form_noted
from privet.release import Release
from privet.roads import absent
from privet.roads.absent import Occurring
from privet.roads.stations import (
    Asked,
    Counts,
    Data,
    Found,
    Leaving,
    Once,
    Passed,
    Seen,
    refuse_broken,
    source_digest,
)


class Stations(ABC, Generic[Data, Counts, Found, Leaving, Seen]):
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
            aloud = [*kept_order(policy), *private.get("warnings", ()), *unmet]  # on the screen, too
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
    def search(self, asked: Asked, counts: Counts) -> Found:
        """What to publish instead."""

    @abstractmethod
    def apply(self, asked: Asked, counts: Counts, found: Found) -> Leaving:
        """The data that is about to leave."""

    @abstractmethod
    def look(self, asked: Asked, leaving: Leaving) -> Seen:
        """That data again, as its recipient will see it."""

    @abstractmethod
    def judge(self, asked: Asked, seen: Seen) -> Verdicts:
        """Every promise that can be checked, checked on what was seen."""

    @abstractmethod
    def measure(self, passed: Passed[Counts, Found, Leaving, Seen]) -> tuple[Told, dict[str, Any]]:
        """What may be told of the release, and what the steward keeps."""

    @abstractmethod
    def release(
        self,
        passed: Passed[Counts, Found, Leaving, Seen],
        evidence: Evidence,
        private: Mapping[str, Any],
    ) -> Release:
        """All of it together."""
