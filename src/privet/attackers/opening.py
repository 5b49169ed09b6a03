"""Releases, opened as an attacker opens them: from their folder alone, or in memory before they leave."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from privet.attackers.scene import Bags, Ints, Table, Target, numbered, together
from privet.core import Role, Terms
from privet.errors import InputError
from privet.evidence.folder import read as read_evidence
from privet.evidence.values import ANATOMY, NOISY, TABLES
from privet.measure.attack import Rows
from privet.policy.values import Policy
from privet.release import Release
from privet.roads.noisy.release import NoisyRelease
from privet.roads.stations import data_file, file_of, in_frame, needed, settle
from privet.roads.tables import population
from privet.roads.tables.anatomy import BUCKET, RECORDS, SplitRelease
from privet.roads.tables.opened import opened, rows_of

AUDIT = "audit.toml"
BUCKETS, NOISE = "buckets", "noisy"


def target(release: Release | str | Path, engine: Any) -> Target:
    """A release, or a folder with one; or the settings of a query gateway."""
    if isinstance(release, Release):
        return _released(release, None, engine)
    folder = Path(release)
    if folder.name == AUDIT or (folder / AUDIT).is_file():
        from privet.attackers.desk import gateway  # noqa: PLC0415 - loads a parser of SQL, for few

        return gateway(folder if folder.name == AUDIT else folder / AUDIT)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    return _released(folder, folder, engine)


def _released(release: Release | Path, folder: Path | None, engine: Any) -> Target:
    evidence = release.evidence if isinstance(release, Release) else read_evidence(release)
    policy = release.policy if isinstance(release, Release) else Policy.load(release / "policy.toml")
    place = "the release" if folder is None else folder.name or str(folder)
    if evidence.road == TABLES:
        there = opened(release, engine)
        rows = rows_of(there.table, list(engine.columns(there.table)))
        table = classes(rows, there.policy)
        return Target(
            place,
            TABLES,
            there.policy,
            evidence,
            there.translation,
            table,
            folder=folder,
            only=there.only,
            everybody=tuple(model for model in policy.models if population.about_everybody(model)),
        )
    if evidence.road == ANATOMY:
        data, held = _halves(release, evidence, engine)
        split = buckets(_texts(data), _texts(held), policy)
        return Target(place, BUCKETS, policy, evidence, _itself, split, folder=folder)
    if evidence.road == NOISY:
        return Target(place, NOISE, policy, evidence, data=_counts(release, evidence, engine), folder=folder)
    return Target(place, evidence.road, policy, evidence, data=release, folder=folder)


def _itself(attribute: str, raw: Any) -> frozenset[Any]:  # noqa: ARG001 - a translation's form
    return frozenset({raw})


def _halves(release: Release | Path, evidence: Any, engine: Any) -> tuple[Any, Any]:
    if isinstance(release, SplitRelease):
        return release.table, release.held
    folder = Path(str(release))
    data, form = data_file(folder, evidence)
    other = file_of(folder, needed(needed(evidence.data, "data").buckets, "data.buckets"))
    return in_frame(engine, engine.read(data, form)), in_frame(engine, engine.read(other, form))


def _counts(release: Release | Path, evidence: Any, engine: Any) -> Any:
    if isinstance(release, NoisyRelease):
        return release.counts()
    folder = Path(str(release))
    data, form = data_file(folder, evidence, needed(evidence.data, "data").counts)
    return in_frame(engine, engine.read(data, form, empty=True))


def _texts(frame: Any) -> dict[str, list[Any]]:
    return rows_of(frame, list(frame.columns))  # type: ignore[return-value] # lists of texts are rows


def classes(rows: Rows, policy: Terms) -> Table:
    """A published table by its classes."""
    quasi = {a.name: numbered(rows[a.name]) for a in policy.quasi if a.name in rows}
    records = len(next(iter(rows.values()), ()))
    group = together([codes for codes, _ in quasi.values()], records)
    secrets = [a.name for a in policy.with_role(Role.SENSITIVE) if a.name in rows]
    bags = tuple(_bags(name, group, rows[name]) for name in secrets)
    return Table(
        {name: codes for name, (codes, _) in quasi.items()},
        {name: values for name, (_, values) in quasi.items()},
        group,
        bags,
        rows,
    )


def _bags(attribute: str, group: Ints, column: Sequence[Any]) -> Bags:
    codes, values = numbered(column)
    wide = max(1, len(values))
    pairs, count = np.unique(group * wide + codes, return_counts=True)
    owner, value = np.divmod(pairs, wide)
    return Bags(attribute, owner, value, count.astype(np.int64), values)


def buckets(data: Rows, held: Rows, policy: Terms) -> Table:
    """A table of quasi-identifiers with buckets, and what each bucket holds."""
    secret = policy.with_role(Role.SENSITIVE)[0].name
    names = [a.name for a in policy.quasi if a.name in data]
    quasi = {name: numbered(data[name]) for name in names}
    group, order = numbered(data[BUCKET])
    at = {bucket: number for number, bucket in enumerate(order)}
    values, known = numbered(held[secret])
    owner = np.array([at[bucket] for bucket in held[BUCKET]], dtype=np.int64)
    count = np.array([int(str(many)) for many in held[RECORDS]], dtype=np.int64)
    return Table(
        {name: codes for name, (codes, _) in quasi.items()},
        {name: labels for name, (_, labels) in quasi.items()},
        group,
        (Bags(secret, owner, values, count, known),),
        data,
        bucketed=True,
    )


def raw_rows(source: Any, target: Target, engine: Any) -> tuple[Any, Rows]:
    """The source that a release was made from, as far as the policy names it: the rows that left."""
    names = [*(a.name for a in target.policy.attributes if a.published), *target.only]
    names += [] if target.policy.person is None else [target.policy.person]
    table = engine.read(source, settle(source, target.policy.form), list(dict.fromkeys(names)))
    if target.only:
        table = engine.only(table, target.only)
    return table, rows_of(table, list(engine.columns(table)))
