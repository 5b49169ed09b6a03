"""What a node notes of its runs: on disk before anybody hears of them, and read again when it is started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from privet.errors import InputError
from privet.evidence import folder as ev
from privet.node.house import House
from privet.placing import aside
from privet.roads.parties.concluding import PERHAPS
from privet.roads.parties.results import NOTE

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
RUN, QUERY = "run", "query"  # a contract is run; its virtual database is asked
STOPPED = "the node was stopped in the middle; nothing was published here; run it again"


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

    def to_document(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def left(self) -> bool:
        """Has something left under it, or perhaps: another party may hold what this one was about to."""
        return bool(self.release) or PERHAPS in self.why

    @property
    def named(self) -> str:
        """The party that is the cause, where one is named."""
        name = self.why.partition(":")[0]
        return name if name in self.parties else ""


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def write(house: House, noted: Noted) -> None:
    place = house.runs / f"{noted.session}.json"
    fresh = place.with_name(f".{place.name}.new")
    fresh.write_text(json.dumps(noted.to_document(), indent=1) + "\n", encoding="utf-8")
    fresh.replace(place)


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
            noted = replace(
                noted,
                state=DONE if there else FAILED,
                why="" if there else STOPPED,
                release=folder.name if there else "",
            )
            write(house, noted)
        found.append(noted)
    return found
