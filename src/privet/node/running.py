"""One run of a node, in a thread of its own: from asking who joins to how it ended.

Whatever a restart has to know is on disk before it is done (`notes`), and however a run ends, the others are
told. Which runs there are, and who may begin and end them, is for `runs` to say.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import Any

from privet.core import Purse
from privet.disclose.audit.lines import say
from privet.errors import PartyError, PrivetError
from privet.evidence.signing import PrivateKey
from privet.node import again, certificates
from privet.node.calling import Caller, UnreachableError
from privet.node.house import House
from privet.node.jobs import Job
from privet.node.notes import DONE, FAILED, NOTHING, Noted, write
from privet.node.questions import Asked, Memories
from privet.node.refusals import REFUSED, Refusals
from privet.node.source import content, mark
from privet.node.wires import Nodes
from privet.parties.agreements import Signed
from privet.parties.rows import UNTOLD, Rows
from privet.parties.transport import Link, Session
from privet.registry import find

KNOCK = 0.5  # seconds between two questions whether a peer has begun
CHANGED = "the data were changed after the run was started; nothing is published; start it again"
FAULT = f"a fault in privet; {NOTHING}; the log has its kind"
JOINS = {
    403: "does not take us for the party that leads this contract",
    409: "is in another run of this contract",
    400: "does not take this for a question to the virtual database",
    410: "has ended this run already",
    412: "does not have this virtual database",
    424: "its part of the virtual database is gone or damaged, and its own log says so",
    429: "is answering too many questions; ask again later",
    507: "cannot write to its own folder; is its disk full?",
}


@dataclass
class Live:
    """A run that is not over."""

    noted: Noted
    contract: Signed
    leads: str  # the party that draws the session and asks the others to join
    source: Any = field(repr=False)
    content: bytes = field(default=b"", repr=False)  # the digest of what the source had when it was started
    rows: Rows = UNTOLD
    earlier: frozenset[str] = frozenset()  # results of runs of this contract that this one has to repeat
    question: Asked | None = None
    purse: Purse | None = None  # what pays, where the contract spends
    wires: Nodes | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    ended: threading.Event = field(default_factory=threading.Event)  # the steward or a peer has ended it
    closing: bool = False  # how it ended is said, once
    over: threading.Event = field(default_factory=threading.Event)  # and is known: the next may begin


class Runner:
    """What carries a node's runs out; several may be under way."""

    def __init__(
        self, house: House, key: PrivateKey, refusals: Refusals, over: Callable[[Live, Noted], None]
    ) -> None:
        """`over`: is told of every run how it ended."""
        self._house, self._key, self._refusals, self._over = house, key, refusals, over
        self._memories = Memories(house)

    def begin(self, live: Live, session: bytes) -> None:
        """It is noted, and runs from now on."""
        peers = self._house.peers()
        callers = {
            name: Caller(self._house.folder, peers[name])
            for name in live.contract.parties
            if name != self._house.name
        }
        live.wires = Nodes(
            live.contract.parties,
            live.contract.parties.index(self._house.name),
            callers,
            session=session,
            contract=live.contract.digest,
            patience=self._house.patience,
            grace=self._house.grace,
        )
        threading.Thread(
            target=self._run, args=(live, live.wires, session, callers), daemon=True, name="run"
        ).start()

    def _run(self, live: Live, wires: Nodes, session: bytes, callers: Mapping[str, Caller]) -> None:
        contract, noted = live.contract, live.noted
        me = contract.parties.index(self._house.name)
        try:
            shown = certificates.digest(certificates.own(self._house.folder))
            if live.leads == self._house.name:
                self.gather(live, session, callers)
            link = Link(Session(session, contract.digest, contract.parties), me, wires)
            if live.question is not None:
                memory = self._memories.of(live.question)
                live.question.answered(link, shown, noted.session if noted.asker else None, memory)
                found = replace(noted, state=DONE)
            else:
                self._carry_out(live, link, shown)
                found = replace(live.noted, state=DONE, release=noted.session)
            wires.close()
        except PrivetError as error:
            found = live.noted.failed("; ".join(error.complaints))
        except OSError as error:  # a disk that is full, or taken away
            why = os.strerror(error.errno) if error.errno else "it cannot be written"
            found = live.noted.failed(f"{self._house.name}: the node's folder: {why}; {NOTHING}")
        except Exception as error:  # noqa: BLE001 - its own words may quote data: only its kind is logged
            say("fault", kind=type(error).__name__, session=noted.session)
            found = live.noted.failed(FAULT)
        if found.state == FAILED:
            wires.stop(named=found.named)
        self._over(live, found)
        for caller in callers.values():
            caller.close()

    def gather(self, live: Live, session: bytes, callers: Mapping[str, Caller]) -> None:
        """Ask every party to join, until its steward has started the contract too."""
        asked = live.question
        began = monotonic()
        until = began + (self._house.patience if asked is None else self._house.grace)
        body = {"contract": live.noted.contract, **({} if asked is None else {"asked": asked.body()})}
        for name, caller in callers.items():
            while True:
                try:
                    left = began + self._house.patience - monotonic()
                    status, _ = caller.call(
                        "POST", f"/v1/sessions/{session.hex()}", document=body, seconds=left
                    )
                except UnreachableError as error:
                    status, why = 0, str(error)
                else:
                    why = f"{name}: its steward has not started this contract"
                if status == 200:
                    break
                # Whoever has refused: it may not be this one's turn to be asked for a long while.
                if status == 404 and (gone := self._refusals.just_now(live.noted.contract, callers)):
                    raise PartyError(f"{gone}: {REFUSED}; nothing is published")
                if status not in {0, 404}:
                    raise PartyError(f"{name}: {JOINS.get(status, 'refuses this run')}")
                if monotonic() > until:
                    raise PartyError(f"{why}; nothing is published")
                if live.ended.wait(KNOCK):
                    said = None if live.wires is None else live.wires.ended
                    raise PartyError(said or "ended before it began; nothing is published")

    def _carry_out(self, live: Live, link: Link, shown: bytes) -> None:
        """What the contract says, with the others; the result stands in the folder of this run."""
        self.refuse_changed(live)
        told = replace(
            live.rows,
            remember=lambda marks: self._note(live, marks=marks),
            opening=lambda: self._note(live, opened=True),
            paid=lambda: self._note(live, paid=True),
            opened=partial(self.opened, live),
        )
        job = Job(
            live.contract,
            live.source,
            find("engines", "embedded")(),
            shown,
            self._key,
            live.purse,
            told,
            before=lambda: self.refuse_changed(live),
            leaving=lambda: self._note(live, signed=True),
        )
        job.carried_out(link, self._house.releases / live.noted.session)

    def refuse_changed(self, live: Live) -> None:
        """Refuse a file that is not what it was when its steward started the run."""
        if content(live.source) != live.content:
            raise PartyError(f"{self._house.name}: {CHANGED}")

    def opened(self, live: Live, result: bytes) -> None:
        """Refuse what a change of anybody's rows has made, whatever mark it told of them."""
        digest = mark(sha256(result).digest(), self._house.secret())
        self._note(live, result=digest)
        if live.earlier - {digest}:
            raise PartyError(again.OTHER_RESULT)

    def _note(self, live: Live, **more: Any) -> None:
        """On disk before it is done: a run that is killed then has done it."""
        with live.lock:
            if live.closing:  # given up meanwhile: nothing more is told, opened or signed
                raise PartyError(live.noted.why)
            live.noted = replace(live.noted, **more)
            write(self._house, live.noted)
