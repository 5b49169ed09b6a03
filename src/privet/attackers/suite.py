"""Attackers let loose: everything that applies is tried, and what does not apply is said by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privet import notebook
from privet.attackers.attack import Attack, Judged, NotTriedError, Outcome
from privet.attackers.opening import raw_rows, target
from privet.attackers.scene import Scene, Target
from privet.core import Form, Progress, silent
from privet.errors import (
    BrokenPromiseError,
    InputError,
    MissingExtraError,
    OptionError,
    PrivetError,
    UnsupportedError,
)
from privet.errors import one_of as listed
from privet.measure.attack import Rows
from privet.registry import installed
from privet.release import Release
from privet.roads import engine_of, with_known_options
from privet.roads.stations import settle
from privet.roads.tables.opened import rows_of

KIND = "attacks"
TRIALS, MOST = 1000, 10**9
CALLED = {  # kinds of releases, in words
    "table": "tables",
    "buckets": "tables in buckets",
    "noisy": "noisy tables",
    "trajectories": "paths",
    "transactions": "sets",
    "gateway": "query gateways",
    "tree-anatomy": "documents in halves",
}
WANTING = {  # what an attack needs and nobody gave
    "raw": "it needs the raw data: --raw",
    "known": "it needs a list of people: --known",
    "several": "it needs several releases of the same people",
}


@dataclass(frozen=True)
class Attacked:
    """What every attacker got. Numbers only; about raw data where that was given, so for the steward."""

    releases: tuple[str, ...]
    kind: str
    outcomes: tuple[Outcome, ...] = field(repr=False)
    not_tried: tuple[tuple[str, str], ...] = field(repr=False)  # which, and why not
    assumptions: dict[str, str] = field(repr=False)  # of each attack that was tried
    with_raw: bool = False

    @property
    def beyond(self) -> tuple[Outcome, ...]:
        """The attacks that got more than the promise allows."""
        return tuple(one for one in self.outcomes if one.judged is Judged.BEYOND)

    @property
    def holds(self) -> bool:
        """Did no attack get more than the promise allows?"""
        return not self.beyond

    def of(self, attack: str) -> tuple[Outcome, ...]:
        """What one attack got."""
        return tuple(one for one in self.outcomes if one.attack == attack)

    def __repr__(self) -> str:
        said = {judged.value: sum(o.judged is judged for o in self.outcomes) for judged in Judged}
        counts = ", ".join(f"{many} {word}" for word, many in said.items() if many)
        where = ", ".join(self.releases)
        return f"Attacked({where}: {counts or 'nothing tried'}; {len(self.not_tried)} not tried)"

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "releases": list(self.releases),
            "kind": self.kind,
            "holds": self.holds,
            "with_raw": self.with_raw,
            "outcomes": [one.to_dict() for one in self.outcomes],
            "assumptions": dict(self.assumptions),
            "not_tried": [{"attack": name, "why": why} for name, why in self.not_tried],
        }

    def _repr_html_(self) -> str:
        rows = [
            (o.attack, o.goal, o.rate, o.baseline, o.allowed, o.worst, o.judged.value) for o in self.outcomes
        ]
        head = ("attack", "goal", "success", "guessing", "allowed", "at worst", "verdict")
        return notebook.card(
            "Attacked",
            [
                ("releases", self.releases),
                ("within the promise", self.holds),
                ("attacks", notebook.grid(head, rows)),
                ("not tried", [f"{name}: {why}" for name, why in self.not_tried]),
            ],
        )


@with_known_options
def attack(
    *releases: Release | str | Path,
    raw: Any = None,
    known: Any = None,
    only: Sequence[str] | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    engine: Any = "embedded",
    progress: Progress = silent,
) -> Attacked:
    """Let every attacker that applies loose on a release, or on several of the same people.

    `releases` are folders, releases in memory, or the audit.toml of a query gateway. `raw` is what they were
    made from: with it an attack knows whether it was right, and those who know the source's order or its
    algorithm can be tried. `known` is a list of people with what an attacker knows of them, without
    sensitive values. `only` names the attacks to try; `trials` is how often those that draw try.
    """
    if not releases:
        raise InputError("attack: name a release")
    if not 1 <= trials <= MOST:
        raise InputError(f"attack: trials is a whole number from 1 to {MOST:,}")
    if seed < 0:
        raise InputError("attack: seed is a whole number from 0 on")
    where = engine_of(engine)
    targets = tuple(target(release, where) for release in releases)
    scene = _scene(targets, raw, known, where, trials=trials, seed=seed)
    outcomes: list[Outcome] = []
    missing: list[tuple[str, str]] = []
    assumes: dict[str, str] = {}
    for name, each in chosen(only):
        why = each if isinstance(each, str) else wanting(each, scene)
        if why is None and not isinstance(each, str):
            progress("attack", len(assumes))
            try:
                outcomes += each.run(scene)
                assumes[name] = each.assumes
            except (NotTriedError, MissingExtraError, UnsupportedError) as error:
                why = error.complaints[0] if isinstance(error, PrivetError) else str(error)
        if why is not None:
            missing.append((name, why))
    return Attacked(
        tuple(one.place for one in targets),
        targets[0].kind,
        tuple(outcomes),
        tuple(missing),
        assumes,
        with_raw=raw is not None,
    )


def withstood(release: Release, *, raw: Any, engine: Any, progress: Progress = silent) -> Attacked:
    """What attackers get of a release that has not left; raises where one gets more than is promised."""
    found = attack(release, raw=raw, engine=engine, progress=progress)
    if not found.holds:
        raise BrokenPromiseError(
            *(
                f"{one.attack}: {one.goal}: {_more(one)}, and {one.promise} allows {one.allowed:.2%}"
                for one in found.beyond
                if one.allowed is not None
            ),
            "nothing was written",
        )
    return found


def _more(one: Outcome) -> str:
    if one.worst is not None and one.allowed is not None and one.worst > one.allowed:
        return f"{one.worst:.2%} at worst"
    return f"{one.succeeded} of {one.tried} tries succeed"


def _scene(targets: Sequence[Target], raw: Any, known: Any, engine: Any, **drawn: int) -> Scene:
    table: Any = raw
    rows: Rows | None = None
    if raw is not None and targets[0].table is not None:
        table, rows = raw_rows(raw, targets[0], engine)
    listed_people = None
    if known is not None:
        there = engine.read(known, settle(known, Form()))
        listed_people = rows_of(there, list(engine.columns(there)))
    return Scene(tuple(targets), table, rows, listed_people, engine, raw, **drawn)


def chosen(only: Sequence[str] | None = None) -> Iterator[tuple[str, Attack | str]]:
    """Every attack that is installed, or those that are named; instead of one that lacks a library, which."""
    there = installed(KIND)
    wrong = [listed("attack", list(there), name) for name in only or () if name not in there]
    if wrong:
        raise OptionError(*wrong)
    for name, one in there.items():
        if only is None or name in only:
            try:
                yield name, one.load()()
            except MissingExtraError as error:
                yield name, error.complaints[0]
            except ImportError as error:
                yield name, f"it needs a library that is not installed: {error.name}"


def wanting(attack: Attack, scene: Scene) -> str | None:
    """Why an attack cannot be tried, if it cannot."""
    if scene.target.kind not in attack.kinds:
        about = " and ".join(CALLED.get(kind, kind) for kind in attack.kinds)
        return f"it is about {about}, not {CALLED.get(scene.target.kind, scene.target.kind)}"
    have = {
        "raw": scene.raw is not None,
        "known": scene.known is not None,
        "several": len(scene.targets) > 1,
    }
    return next((WANTING[need] for need in attack.needs if not have[need]), None)
