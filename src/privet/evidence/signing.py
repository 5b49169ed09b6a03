"""Signatures: who vouches for a release, in a file beside it.

Digests say that files belong together, not who put them there: whoever weakens a policy can make evidence
that fits. A signature is over the digests of every file, evidence and policy among them, and over the
signer's own name and the time, under words that no other protocol signs. It stands in `signatures.json`,
because nothing can hold its own signature; several people may sign. Who was to sign when the release was made
stands in the evidence too, so the report can say it, and a signature that was taken away is missed.

Ed25519 from `cryptography` (an extra); keys are PEM files that openssl reads too. A name in a signature is
what its maker says: what counts is the key, and whose it is a receiver learns from its owner, not from the
folder.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from privet import jsonvalue
from privet.errors import InputError, MissingExtraError, TamperedError
from privet.evidence.folder import SIGNATURES, digest
from privet.evidence.joint import signers as joint_signers
from privet.evidence.values import Evidence, Signer

DOMAIN = "privet release signature v1"
VERSION = 1
MOST = 64  # signatures of one release
LONGEST = 200  # characters of a name
(NAME,) = SIGNATURES
NAMED = "privet signer: "


@dataclass(frozen=True)
class Signature:
    """Somebody's signature under a release."""

    signer: str  # what its maker calls themselves
    key: str  # the public key: 32 bytes in base 64
    made: str
    signature: str

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.key)


@dataclass(frozen=True)
class Signed:
    """A signature, and whether it is one of these files."""

    signature: Signature
    valid: bool


def fingerprint(key: str) -> str:
    """A public key, short enough to be read out loud."""
    whole = sha256(b64decode(key)).hexdigest()[:32].upper()
    return " ".join(whole[at : at + 4] for at in range(0, 32, 4))


def message(files: Mapping[str, str], signer: str, made: str) -> bytes:
    """What is signed: the digests of every file by name, who signs, and when."""
    lines = [DOMAIN, f"signer {signer}", f"made {made}"]
    lines += [f"{files[name]}  {name}" for name in sorted(files)]
    return "".join(f"{line}\n" for line in lines).encode()


def digests(folder: Path) -> dict[str, str]:
    """Every file of a release but its signatures."""
    return {path.name: digest(path) for path in folder.iterdir() if path.name not in SIGNATURES}


class Signatories(Protocol):
    """Whoever signs a release while it is written: a key, or several parties that ask each other."""

    @property
    def signers(self) -> tuple[Signer, ...]:
        """Who is to sign, for the evidence."""

    def put(self, folder: Path) -> None:
        """Sign what lies there, which is all but in its place; whoever cannot raises."""


def sign(folder: Path, key: PrivateKey) -> Signature:
    """Add a signature to a release; one of the same key is replaced."""
    added = signature(digests(folder), key)
    write(folder, [*(one for one in read(folder) if one.key != added.key), added])
    return added


def signature(files: Mapping[str, str], key: PrivateKey) -> Signature:
    """A signature under files of these digests, made now."""
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return Signature(key.name, key.public, made, b64encode(key.sign(message(files, key.name, made))).decode())


def write(folder: Path, signed: Sequence[Signature]) -> None:
    """Put signatures beside a release."""
    with tempfile.NamedTemporaryFile("w", dir=folder.parent, delete=False, encoding="utf-8") as file:
        file.write(_dumps(signed))
    Path(file.name).chmod(0o644)
    Path(file.name).replace(folder / NAME)


def _dumps(signed: Sequence[Signature]) -> str:
    return json.dumps({"signatures": VERSION, "signed": [asdict(one) for one in signed]}, indent=1) + "\n"


def read(folder: Path) -> tuple[Signature, ...]:
    """The signatures of a folder; whatever does not read as signatures is refused."""
    path = folder / NAME
    if not path.exists():
        return ()
    wrong = TamperedError(f"{path}: these are not signatures of version {VERSION}")
    try:
        text = path.read_text(encoding="utf-8")
        found = jsonvalue.loads(text)
        if set(found) != {"signatures", "signed"} or found["signatures"] != VERSION:
            raise wrong
        signed = [Signature(**one) for one in found["signed"]]
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise wrong from None
    if len(signed) > MOST or not all(map(_sound, signed)) or len({one.key for one in signed}) < len(signed):
        raise wrong
    if text != _dumps(signed):
        raise TamperedError(f"{path}: holds more than its signatures, or is not written as privet writes it")
    return tuple(signed)


def _sound(one: Signature) -> bool:
    if not all(isinstance(text, str) for text in asdict(one).values()):
        return False
    names = all(len(text) <= LONGEST and text.isprintable() for text in (one.signer, one.made))
    return names and _length(one.key) == 32 and _length(one.signature) == 64


def _length(text: str) -> int:
    try:
        return len(b64decode(text, validate=True))
    except ValueError:
        return -1


def checked(folder: Path) -> tuple[Signed, ...]:
    """Every signature of a folder, and whether it is one of what lies there now."""
    there = read(folder)
    if not there:
        return ()
    files = digests(folder)
    return tuple(Signed(one, valid=fits(one, files)) for one in there)


def fits(one: Signature, files: Mapping[str, str]) -> bool:
    """Is this a signature under files of these digests?"""
    try:
        _ed25519().Ed25519PublicKey.from_public_bytes(b64decode(one.key)).verify(
            b64decode(one.signature), message(files, one.signer, one.made)
        )
    except _invalid():
        return False
    return True


@dataclass(frozen=True)
class Asked:
    """Whose signatures a receiver asks for: by public key, a name."""

    every: Mapping[str, str] = field(default_factory=dict)  # all of these
    some: Mapping[str, str] = field(default_factory=dict)  # one of these at least


