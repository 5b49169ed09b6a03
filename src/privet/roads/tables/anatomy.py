"""Two linked tables: quasi-identifiers with a bucket, and buckets with their sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privet.core import Column, Engine, Form, Perturbation, Progress, Role, Tally
from privet.domain import Value, flat
from privet.errors import InputError, UnsupportedError
from privet.measure import classes, query, summary
from privet.measure import risk as risks
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.release import Release, suffix
from privet.report import evidence as ev
from privet.roads import Found, Verdicts
from privet.roads.stations import (
    CAUTIONS,
    as_written,
    columns_needed,
    data_file,
    handed_out,
    judge,
    refuse_broken,
    settle,
    source_digest,
)
from privet.roads.tables import exposure

BUCKET, RECORDS = "bucket", "records"  # the columns that this road adds


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
        return replace(self.policy, attributes=attributes, form=handed_out(self.policy.form))


class AnatomyRoad:
    """Two linked tables: values leave as they are, which sensitive value is whose does not."""

    name: ClassVar[str] = "anatomy"

    def publish(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        like: Path | None,
        output: str | None,
        progress: Progress,
    ) -> SplitRelease:
        _refuse(policy, engine, like)
        form = settle(source, policy.form)
        progress("read", 0)
        table = engine.read(source, form, columns_needed(policy))
        progress("tally", 0)
        raw = engine.tally(table, policy)
        progress("search", 0)
        recoding = policy.algorithm.search(raw, policy, progress).recoding
        if not isinstance(recoding, Perturbation):
            raise UnsupportedError(f"{policy.algorithm.name} deals records into no buckets")
        progress("apply", 0)
        sensitive = raw.sensitive[0].name
        data = engine.frame(engine.apply(table, policy, recoding)).rename({sensitive: BUCKET})
        held = _held(raw, recoding, sensitive)
        progress("check", 0)
        complaints, final = _tally(data, held, policy, sensitive)
        if complaints:
            raise UnsupportedError(*complaints)
        verdicts = judge(final, policy)
        refuse_broken(verdicts, policy, None)
        progress("measure", 0)
        sizes, found = classes.class_sizes(final), risks.risk(classes.class_sizes(raw))
        evidence: dict[str, Any] = {
            **ev.header(),
            "kind": policy.kind,
            "purpose": policy.purpose,
            "nulls": policy.nulls.value,
            "records": final.records,
            "suppressed_records": 0,
            "columns": list(data.columns),
            "promises": [ev.promise(model, verdict) for model, verdict in verdicts],
            "algorithm": describe(policy.algorithm),
            "recoding": "buckets",
            "attributes": _notes(policy, list(data.columns), sensitive),
            "steps": [],
            "notes": [],
            "measures": {
                "records": final.records,
                "classes": summary.classes(sizes),
                # Quasi-identifiers leave as they are: a record is found as easily as before.
                "risk": {"before": found, "after": found},
                "loss": {"query_error": summary.tidy(query.split_error(raw, recoding.positions[sensitive]))},
                "attributes": {},
            },
            "cautions": list(CAUTIONS),
        }
        return SplitRelease(
            table=data,
            held=held,
            engine=engine,
            policy=policy,
            verdicts=verdicts,
            evidence=evidence,
            form=as_written(form, output),
            private={"source": source_digest(source)},
        )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        table = engine.read(source, settle(source, policy.form), columns_needed(policy))
        return judge(engine.tally_published(table, policy), policy)

    def verify(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any]
    ) -> Found:
        data, form = data_file(folder, evidence["data"])
        buckets, _ = data_file(folder, {**evidence["data"], "file": evidence["data"]["buckets"]})
        sensitive = policy.with_role(Role.SENSITIVE)[0].name
        frames = [engine.frame(engine.read(path, form)) for path in (data, buckets)]
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
        if final.records != evidence["records"]:
            complaints.append(
                f"the evidence speaks of {evidence['records']} records, the data has {final.records}"
            )
        verdicts = judge(final, policy)
        return Found(verdicts, (*complaints, *ev.other_promises(verdicts, evidence["promises"])))

    risk = staticmethod(exposure.risk)

    def compare(
        self, raw: Any, release: Release | Path, policy: Policy, *, engine: Engine[Any], **asked: Any
    ) -> dict[str, Any]:
        evidence = release.evidence if isinstance(release, Release) else ev.read(release)
        table = engine.read(raw, settle(raw, policy.form), columns_needed(policy))
        if engine.rows(table) != evidence["records"]:
            raise InputError(
                f"the raw table has {engine.rows(table)} records, the release {evidence['records']}: "
                "it was made from another table"
            )
        del asked  # what tables can be asked besides says nothing here: every value leaves as it is
        return {"kind": "buckets", "records": evidence["records"], **evidence["measures"]}

    def explain(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any], **asked: Any
    ) -> dict[str, Any]:
        del folder, policy, engine, asked
        raise UnsupportedError(
            f"{evidence['algorithm']['type']} generalises nothing, so there is no loss to explain"
        )


def _refuse(policy: Policy, engine: Engine[Any], like: Path | None) -> None:
    if like is not None:
        raise UnsupportedError("buckets are dealt anew for every table: publish without --like")
    if engine.name != "embedded":
        raise UnsupportedError(f"the engine {engine.name!r} writes one table; the engine 'embedded' two")
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
    counts = np.array(held.get_column(RECORDS).cast(int).to_list(), dtype=np.int64)
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
        sensitive=(_coded(sensitive, values),),
        target=None,
        counts=counts,
        nulls=policy.nulls,
    )


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
