"""A node's folder: what it is called, where it is reached, whom it knows, and which data it has.

node/
    node.toml                     name, address, where it listens, its data
    authority.pem, authority.key  its own small authority, unless the organisation has one
    node.pem, node.key            its certificate
    sign.key, sign.key.pub        what it signs contracts and releases with
    peers/south.toml              an invitation that was accepted
    runs/                         what was run and how it ended
    releases/                     what was published
    answers/                      of a virtual database, until whoever asked has them
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import tomli_w

from privet import tomltext
from privet.core import Purse
from privet.errors import InputError, PolicyError
from privet.evidence.signing import PrivateKey
from privet.node import certificates
from privet.parties import names

FORM, INVITATION = "node.toml", 1
SIGN = "sign.key"
PATIENCE = 600.0  # seconds that a run waits for a party
GRACE = 15.0  # seconds for which a peer may be out of reach
LONGEST = 1 << 16  # characters of an invitation


@dataclass(frozen=True)
class Peer:
    """Another organisation's node, from its invitation."""

    name: str
    url: str
    key: str  # the public key that it signs with, in base 64
    authority: str = field(repr=False)  # the certificate of what issues its node's certificates, as PEM
    relay: str | None = None  # the name of the relay through which it is reached; None: it has a port

    def __post_init__(self) -> None:
        if not names.is_name(self.name):
            raise PolicyError(f"name: {names.RULE}, of one alphabet and in composed form (NFKC)")
        refuse_address(self.url)
        if self.relay is not None and not names.is_name(self.relay):
            raise PolicyError("relay: the short name of a relay")
        if certificates.sole(self.authority) != self.authority:
            raise PolicyError("authority: one certificate as PEM, and nothing beside it")

    @classmethod
    def from_text(cls, text: str, place: str) -> Self:
        """An invitation; whatever does not read as one is refused."""
        found = tomltext.document(text, f"{place}: this is not an invitation")
        keys = {"invitation", "name", "url", "key", "authority"}
        if found.get("invitation") != INVITATION or set(found) - {"relay"} != keys:
            raise PolicyError(f"{place}: this is not an invitation of version {INVITATION}")
        said = {key: value for key, value in found.items() if key != "invitation"}
        if not all(isinstance(one, str) for one in said.values()):
            raise PolicyError(f"{place}: an invitation holds texts")
        try:
            return cls(**said)
        except PolicyError as error:
            raise error.at(place) from None

    def to_text(self) -> str:
        return tomli_w.dumps(self._document(), multiline_strings=True)

    @property
    def fingerprint(self) -> str:
        """The whole invitation, short enough to be read out loud: who changes any line of it changes this."""
        said = json.dumps(self._document(), sort_keys=True).encode()
        short = sha256(b"privet invitation\0" + said).hexdigest()[:32].upper()
        return " ".join(short[at : at + 4] for at in range(0, 32, 4))

    def _document(self) -> dict[str, Any]:
        return {
            "invitation": INVITATION,
            "name": self.name,
            "url": self.url,
            "key": self.key,
            "authority": self.authority,
            **({} if self.relay is None else {"relay": self.relay}),
        }


