"""Messages between parties: who may say what to whom, in which order, under which contract.

A `Link` is one party's end. Every message carries the session, the digest of the contract, its sender and
receiver, a sequence number for that direction and what it is; a receiver says what it expects and refuses
all else, so that a message that is replayed, left out, reordered, of another session or contract, or longer
than agreed ends the run instead of being read. The version of the protocol stands first, so that parties
with different ones say so instead of misreading each other. Lengths are the receiver's to say: nothing that a
peer claims decides how much is read, and nothing is unpickled.

`Wires` carry the bytes. `InProcess` carries them between threads of one process: what is sent there is what
would be sent anywhere, byte for byte, so that transcripts, bytes and rounds are those of the real protocol.

Trust: whoever carries the bytes authenticates and encrypts them (mutual TLS); in one process nobody else is.
Leaks: to the network the sizes and times of messages, which depend on counts that the parties share.
"""

from __future__ import annotations

import queue
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from time import monotonic, sleep
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import InternalError, PartyError


class OtherSpeechError(PartyError):
    """A party has another version of the protocol than this one; 0: none that there is."""

    def __init__(self, name: str, theirs: int) -> None:
        which = f"version {theirs}" if theirs else "no version that there is"
        super().__init__(
            f"{name}: speaks {which} of the protocol between parties, we speak {SPEAKS}; agree on "
            "one version of privet, and start every node with it"
        )


Words: TypeAlias = NDArray[np.unsignedinteger[Any]]

SPEAKS = 5  # the version of everything that parties tell each other; raise it whenever any of it changes
MAGIC = b"privet-joint-"  # and the version, as one character
HEAD = struct.Struct(
    "<13sB16s32sHHQ16sQ"
)  # magic, version, session, contract, sender, receiver, sequence, kind, length
NOUGHT = ord("0")  # the character of version 0
KIND = 16  # letters
LONGEST = 1 << 30  # bytes in one message; more than any protocol here sends
PATIENCE = 600.0  # seconds to wait for a peer


@dataclass(frozen=True)
class Session:
    """What all messages of one run have in common."""

    id: bytes  # 16 bytes, drawn anew for every run
    contract: bytes  # the SHA-256 of the contract that all have signed
    parties: tuple[str, ...]  # their names, in the contract's order

    def __post_init__(self) -> None:
        if len(self.id) != 16 or len(self.contract) != 32 or len(set(self.parties)) != len(self.parties):
            raise PartyError(
                "a session has an id of 16 bytes, a digest of 32, and parties of different names"
            )


class Wires(Protocol):
    """What carries bytes from one party to the others."""

    def put(self, to: int, message: bytes) -> None: ...

    def get(self, sender: int, most: int) -> bytes:
        """The next message of a peer; raises `PartyError` where it is gone or late.

        `most`: bytes that are due at most; of a longer one nothing need be read.
        """

    def certificate(self, party: int) -> bytes | None:
        """The SHA-256 of the certificate that a peer showed; None where nobody shows one."""


@dataclass
class Traffic:
    """What one party sent and received."""

    sent: int = 0  # bytes, with heads
    received: int = 0
    messages: int = 0
    rounds: int = 0  # the longest chain of messages that wait for each other
    transcript: list[tuple[str, str, bytes]] = field(
        default_factory=list, repr=False
    )  # sender, kind, payload


class Travelling:
    """What a protocol between all parties took, from what each sent and received."""

    traffic: Mapping[str, Traffic]

    @property
    def rounds(self) -> int:
        return max(traffic.rounds for traffic in self.traffic.values())

    @property
    def bytes(self) -> int:
        return sum(traffic.sent for traffic in self.traffic.values())


class Link:
    """One party's end of a session."""

    def __init__(self, session: Session, me: int, wires: Wires, *, record: bool = False) -> None:
        self.session = session
        self.me = me
        self.traffic = Traffic()
        self._wires = wires
        self._record = record
        self._said = [0] * len(session.parties)
        self._heard = [0] * len(session.parties)

    @property
    def parties(self) -> int:
        return len(self.session.parties)

    @property
    def others(self) -> list[int]:
        return [at for at in range(self.parties) if at != self.me]

    def name(self, party: int) -> str:
        return self.session.parties[party]

    def certificate(self, party: int) -> bytes | None:
        """The SHA-256 of the certificate that a peer showed to whoever carries messages."""
        return self._wires.certificate(party)

    def send(self, to: int, kind: str, payload: bytes) -> None:
        if to == self.me or len(payload) > LONGEST:
            raise PartyError(f"{kind}: a message goes to another party and has at most {LONGEST:,} bytes")
        if len(kind) > KIND:
            raise InternalError(f"the kind of a message has {KIND} letters at most")
        head = HEAD.pack(
            MAGIC,
            NOUGHT + SPEAKS,
            self.session.id,
            self.session.contract,
            self.me,
            to,
            self._said[to],
            kind.encode("ascii"),
            len(payload),
        )
        self._said[to] += 1
        self.traffic.sent += len(head) + len(payload)
        self.traffic.messages += 1
        self._wires.put(to, head + payload)

    def receive(self, sender: int, kind: str, length: int) -> bytes:
        """The next message of a party, which is of this kind and length, or the run ends."""
        message = self._wires.get(sender, HEAD.size + length)
        payload = self._opened(sender, kind, message)
        if len(payload) != length:
            raise PartyError(
                f"{self.name(sender)}: sent {len(payload):,} bytes of {kind!r} where {length:,} are due"
            )
        self.traffic.received += len(message)
        if self._record:
            self.traffic.transcript.append((self.name(sender), kind, payload))
        return payload

    def send_words(self, to: int, kind: str, words: Words) -> None:
        self.send(to, kind, np.ascontiguousarray(words).astype(words.dtype.newbyteorder("<")).tobytes())

    def receive_words(self, sender: int, kind: str, count: int, dtype: Any) -> Words:
        """So many numbers of this size."""
        size = np.dtype(dtype).itemsize
        payload = self.receive(sender, kind, count * size)
        return np.frombuffer(payload, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)

    def broadcast_words(self, kind: str, words: Words) -> None:
        for party in self.others:
            self.send_words(party, kind, words)

    def _opened(self, sender: int, kind: str, message: bytes) -> bytes:
        name = self.name(sender)
        version = message[len(MAGIC)] - NOUGHT if len(message) >= HEAD.size else 0
        if version < 1 or not message.startswith(MAGIC):
            raise PartyError(f"{name}: sent something that is not a message of this protocol")
        if version != SPEAKS:
            raise OtherSpeechError(name, version)
        _, _, session, contract, by, to, sequence, told, length = HEAD.unpack_from(message)
        if session != self.session.id:
            raise PartyError(f"{name}: sent a message of another session")
        if contract != self.session.contract:
            raise PartyError(
                f"{name}: runs under another contract; compare `privet joint show` at both sides"
            )
        if (by, to) != (sender, self.me):
            raise PartyError(f"{name}: sent a message that is not from it to this party")
        if sequence != self._heard[sender]:
            raise PartyError(
                f"{name}: message {sequence} came where message {self._heard[sender]} was due; "
                "it was replayed, left out or reordered"
            )
        self._heard[sender] += 1
        payload = message[HEAD.size :]
        if told.rstrip(b"\0") != kind.encode("ascii"):
            raise PartyError(f"{name}: sent another kind of message than {kind!r}, which is due")
        if length != len(payload):
            raise PartyError(f"{name}: a message is not as long as its head says")
        return payload


