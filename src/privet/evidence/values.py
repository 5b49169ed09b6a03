"""Evidence: what was promised, what was found, what became of each column, and digests of everything.

What releases of one kind say besides has modules of its own: `paths`, `sets`, `documents`, `joint`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from privet import notebook
from privet.core import Form
from privet.evidence.documents import DocumentsNote
from privet.evidence.joint import JointNote
from privet.evidence.measures import Measures
from privet.evidence.part import (
    Bound,
    Exact,
    Label,
    Part,
    Standing,
    inside,
    left_out,
    part,
    reading,
    stated,
    verified,
)
from privet.evidence.paths import ArgumentNote, Mixed, PathsNote, StopNote, Thinning
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
class Promise(Part):
    """A promise and what was found when it was checked."""

    model: Mapping[str, Any] = verified()  # as its table in the policy
    about: str | None = verified(default=None)  # of data with several parts: which of them
    holds: bool | None = verified()  # None: how it was made, which nobody can check
    checked: bool | None = verified(default=None)  # False: nobody can tell it from the release
    achieved: Mapping[str, Exact] = verified()
    broken: int = verified()  # groups that break it
    at_risk: int = verified()  # records in them
    checked_with: str | None = stated(default=None)  # whom it was checked on, if not on the release

    @property
    def shown(self) -> bool:
        """Does the release itself show whether it holds?"""
        return self.checked is not False

    @property
    def type(self) -> str:
        """The model's name."""
        return str(self.model.get("type"))

    def standing_of(self, name: str, road: str) -> Standing | None:
        """A promise that the release does not show is the steward's word; what a budget paid adds up."""
        if self.shown or road == "diffgen" or name == "checked":
            return super().standing_of(name, road)
        return Standing.STATED


@part
class Signer(Part):
    """Who was to sign the release when it was made."""

    name: str = verified()
    key: str = verified()  # public, in base 64


@part
class Payment(Part):
    """One payment out of a budget."""

    purpose: str = stated()
    mechanism: str = stated()
    epsilon: Exact = verified()  # they add up
    group: str | None = stated()  # payments of one group cost their largest


@part
class Paid(Part):
    """What a release with noise cost: no time in it, since how long a step took tells of the data."""

    release: str = stated()
    dataset: str = stated()
    noise: str = stated()  # whose samplers
    epsilon: Exact = verified()  # for one record
    records_per_person: int = stated()
    person_epsilon: Exact = verified()
    spent: Exact = verified()
    spends: tuple[Payment, ...] = inside()


@part
class PublishedValue(Part):
    """A value that a generalised column may have."""

    label: Label = stated()
    loss: float = stated()  # LM of one such cell
    interval: tuple[Bound, Bound] | None = left_out()  # half-open
    root: bool | None = stated(default=None)  # it stands for all


@part
class ColumnNote(Part):
    """A column that the policy names: its role, and what became of it."""

    # of documents, what is not published is not in the policy that anybody has
    role: str = verified("table", "anatomy", "diffgen", "trajectories", "transactions")
    published: str = stated()
    values_: tuple[PublishedValue, ...] | None = left_out()
    recoding: str | None = stated(default=None)  # how far equal values are published alike


@part
class StepNote(Part):
    """A line of the search's log, less what is not published: where a refused split would have been made."""

    attribute: str = stated()
    label: Label = stated()
    children: tuple[Label, ...] | None = stated(default=None)
    score: float | None = stated(default=None)
    refused: str | None = stated(default=None)  # the promise that would break

    @property
    def performed(self) -> bool:
        return self.refused is None


@part
class TriedNote(Part):
    """A search that was tried, and what it would have lost, in whole per cent: no release of it is shown."""

    algorithm: Mapping[str, Any] = stated()
    loss: float | None = stated(default=None)  # None: it found nothing


@part
class ChoiceNote(Part):
    """What a search that tries others came to."""

    algorithm: Mapping[str, Any] = stated()  # the one that made the release
    by: str = stated()  # what was to be made small
    tried: tuple[TriedNote, ...] = inside()


@part
class DataNote(Part):
    """Which file holds the data, and what a reader must know of it."""

    file: str = reading()
    buckets: str | None = reading(default=None)  # what each bucket holds, where there are buckets
    counts: str | None = reading(default=None)  # the same rows with their counts, where there is noise
    tables: Mapping[str, str] | None = reading(default=None)  # of documents: the file of each type
    parts: int | None = reading(default=None)  # of how many files it is a folder, where it is one
    format: str | None = reading()
    encoding: str = reading()
    nulls: tuple[str, ...] = reading()
    delimiter: str | None = reading(default=None)

    @property
    def form(self) -> Form:
        return Form(self.format, self.delimiter, self.encoding, self.nulls)


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
