"""The engine `spark`: the same policy on data that never fits on one machine.

It uses Spark's DataFrame API and nothing else (grouping, joins, expressions), so that Spark, Spark Connect,
Databricks and Sail all run it. What comes to this process are distinct values and counts, up to limits that
are stated; records never do. What is about to leave is written first and counted from the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from privet.core import Attribute, Column, Form, Role, Tally, Terms
from privet.counts.live import PublicCodes
from privet.declared import TABLE, Order
from privet.domain import Value
from privet.engine import COUNTED, Tallied, domains, respelt
from privet.engines import text
from privet.engines.embedded import Embedded, Frame
from privet.engines.spark import order, people, sources
from privet.engines.spark.answers import ClusterCounts
from privet.engines.spark.cells import cells_at
from privet.engines.spark.coding import Codebook, Values, distinct, looked_up, many, of_texts, tallied
from privet.engines.spark.jobs import all_told, fetched, functions
from privet.engines.spark.live import ClusterLive
from privet.engines.spark.recode import Coded, Recoder
from privet.engines.spark.repeats import repeated
from privet.engines.spark.session import SAIL, session_of
from privet.engines.spark.spread import Spread
from privet.engines.spark.spread import respelt as written_as
from privet.engines.spark.staging import Staging, each, linked
from privet.equality import key
from privet.errors import InputError, InternalError, MissingExtraError, UnsupportedError
from privet.recoding import Recoding

CELLS = (
    20_000_000  # different combinations that are counted on one machine: about 2 GB while they are searched
)
ROADS = (TABLE, "diffgen", "trajectories")  # what is counted here
STRETCH = 10_000  # records that one row becomes at a time
VALUES = 2_000_000  # distinct values, of all columns together


@all_told("the work")
class Spark:
    """Tables on a cluster, through Spark's DataFrame API: Spark Connect, Databricks, Sail."""

    name: ClassVar[str] = "spark"
    takes_tables: ClassVar[bool] = True
    written: ClassVar[str] = "parquet"  # how a table leaves that came from nowhere

    def __init__(
        self,
        session: Any = None,
        *,
        master: str | None = None,
        staging: str | Path | None = None,
        cells: int = CELLS,
        values: int = VALUES,
    ) -> None:
        """A `session`, or the address of one (`master`): sc://…, local[4], sail.

        `staging` is a folder that this process and every worker can see; without one it is where this
        system keeps temporary files, which serves for a cluster on this machine. `cells` and `values` say how
        many combinations and distinct values may come to this process.
        """
        if master == SAIL and find_spec("pysail") is None:  # which brings all that the engine needs
            raise MissingExtraError("--master sail", "sail")
        self._given, self._master = session, master
        self._staging = Staging(None if staging is None else Path(staging).absolute())
        self._cells, self._values = cells, values

    @cached_property
    def _session(self) -> Any:
        return self._given if self._given is not None else session_of(self._master)

    def refuse(self, policy: Terms, road: str) -> None:
        """What cannot run here, by its name and before any work."""
        complaints = []
        if road not in ROADS:
            complaints.append(
                f"the engine {self.name!r} publishes tables, not {road} (algorithm {policy.algorithm.name}); "
                "the engine 'embedded' does"
            )
        if policy.order is Order.KEPT:
            complaints.append(
                f'order = "kept": the engine {self.name!r} has no order in which rows came; '
                'leave it out, or use the engine "embedded"'
            )
        if complaints:
            raise UnsupportedError(*complaints)

    def read(
        self, source: Any, form: Form, columns: Iterable[str] | None = None, *, empty: bool = False
    ) -> Spread:
        wanted = None if columns is None else list(dict.fromkeys(columns))
        table = sources.read(self._session, self._staging, source, form, wanted)
        table = replace(table, records=table.count())
        if not table.records and not empty:
            raise InputError(f"{sources.place(source)}: there is not one record")
        return table

    def columns(self, table: Spread) -> tuple[str, ...]:
        return table.names

    def rows(self, table: Spread) -> int:
        return table.count()

    def distinct(self, table: Spread, column: str) -> list[Value]:
        """The values of a column, each once."""
        return list(self._distinct(table, [column])[column].texts)

    def beginning(self, table: Spread, column: str, letters: str) -> list[Value]:
        """The values of a column that begin with one of these, each once."""
        f = functions()
        some = table.over(table.frame.where(f.substring(table.text(column), 1, 1).isin(*letters)))
        return self.distinct(some, column)

    def repeated(self, table: Spread, column: str) -> tuple[int, int]:
        return repeated(self._session, self._staging, table, column, self._values)

    def tally(self, table: Spread, policy: Terms) -> Tallied:
        return self._tally(table, policy, {a.name: a for a in policy.quasi})

    def counted(self, table: Spread, policy: Terms) -> Tallied:
        return self._tally(table, policy, {a.name: a for a in policy.quasi}, may_stay=True)

    def tally_published(self, table: Spread, policy: Terms) -> Tally:
        return self._tally(table, policy, {}).tally

    def _tally(
        self, table: Spread, policy: Terms, arranged: Mapping[str, Attribute], *, may_stay: bool = False
    ) -> Tallied:
        roles = [a.name for role in COUNTED for a in policy.with_role(role)]
        text.complain_about_missing("the table", roles, table.names, None)
        person = policy.person if policy.person in table.names else None  # a release does not have it
        counted = [*roles, *([] if person is None else [person])]
        if not counted:
            raise InputError(
                "no column is a quasi-identifier, sensitive or a target: there is nothing to count"
            )
        texts = None if arranged else of_texts(table, counted)
        values = self._distinct(table, counted) if texts is None else texts[0]
        seen = () if arranged else [a.name for a in policy.quasi]
        found = domains({name: values[name].texts for name in counted}, arranged, seen)
        book = Codebook(values, {name: found[name] for name in counted})
        other = frozenset(name for name in arranged if respelt(found[name], values[name].texts))
        stay = may_stay and person is None and not policy.publish_only and policy.algorithm.asks
        if texts is None:
            here = tallied(self._session, self._staging, table, book, self._cells, may_stay=stay)
        else:
            here = book.found(texts[1], texts[2], self._cells)
        if table.records is not None and here.records != table.records:
            raise InputError("Spark: the source was changed while it was read; nothing was released")
        table.as_it_was()
        codes = book.unpacked(here.words)
        columns = {name: Column(name, d, d.column(codes[name])) for name, d in book.domains.items()}
        target = [columns[a.name] for a in policy.with_role(Role.TARGET)]
        tally = Tally(
            quasi=tuple(columns[a.name] for a in policy.with_role(Role.QUASI)),
            sensitive=tuple(columns[a.name] for a in policy.with_role(Role.SENSITIVE)),
            target=target[0] if target else None,
            counts=here.counts,
            nulls=policy.nulls,
            person=None if person is None else columns[person].codes,
            across=policy.across,
        )
        coded = Coded(table, book, here.words, here.counts, columns, here.cells, other)
        if here.folder is None:
            return Tallied(tally, coded)
        cells = cells_at(self._session, self._staging, here.folder, tally, here.records, self._cells)
        return Tallied(tally, coded, ClusterCounts(cells, {n: values[n].by_code(found[n]) for n in counted}))

    def apply(self, tallied: Tallied, policy: Terms, recoding: Recoding) -> Spread:
        return Recoder(self._session, self._staging, tallied.rows, self._values).apply(policy, recoding)

    def valued(self, table: Spread, columns: Sequence[str]) -> dict[str, Values]:
        return self._distinct(table, columns)

    def live(self, table: Spread, values: Mapping[str, Any], codes: PublicCodes) -> ClusterLive:
        found = ClusterLive(self._session, self._staging, table, values, codes, self._cells)
        table.as_it_was()
        return found

    def combinations(self, table: Spread) -> Any:
        import polars as pl  # noqa: PLC0415 - few ask

        f = functions()
        texts = [table.text(name).alias(table.at(name)) for name in table.names]
        inside = [table.at(name) for name in table.names]
        grouped = table.frame.select(*texts).groupBy(*inside).agg(f.count(f.lit(1)).alias("n"))
        rows = fetched(grouped.limit(self._cells + 1), "counting")
        if rows.num_rows > self._cells:
            raise UnsupportedError(many(self._cells))
        read = pl.DataFrame(rows)
        return read.select(
            *(
                pl.Series(name, written_as(read[at].to_list(), table.kinds[name]), dtype=pl.String)
                for name, at in zip(table.names, inside, strict=True)
            ),
            pl.col("n").cast(pl.Int64),
        )

    def different(self, table: Spread, times: str) -> Any:
        found = people.different(table, times, self._cells)
        table.as_it_was()
        return found

    def people(self, table: Spread, person: str, point: tuple[str, str], times: str) -> Any:
        limits = (self._values, self._cells)
        found = people.people(self._session, self._staging, table, person, point, times, limits)
        table.as_it_was()
        return found

    def expanded(self, frame: Any, times: str, person: str | None) -> Spread:
        return people.expanded(self._session, self._staging, frame, times, person)

    def same_rows(self, table: Spread, other: Spread) -> bool:
        if table.folder is None or other.folder is None:
            raise InternalError("only what lies in files has an order here")
        return people.same_rows(table.folder, table.form, other.folder, other.form)

    def repeat(self, table: Spread, count: str) -> Spread:
        f, rest = functions(), [name for name in table.names if name != count]
        times = f.col(table.at(count)).cast("bigint")
        # In stretches: one row may be as many records as do not fit in one list.
        frame = table.frame.where(times > f.lit(0)).withColumn("times", times)
        frame = frame.withColumn("stretch", f.expr(f"explode(sequence(0L, (times - 1) div {STRETCH}))"))
        here = f"sequence(1L, least({STRETCH}L, times - stretch * {STRETCH}))"
        frame = frame.withColumn("one", f.expr(f"explode({here})"))
        return table.over(frame).select(rest)

    def only(self, table: Spread, rows: Mapping[str, Sequence[Value]]) -> Spread:
        frame = table.frame
        f = functions()
        for at, (name, asked) in enumerate(rows.items()):
            known, wanted = self._distinct(table, [name])[name], set(map(key, asked))
            fits = [int(key(text) in wanted) for text in known.texts]
            frame = looked_up(
                self._session, self._staging, frame, table.text(name), known.keys, {f"f{at}": fits}
            ).where(f.col(f"f{at}") == f.lit(1))
        return table.over(frame).select([name for name in table.names if name not in rows])

    def respelt(self, table: Spread, changes: Mapping[str, Mapping[Value, str]]) -> Spread:
        if changes:
            raise UnsupportedError(
                f'the engine {self.name!r} does not escape cells; use formulas = "cautioned", or the engine '
                "'embedded'"
            )
        return table

    def in_order(self, table: Spread) -> Spread:
        keys, frame = order.sort_keys(self._session, self._staging, table, table.names, self._values)
        dealt = self._staging.deals(self._session)
        frame = order.in_order(self._session, self._staging, table, keys, frame, dealt=dealt)
        return replace(table.over(frame), part=order.PART if dealt else None)

    def is_in_order(self, table: Spread) -> bool:
        if table.folder is None:
            raise InternalError("only what lies in files has an order here")
        return order.is_in_order(table.folder, table.form)

    def settled(self, table: Spread) -> Spread:
        """The table as it lies in files: what is checked then is what was written, not what was meant."""
        folder = self._staging.written(table)
        table.as_it_was()
        found = sources.read(self._session, self._staging, folder, Form("parquet"), None)
        if found.names != table.names:
            raise InternalError("the cluster wrote other columns than it was told to")
        return replace(found, records=found.count())

    def write(self, table: Spread, target: Path, form: Form) -> None:
        """A folder of parts under the name of the file; a release may be looked at, or written, again."""
        folder = table.folder
        if folder is None or not self._staging.owns(folder):  # a source stays where it is
            folder = self._staging.written(table)
        if form.format == "parquet":
            linked(folder, target)
            return
        ending = "".join(Path(target.name).suffixes)
        each(folder, target, ending, lambda part, made: _converted(part, made, form))

    def arrow(self, table: Spread) -> Any:
        """All records, here: for whoever asks for them and has the memory."""
        import polars as pl  # noqa: PLC0415 - few ask

        return pl.DataFrame(fetched(table.frame.toDF(*table.names), "bringing the records"))

    def _distinct(self, table: Spread, names: Sequence[str]) -> dict[str, Values]:
        return distinct(table, names, self._values)


def _converted(part: Path, made: Path, form: Form) -> None:
    """A part in another format, written by privet's own writer and read again to see that it is the same."""
    engine = Embedded()
    table = engine.read(part, Form("parquet"), empty=True)
    engine.write(table, made, form)
    again = engine.read(made, form, empty=True)
    if not _texts(table).equals(_texts(again)):
        raise InternalError("a part reads otherwise than it was written")


def _texts(table: Frame) -> Any:
    from privet.engines.frames import texts  # noqa: PLC0415 - beside its one use

    return texts(table.data)
