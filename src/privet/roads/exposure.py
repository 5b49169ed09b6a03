"""Tables: what is at risk, what was lost, and why.

Each function returns a dict that JSON can hold. None of them decides about a release, and none repeats
a value of the data unless the caller asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from privet.core import (
    Engine,
    Generalization,
    Perturbation,
    PrivacyModel,
    Progress,
    Role,
    Tally,
    silent,
)
from privet.domain import Value
from privet.errors import InputError, MissingExtraError, TamperedError, UnsupportedError
from privet.measure import attack as attacks
from privet.measure import classes, classify, dimensions, summary, utility
from privet.measure import population as people
from privet.measure import risk as risks
from privet.measure.attack import Attack, Rows, Translation
from privet.measure.audit import Audit, audit
from privet.measure.worst import worst_classes
from privet.models.linkage import LinkageModel
from privet.models.presence import presence
from privet.policy import Policy
from privet.relational.recodings import loosest
from privet.release import Release, read_private
from privet.report import evidence as ev
from privet.roads import aware, population
from privet.roads.spreading import distribution
from privet.roads.stations import columns_needed, data_file, settle
from privet.roads.table_release import TableRelease
from privet.roads.telling import telling

EFFORT = 1_000_000_000  # cells that an audit looks at: about half a minute
TRIALS = 200
PERTURBED = Perturbation.name
CLAIMED = ("ncp", "height", "precision", "entropy", "kl")  # what needs hierarchies is taken from evidence
LISTED = 100  # violating groups, for a steward who asks for values; without values a list says nothing


def risk(
    source: Any,
    policy: Policy,
    *,
    threshold: Fraction | None = None,
    fraction: Fraction | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    show_values: bool = False,
    algorithm_aware: bool = False,
    widths: bool = False,
    engine: Engine[Any],
    progress: Progress = silent,
) -> dict[str, Any]:
    """How exposed the people in a table are, as it stands.

    `threshold`: the chance of being found that is too high; without it, what the policy's strictest k
    promises. `fraction`: which part of a population the table is a random sample of; then the population's
    uniques are estimated. `show_values` lists the groups that break a promise with their values.
    `algorithm_aware` tries what somebody would learn who knows the policy's algorithm too. `widths` cuts the
    table into boxes of k, by one quasi-identifier, two and more: how wide values become with each.
    """
    if fraction is not None and not 0 < fraction <= 1:
        raise InputError("the sampling fraction is above 0 and at most 1, such as 1/10")
    progress("read", 0)
    table = engine.read(source, settle(source, policy.form), columns_needed(policy))
    progress("tally", 0)
    everybody = engine.tally_published(table, policy)
    tally = population.part_that_leaves(everybody, policy)
    progress("measure", 0)
    sizes = classes.class_sizes(tally)
    found = risks.risk(sizes)
    limit = threshold if threshold is not None else _promised(policy.models)
    prosecutor: dict[str, Any] = {"highest": found["highest"], "average": found["average"]}
    if limit is not None:
        above = risks.above(sizes, limit)
        prosecutor |= {
            "threshold": ev.number(limit),
            "records_above": above,
            "share_above": above / tally.records,
        }
    audits = _audits(tally, population.leaving(policy), show_values=show_values)
    known = max((found.l for found in audits), default=len(tally.quasi))
    # No population is known to most: then the prosecutor's chance is the bound.
    journalist: dict[str, Any] = {"at_most": found["highest"]}
    if policy.publish_only:
        ((subset, values),) = policy.publish_only.items()
        chances = risks.journalist(*presence(everybody, "k-map", subset, values))
        journalist = {"at_most": chances["highest"], **chances, "people": everybody.records}
    k = max((number for model in policy.models if (number := _k(model))), default=None)
    return {
        "records": tally.records,
        "quasi_identifiers": [column.name for column in tally.quasi],
        "unique_records": found["unique_records"],
        "unique_share": found["unique_share"],
        "classes": summary.classes(sizes),
        "prosecutor": prosecutor,
        "journalist": journalist,
        "marketer": {"average": found["average"]},
        "records_at_risk": risks.at_risk(sizes),
        "population": None if fraction is None else people.uniqueness(sizes, fraction),
        "dimensionality": None
        if k is None
        else dimensions.dimensionality(
            tally.records,
            k,
            len(tally.quasi),
            widths=_widths(engine.tally(table, policy), k) if widths else None,
        ),
        "columns": telling(source, policy, engine=engine),
        "promises": [found.to_dict() for found in audits],
        "linkage": _simulated(tally, known, trials, seed),
        "algorithm_aware": aware.algorithm_aware(engine.tally(table, policy), policy, progress=progress)
        if algorithm_aware
        else None,
    }


def compare(
    raw: Any,
    release: Release | Path,
    policy: Policy,  # noqa: ARG001 - a road's form; the release brings its own
    *,
    classify: bool = False,
    seed: int = 0,
    engine: Engine[Any],
    progress: Progress = silent,
) -> dict[str, Any]:
    """What was lost between a raw table and its release, and what risk is left.

    Everything is counted again on the two tables; LM comes from the losses that the evidence gives for
    each published value, NCP and height, which need the hierarchies, from the evidence's measures.
    `classify` trains decision trees; it needs the extra `classify`, a target, and the rows in the same
    order in both tables. `seed` decides which records train and which test.
    """
    there = opened(release, engine)
    progress("read", 0)
    before_table = engine.read(raw, settle(raw, there.policy.form), [*_counted(there), *there.only])
    if there.only:
        before_table = engine.only(before_table, there.only)
    progress("tally", 0)
    before = engine.tally_published(before_table, there.policy)
    after = engine.tally_published(there.table, there.policy)
    missing = there.evidence.get("suppressed_records", 0)
    copies = there.evidence.get("copies", 1)
    alone = risks.risk(classes.class_sizes(before))
    if copies > 1:  # several records were published for each: counts are compared with as many
        before = replace(before, counts=before.counts * copies)
    if before.records != after.records + missing:
        raise InputError(
            f"the raw table has {before.records // copies} records, the release "
            f"{(after.records + missing) // copies}: it was made from another table"
        )
    progress("measure", 0)
    sizes = classes.class_sizes(after)
    claimed = there.evidence.get("measures") or {}
    attributes = _attributes(there, before, after)
    lm = sum(found["lm"] for found in attributes.values()) / len(attributes)
    loss = {
        **{name: claimed.get("loss", {}).get(name) for name in CLAIMED},
        "lm": summary.tidy(lm),
        "discernibility": classes.discernibility(sizes, missing),
        "discernibility_ratio": classes.discernibility_ratio(sizes, missing),
        "average_class_size": classes.average_class_size(sizes),
        "suppressed_cells": round(sum(f["suppressed_share"] for f in attributes.values()) * before.records),
        "suppressed_records": missing,
        "gain_retained": _retained(before, after),
    }
    smallest = [number for model in there.policy.models if (number := _k(model))]
    if smallest:
        loss["normalised_class_size"] = classes.normalised_class_size(sizes, k=max(smallest))
    perturbed = there.evidence.get("recoding") == PERTURBED
    if perturbed:  # a value that was replaced covers no range: what counts is how many were
        loss |= {"lm": None, "changed": claimed.get("loss", {}).get("changed")}
        for name, found in attributes.items():
            found |= {"lm": None, "changed": claimed.get("attributes", {}).get(name, {}).get("changed")}
    loss |= distribution(before, after, there.leaf_order, missing, perturbed=perturbed)
    k = max(smallest, default=None)
    steps = there.evidence.get("steps") or []
    result: dict[str, Any] = {
        "records": after.records,
        "classes": summary.classes(sizes),
        "risk": {"before": alone, "after": risks.risk(sizes)},
        "loss": loss,
        "dimensionality": None
        if k is None or loss["ncp"] is None
        else dimensions.dimensionality(before.records, k, len(before.quasi), loss["ncp"]),
        "steps": {
            "performed": sum("refused" not in step for step in steps),
            "refused": sum("refused" in step for step in steps),
        },
        "attributes": attributes,
        "worst_classes": worst_classes(after),
    }
    kinds = {
        name: note["recoding"] for name, note in there.evidence["attributes"].items() if "recoding" in note
    }
    if kinds:
        result["recoding"] = {"type": loosest(kinds.values()), "attributes": kinds}
    if classify:
        progress("classify", 0)
        result["classification"] = _classified(before_table, there, seed)
    return result


def explain(
    folder: Path,
    evidence: Mapping[str, Any],  # noqa: ARG001 - a road's form
    policy: Policy,  # noqa: ARG001 - a road's form
    *,
    show_values: bool = False,
    engine: Engine[Any],
) -> dict[str, Any]:
    """Why a release lost so much: for each attribute what stopped it, the tightest groups, and what
    relaxing one step would buy.

    The last and the whole log stand in the private notes, if they still lie beside the folder.
    `show_values` names the published values of the tightest groups.
    """
    there = opened(folder, engine)
    if there.evidence.get("recoding") == PERTURBED:
        raise UnsupportedError(
            f"{there.evidence['algorithm']['type']} generalises nothing, so there is no loss to explain"
        )
    notes = read_private(folder)
    steps = _steps(there.evidence, notes)
    tally = engine.tally_published(there.table, there.policy)
    measured = (there.evidence.get("measures") or {}).get("attributes") or {}
    attributes = []
    for name, note in there.evidence["attributes"].items():
        if note["role"] != Role.QUASI.value:
            continue
        stopped = [step for step in steps if step["attribute"] == name and not step["performed"]]
        attributes.append(
            {
                "attribute": name,
                "lm": measured.get(name, {}).get("lm"),
                "published": note["published"],
                "published_values": measured.get(name, {}).get("published_values"),
                "stopped_by": sorted({step["refused_by"] for step in stopped}),
                "refused": [
                    {key: v for key, v in s.items() if key not in {"attribute", "performed"}} for s in stopped
                ],
            }
        )
    attributes.sort(key=lambda found: -(found["lm"] or 0))
    audits = _audits(tally, there.policy, show_values=show_values)
    return {
        "records": tally.records,
        "lm": (there.evidence.get("measures") or {}).get("loss", {}).get("lm"),
        "logged": bool(steps),  # not every search tries one step after the other
        "attributes": attributes,
        "promises": [_promise(claim) for claim in there.evidence["promises"]],
        "tightest": [
            {
                "model": found.model,
                "group": found.tightest.to_dict() if found.tightest else None,
                "confidence": found.surest.to_dict() if found.surest else None,
            }
            for found in audits
        ],
        "relaxations": None if notes is None else notes.get("relaxations"),
        "reasons": [] if notes is None else notes.get("reasons", []),
        "private_notes": notes is not None,
    }


def attack(raw: Any, release: Release | Path, known: Mapping[str, Value], *, engine: Engine[Any]) -> Attack:
    """What somebody who knows these raw values of a person finds in the raw table and in the release."""
    there = opened(release, engine)
    sensitive = [a.name for a in there.policy.with_role(Role.SENSITIVE)]
    names = list(dict.fromkeys([*known, *sensitive]))
    table = engine.read(raw, settle(raw, there.policy.form), names)
    before, after = rows_of(table, names), rows_of(there.table, names)
    return attacks.attack(before, after, known, there.translation, sensitive)


@dataclass(frozen=True)
class Opened:
    """A release, whether it lies in a folder or is in memory."""

    table: Any
    policy: Policy  # of what has left
    evidence: Mapping[str, Any]
    translation: Translation
    leaf_order: Mapping[str, Any] | None  # None: the private notes are not here
    only: Mapping[str, Sequence[Value]]  # which rows of the raw table have left


def opened(release: Release | Path, engine: Engine[Any]) -> Opened:
    """A release's table and what its labels may stand for."""
    if isinstance(release, TableRelease):
        return Opened(
            release.table,
            population.leaving(release.policy),
            release.evidence,
            _translation(release),
            release.private.get("leaf_order"),
            release.policy.publish_only,
        )
    if isinstance(release, Release):
        raise UnsupportedError("this is no release of a table")
    evidence = ev.read(release)
    policy = Policy.load(release / "policy.toml")
    try:
        data, form = data_file(release, evidence["data"])
    except (KeyError, TypeError):
        raise TamperedError(f"{release / 'evidence.json'}: this evidence lacks what a release has") from None
    translation = attacks.by_evidence(evidence, policy)
    notes = read_private(release)
    if notes is not None:
        translation = attacks.by_notes(notes, translation)
    order = None if notes is None else notes.get("leaf_order")
    table = engine.read(data, form)
    return Opened(table, population.leaving(policy), evidence, translation, order, policy.publish_only)


