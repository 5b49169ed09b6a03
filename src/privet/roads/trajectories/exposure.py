"""How exposed people are by their paths, what a release of paths lost, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.core import Progress, silent
from privet.engine import Engine
from privet.errors import InputError
from privet.evidence.folder import read as read_evidence
from privet.evidence.notes import number
from privet.evidence.part import plain
from privet.evidence.paths import Thinning
from privet.evidence.values import Evidence
from privet.hierarchy.numbers import fraction
from privet.policy.values import Policy
from privet.release import Release, read_private
from privet.roads.answers import PathComparison, PathExplanation, PathRisk
from privet.roads.stations import data_file, needed, refuse_classify
from privet.roads.trajectories import notes as trajectory_notes
from privet.roads.trajectories.check import MOST, framed, how_many, met, mixed, read_paths, shape_of
from privet.roads.trajectories.shape import Empty
from privet.trajectory.attack import Simulated, simulate
from privet.trajectory.audit import audit
from privet.trajectory.coarse import Level
from privet.trajectory.frequent import frequent, threshold
from privet.trajectory.grid import Grid
from privet.trajectory.known import Knowledge
from privet.trajectory.loss import measured
from privet.trajectory.paths import Paths
from privet.trajectory.recode import PathRecoding, Removed
from privet.trajectory.searches import AS_IT_IS, PathSearch, at_least, promises_of
from privet.trajectory.sequences import Sequences
from privet.trajectory.suppress import lost

SHOWN = 20  # violating sequences that are listed where their values are asked for
TRIALS = 500


def risk(
    source: Any,
    policy: Policy,
    *,
    engine: Engine[Any],
    trials: int = TRIALS,
    seed: int = 0,
    show_values: bool = False,
    progress: Progress = silent,
) -> PathRisk:
    """How exposed people are who may be known by some of their visits."""
    progress("read", 0)
    paths = read_paths(framed(source, policy, engine), policy, allow_empty=True).paths
    progress("measure", 0)
    found: dict[str, Any] = {"kind": "trajectories", **trajectory_notes.size(paths)}
    found["unique_paths"] = alone(paths)
    found["promises"] = []
    for model, promise in zip(policy.models, promises_of(policy), strict=True):
        by_knowledge: dict[str, Any] = {}
        for knowledge in Knowledge:
            if how_many(paths, promise.l) > MOST:
                by_knowledge[knowledge.value] = {"skipped": "too many sequences to count"}
                continue
            audited = audit(paths, promise, knowledge)
            by_knowledge[knowledge.value] = {
                "violating": audited.verdict.broken,
                "at_risk": audited.verdict.at_risk,
                "levels": [
                    {
                        "known": one.length,
                        "sequences": one.sequences,
                        "violating": one.broken,
                        "smallest": one.smallest,
                        "share": float(one.largest),
                    }
                    for one in audited.by_length
                ],
            }
            if show_values:
                by_knowledge[knowledge.value]["listed"] = [
                    {"known": list(one.labels), "records": one.support, "share": float(one.share)}
                    for one in audited.violations[:SHOWN]
                ]
        found["promises"].append({"model": model.name, "knowledge": by_knowledge})
    if policy.quasi:
        found["mixed"] = mixed(paths, policy)
    most = min(max((p.l or paths.longest for p in promises_of(policy)), default=1), 4, paths.longest)
    found["linkage"] = [
        attacked(
            simulate(
                paths, PathRecoding(), known=known, targets=trials or TRIALS, knowledge=knowledge, seed=seed
            )
        )
        for knowledge in Knowledge
        for known in range(1, most + 1)
    ]
    return PathRisk.of(found)


def alone(paths: Paths) -> int:
    """Records whose whole path nobody else has."""
    whole: dict[bytes, int] = {}
    for cell in range(paths.cells):
        key = paths.visits[paths.starts[cell] : paths.starts[cell + 1]].tobytes()
        whole[key] = whole.get(key, 0) + int(paths.counts[cell])
    return sum(records == 1 for records in whole.values())


def attacked(tried: Simulated) -> dict[str, Any]:
    return {
        "knowledge": tried.knowledge.value,
        "known": tried.known,
        "trials": tried.targets,
        **{
            when: {
                "alone": success.alone,
                "missed": success.missed,
                "identity": float(success.identity),
                "worst": number(success.worst),
                "attribute": {name: float(share) for name, share in success.attribute.items()},
            }
            for when, success in (("before", tried.before), ("after", tried.after))
        },
    }


def compare(
    raw: Any,
    release: Release | Path,
    policy: Policy,
    *,
    engine: Engine[Any],
    classify: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> PathComparison:
    """What was lost between paths and their release, counted again on both."""
    refuse_classify("a path", asked=classify)
    progress("read", 0)
    if isinstance(release, Release):
        evidence, notes = release.evidence, release.private_notes()
        theirs, frame = release.published_policy(), release.to_polars()
    else:
        evidence, theirs = read_evidence(release), policy
        notes = read_private(release) or {}
        data, form = data_file(release, evidence)
        frame = met(engine, engine.read(data, form), theirs)
    policy = as_it_was(policy, notes)
    before = read_paths(framed(raw, policy, engine), policy).paths
    after = read_paths(frame, theirs, published=True).paths
    left_out = evidence.suppressed_records or 0
    if before.records != after.records + left_out:
        raise InputError(
            f"the raw data has {before.records} records, the release {after.records}"
            f"{f' and {left_out} left out' if left_out else ''}: it was made from other data"
        )
    progress("measure", 0)
    recoding = recoding_of(notes)
    thinning = needed(evidence.thinning, "thinning")
    least = threshold(at_least(PathSearch.of(policy).worth), before.records)
    raw_patterns, new = frequent(before, least), trajectory_notes.pairs_of(frequent(after, least))
    found: dict[str, Any] = {
        "kind": "trajectories",
        "before": trajectory_notes.size(before),
        "after": trajectory_notes.size(after),
        "patterns": {
            "support": least,
            "before": len(raw_patterns),
            "remined": len(new),
            **(
                unchanged(raw_patterns, new)
                if (thinning.place, thinning.time) == (AS_IT_IS, AS_IT_IS)
                else coarser((before, after), levels_of(thinning, notes), raw_patterns, least)
            ),
        },
        "coarser": {"place": thinning.place, "time": thinning.time},
        "curve": plain(thinning.curve),
        "trials": plain(thinning.trials),
        "unique_paths": {"before": alone(before), "after": alone(after)},
    }
    if recoding is not None:
        most = max((promise.l or before.longest for promise in promises_of(policy)), default=1)
        found["linkage"] = [
            attacked(
                simulate(
                    before,
                    recoding,
                    known=min(most, 4),
                    targets=TRIALS,
                    knowledge=k,
                    seed=seed,
                    keep_empty=shape_of(policy).empty is Empty.KEEP,
                )
            )
            for k in Knowledge
        ]
    return PathComparison.of(found)


def as_it_was(policy: Policy, notes: Mapping[str, Any]) -> Policy:
    """The policy by which raw data is read: a release may have a coarser grid than the data had."""
    shape = shape_of(policy)
    if shape.grid is None or not notes.get("grid"):
        return policy
    return replace(policy, shape=replace(shape, grid=Grid(*notes["grid"])))


def unchanged(old: Sequences, new: Mapping[Any, int]) -> dict[str, Any]:
    """Which routes of the raw data are among those of the release."""
    pairs = trajectory_notes.pairs_of(old)
    still = [one in new for one in pairs]
    return {
        "surviving": sum(still),
        "lost": float(lost(len(pairs), sum(still))),
        "true_support": sum(new.get(one) == support for one, support in pairs.items()),
        "by_length": by_length(old, still),
    }


def coarser(
    sides: tuple[Paths, Paths], levels: tuple[Level, Level] | None, old: Sequences, least: int
) -> dict[str, Any]:
    """What stands in the release for the routes of the raw data, counted there; nothing without the notes."""
    if levels is None:
        return {}
    cost, still = measured(*sides, levels, old, least)
    return {
        "surviving": cost.surviving,
        "lost": float(cost.patterns),
        "lost_visits": float(cost.visits),
        "by_length": by_length(old, still),
    }


def levels_of(thinning: Thinning, notes: Mapping[str, Any]) -> tuple[Level, Level] | None:
    """What stands for each place and time, and how much it leaves open, where the notes say it."""
    vague = notes.get("vague")
    if not vague:
        return None
    place, time = (
        Level(name, notes[many], {raw: fraction(loss) for raw, loss in vague[many].items()})
        for name, many in ((thinning.place, "places"), (thinning.time, "times"))
    )
    return place, time


def by_length(old: Sequences, still: Sequence[bool]) -> dict[str, list[int]]:
    """Patterns by their length: how many there were, how many are left."""
    found: dict[str, list[int]] = {}
    for length, survives in sorted(zip(old.lengths.tolist(), still, strict=True)):
        had = found.setdefault(str(length), [0, 0])
        had[0] += 1
        had[1] += survives
    return found


def recoding_of(notes: Mapping[str, Any]) -> PathRecoding | None:
    """What was done, where the steward's notes say it."""
    if "removed" not in notes:
        return None
    return PathRecoding(
        notes["places"],
        notes["times"],
        tuple(
            Removed((pair[0], pair[1]), tuple((one[0], one[1]) for one in context))
            for pair, context in notes["removed"]
        ),
    )


