"""What parties found together, kept by each: files that are the same everywhere, compared, and signed by all.

A release is one kind of result and has its own writer. The others (itemsets, the boxes of a virtual database)
are a folder with a note beside the files: which contract, which run, who took part, what each saw. Before it
stands in its place the parties compare digests and sign (`concluding`). What only this party may see lies in
a folder of its own and is placed in the same step.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privet import jsonvalue
from privet.errors import InputError
from privet.evidence import signing
from privet.parties.agreement import Agreement
from privet.parties.agreements import Signed, saw, together
from privet.placing import aside
from privet.release import private_folder
from privet.roads.parties.concluding import AllSign
from privet.roads.parties.release import Run, parties_note

NOTE = "joint.json"
LONGEST = 1 << 22  # bytes of a note


def note_of(kind: str, agreed: Signed, run: Run, **more: Any) -> bytes:
    """What stands beside the files; the same at every party."""
    said = {
        "joint": 1,
        "kind": kind,
        "contract": agreed.digest.hex(),
        "session": run.session,
        "made": run.moment,
        "parties": parties_note(agreed, saw(agreed), run),
        "together": list(together(agreed)),
        **({"rehearsed": True} if run.rehearsed else {}),
        **more,
    }
    return (json.dumps(said, indent=1, ensure_ascii=False) + "\n").encode()


def keep(
    folder: Path, files: Mapping[str, bytes], private: Mapping[str, bytes], sign: AllSign | None
) -> Path:
    """Write, compare, sign, and only then put everything in its place."""
    if folder.exists():
        raise InputError(f"{folder}: there is something already; choose another name")
    apart = private_folder(folder)
    with aside(folder) as made:
        fresh = made.fresh(folder.name)
        _written(fresh, files, 0o755)
        names = [folder.name]
        if private:
            _written(made.fresh(apart.name), private, 0o700)
            names.insert(0, apart.name)
        if sign is not None:
            sign.put(fresh)
        made.place(names)
    return folder


def complaints(folder: Path, agreed: Agreement) -> list[str]:
    """What is wrong with a folder that should be a result under a contract, signed by all of its parties."""
    try:
        with (folder / NOTE).open("rb") as file:
            note = jsonvalue.loads(file.read(LONGEST).decode())
        contract = note["contract"]
    except (OSError, ValueError, KeyError, TypeError):
        return [f"{NOTE}: this is not the note of a joint result"]
    found = [] if contract == agreed.digest.hex() else ["joint: the note speaks of another contract"]
    signed: Sequence[signing.Signed] = signing.checked(folder)
    valid = {one.signature.key for one in signed if one.valid}
    found += [f"not signed by {party}" for party, key in agreed.keys.items() if key not in valid]
    if any(not one.valid for one in signed):
        found.append("a signature is not one of these files")
    return found if agreed.keys else [*found, "the contract names no keys, so nobody can have signed"]


def _written(folder: Path, files: Mapping[str, bytes], mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    for name, text in files.items():
        (folder / name).write_bytes(text)
