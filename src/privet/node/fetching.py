"""A release from the node that holds it: taken file by file, verified whole, and only then in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from privet.errors import InputError, TamperedError
from privet.evidence import folder as ev
from privet.evidence import sealed
from privet.evidence.signing import Asked
from privet.node.calling import Caller
from privet.node.house import House
from privet.parties.agreements import Signed
from privet.parties.contract import Contract
from privet.placing import aside
from privet.roads.parties import results
from privet.verification import verify

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
FILES = 20  # of a joint release


def fetched(house: House, contract: Signed, sessions: Sequence[str], output: Path, peer: str | None) -> Path:
    """The release of the first of these runs that is there, from this node or a peer's."""
    if output.exists():
        raise InputError(f"{output}: there is something already; choose another name")
    holder = house.me() if peer is None else house.peers()[peer]
    caller = Caller(house.folder, holder)
    try:
        with aside(output) as made:
            fresh = made.fresh(output.name)
            for session in sessions:
                status, said = caller.call("GET", f"/v1/releases/{session}")
                names = said.get("files")
                if status == 200 and isinstance(names, list):
                    break
            else:
                raise InputError(f"{holder.name}: has no release of this contract")
            if len(names) > FILES or not all(isinstance(n, str) and NAME.fullmatch(n) for n in names):
                raise TamperedError(f"{holder.name}: offers files that are not of a release")
            fresh.mkdir()
            for name in names:
                most = sealed.SMALL.get(name, sealed.LARGEST)
                if not caller.file(f"/v1/releases/{session}/{name}", fresh / name, most):
                    raise TamperedError(f"{holder.name}: offers {name} and does not give it")
            if found := complaints(fresh, contract):
                raise TamperedError(*(f"{holder.name}: {complaint}" for complaint in found))
            made.place([output.name])
    finally:
        caller.close()
    return output


def complaints(folder: Path, contract: Signed) -> list[str]:
    """What is wrong with a folder that should be the result of a contract, signed by all of its parties."""
    if not isinstance(contract, Contract):
        return results.complaints(folder, contract)
    asked = Asked({key: party for party, key in contract.keys.items()})
    found = verify(folder, signers=asked)
    said = list(found.complaints)
    said += [
        f"{model.name}: this promise is broken" for model, verdict in found.verdicts if not verdict.holds
    ]
    note = ev.read(folder).joint
    if note is None or note.contract != contract.digest.hex():
        said.append("joint: the evidence speaks of another contract")
    if not contract.keys:
        said.append("the contract names no keys, so nobody can have signed")
    return said
