"""An answer of the virtual database: the matching rows of all sites, and not whose they are.

Every site selects from its own part. How many rows match in all is added up, so that everybody knows how many
decoys it takes to keep the agreed loss of privacy; then the rows are united (`union`). A decoy looks like any
row: one of the matching boxes with any sensitive values. Whoever leads the union leaves out what the guard
does not let pass, before anybody else sees the answer.

Trust: see `union`.
Leaks: to all sites, the question, how many rows match, the answer, and a bag of rows and decoys. With
guard = "whole-class" also, to the first site, how many rows of each group match, and to all which groups do.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod

import numpy as np

from privet.errors import InternalError, PartyError, UnsupportedError
from privet.parties.primitives.extremes import Ints, Mask
from privet.parties.primitives.union import LARGEST, union
from privet.parties.transport import Link
from privet.parties.virtual.asking import Question
from privet.parties.virtual.contract import DatabaseContract, Guard
from privet.parties.virtual.exposure import Asked
from privet.parties.virtual.sites import Among
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


def answered(link: Link, contract: DatabaseContract, table: LocalTable, question: Question) -> Answer:
    """The rows of all sites that match; every site learns them."""
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
    sites = Among(link, contract.adding)
    number = np.full(len(table.low), -1)
    number[boxes] = np.arange(len(boxes))
    which = number[table.leaf] >= 0
    fits = which & question.rows(table.sensitive, contract)
    classes = table.classes()
    if contract.guard is Guard.WHOLE_CLASS and question.names_sensitive(contract):
        fits = which & _whole(sites, classes, table.leaf[fits])[table.leaf]
    mine = _packed(number[table.leaf[fits]], table.sensitive[fits], sizes)
    total = sites.total(np.array([len(mine)], dtype=np.uint32))
    matched = int(sites.tell("matched", total, 1, np.uint32)[0])
    decoys = contract.decoys if contract.decoys is not None else _planned(contract, domain, matched)
    if decoys * 2 + matched > LARGEST:
        raise UnsupportedError(
            f"an answer of {matched:,} rows would take {decoys:,} decoys: ask for less, or agree on more loss"
        )
    of_class = classes[boxes]

    def guarded(items: list[int]) -> list[int]:
        """Groups that are answered in part and too small are left out."""
        here = of_class[np.array(items, dtype=np.int64) // prod(sizes)].tolist()
        count = Counter(here)
        return [item for item, group in zip(items, here, strict=True) if count[group] >= contract.rules.k]

    found = np.array(union(link, mine.tolist(), domain, decoys, guarded), dtype=np.int64)
    return Answer(_labelled(found, boxes, table, contract, sizes), columns, matched, decoys, domain)


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


def _whole(sites: Among, classes: Ints, matching: Ints) -> Mask:
    """By leaf whether its group has a matching row at any site."""
    groups = int(classes.max()) + 1
    total = sites.total(np.bincount(classes[matching], minlength=groups).astype(np.uint32))
    said = None if total is None else (total > 0).astype(np.uint8)
    found: Mask = sites.tell("groups", said, groups, np.uint8).astype(bool)[classes]
    return found


def _packed(box: Ints, sensitive: Ints, sizes: list[int]) -> Ints:
    found = box.astype(np.int64)
    for at, size in enumerate(sizes):
        found = found * size + sensitive[:, at]
    return found


def _labelled(
    items: Ints, boxes: Ints, table: LocalTable, contract: DatabaseContract, sizes: list[int]
) -> tuple[tuple[str, ...], ...]:
    """Items as rows of text; a union comes sorted, so that their order tells nothing."""
    codes = []
    rest = items
    for size in reversed(sizes):
        rest, code = np.divmod(rest, size)
        codes.append(code)
    codes.reverse()
    labels = {int(box): table.label(int(box), contract) for box in np.unique(boxes[rest])}
    values = list(contract.sensitive.values())
    return tuple(
        (
            *labels[int(boxes[box])],
            *("" if (v := values[at][code[row]]) is None else str(v) for at, code in enumerate(codes)),
        )
        for row, box in enumerate(rest.tolist())
    )
