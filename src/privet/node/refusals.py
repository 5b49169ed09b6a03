"""A node that refuses its own steward's rows: whoever waits for it to start is told, and does not wait.

Stewards start a contract at about the same time, not at the same moment: a refusal is remembered for a few
seconds, for whoever starts just after it. Corrected by then, it is started again by all.
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
        self._lock = threading.Lock()

    def tell(self, contract: Signed) -> None:
        """To all parties of a contract, whoever can be reached; nobody is waited for."""
        peers = self._house.peers()

        def tell(peer: Peer) -> None:
            with suppress(PartyError), Caller(self._house.folder, peer, self._house.grace) as caller:
                caller.call("POST", f"/v1/contracts/{contract.digest.hex()}/refusal")

        for name in contract.parties:
            if name != self._house.name:
                threading.Thread(target=tell, args=(peers[name],), daemon=True).start()

    def heard(self, digest: str, by: str) -> None:
        """A party does not start a contract."""
        with self._lock:
            late = monotonic() - JUST_NOW
            self._heard = {one: at for one, at in self._heard.items() if at > late}
            if len(self._heard) < MANY:
                self._heard[digest, by] = monotonic()

    def just_now(self, digest: str, parties: Iterable[str]) -> str | None:
        """Which of these parties has refused a contract, where one has."""
        late = monotonic() - JUST_NOW
        with self._lock:
            return next((one for one in parties if self._heard.get((digest, one), late) > late), None)
