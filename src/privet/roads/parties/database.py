"""One site of a virtual database, beside its own data: make it with the others, and answer questions."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from privet import jsonvalue
from privet.core import Form
from privet.engine import Engine
from privet.errors import InputError, PolicyError, PrivetError
from privet.parties.primitives.extremes import Ints
from privet.parties.rows import UNTOLD, Rows
from privet.parties.transport import Link
from privet.parties.virtual.contract import DatabaseContract
from privet.parties.virtual.growing import grown
from privet.parties.virtual.memory import FILE as HEARD
from privet.parties.virtual.memory import Memory
from privet.parties.virtual.sites import Among
from privet.parties.virtual.table import LocalTable
from privet.release import private_folder
from privet.roads.parties.concluding import AllSign
from privet.roads.parties.party import agreed_codes, named
from privet.roads.parties.release import Run
from privet.roads.parties.results import NOTE, keep, note_of
from privet.roads.stations import in_frame, settle

ROWS, CONTRACT, BOXES = "rows.json", "contract.json", "boxes.csv"


def make_together(
    link: Link, contract: DatabaseContract, source: Any, engine: Engine[Any], rows: Rows = UNTOLD
) -> LocalTable:
    """Anonymise with the other sites; this site's part of what comes out.

    Ties at a median fall by chance, so the same rows need not make the same boxes again: there is no result
    by which another could be known.
    """
    try:
        quasi, sensitive = coded(contract, source, engine)
    except PrivetError as error:
        raise named(link, error) from None
    rows.open(link)
    sites = Among(link, contract.adding)
    return LocalTable.of(grown(quasi, contract.widths, contract.rules, sites), sensitive)


def coded(contract: DatabaseContract, source: Any, engine: Engine[Any]) -> tuple[Ints, Ints]:
    """The rows of a source as agreed codes: quasi-identifiers, and sensitive columns."""
    columns = list(contract.domains)
    frame = in_frame(engine, engine.read(source, settle(source, Form()), columns))

    def table(names: list[str]) -> Ints:
        found = [agreed_codes(frame, name, contract.domains[name]) for name in names]
        return np.stack(found, axis=1) if found else np.zeros((frame.height, 0), dtype=np.int64)

    return table(list(contract.quasi)), table(list(contract.sensitive))


def keep_together(
    folder: Path, contract: DatabaseContract, run: Run, table: LocalTable, sign: AllSign | None
) -> Path:
    """Boxes and note, the same at all sites and signed by all; this site's rows apart."""
    files = {BOXES: table.boxes(contract).encode(), NOTE: note_of("database", contract, run)}
    agreed = json.dumps(contract.to_document()).encode()
    return keep(folder, files, {ROWS: table.to_bytes(), CONTRACT: agreed}, sign)


def kept(folder: Path) -> tuple[DatabaseContract, LocalTable]:
    """The contract of a database that was made, and this site's part of it."""
    apart = private_folder(folder)
    try:
        agreed = jsonvalue.loads((apart / CONTRACT).read_text(encoding="utf-8"))
        text = (apart / ROWS).read_bytes()
        contract = DatabaseContract.from_document(agreed)
    except (OSError, ValueError, AttributeError, PolicyError):
        raise InputError(
            "this site's part of the virtual database is gone or damaged; make it anew"
        ) from None
    return contract, LocalTable.from_bytes(text, contract)


def heard(folder: Path, secret: bytes) -> Memory:
    """What this site has heard in answers of a database that was made; what it hears is written there.

    `secret`: of this site, and not in that folder: whoever damages it need not be believed.
    """
    place = private_folder(folder) / HEARD

    def save(text: bytes) -> None:
        fresh = place.with_name(f".{place.name}.new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(place)

    try:
        return Memory.from_bytes(place.read_bytes(), save, secret=secret)
    except FileNotFoundError:
        return Memory(save=save, secret=secret)
