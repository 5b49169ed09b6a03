"""What an engine is: the only code that knows where tables live, and how they are read and written.

What every engine does alike with the values that it met stands at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from privet import equality
from privet.core import Attribute, Form, Role, Tally, Terms
from privet.domain import Domain, Value, flat
from privet.errors import HierarchyError
from privet.recoding import Recoding

# What is counted, in this order: so cells of one class stand together.
COUNTED = (Role.QUASI, Role.SENSITIVE, Role.TARGET)

Table = TypeVar("Table")  # whatever an engine calls a table
Taken_contra = TypeVar("Taken_contra", contravariant=True)  # the same, where it is only handed over

SUFFIX = {
    "csv": ".csv",
    "tsv": ".tsv",
    "parquet": ".parquet",
    "jsonl": ".jsonl",
    "arrow": ".arrow",
    "stata": ".dta",
    "spss": ".sav",
}  # the ending of a file in each format that can be written


@dataclass(frozen=True, eq=False)
class Tallied:
    """A table that was counted: its tally, and what its engine needs to recode the same rows."""

    tally: Tally
    rows: Any = field(repr=False)  # the engine's own: nobody else looks at it
    # Who answers instead where counts stay on a cluster: then the tally has names and domains, and no cell.
    afar: Afar | None = field(default=None, repr=False)

    @property
    def searched(self) -> Any:
        """What a search asks: the tally, or whoever answers instead."""
        return self.tally if self.afar is None else self.afar

    @property
    def records(self) -> int:
        return self.tally.records if self.afar is None else self.afar.records

    def slices(self, recoding: Recoding) -> list[tuple[Tally, Recoding]]:
        """The counts and what a recoding says of them: of all quasi-identifiers, or of some at a time."""
        if self.afar is not None:
            return self.afar.slices(recoding)
        return [(recoding.over(self.tally) if recoding.by_record else self.tally, recoding)]


class Afar(Protocol):
    """Counts that stay where their table lies. They answer searches, too: `privet.counts.door` says how."""

    @property
    def records(self) -> int: ...

    def slices(self, recoding: Recoding) -> list[tuple[Tally, Recoding]]:
        """For each quasi-identifier its own counts, by label, and what the recoding says of them."""

    def class_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sizes that classes have as the table is, and how many classes have each."""


class Valued(Protocol):
    """The distinct values of a column, and how many records have each."""

    @property
    def texts(self) -> Sequence[Value]: ...

    @property
    def counts(self) -> NDArray[np.int64]: ...


class Engine(Protocol[Table]):
    """A place where tables live: the only code that knows polars or Spark."""

    name: ClassVar[str]
    takes_tables: ClassVar[bool]  # does it read tables that are in this process, or files and databases only?

    def read(
        self, source: Any, form: Form, columns: Iterable[str] | None = None, *, empty: bool = False
    ) -> Table:
        """The table at a path or URL, or one that is already in memory.

        Without a record it is refused, unless `empty` says that none is a number of records too.
        """

    def columns(self, table: Table) -> tuple[str, ...]: ...

    def rows(self, table: Table) -> int: ...

    def distinct(self, table: Table, column: str) -> list[Value]:
        """The values of a column, each once; for the steward's own eyes."""

    def repeated(self, table: Table, column: str) -> tuple[int, int]:
        """How many records share their value of a column with another record; and how many have none."""

    def tally(self, table: Table, policy: Terms) -> Tallied:
        """The counts, every quasi-identifier in the leaf order of its hierarchy; the table is not changed."""

    def tally_published(self, table: Table, policy: Terms) -> Tally:
        """The counts of a table as it stands, where published values have no hierarchy."""

    def apply(self, tallied: Tallied, policy: Terms, recoding: Recoding) -> Table:
        """The table that leaves: only published columns, recoded."""

    def only(self, table: Table, rows: Mapping[str, Sequence[Value]]) -> Table:
        """The rows that have one of these values in each of these columns, without the columns."""

    def respelt(self, table: Table, changes: Mapping[str, Mapping[Value, str]]) -> Table:
        """The same rows with some texts of some columns written otherwise."""

    def in_order(self, table: Table) -> Table:
        """The same rows sorted by what stands in them, as text, first column first, null last.

        Every engine has the same order: it depends on nothing but the rows.
        """

    def is_in_order(self, table: Table) -> bool:
        """Do the rows stand in that order?"""

    def write(self, table: Table, target: Path, form: Form) -> None: ...

    def arrow(self, table: Table) -> Any:
        """The table as something with `__arrow_c_stream__`, for those who go on with it in this process."""


