"""A release of a table opened again, from its folder or from memory, for whoever asks something of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.core import PrivacyModel, Role, Tally, Terms
from privet.domain import Value
from privet.engine import Engine
from privet.errors import TamperedError, UnsupportedError
from privet.evidence.folder import POLICY
from privet.evidence.folder import read as read_evidence
from privet.evidence.values import Evidence
from privet.measure import attack as attacks
from privet.measure.attack import Attack, Rows, Translation
from privet.measure.audit import Audit, audit
from privet.models.linkage import LinkageModel
from privet.policy import handed
from privet.recoding import Generalization, Perturbation
from privet.release import Release, read_private
from privet.roads.received import at_home
from privet.roads.stations import data_file, settle
from privet.roads.tables import population
from privet.roads.tables.release import TableRelease

EFFORT = 1_000_000_000  # cells that an audit looks at: about half a minute
PERTURBED = Perturbation.name
LISTED = 100  # violating groups, for a steward who asks for values; without values a list says nothing


@dataclass(frozen=True)
class Opened:
    """A release, whether it lies in a folder or is in memory."""

    table: Any
    policy: Terms  # of what has left
    evidence: Evidence
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
        raise UnsupportedError("this is not a release of a table")
    evidence = read_evidence(release)
    policy = at_home(release, handed.load(release / POLICY))
    data, form = data_file(release, evidence)
    translation = attacks.by_evidence(evidence, policy)
    notes = read_private(release)
    if notes is not None:
        translation = attacks.by_notes(notes, translation)
    order = None if notes is None else notes.get("leaf_order")
    table = engine.read(data, form)
    there = set(engine.columns(table))
    leaving = population.leaving(policy)
    if missing := [a.name for a in leaving.attributes if a.published and a.name not in there]:
        raise TamperedError(f"{data}: {len(missing)} columns that the policy publishes are not there")
    return Opened(table, leaving, evidence, translation, order, policy.publish_only)


def _translation(release: TableRelease) -> Translation:
    if isinstance(release.recoding, Generalization):
        return attacks.by_recoding(release.recoding)
    return attacks.by_notes(release.private, attacks.by_evidence(release.evidence, release.policy))


def attack(raw: Any, release: Release | Path, known: Mapping[str, Value], *, engine: Engine[Any]) -> Attack:
    """What somebody who knows these raw values of a person finds in the raw table and in the release."""
    there = opened(release, engine)
    sensitive = [a.name for a in there.policy.with_role(Role.SENSITIVE)]
    names = list(dict.fromkeys([*known, *sensitive]))
    table = engine.read(raw, settle(raw, there.policy.form), names)
    before, after = rows_of(table, names), rows_of(there.table, names)
    return attacks.attack(before, after, known, there.translation, sensitive)


def rows_of(table: Any, names: Sequence[str], at: Any = None) -> Rows:
    """Columns as texts, or those of some rows: for attacks and classifiers, which need single records."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    here = getattr(table, "data", table)
    if not hasattr(here, "__arrow_c_stream__"):
        raise UnsupportedError(
            "this looks at single records, in this process; the engine 'embedded' has them"
        )
    data = pl.DataFrame(here).select(names)
    data = data if at is None else data[at]
    return data.cast(pl.String).to_dict(as_series=False)


def audits_of(tally: Tally, policy: Terms, *, show_values: bool) -> list[Audit]:
    return [
        audit(tally, model, show_values=show_values, most=LISTED if show_values else 0, effort=EFFORT)
        for model in policy.models
        if isinstance(model, LinkageModel)
    ]


def k_of(model: PrivacyModel) -> int | None:
    """The k that a promise gives for published classes; one about a population bounds other classes."""
    found: int | None = None if population.about_everybody(model) else model.class_size
    return found
