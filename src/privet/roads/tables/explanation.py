"""Tables: why a release lost so much, and what one step less would buy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privet.core import Engine, Role
from privet.errors import UnsupportedError
from privet.policy.values import Policy
from privet.release import read_private
from privet.roads.tables.opened import PERTURBED, audits_of, opened


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
    audits = audits_of(tally, there.policy, show_values=show_values)
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