@dataclass(frozen=True)
class House:
    """A node's folder, read."""

    folder: Path
    name: str
    url: str
    host: str  # where it listens
    port: int
    patience: float = PATIENCE
    grace: float = GRACE
    source: str | None = None
    query: str | None = field(default=None, repr=False)  # it may name persons
    purse: Purse | None = None  # what a contract that spends is paid from
    relay: str | None = None  # the peer that is its relay: then it listens on no port

    @classmethod
    def load(cls, folder: Path) -> Self:
        path = folder / FORM
        try:
            found = tomltext.document(path.read_text(encoding="utf-8"), f"{path}: this is not a TOML file")
        except (OSError, ValueError):
            raise InputError(f"{folder}: this is not a node's folder; `privet node init` makes one") from None
        data = found.get("data", {})
        ledger = found.get("ledger", {})
        relay = found.get("relay")
        known = {"node", "name", "url", "listen", "patience", "grace", "data", "ledger", "relay"}
        if found.get("node") != 1 or set(found) - known or not isinstance(data, Mapping):
            raise PolicyError(
                f"{path}: has node = 1, name, url, listen or relay, patience, grace, [data] and [ledger], "
                "and no more"
            )
        if relay is not None and (not isinstance(relay, str) or "listen" in found):
            raise PolicyError(f"{path}: relay: the name of a peer, and then no listen")
        if ledger != {} and (
            not isinstance(ledger, Mapping)
            or set(ledger) != {"file", "dataset"}
            or not all(isinstance(one, str) for one in ledger.values())
        ):
            raise PolicyError(f"{path}: ledger: file and dataset")
        host, _, port = str(found.get("listen", "")).rpartition(":")
        waits = [found.get("patience", PATIENCE), found.get("grace", GRACE)]
        if relay is not None:
            host, port = "", "0"
        if (
            (not host and relay is None)
            or not port.isdigit()
            or not all(type(w) in {int, float} and w > 0 for w in waits)
        ):
            raise PolicyError(f'{path}: listen = "HOST:PORT"; patience and grace are numbers of seconds')
        if set(data) - {"source", "query"} or not all(isinstance(one, str) for one in data.values()):
            raise PolicyError(f"{path}: data: source and, of a database, query")
        name, url = str(found.get("name")), str(found.get("url"))
        refuse_address(url)
        return cls(
            folder,
            name,
            url,
            host.strip("[]"),
            int(port),
            float(waits[0]),
            float(waits[1]),
            data.get("source"),
            data.get("query"),
            purse_of(folder, ledger["file"], ledger["dataset"]) if ledger else None,
            relay,
        )

    def me(self) -> Peer:
        """This node as its peers know it."""
        authority = _authority_of(self.folder / certificates.AUTHORITY)
        return Peer(self.name, self.url, self.key().public, authority, self.relay)

    def relayed(self) -> Peer | None:
        """Its relay, where it has one."""
        if self.relay is None:
            return None
        found = self.peers().get(self.relay)
        if found is None or found.relay is not None:
            raise InputError(
                f"{self.folder / FORM}: relay: {self.relay} has sent no invitation, or is reached through a "
                "relay itself; `privet node invite --accept FILE`"
            )
        return found

    def key(self) -> PrivateKey:
        """What the node signs with."""
        return PrivateKey.load(self.folder / SIGN, name=self.name)

    def secret(self) -> bytes:
        """Of this node alone: under it rows are known by marks, and what was heard in answers by seals."""
        return sha256(b"privet rows" + (self.folder / SIGN).read_bytes()).digest()

    def peers(self) -> dict[str, Peer]:
        """Every node whose invitation was accepted, by name."""
        found = {}
        for path in self._invitations():
            try:
                peer = Peer.from_text(_text_of(path), str(path))
            except InputError:
                if not path.exists():  # removed just now
                    continue
                raise
            found[peer.name] = peer
        return found

    def acquaintance(self) -> object:
        """Another value whenever somebody else may be known: cheap enough to be asked for every request."""
        found = []
        for path in (self.folder / certificates.CERTIFICATE, *self._invitations()):
            with suppress(OSError):
                at = path.stat()
                found.append((path.name, at.st_ino, at.st_mtime_ns, at.st_ctime_ns, at.st_size))
        return found

    def _invitations(self) -> list[Path]:
        return sorted((self.folder / "peers").glob("*.toml"))

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def answers(self) -> Path:
        """Where answers lie until whoever asked has them."""
        return self.folder / "answers"

    @property
    def releases(self) -> Path:
        return self.folder / "releases"

    def accept(self, path: Path, *, overwrite: bool = False) -> Peer:
        """Keep another node's invitation."""
        peer = Peer.from_text(_text_of(path), str(path))
        if peer.name == self.name:
            raise InputError(f"{path}: this is an invitation of a node with our own name")
        place = self.folder / "peers" / f"{peer.name}.toml"
        host = certificates.host_of(peer.url)
        for other in (self.me(), *self.peers().values()):
            alike = (other.authority, certificates.host_of(other.url)) == (peer.authority, host)
            if alike and other.name != peer.name:
                raise InputError(
                    f"{path}: {other.name} has the same host and authority: nobody could tell the two apart"
                )
            if other.key == peer.key and other.name != peer.name:
                raise InputError(
                    f"{path}: {peer.name} signs with the key of {other.name}: one organisation under two "
                    "names counts as two where the protocols rest on parties that do not collude"
                )
            if names.alike((other.name, peer.name)):
                raise InputError(
                    f"{path}: {peer.name} looks like {other.name}, which is known: whoever reads a log or a "
                    "contract takes one for the other; ask its steward for another name"
                )
        if not overwrite and self.peers().get(peer.name, peer) != peer:
            raise InputError(
                f"{path}: {peer.name} is known with another address, key or authority; compare the "
                "fingerprint with its steward, then say --overwrite"
            )
        fresh = place.with_name(f".{place.name}.new")
        fresh.write_text(peer.to_text(), encoding="utf-8")
        fresh.replace(place)
        return peer


