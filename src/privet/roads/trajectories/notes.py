"""What the evidence says of paths: counted on what is published, so that anybody can count it again.

Points that were suppressed are raw values that are not in the release: of them only numbers leave. How many
went in each slot of time may be said; with how many at each place beside it, both together would name them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, islice
from typing import Any

import numpy as np

from privet.engines.trajectories.readings import Prepared
from privet.errors import UnsupportedError
from privet.evidence.notes import number
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.roads.stations import needed, others
from privet.roads.trajectories.shape import Read
from privet.trajectory.audit import OfLength
from privet.trajectory.coarse import Level
from privet.trajectory.explain import rounds
from privet.trajectory.frequent import threshold
from privet.trajectory.paths import Ints, Paths, Points
from privet.trajectory.recode import Pair
from privet.trajectory.searches import PathFinding, PathSearch, Thinned, at_least, promises_of
from privet.trajectory.sequences import Sequences
from privet.trajectory.stops import Stops
from privet.trajectory.suppress import Cover, PointScore, Thinning, covering, lost

LISTED = 30  # frequent sequences that the evidence names
PLACES, SLOTS = 20, 48  # of the map of places and times
MARKS = 100  # along the loss curve
ROUNDS, CANDIDATES = 10, 20  # of the search that the steward's notes hold


def pairs_of(sequences: Sequences) -> dict[tuple[Pair, ...], int]:
    """Sequences as places and times, with their support; so those of two tallies can be compared."""
    pairs = [sequences.points.pair(code) for code in range(len(sequences.points))]
    return {
        tuple(pairs[point] for point in one): support
        for one, support in zip(sequences.tuples(), sequences.support.tolist(), strict=True)
    }


def size(paths: Paths) -> dict[str, Any]:
    """How much there is."""
    there = np.flatnonzero(paths.instances)
    return {
        "records": paths.records,
        "visits": int(paths.instances.sum()),
        "points": len(there),
        "places": len(np.unique(paths.points.place[there])),
        "times": len(np.unique(paths.points.time[there])),
        "longest": paths.longest,
        "empty": int(paths.counts[paths.lengths == 0].sum()),
    }


def published(
    paths: Paths, least: int, found: Sequences, by_length: Sequence[Sequence[OfLength]]
) -> dict[str, Any]:
    """Everything that the evidence says of what is published; verify counts it again."""
    order = np.lexsort((np.arange(len(found)), -found.lengths, -found.support))[:LISTED]
    return {
        **size(paths),
        "frequent": {
            "support": least,
            "sequences": len(found),
            "listed": [
                {"sequence": list(labels), "support": support}
                for labels, support in zip(
                    found.only(order).labels(), found.support[order].tolist(), strict=True
                )
            ],
        },
        "heat": heat(paths.points, paths.instances),
        "by_length": [
            [
                {
                    "length": one.length,
                    "sequences": one.sequences,
                    "smallest": one.smallest,
                    "largest": number(one.largest),
                }
                for one in levels
            ]
            for levels in by_length
        ],
    }


def heat(points: Points, visits: Ints) -> dict[str, Any]:
    """How many records were at each of the busiest places in each slot of time."""
    busy = np.bincount(points.place, visits, minlength=len(points.places)).astype(np.int64)
    places = [at for at in np.lexsort((np.arange(len(busy)), -busy))[:PLACES].tolist() if busy[at]]
    used = np.unique(points.time[visits > 0])
    width = max(1, -(-len(used) // SLOTS))
    bin_of = np.zeros(len(points.times), dtype=np.int64)
    bin_of[used] = np.arange(len(used)) // width
    table = np.zeros((len(points.places), -(-len(used) // width)), dtype=np.int64)
    there = visits > 0
    np.add.at(table, (points.place[there], bin_of[points.time[there]]), visits[there])
    return {
        "places": [points.places[at] for at in places],
        "times": [points.times[used[at]] for at in range(0, len(used), width)],
        "counts": [table[at].tolist() for at in places],
    }


def suppressed(finding: PathFinding, final: Paths) -> dict[str, Any]:
    """How many points went, by the slots of time that the release still has; never which."""
    shown = heat(final.points, final.instances)["times"]
    times = [when for when in final.points.times if when in set(_used_times(final))]
    starts = {when: at for at, when in enumerate(times)}
    begins = [starts[when] for when in shown]
    gone = {one.pair for one in finding.recoding.removed}
    by_slot = [0] * len(shown)
    elsewhere = 0
    for _, when in gone:
        if when in starts:
            by_slot[int(np.searchsorted(begins, starts[when], side="right")) - 1] += 1
        else:
            elsewhere += 1
    everywhere = len({one.pair for one in finding.recoding.removed if one.everywhere})
    return {"points": len(gone), "everywhere": everywhere, "by_time": by_slot, "elsewhere": elsewhere}


def thinning(finding: PathFinding, final: Paths, prepared: Prepared | None) -> dict[str, Any]:
    """How paths were thinned, in numbers."""
    found: dict[str, Any] = {
        "place": finding.place,
        "time": finding.time,
        "suppressed": suppressed(finding, final),
        "curve": curve(finding.thinned),
        "trials": [tried(trial) for trial in finding.trials],
    }
    if prepared is not None:
        found["prepared"] = {
            key: getattr(prepared, key) for key in ("readings", "merged", "displaced", "clashes")
        }
    return found


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


def _used_times(paths: Paths) -> list[str]:
    return [paths.points.times[at] for at in np.unique(paths.points.time[paths.instances > 0]).tolist()]


def lost_visits(thinned: Thinned) -> dict[str, Any]:
    """How many records lost a visit, by place and time: raw values, for the steward's own eyes."""
    points = thinned.violations.points
    lost = np.zeros(len(points), dtype=np.int64)
    for one in thinned.removals:
        lost[one.point] = one.instances
    return heat(points, lost)


