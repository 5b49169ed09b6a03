"""A recoding carried out on the cluster: by value, by box, or by record.

Values become labels by a join with a small table; records find their box by their packed codes, and boxes
their labels by another; where records of one combination may part, they are numbered within it, in the
order of what was not counted, as every engine does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Attribute, Column, Role, Tally, Terms
from privet.domain import Cut, Value
from privet.engine import COUNTED, codes_of, several
from privet.engines.spark.coding import Codebook, checked, distinct, looked_up, with_mark
from privet.engines.spark.jobs import fetched, functions
from privet.engines.spark.order import sort_keys
from privet.engines.spark.placement import Placement
from privet.engines.spark.spread import Spread, respelt, spread_of
from privet.engines.spark.staging import Staging
from privet.errors import InternalError, UnsupportedError
from privet.recoding import Generalization, Perturbation, Recoding, Regions

REPEATS = 10  # records that a combination stands for from which on the different rows are sorted, and not all


@dataclass(frozen=True, eq=False)
class Coded:
    """A table that was counted: how its values became codes, and the combinations that were found."""

    table: Spread
    book: Codebook = field(repr=False)
    words: Sequence[NDArray[np.int64]] = field(repr=False)  # of each cell
    counts: NDArray[np.int64] = field(repr=False)
    columns: dict[str, Column] = field(repr=False)  # by cell
    cells: int  # how many there are, also where they stay on the cluster
    respelt: frozenset[str] = (
        frozenset()
    )  # quasi-identifiers in which equal values are written in several ways


@dataclass
class Recoder:
    """One recoding of one table, on its way."""

    session: Any
    staging: Staging
    coded: Coded
    most: int  # distinct values that may come here

    def apply(self, policy: Terms, recoding: Recoding) -> Spread:
        """The table that leaves: only published columns, recoded."""
        table = self.coded.table
        by_name = {attribute.name: attribute for attribute in policy.attributes}
        published = [name for name in table.names if name in by_name and by_name[name].published]
        frame, made = table.frame, {name: table.at(name) for name in published}
        for name in published:
            if by_name[name].disguise is not None:
                frame, made[name] = self._disguised(frame, by_name[name])
        quasi = [name for name in published if by_name[name].role is Role.QUASI]
        for name in published:
            if by_name[name].role is Role.SENSITIVE and self._several(name):
                frame, made[name] = self._in_one_spelling(frame, name)
        match recoding:
            case Generalization():
                for name in quasi:
                    frame, made[name] = self._generalised(frame, name, recoding)
            case Regions():
                if recoding.elsewhere is None:
                    frame = self._placed(frame, recoding, {"box": self._boxes(recoding)})
                else:
                    frame = self._found(frame, recoding)
                frame, labels = self._boxed(frame, quasi, recoding)
                made |= labels
            case Perturbation():
                found = {f"p{at}": recoding.positions[name] for at, name in enumerate(recoding.labels)}
                frame = self._placed(frame, recoding, found)
                for at, name in enumerate(recoding.labels):
                    if name in made:
                        labels_of = list(recoding.labels[name])
                        frame = self._labelled(frame, f"p{at}", {f"d{at}": labels_of}, len(labels_of))
                        made[name] = f"d{at}"  # drawn; l0, l1, … are labels of the table's columns
        left = spread_of(frame.select(*made.values()), list(made))
        return replace(left, watched=table.watched, repeats=self._repeats(policy, recoding))

    def _repeats(self, policy: Terms, recoding: Recoding) -> bool:
        """Do equal rows leave many times? By what was counted: rows that were counted alike leave alike.

        Unless they are dealt with one by one, or what was not counted leaves with them.
        """
        apart = [a for a in policy.attributes if a.published and a.role not in COUNTED]
        records = self.coded.table.records
        if apart or recoding.by_record or isinstance(recoding, Perturbation) or records is None:
            return False
        return self.coded.cells * REPEATS <= records

    def _several(self, name: str) -> bool:
        return several(self.coded.book.domains[name], self.coded.book.values[name].texts)

    def _in_one_spelling(self, frame: Any, name: str) -> tuple[Any, str]:
        """Equal values as the domain has them, in the column's own type; the others are not touched."""
        f, table, known = functions(), self.coded.table, self.coded.book.values[name]
        domain, read = self.coded.book.domains[name], dict(zip(known.texts, known.keys, strict=True))
        stands = [domain.values[code] for code in codes_of(domain, known.texts).tolist()]
        other = [None if one == text else read[one] for one, text in zip(stands, known.texts, strict=True)]
        at = f"s{table.names.index(name)}"
        frame = looked_up(
            self.session, self.staging, frame, table.text(name), known.keys, {at: _texts(other)}
        )
        number = table.kinds[name] in {"float", "double"}  # -0.0; no other type has two ways
        raw = f.col(table.at(name)) if number else table.text(name)
        spelt = f.col(at).cast(table.kinds[name]) if number else f.col(at)
        return frame.withColumn(at, f.coalesce(spelt, raw)), at

    def _generalised(self, frame: Any, name: str, recoding: Generalization) -> tuple[Any, str]:
        cut: Cut = recoding.cuts[name]
        domain = self.coded.book.domains.get(name)
        if domain is not cut.domain:
            raise InternalError("a recoding is applied to the table that it was tallied from")
        table, known = self.coded.table, self.coded.book.values[name]
        if cut.untouched and name not in self.coded.respelt:
            return frame, table.at(name)
        labels = [cut.labels[cut.positions[domain.code(text)]] for text in known.texts]
        at = f"l{table.names.index(name)}"
        return looked_up(
            self.session, self.staging, frame, table.text(name), known.keys, {at: _texts(labels)}
        ), at

    def _found(self, frame: Any, recoding: Regions) -> Any:
        """A frame with the box of each record, which the cluster knows, less those that do not leave."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        placed = recoding.elsewhere
        if not isinstance(placed, Placement):
            raise InternalError("what is placed on the cluster is said by a placement")
        f, coded = functions(), self.coded
        frame = coded.book.packed(self.session, self.staging, coded.table.over(frame))
        names = [f"w{at}" for at in range(len(coded.book.words))]
        other = placed.by_words.toDF(*(f"{name}_" for name in names), "box").withColumn("known", f.lit(True))  # noqa: FBT003
        same = reduce(lambda one, two: one & two, [f.col(name) == f.col(f"{name}_") for name in names])
        joined = frame.join(other, same, "left").drop(*(f"{name}_" for name in names))
        frame = checked(joined, pa.table({"box": np.zeros(0, dtype=np.int64)}))
        if recoding.kept is None:
            return frame
        gone = np.flatnonzero(~recoding.kept)
        small = f.broadcast(self.staging.sent(self.session, pa.table({"gone": gone})))
        return frame.join(small, f.col("box") == f.col("gone"), "left_anti")

    def _boxes(self, recoding: Regions) -> NDArray[Any]:
        """The box of each cell or record; none (-1) where it is left out."""
        if recoding.of_cell is not None:
            boxes = np.asarray(recoding.of_cell, dtype=np.int64)
        else:
            boxes = np.arange(len(next(iter(recoding.boxes.values()))), dtype=np.int64)
        return boxes if recoding.kept is None else np.where(recoding.kept, boxes, -1)

    def _boxed(self, frame: Any, quasi: Sequence[str], recoding: Regions) -> tuple[Any, dict[str, str]]:
        """The labels of each record's box."""
        labels: dict[str, list[Value]] = {}
        made: dict[str, str] = {}
        for name in quasi:
            shown = recoding.shown(self.coded.columns[name])
            if shown.untouched and name not in self.coded.respelt:
                continue
            at = made[name] = f"l{self.coded.table.names.index(name)}"
            nodes = [node.label for node in recoding.nodes[name]]
            labels[at] = [nodes[place] for place in recoding.boxes[name].tolist()]
        if not labels:
            return frame, made
        many = len(next(iter(labels.values())))
        return self._labelled(frame, "box", labels, many), made

    def _labelled(self, frame: Any, at: str, labels: dict[str, list[Value]], many: int) -> Any:
        """A frame with the labels that stand at a number."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        f = functions()
        table = pa.table(
            {f"{at}_": np.arange(many), **{name: _texts(found) for name, found in labels.items()}}
        )
        small = f.broadcast(self.staging.sent(self.session, with_mark(table)))
        joined = frame.join(small, f.col(at) == f.col(f"{at}_"), "left").drop(f"{at}_")
        return checked(joined, table.drop_columns(f"{at}_"))

    def _placed(self, frame: Any, recoding: Regions | Perturbation, found: dict[str, NDArray[Any]]) -> Any:
        """A frame with what a recoding says of each record's cell, or of the record itself."""
        f, coded, words = functions(), self.coded, [f"w{at}" for at in range(len(self.coded.book.words))]
        frame = coded.book.packed(self.session, self.staging, coded.table.over(frame))
        if not recoding.by_record:
            return self._joined(
                frame, words, dict(zip(words, coded.words, strict=True)), found, recoding.kept
            )
        from pyspark.sql import Window  # noqa: PLC0415 - an optional extra

        starts = np.cumsum(coded.counts) - coded.counts
        frame = self._joined(
            frame, words, dict(zip(words, coded.words, strict=True)), {"start": starts}, None
        )
        rest = [name for name in coded.table.names if name not in coded.columns]
        keys, frame = sort_keys(self.session, self.staging, coded.table.over(frame), rest, self.most)
        ordered = [key.asc_nulls_last() for key in keys]
        within = Window.partitionBy(*words).orderBy(*(ordered or [f.lit(0)]))
        place = f.col("start") + f.row_number().over(within).cast("bigint") - f.lit(1)
        frame = frame.withColumn("place", place)
        records = int(coded.counts.sum())
        copies = recoding.copies if isinstance(recoding, Perturbation) else 1
        frame = reduce(
            lambda one, other: one.unionAll(other),
            [frame.withColumn("place", f.col("place") + f.lit(records * copy)) for copy in range(copies)],
        )
        return self._joined(frame, ["place"], {"place": np.arange(records * copies)}, found, recoding.kept)

    def _joined(
        self,
        frame: Any,
        names: Sequence[str],
        keys: dict[str, NDArray[Any]],
        found: dict[str, NDArray[Any]],
        kept: NDArray[np.bool_] | None,
    ) -> Any:
        """A frame with what a table as long as the tally has beside its numbers, less what is not kept."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        f = functions()
        columns = {f"{name}_": np.asarray(keys[name], dtype=np.int64) for name in names}
        beside = {name: np.asarray(value, dtype=np.int64) for name, value in found.items()}
        if kept is not None:
            beside["kept"] = kept.astype(np.int64)
        table = pa.table({**columns, **beside})
        other = self.staging.sent(self.session, with_mark(table))
        same = reduce(lambda one, two: one & two, [f.col(name) == f.col(f"{name}_") for name in names])
        joined = frame.join(other, same, "left").drop(*columns)
        joined = checked(joined, table.drop_columns(list(columns)))
        return joined if kept is None else joined.where(f.col("kept") == f.lit(1)).drop("kept")

    def _disguised(self, frame: Any, attribute: Attribute) -> tuple[Any, str]:
        """A disguised identifier: each distinct value is covered here, once."""
        table, disguise = self.coded.table, attribute.disguise
        if disguise is None:
            raise InternalError("only a disguised identifier is published")
        at = f"l{table.names.index(attribute.name)}"
        if attribute.person is None:
            known = distinct(table, [attribute.name], self.most)[attribute.name]
            labels = disguise.cover(known.texts)
            text = table.text(attribute.name)
            return looked_up(self.session, self.staging, frame, text, known.keys, {at: _texts(labels)}), at
        return self._shifted(frame, attribute, at), at

    def _shifted(self, frame: Any, attribute: Attribute, at: str) -> Any:
        """What is covered by whose it is: each distinct pair is covered here, once."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        f, table, whose = functions(), self.coded.table, str(attribute.person)
        if attribute.disguise is None:
            raise InternalError("only a disguised identifier is published")
        pairs = fetched(
            table.frame.select(table.text(attribute.name).alias("key"), table.text(whose).alias("who"))
            .distinct()
            .limit(self.most + 1),
            "looking for distinct values",
        )
        if pairs.num_rows > self.most:
            raise UnsupportedError(
                f"the engine 'spark': column {attribute.name!r} has more than {self.most:,} distinct values "
                f"by {whose!r}, which is what is disguised on one machine; say values=… to pv.Spark"
            )
        keys, who = pairs.column("key").to_pylist(), pairs.column("who").to_pylist()
        labels = attribute.disguise.cover(
            respelt(keys, table.kinds[attribute.name]), respelt(who, table.kinds[whose])
        )
        known = pa.table(
            {"key": pa.array(keys, pa.string()), "who": pa.array(who, pa.string()), at: _texts(labels)}
        )
        other = self.staging.sent(self.session, with_mark(known))
        same = table.text(attribute.name).eqNullSafe(f.col("key")) & table.text(whose).eqNullSafe(
            f.col("who")
        )
        joined = frame.join(f.broadcast(other), same, "left").drop("key", "who")
        return checked(joined, known.drop_columns(["key", "who"]))


def _texts(labels: Sequence[Value]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

    return pa.array(labels, pa.string())


def cells_of(tally: Tally) -> dict[str, Column]:
    """The columns of a tally by their names."""
    every = (*tally.quasi, *tally.sensitive, *((tally.target,) if tally.target else ()))
    return {column.name: column for column in every}
