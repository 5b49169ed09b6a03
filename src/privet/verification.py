"""Anybody re-checks a release from its folder alone.

Digests say that the files are those the evidence speaks of; the promises are checked again on the
data file as it lies there, by the models' own code, which no search uses; and every number that the
evidence claims must come out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.core import Engine, PrivacyModel, Verdict
from privet.errors import InputError, PolicyError, TamperedError
from privet.policy.values import Policy
from privet.report import evidence as ev
from privet.roads import engine_of, road_of


@dataclass(frozen=True)
class Verification:
    """What was found in a release folder."""

    folder: Path
    verdicts: tuple[tuple[PrivacyModel, Verdict], ...]
    complaints: tuple[str, ...]  # what is not as the evidence says
    made: tuple[Mapping[str, Any], ...] = ()  # promises about how it was made: nobody can check them

    @property
    def holds(self) -> bool:
        return not self.complaints and all(verdict.holds for _, verdict in self.verdicts)


def verify(folder: str | Path, *, engine: Engine[Any] | str = "embedded") -> Verification:
    """Check digests, promises and claims; raise TamperedError only where there is nothing to check."""
    folder = Path(folder)
    evidence = ev.read(folder)
    complaints = file_complaints(folder, evidence)
    try:
        policy = Policy.load(folder / "policy.toml")
        found = road_of(policy).verify(folder, evidence, policy, engine=engine_of(engine))
    except (KeyError, TypeError):
        raise TamperedError(f"{folder / 'evidence.json'}: this evidence lacks what a release has") from None
    except PolicyError as error:
        raise TamperedError(*(f"the policy cannot be read: {c}" for c in error.complaints)) from None
    except InputError as error:
        raise TamperedError(
            *complaints, *(f"the data cannot be read: {complaint}" for complaint in error.complaints)
        ) from None
    return Verification(folder, found.verdicts, (*complaints, *found.complaints), ev.made(evidence))


def file_complaints(folder: Path, evidence: Mapping[str, Any]) -> list[str]:
    """Every file that is missing, changed, or not part of the release."""
    files = evidence.get("files")
    if not isinstance(files, dict):
        raise TamperedError(f"{folder / 'evidence.json'}: no digests")
    complaints = []
    for name, digest in files.items():
        path = folder / name
        if path.parent != folder or not path.is_file():
            complaints.append(f"{name} is missing")
        elif ev.digest(path) != digest:
            complaints.append(f"{name} is not the file that the evidence was made for")
    there = {path.name for path in folder.iterdir()}
    complaints += [
        f"{name} is not part of the release" for name in sorted(there - set(files) - {"evidence.json"})
    ]
    return complaints