def complaints(signed: Sequence[Signed], evidence: Evidence, asked: Asked) -> list[str]:
    """Signatures that are not of these files, and those that are missing: asked for, or in the evidence."""
    found = [
        f"{NAME}: the signature of key {one.signature.fingerprint} is not one of these files"
        for one in signed
        if not one.valid
    ]
    valid = {one.signature.key for one in signed if one.valid}
    said = {one.key: one.name for one in evidence.signers or ()}
    if evidence.joint is not None and joint_signers(evidence.joint) != [
        (one.name, one.key) for one in evidence.signers or ()
    ]:
        found.append("joint: the evidence names other parties than those that were to sign")
    found += [
        f"the evidence says that {name} signed, and no signature shows it"
        for key, name in said.items()
        if key not in valid
    ]
    found += [f"not signed by {name}" for key, name in asked.every.items() if key not in valid]
    if asked.some and not valid & set(asked.some):
        found.append("not signed by anybody on the list of allowed keys")
    return found


@dataclass(frozen=True, repr=False)
class PrivateKey:
    """A key that signs; it is never shown."""

    secret: Any
    name: str

    def __repr__(self) -> str:
        return f"PrivateKey({self.name!r})"

    @property
    def public(self) -> str:
        return b64encode(self.secret.public_key().public_bytes_raw()).decode()

    def sign(self, text: bytes) -> bytes:
        found: bytes = self.secret.sign(text)
        return found

    @property
    def signers(self) -> tuple[Signer, ...]:
        return (Signer(name=self.name, key=self.public),)

    def put(self, folder: Path) -> None:
        sign(folder, self)

    @classmethod
    def make(cls, name: str) -> PrivateKey:
        return cls(_ed25519().Ed25519PrivateKey.generate(), _named(name))

    @classmethod
    def load(cls, path: Path, passphrase: bytes | None = None, name: str | None = None) -> PrivateKey:
        """From a file that nobody else may read."""
        try:
            mode = path.stat().st_mode
            text = path.read_bytes()
        except OSError:
            raise InputError(f"{path}: no such key, or it cannot be read") from None
        if not stat.S_ISREG(mode) or mode & 0o077:
            raise InputError(f"{path}: others may read this key; make it yours alone: chmod 600 {path.name}")
        serialization = _serialization()
        try:
            secret = serialization.load_pem_private_key(text, passphrase)
        except TypeError:
            asked = (
                "is kept under a passphrase; say it" if passphrase is None else "is not under a passphrase"
            )
            raise InputError(f"{path}: this key {asked}") from None
        except ValueError:
            raise InputError(f"{path}: this is not a private key, or the passphrase is another one") from None
        if not isinstance(secret, _ed25519().Ed25519PrivateKey):
            raise InputError(f"{path}: privet signs with Ed25519 keys; `privet key make` makes one")
        return cls(secret, _named(name or _kept_name(text) or path.stem))

    def save(self, path: Path, passphrase: bytes | None = None) -> tuple[Path, Path]:
        """The key for its owner alone, and the public one beside it; neither replaces a file."""
        serialization = _serialization()
        how = serialization.NoEncryption()
        if passphrase:
            how = serialization.BestAvailableEncryption(passphrase)
        pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        public = path.with_name(path.name + ".pub")
        info = serialization.PublicFormat.SubjectPublicKeyInfo
        for place, text, mode in (
            # Text before a key is a remark, for openssl too: whose it is, so that nobody need repeat it.
            (path, f"{NAMED}{self.name}\n".encode() + self.secret.private_bytes(pem, form, how), 0o600),
            (public, self.secret.public_key().public_bytes(pem, info), 0o644),
        ):
            try:
                handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            except FileExistsError:
                raise InputError(f"{place}: there is a file already; a key is never replaced") from None
            except OSError as error:
                raise InputError(f"{place}: cannot be written ({error.strerror})") from None
            with os.fdopen(handle, "wb") as file:
                file.write(text)
        return path, public


def _kept_name(pem: bytes) -> str | None:
    """The name that stands with a key, from when it was made."""
    first = pem.split(b"\n", 1)[0].decode(errors="replace")
    return first.removeprefix(NAMED).strip() if first.startswith(NAMED) else None


def public_key(given: str) -> str:
    """A public key, from its PEM file or as base 64, in base 64."""
    if _length(given) == 32:
        return given
    try:
        loaded = _serialization().load_pem_public_key(Path(given).read_bytes())
    except OSError:
        raise InputError(f"{given}: no such public key, or it cannot be read") from None
    except ValueError:
        raise InputError(f"{given}: this is not a public key in PEM") from None
    if not isinstance(loaded, _ed25519().Ed25519PublicKey):
        raise InputError(f"{given}: privet signs with Ed25519 keys, and this is another")
    return b64encode(loaded.public_bytes_raw()).decode()


def allow_list(path: Path) -> dict[str, str]:
    """Keys and whose they are, from lines such as `BASE64 Office of Statistics`; # begins a remark."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise InputError(f"{path}: no such list of keys, or it is not a text") from None
    found = {}
    for number, line in enumerate(lines, 1):
        key, _, name = line.partition("#")[0].strip().partition(" ")
        if key and _length(key) != 32:
            raise InputError(f"{path}: line {number}: a public key in base 64, a blank, and a name")
        if key:
            found[key] = name.strip()
    if not found:
        raise InputError(f"{path}: there is not one key in it")
    return found


def _named(name: str) -> str:
    if not name or len(name) > LONGEST or not name.isprintable():
        raise InputError(f"a signer's name is 1 to {LONGEST} characters that can be shown")
    return name


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("a signature", "sign") from None
    return ed25519


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("a signature", "sign") from None
    return serialization


def _invalid() -> type[Exception]:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

    return InvalidSignature