@runtime_checkable
class Cluster(Protocol[Table]):
    """What an engine has besides whose tables do not lie in this process."""

    written: ClassVar[str]  # the format of a table that came from nowhere

    def refuse(self, policy: Terms, road: str) -> None:
        """Raise where a policy cannot be carried out here, before any work."""

    def counted(self, table: Table, policy: Terms) -> Tallied:
        """As `tally`; where there are too many counts, and the search can ask for them, they stay there."""

    def valued(self, table: Table, columns: Sequence[str]) -> Mapping[str, Valued]:
        """The values of columns, and how many records have each."""

    def live(self, table: Table, values: Mapping[str, Any], codes: Any) -> Any:
        """The records in the public codes of the values that `valued` found; they stay there.

        `privet.counts.live` says in which form codes come, and what is asked of who answers.
        """

    def combinations(self, table: Table) -> Any:
        """The different rows, as texts, and in `n` how many of each; handed over as `arrow` does."""

    def different(self, table: Table, times: str) -> Any:
        """The different rows as they are, and in `times` how many of each; handed over as `arrow` does."""

    def people(self, table: Table, person: str, point: tuple[str, str], times: str) -> Any:
        """The rows of one of those persons whose rows are alike, and how many they are; handed over so too.

        `point`: the columns that differ between the rows of a person.
        """

    def expanded(self, frame: Any, times: str, person: str | None) -> Table:
        """The rows of such a frame, in its order, as often as it says; persons are numbered from 1."""

    def same_rows(self, table: Table, other: Table) -> bool:
        """Have two tables that lie in files the same rows in the same order?"""

    def repeat(self, table: Table, count: str) -> Table:
        """Each row as often as it says in a column, which is left out."""

    def settled(self, table: Table) -> Table:
        """The table as it lies in files, where it will be counted: what is checked is what was written."""

    def beginning(self, table: Table, column: str, letters: str) -> list[Value]:
        """The values of a column that begin with one of these letters, each once."""


@runtime_checkable
class Ahead(Protocol[Taken_contra]):
    """What an engine has besides that can write a table before anybody asks for it."""

    def ahead(self, table: Taken_contra, form: Form, beside: Executor) -> None:
        """Begin to write a table; `write`, asked for the same one in the same form, has it sooner."""

    def digest(self, written: Path) -> str:
        """SHA-256 of a file that `write` has made; that of one that was begun is known already."""


def suffix(form: Form) -> str:
    """The ending of the data file."""
    return SUFFIX.get(form.format or "csv", f".{form.format}") + (".gz" if form.gzip else "")


def unwritable(form: Form) -> list[str]:
    """Why no text file can be written in this form; one rule for policies and for whoever reads."""
    found, delimiter = [], form.delimiter
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        found.append(f"a delimiter is one ASCII character, not {delimiter!r}")
    try:
        "".encode(form.encoding)
    except (LookupError, ValueError):  # no such one, one of bytes, or a name that is none
        found.append(f"there is no encoding {form.encoding!r}")
    return found


# Values in leaf order, for every engine alike. Here equal values become one: whoever counts, counts codes,
# and 45 and 45.0 have the same. It is done once for each distinct value, never for each row.


def domains(
    values: Mapping[str, Sequence[Value]], arranged: Mapping[str, Attribute], as_written: Collection[str] = ()
) -> dict[str, Domain]:
    """The domain of each column: by its attribute's hierarchy, or flat where it has none.

    All attributes that do not fit are named at once. `as_written`: columns in which values are told apart by
    their spelling. A published quasi-identifier is one: its reader sees how it is written, so records that
    are written differently do not look alike.
    """
    found: dict[str, Domain] = {}
    complaints: list[str] = []
    missing = 0
    for name, written in values.items():
        met = written if name in as_written else spelt(written)
        # Not in the order in which rows, or the threads of an engine, met them: the same data in another
        # order, or on a busier machine, has the same codes, and so the same release and figures.
        distinct: list[Value] = [*sorted(value for value in met if value is not None)]
        distinct += [value for value in met if value is None]
        hierarchy = arranged[name].hierarchy if name in arranged else None
        try:
            found[name] = flat(tuple(distinct)) if hierarchy is None else hierarchy.domain(distinct)
        except HierarchyError as error:
            complaints += [f"attributes.{name}: {complaint}" for complaint in error.complaints]
            missing += error.missing
    if complaints:
        raise HierarchyError(*complaints, missing=missing)
    return found


def spelt(values: Sequence[Value]) -> Sequence[Value]:
    """Each value once, equal ones in one spelling."""
    if equality.own(values) or len(found := equality.classes(values)) == len(values):
        return values
    return [
        None if one is None else equality.spelling([v for v in alike if v is not None])
        for one, alike in found.items()
    ]


def codes_of(domain: Domain, values: Sequence[Value]) -> NDArray[np.intp]:
    """The code of each value as it was met; equal ones have the same."""
    codes: list[int | None] = list(map(domain.codes.get, values))
    if None in codes:  # written in another way than the domain has it
        codes = list(map(domain.code, values))
    return np.array(codes, dtype=np.intp)


def several(domain: Domain, values: Sequence[Value]) -> bool:
    """Are values of a flat domain written in several ways? Then they leave in the one that it has.

    Promises count them as one; whoever compares texts would count others, and of a distance (t-closeness) or
    a ratio (beta-likeness) not always less.
    """
    return domain.size < len(values)


def respelt(domain: Domain, values: Iterable[Value]) -> bool:
    """Is a value written in another way than the domain has it? Then its own spelling would tell it apart."""
    return not domain.codes.keys() >= set(values)
