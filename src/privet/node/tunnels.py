"""A node's way through a relay: it calls out, and is called, without a port of its own.

The node listens on a socket file in its own folder, `sockets/NAME.sock`; for every peer that is reached
through the relay there is such a file too, on which this module listens. Whoever connects there is carried to
the relay in pieces; what the relay has for this node is carried to its own socket file. What passes is TLS
between the two nodes: neither this module nor the relay can read it.

Trust: see `relay`.
Leaks: to whoever runs the relay, which nodes talk, when and how much.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from privet.disclose.audit.lines import say
from privet.errors import InputError, PartyError
from privet.node.calling import Caller, UnreachableError, socket_of
from privet.node.house import House, Peer

PIECE = 256 << 10  # bytes of one request
AGAIN = 0.1  # seconds between two attempts
HOPE = 10.0  # seconds for which the relay may be out of reach within a connection
LONGEST = 100  # bytes of a socket file's name: systems take 104 or more


def bound(path: Path) -> socket.socket:
    """A socket file that listens; for its owner alone."""
    if len(str(path.absolute()).encode()) > LONGEST:
        raise InputError(f"{path}: the folder's name is too long for a socket file; {LONGEST} bytes at most")
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    found.bind(str(path.absolute()))
    path.chmod(0o600)
    found.listen(64)
    return found


def ways(house: House) -> list[Tunnels]:
    """Through every relay that this node or one of its peers is reached by."""
    peers = house.peers()
    names = {house.relay, *(peer.relay for peer in peers.values())} - {None}
    own = house.relayed()  # says what is wrong with it
    others = [peers[name] for name in sorted(filter(None, names)) if name in peers and name != house.relay]
    return [Tunnels(house, relay) for relay in ([] if own is None else [own]) + others]


class Tunnels:
    """What a node that uses a relay keeps running beside its service."""

    def __init__(self, house: House, relay: Peer) -> None:
        self._house, self._relay = house, relay
        self._listening: dict[str, socket.socket] = {}

    def start(self) -> None:
        threading.Thread(target=self._answer, daemon=True, name="relay calls").start()

    def refresh(self) -> None:
        """A socket file for every peer that is reached through the relay, also for new ones."""
        for name, peer in self._house.peers().items():
            if peer.relay == self._relay.name and name not in self._listening:
                self._listening[name] = bound(socket_of(self._house.folder, name))
                threading.Thread(
                    target=self._listen, args=(name,), daemon=True, name=f"relay to {name}"
                ).start()

    def _listen(self, name: str) -> None:
        """Whoever connects to a peer's socket file is carried to that peer."""
        while True:
            connection, _ = self._listening[name].accept()
            threading.Thread(target=self._out, args=(name, connection), daemon=True).start()

    def _out(self, name: str, connection: socket.socket) -> None:
        relay = self._caller()
        try:
            status, said = relay.call("POST", f"/v1/calls/{name}")
            tunnel = said.get("tunnel")
        except PartyError:
            status, tunnel = 0, None
        finally:
            relay.close()
        if status == 200 and isinstance(tunnel, str):
            self._carry(tunnel, connection)
        else:
            connection.close()  # not there: to whoever calls, as if nobody answered

    def _answer(self) -> None:
        """Ask for calls, one after the other, as long as the node runs."""
        relay, heard = self._caller(), True
        while True:
            try:
                status, said = relay.call("GET", "/v1/calls")
                heard = True
            except PartyError as error:
                if heard:
                    say("relay out of reach", why=str(error))
                heard = False
                sleep(AGAIN * 5)
                continue
            if status == 200 and isinstance(tunnel := said.get("tunnel"), str):
                self._taken(tunnel)
            elif status != 204:
                sleep(AGAIN * 5)

    def _taken(self, tunnel: str) -> None:
        own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            own.connect(str(socket_of(self._house.folder, self._house.name).absolute()))
        except OSError:
            own.close()
            return
        self._carry(tunnel, own)

    def _carry(self, tunnel: str, connection: socket.socket) -> None:
        over = threading.Event()  # one way has ended, and so the other does
        for way in (self._up, self._down):
            threading.Thread(target=way, args=(tunnel, connection, over), daemon=True).start()

    def _up(self, tunnel: str, connection: socket.socket, over: threading.Event) -> None:
        """What comes out of the connection goes to the relay."""
        relay, number = self._caller(), 0
        with suppress(OSError, PartyError):
            while piece := connection.recv(PIECE):
                if self._told(relay, f"/v1/tunnels/{tunnel}/{number}", piece) != 200:
                    break
                number += 1
        with suppress(PartyError):
            relay.call("DELETE", f"/v1/tunnels/{tunnel}")
        over.set()
        relay.close()
        _shut(connection)

    def _told(self, relay: Caller, path: str, piece: bytes) -> int:
        """Until it is acknowledged or there is no hope: one that is full has as long as a party has."""
        since = monotonic()
        while True:
            try:
                status, _ = relay.call("PUT", path, body=piece)
            except UnreachableError:
                if monotonic() - since > HOPE:
                    raise
                status = 429
            if status != 429 or monotonic() - since > self._house.patience:
                return status
            sleep(AGAIN)

    def _down(self, tunnel: str, connection: socket.socket, over: threading.Event) -> None:
        """What the relay has for this end goes into the connection."""
        relay, number, since = self._caller(), 0, monotonic()
        with suppress(OSError, PartyError):
            while not over.is_set():
                try:
                    status, piece = relay.piece(f"/v1/tunnels/{tunnel}/{number}", PIECE)
                    since = monotonic()
                except UnreachableError:
                    if monotonic() - since > HOPE:
                        break
                    sleep(AGAIN)
                    continue
                if status == 200:
                    connection.sendall(piece)
                    number += 1
                elif status != 204:
                    break
        relay.close()
        _shut(connection)

    def _caller(self) -> Caller:
        return Caller(self._house.folder, self._relay, speaks=None)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
