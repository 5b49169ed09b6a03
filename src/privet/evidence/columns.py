"""What became of each column, what the search tried, and how the data file is to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.core import Form
from privet.evidence.part import Bound, Label, Part, inside, left_out, part, reading, stated, verified


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
