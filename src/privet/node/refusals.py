"""A node that refuses its own steward's rows: whoever waits for it to start is told, and does not wait.

Stewards start a contract at about the same time, not at the same moment: a refusal is remembered for a few
seconds, for whoever starts just after it, unless it is taken back: its steward has corrected it, or said
`--again`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic

from privet.errors import PartyError
from privet.node.calling import Caller
from privet.node.house import House, Peer
from privet.parties.agreements import Signed

JUST_NOW = 10.0  # seconds for which a refusal is remembered
MANY = 1000  # that are remembered
REFUSED = "its own node refuses to start this contract, and has told its steward why"


class Refusals:
    """What this node refuses, told to others; and what others do, heard."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._heard: dict[tuple[str, str], float] = {}  # by contract and party, when
        self._told: set[str] = set()  # contracts that this node has refused
        self._lock = threading.Lock()

    def tell(self, contract: Signed) -> None:
        """To all parties of a contract, whoever can be reached; nobody is waited for."""
        with self._lock:
            self._told.add(contract.digest.hex())
        self._said("POST", contract)

    def take_back(self, contract: Signed) -> None:
        """It is started after all: the others have heard so before they are asked to join."""
        with self._lock:
            if contract.digest.hex() not in self._told:
                return
            self._told.discard(contract.digest.hex())
        for thread in self._said("DELETE", contract):
            thread.join(self._house.grace)

    def _said(self, method: str, contract: Signed) -> list[threading.Thread]:
        peers, where = self._house.peers(), f"/v1/contracts/{contract.digest.hex()}/refusal"

        def say(peer: Peer) -> None:
            with suppress(PartyError), Caller(self._house.folder, peer, self._house.grace) as caller:
                caller.call(method, where)

        others = [peers[name] for name in contract.parties if name != self._house.name]
        threads = [threading.Thread(target=say, args=(peer,), daemon=True) for peer in others]
        for thread in threads:
            thread.start()
        return threads

    def heard(self, digest: str, by: str) -> None:
        """A party does not start a contract."""
        with self._lock:
            late = monotonic() - JUST_NOW
            self._heard = {one: at for one, at in self._heard.items() if at > late}
            if len(self._heard) < MANY:
                self._heard[digest, by] = monotonic()

    def forgotten(self, digest: str, by: str) -> None:
        """It does, after all."""
        with self._lock:
            self._heard.pop((digest, by), None)

    def just_now(self, digest: str, parties: Iterable[str]) -> str | None:
        """Which of these parties has refused a contract, where one has."""
        late = monotonic() - JUST_NOW
        with self._lock:
            return next((one for one in parties if self._heard.get((digest, one), late) > late), None)
