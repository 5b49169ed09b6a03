"""How a run begins and ends between parties: one moment, one software; then one release, signed by all.

Every party writes the release for itself. Before it stands in its place the parties tell each other the
digest of every file; only where all have the same bytes does any of them sign, and only with the signatures
of all does the release leave. A party that dies before it has told its digest leaves nothing at anybody; one
that dies after it signed has the release at the others, and fetches it there.

Trust: the parties follow the protocol; a signature is of the key that the contract names.
Leaks: nothing beside the release, which every party has.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import time

from privet.errors import InputError, PartyError
from privet.evidence import signing
from privet.evidence.notes import software
from privet.evidence.signing import PrivateKey, Signature
from privet.evidence.values import Signer
from privet.parties.agreement import Agreement
from privet.parties.rows import UNTOLD, Rows
from privet.parties.transport import Link
from privet.roads.parties.release import Run

HELLO = struct.Struct("<Q40s32s32s")  # the clock, the software, the certificate's digest or nothing, rows
NAMED = struct.Struct("<25s64s")  # when it was signed, the signature
DAY = 86_400  # seconds by which two clocks may differ
LEADER = 0
PERHAPS = (
    "signatures were being exchanged: a party that has all of them holds the release, signed by us too; "
    "`privet joint fetch --from` brings it"
)


def greet(
    link: Link,
    certificate: bytes | None = None,
    rows: Rows = UNTOLD,
    *,
    rehearsed: bool = False,
    signed: bool = True,
) -> Run:
    """Tell each other clock, software, certificate and the mark of one's rows; one run for all of them."""
    said = software().encode()[:40]
    mine = HELLO.pack(int(time()), said, certificate or b"", rows.mine)
    for party in link.others:
        link.send(party, "hello", mine)
    shown = {link.me: mine} | {party: link.receive(party, "hello", HELLO.size) for party in link.others}
    found = {party: HELLO.unpack(hello) for party, hello in shown.items()}
    for party, (_, theirs, told, _) in found.items():
        if theirs.rstrip(b"\0") != said:
            raise PartyError(
                f"{link.name(party)}: runs another version of privet; releases of one version are the same "
                "to the byte, so agree on one"
            )
        if party != link.me and any(told) != (certificate is not None):
            raise PartyError(f"{link.name(party)}: has a certificate where we have none, or the reverse")
        if party != link.me and certificate is not None and told != link.certificate(party):
            raise PartyError(f"{link.name(party)}: names another certificate than the one that it showed")
    for party, (clock, *_) in found.items():
        if abs(clock - time()) > DAY:
            raise PartyError(f"{link.name(party)}: its clock is more than a day away from ours")
    made = int(found[LEADER][0])
    rows.heard({link.name(party): marked for party, (_, _, _, marked) in found.items()})
    certificates = {link.name(party): told.hex() for party, (_, _, told, _) in found.items() if any(told)}
    return Run(link.session.id.hex(), made, certificates, rehearsed, signed)


def _nothing() -> None:
    """There is nothing to be looked at, or noted."""


@dataclass(frozen=True)
class AllSign:
    """The parties of a contract, as one of them has their signatures put under a release."""

    link: Link
    contract: Agreement
    key: PrivateKey | None  # None: the contract names no keys, and nobody signs
    before: Callable[[], None] = _nothing  # what has to be looked at before a result is signed
    leaving: Callable[[], None] = _nothing  # what has to be noted before our signature goes out

    def __post_init__(self) -> None:
        mine = self.contract.keys.get(self.link.name(self.link.me))
        if self.key is not None and self.key.public != mine:
            raise InputError("the contract names another key for this party than the one that is to sign")

    @property
    def signers(self) -> tuple[Signer, ...]:
        if self.key is None:
            return ()
        return tuple(Signer(name=name, key=self.contract.keys[name]) for name in self.contract.parties)

    def put(self, folder: Path) -> None:
        self.before()
        link, files = self.link, signing.digests(folder)
        text = "".join(f"{files[name]}  {name}\n" for name in sorted(files))
        mine = sha256(text.encode()).digest()
        for party in link.others:
            link.send(party, "release", mine)
        for party in link.others:
            if link.receive(party, "release", len(mine)) != mine:
                raise PartyError(
                    f"{link.name(party)}: holds another release than we do; nothing is published"
                )
        if self.key is None:
            return
        self.leaving()
        try:
            self._signed(folder, files, self.key)
        except PartyError as error:
            said = (one.removesuffix("; nothing is published") for one in error.complaints)
            raise PartyError(*said, PERHAPS) from None

    def _signed(self, folder: Path, files: dict[str, str], key: PrivateKey) -> None:
        """From here on a party may have everything that it needs while another still waits."""
        link = self.link
        own = signing.signature(files, replace(key, name=link.name(link.me)))
        for party in link.others:
            link.send(party, "signature", NAMED.pack(own.made.encode(), b64decode(own.signature)))
        signing.write(
            folder,
            [own if at == link.me else self._heard(at, files) for at in range(link.parties)],
        )

    def _heard(self, party: int, files: dict[str, str]) -> Signature:
        name = self.link.name(party)
        made, said = NAMED.unpack(self.link.receive(party, "signature", NAMED.size))
        moment = made.decode("ascii", "replace")
        found = Signature(name, self.contract.keys[name], moment, b64encode(said).decode())
        if not moment.isprintable() or not signing.fits(found, files):
            raise PartyError(f"{name}: its signature is not one of this release; nothing is published")
        return found