def explain(
    folder: Path,
    evidence: Evidence,
    policy: Policy,
    *,
    engine: Engine[Any],
    show_values: bool = False,
) -> PathExplanation:
    """Why points had to go, round by round where the steward's notes lie beside the release."""
    del policy, engine
    notes = read_private(folder)
    patterns = needed(evidence.measures.patterns, "measures.patterns")
    thinning = needed(evidence.thinning, "thinning")
    found: dict[str, Any] = {
        "kind": "trajectories",
        "records": evidence.records,
        "patterns": {key: patterns[key] for key in ("support", "before", "surviving", "lost")},
        "suppressed": thinning.suppressed.to_dict(),
        "coarser": {"place": thinning.place, "time": thinning.time},
        "curve": plain(thinning.curve),
        "trials": plain(thinning.trials),
        "tightest": plain(needed(evidence.paths, "paths").by_length),
        "private_notes": notes is not None,
        "causes": {},
        "relaxations": [],
        "rounds": [],
    }
    if notes is not None:
        found |= {key: notes.get(key, found[key]) for key in ("causes", "relaxations")}
        found["rounds"] = [hushed(one, show=show_values) for one in notes.get("rounds", ())]
    return PathExplanation.of(found)


def hushed(one: Mapping[str, Any], *, show: bool) -> dict[str, Any]:
    """A round without the names of points, which are raw values."""
    names = {c["point"]: at for at, c in enumerate(one["candidates"], start=1)}

    def said(label: str) -> str:
        return label if show else f"candidate {names[label]}" if label in names else "another"

    return {
        **one,
        "removed": said(one["removed"]),
        "candidates": [{**c, "point": said(c["point"])} for c in one["candidates"]],
    }
