"""How a node speaks to a peer, or its steward to the node: HTTPS with its own certificate, and nothing else.

Every answer is small and bounded but for the files of a release, and so is the time that a request takes as
a whole: who sends a byte now and then, or keeps the last ones, peer or relay, holds nobody. Nor does who goes
on sending: there is more time only for bytes that are due, of a file or a message.
Whatever goes wrong on the way is a `PartyError` that names the peer; what a peer answers is never repeated.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Self

from privet.errors import MissingExtraError, PartyError
from privet.node import certificates
from privet.node.house import Peer
from privet.parties.transport import SPEAKS, OtherSpeechError

try:
    import httpcore
    import httpx
    from httpcore._backends.sync import SyncStream
except ImportError:
    raise MissingExtraError("a node", "node") from None

SECONDS = 30.0  # for one request, beside what its bytes take
RATE = 10_000.0  # bytes in a second that have to come, and to go
RECORD = 1 << 14  # bytes that TLS sends at once
SOON = 0.001  # seconds; none at all would mean not to wait, which is something else
HEADER = "privet-speaks"  # the version of the protocol, in requests and in answers
SMALL = 1 << 16  # bytes of an answer that is no file and no list
LISTS = 1 << 20  # of one of our own node's, which lists all that was run, or all that is wrong


class UnreachableError(PartyError):
    """Nobody answers there, or not in this protocol."""


class Caller:
    """One peer, as this node calls it; a connection is kept and used again."""

    def __init__(
        self, folder: Path, peer: Peer, seconds: float = SECONDS, *, speaks: int | None = SPEAKS
    ) -> None:
        """`speaks`: the version that the other side has to speak too; None of a relay, which only carries."""
        self.peer = peer
        self._speaks, self._seconds, self._clock = speaks, seconds, _Clock()
        tls = certificates.connecting(folder, peer.authority)
        self._client = httpx.Client(
            base_url=peer.url,
            verify=tls,
            transport=_through(
                tls, None if peer.relay is None else socket_of(folder, peer.name), self._clock
            ),
            headers={} if speaks is None else {HEADER: str(speaks)},
            timeout=seconds,
            trust_env=False,  # a proxy of the surroundings is not asked
            follow_redirects=False,
        )

    def call(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        document: Any = None,
        headers: dict[str, str] | None = None,
        seconds: float = inf,
        most: int = SMALL,
    ) -> tuple[int, dict[str, Any]]:
        """A request, and what was answered: the status, and a small JSON document.

        `seconds`: that whoever asks has left for it, where that is less than a request may take anyway;
        `most`: bytes of the document, which take no time of their own.
        """
        self._begin(seconds, len(body or b""))
        status, said = self._answered(method, path, most, content=body, json=document, headers=headers)
        try:
            found = json.loads(said) if said else {}
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise PartyError(f"{self.peer.name}: answers something that is not of this protocol")
        return status, found

    def piece(self, path: str, most: int) -> tuple[int, bytes]:
        """A request for bytes, so many at most."""
        self._begin()
        return self._answered("GET", path, most, due=True)

    def _answered(
        self, method: str, path: str, most: int, *, due: bool = False, **more: Any
    ) -> tuple[int, bytes]:
        """The status, and what was answered; more than `most` bytes are not read.

        `due`: so many are waited for, and not only allowed.
        """
        try:
            with self._client.stream(method, path, **more) as answer:
                self._refuse_other(answer)
                found = b""
                for piece in self._pieces(answer) if due else answer.iter_bytes():
                    found += piece
                    if len(found) > most:
                        raise PartyError(f"{self.peer.name}: answers with more than is agreed")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(f"{self.peer.name}: {_why(error)}") from None
        return answer.status_code, found

    def file(self, path: str, into: Path, most: int) -> bool:
        """A file of a release; False where there is none."""
        self._begin()
        try:
            with self._client.stream("GET", path) as answer, into.open("wb") as file:
                self._refuse_other(answer)
                if answer.status_code != 200:
                    return False
                left = most
                for piece in self._pieces(answer):
                    left -= len(piece)
                    if left < 0:
                        raise PartyError(f"{self.peer.name}: sends more than {most:,} bytes of a file")
                    file.write(piece)
        except httpx.HTTPError as error:
            raise UnreachableError(f"{self.peer.name}: {_why(error)}") from None
        return True

    def _begin(self, seconds: float = inf, size: int = 0) -> None:
        """From now on a request has its time: for an answer, and for so many bytes."""
        self._clock.until = monotonic() + min(seconds, self._seconds) + size / RATE

    def _pieces(self, answer: httpx.Response) -> Iterator[bytes]:
        """What is due, which takes its time, too, but goes on coming."""
        for piece in answer.iter_bytes():
            self._clock.until += len(piece) / RATE
            yield piece

    def _refuse_other(self, answer: httpx.Response) -> None:
        theirs = version_of(answer.headers.get(HEADER))
        if self._speaks not in {None, theirs}:
            raise OtherSpeechError(self.peer.name, theirs)

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def version_of(said: str | None) -> int:
    """What a header says: 1 where there is none, as in the first version; 0 where it is no number."""
    if said is None:
        return 1
    return int(said) if said.isascii() and said.isdigit() and len(said) < 5 else 0


def socket_of(folder: Path, name: str) -> Path:
    """Where a node is reached without a port: a socket file in the folder of whoever calls it."""
    return folder / "sockets" / f"{name}.sock"


class _Clock(threading.local):
    """Until when the request has to be over that this thread is making; several threads use one caller."""

    until = inf

    def left(self, most: float | None) -> float:
        found = self.until - monotonic()
        return max(SOON, found if most is None else min(found, most))


class _Timed(SyncStream):
    """The library's own, which gives every single read its time, and not all of them together."""

    def __init__(self, sock: socket.socket, clock: _Clock) -> None:
        super().__init__(sock)
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return super().read(max_bytes, self._clock.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for at in range(0, len(buffer), RECORD):
            super().write(buffer[at : at + RECORD], self._clock.left(timeout))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        found = super().start_tls(ssl_context, server_hostname, self._clock.left(timeout))
        return _Timed(found.get_extra_info("socket"), self._clock)


class _Sockets(httpcore.SyncBackend):
    """The library's own, with streams that have their time together."""

    def __init__(self, clock: _Clock) -> None:
        self._clock = clock

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        left = self._clock.left(timeout)
        found = super().connect_tcp(host, port, left, local_address, socket_options)
        return _Timed(found.get_extra_info("socket"), self._clock)

    def connect_unix_socket(  # the library's leaves a socket open where it cannot connect to its file
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Any = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            found.settimeout(self._clock.left(timeout))
            found.connect(path)
        except OSError as error:
            found.close()
            raise httpcore.ConnectError(type(error).__name__) from None
        return _Timed(found, self._clock)


def _through(tls: ssl.SSLContext, place: Path | None, clock: _Clock) -> httpx.HTTPTransport:
    """TLS over a port or, where there is a place, a socket file."""
    found = httpx.HTTPTransport(verify=tls, trust_env=False)
    found.close()
    found._pool = httpcore.ConnectionPool(  # noqa: SLF001 - it takes no backend from outside
        ssl_context=tls,
        uds=None if place is None else str(place.absolute()),
        network_backend=_Sockets(clock),
        keepalive_expiry=5.0,
    )
    return found


def _why(error: Exception) -> str:
    """In words; a library's own sentence may hold an address."""
    said = str(error).lower()
    if isinstance(error, httpx.TimeoutException):  # of a handshake, too
        return "does not answer in time"
    if "certificate" in said or "tls" in said or "ssl" in said:
        return (
            "the certificates do not fit: one of the two nodes does not accept what the other shows "
            "(`privet node invite`)"
        )
    if isinstance(error, (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)) or "reset" in said:
        return "hangs up on us: it does not accept our certificate (`privet node invite`), or was stopped"
    return "cannot be reached"
