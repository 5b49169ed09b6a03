"""Evidence: what was promised, what was found, and digests of everything in the folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from privet import notebook
from privet.evidence.columns import ChoiceNote, ColumnNote, DataNote, StepNote
from privet.evidence.documents import DocumentsNote
from privet.evidence.joint import JointNote
from privet.evidence.measures import Measures
from privet.evidence.part import Part, Standing, inside, part, stated, verified
from privet.evidence.paths import ArgumentNote, Mixed, PathsNote, StopNote, Thinning
from privet.evidence.promises import Paid, Promise, Signer
from privet.evidence.sets import SetsNote

VERSION = 1
TABLES, ANATOMY, NOISY, TRAJECTORIES, DOCUMENTS, HALVES = (
    "table",
    "anatomy",
    "diffgen",
    "trajectories",
    "documents",
    "tree-anatomy",
)


@part
class Evidence(Part):
    """All that a release says about itself. `docs/reference/evidence.md` explains every field."""

    VERSION: ClassVar[int] = VERSION

    evidence: int = verified()  # the version of this form
    software: str = stated()
    made: str = stated()
    kind: str = verified()
    purpose: str = verified()
    nulls: str = verified()
    records: int = verified()
    suppressed_records: int | None = verified("trajectories", default=None)
    columns: tuple[str, ...] = verified()
    promises: tuple[Promise, ...] = inside()
    algorithm: Mapping[str, Any] = verified()
    choice: ChoiceNote | None = inside(default=None)  # of an algorithm that tries others
    recoding: str = stated()
    attributes: Mapping[str, ColumnNote] = inside()
    steps: tuple[StepNote, ...] = stated()
    notes: tuple[str, ...] = stated()
    ledger: Paid | None = inside(default=None)
    measures: Measures = inside()
    cautions: tuple[str, ...] = stated()
    copies: int | None = stated(default=None)
    population: int | None = stated(default=None)
    like: str | None = stated(default=None)
    signers: tuple[Signer, ...] | None = inside(default=None)  # who was to sign it
    joint: JointNote | None = inside(default=None)  # of several organisations
    paths: PathsNote | None = inside(default=None)
    thinning: Thinning | None = inside(default=None)
    proof: tuple[ArgumentNote, ...] | None = verified(default=None)
    stops: tuple[StopNote, ...] | None = inside(default=None)
    mixed: Mixed | None = inside(default=None)
    documents: DocumentsNote | None = inside(default=None)
    sets: SetsNote | None = inside(default=None)
    data: DataNote | None = inside(default=None)  # None: nothing is written yet
    files: Mapping[str, str] | None = verified(default=None)

    @property
    def road(self) -> str:
        """The road that the release took."""
        if self.ledger is not None:
            return NOISY
        if self.recoding == "buckets":
            return ANATOMY
        return HALVES if self.recoding.startswith("halves") else self.kind

    @property
    def unshown(self) -> tuple[Promise, ...]:
        """The promises that the release does not show: how it was made, or who is not in it."""
        return tuple(promise for promise in self.promises if not promise.shown)

    @property
    def source_records(self) -> int:
        """How many records it was made from."""
        return self.records + (self.suppressed_records or 0)

    def every_standing(self) -> dict[str, Standing]:
        """The one list: each field that is there, and whether `verify` counts it again."""
        return dict(self.standings(self.road))

    @property
    def said_by_steward(self) -> tuple[str, ...]:
        """The fields that nobody counts again, by their places; parts of one list or table once."""
        found = [place for place, one in self.every_standing().items() if one is Standing.STATED]
        deep = {"measures": 2}  # which measures: of the others the name of the part says enough
        short = (place.split(".") for place in found)
        return tuple(dict.fromkeys(".".join(steps[: deep.get(steps[0], 1)]) for steps in short))

    @property
    def counted_again(self) -> int:
        """How many fields `verify` counts again."""
        return sum(one is not Standing.STATED for one in self.every_standing().values())

    def _repr_html_(self) -> str:
        """The promises and the columns; the report has all of it."""
        return notebook.card("Evidence", self.facts())

    def facts(self) -> list[tuple[str, Any]]:
        """What one wants to see first."""
        lost = self.measures.attributes or {}
        return [
            ("kind", self.kind),
            ("purpose", self.purpose),
            ("records", self.records),
            ("left out", self.suppressed_records),
            (
                "promises",
                notebook.grid(
                    ("model", "holds", "found"),
                    [
                        (one.type, one.holds if one.shown else "not checked", one.achieved)
                        for one in self.promises
                    ],
                ),
            ),
            ("algorithm", self.algorithm),
            (
                "columns",
                notebook.grid(
                    ("column", "role", "published", "LM"),
                    [
                        (name, note.role, note.published, lost[name].lm if name in lost else None)
                        for name, note in self.attributes.items()
                    ],
                ),
            ),
            ("cautions", self.cautions),
        ]

    def __repr__(self) -> str:
        kept = sum(promise.holds is True for promise in self.promises)
        return (
            f"Evidence(kind={self.kind!r}, records={self.records:,}, columns={len(self.columns)}, "
            f"promises={kept} of {len(self.promises)} kept, algorithm={self.algorithm.get('type')!r})"
        )
