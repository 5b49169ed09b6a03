"""Tables: what was lost between a raw one and its release, and what risk is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from privet.core import Progress, Role, Tally, silent
from privet.engine import Engine
from privet.errors import InputError, MissingExtraError, TamperedError
from privet.evidence.measures import ColumnLoss, Loss
from privet.evidence.values import ColumnNote, Evidence
from privet.measure import classes, classify, summary, utility
from privet.measure.summary import TYPES, loosest, worst_classes
from privet.policy.values import Policy
from privet.release import Release
from privet.roads.answers import TableComparison
from privet.roads.stations import needed, settle
from privet.roads.tables.opened import PERTURBED, Opened, k_of, opened, rows_of
from privet.roads.tables.query_error import distribution

CLAIMED = ("ncp", "height", "precision", "entropy", "kl")  # what needs hierarchies is taken from evidence


def compare(
    raw: Any,
    release: Release | Path,
    policy: Policy,  # noqa: ARG001 - a road's form; the release brings its own
    *,
    classify: bool = False,
    seed: int = 0,
    engine: Engine[Any],
    progress: Progress = silent,
) -> TableComparison:
    """What was lost between a raw table and its release, and what risk is left.

    Everything is counted again on the two tables; LM comes from the losses that the evidence gives for
    each published value, NCP and height, which need the hierarchies, from the evidence's measures.
    `classify` trains decision trees on each of the two by itself; it needs the extra `classify` and a
    target. `seed` decides which records train and which test.
    """
    there = opened(release, engine)
    progress("read", 0)
    before_table = engine.read(raw, settle(raw, there.policy.form), [*_counted(there), *there.only])
    if there.only:
        before_table = engine.only(before_table, there.only)
    progress("tally", 0)
    before = engine.tally_published(before_table, there.policy)
    after = engine.tally_published(there.table, there.policy)
    evidence, claimed = there.evidence, there.evidence.measures
    missing, copies = evidence.suppressed_records or 0, evidence.copies or 1
    alone = classes.risk(classes.class_sizes(before))
    if copies > 1:  # several records were published for each: counts are compared with as many
        before = replace(before, counts=before.counts * copies)
    if before.records != after.records + missing:
        raise InputError(
            f"the raw table has {before.records // copies} records, the release "
            f"{(after.records + missing) // copies}: it was made from another table"
        )
    progress("measure", 0)
    sizes = classes.class_sizes(after)
    lost = claimed.loss or Loss()
    attributes = _attributes(there, before, after)
    lm = sum(found["lm"] for found in attributes.values()) / len(attributes)
    loss = {
        **{name: getattr(lost, name) for name in CLAIMED},
        "lm": summary.tidy(lm),
        "discernibility": classes.discernibility(sizes, missing),
        "discernibility_ratio": classes.discernibility_ratio(sizes, missing),
        "average_class_size": classes.average_class_size(sizes),
        "suppressed_cells": round(sum(f["suppressed_share"] for f in attributes.values()) * before.records),
        "suppressed_records": missing,
        "gain_retained": _retained(before, after),
    }
    smallest = [number for model in there.policy.models if (number := k_of(model))]
    if smallest:
        loss["normalised_class_size"] = classes.normalised_class_size(sizes, k=max(smallest))
    perturbed = evidence.recoding == PERTURBED
    if perturbed:  # a value that was replaced covers no range: what counts is how many were
        loss |= {"lm": None, "changed": lost.changed}
        for name, found in attributes.items():
            found |= {"lm": None, "changed": (claimed.attributes or {}).get(name, ColumnLoss()).changed}
    loss |= distribution(before, after, there.leaf_order, missing, perturbed=perturbed)
    k = max(smallest, default=None)
    result: dict[str, Any] = {
        "records": after.records,
        "classes": summary.classes(sizes),
        "risk": {"before": alone, "after": classes.risk(sizes)},
        "loss": loss,
        "dimensionality": None
        if k is None or loss["ncp"] is None
        else summary.dimensionality(before.records, k, len(before.quasi), loss["ncp"]),
        "steps": {
            "performed": sum(step.performed for step in evidence.steps),
            "refused": sum(not step.performed for step in evidence.steps),
        },
        "attributes": attributes,
        "worst_classes": worst_classes(after),
    }
    kinds = {name: note.recoding for name, note in evidence.attributes.items() if note.recoding is not None}
    for name in kinds.keys() - {name for name, kind in kinds.items() if kind in TYPES}:
        raise TamperedError(f"evidence.json: attributes.{name}.recoding: is one of {', '.join(TYPES)}")
    if kinds:
        result["recoding"] = {"type": loosest(kinds.values()), "attributes": kinds}
    if classify:
        progress("classify", 0)
        result["classification"] = _classified(before_table, there, seed)
    return TableComparison.of(result)


def _counted(there: Opened) -> list[str]:
    """What is read of the raw table: published columns, without disguised identifiers."""
    return [a.name for a in there.policy.attributes if a.published and a.role is not Role.IDENTIFIER]


def _attributes(there: Opened, before: Tally, after: Tally) -> dict[str, Any]:
    claimed = there.evidence.measures.attributes or {}
    found = {}
    for raw, column in zip(before.quasi, after.quasi, strict=True):
        known = claimed.get(raw.name, ColumnLoss())
        values = _noted(there.evidence, raw.name).values_ or ()
        loss = {value.label: value.loss for value in values}
        nothing = {value.label for value in values if value.root}
        records = np.bincount(column.codes, weights=after.counts, minlength=column.domain.size)
        costs = [loss.get(label, 0.0) for label in column.domain.values]
        missing = before.records - after.records
        suppressed = missing + sum(
            int(n) for label, n in zip(column.domain.values, records, strict=True) if label in nothing
        )
        lm = (float(records @ np.array(costs)) + missing) / before.records
        told = None
        if before.target is not None and after.target is not None:
            told = (
                utility.information(raw, before.target, before.counts),
                utility.information(column, after.target, after.counts),
            )
        found[raw.name] = {
            "lm": summary.tidy(lm),
            **{name: getattr(known, name) for name in CLAIMED if name != "height"},
            "published_values": column.domain.size,
            "raw_values": raw.domain.size,
            "suppressed_share": suppressed / before.records,
            "gain_retained": summary.tidy(told[1] / told[0]) if told and told[0] > 0 else None,
        }
    return found


def _noted(evidence: Evidence, name: str) -> ColumnNote:
    return needed(evidence.attributes.get(name), f"attributes.{name}")


def _retained(before: Tally, after: Tally) -> float | None:
    if before.target is None or after.target is None:
        return None
    raw = sum(utility.information(column, before.target, before.counts) for column in before.quasi)
    left = sum(utility.information(column, after.target, after.counts) for column in after.quasi)
    kept: float | None = summary.tidy(left / raw) if raw > 0 else None
    return kept


def _classified(before: Any, there: Opened, seed: int) -> dict[str, Any]:
    targets = there.policy.with_role(Role.TARGET)
    if not targets:
        return {"skipped": "the policy names no target, so there is nothing to predict"}
    names, source = _counted(there), there.evidence.source_records // (there.evidence.copies or 1)
    try:
        found = classify.classify(
            rows_of(before, names, classify.chosen_rows(source, seed=seed)),
            rows_of(there.table, names, classify.chosen_rows(there.evidence.records, seed=seed)),
            target=targets[0].name,
            quasi={a.name for a in there.policy.quasi},
            seed=seed,
        )
    except MissingExtraError as error:
        return {"skipped": str(error)}
    return found.to_dict()
