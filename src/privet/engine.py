"""What an engine is: the only code that knows where tables live, and how they are read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from privet.core import Form, Policy, Recoding, Tally
from privet.domain import Value

Table = TypeVar("Table")  # whatever an engine calls a table

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

    def tally(self, table: Table, policy: Policy) -> Tallied:
        """The counts, every quasi-identifier in the leaf order of its hierarchy; the table is not changed."""

    def tally_published(self, table: Table, policy: Policy) -> Tally:
        """The counts of a table as it stands, where published values have no hierarchy."""

    def apply(self, tallied: Tallied, policy: Policy, recoding: Recoding) -> Table:
        """The table that leaves: only published columns, recoded."""

    def only(self, table: Table, rows: Mapping[str, Sequence[Value]]) -> Table:
        """The rows that have one of these values in each of these columns, without the columns."""

    def write(self, table: Table, target: Path, form: Form) -> None: ...

    def arrow(self, table: Table) -> Any:
        """The table as something with `__arrow_c_stream__`, for those who go on with it in this process."""
