"""What a node notes of its runs: on disk before anybody hears of them, and read again when it is started.

A run that has failed may have shown something all the same, so how far it came is noted before it goes there:
that its result is opened among the parties, what came out, and that our signature under it goes out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from privet.errors import InputError
from privet.evidence import folder as ev
from privet.node.ending import cause, of_question
from privet.node.house import House
from privet.placing import aside, system
from privet.roads.parties.concluding import PERHAPS
from privet.roads.parties.results import NOTE

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
RUN, QUERY = "run", "query"  # a contract is run; its virtual database is asked
NOTHING = "nothing was published"
STOPPED = f"the node was stopped in the middle; {NOTHING}; run it again"
UNTRUE = {NOTHING, "nothing is published", "run it again", ""}  # once our signature is out


@dataclass(frozen=True)
class Noted:
    """A run as it stands in the notes: no data, and nothing about any."""

    contract: str  # its digest
    parties: tuple[str, ...]
    state: str = WAITING
    session: str = ""
    why: str = ""  # it has failed
    begun: str = ""
    release: str = ""  # the folder's name under releases/
    kind: str = RUN
    asker: str = ""  # of a question, who asks; at the node that was asked
    rows: str = ""  # what the node knows the rows by again that went in
    marks: Mapping[str, str] = field(default_factory=dict)  # by party, what each told of its own
    opened: bool = False  # parties may have seen something of the rows: its search has begun
    paid: bool = False  # what was seen of the rows after who is there stands in our ledger
    result: str = ""  # the digest of what was opened; noise makes another each time, and has none
    signed: bool = False  # our signature may be out

    def to_document(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def left(self) -> bool:
        """Has something left under it, or perhaps: another party may hold what this one was about to."""
        return bool(self.release) or self.signed

    @property
    def seen(self) -> bool:
        """Has anybody seen its result, or perhaps? Before it is signed only parties have."""
        return self.left or self.opened

    @property
    def named(self) -> str:
        """The party that is the cause, where one is named."""
        return cause(self.why, self.parties)

    def failed(self, why: str) -> Noted:
        """It has not come to its end here; once our signature is out another party's may hold the result."""
        if self.signed:
            said = why.replace(PERHAPS, "").split("; ")  # it need not be said twice
            why = "; ".join([*(one for one in said if one not in UNTRUE), PERHAPS])
        elif self.kind == QUERY:
            why = of_question(why)
        return replace(self, state=FAILED, why=why)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def write(house: House, noted: Noted) -> None:
    """It is on the disk when this is over: what is done next must not be forgotten."""
    place = house.runs / f"{noted.session}.json"
    fresh = place.with_name(f".{place.name}.new")
    fresh.write_text(json.dumps(noted.to_document(), indent=1) + "\n", encoding="utf-8")
    system.on_disk(fresh)
    fresh.replace(place)
    system.on_disk(place.parent)


def recovered(house: House) -> list[Noted]:
    """The notes of earlier runs; of one that was stopped, what was ready arrives and the rest has failed."""
    found = []
    for path in sorted(house.runs.glob("*.json")):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            noted = Noted(**{**said, "parties": tuple(said["parties"])})
        except (OSError, ValueError, TypeError, KeyError):
            raise InputError(
                f"{path}: these notes are damaged; move them away to go on without them"
            ) from None
        if noted.state not in {DONE, FAILED}:
            folder = house.releases / noted.session
            with aside(folder):
                pass  # finishes what was ready, removes what was not
            there = noted.kind == RUN and any((folder / name).is_file() for name in (ev.FILE, NOTE))
            done = replace(noted, state=DONE, release=folder.name)
            noted = done if there else noted.failed(STOPPED)
            write(house, noted)
        found.append(noted)
    return found