def _translation(release: TableRelease) -> Translation:
    if isinstance(release.recoding, Generalization):
        return attacks.by_recoding(release.recoding)
    return attacks.by_notes(release.private, attacks.by_evidence(release.evidence, release.policy))


def _counted(there: Opened) -> list[str]:
    """What is read of the raw table: published columns, without disguised identifiers."""
    return [a.name for a in there.policy.attributes if a.published and a.role is not Role.IDENTIFIER]


def _promised(models: Sequence[PrivacyModel]) -> Fraction | None:
    promised = [number for model in models if (number := _k(model))]
    return Fraction(1, max(promised)) if promised else None


def _k(model: PrivacyModel) -> int | None:
    """The k that a promise gives for published classes; one about a population bounds other classes."""
    found: int | None = None if population.about_everybody(model) else getattr(model, "k", None)
    return found


def _widths(tally: Tally, k: int) -> list[float]:
    from privet.relational.widths import observed_widths  # noqa: PLC0415 - loads a search, for few who ask

    return observed_widths(tally, k)


def _audits(tally: Tally, policy: Policy, *, show_values: bool) -> list[Audit]:
    return [
        audit(tally, model, show_values=show_values, most=LISTED if show_values else 0, effort=EFFORT)
        for model in policy.models
        if isinstance(model, LinkageModel)
    ]


