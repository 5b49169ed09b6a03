"""Two linked tables: quasi-identifiers with a bucket, and buckets with their sensitive values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privet.core import Column, Form, Progress, Role, Tally, Verdicts, silent
from privet.declared import Order
from privet.domain import Value, flat
from privet.engine import Engine, Tallied, suffix
from privet.equality import key
from privet.errors import InputError, TamperedError, UnsupportedError
from privet.evidence import notes as ev
from privet.evidence.folder import read as read_evidence
from privet.evidence.values import Evidence
from privet.measure import classes, query, summary
from privet.policy.values import Policy
from privet.readings import Formulas
from privet.recoding import Perturbation
from privet.release import Release
from privet.roads import Found, Stations, absent
from privet.roads.absent import Occurring
from privet.roads.answers import BucketComparison, TableExplanation
from privet.roads.stations import (
    Asked,
    Later,
    Once,
    Passed,
    as_written,
    columns_needed,
    data_file,
    file_of,
    in_frame,
    judge,
    need_tables,
    needed,
    order_complaints,
    others,
    refuse_classify,
    settle,
)
from privet.roads.tables import cautions, persons

BUCKET, RECORDS = "bucket", "records"  # the columns that this road adds
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, kw_only=True)
class SplitRelease(Release):
    """A table of quasi-identifiers with buckets, and a table of what each bucket holds."""

    table: Any = field(repr=False)  # polars frames: this road is walked with them alone
    held: Any = field(repr=False)
    engine: Engine[Any] = field(repr=False)
    form: Form = field(repr=False)

    def to_polars(self) -> Any:
        """The table of quasi-identifiers; `held` has the buckets' sensitive values."""
        return self.table

    def write_data(self, folder: Path) -> dict[str, Any]:
        names = [f"{stem}{suffix(self.form)}" for stem in ("data", "buckets")]
        for name, frame in zip(names, (self.table, self.held), strict=True):
            self.engine.write(self.engine.read(frame, self.form), folder / name, self.form)
        return {"file": names[0], "buckets": names[1], **ev.form_notes(self.form)}

    def published_policy(self) -> Policy:
        # Nothing is generalised, so nobody needs a hierarchy to check; its leaves are raw values.
        attributes = tuple(replace(a, hierarchy=None) for a in self.policy.attributes)
        return replace(self.policy, attributes=attributes, form=self.form)


@dataclass(frozen=True)
class Pair:
    """The two tables that are about to leave, and what each bucket holds."""

    data: Any = field(repr=False)
    held: Any = field(repr=False)


