"""What became of each column, what the search tried, and how the data file is to be read."""

from __future__ import annotations

from collections.abc import Mapping

from privet.core import Form
from privet.evidence.part import Bound, Label, Part, part, reading, stated


@part
class PublishedValue(Part):
    """A value that a generalised column may have."""

    label: Label = stated()
    loss: float = stated()  # LM of one such cell
    interval: tuple[Bound, Bound] | None = stated(default=None)  # half-open
    root: bool | None = stated(default=None)  # it stands for all


@part
class ColumnNote(Part):
    """A column that the policy names: its role, and what became of it."""

    role: str = stated()
    published: str = stated()
    values_: tuple[PublishedValue, ...] | None = stated(default=None)
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
class DataNote(Part):
    """Which file holds the data, and what a reader must know of it."""

    file: str = reading()
    buckets: str | None = reading(default=None)  # what each bucket holds, where there are buckets
    counts: str | None = reading(default=None)  # the same rows with their counts, where there is noise
    tables: Mapping[str, str] | None = reading(default=None)  # of documents: the file of each type
    format: str | None = reading()
    encoding: str = reading()
    nulls: tuple[str, ...] = reading()
    delimiter: str | None = reading(default=None)

    @property
    def form(self) -> Form:
        return Form(self.format, self.delimiter, self.encoding, self.nulls)
