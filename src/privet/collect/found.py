"""Estimates as documents that JSON can hold, for `--json`, for the page and for programs."""

from __future__ import annotations

from typing import Any

from privet.collect.estimate import HOLDS, Estimate
from privet.collect.joint import Joint
from privet.collect.privacy import told

STEPS = 400  # points of a convergence curve at most


def described(found: Estimate) -> dict[str, Any]:
    """One column."""
    fit = found.fit
    document: dict[str, Any] = {
        "column": found.column.name,
        "type": "number" if found.column.numeric else "category",
        "mechanism": found.column.mechanism,
        "records": found.records,
        "method": found.method,
        "labels": list(found.labels),
        "shares": [float(share) for share in found.shares],
        "perturbed": None if found.perturbed is None else [float(share) for share in found.perturbed],
        "mean": found.mean,
    }
    if found.low is not None and found.high is not None:
        document["confidence"] = found.confidence
        document["low"] = [float(share) for share in found.low]
        document["high"] = [float(share) for share in found.high]
        if found.bands is not None:
            document["supposes"] = found.bands.value
            document["bands"] = HOLDS[found.bands]
    if fit is not None:
        document |= {"iterations": fit.iterations, "stopped": fit.stopped, "dropped": fit.dropped}
        every = max(1, -(-len(fit.steps) // STEPS))
        document["convergence"] = [
            {"iteration": at, "change": step.change, "fit": step.fit, "held_out": step.held_out}
            for at, step in enumerate(fit.steps)
            if at % every == 0 or at == len(fit.steps) - 1
        ]
    given = told(found.column, found.shares)
    if given is not None:
        document["information"] = {
            "bits": given.bits,
            "of": given.of,
            "lost": given.lost,
            "prior": "reconstructed",
        }
    return document


def paired(found: Joint) -> dict[str, Any]:
    """Two columns."""
    return {
        "columns": [column.name for column in found.columns],
        "labels": [list(labels) for labels in found.labels],
        "shares": [[float(share) for share in row] for row in found.shares],
        "records": found.records,
        "iterations": found.iterations,
        "information": found.information,
    }