class AnatomyRoad(Stations[Any, Tallied, Perturbation, Pair, Tally]):
    """Two linked tables: values leave as they are, which sensitive value is whose does not."""

    name: ClassVar[str] = "anatomy"

    def refuse(self, asked: Asked) -> None:
        _refuse(asked.policy, asked.engine, asked.like)
        as_written(asked.form, asked.output)

    def read(self, asked: Asked) -> Any:
        return persons.opened(asked.engine, asked.source, asked.form, asked.policy)

    def count(self, asked: Asked, data: Once[Any]) -> Tallied:
        return asked.engine.tally(data.take(), asked.policy)

    def occurring(self, counts: Tallied) -> Occurring:
        return absent.of_tally(counts.tally)

    def search(self, asked: Asked, counts: Tallied) -> Perturbation:
        recoding = asked.policy.algorithm.search(counts.tally, asked.policy, asked.progress).recoding
        if not isinstance(recoding, Perturbation):
            raise UnsupportedError(f"{asked.policy.algorithm.name} deals records into no buckets")
        return recoding

    def apply(self, asked: Asked, counts: Tallied, found: Perturbation) -> Pair:
        sensitive = counts.tally.sensitive[0].name
        dealt = in_frame(asked.engine, asked.engine.apply(counts, asked.policy, found))
        made = Pair(dealt.rename({sensitive: BUCKET}), _held(counts.tally, found, sensitive))
        form = as_written(asked.form, asked.output)
        made = Pair(*(_written(frame, asked, form) for frame in (made.data, made.held)))
        if asked.policy.order is Order.KEPT:
            return made
        from privet.engines.frames import in_order  # noqa: PLC0415 - loads the engine's library

        return Pair(*(in_order(frame) for frame in (made.data, made.held)))

    def look(self, asked: Asked, leaving: Pair) -> Tally:
        sensitive = asked.policy.with_role(Role.SENSITIVE)[0].name
        complaints, final = _tally(leaving.data, leaving.held, asked.policy, sensitive)
        if complaints:
            raise UnsupportedError(*complaints)
        return final

    def judge(self, asked: Asked, seen: Tally) -> Verdicts:
        return judge(seen, asked.policy)

    def measure(self, passed: Passed[Tallied, Perturbation, Pair, Tally]) -> tuple[ev.Told, dict[str, Any]]:
        raw, final = passed.counts.tally, passed.seen
        sensitive = raw.sensitive[0].name
        found = classes.risk(classes.class_sizes(raw))
        columns = list(passed.leaving.data.columns)
        form = as_written(passed.asked.form, passed.asked.output)
        run = _run((passed.leaving.data, passed.leaving.held), final, form, passed.asked.engine)
        told = ev.Told(
            records=final.records,
            suppressed_records=0,
            columns=columns,
            promises=[ev.promise(model, verdict) for model, verdict in passed.verdicts],
            recoding="buckets",
            attributes=_notes(passed.policy, columns, sensitive),
            measures={
                "records": final.records,
                "classes": summary.classes(classes.class_sizes(final)),
                # Quasi-identifiers leave as they are: a record is found as easily as before.
                "risk": {"before": found, "after": found},
                "loss": {
                    "query_error": summary.tidy(query.split_error(raw, passed.found.positions[sensitive]))
                },
                "attributes": {},
            },
            cautions=[*ev.CAUTIONS, *run],
        )
        return told, {"warnings": run} if run else {}

    def release(
        self,
        passed: Passed[Tallied, Perturbation, Pair, Tally],
        evidence: Evidence,
        private: Mapping[str, Any],
    ) -> SplitRelease:
        asked = passed.asked
        return SplitRelease(
            table=passed.leaving.data,
            held=passed.leaving.held,
            engine=asked.engine,
            policy=asked.policy,
            verdicts=passed.verdicts,
            evidence=evidence,
            form=as_written(asked.form, asked.output),
            private=private,
        )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        table = persons.opened(engine, source, settle(source, policy.form), policy)
        tally = engine.tally_published(table, policy)
        absent.remarks(policy, absent.of_tally(tally))
        return judge(tally, policy)

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        data, form = data_file(folder, evidence)
        buckets = file_of(folder, needed(needed(evidence.data, "data").buckets, "data.buckets"))
        sensitive = policy.with_role(Role.SENSITIVE)[0].name
        frames = [in_frame(engine, engine.read(path, form)) for path in (data, buckets)]
        allowed = {a.name for a in policy.attributes if a.published and a.name != sensitive} | {BUCKET}
        complaints = [
            f"column {name!r} is published, the policy does not allow it"
            for name in frames[0].columns
            if name not in allowed
        ]
        complaints += [f"column {n!r} is missing from the data" for n in allowed - set(frames[0].columns)]
        complaints += [
            f"column {name!r} is missing from the buckets"
            for name in (BUCKET, sensitive, RECORDS)
            if name not in frames[1].columns
        ]
        if complaints:
            return Found((), tuple(complaints))
        complaints, final = _tally(frames[0], frames[1], policy, sensitive)
        if final.records != evidence.records:
            complaints.append(
                f"the evidence speaks of {evidence.records} records, the data has {final.records}"
            )
        from privet.engines.frames import is_in_order  # noqa: PLC0415 - loads the engine's library

        sorted_ = all(is_in_order(frame) for frame in frames)
        complaints += order_complaints(policy, evidence, sorted_=sorted_)
        verdicts = judge(final, policy)
        complaints += ev.other_promises(verdicts, evidence.promises)
        complaints += ev.other_columns(evidence, frames[0].columns)
        sizes = summary.classes(classes.class_sizes(final))
        complaints += others([("measures: classes", evidence.measures.classes, sizes)])
        run = _run(frames, final, form, engine)
        complaints += [*cautions.unsaid(evidence, run), *cautions.bare(policy, run)]
        return Found(verdicts, tuple(complaints), unseen=absent.unseen(policy, absent.of_tally(final)))

    risk = Later("exposure")

    def compare(
        self,
        raw: Any,
        release: Release | Path,
        policy: Policy,
        *,
        engine: Engine[Any],
        classify: bool = False,
        seed: int = 0,
        progress: Progress = silent,
    ) -> BucketComparison:
        refuse_classify("a bucket", asked=classify)
        evidence = release.evidence if isinstance(release, Release) else read_evidence(release)
        table = engine.read(raw, settle(raw, policy.form), columns_needed(policy))
        if engine.rows(table) != evidence.records:
            raise InputError(
                f"the raw table has {engine.rows(table)} records, the release {evidence.records}: "
                "it was made from another table"
            )
        del seed, progress  # say nothing here: every value leaves as it is
        said = evidence.measures.to_dict()
        names = ("records", "classes", "risk", "loss", "attributes")
        measures = {name: needed(said.get(name), f"measures.{name}") for name in names}
        return BucketComparison.of({"kind": "buckets", **measures})

    def explain(
        self,
        folder: Path,
        evidence: Evidence,
        policy: Policy,
        *,
        engine: Engine[Any],
        show_values: bool = False,
    ) -> TableExplanation:
        del folder, policy, engine, show_values
        raise UnsupportedError(
            f"{evidence.algorithm['type']} generalises nothing, so there is no loss to explain"
        )


