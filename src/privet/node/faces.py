"""Whose certificate a caller has shown: a peer's, this node's own, or nobody's."""

from __future__ import annotations

from typing import Any

from privet.errors import InputError
from privet.node import certificates
from privet.node.house import House, Peer

REMEMBERED = 1000  # certificates


class Faces:
    """Everybody whom a house knows; asked for every request, so what was found once is remembered."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._known: dict[bytes, str | None] = {}

    def who(self, request: Any) -> str | None:
        """The name of the caller; this node's own certificate is its steward's."""
        shown = getattr(request.state.visitor, "certificate", None)
        if shown is None:
            return None
        mark = certificates.digest(shown)
        if mark not in self._known:
            if len(self._known) > REMEMBERED:
                self.forget()
            # The very one: an authority may issue to others, too.
            own = shown == self._own()
            peers: dict[str, Peer] = self._house.peers()
            addresses = {name: (peer.authority, peer.url) for name, peer in peers.items()}
            self._known[mark] = self._house.name if own else certificates.whose(shown, addresses)
        return self._known[mark]

    def told(self, request: Any) -> dict[str, str]:
        """Who it was, for a log: a name, or where nobody knows the certificate an address."""
        name = self.who(request)
        where = getattr(request.state.visitor, "address", "")
        return {"peer": name} if name is not None else {"address": str(where)}

    def _own(self) -> bytes | None:
        """This node's certificate; one that has run out since, or is gone, is nobody's."""
        try:
            return certificates.own(self._house.folder)
        except InputError:
            return None

    def forget(self) -> None:
        """Peers or certificates may be others now."""
        self._known.clear()
