"""That a party has ended a run, and because of whom: said to peers, heard from them, and handed on."""

from __future__ import annotations

import re
from collections.abc import Sequence

RUN, QUESTION = "has ended the run", "could not answer"
ENDED = re.compile(rf"(?P<by>[^:]+): (?:{RUN}|{QUESTION})(?: and names (?P<named>[^;]+))?;")
PUBLISHED = re.compile("nothing (?:is|was) published")


def has_ended(parties: Sequence[str], by: str, named: object) -> str:
    """That a peer has ended the run, and because of whom, where it names somebody else."""
    because = f" and names {named}" if named in parties and named != by else ""
    return f"{by}: {RUN}{because}; nothing is published"


def of_question(why: str) -> str:
    """The same of a question, of which nothing is ever published."""
    said = PUBLISHED.sub("the question failed", why.replace(RUN, QUESTION))
    return f"{said}; ask again, or its steward" if ENDED.match(why) else said


def cause(why: str, parties: Sequence[str]) -> str:
    """The party that is the cause, where one is named.

    Who has only heard that a run is over names whom it was told, and not the messenger.
    """
    told = ENDED.match(why)
    name = (told["named"] or told["by"]) if told else why.partition(":")[0]
    return name if name in parties else ""
