"""How exposed people are by their sets, what a release of sets lost, and why."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from privet.core import Progress, silent
from privet.engine import Engine
from privet.engines.transactions.frames import ItemFrame
from privet.errors import InputError
from privet.evidence import notes as ev
from privet.evidence.folder import read as read_evidence
from privet.evidence.part import plain
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.release import Release, read_private
from privet.roads.answers import SetComparison, SetExplanation, SetRisk
from privet.roads.stations import data_file, needed, refuse_classify
from privet.roads.transactions.check import level_notes, read_sets, shape_of, size, verdicts_on
from privet.rules.baskets import Baskets
from privet.rules.hidden import HiddenRule
from privet.rules.mining import mine
from privet.rules.rule import Thresholds, written
from privet.rules.searches import Sets, hidden_of, known_of, mined_with
from privet.trajectory.attack import simulate
from privet.trajectory.recode import PathRecoding

TRIALS = 500
KNOWN = 8  # items, at the most, that a simulated adversary knows
SHOWN = 20


def risk(
    source: Any,
    policy: Policy,
    *,
    engine: Engine[Any],
    trials: int = TRIALS,
    seed: int = 0,
    show_values: bool = False,
    progress: Progress = silent,
) -> SetRisk:
    """What somebody finds who knows some items of a person; and how far each rule is from being hidden."""
    del show_values  # the rules are the policy's own, and nothing else is named
    progress("read", 0)
    read = read_sets(source, policy, engine)
    verdicts, levels = verdicts_on(read, policy)
    found: dict[str, Any] = {"kind": "transactions", **size(read.baskets), "unique": alone(read.baskets)}
    found["levels"] = level_notes(levels)
    found["promises"] = plain([ev.promise(model, verdict) for model, verdict in verdicts])
    most = min(KNOWN, int(read.baskets.lengths.max(initial=0)))
    found["linkage"] = [] if not most else attacks(read.baskets, most, trials, seed)
    return SetRisk.of(found)


def attacks(baskets: Baskets, most: int, trials: int, seed: int) -> list[dict[str, Any]]:
    """Random people of whom so many items are known: in how many cases only one record has them."""
    paths = baskets.paths()
    found = []
    for known in range(1, most + 1):
        tried = simulate(paths, PathRecoding(), known=known, targets=trials, seed=seed).before
        found.append(
            {"known": known, "trials": trials, "alone": tried.alone, "identity": float(tried.identity)}
        )
    return found


def alone(baskets: Baskets) -> int:
    """Records whose whole set nobody else has."""
    whole: dict[bytes, int] = {}
    starts = baskets.starts.tolist()
    for begin, end in pairwise(starts):
        key = baskets.members[begin:end].tobytes()
        whole[key] = whole.get(key, 0) + 1
    return sum(many == 1 for many in whole.values())


def compare(
    raw: Any,
    release: Release | Path,
    policy: Policy,
    *,
    engine: Engine[Any],
    classify: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> SetComparison:
    """What was lost between sets and their release, counted again on both."""
    refuse_classify("a set", asked=classify)
    progress("read", 0)
    if isinstance(release, Release):
        evidence, theirs = release.evidence, release.published_policy()
        source: Any = release.to_polars()
        if not shape_of(theirs).columns:
            source = ItemFrame(release.baskets, source)  # type: ignore[attr-defined]
        after = read_sets(source, theirs, engine, form=policy.form, published=True)
    else:
        evidence = read_evidence(release)
        data, form = data_file(release, evidence)
        after = read_sets(data, policy, engine, form=form, published=True)
    before = read_sets(raw, policy, engine)
    if before.baskets.records != after.baskets.records + (evidence.suppressed_records or 0):
        raise InputError(
            f"the raw data has {before.baskets.records} records, the release {after.baskets.records}: it was "
            "made from other data"
        )
    sides = {"before": before.baskets, "after": after.baskets}
    found: dict[str, Any] = {
        "kind": "transactions",
        **{side: {**size(sets), "unique": alone(sets)} for side, sets in sides.items()},
        "item_loss": needed(evidence.sets, "sets").loss,
        "levels": {
            side: level_notes(verdicts_on(one, policy)[1])
            for side, one in (("before", before), ("after", after))
        },
    }
    promises = hidden_of(policy)
    if promises or shape_of(policy).mined_with is not None:
        found["rules"] = rules_of(before.baskets, after.baskets, policy, promises)
    found["linkage"] = {
        side: attacks(sets, min(KNOWN, int(sets.lengths.max(initial=0))), TRIALS, seed)
        for side, sets in sides.items()
        if sets.cells
    }
    return SetComparison.of(found)


def rules_of(
    before: Baskets, after: Baskets, policy: Policy, promises: tuple[HiddenRule, ...]
) -> dict[str, int | str | None]:
    """Both sides mined in the same way; rules compared as people read them."""
    thresholds = shape_of(policy).mined_with
    if thresholds is None:
        thresholds = mined_with(Sets(before), promises)
    asked = {(frozenset(p.left), frozenset(p.right)) for p in promises}
    sides = [labelled(sets, thresholds) - asked for sets in (before, after)]
    return {
        "support": str(thresholds.support),
        "confidence": None if thresholds.confidence is None else str(thresholds.confidence),
        "before": len(sides[0]),
        "after": len(sides[1]),
        "lost": len(sides[0] - sides[1]),
        "ghosts": len(sides[1] - sides[0]),
    }


def labelled(baskets: Baskets, thresholds: Thresholds) -> set[tuple[frozenset[str], frozenset[str]]]:
    items = baskets.items
    return {
        (frozenset(items[i] for i in rule.antecedent), frozenset(items[i] for i in rule.consequent))
        for rule in mine(baskets, thresholds).rules
    }


def explain(
    folder: Path,
    evidence: Evidence,
    policy: Policy,
    *,
    engine: Engine[Any],
    show_values: bool = False,
) -> SetExplanation:
    """Why items had to go, and what went with them where the steward's notes lie beside the release."""
    del engine
    notes, show, sets = read_private(folder), show_values, needed(evidence.sets, "sets")
    found: dict[str, Any] = {
        "kind": "transactions",
        "records": evidence.records,
        "recoding": evidence.recoding,
        "promises": plain(evidence.promises),
        "sets": plain(sets),
        "private_notes": notes is not None,
        "margins": [],
        "deleted": [],
        "generalised": 0,
    }
    if notes is None:
        return SetExplanation.of(found)
    deleted = notes.get("deleted", {})
    found["deleted"] = [
        {"item": item if show else f"item {at}", "records": many}
        for at, (item, many) in enumerate(list(deleted.items())[:SHOWN], start=1)
    ]
    found["generalised"] = len(notes.get("generalised", {}))
    promises = hidden_of(policy)
    for promise, was in zip(promises, notes.get("before", ()), strict=False):
        found["margins"].append(
            {
                "rule": str(promise),
                "support": was["support"],
                "least": promise.thresholds.least(sets.before.records),
                "confidence": None if not promise.antecedent else was["support"] / max(was["antecedent"], 1),
                "at_least": None if promise.confidence is None else float(promise.confidence),
            }
        )
    if show:
        for key in ("lost", "ghosts"):
            found[key] = [written(tuple(one[0]), tuple(one[1])) for one in notes.get(key, ())[:SHOWN]]
    found["knows"] = max((promise.m for promise in known_of(policy)), default=None)
    return SetExplanation.of(found)
