"""Anybody re-checks a release from its folder alone.

The folder may come from anybody, so it is looked at before it is read. Digests say that the files are those
that the evidence speaks of; the data is read as the policy says, and holds nothing beside its records; the
promises are checked again on it by the models' own code, which no search uses; and every number that the
evidence claims must come out again, or is marked as the steward's word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privet import notebook
from privet.core import PrivacyModel, Verdict
from privet.engine import Engine
from privet.errors import InputError, PolicyError, TamperedError
from privet.evidence import folder as ev
from privet.evidence import notes, sealed, signing, whole
from privet.evidence.signing import Asked, Signed
from privet.evidence.values import Evidence, Promise
from privet.policy import handed
from privet.policy.values import Policy
from privet.report import html
from privet.roads import Found, disguised, engine_of, fit, received, rewritten, road_of, with_known_options
from privet.roads.stations import needed


@dataclass(frozen=True)
class Verification:
    """What was found in a release folder."""

    folder: Path
    verdicts: tuple[tuple[PrivacyModel, Verdict], ...]
    complaints: tuple[str, ...]  # what is not as the evidence says
    remarks: tuple[str, ...] = ()  # what is as the policy says, and its reader should mind
    unseen: tuple[str, ...] = ()  # protected values that do not occur: a promise about them is an empty one
    made: tuple[Promise, ...] = ()  # promises that the release does not show: nobody can check them
    reading: tuple[str, ...] = ()  # how the data was read, where that is not the strict default
    signed: tuple[Signed, ...] = ()  # who vouches for it
    counted: int = 0  # fields of the evidence that were counted again
    stated: tuple[str, ...] = ()  # what nobody can count again: the steward says so
    unchecked: tuple[str, ...] = ()  # files that may hold something beside what was checked

    @property
    def holds(self) -> bool:
        return not self.complaints and all(verdict.holds for _, verdict in self.verdicts)

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What was promised and found, then what the release does not show."""
        return (*(notes.promise(model, verdict) for model, verdict in self.verdicts), *self.made)

    def to_dict(self) -> dict[str, Any]:
        """What `privet verify --json` prints; what the release does not show holds for nobody else."""
        return {
            "holds": self.holds,
            "folder": str(self.folder),
            "promises": [
                dict(promise) if promise.shown else {**promise, "holds": None} for promise in self.promises
            ],
            "reading": list(self.reading),
            "signatures": [
                {"signer": one.signature.signer, "key": one.signature.key, "valid": one.valid}
                for one in self.signed
            ],
            "counted_again": self.counted,
            "stated": list(self.stated),
            "unchecked": list(self.unchecked),
            "complaints": list(self.complaints),
            "remarks": list(self.remarks),
        }

    def _repr_html_(self) -> str:
        """Whether it holds, what was found, and what is not as the evidence says."""
        found = [(model.name, verdict.holds, verdict.achieved) for model, verdict in self.verdicts]
        rows = [
            ("folder", self.folder),
            ("holds", self.holds),
            ("promises", notebook.grid(("model", "holds", "found"), found)),
            ("not checked", [promise.type for promise in self.made]),
            ("read as", self.reading),
            ("signed by", [one.signature.signer for one in self.signed if one.valid]),
            ("said by the steward", self.stated),
            ("not checked byte for byte", self.unchecked),
            ("complaints", self.complaints),
            ("remarks", self.remarks),
        ]
        return notebook.card("Verification", rows)


@with_known_options
def verify(
    folder: str | Path,
    *,
    engine: Engine[Any] | str = "embedded",
    limit: int = sealed.LARGEST,
    signers: Asked | None = None,
) -> Verification:
    """Check digests, promises and claims; raise TamperedError only where there is nothing to check.

    `limit` is how many bytes a data file may have, as it lies there and unpacked; `signers` whose signatures
    must be there.
    """
    folder, where = Path(folder), engine_of(engine)
    sealed.look(folder, limit)
    unknown: list[str] = []
    evidence = ev.read(folder, unknown)
    complaints = [
        f"evidence.json: {place}: this version of privet does not know it, and nobody has checked it"
        for place in unknown
    ]
    complaints += ev.file_complaints(folder, evidence)
    if not unknown:
        complaints += ev.spelling(folder, evidence)
    signed = signing.checked(folder)
    complaints += signing.complaints(signed, evidence, signers or Asked())
    try:
        policy = handed.load(folder / ev.POLICY)
        read, said = received.read_as(needed(evidence.data, "data"), policy)
        complaints += said
        received.refuse_endless(folder, read, policy, limit)
        complaints += handed.spelling(folder / ev.POLICY, policy)
        found = _found(folder, replace(evidence, data=read), policy, where)
        beside = rewritten.beside(folder, read, policy, where)
    except PolicyError as error:
        raise TamperedError(*(f"the policy cannot be read: {c}" for c in error.complaints)) from None
    except InputError as error:
        raise TamperedError(
            *complaints, *(f"the data cannot be read: {complaint}" for complaint in error.complaints)
        ) from None
    said, drawn = _drawn(folder, evidence)
    complaints += said
    return Verification(
        folder,
        found.verdicts,
        (*complaints, *found.complaints, *beside.complaints),
        remarks=(
            *notes.kept_order(policy),
            *found.unseen,
            *found.remarks,
            *(UNDRAWN.format(name) for name in drawn),
            *(UNLOOKED.format(name) for name in beside.unlooked),
        ),
        unseen=found.unseen,
        made=evidence.unshown,
        reading=(*received.spoken(policy), *beside.words),
        signed=signed,
        counted=evidence.counted_again,
        stated=evidence.said_by_steward,
        unchecked=(*drawn, *beside.unlooked),
    )


VERSION = re.compile(
    r"privet [0-9]{1,3}(\.[0-9]{1,4}){0,3}((a|b|rc|\.dev|\.post)[0-9]{1,4})?(\+[0-9a-z.]{1,40})?"
)
UNDRAWN = (
    "{}: said to be of another version of privet, so it was not compared with the evidence and may show "
    "anything; open it as you would open a stranger's page"
)


UNLOOKED = (
    "{}: its columns were checked; it was written by another version of what writes such files, so not every "
    "byte is accounted for: ask for csv, or read it with nothing but a reader of columns"
)


def _drawn(folder: Path, evidence: Evidence) -> tuple[list[str], list[str]]:
    """The report is drawn again from the evidence; one of another version may look otherwise: marked."""
    path = folder / ev.REPORT
    if not path.is_file():
        return [], []  # it was said already that it is missing
    try:
        same = path.read_bytes() == html.render(replace(evidence, files=None)).encode()
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return ["report.html: nothing can be drawn from this evidence"], []
    if same:
        return [], []
    if not VERSION.fullmatch(evidence.software):
        return ["report.html: drawn by something that is not a version of privet"], []
    if evidence.software != notes.software():
        return [], ["report.html"]
    return ["report.html is not what is drawn from the evidence"], []


def _found(folder: Path, evidence: Evidence, policy: Policy, engine: Engine[Any]) -> Found:
    terms = notes.other_terms(evidence, policy)
    found = road_of(policy).verify(folder, evidence, policy, engine=fit(engine, policy))
    terms += whole.complaints(evidence, policy)
    terms += disguised.complaints(folder, evidence, policy, engine)
    return replace(found, complaints=(*terms, *found.complaints))