@dataclass(frozen=True)
class Distance:
    """How far apart houses are made out to be: seconds for a message to arrive, and bytes in a second."""

    seconds: float
    rate: float


class InProcess:
    """All parties in one process, each in a thread of its own; what they send is counted.

    With `distance` every message arrives as late as it would between houses so far apart: what one party
    sends to another goes one after the other.
    """

    def __init__(
        self,
        session: Session,
        *,
        patience: float = PATIENCE,
        record: bool = False,
        distance: Distance | None = None,
    ) -> None:
        self.session = session
        self._distance = distance
        self._patience = patience
        n = len(session.parties)
        self._queues: list[list[queue.SimpleQueue[tuple[bytes, int, float] | None]]] = [
            [queue.SimpleQueue() for _ in range(n)] for _ in range(n)
        ]
        self._gone = threading.Event()
        self._depth = [0] * n
        self._sent_until = [[0.0] * n for _ in range(n)]
        self.links = [Link(session, me, _Ends(self, me), record=record) for me in range(n)]

    def put(self, sender: int, to: int, message: bytes) -> None:
        arrives = 0.0
        if self._distance is not None:
            begins = max(monotonic(), self._sent_until[sender][to])
            self._sent_until[sender][to] = begins + len(message) / self._distance.rate
            arrives = self._sent_until[sender][to] + self._distance.seconds
        self._queues[sender][to].put((message, self._depth[sender] + 1, arrives))

    def get(self, sender: int, to: int) -> bytes:
        name = self.session.parties[sender]
        if self._gone.is_set():
            raise PartyError(f"{name}: another party has ended the run; nothing is published")
        try:
            found = self._queues[sender][to].get(timeout=self._patience)
        except queue.Empty:
            raise PartyError(f"{name}: said nothing for {self._patience:g} seconds") from None
        if found is None:
            raise PartyError(f"{name}: another party has ended the run; nothing is published")
        message, depth, arrives = found
        if (early := arrives - monotonic()) > 0:
            sleep(early)
        self._depth[to] = max(self._depth[to], depth)
        self.links[to].traffic.rounds = self._depth[to]
        return message

    def end(self) -> None:
        """One party cannot go on: whoever waits is told."""
        self._gone.set()
        for row in self._queues:
            for one in row:
                one.put(None)


@dataclass(frozen=True)
class _Ends:
    """One party's wires in a process."""

    house: InProcess
    me: int

    def put(self, to: int, message: bytes) -> None:
        self.house.put(self.me, to, message)

    def get(self, sender: int, most: int) -> bytes:  # noqa: ARG002 - in a process it is there already
        return self.house.get(sender, self.me)

    def certificate(self, party: int) -> None:  # noqa: ARG002 - nobody shows one in a process
        return None


Part: TypeAlias = Callable[[Link], Any]  # what one party does in a run


def together(house: InProcess, parts: Sequence[Part]) -> list[Any]:
    """Run every party's part in a thread of its own; what each found, or the error that is the cause.

    Where several fail by themselves the first in the contract's order speaks, whoever's thread was quicker:
    the same parts end with the same sentence. That another party is gone is said only where nothing else is.
    """
    found: list[Any] = [None] * len(parts)
    errors: list[tuple[int, BaseException]] = []

    def run(at: int) -> None:
        try:
            found[at] = parts[at](house.links[at])
        except BaseException as error:  # noqa: BLE001 - raised again below, for all threads
            errors.append((at, error))
            house.end()

    threads = [threading.Thread(target=run, args=(at,), daemon=True) for at in range(len(parts))]
    _all(threads, "start")
    _all(threads, "join")
    if errors:
        causes = sorted((one for one in errors if not isinstance(one[1], PartyError)), key=itemgetter(0))
        raise (causes or errors)[0][1]  # the others follow from it
    return found


def _all(threads: Iterable[threading.Thread], what: str) -> None:
    for thread in threads:
        getattr(thread, what)()
