"""Sets of items: rules hidden in them, or no few items telling whose they are; checked by auditors.

What leaves is read again as its recipient will read it, and every promise is counted on that by code that no
search uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from privet.core import Attribute, Form, Role, Verdicts
from privet.declared import Order
from privet.engine import SUFFIX, Engine
from privet.engines import persons
from privet.engines.frames import beginning, in_order, is_in_order
from privet.engines.transactions import frames
from privet.engines.transactions.frames import ItemFrame
from privet.equality import finder
from privet.errors import InputError, UnsupportedError, one_of
from privet.evidence import notes as ev
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.recoding import Generalization
from privet.relational.randomness import generator
from privet.roads import Found, Stations
from privet.roads.stations import (
    Asked,
    Later,
    Once,
    Passed,
    as_written,
    data_file,
    in_frame,
    needed,
    order_complaints,
    others,
)
from privet.roads.tables import cautions
from privet.roads.transactions.check import level_notes, passing, read_sets, shape_of, size, verdicts_on
from privet.roads.transactions.quasi_identifiers import recoded
from privet.roads.transactions.release import SetRelease
from privet.roads.transactions.shape import Layout
from privet.roads.transactions.sound import accounts, otherwise_written
from privet.rules.effects import effects
from privet.rules.mining import mine
from privet.rules.rule import Thresholds
from privet.rules.searches import SetFinding, Sets, hidden_of, known_of, mined_with
from privet.spreadsheets import BEGINS
from privet.trajectory.audit import OfLength

NAMED = (
    "The policy in this folder names the rules that are hidden: whoever reads it learns that somebody "
    "minds them. A rule that stands just below its thresholds is still there for who mines with lower ones."
)
BEYOND = "Somebody who knows more items of a person than the promise says may find fewer records."


@dataclass(frozen=True)
class Decided:
    """What stands beside the sets as it leaves, and the sets."""

    beside: pl.DataFrame = field(repr=False)
    finding: SetFinding


@dataclass(frozen=True)
class Leaving:
    """The sets that are about to leave, and the table that they stand in; none where they stand in lines."""

    sets: ItemFrame
    frame: pl.DataFrame | None = field(repr=False)
    form: Form


@dataclass(frozen=True)
class Recounted:
    """The same as their recipient reads them, and what the auditors counted."""

    sets: ItemFrame
    frame: pl.DataFrame | None = field(repr=False)
    form: Form
    verdicts: Verdicts
    levels: list[list[OfLength]] = field(repr=False)


Way = Passed[ItemFrame, Decided, Leaving, Recounted]


class TransactionRoad(Stations[ItemFrame, ItemFrame, Decided, Leaving, Recounted]):
    """Sets of items: sensitive rules are hidden, or whoever knows a few items finds many records."""

    name: ClassVar[str] = "transactions"

    def refuse(self, asked: Asked) -> None:
        if asked.like is not None:
            raise UnsupportedError("sets are searched anew for every batch: publish without --like")
        if shape_of(asked.policy).form is Layout.BASKETS and asked.output is not None:
            raise InputError("--to: baskets leave as they came, one line for each")
        written(asked)

    def read(self, asked: Asked) -> ItemFrame:
        return read_sets(asked.source, asked.policy, asked.engine)

    def count(self, asked: Asked, data: Once[ItemFrame]) -> ItemFrame:
        read = data.take()
        if asked.policy.order is Order.KEPT:
            return read
        # Which of the records that would do is changed must not follow the order in which they came.
        order = read.in_order()
        return read.only(order, read.baskets.only(order))

    def search(self, asked: Asked, counts: ItemFrame) -> Decided:
        return Decided(*recoded(counts, asked.policy, asked.engine, asked.progress))

    def apply(self, asked: Asked, counts: ItemFrame, found: Decided) -> Leaving:
        finding, form = found.finding, written(asked)
        left = replace(counts, beside=found.beside).only(finding.records, finding.baskets)
        left = replace(left, beside=disguised(left, asked.policy, asked.engine))
        if asked.policy.order is Order.CANONICAL:
            order = replace(left, person=None).in_order()
            left = left.only(order, left.baskets.only(order))
        return Leaving(left, framed(left, asked.policy, form, asked.engine), form)

    def look(self, asked: Asked, leaving: Leaving) -> Recounted:
        final = leaving.sets
        if leaving.frame is not None:
            theirs = replace(asked.policy, shape=shape_of(asked.policy).published())
            final = read_sets(leaving.frame, theirs, asked.engine, form=leaving.form, published=True)
        return Recounted(final, leaving.frame, leaving.form, *verdicts_on(final, asked.policy))

    def judge(self, asked: Asked, seen: Recounted) -> Verdicts:  # noqa: ARG002 - the auditors have looked
        return seen.verdicts

    def measure(self, passed: Way) -> tuple[ev.Told, dict[str, Any]]:
        policy, read, final, finding = passed.policy, passed.counts, passed.seen.sets, passed.found.finding
        sets: dict[str, Any] = {
            "before": size(read.baskets),
            "suppressed": finding.suppressed,
            "loss": round(finding.loss, 9),
            **published(final, policy, passed.seen.levels),
        }
        if finding.mined is not None and of_raw_items(read, final):
            raw_items = same_items(read, final)
            sets["effects"] = effects(finding.mined, read.baskets, raw_items, finding.sensitive).counts
        told = ev.Told(
            records=final.baskets.records,
            suppressed_records=read.baskets.records - final.baskets.records,
            columns=[] if passed.seen.frame is None else list(passed.seen.frame.columns),
            promises=[ev.promise(model, verdict) for model, verdict in passed.verdicts],
            recoding=finding.how,
            attributes=attribute_notes(policy, finding),
            measures={"records": final.baskets.records},
            cautions=[
                *ev.CAUTIONS,
                *([NAMED] if hidden_of(policy) else []),
                *([BEYOND] if known_of(policy) else []),
                *cautions.of_formulas_in(cells(passed.seen.frame, final), passed.seen.form),
            ],
            more={"sets": sets},
        )
        return told, private(read, final, finding, policy)

    def release(self, passed: Way, evidence: Evidence, private: Mapping[str, Any]) -> SetRelease:
        return SetRelease(
            table=passed.seen.frame,
            baskets=passed.seen.sets.baskets,
            engine=passed.asked.engine,
            policy=passed.policy,
            verdicts=passed.verdicts,
            evidence=evidence,
            form=passed.seen.form,
            private=private,
        )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        return verdicts_on(read_sets(source, policy, engine), policy)[0]

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        shape, said = shape_of(policy), needed(evidence.sets, "sets")
        data, form = data_file(folder, evidence)
        complaints: list[str] = []
        if shape.form is not Layout.BASKETS:
            if form.format not in SUFFIX:
                raise InputError(one_of("its format", sorted(SUFFIX), form.format))
            allowed = {*passing(policy), *shape.columns, *(a.name for a in policy.attributes if a.published)}
            there = columns_of(data, form, engine)
            complaints += [
                f"column {name!r} is published, the policy does not allow it"
                for name in there
                if name not in allowed
            ]
            missing = [n for n in dict.fromkeys([*evidence.columns, *sorted(allowed)]) if n not in there]
            complaints += [f"column {name!r} is missing from the data" for name in missing]
            if missing:
                return Found((), tuple(complaints))
        final = read_sets(data, policy, engine, form=form, published=True)
        sorted_ = sorted_sets(data, final, policy, form, engine)
        complaints += order_complaints(policy, evidence, sorted_=sorted_)
        if final.baskets.records != evidence.records:
            complaints.append(
                f"the evidence speaks of {evidence.records} records, the data has {final.baskets.records}"
            )
        complaints += ev.other_columns(evidence, [] if shape.form is Layout.BASKETS else there)
        texts = None
        if shape.form is not Layout.BASKETS and form.format not in frames.TYPED:
            texts = in_frame(engine, engine.read(data, form))
        complaints += cautions.unsaid(evidence, cautions.of_formulas_in(cells(texts, final), form))
        verdicts, levels = verdicts_on(final, policy)
        complaints += ev.other_promises(verdicts, evidence.promises)
        theirs, counted = said.to_dict(), published(final, policy, levels)
        complaints += [*accounts(evidence), *otherwise_written(data, form, final, policy, engine)]
        complaints += others(
            (f"sets: {key}", theirs.get(key), counted.get(key)) for key in ("after", "levels", "mined")
        )
        return Found(verdicts, tuple(complaints))

    risk = Later("exposure")
    compare = Later("exposure")
    explain = Later("exposure")


def cells(frame: pl.DataFrame | None, found: ItemFrame) -> list[tuple[str, Sequence[str | None]]]:
    """What stands in cells of a file: texts of columns, or the items of baskets."""
    if frame is None:
        return [("items", found.baskets.items)]
    return [(one.name, beginning(one, BEGINS)) for one in frame if one.dtype == pl.String]


def written(asked: Asked) -> Form:
    """How the data leaves."""
    if shape_of(asked.policy).form is Layout.BASKETS:
        packed = str(asked.source).endswith(".gz")
        return Form(format=Layout.BASKETS.value, encoding=asked.policy.form.encoding, gzip=packed)
    return as_written(asked.form, asked.output)


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
        made = frames.column_written(left, str(shape.set), shape.separator, [*order, str(shape.set)], form)
        return made if policy.order is Order.KEPT else in_order(made)
    # Who has several rows gets a number, drawn anew for every release, unless the policy disguises it.
    records = left.baskets.records
    numbers = pl.Series((generator().permutation(records) + 1).astype(np.int64))
    person = next((a for a in policy.attributes if a.name == shape.person), None)
    if person is not None and person.disguise is not None and left.person is not None:
        numbers = covered(left.person, person, policy, engine)
    names = [str(shape.person), *order, str(shape.item)]
    made = frames.rows_written(left, str(shape.person), str(shape.item), numbers=numbers, order=names)
    if policy.order is Order.KEPT:
        return made
    return persons.in_order(made, str(shape.person), named=named_persons(policy))


def named_persons(policy: Policy) -> bool:
    """Has a person a name in the release, in whatever disguise?"""
    return any(a.name == shape_of(policy).person and a.disguise is not None for a in policy.attributes)


def sorted_sets(data: Path, final: ItemFrame, policy: Policy, form: Form, engine: Engine[Any]) -> bool:
    """Do published sets stand in canonical order?"""
    shape = shape_of(policy)
    if shape.form is Layout.BASKETS:
        return bool((np.diff(final.in_order()) == 1).all())
    frame = (
        frames.typed(data, form.format)
        if form.format in frames.TYPED
        else in_frame(engine, engine.read(data, form))
    )
    if shape.form is Layout.COLUMN:
        return is_in_order(frame)
    return persons.is_in_order(frame, str(shape.person), named=named_persons(policy))


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
    found: dict[str, Any] = {"after": size(final.baskets), "levels": level_notes(levels)}
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


def attribute_notes(policy: Policy, finding: SetFinding) -> dict[str, Any]:
    """For each column: its role and what became of it."""
    shape = shape_of(policy)
    notes: dict[str, Any] = {
        name: {"role": "set", "published": "numbered" if name == shape.person else finding.how}
        for name in shape.columns
    }
    for attribute in policy.attributes:
        how = "generalised" if attribute.role is Role.QUASI else "unchanged"
        if not attribute.published:
            how = "dropped" if attribute.name != shape.person else "numbered"
        elif attribute.disguise is not None:
            how = attribute.disguise.name
        notes[attribute.name] = {"role": attribute.role.value, "published": how}
    return notes


def of_raw_items(read: ItemFrame, final: ItemFrame) -> bool:
    """Can rules before and after be compared? Not where items became what stands above them."""
    find = finder(read.baskets.codes)  # a hierarchy may spell an item in another way
    return all(find(item) is not None for item in final.baskets.items)


def same_items(read: ItemFrame, final: ItemFrame) -> Any:
    """What is published in the numbers of the raw items."""
    find = finder(read.baskets.codes)
    at = np.array([find(item) for item in final.baskets.items], dtype=np.int64)
    return final.baskets.renamed(read.baskets.items, at)


def private(read: ItemFrame, final: ItemFrame, finding: SetFinding, policy: Policy) -> dict[str, Any]:
    """For the steward: what was hidden from where, which rules went with it, and which are new."""
    found: dict[str, Any] = dict(finding.private)
    if finding.mined is None:
        return found
    items = read.baskets.items

    def said(rules: Any) -> list[list[list[str]]]:
        return [[[items[i] for i in side] for side in rule] for rule in sorted(rules)]

    if of_raw_items(read, final):
        harm = effects(finding.mined, read.baskets, same_items(read, final), finding.sensitive)
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
