"""That a party has ended a run, and because of whom: said to peers, heard from them, and handed on."""

from __future__ import annotations

import re
from collections.abc import Sequence

ENDED = re.compile(r"(?P<by>[^:]+): has ended the run(?: and names (?P<named>[^;]+))?;")


def has_ended(parties: Sequence[str], by: str, named: object) -> str:
    """That a peer has ended the run, and because of whom, where it names somebody else."""
    because = f" and names {named}" if named in parties and named != by else ""
    return f"{by}: has ended the run{because}; nothing is published"


def cause(why: str, parties: Sequence[str]) -> str:
    """The party that is the cause, where one is named.

    Who has only heard that a run is over names whom it was told, and not the messenger.
    """
    told = ENDED.match(why)
    name = (told["named"] or told["by"]) if told else why.partition(":")[0]
    return name if name in parties else ""
