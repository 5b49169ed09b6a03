"""Sets of items: rules hidden in them, or no few items telling whose they are; checked by auditors.

What leaves is read again as its recipient will read it, and every promise is counted on that by code that no
search uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from privet.core import Attribute, Engine, Generalization, Progress, Role
from privet.engines import text
from privet.engines.transactions import frames
from privet.engines.transactions.frames import ItemFrame
from privet.errors import InputError, UnsupportedError, one_of
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.relational.randomness import generator
from privet.report import evidence as ev
from privet.roads import Found, Verdicts
from privet.roads.stations import CAUTIONS, as_written, data_file, in_frame, refuse_broken, source_digest
from privet.roads.transactions import exposure
from privet.roads.transactions.beside import recoded
from privet.roads.transactions.check import (
    form_of,
    level_notes,
    passing,
    read_sets,
    shape_of,
    size,
    verdicts_on,
)
from privet.roads.transactions.release import SetRelease
from privet.roads.transactions.shape import Layout
from privet.rules.effects import effects
from privet.rules.mining import mine
from privet.rules.rule import Thresholds
from privet.rules.searches import SetFinding, Sets, hidden_of, mined_with

NAMED = (
    "The policy in this folder names the rules that are hidden: whoever reads it learns that somebody "
    "minds them. A rule that stands just below its thresholds is still there for who mines with lower ones."
)
BEYOND = "Somebody who knows more items of a person than the promise says may find fewer records."


class TransactionRoad:
    """Sets of items: sensitive rules are hidden, or whoever knows a few items finds many records."""

    name: ClassVar[str] = "transactions"

    def publish(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        like: Path | None,
        output: str | None,
        progress: Progress,
    ) -> SetRelease:
        if like is not None:
            raise UnsupportedError("sets are searched anew for every batch: publish without --like")
        shape, form = shape_of(policy), form_of(source, policy)
        if shape.form is Layout.BASKETS:
            if output is not None:
                raise InputError("--to: baskets leave as they came, one line for each")
            written = replace(form, format=Layout.BASKETS.value, gzip=str(source).endswith(".gz"))
        else:
            written = as_written(form, output)
        with ThreadPoolExecutor() as aside:
            digest = aside.submit(source_digest, source)
            progress("read", 0)
            read = read_sets(source, policy, engine)
            progress("search", 0)
            beside, finding = recoded(read, policy, engine, progress)
            progress("apply", 0)
            left = replace(read, beside=beside).only(finding.records, finding.baskets)
            left = replace(left, beside=disguised(left, policy, engine))
            frame = framed(left, policy, written, engine)
            progress("check", 0)
            theirs = replace(policy, shape=shape.published())
            final = left if frame is None else read_sets(frame, theirs, engine, form=written, published=True)
            verdicts, levels = verdicts_on(final, policy)
            refuse_broken(verdicts, policy, None)
            progress("measure", 0)
            evidence = noted(policy, read, final, finding, verdicts)
            evidence["columns"] = [] if frame is None else list(frame.columns)
            evidence["sets"] = published(final, policy, levels)
            return SetRelease(
                table=frame,
                baskets=final.baskets,
                engine=engine,
                policy=policy,
                verdicts=verdicts,
                evidence=evidence,
                form=written,
                private={"source": digest.result(), **private(read, final, finding, policy)},
            )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        return verdicts_on(read_sets(source, policy, engine), policy)[0]

    def verify(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any]
    ) -> Found:
        shape = shape_of(policy)
        data, form = data_file(folder, evidence["data"])
        complaints: list[str] = []
        if shape.form is not Layout.BASKETS:
            if form.format not in text.SUFFIX:
                raise InputError(one_of("its format", sorted(text.SUFFIX), form.format))
            allowed = {*passing(policy), *shape.columns, *(a.name for a in policy.attributes if a.published)}
            there = columns_of(data, form, engine)
            complaints += [
                f"column {name!r} is published, the policy does not allow it"
                for name in there
                if name not in allowed
            ]
            missing = [n for n in dict.fromkeys([*evidence["columns"], *sorted(allowed)]) if n not in there]
            complaints += [f"column {name!r} is missing from the data" for name in missing]
            if missing:
                return Found((), tuple(complaints))
        final = read_sets(data, policy, engine, form=form, published=True)
        if final.baskets.records != evidence["records"]:
            complaints.append(
                f"the evidence speaks of {evidence['records']} records, the data has {final.baskets.records}"
            )
        verdicts, levels = verdicts_on(final, policy)
        complaints += ev.other_promises(verdicts, list(evidence["promises"]))
        complaints += [
            f"sets: {key}: the evidence claims other numbers than the data has"
            for key, counted in published(final, policy, levels).items()
            if evidence["sets"][key] != counted
        ]
        if evidence["measures"]["after"] != size(final.baskets):
            complaints.append("measures: after: the evidence claims other numbers than the data has")
        return Found(verdicts, tuple(complaints))

    risk = staticmethod(exposure.risk)
    compare = staticmethod(exposure.compare)
    explain = staticmethod(exposure.explain)


def columns_of(data: Path, form: Any, engine: Engine[Any]) -> list[str]:
    """The columns of a published file, whatever they hold."""
    if form.format in frames.TYPED:
        return list(frames.typed(data, form.format).columns)
    return list(engine.columns(engine.read(data, form)))


def disguised(left: ItemFrame, policy: Policy, engine: Engine[Any]) -> pl.DataFrame:
    """What stands beside the sets, with identifiers dropped or disguised."""
    shape = shape_of(policy)
    if not left.beside.width:
        return left.beside
    roles = [replace(a, role=Role.OTHER, hierarchy=None) for a in policy.quasi]
    roles += [a for a in policy.attributes if a.role is not Role.QUASI and a.name != shape.person]
    named = [a for a in roles if a.name in left.beside.columns]
    plain = policy.asking(kind="table", shape=None, attributes=tuple(named))
    tallied = engine.tally(engine.read(left.beside, policy.form), plain)
    made: pl.DataFrame = in_frame(engine, engine.apply(tallied, plain, Generalization({})))
    return made


def framed(left: ItemFrame, policy: Policy, form: Any, engine: Engine[Any]) -> pl.DataFrame | None:
    """What leaves as a table; None where baskets stand in lines."""
    shape = shape_of(policy)
    order = [a.name for a in policy.attributes if a.published and a.name != shape.person]
    if shape.form is Layout.BASKETS:
        return None
    if shape.form is Layout.COLUMN:
        return frames.column_written(left, str(shape.set), shape.separator, [*order, str(shape.set)], form)
    # Who has several rows gets a number, drawn anew for every release, unless the policy disguises it.
    records = left.baskets.records
    numbers = pl.Series((generator().permutation(records) + 1).astype(np.int64))
    person = next((a for a in policy.attributes if a.name == shape.person), None)
    if person is not None and person.disguise is not None and left.person is not None:
        numbers = covered(left.person, person, policy, engine)
    chance = np.asarray(generator().permutation(records), dtype=np.int64)
    names = [str(shape.person), *order, str(shape.item)]
    return frames.rows_written(
        left, str(shape.person), str(shape.item), numbers=numbers, order=names, shuffled=chance
    )


def covered(who: pl.Series, person: Attribute, policy: Policy, engine: Engine[Any]) -> pl.Series:
    """Persons as the policy disguises them."""
    plain = policy.asking(kind="table", shape=None, attributes=(person,))
    tallied = engine.tally(engine.read(pl.DataFrame({person.name: who}), policy.form), plain)
    made: pl.Series = in_frame(engine, engine.apply(tallied, plain, Generalization({}))).get_column(
        person.name
    )
    return made


def thresholds_of(policy: Policy, records: ItemFrame) -> Thresholds | None:
    """How the recipient is thought to mine; None where nothing is hidden."""
    promises = hidden_of(policy)
    shape = shape_of(policy)
    if not promises:
        return shape.mined_with
    return mined_with(Sets(records.baskets, mined_with=shape.mined_with), promises)


def published(final: ItemFrame, policy: Policy, levels: Any) -> dict[str, Any]:
    """What can be counted on a release by anybody."""
    found: dict[str, Any] = {"levels": level_notes(levels)}
    thresholds = thresholds_of(policy, final)
    if thresholds is not None:
        mined = mine(final.baskets, thresholds)
        found["mined"] = {
            "support": thresholds.least(final.baskets.records),
            "confidence": ev.number(thresholds.confidence) if thresholds.confidence is not None else None,
            "itemsets": len(mined.itemsets),
            "rules": len(mined.rules),
        }
    return found


def noted(
    policy: Policy, read: ItemFrame, final: ItemFrame, finding: SetFinding, verdicts: Verdicts
) -> dict[str, Any]:
    shape = shape_of(policy)
    hidden = finding.mined is not None
    measures: dict[str, Any] = {
        "records": final.baskets.records,
        "before": size(read.baskets),
        "after": size(final.baskets),
        "suppressed": finding.suppressed,
        "loss": round(finding.loss, 9),
    }
    if finding.mined is not None:
        by_label = same_items(read, final)
        measures["effects"] = effects(finding.mined, read.baskets, by_label, finding.sensitive).counts
    attributes: dict[str, Any] = {
        name: {"role": "set", "published": "numbered" if name == shape.person else finding.how}
        for name in shape.columns
    }
    for attribute in policy.attributes:
        how = "generalised" if attribute.role is Role.QUASI else "unchanged"
        if not attribute.published:
            how = "dropped" if attribute.name != shape.person else "numbered"
        elif attribute.disguise is not None:
            how = attribute.disguise.name
        attributes[attribute.name] = {"role": attribute.role.value, "published": how}
    return {
        **ev.header(),
        "kind": policy.kind,
        "purpose": policy.purpose,
        "nulls": policy.nulls.value,
        "records": final.baskets.records,
        "suppressed_records": read.baskets.records - final.baskets.records,
        "promises": [ev.promise(model, verdict) for model, verdict in verdicts],
        "algorithm": describe(policy.algorithm),
        "recoding": finding.how,
        "attributes": attributes,
        "steps": [],
        "notes": [],
        "measures": measures,
        "cautions": [*CAUTIONS, NAMED if hidden else BEYOND],
    }


def same_items(read: ItemFrame, final: ItemFrame) -> Any:
    """What is published in the numbers of the raw items."""
    at = np.array([read.baskets.codes[item] for item in final.baskets.items], dtype=np.int64)
    return final.baskets.renamed(read.baskets.items, at)


def private(read: ItemFrame, final: ItemFrame, finding: SetFinding, policy: Policy) -> dict[str, Any]:
    """For the steward: what was hidden from where, which rules went with it, and which are new."""
    found: dict[str, Any] = dict(finding.private)
    if finding.mined is None:
        return found
    harm = effects(finding.mined, read.baskets, same_items(read, final), finding.sensitive)
    items = read.baskets.items

    def said(rules: Any) -> list[list[list[str]]]:
        return [[[items[i] for i in side] for side in rule] for rule in sorted(rules)]

    found |= {"lost": said(harm.lost), "ghosts": said(harm.ghosts)}
    found["before"] = [
        {
            "rule": str(promise),
            "support": read.baskets.support(one.itemset),
            "antecedent": read.baskets.support(one.rule.antecedent),
        }
        for promise, one in zip(hidden_of(policy), finding.sensitive, strict=True)
    ]
    return found
