"""Signatures under a contract: who has agreed to it, in a file beside it.

The contract names every party's public key, so the digest holds them; a signature is over that digest and the
party's name, under words that no other protocol signs. Ed25519, with the keys that sign releases
(`privet key make`). A contract that is changed in anything has another digest, and no signature fits it. What
each party learns follows from the protocol, so its version is signed too; the digest, by which a release
names its contract for years, is without it. A party may sign for its rows as well: by their mark (`rows`),
which then stands beside its signature and under it.

Trust: keys are exchanged by another way than the contract is.
Leaks: nothing.
"""

from __future__ import annotations

import json
import os
import tempfile
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from privet import jsonvalue
from privet.errors import InputError, MissingExtraError
from privet.parties.agreement import Agreement
from privet.parties.transport import SPEAKS

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:  # pragma: no cover - where the extra is not installed
    raise MissingExtraError("a signature under a contract", "parties") from None

DOMAIN = "privet joint contract signature v2"
LONGEST = 1 << 20  # bytes of a file of signatures


class Key(Protocol):
    """A private key."""

    @property
    def public(self) -> str:
        """32 bytes in base 64."""

    def sign(self, text: bytes) -> bytes: ...


def beside(contract: Path) -> Path:
    """Where the signatures of a contract stand."""
    return contract.with_name(contract.name + ".signatures.json")


def message(contract: Agreement, party: str, rows: str = "") -> bytes:
    """What a party signs; `rows`: the mark of those that it signs for, where it does."""
    bound = f"rows {rows}\n" if rows else ""
    return f"{DOMAIN}\nprotocol {SPEAKS}\n{contract.digest.hex()}\n{party}\n{bound}".encode()


def sign(contract: Agreement, path: Path, key: Key, rows: str = "") -> str:
    """Put a party's name to a contract, and to rows with this mark; the party whose key it is."""
    party = next((name for name, public in contract.keys.items() if public == key.public), None)
    if party is None:
        raise InputError("the contract names no party with this key; [keys] lists each party's public key")
    found, marks = _of_now(contract, beside(path))
    found |= {party: b64encode(key.sign(message(contract, party, rows))).decode()}
    marks = {name: one for name, one in marks.items() if name != party} | ({party: rows} if rows else {})
    _keep(contract, beside(path), found, marks)
    return party


def collect(contract: Agreement, path: Path, others: Sequence[Path]) -> list[str]:
    """Take over the signatures that stand beside other copies of a contract; whose are there then.

    Parties that sign at the same time, each its own copy, need not send one file from desk to desk. Nothing
    is taken over that is not a signature under this very contract.
    """
    found, marks = _of_now(contract, beside(path))
    for other in others:
        if (whole := _whole(other)) is None:
            raise InputError(f"{other}: no such file of signatures")
        if whole.get("contract") != contract.digest.hex() or whole.get("protocol") != SPEAKS:
            raise InputError(f"{other}: these are signatures under another contract, or for another protocol")
        more, their_marks = _of_parties(contract, other, whole)
        for party, one in more.items():
            mark = their_marks.get(party, "")
            if not _fits(contract, party, one, mark):
                raise InputError(f"{other}: holds a signature that is none under this contract")
            if party in found and marks.get(party, "") != mark:
                raise InputError(
                    f"{other}: {party} has signed here for other rows than beside {path.name}: ask it which "
                    "holds, and take that one away which does not"
                )
            found[party] = one
            marks |= {party: mark} if mark else {}
    _keep(contract, beside(path), found, marks)
    return [party for party in contract.parties if party in found]


def _of_now(contract: Agreement, place: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Signatures and marks that stand there; what was signed under another contract, or for another
    protocol, is nobody's under this.
    """
    whole = _whole(place)
    if whole is None or whole.get("protocol") != SPEAKS or whole.get("contract") != contract.digest.hex():
        return {}, {}
    return _of_parties(contract, place, whole)


def _of_parties(
    contract: Agreement, place: Path, whole: dict[str, Any]
) -> tuple[dict[str, str], dict[str, str]]:
    """Signatures and marks in a file, none of them nobody's: who reads it takes each for a party's word."""
    found, marks = (
        {str(party): str(one) for party, one in whole.get(what, {}).items()}
        for what in ("signatures", "rows")
    )
    if found.keys() - contract.keys.keys():
        raise InputError(
            f"{place}: holds a signature that is none under this contract, of nobody whom it names; "
            "delete it and sign again"
        )
    if marks.keys() - found.keys():
        raise InputError(f"{place}: has a mark of rows for which nobody has signed; delete it and sign again")
    return found, marks


def _keep(contract: Agreement, place: Path, signed: dict[str, str], marks: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as made:
        fresh = Path(made) / place.name
        with fresh.open("w", encoding="utf-8") as file:
            said = {"contract": contract.digest.hex(), "protocol": SPEAKS, "signatures": signed}
            json.dump(said | ({"rows": marks} if marks else {}), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(place)


def signed(contract: Agreement, path: Path) -> dict[str, bool]:
    """By party that has a key: has it signed this very contract?"""
    found, marks = _of_now(contract, beside(path))
    return {
        party: _fits(contract, party, found.get(party, ""), marks.get(party, "")) for party in contract.keys
    }


def bound(contract: Agreement, path: Path) -> dict[str, str]:
    """By party that has signed for its rows their mark."""
    fits, (_, marks) = signed(contract, path), _of_now(contract, beside(path))
    return {party: marks[party] for party, done in fits.items() if done and party in marks}


def speaks(path: Path) -> int | None:
    """For which version of the protocol a contract was signed; None where nobody has signed yet."""
    found = _whole(beside(path))
    if found is None:
        return None
    said = found.get("protocol", 1)  # the first did not say
    return said if type(said) is int else 1


def _fits(contract: Agreement, party: str, signature: str, rows: str) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(b64decode(contract.keys[party], validate=True))
        key.verify(b64decode(signature, validate=True), message(contract, party, rows))
    except (InvalidSignature, Base64Error, ValueError):
        return False
    return True


def _whole(place: Path) -> dict[str, Any] | None:
    """The file, as far as it has to be one of signatures; None where there is none."""
    if not place.exists():
        return None
    try:
        with place.open(encoding="utf-8") as file:
            found = jsonvalue.loads(file.read(LONGEST))
        if isinstance(found, dict) and all(
            isinstance(one, dict) for one in (found["signatures"], found.get("rows", {}))
        ):
            return found
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError(f"{place}: this is not a file of signatures; delete it and sign again") from None