def curve(thinned: Thinned) -> list[list[int]]:
    """After so many removals: so many violating sequences and so many patterns were left."""
    violations = accumulate((-one.gain for one in thinned.removals), initial=len(thinned.violations))
    patterns = accumulate((-one.loss for one in thinned.removals), initial=len(thinned.patterns))
    every = [[at, *left] for at, left in enumerate(zip(violations, patterns, strict=True))]
    step = max(1, -(-len(every) // MARKS))
    return [*every[:-1:step], every[-1]]


def patterns(finding: PathFinding, raw: Paths, left: Sequences, least: int) -> dict[str, Any]:
    """What became of the maximal frequent sequences, in both readings; `left` are those of the release."""
    before, after = pairs_of(finding.patterns), pairs_of(left)
    trial = finding.trial
    coarse = finding.recoding.image(raw.points)[0] is not raw.points
    still = {one: after[one] for one in before if one in after}
    kept = trial.losses.surviving if coarse and trial is not None else len(still)
    share = trial.losses.patterns if coarse and trial is not None else lost(len(before), len(still))
    return {
        "support": least,
        "before": len(before),
        "surviving": kept,
        "lost": _rounded(share),
        "remined": len(after),
        "lost_remined": _rounded(lost(len(before), len(after))),
        "true_support": sum(before[one] == support for one, support in still.items()),
    }


def vague(levels: tuple[Level, Level]) -> dict[str, dict[str, str]]:
    """How much what stands for a place or a time leaves open; for the steward, who compares later."""
    place, time = ({value: str(loss) for value, loss in level.loss.items()} for level in levels)
    return {"places": place, "times": time}


def _rounded(share: Fraction) -> float:
    return round(float(share), 9)


def stops_noted(stops: Stops, final: Paths) -> list[dict[str, Any]]:
    """Where the places of the release are, for a map."""
    busy = np.bincount(final.points.place, final.instances, minlength=len(final.points.places))
    return [
        {"place": place, "name": stop.name, "lat": stop.lat, "lon": stop.lon, "visits": int(visits)}
        for place, visits in zip(final.points.places, busy.tolist(), strict=True)
        if visits and (stop := stops.places.get(place)) is not None and None not in (stop.lat, stop.lon)
    ]


def others_of(evidence: Evidence, final: Paths, policy: Policy) -> list[str]:
    """What the evidence says of patterns and stops, and the paths do not have."""
    said = needed(evidence.paths, "paths")
    patterns = needed(evidence.measures.patterns, "measures.patterns")
    before = needed(evidence.measures.before, "measures.before").records
    least = threshold(at_least(PathSearch.of(policy).worth), before)
    busy = np.bincount(final.points.place, final.instances, minlength=len(final.points.places))
    visits = dict(zip(final.points.places, busy.tolist(), strict=True))
    return others(
        [
            ("paths: frequent: support", said.frequent.support, least),
            ("measures: patterns: support", patterns.support, least),
            ("measures: patterns: remined", patterns.remined, said.frequent.sequences),
            *(
                ("stops", (stop.place, stop.visits), (stop.place, visits.get(stop.place)))
                for stop in evidence.stops or ()
            ),
        ]
    )


def log(thinned: Thinned, score: PointScore) -> dict[str, Any]:
    """The search for the steward's own eyes: every removal, and the first rounds with their candidates."""
    removals = [
        {
            "point": one.label,
            "gain": one.gain,
            "loss": one.loss,
            "score": str(one.score),
            "records": one.instances,
        }
        for one in thinned.removals
    ]
    played = rounds(thinned, score, CANDIDATES) if isinstance(thinned, Thinning) else iter(())
    return {
        "removals": removals,
        "rounds": [
            {
                "round": one.number,
                "violations": one.violations,
                "points": one.points,
                "removed": one.winner.label,
                "candidates": [
                    {"point": c.label, "gain": c.gain, "loss": c.loss, "score": str(c.score)}
                    for c in one.candidates
                ],
            }
            for one in islice(played, ROUNDS)
        ],
    }


def causes(thinned: Thinned, k: int) -> dict[str, Any]:
    """Which violating sequences there were: how long, and by which half of the promise."""
    few = thinned.violations.support < k
    by_length = Counter(zip(thinned.violations.lengths.tolist(), few.tolist(), strict=True))
    lengths = sorted({length for length, _ in by_length})
    return {
        str(length): {"too_few": by_length[length, True], "too_alike": by_length[length, False]}
        for length in lengths
    }


def relaxed(
    thinned: Thinned, coarse: Paths, score: PointScore, l: int, cover: Cover = Cover.GREEDY
) -> list[dict[str, Any]]:
    """What an adversary who knows less would have cost.

    Exact: the minimal violating sequences of up to so many points are those of that l.
    """
    if not isinstance(thinned, Thinning):
        return []
    lengths = thinned.violations.lengths
    found = []
    for less in range(min(l, int(lengths.max(initial=0))) - 1, 0, -1):
        bad = thinned.violations.only(np.flatnonzero(lengths <= less))
        try:
            gone = [point for point, _, _ in covering(coarse, bad, thinned.patterns, score, cover)]
        except UnsupportedError:  # the exact search finds no end here, though it did for more
            continue
        left = len(thinned.patterns.without(gone))
        found.append({"l": less, "removed": len(gone), "surviving": left})
    return found


def kept_at_home(finding: PathFinding, read: Read, policy: Policy) -> dict[str, Any]:
    """What the steward keeps of a search: raw places and times, every removal, what less would have cost."""
    score = PathSearch.of(policy).scored
    grid, promises = read.shape.grid, promises_of(policy)
    found: dict[str, Any] = {
        "places": dict(finding.recoding.places),
        "times": dict(finding.recoding.times),
        "grid": None if grid is None else [grid.metres, grid.uncertainty],
        "vague": None if finding.levels is None else vague(finding.levels),
        "removed": [[one.pair, list(one.context)] for one in finding.recoding.removed],
        "causes": causes(finding.thinned, max(one.k for one in promises)),
        "relaxations": [],
    }
    if score is None:
        return found
    coarse = replace(finding.recoding, removed=()).applied(read.paths).paths(read.paths)
    known = max(one.l or coarse.longest for one in promises)
    covering_ = PathSearch.of(policy).covering
    found["relaxations"] = relaxed(finding.thinned, coarse, score, known, covering_)
    return found | log(finding.thinned, score)
