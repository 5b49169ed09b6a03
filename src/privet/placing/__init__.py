"""Putting a result in its place: whole or not at all, whatever interrupts and whoever else writes there.

    .out.k3x9d2/    this run's own folder beside `out`, with a lock that is held while the run lives
        room        space for what will be written, where it is paid for before
        new/        what is being written, under its final names
        old/        what was replaced, until the new stands
        ready       everything is written: who finds it without a living run finishes the work

Only one living run has such a folder for one place; the next to come is refused. A folder whose run is
dead is finished if it was ready, and removed if it was not.
"""

from __future__ import annotations

from privet.placing.single import rewritten
from privet.placing.staging import Aside, Placed, aside, noted, scratch, told
from privet.placing.system import fits, followed

__all__ = ["Aside", "Placed", "aside", "fits", "followed", "noted", "rewritten", "scratch", "told"]
