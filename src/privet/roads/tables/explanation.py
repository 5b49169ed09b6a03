"""Tables: why a release lost so much, and what one step less would buy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privet.core import Role
from privet.engine import Engine
from privet.errors import UnsupportedError
from privet.evidence.measures import ColumnLoss, Loss
from privet.evidence.part import plain
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.release import read_private
from privet.roads.answers import TableExplanation
from privet.roads.tables.opened import PERTURBED, audits_of, opened


def explain(
    folder: Path,
    evidence: Evidence,
    policy: Policy,  # noqa: ARG001 - a road's form
    *,
    show_values: bool = False,
    engine: Engine[Any],
) -> TableExplanation:
    """Why a release lost so much: for each attribute what stopped it, the tightest groups, and what
    relaxing one step would buy.

    The last and the whole log stand in the private notes, if they still lie beside the folder.
    `show_values` names the published values of the tightest groups, and what refused splits would have made.
    """
    there = opened(folder, engine)
    if evidence.recoding == PERTURBED:
        raise UnsupportedError(
            f"{evidence.algorithm['type']} generalises nothing, so there is no loss to explain"
        )
    notes = read_private(folder)
    steps = _steps(evidence, notes)
    tally = engine.tally_published(there.table, there.policy)
    measured = evidence.measures.attributes or {}
    attributes: list[dict[str, Any]] = []
    for name, note in evidence.attributes.items():
        if note.role != Role.QUASI.value:
            continue
        lost = measured.get(name, ColumnLoss())
        stopped = [step for step in steps if step["attribute"] == name and not step["performed"]]
        attributes.append(
            {
                "attribute": name,
                "lm": lost.lm,
                "published": note.published,
                "published_values": lost.published_values,
                "stopped_by": sorted({step["refused_by"] for step in stopped}),
                "refused": [
                    hushed(
                        {key: v for key, v in s.items() if key not in {"attribute", "performed"}},
                        show=show_values,
                    )
                    for s in stopped
                ],
            }
        )
    attributes.sort(key=lambda found: -(found["lm"] or 0))
    audits = audits_of(tally, there.policy, show_values=show_values)
    return TableExplanation(
        records=tally.records,
        lm=(evidence.measures.loss or Loss()).lm,
        logged=bool(steps),  # not every search tries one step after the other
        attributes=attributes,
        promises=[{"model": plain(one.model), "achieved": dict(one.achieved)} for one in evidence.promises],
        tightest=[
            {
                "model": found.model,
                "group": found.tightest.to_dict() if found.tightest else None,
                "confidence": found.surest.to_dict() if found.surest else None,
            }
            for found in audits
        ],
        relaxations=None
        if notes is None
        else [hushed(one, show=show_values) for one in notes.get("relaxations") or ()],
        reasons=[] if notes is None else notes.get("reasons", []),
        choice=_choice(evidence, notes),
        private_notes=notes is not None,
    )


def hushed(split: Mapping[str, Any], *, show: bool) -> dict[str, Any]:
    """A refused split; unless shown, without the values that it would have made: those stayed raw."""
    return {key: len(value) if key == "children" and not show else value for key, value in split.items()}


def _choice(evidence: Evidence, notes: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What was chosen and what else was tried; the steward's notes have every digit and why not."""
    if notes is not None and notes.get("choice"):
        return dict(notes["choice"])
    return None if evidence.choice is None else evidence.choice.to_dict()


def _steps(evidence: Evidence, notes: Mapping[str, Any] | None) -> list[dict[str, Any]]:
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
            "attribute": step.attribute,
            "label": step.label,
            "performed": step.performed,
            "refused_by": step.refused or "",
        }
        for step in evidence.steps
    ]
