"""Anybody re-checks a release from its folder alone.

Digests say that the files are those the evidence speaks of; the promises are checked again on the
data file as it lies there, by the models' own code, which no search uses; and every number that the
evidence claims must come out again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet import notebook
from privet.core import PrivacyModel, Verdict
from privet.engine import Engine
from privet.errors import InputError, PolicyError, TamperedError
from privet.evidence import folder as ev
from privet.evidence.promises import Promise
from privet.policy.values import Policy
from privet.roads import engine_of, road_of


@dataclass(frozen=True)
class Verification:
    """What was found in a release folder."""

    folder: Path
    verdicts: tuple[tuple[PrivacyModel, Verdict], ...]
    complaints: tuple[str, ...]  # what is not as the evidence says
    made: tuple[Promise, ...] = ()  # promises that the release does not show: nobody can check them

    @property
    def holds(self) -> bool:
        return not self.complaints and all(verdict.holds for _, verdict in self.verdicts)

    def _repr_html_(self) -> str:
        """Whether it holds, what was found, and what is not as the evidence says."""
        found = [(model.name, verdict.holds, verdict.achieved) for model, verdict in self.verdicts]
        rows = [
            ("folder", self.folder),
            ("holds", self.holds),
            ("promises", notebook.grid(("model", "holds", "found"), found)),
            ("not checked", [promise.type for promise in self.made]),
            ("complaints", self.complaints),
        ]
        return notebook.card("Verification", rows)


def verify(folder: str | Path, *, engine: Engine[Any] | str = "embedded") -> Verification:
    """Check digests, promises and claims; raise TamperedError only where there is nothing to check."""
    folder = Path(folder)
    unknown: list[str] = []
    evidence = ev.read(folder, unknown)
    complaints = [
        f"evidence.json: {place}: this version of privet does not know it, and nobody has checked it"
        for place in unknown
    ]
    complaints += ev.file_complaints(folder, evidence)
    try:
        policy = Policy.load(folder / "policy.toml")
        found = road_of(policy).verify(folder, evidence, policy, engine=engine_of(engine))
    except PolicyError as error:
        raise TamperedError(*(f"the policy cannot be read: {c}" for c in error.complaints)) from None
    except InputError as error:
        raise TamperedError(
            *complaints, *(f"the data cannot be read: {complaint}" for complaint in error.complaints)
        ) from None
    if evidence.kind != policy.kind:
        complaints.append(f"{folder}: kind: the evidence speaks of another kind than the policy")
    return Verification(folder, found.verdicts, (*complaints, *found.complaints), evidence.unshown)
