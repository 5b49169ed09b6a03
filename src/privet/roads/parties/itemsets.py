"""One party that mines with others, beside its own data: read it, number its items as agreed, mine."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from privet.core import Form
from privet.engine import Engine
from privet.engines.frames import encode
from privet.equality import classes, finder
from privet.errors import InputError, PartyError, PrivetError
from privet.parties.itemsets import MiningContract
from privet.parties.mining import Itemset, Table, by_columns, by_people
from privet.parties.primitives.intersection import common
from privet.parties.rows import UNTOLD, Rows
from privet.parties.transport import Link
from privet.parties.words import Split
from privet.roads.parties.concluding import AllSign
from privet.roads.parties.release import Run
from privet.roads.parties.results import NOTE, keep, note_of
from privet.roads.stations import in_frame, settle

ITEMSETS = "itemsets.csv"


def mine_together(
    link: Link, contract: MiningContract, source: Any, engine: Engine[Any], rows: Rows = UNTOLD
) -> dict[tuple[str, ...], int]:
    """The itemsets that are frequent with all parties together, and how many persons have each."""
    try:
        persons, table = table_of(contract, source, engine)
        if contract.split is Split.COLUMNS:
            theirs = [at for at, item in enumerate(contract.items) if item not in _mine(link, contract)]
            if table[:, theirs].any():
                raise InputError("the data has items that the contract gives to the other party")
        rows.open(link)
        if contract.split is Split.COLUMNS:
            order = common(link, persons)
    except PartyError:
        raise
    except PrivetError as error:
        me = link.name(link.me)
        raise type(error)(*(f"{me}: {complaint}" for complaint in error.complaints)) from None
    found: dict[Itemset, int]
    if contract.split is Split.PEOPLE:
        found = by_people(link, table, contract.support)
    else:
        if not len(order):
            raise InputError("there is not one person that both parties know")
        owners = {item: at for at, p in enumerate(contract.parties) for item in contract.owners.get(p, ())}
        found = by_columns(link, table[order], [owners[item] for item in contract.items], contract.support)
    named = {tuple(contract.items[at] for at in one): count for one, count in found.items()}
    rows.opened(as_csv(named).encode())
    return named


def table_of(contract: MiningContract, source: Any, engine: Engine[Any]) -> tuple[list[str], Table]:
    """The persons of a source in the order of their names, and which items each has."""
    columns = [contract.person, contract.item]
    frame = in_frame(engine, engine.read(source, settle(source, Form()), columns))
    coded = encode(frame.select(columns))
    (whose, persons), (which, items) = coded[contract.person], coded[contract.item]
    if None in persons or None in items:
        raise InputError("a row lacks its person or its item")
    number = finder({item: at for at, item in enumerate(contract.items)})
    agreed = [number(item) for item in items]
    if strange := agreed.count(None):
        raise InputError(f"{contract.item}: {strange} items are not among those that the contract lists")
    same = classes(persons)
    place = {spelt: at for at, spellings in enumerate(same.values()) for spelt in spellings}
    person = np.array([place[spelt] for spelt in persons], dtype=np.intp)
    table = np.zeros((len(same), len(contract.items)), dtype=bool)
    table[person[whose], np.array(agreed, dtype=np.intp)[which]] = True
    return [str(one) for one in same], table


def _mine(link: Link, contract: MiningContract) -> tuple[str, ...]:
    return contract.owners.get(link.name(link.me), ())


def keep_itemsets(
    folder: Path,
    contract: MiningContract,
    run: Run,
    itemsets: Mapping[tuple[str, ...], int],
    sign: AllSign | None,
) -> Path:
    """The itemsets, the same at all parties and signed by all."""
    files = {ITEMSETS: as_csv(itemsets).encode(), NOTE: note_of("itemsets", contract, run)}
    return keep(folder, files, {}, sign)


def as_csv(itemsets: Mapping[tuple[str, ...], int]) -> str:
    """One itemset a row, its items as JSON, and how many persons have it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["items", "persons"])
    ordered = sorted(itemsets.items(), key=lambda one: (len(one[0]), one[0]))
    rows.writerows([json.dumps(list(one), ensure_ascii=False), n] for one, n in ordered)
    return text.getvalue()
