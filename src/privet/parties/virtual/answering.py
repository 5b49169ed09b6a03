"""An answer of the virtual database: the matching rows of all sites, and not whose they are.

Groups are united whole and once (`memory`): the rows of a box that no question has asked for before are
united (`union`) among so many decoys as keep the agreed loss of privacy, and all sites remember them. What
matches, and what of it the guard lets pass, every site then selects by itself. A decoy looks like any row:
one of the matching boxes with any sensitive values.

Trust: see `union`.
Leaks: to all sites, the question, the rows of all boxes that it asks for, and a bag of rows and decoys; which
boxes of a question a site remembers; whether anybody says that what came out is not what went in.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod

import numpy as np

from privet.errors import InternalError, PartyError, UnsupportedError
from privet.parties.primitives.extremes import Ints
from privet.parties.primitives.objection import ObjectedError
from privet.parties.primitives.union import LARGEST, union
from privet.parties.transport import Link
from privet.parties.virtual.asking import Question
from privet.parties.virtual.contract import DatabaseContract, Guard
from privet.parties.virtual.exposure import Asked
from privet.parties.virtual.memory import DAMAGED, SEAL, Memory
from privet.parties.virtual.table import LocalTable


@dataclass(frozen=True)
class Answer:
    """Rows of the virtual database, in an order that tells nothing, and how they were hidden."""

    rows: tuple[tuple[str, ...], ...] = field(repr=False)  # quasi-identifiers as published, sensitive values
    columns: tuple[str, ...]
    matched: int  # rows, before the guard
    decoys: int  # at least so many
    domain: int  # rows that could be

    @property
    def suppressed(self) -> int:
        return self.matched - len(self.rows)


def answered(
    link: Link, contract: DatabaseContract, table: LocalTable, question: Question, memory: Memory
) -> Answer:
    """The rows of all sites that match; every site learns the groups that they are in."""
    question.refuse(contract)
    _same_question(link, table, question)
    columns = (*contract.quasi, *contract.sensitive)
    boxes = np.flatnonzero(question.boxes(table.low, table.high, contract))
    sizes = [len(values) for values in contract.sensitive.values()]
    domain = len(boxes) * prod(sizes)
    if not domain:
        return Answer((), columns, 0, 0, 0)
    if domain > 1 << 61:
        raise UnsupportedError("more rows could be than decoys can be drawn of: ask for fewer boxes")
    database = _database(contract, table)
    fresh = _recalled(link, table, memory, boxes.tolist(), sizes, database)
    decoys = _united(link, contract, table, memory, fresh, database) if fresh else 0
    box, packed = memory.rows(boxes.tolist())
    sensitive = _unpacked(packed, sizes)
    fits = question.rows(sensitive, contract)
    group = table.classes()[box]
    if contract.guard is Guard.WHOLE_CLASS and question.names_sensitive(contract):
        fits = np.isin(group, group[fits])
    large = np.bincount(group[fits], minlength=len(table.low))[group] >= contract.rules.k
    shown = np.flatnonzero(fits & large)
    rows = _labelled(box[shown], sensitive[shown], table, contract)
    return Answer(rows, columns, int(fits.sum()), decoys, domain)


def _database(contract: DatabaseContract, table: LocalTable) -> bytes:
    """What seals are for: these boxes under this contract."""
    text = json.dumps([table.low.tolist(), table.high.tolist(), table.sizes.tolist()])
    return sha256(contract.digest + text.encode()).digest()


def _recalled(  # noqa: PLR0917 - a site, what it remembers, and what is asked
    link: Link, table: LocalTable, memory: Memory, boxes: list[int], sizes: list[int], database: bytes
) -> list[int]:
    """Boxes that no site remembers; of the others those who have forgotten are told by those who have not.

    Nothing that is told is compared with one's own rows: whether it fits would tell who has which.
    """
    mine = memory.knows(boxes)
    _refuse_damaged(link, memory, np.array(boxes)[mine].tolist(), database)
    link.broadcast_words("known", mine.astype(np.uint8))
    known = [
        mine if party == link.me else link.receive_words(party, "known", len(boxes), np.uint8) == 1
        for party in range(link.parties)
    ]
    places = np.array(boxes, dtype=np.int64)
    teller = np.argmax(known, axis=0)  # the first that knows
    told = np.any(known, axis=0)
    for party in range(link.parties):
        lost = [places[told & (teller == one) & ~known[party]] for one in range(link.parties)]
        for one, some in enumerate(lost):
            if not len(some) or link.me not in {one, party}:
                continue
            if link.me == one:
                link.send_words(party, "recalled", memory.rows(some.tolist())[1].astype(np.uint64))
                link.send(party, "seals", _all_seals(link, memory, some.tolist()))
                continue
            packed = link.receive_words(one, "recalled", int(table.sizes[some].sum()), np.uint64)
            said = link.receive(one, "seals", SEAL * link.parties * len(some))
            seals = np.frombuffer(said, dtype=np.uint8).reshape(len(some), link.parties, SEAL)
            if (packed >= prod(sizes)).any():
                raise PartyError(f"{link.name(one)}: recalls a row that is not of the domain")
            where, codes = np.repeat(some, table.sizes[some]), packed.astype(np.int64)
            mine_too = b"".join(
                memory.seal(database, box, codes[where == box].tolist()) for box in some.tolist()
            )
            if not hmac.compare_digest(seals[:, link.me].tobytes(), mine_too):
                raise PartyError(f"{link.name(one)}: recalls rows that we never united with it")
            everybodys = {
                box: {link.name(at): seals[number, at].tobytes().hex() for at in range(link.parties)}
                for number, box in enumerate(some.tolist())
            }
            memory.learn(some.tolist(), where, codes, everybodys)
    return [int(box) for box in places[~told]]


def _all_seals(link: Link, memory: Memory, boxes: list[int]) -> bytes:
    """By box and site: who is told again can tell others again, too."""
    sites = [link.name(at) for at in range(link.parties)]
    return b"".join(memory.seal_of(site, box) for box in boxes for site in sites)


def _refuse_damaged(link: Link, memory: Memory, boxes: list[int], database: bytes) -> None:
    """What this site remembers has its own seal: it was united, and nobody has changed it since."""
    me = link.name(link.me)
    for box in boxes:
        own = memory.seal(database, box, memory.rows([box])[1].tolist())
        if not hmac.compare_digest(own, memory.seal_of(me, box)):
            raise PartyError(f"{me}: {DAMAGED}")


def _reserved(link: Link, memory: Memory, boxes: list[int]) -> None:
    """All sites can unite these boxes now, or none begins: where one only refuses nothing is counted."""
    why = memory.reserved(boxes)
    try:
        link.broadcast_words("ready", np.array([not why], dtype=np.uint8))
        busy = [party for party in link.others if link.receive_words(party, "ready", 1, np.uint8)[0] != 1]
    except PartyError:
        memory.end([] if why else boxes)
        raise
    if why:
        raise PartyError(f"{link.name(link.me)}: {why}")
    if busy:
        memory.end(boxes)
        raise PartyError(f"{link.name(busy[0])}: does not unite these rows now; ask again, or its steward")


def _united(  # noqa: PLR0917 - as above
    link: Link,
    contract: DatabaseContract,
    table: LocalTable,
    memory: Memory,
    boxes: list[int],
    database: bytes,
) -> int:
    """Unite all rows of some boxes, and remember them; among how many decoys."""
    sizes = [len(values) for values in contract.sensitive.values()]
    values, matched = prod(sizes), int(table.sizes[boxes].sum())
    domain = len(boxes) * values
    decoys = contract.decoys if contract.decoys is not None else _planned(contract, domain, matched)
    if decoys * 2 + matched > LARGEST:
        raise UnsupportedError(
            f"an answer of {matched:,} rows would take {decoys:,} decoys: ask for less, or agree on more loss"
        )
    number = np.full(len(table.low), -1)
    number[boxes] = np.arange(len(boxes))
    mine = number[table.leaf] >= 0
    items = number[table.leaf[mine]] * values + _packed(table.sensitive[mine], sizes)
    _reserved(link, memory, boxes)
    try:
        memory.begin(boxes)
        where, packed = _come_out(link, table, boxes, items, values, decoys)
        memory.learn(boxes, where, packed, _sealed(link, memory, boxes, where, packed, database))
    except ObjectedError:  # no accident: a party has changed something, and is not given a second go
        memory.spoil(boxes)
        raise
    finally:
        memory.end(boxes)
    return decoys


def _come_out(  # noqa: PLR0917 - as above
    link: Link, table: LocalTable, boxes: list[int], items: Ints, values: int, decoys: int
) -> tuple[Ints, Ints]:
    """By row of these boxes its box and its packed sensitive values."""
    found = np.array(union(link, items.tolist(), len(boxes) * values, decoys), dtype=np.int64)
    at, packed = np.divmod(found, values)
    if (np.bincount(at, minlength=len(boxes)) != table.sizes[boxes]).any():
        raise ObjectedError("other rows were handed in than were counted when the database was made")
    return np.array(boxes, dtype=np.int64)[at], packed


def _sealed(  # noqa: PLR0917 - as above
    link: Link, memory: Memory, boxes: list[int], where: Ints, packed: Ints, database: bytes
) -> dict[int, dict[str, str]]:
    """By box what every site puts to its rows, so that it can be told them again, and knows them again."""
    mine = b"".join(memory.seal(database, box, packed[where == box].tolist()) for box in boxes)
    for party in link.others:
        link.send(party, "seals", mine)
    found: dict[int, dict[str, str]] = {box: {} for box in boxes}
    for party in range(link.parties):
        said = mine if party == link.me else link.receive(party, "seals", len(mine))
        for at, box in enumerate(boxes):
            found[box][link.name(party)] = said[at * SEAL : (at + 1) * SEAL].hex()
    return found


def _same_question(link: Link, table: LocalTable, question: Question) -> None:
    """All sites were asked the same of the same database, or nobody answers."""
    text = json.dumps([question.to_document(), table.low.tolist(), table.high.tolist(), table.sizes.tolist()])
    mine = sha256(text.encode()).digest()
    for party in link.others:
        link.send(party, "question", mine)
    for party in link.others:
        if link.receive(party, "question", len(mine)) != mine:
            raise PartyError(f"{link.name(party)}: was asked something else, or has another database")


def _planned(contract: DatabaseContract, domain: int, matched: int) -> int:
    if contract.loss is None:
        raise InternalError("a contract has a loss or a number of decoys")
    asked = Asked(domain, min(matched, domain), len(contract.parties))
    return asked.decoys(contract.loss, contract.exposure)


def _packed(sensitive: Ints, sizes: list[int]) -> Ints:
    """The sensitive values of each row as one number."""
    found = np.zeros(len(sensitive), dtype=np.int64)
    for at, size in enumerate(sizes):
        found = found * size + sensitive[:, at]
    return found


def _unpacked(packed: Ints, sizes: list[int]) -> Ints:
    found = np.zeros((len(packed), len(sizes)), dtype=np.int64)
    for at in range(len(sizes) - 1, -1, -1):
        packed, found[:, at] = np.divmod(packed, sizes[at])
    return found


def _labelled(
    box: Ints, sensitive: Ints, table: LocalTable, contract: DatabaseContract
) -> tuple[tuple[str, ...], ...]:
    """Rows of text, by box and by value, so that their order tells nothing."""
    labels = {int(one): table.label(int(one), contract) for one in np.unique(box)}
    values = list(contract.sensitive.values())
    return tuple(
        (*labels[where], *("" if (v := values[at][code]) is None else str(v) for at, code in enumerate(row)))
        for where, row in zip(box.tolist(), sensitive.tolist(), strict=True)
    )