def _refuse(policy: Policy, engine: Engine[Any], like: Path | None) -> None:
    if like is not None:
        raise UnsupportedError("buckets are dealt anew for every table: publish without --like")
    need_tables(engine)
    taken = [a.name for a in policy.attributes if a.published and a.name in {BUCKET, RECORDS}]
    if taken:
        raise UnsupportedError(*(f"attributes.{name}: this name is needed for the buckets" for name in taken))


def _held(raw: Tally, recoding: Perturbation, sensitive: str) -> Any:
    """What each bucket holds: its sensitive values, and how many records have each."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    column = raw.sensitive[0]
    values = pl.Series(sensitive, column.domain.values, dtype=pl.String)
    frame = pl.DataFrame(
        {
            BUCKET: recoding.positions[sensitive] + 1,
            sensitive: values.gather(np.repeat(column.codes, raw.counts).astype(np.uint32)),
        }
    )
    # Sorted, so that the order of the records cannot be read from it.
    return frame.group_by(BUCKET, sensitive).agg(pl.len().alias(RECORDS)).sort(BUCKET, sensitive)


def _tally(data: Any, held: Any, policy: Policy, sensitive: str) -> tuple[list[str], Tally]:
    """What an adversary who knows a person's bucket may count; and where the two tables disagree."""
    buckets = [str(value) for value in held.get_column(BUCKET).to_list()]
    values: list[Value] = [None if v is None else str(v) for v in held.get_column(sensitive).to_list()]
    said = ["" if v is None else str(v) for v in held.get_column(RECORDS).to_list()]
    if not all(map(_NUMBER.fullmatch, said)):  # a negative one would hide a value, a zero is room for text
        raise TamperedError("the buckets: numbers of records are whole numbers from 1 on, plainly written")
    counts = np.array([int(text) for text in said], dtype=np.int64)
    complaints = []
    in_data: dict[str, int] = {}
    for bucket in data.get_column(BUCKET).to_list():
        in_data[str(bucket)] = in_data.get(str(bucket), 0) + 1
    in_held: dict[str, int] = {}
    for bucket, count in zip(buckets, counts.tolist(), strict=True):
        in_held[bucket] = in_held.get(bucket, 0) + count
    if in_data != in_held:
        complaints.append("the two tables do not have the same records in their buckets")
    return complaints, Tally(
        quasi=(_coded(BUCKET, list(buckets)),),
        sensitive=(_coded(sensitive, [key(value) for value in values]),),  # equal values are one value
        target=None,
        counts=counts,
        nulls=policy.nulls,
    )


def _written(frame: Any, asked: Asked, form: Form) -> Any:
    """One of the two tables as it leaves, with cells like formulas escaped where the policy says so."""
    engine = asked.engine
    if asked.policy.formulas is Formulas.CAUTIONED:
        return frame
    return in_frame(engine, cautions.written(engine, engine.read(frame, form), asked.policy, form))


def _run(frames: Sequence[Any], final: Tally, form: Form, engine: Engine[Any]) -> list[str]:
    """What a spreadsheet may run in either table."""
    return [
        caution
        for frame in frames
        for caution in cautions.of_formulas(engine, engine.read(frame, form), final, form)
    ]


def _coded(name: str, values: list[Value]) -> Column:
    domain = flat(tuple(dict.fromkeys(values)))
    return Column(name, domain, domain.column(np.array([domain.codes[value] for value in values])))


def _notes(policy: Policy, columns: list[str], sensitive: str) -> dict[str, Any]:
    notes = {}
    for attribute in policy.attributes:
        how = "unchanged"
        if attribute.name == sensitive:
            how = "in buckets"
        elif attribute.name not in columns:
            how = "dropped"
        elif attribute.disguise is not None:
            how = attribute.disguise.name
        notes[attribute.name] = {"role": attribute.role.value, "published": how}
    return notes
