"""Paths through places and times: thinned on a tally of paths, checked by an auditor of its own.

What leaves is read again as its recipient will read it, and every sequence of up to L points in it is
counted by code that no search uses. Quasi-identifiers beside the path are generalised as in a table; what
somebody finds who knows some of both is measured and said, and not promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from privet.core import Attribute, Role, Step, Verdicts
from privet.engine import Cluster, Engine
from privet.engines.frames import beginning
from privet.engines.trajectories.frames import grouped
from privet.engines.trajectories.visits import Visits
from privet.errors import InternalError, UnsupportedError
from privet.evidence import notes as ev
from privet.evidence.paths import ArgumentNote
from privet.evidence.values import Evidence
from privet.hierarchy.numbers import fraction
from privet.models.linkage import Linkage
from privet.policy.values import Policy
from privet.recoding import Generalization
from privet.relational.randomness import generator
from privet.relational.topdown import TopDown
from privet.roads import Found, Stations, absent
from privet.roads.absent import Occurring
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
from privet.roads.trajectories import afar
from privet.roads.trajectories import notes as trajectory_notes
from privet.roads.trajectories.check import framed, judged, met, mixed, read_paths, shape_of
from privet.roads.trajectories.empty import LEFT_OUT, dropped, wrongly_left_out
from privet.roads.trajectories.ordering import arranged, arranged_as, sorted_paths
from privet.roads.trajectories.release import TrajectoryRelease
from privet.roads.trajectories.shape import TIMES, Read
from privet.spreadsheets import BEGINS
from privet.trajectory.audit import OfLength, recheck
from privet.trajectory.claims import Argument, Proof, SequenceClass
from privet.trajectory.frequent import frequent, threshold
from privet.trajectory.paths import Paths
from privet.trajectory.searches import PathFinding, PathSearch, at_least, promises_of
from privet.trajectory.sequences import Sequences

PARTIAL = (
    "Somebody who knows where a person was but not when, or when but not where, finds no smaller groups; "
    "but where a place can be visited twice, the share of a sensitive value in them is not bounded."
)


@dataclass(frozen=True)
class Thinned:
    """Paths that are about to leave."""

    frame: pl.DataFrame = field(repr=False)
    steps: tuple[Step, ...] = field(repr=False)  # what became of quasi-identifiers beside them
    finding: PathFinding = field(repr=False)
    before: int  # records that were read
    left_out: int  # records without a visit left


@dataclass(frozen=True)
class Recounted:
    """The same as their recipient reads them, and what the auditor counted."""

    paths: Paths
    frame: pl.DataFrame = field(repr=False)
    least: int  # records that a frequent sequence has
    mined: Sequences = field(repr=False)
    verdicts: Verdicts
    by_length: list[tuple[OfLength, ...]] = field(repr=False)
    written: Any = field(default=None, repr=False)  # the table itself, where it lies on a cluster


Way = Passed[Read, PathFinding, Thinned, Recounted]


class TrajectoryRoad(Stations[pl.DataFrame, Read, PathFinding, Thinned, Recounted]):
    """Paths of people: points are taken out until nobody who knows a few of them learns more."""

    name: ClassVar[str] = "trajectories"

    def refuse(self, asked: Asked) -> None:
        if asked.like is not None:
            raise UnsupportedError("points are chosen anew for every batch of paths: publish without --like")
        if isinstance(asked.engine, Cluster):
            afar.refuse(asked.engine, asked.policy)
        as_written(asked.form, asked.output)

    def read(self, asked: Asked) -> pl.DataFrame:
        return framed(asked.source, asked.policy, asked.engine)

    def count(self, asked: Asked, data: Once[pl.DataFrame]) -> Read:
        read = read_paths(data.take(), asked.policy)
        stops = read.shape.known_stops()
        if stops is not None:
            stops.check(read.paths, "trajectories.stops")
        return read

    def occurring(self, counts: Read) -> Occurring:
        return {column.name: column.domain.values for column in counts.paths.sensitive}

    def search(self, asked: Asked, counts: Read) -> PathFinding:
        algorithm: Any = asked.policy.algorithm
        found: PathFinding = algorithm.search(counts.paths, asked.policy, asked.progress)
        return found

    def apply(self, asked: Asked, counts: Read, found: PathFinding) -> Thinned:
        left_out = dropped(counts, found)
        frame, steps = beside_recoded(counts, counts.changed(found.recoding), asked.policy, asked.engine)
        if isinstance(asked.engine, Cluster):
            frame = afar.named_only(frame, asked.policy)
        else:
            frame = named_only(frame, asked.policy, asked.engine)
        return Thinned(frame, tuple(steps), found, counts.paths.records, left_out)

    def look(self, asked: Asked, leaving: Thinned) -> Recounted:
        final, frame = arranged(leaving.frame, asked.policy, leaving.finding)
        written = None
        if isinstance(asked.engine, Cluster):  # what is counted is what was written
            shape = shape_of(asked.policy).published(leaving.finding.grid)
            written = afar.settled(asked.engine, frame, shape)
            final = read_paths(
                afar.met(asked.engine, written, shape), replace(asked.policy, shape=shape), published=True
            )
            frame = frame.drop(TIMES)
        if final.paths.records + leaving.left_out != leaving.before:
            raise InternalError("a record was lost on the way")
        support = at_least(PathSearch.of(asked.policy).worth)
        least = threshold(support, leaving.before)
        mining = asked.beside.submit(frequent, final.paths, least)  # while the auditor counts
        verdicts, by_length = judged(final.paths, asked.policy)
        return Recounted(final.paths, frame, least, mining.result(), verdicts, by_length, written)

    def judge(self, asked: Asked, seen: Recounted) -> Verdicts:  # noqa: ARG002 - the auditor has looked
        return seen.verdicts

    def measure(self, passed: Way) -> tuple[ev.Told, dict[str, Any]]:
        policy, finding, read, seen = passed.policy, passed.found, passed.counts, passed.seen
        if finding.proof is not None and (wrong := recheck(seen.paths, promises_of(policy), finding.proof)):
            raise InternalError(*wrong)
        stops, form = read.shape.known_stops(), as_written(passed.asked.form, passed.asked.output)
        beside = mixed(seen.paths, policy) if policy.quasi else None
        told = ev.Told(
            records=seen.paths.records,
            suppressed_records=passed.leaving.left_out,
            columns=list(seen.frame.columns),
            promises=[ev.promise(model, verdict) for model, verdict in passed.verdicts],
            recoding="suppression" if finding.everywhere else "local suppression",
            attributes=attribute_notes(policy, seen.frame.columns, read, finding),
            steps=ev.step_notes(passed.leaving.steps),
            measures={
                "records": seen.paths.records,
                "before": trajectory_notes.size(read.paths),
                "after": trajectory_notes.size(seen.paths),
                "patterns": trajectory_notes.patterns(finding, read.paths, seen.mined, seen.least),
            },
            cautions=[
                *ev.CAUTIONS,
                PARTIAL,
                *([LEFT_OUT] if passed.leaving.left_out else []),
                *([] if beside is None else [beside["warning"]]),
                *cautions.of_formulas_in(texts_of(seen.frame), form),
            ],
            more={
                "paths": trajectory_notes.published(seen.paths, seen.least, seen.mined, seen.by_length),
                "thinning": trajectory_notes.thinning(finding, seen.paths, read.prepared),
                "proof": None if finding.proof is None else finding.proof.to_dict(),
                "stops": None if stops is None else trajectory_notes.stops_noted(stops, seen.paths),
                "mixed": beside,
            },
        )
        return told, trajectory_notes.kept_at_home(finding, read, policy)

    def release(self, passed: Way, evidence: Evidence, private: Mapping[str, Any]) -> TrajectoryRelease:
        asked = passed.asked
        return TrajectoryRelease(
            table=passed.seen.frame if passed.seen.written is None else passed.seen.written,
            engine=asked.engine,
            policy=asked.policy,
            verdicts=passed.verdicts,
            evidence=evidence,
            form=as_written(asked.form, asked.output),
            grid=passed.found.grid,
            lost=trajectory_notes.lost_visits(passed.found.thinned),
            private=private,
        )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        return self.foreseen(source, policy, engine=engine)[0]

    def foreseen(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> tuple[Verdicts, list[str]]:
        """What data achieves as it stands, and protected values that it does not have."""
        read = read_paths(framed(source, policy, engine), policy)
        unmet = absent.remarks(policy, self.occurring(read))
        return judged(read.paths, policy)[0], unmet

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        data, form = data_file(folder, evidence)
        table = engine.read(data, form)
        columns = engine.columns(table)
        allowed = {a.name for a in policy.attributes if a.published} | set(shape_of(policy).columns)
        complaints = [
            f"column {name!r} is published, the policy does not allow it"
            for name in columns
            if name not in allowed
        ]
        missing = [n for n in dict.fromkeys([*evidence.columns, *sorted(allowed)]) if n not in columns]
        complaints += [f"column {name!r} is missing from the data" for name in missing]
        if missing:
            return Found((), tuple(complaints))
        frame = met(engine, table, policy)
        read = read_paths(frame, policy, published=True)
        paths = read.paths
        if isinstance(engine, Cluster):
            in_order = afar.sorted_paths(engine, table, arranged_as(frame, read, policy), shape_of(policy))
            frame = frame.drop(TIMES)
        else:
            in_order = sorted_paths(frame, read, policy)
        complaints += order_complaints(policy, evidence, sorted_=in_order)
        if paths.records != evidence.records:
            complaints.append(
                f"the evidence speaks of {evidence.records} records, the data has {paths.records}"
            )
        complaints += wrongly_left_out(paths, evidence, policy)
        complaints += cautions.unsaid(evidence, cautions.of_formulas_in(texts_of(frame), form))
        verdicts, by_length = judged(paths, policy)
        complaints += ev.other_promises(verdicts, evidence.promises)
        said = needed(evidence.paths, "paths")
        least = said.frequent.support
        counted = trajectory_notes.published(paths, least, frequent(paths, least), by_length)
        theirs = said.to_dict()
        complaints += others(
            [
                *((f"paths: {key}", theirs[key], found) for key, found in counted.items()),
                ("measures: after", evidence.measures.after, trajectory_notes.size(paths)),
            ]
        )
        complaints += ev.other_columns(evidence, list(columns))
        complaints += trajectory_notes.others_of(evidence, paths, policy)
        search, promises = PathSearch.of(policy), promises_of(policy)
        if evidence.proof is not None:
            noted = proof_of(evidence.proof, promises)
            complaints += recheck(paths, promises, noted)
            if any(list(one.classes) != sorted(one.classes) for one in noted.arguments):
                complaints.append("proof: the classes of sequences are not in order")
        elif search.proves:
            complaints.append(f"proof: {search.name} brings one, and it is missing")
        if policy.quasi:
            complaints += others([("mixed", needed(evidence.mixed, "mixed"), mixed(paths, policy))])
        return Found(verdicts, tuple(complaints), unseen=absent.unseen(policy, self.occurring(read)))

    risk = Later("exposure")
    compare = Later("exposure")
    explain = Later("exposure")


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
    people = engine.read(frame[first].select([a.name for a in table.attributes]), policy.form)
    tallied = engine.tally(people, table)
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


def texts_of(frame: pl.DataFrame) -> list[tuple[str, list[str | None]]]:
    """The columns of texts, with what may be a formula in them."""
    texts = (one.cast(pl.String) for one in frame if not one.dtype.is_numeric())
    return [(one.name, beginning(one, BEGINS)) for one in texts]


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


def proof_of(noted: Sequence[ArgumentNote], promises: Sequence[Linkage]) -> Proof:
    """A proof as the evidence has it; the promises are the policy's."""
    if len(noted) != len(promises):
        return Proof(())
    return Proof(
        tuple(
            Argument(
                replace(promise, l=argument.l, k=argument.k),
                tuple(fraction(bound) for bound in argument.bounds),
                tuple(
                    SequenceClass(length, support, having, many)
                    for length, support, having, many in argument.classes
                ),
            )
            for promise, argument in zip(promises, noted, strict=True)
        )
    )