def _simulated(tally: Tally, known: int, trials: int, seed: int) -> list[dict[str, Any]]:
    """Random attacks on a table as it stands, for each number of known values."""

    def itself(attribute: str, raw: Value) -> frozenset[Value]:  # noqa: ARG001 - a translation's form
        return frozenset({raw})

    rng = np.random.default_rng(seed)
    found = []
    for l in range(1, known + 1) if trials else ():
        tried = attacks.simulate(tally, tally, itself, known=l, trials=trials, rng=rng)
        found.append({"known": l, "trials": trials, **asdict(tried.before), "guess": tried.guess})
    return found


def _attributes(there: Opened, before: Tally, after: Tally) -> dict[str, Any]:
    claimed = (there.evidence.get("measures") or {}).get("attributes") or {}
    found = {}
    for raw, column in zip(before.quasi, after.quasi, strict=True):
        values = there.evidence["attributes"][raw.name].get("values")
        loss = {value["label"]: value["loss"] for value in values or ()}
        nothing = {value["label"] for value in values or () if value.get("root")}
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
            **{name: claimed.get(raw.name, {}).get(name) for name in CLAIMED if name != "height"},
            "published_values": column.domain.size,
            "raw_values": raw.domain.size,
            "suppressed_share": suppressed / before.records,
            "gain_retained": summary.tidy(told[1] / told[0]) if told and told[0] > 0 else None,
        }
    return found


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
    if there.evidence.get("copies", 1) > 1:
        return {"skipped": "several records were published for each, so the rows of the two do not match"}
    if there.evidence.get("suppressed_records"):
        return {"skipped": "records were suppressed, so the rows of the two tables do not match"}
    chosen = classify.chosen_rows(there.evidence["records"], seed=seed)
    names = _counted(there)
    try:
        found = classify.classify(
            rows_of(before, names, chosen),
            rows_of(there.table, names, chosen),
            target=targets[0].name,
            quasi={a.name for a in there.policy.quasi},
            seed=seed,
        )
    except MissingExtraError as error:
        return {"skipped": str(error)}
    return found.to_dict()


def rows_of(table: Any, names: Sequence[str], at: Any = None) -> Rows:
    """Columns as texts, or those of some rows: for attacks and classifiers, which need single records."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    data = pl.DataFrame(getattr(table, "data", table)).select(names)
    data = data if at is None else data[at]
    return data.cast(pl.String).to_dict(as_series=False)


def _steps(evidence: Mapping[str, Any], notes: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Splits refused and made, in one form; with the private log, also what a split would have made."""
    if notes is not None and notes.get("steps"):
        return [
            {
                "attribute": step["attribute"],
                "label": step["label"],
                "children": step["children"],
                "performed": step["performed"],
                "refused_by": step["reason"],
            }
            for step in notes["steps"]
        ]
    return [
        {
            "attribute": step["attribute"],
            "label": step["label"],
            "performed": "refused" not in step,
            "refused_by": step.get("refused", ""),
        }
        for step in evidence.get("steps") or ()
    ]


def _promise(claim: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": claim["model"], "achieved": claim["achieved"]}
