"""Whose certificate a caller has shown: a peer's, this node's own, or nobody's; and who may connect at all.

Invitations are accepted, replaced and removed while a node serves. A request is answered by who is known at
that moment, on whichever connection it comes; handshakes follow within `FRESH` seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from privet.disclose.audit.lines import say
from privet.errors import InputError, PrivetError
from privet.node import certificates
from privet.node.house import House

REMEMBERED = 1000  # certificates
FRESH = 5.0  # seconds after which a new invitation is known


class Faces:
    """Everybody whom a house knows; asked for every request, so what was found once is remembered."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._known: dict[bytes, str | None] = {}
        self._state: object = None  # of the files that it was found in

    def who(self, request: Any) -> str | None:
        """The name of the caller; this node's own certificate is its steward's."""
        shown = getattr(request.state.visitor, "certificate", None)
        if shown is None:
            return None
        state = self._house.acquaintance()
        if state != self._state or len(self._known) > REMEMBERED:
            self._known, self._state = {}, state
        known, mark = self._known, certificates.digest(shown)
        if mark not in known:
            known[mark] = self._found(shown)
        return known[mark]

    def told(self, request: Any) -> dict[str, str]:
        """Who it was, for a log: a name, or where nobody knows the certificate an address."""
        name = self.who(request)
        where = getattr(request.state.visitor, "address", "")
        return {"peer": name} if name is not None else {"address": str(where)}

    def _found(self, shown: bytes) -> str | None:
        with suppress(InputError):  # ours has run out since, or is gone: then it is nobody's
            # The very one: an authority may issue to others, too.
            if shown == certificates.own(self._house.folder):
                return self._house.name
        try:
            peers = self._house.peers()
        except PrivetError:
            return None  # whom it knows cannot be read, so it knows nobody; `kept_fresh` says so
        return certificates.whose(shown, {name: (peer.authority, peer.url) for name, peer in peers.items()})

    def forget(self) -> None:
        """Certificates may have run out."""
        self._state = None


@contextmanager
def kept_fresh(
    house: House, door: Any, faces: Faces, *more: Callable[[], None]
) -> Iterator[Callable[[], None]]:
    """Whom a door lets in, now and as the folder changes; what is given looks at once.

    Always with a new context: one that is armed again still trusts whom it trusted before.
    """
    stopped, turn = threading.Event(), threading.Lock()

    def refresh() -> None:
        with turn:
            known = [one.authority for one in (house.me(), *house.peers().values())]
            door.tls = certificates.serving(house.folder, known)
            faces.forget()
            for one in more:
                one()

    def watch() -> None:
        while not stopped.wait(FRESH):
            try:
                refresh()
            except PrivetError as error:
                say("cannot read its folder", kind=error.code)
            except OSError:
                say("cannot read its folder", kind="system")

    refresh()
    threading.Thread(target=watch, daemon=True, name="refresh").start()
    try:
        yield refresh
    finally:
        stopped.set()
