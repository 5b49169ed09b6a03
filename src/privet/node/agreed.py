"""What a node runs at all: what every party has signed, among parties whose invitations it has."""

from __future__ import annotations

from pathlib import Path

from privet.errors import InputError
from privet.node.house import House, Peer
from privet.parties.agreements import Signed
from privet.parties.signing import signed, speaks
from privet.parties.transport import SPEAKS


def refuse_unsigned(contract: Signed, path: Path, house: House, key: str) -> None:
    """Nothing runs that not every party has signed, or among parties that were not invited."""
    if house.name not in contract.parties:
        raise InputError(f"{path}: this node is {house.name}, which is not a party of the contract")
    if not contract.keys:
        raise InputError(f"{path}: [keys]: a run needs every party's public key, and its signature")
    missing = [party for party, done in signed(contract, path).items() if not done]
    if missing and (version := speaks(path)) not in {None, SPEAKS}:
        raise InputError(
            f"{path}: was signed for version {version} of the protocol between parties, this node speaks "
            f"{SPEAKS}; all parties use one version of privet and run `privet joint sign` again"
        )
    if missing:
        raise InputError(
            f"{path}: not signed by {', '.join(missing)}, or changed since; each party runs "
            "`privet joint sign`"
        )
    peers: dict[str, Peer] = house.peers()
    complaints = []
    for party in contract.parties:
        if party == house.name:
            wrong = contract.keys[party] != key
        elif party not in peers:
            complaints.append(f"{path}: {party} has sent no invitation; `privet node invite --accept FILE`")
            continue
        else:
            wrong = contract.keys[party] != peers[party].key
        if wrong:
            complaints.append(f"{path}: keys.{party}: is another key than the one that we know of {party}")
    if complaints:
        raise InputError(*complaints)


def refuse_unsigned_rows(signed_for: str | None, told: str) -> None:
    """Whoever has signed for rows puts in those and no others: `told` is the mark of what is there now."""
    if signed_for not in {None, told}:
        raise InputError(
            "these are not the rows that were signed for: bring those, or look at these and run "
            "`privet joint sign --data` again"
        )
