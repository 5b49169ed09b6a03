"""What a node runs: one run of a contract at a time, noted on disk before anybody hears of it.

    waiting ──► running ──► done
         └─────────┴──────► failed

A steward starts a run of a contract that all parties have signed. The first party of the contract draws the
session and asks the others to join; whoever's steward has started the same contract joins. A session that was
ever known is never begun again. A node that was stopped in the middle finds its notes when it is started:
what was signed by all and not yet in its place arrives, everything else has failed, and nothing is half done.
How a run is carried out, `running` says.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.core import Purse
from privet.disclose.audit.lines import say
from privet.errors import InputError, PartyError, PrivetError
from privet.node import again as before
from privet.node.agreed import refuse_unsigned, refuse_unsigned_rows
from privet.node.ending import has_ended
from privet.node.house import House, purse_of
from privet.node.notes import FAILED, QUERY, RUN, RUNNING, WAITING, Noted, now, recovered, write
from privet.node.questions import Asked, PartGoneError, forget
from privet.node.refusals import REFUSED, Refusals
from privet.node.running import Live, Runner
from privet.node.source import content, mark, opened, values
from privet.node.wires import Nodes
from privet.parties import agreements, rows
from privet.parties.agreements import Signed
from privet.parties.contract import Contract
from privet.parties.rows import Rows
from privet.parties.signing import bound
from privet.parties.transport import OtherSpeechError

QUESTIONS = 16  # that are answered at the same time
NOTES = "the node cannot write to its own folder: is the disk full? Nothing was begun"
AT_ONCE = 1.0  # seconds in which a run ends that its steward has ended
RUNNING_ALREADY = "this contract is running already; `privet joint status` says how far it is"


class Runs:
    """Every run of a node, by session; at most one that is not over for a contract."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.key = house.key()
        self._lock = threading.Lock()
        self._live: dict[str, Live] = {}  # by the contract's digest
        self._over: dict[str, Noted] = {}  # by session
        self.refusals = Refusals(house)
        self.runner = Runner(house, self.key, self.refusals, self._close)
        forget(house)
        for noted in recovered(house):
            self._over[noted.session] = noted

    def every(self) -> list[Noted]:
        with self._lock:
            return [*self._over.values(), *(live.noted for live in self._live.values())]

    def start(
        self,
        path: Path,
        source: str | None,
        query: str | None,
        ledger: tuple[str | None, str | None] = (None, None),
        *,
        again: bool = False,
    ) -> Noted:
        """A steward starts a contract; refuses one that not everybody has signed.

        `ledger`: a file and a data set in it, where the contract spends; else as node.toml says. `again`:
        also where the same rows were published already, or others under this contract.
        """
        contract = agreements.load(path)
        refuse_unsigned(contract, path, self.house, self.key.public)
        digest = contract.digest.hex()
        with self._lock:
            if digest in self._live:
                raise InputError(RUNNING_ALREADY)
        live = self._prepared(contract, path, source, query, ledger, again=again)
        with self._lock:
            if digest in self._live:
                raise InputError(RUNNING_ALREADY)
            self._live[digest] = live
        say("run started", contract=digest[:16])
        self.refusals.take_back(contract)
        if live.leads == self.house.name:
            if not self._begin(live, secrets.token_bytes(16)):
                raise InputError(NOTES)
        elif gone := self.refusals.just_now(digest, contract.parties):
            self._go_without(digest, gone)
        else:
            late = threading.Timer(self.house.patience, self._expire, [live])
            late.daemon = True
            late.start()
        return live.noted

    def _prepared(
        self,
        contract: Signed,
        path: Path,
        source: str | None,
        query: str | None,
        ledger: tuple[str | None, str | None],
        *,
        again: bool,
    ) -> Live:
        """A run that may begin; or why its own node refuses it."""
        data = self._opened_source(contract, source, query)
        digest = content(data)
        of_rows = values(data, agreements.form(contract))
        if content(data) != digest:
            raise InputError("the data are being changed just now; start it again when they are not")
        known = mark(of_rows, self.house.secret())
        told = rows.mark(self.key, contract, of_rows)
        signed_for = bound(contract, path)
        try:
            refuse_unsigned_rows(signed_for.get(self.house.name), told.hex())
            if not again:
                self._refuse_second(contract, known, told.hex())
        except InputError:  # this needs the steward to think
            self.refusals.tell(contract)
            raise
        seen = [] if again else self._seen(contract)
        return Live(
            Noted(contract.digest.hex(), contract.parties, begun=now(), rows=known),
            contract,
            contract.parties[0],
            data,
            digest,
            Rows(told, signed_for, tuple(one.marks for one in seen)),
            frozenset(one.result for one in seen if one.result),
            purse=self._purse(contract, *ledger),
        )

    def _opened_source(self, contract: Signed, source: str | None, query: str | None) -> Any:
        """The rows; a name that was mistyped is typed again, what stands in node.toml has to be mended."""
        if source is not None:
            return opened(source, query)
        if self.house.source is None:
            raise InputError("which data? say --data, or [data] source in node.toml")
        try:
            return opened(self.house.source, query or self.house.query)
        except PrivetError:
            self.refusals.tell(contract)
            raise

    def refused(self, digest: str, by: str) -> None:
        """A party's own node does not start a contract: whoever waits for it is told."""
        self.refusals.heard(digest, by)
        self._go_without(digest, by)

    def _go_without(self, digest: str, by: str) -> None:
        """End what waits for a party that does not start."""
        with self._lock:
            live = self._live.get(digest)
        if live is None or by not in live.contract.parties:
            return
        why = f"{by}: {REFUSED}; nothing is published"
        live.ended.set()
        with live.lock:
            if live.wires is not None:
                live.wires.end(why)
            elif live.noted.state == WAITING:
                self._close(live, replace(live.noted, state=FAILED, why=why))

    def _seen(self, contract: Signed) -> list[Noted]:
        with self._lock:
            return before.seen(contract, list(self._over.values()))

    def _refuse_second(self, contract: Signed, known: str, told: str) -> None:
        """Two tables of the same persons can be put together; noise is paid for instead, in a ledger."""
        with self._lock:
            over = list(self._over.values())
        before.refuse_second(contract, over, self.house.name, known, told)

    def _purse(self, contract: Signed, file: str | None, dataset: str | None) -> Purse | None:
        """What pays; a contract that spends is not started without."""
        if not isinstance(contract, Contract) or contract.noisy is None:
            if file is not None:
                raise InputError("--ledger: this contract spends nothing; only diffgen does")
            return None
        given = purse_of(self.house.folder, file, dataset) if file and dataset else self.house.purse
        if given is None:
            raise InputError(
                "which ledger pays? say --ledger and --dataset, or [ledger] file and dataset in node.toml"
            )
        return given

    def _expire(self, live: Live) -> None:
        """The party that leads has not begun in time."""
        with live.lock:
            if live.noted.state == WAITING:
                why = f"{live.leads}: has not begun in {self.house.patience:g} seconds"
                self._close(live, replace(live.noted, state=FAILED, why=f"{why}; nothing is published"))

    def ask(self, digest: str, said: Any, asker: str) -> Noted:
        """Somebody asks the virtual database of a contract, through this node."""
        with self._lock:
            made = [one for one in self._over.values() if one.contract == digest and one.release]
        if not made:
            raise InputError(
                "this node has no virtual database of this contract; `privet joint run` makes one"
            )
        latest = max(made, key=lambda one: one.begun)
        try:
            asked = Asked.read(self.house, latest.session, latest.release, said)
        except PartGoneError as error:  # whoever asks may be a researcher: whose part?
            raise PartyError(*error.complaints).by(self.house.name) from None
        asked.refuse(asker, self.house.name)
        session = secrets.token_bytes(16)
        noted = Noted(digest, latest.parties, begun=now(), kind=QUERY, asker=asker)
        live = Live(noted, asked.contract, self.house.name, None, question=asked)
        if (status := self._admitted(live, session)) != 200:
            raise InputError(NOTES if status == 507 else "too many questions are answered; ask again later")
        return live.noted

    def _joined_question(self, session: bytes, digest: str, leader: str, said: Mapping[str, Any]) -> int:
        """A site asks this one to take part in an answer; the contract that all signed says that it does."""
        with self._lock:
            made = self._over.get(str(said.get("database")))
        if made is None or made.contract != digest or not made.release or leader not in made.parties:
            return 412
        try:
            asked = Asked.read(self.house, made.session, made.release, said.get("question"))
        except PartGoneError as error:
            say("question refused", level=logging.WARNING, peer=leader, why=str(error))
            return 424
        except PrivetError:
            return 400
        noted = Noted(digest, made.parties, begun=now(), kind=QUERY)
        live = Live(noted, asked.contract, leader, None, question=asked)
        return self._admitted(live, session)

    def _admitted(self, live: Live, session: bytes) -> int:
        """Begin to answer, unless too many questions are under way; an HTTP status.

        Every site may lead its share of them: one that leads without end keeps no other from being answered.
        """
        with self._lock:
            under_way = [one for one in self._live.values() if one.question is not None]
            led = sum(one.leads == live.leads for one in under_way)
            if len(under_way) >= QUESTIONS or led >= max(1, QUESTIONS // len(live.noted.parties)):
                return 429
            self._live[session.hex()] = live
        with live.lock:
            return 200 if self._begin(live, session) else 507

    def join(self, session: bytes, digest: str, leader: str, said: Mapping[str, Any] | None = None) -> int:
        """The leader asks this node to join; an HTTP status says whether it does."""
        with self._lock:
            live = self._live.get(digest)
            known = session.hex() in self._over
            answering = session.hex() in self._live
        if known:
            return 410
        if said is not None:
            return 200 if answering else self._joined_question(session, digest, leader, said)
        if live is None:
            return 404  # its steward has not started it, or another contract
        if live.leads != leader:
            return 403
        with live.lock:
            if live.noted.state == WAITING and not self._begin(live, session):
                return 507
            return 200 if live.noted.session == session.hex() else 409

    def found(self, session: str) -> Live | Noted | None:
        """A run by its session."""
        with self._lock:
            for live in self._live.values():
                if live.noted.session == session:
                    return live
            return self._over.get(session)

    def end(self, session: str, by: str, named: object = None) -> None:
        """A peer has ended the run, perhaps because of somebody whom it names."""
        live = self.found(session)
        if isinstance(live, Live) and live.wires is not None:
            live.wires.end(has_ended(live.noted.parties, by, named))
            live.ended.set()

    def refuse_speech(self, by: str, theirs: int) -> None:
        """A peer speaks another version of the protocol: what waits for it to lead waits in vain."""
        with self._lock:
            waiting = [live for live in self._live.values() if live.leads == by]
        for live in waiting:
            with live.lock:
                if live.noted.state == WAITING:
                    why = f"{OtherSpeechError(by, theirs)}; nothing is published"
                    self._close(live, replace(live.noted, state=FAILED, why=why))

    def give_up(self, digest: str) -> bool:
        """The steward ends a run."""
        with self._lock:
            live = self._live.get(digest)
        if live is None:
            return False
        live.ended.set()
        why = f"{self.house.name}: ended by our own steward; nothing is published"
        with live.lock:
            if live.wires is not None:
                live.wires.end(why)
            elif live.noted.state == WAITING:
                self._close(live, replace(live.noted, state=FAILED, why="ended by our own steward"))
        if live.wires is not None and not live.over.wait(AT_ONCE):
            self._abandon(live, live.wires, why)
        return True

    def _abandon(self, live: Live, wires: Nodes, why: str) -> None:
        """Its thread still waits for the answer of a slow peer: that keeps nobody from starting the next.

        Where our signature may be out it is waited for all the same: a release may come of it.
        """
        telling = threading.Thread(target=wires.stop, args=(self.house.name,), daemon=True)
        telling.start()
        telling.join(AT_ONCE)  # whoever does answer knows it before it is asked to join the next
        with live.lock:
            if not live.noted.signed and live.question is None:
                self._close(live, live.noted.failed(why))

    def _begin(self, live: Live, session: bytes) -> bool:
        """Note it, then run it; what cannot be noted is not begun."""
        live.noted = replace(live.noted, state=RUNNING, session=session.hex())
        try:
            write(self.house, live.noted)
        except OSError:
            self._close(live, replace(live.noted, state=FAILED, why=NOTES))
            return False
        self.runner.begin(live, session)
        return True

    def _close(self, live: Live, found: Noted) -> None:
        """Note how it ended; whoever hears that it is over can begin the next."""
        with self._lock:
            if live.closing:
                return
            live.closing = True
        if found.session:
            try:
                write(self.house, found)
            except OSError:  # when it is started again it finds what it noted before
                say("cannot note how a run ended", level=logging.WARNING, session=found.session)
        with self._lock:
            live.noted = found
            self._live.pop(found.contract if found.kind == RUN else found.session, None)
            self._over[found.session or secrets.token_hex(4)] = found  # one that nobody joined has no session
        live.over.set()
        say("run ended", session=found.session, state=found.state, why=found.why)
