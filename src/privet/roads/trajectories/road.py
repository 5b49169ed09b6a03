"""Paths through places and times: thinned on a tally of paths, checked by an auditor of its own.

What leaves is read again as its recipient will read it, and every sequence of up to L points in it is
counted by code that no search uses. Quasi-identifiers beside the path are generalised as in a table; what
somebody finds who knows some of both is measured and said, and not promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from privet.core import Attribute, Engine, Generalization, Progress, Role
from privet.engines.trajectories.frames import grouped
from privet.engines.trajectories.visits import Visits
from privet.errors import InternalError, UnsupportedError
from privet.hierarchy.numbers import fraction
from privet.models.linkage import Linkage
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.relational.randomness import generator
from privet.relational.topdown import TopDown
from privet.report import evidence as ev
from privet.roads import Found, Verdicts
from privet.roads.stations import (
    CAUTIONS,
    as_written,
    data_file,
    in_frame,
    refuse_broken,
    settle,
    source_digest,
)
from privet.roads.trajectories import exposure as journeys
from privet.roads.trajectories import notes as trajectory_notes
from privet.roads.trajectories.check import framed, judged, mixed, read_paths, shape_of
from privet.roads.trajectories.empty import LEFT_OUT, dropped, wrongly_left_out
from privet.roads.trajectories.release import TrajectoryRelease
from privet.roads.trajectories.shape import Read
from privet.trajectory.audit import recheck
from privet.trajectory.claims import Argument, Proof, SequenceClass
from privet.trajectory.frequent import frequent, threshold
from privet.trajectory.searches import PathFinding, PathSearch, at_least, promises_of

PARTIAL = (
    "Somebody who knows where a person was but not when, or when but not where, finds no smaller groups; "
    "but where a place can be visited twice, the share of a sensitive value in them is not bounded."
)


class TrajectoryRoad:
    """Paths of people: points are taken out until nobody who knows a few of them learns more."""

    name: ClassVar[str] = "trajectories"

    def publish(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        like: Path | None,
        output: str | None,
        progress: Progress,
    ) -> TrajectoryRelease:
        if like is not None:
            raise UnsupportedError("points are chosen anew for every batch of paths: publish without --like")
        shape, form = shape_of(policy), settle(source, policy.form)
        written = as_written(form, output)
        with ThreadPoolExecutor() as aside:
            digest = aside.submit(source_digest, source)
            progress("read", 0)
            frame = framed(source, policy, engine)
            progress("tally", 0)
            read = read_paths(frame, policy)
            stops = shape.known_stops()
            if stops is not None:
                stops.check(read.paths, "trajectories.stops")
            progress("search", 0)
            finding: PathFinding = policy.algorithm.search(read.paths, policy, progress)  # type: ignore[arg-type, assignment]
            progress("apply", 0)
            left_out = dropped(read, finding)
            frame, steps = beside_recoded(read, read.changed(finding.recoding), policy, engine)
            frame = named_only(frame, policy, engine)
            progress("check", 0)
            final, frame = shuffled(frame, policy, finding)
            if final.paths.records + left_out != read.paths.records:
                raise InternalError("a record was lost on the way")
            support = at_least(PathSearch.of(policy).worth)
            least = threshold(support, read.paths.records)
            mining = aside.submit(frequent, final.paths, least)  # while the auditor counts
            verdicts, by_length = judged(final.paths, policy)
            refuse_broken(verdicts, policy, None)
            if finding.proof is not None and (
                wrong := recheck(final.paths, promises_of(policy), finding.proof)
            ):
                raise InternalError(*wrong)
            progress("measure", 0)
            mined = mining.result()
            evidence: dict[str, Any] = {
                **ev.header(),
                "kind": policy.kind,
                "purpose": policy.purpose,
                "nulls": policy.nulls.value,
                "records": final.paths.records,
                "suppressed_records": left_out,
                "columns": list(frame.columns),
                "promises": [ev.promise(model, verdict) for model, verdict in verdicts],
                "algorithm": describe(policy.algorithm),
                "recoding": "suppression" if finding.everywhere else "local suppression",
                "attributes": attribute_notes(policy, frame.columns, read, finding),
                "steps": ev.step_notes(steps),
                "notes": [],
                "measures": {
                    "records": final.paths.records,
                    "before": trajectory_notes.size(read.paths),
                    "after": trajectory_notes.size(final.paths),
                    "patterns": trajectory_notes.patterns(finding, read.paths, mined, least),
                },
                "cautions": [*CAUTIONS, PARTIAL],
                "paths": trajectory_notes.published(final.paths, least, mined, by_length),
                "thinning": {
                    "place": finding.place,
                    "time": finding.time,
                    "suppressed": trajectory_notes.suppressed(finding, final.paths),
                    "curve": trajectory_notes.curve(finding.thinned),
                    "trials": [tried(trial) for trial in finding.trials],
                },
            }
            if read.prepared is not None:
                evidence["thinning"]["prepared"] = {
                    key: getattr(read.prepared, key) for key in ("readings", "merged", "displaced", "clashes")
                }
            if finding.proof is not None:
                evidence["proof"] = finding.proof.to_dict()
            if stops is not None:
                evidence["stops"] = trajectory_notes.stops_noted(stops, final.paths)
            if left_out:
                evidence["cautions"].append(LEFT_OUT)
            if policy.quasi:
                evidence["mixed"] = mixed(final.paths, policy)
                evidence["cautions"].append(evidence["mixed"]["warning"])
            score = PathSearch.of(policy).scored
            coarse = replace(finding.recoding, removed=()).applied(read.paths).paths(read.paths)
            promises = promises_of(policy)
            return TrajectoryRelease(
                table=frame,
                engine=engine,
                policy=policy,
                verdicts=verdicts,
                evidence=evidence,
                form=written,
                grid=finding.grid,
                lost=trajectory_notes.lost_visits(finding.thinned),
                private={
                    "source": digest.result(),
                    "places": dict(finding.recoding.places),
                    "times": dict(finding.recoding.times),
                    "grid": None if shape.grid is None else [shape.grid.metres, shape.grid.uncertainty],
                    "vague": None if finding.levels is None else trajectory_notes.vague(finding.levels),
                    "removed": [[one.pair, list(one.context)] for one in finding.recoding.removed],
                    "causes": trajectory_notes.causes(finding.thinned, max(one.k for one in promises)),
                    "relaxations": trajectory_notes.relaxed(
                        finding.thinned,
                        coarse,
                        score,
                        max(one.l or coarse.longest for one in promises),
                        PathSearch.of(policy).covering,
                    )
                    if score is not None
                    else [],
                    **(trajectory_notes.log(finding.thinned, score) if score is not None else {}),
                },
            )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        return judged(read_paths(framed(source, policy, engine), policy).paths, policy)[0]

    def verify(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any]
    ) -> Found:
        data, form = data_file(folder, evidence["data"])
        claimed, columns = list(evidence["promises"]), list(evidence["columns"])
        frame = in_frame(engine, engine.read(data, form))
        allowed = {a.name for a in policy.attributes if a.published} | set(shape_of(policy).columns)
        complaints = [
            f"column {name!r} is published, the policy does not allow it"
            for name in frame.columns
            if name not in allowed
        ]
        missing = [n for n in dict.fromkeys([*columns, *sorted(allowed)]) if n not in frame.columns]
        complaints += [f"column {name!r} is missing from the data" for name in missing]
        if missing:
            return Found((), tuple(complaints))
        paths = read_paths(frame, policy, published=True).paths
        if paths.records != evidence["records"]:
            complaints.append(
                f"the evidence speaks of {evidence['records']} records, the data has {paths.records}"
            )
        complaints += wrongly_left_out(paths, evidence, policy)
        verdicts, by_length = judged(paths, policy)
        complaints += ev.other_promises(verdicts, claimed)
        least = int(evidence["paths"]["frequent"]["support"])
        counted = trajectory_notes.published(paths, least, frequent(paths, least), by_length)
        complaints += [
            f"paths: {key}: the evidence claims other numbers than the data has"
            for key, found in counted.items()
            if evidence["paths"][key] != found
        ]
        if evidence["measures"]["after"] != trajectory_notes.size(paths):
            complaints.append("measures: after: the evidence claims other numbers than the data has")
        if "proof" in evidence:
            promises = promises_of(policy)
            complaints += recheck(paths, promises, proof_of(evidence["proof"], promises))
        if policy.quasi and evidence["mixed"] != mixed(paths, policy):
            complaints.append("mixed: the evidence claims other numbers than the data has")
        return Found(verdicts, tuple(complaints))

    risk = staticmethod(journeys.risk)
    compare = staticmethod(journeys.compare)
    explain = staticmethod(journeys.explain)


def beside_recoded(
    read: Read, frame: pl.DataFrame, policy: Policy, engine: Engine[Any]
) -> tuple[pl.DataFrame, Sequence[Any]]:
    """The frame with its quasi-identifiers generalised as in a table of persons, and how that went."""
    if not policy.quasi:
        return frame, ()
    roles = (Role.QUASI, Role.SENSITIVE, Role.TARGET)
    table = replace(
        policy, kind="table", shape=None, algorithm=TopDown(), attributes=policy.with_role(*roles)
    )
    who = np.arange(frame.height)
    if isinstance(read.source, Visits):
        who = grouped(frame.get_column(str(read.shape.person)))
    _, first, number = np.unique(who, return_index=True, return_inverse=True)
    persons = engine.read(frame[first].select([a.name for a in table.attributes]), policy.form)
    tallied = engine.tally(persons, table)
    found = table.algorithm.search(tallied.tally, table)
    made = in_frame(engine, engine.apply(tallied, table, found.recoding))
    columns = [made.get_column(a.name).gather(pl.Series(number)) for a in policy.quasi]
    return frame.with_columns(columns), found.steps


def named_only(frame: pl.DataFrame, policy: Policy, engine: Engine[Any]) -> pl.DataFrame:
    """What the policy names and nothing else; identifiers are dropped or disguised.

    Who has several rows and no disguise gets a number, drawn anew for every release.
    """
    shape = shape_of(policy)
    roles = {a.name: a for a in policy.attributes}
    passing = [replace(a, role=Role.OTHER, hierarchy=None) for a in policy.quasi]
    passing += [a for a in policy.attributes if a.role is not Role.QUASI and a.name != shape.person]
    passing += [Attribute(name, Role.OTHER) for name in shape.columns if name != shape.person]
    if shape.person is not None:
        person = roles.get(shape.person)
        if person is not None and person.disguise is not None:
            passing.append(person)
        else:
            who = grouped(frame.get_column(shape.person))
            fresh = generator().permutation(int(who.max(initial=-1)) + 1) + 1
            frame = frame.with_columns(pl.Series(shape.person, fresh[who]))
            passing.append(Attribute(shape.person, Role.OTHER))
    plain = policy.asking(attributes=tuple(passing))
    tallied = engine.tally(engine.read(frame, policy.form), plain)
    made: pl.DataFrame = in_frame(engine, engine.apply(tallied, plain, Generalization({})))
    return made


def shuffled(frame: pl.DataFrame, policy: Policy, finding: PathFinding) -> tuple[Read, pl.DataFrame]:
    """What is about to leave as its recipient reads it; rows of visits by person and time.

    The order of raw rows may tell what a slot hides; persons stand in an order of chance.
    """
    shape = shape_of(policy).published(finding.grid)
    theirs = replace(policy, shape=shape)
    final = read_paths(frame, theirs, published=True)
    if isinstance(final.source, Visits):
        who = final.source.person
        chance = generator().permutation(int(who.max(initial=-1)) + 1)
        varying = [
            a.name
            for a in policy.with_role(Role.OTHER, Role.TARGET)
            if frame.select(str(shape.person), a.name).n_unique()
            > frame.get_column(str(shape.person)).n_unique()
        ]
        # What is said of one visit goes with it, also where a person keeps a row without any.
        nowhere = pl.Series(final.source.point < 0)
        frame = frame.with_columns(pl.when(~nowhere).then(pl.col(name)).alias(name) for name in varying)
        frame = frame[np.lexsort((final.source.point, chance[who]))]
    return final, frame


def attribute_notes(
    policy: Policy, columns: Sequence[str], read: Read, finding: PathFinding
) -> dict[str, Any]:
    """For each column: its role and what became of it."""
    shape = read.shape
    notes: dict[str, Any] = {}
    for name in shape.columns:
        how = "numbered" if name == shape.person else "thinned" if finding.recoding.removed else "unchanged"
        notes[name] = {"role": "person" if name == shape.person else "path", "published": how}
    for attribute in policy.attributes:
        how = "generalised" if attribute.role is Role.QUASI else "unchanged"
        if attribute.name == shape.person and attribute.disguise is None:
            continue
        if attribute.name not in columns:
            how = "dropped"
        elif attribute.disguise is not None:
            how = attribute.disguise.name
        notes[attribute.name] = {"role": attribute.role.value, "published": how}
    return notes


def tried(trial: Any) -> dict[str, Any]:
    """One combination of levels and ways, in numbers."""
    return {
        "way": trial.way.value,
        "place": trial.place,
        "time": trial.time,
        "removed": trial.removed,
        "lost": round(float(trial.losses.patterns), 9),
        "lost_visits": round(float(trial.losses.visits), 9),
        "surviving": trial.losses.surviving,
    }


def proof_of(noted: Sequence[Mapping[str, Any]], promises: Sequence[Linkage]) -> Proof:
    """A proof as the evidence has it; the promises are the policy's."""
    if len(noted) != len(promises):
        return Proof(())
    return Proof(
        tuple(
            Argument(
                replace(promise, l=argument["l"], k=argument["k"]),
                tuple(fraction(bound) for bound in argument["bounds"]),
                tuple(
                    SequenceClass(length, support, tuple(having), many)
                    for length, support, having, many in argument["classes"]
                ),
            )
            for promise, argument in zip(promises, noted, strict=True)
        )
    )