def made(
    folder: Path,
    *,
    name: str,
    url: str,
    listen: str | None = None,
    source: str | None = None,
    query: str | None = None,
    issued: tuple[Path, Path, Path] | None = None,
    relay: Path | None = None,
) -> House:
    """A new node's folder; `issued`: certificate, key and authority of the organisation's own.

    `relay`: the invitation of a relay through which it is reached; then it listens on no port.
    """
    hub = None if relay is None else Peer.from_text(_text_of(relay), str(relay))
    if hub is not None and listen is not None:
        raise InputError("--listen, --relay: a node that is reached through a relay listens on no port")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: the folder is not empty; a node is never replaced")
    if not names.is_name(name):
        raise InputError(f"--name: {names.RULE}, of one alphabet, as contracts write it")
    refuse_address(url)
    if issued is not None:
        _authority_of(issued[2])
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    for inner in ("peers", "runs", "releases"):
        (folder / inner).mkdir()
    if issued is None:
        certificates.make_authority(folder, name)
        certificates.issue(folder, name, url)
    else:
        for path, into in zip(
            issued, (certificates.CERTIFICATE, certificates.KEY, certificates.AUTHORITY), strict=True
        ):
            try:
                text = path.read_bytes()
            except OSError:
                raise InputError(f"{path}: no such file, or it cannot be read") from None
            handle = os.open(folder / into, os.O_WRONLY | os.O_CREAT, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(text)
    PrivateKey.make(name).save(folder / SIGN)
    parts = urlsplit(url)
    said: dict[str, Any] = {
        "node": 1,
        "name": name,
        "url": url,
        **(
            {"listen": listen or f"{certificates.host_of(url)}:{parts.port}"}
            if hub is None
            else {"relay": hub.name}
        ),
        "patience": int(PATIENCE),
        "grace": int(GRACE),
    }
    data = {key: value for key, value in (("source", source), ("query", query)) if value is not None}
    if data:
        said["data"] = data
    place = folder / FORM
    place.touch(mode=0o600)
    place.write_text(tomli_w.dumps(said), encoding="utf-8")
    house = House.load(folder)
    if relay is not None:
        house.accept(relay)
    return house


def _authority_of(path: Path) -> str:
    """The certificate in a file of our own; remarks beside it, as openssl writes them, stay there."""
    try:
        found = certificates.sole(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if found is None:
        raise InputError(
            f"{path}: is not one certificate as PEM: of what issued {certificates.CERTIFICATE} directly, "
            "and of nothing above it"
        )
    return found


def _text_of(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(LONGEST)
    except (OSError, ValueError):
        raise InputError(f"{path}: no such invitation, or it is not a text") from None


def purse_of(folder: Path, file: str, dataset: str) -> Purse:
    """A ledger: a file, looked for beside the node's own, or a database."""
    return Purse(file if "://" in file else str(folder / file), dataset)


def refuse_address(url: str) -> None:
    """Refuse what is not HTTPS to a host and a port, and nothing more."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme == "https" and parts.hostname and parts.port
    except ValueError:
        fine = False
    if not fine or parts.path.strip("/") or parts.query or parts.fragment or parts.username:
        raise PolicyError("the address of a node: HOST:PORT, such as node.north.example:8471")
