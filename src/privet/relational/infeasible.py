"""What no recoding can reach: asked of the table with every quasi-identifier fully generalised."""

from __future__ import annotations

from collections.abc import Sequence

from privet.core import PrivacyModel, Tally
from privet.errors import UnsatisfiableError
from privet.models.linkage import LinkageCheck


def refuse_beyond_reach(tally: Tally, models: Sequence[PrivacyModel]) -> None:
    """Say which promises even the coarsest table breaks, and what could be promised instead."""
    top = tally.topmost()
    complaints: list[str] = []
    for model in models:
        if model.check(top).holds:
            continue
        if isinstance(model, LinkageCheck):
            complaints += model.shortfalls(top)
        else:
            complaints.append(
                f"{model.name}: {model} cannot be kept; the nearest feasible is {model.nearest(top)}"
            )
    if complaints:
        raise UnsatisfiableError(*complaints, "this is so even with every quasi-identifier fully generalised")
