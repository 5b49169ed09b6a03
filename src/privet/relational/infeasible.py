"""What no recoding can reach: asked of the table with every quasi-identifier fully generalised."""

from __future__ import annotations

from collections.abc import Sequence

from privet.core import PrivacyModel, Tally
from privet.counts.door import Counts
from privet.counts.memory import counted
from privet.errors import UnsatisfiableError


def refuse_beyond_reach(data: Tally | Counts, models: Sequence[PrivacyModel]) -> None:
    """Say which promises even the coarsest table breaks, and what could be promised instead."""
    if complaints := counted(data).beyond_reach(models):
        raise UnsatisfiableError(*complaints, "this is so even with every quasi-identifier fully generalised")
