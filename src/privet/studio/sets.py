"""Sets of items on the page of columns: where they may be in a file, and which items are common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from privet.core import Form
from privet.drafts.draft import Draft, draft
from privet.drafts.text import said
from privet.engines import text
from privet.errors import InputError, PrivetError
from privet.policy.values import Policy
from privet.registry import find
from privet.roads.transactions.check import read_sets
from privet.roads.transactions.draft import guess
from privet.roads.transactions.shape import Layout
from privet.studio.seen import SHOWN, Column, columns_of
from privet.studio.shape import TRANSACTIONS, Taken

NAMED = ("set", "person", "item")  # what columns a form may name


@dataclass(frozen=True)
class Items:
    """The items of all sets; a complaint, where they cannot be read yet."""

    records: int = 0
    different: int = 0
    common: tuple[tuple[str, int], ...] = field(default=(), repr=False)
    every: tuple[str, ...] = field(default=(), repr=False)
    complaint: str = ""


@dataclass(frozen=True)
class Guessed:
    """Where the sets may be, and what stands beside them."""

    found: Mapping[str, Any]
    drafted: Draft | None  # None: lines of items, and nothing beside
    columns: tuple[Column, ...]
    items: Items

    def dumps(self) -> str:
        """A draft: every column beside the sets undecided, nothing promised."""
        document: dict[str, Any] = {"policy": 1, "kind": TRANSACTIONS, "purpose": ""}
        if self.drafted is not None:
            document["form"] = said(self.drafted.form)
        document["transactions"] = dict(self.found)
        beside = [one.name for one in self.columns if one.name not in of_sets(self.found)]
        if beside:
            document["attributes"] = {name: {"role": "undecided"} for name in beside}
        return tomli_w.dumps(document)


def of_sets(found: Mapping[str, Any]) -> set[str]:
    """The columns that the sets are read from."""
    return {str(found[key]) for key in NAMED if key in found}


def guessed(source: str, taken: Taken) -> Guessed:
    """Look at a file as one of sets; `taken` is what a policy says already of where and how they are."""
    if text.is_url(source):
        raise InputError("sets of items are read from a file")
    form = taken.read_as(None)
    found = taken.where or guess(Path(source), form)
    if found.get("form") == Layout.BASKETS.value:
        return Guessed(found, None, (), items_of(source, found, taken.own))
    drafted = draft(source, form, guess_encoding=not taken.is_encoded)
    drafted = replace(drafted, form=taken.formed(drafted.form))
    columns = tuple(columns_of(source, drafted))
    return Guessed(found, drafted, columns, items_of(source, found, drafted.form))


def items_of(source: str, found: Mapping[str, Any], form: Form | None) -> Items:
    """Every item and how many records have it."""
    document: dict[str, Any] = {"policy": 1, "kind": TRANSACTIONS, "transactions": dict(found)}
    document["models"] = [{"type": "km-anonymity", "m": 1, "k": 1}]  # asks for nothing
    document["transactions"].pop("hierarchy", None)
    if form is not None:
        document["form"] = said(form)
    try:
        sets = read_sets(
            source, Policy.from_document(document, base=Path()), find("engines", "embedded")()
        ).baskets
    except PrivetError as error:
        return Items(complaint=error.complaints[0])
    supports = sets.supports
    there = np.flatnonzero(supports)
    often = there[np.argsort(-supports[there], kind="stable")][:SHOWN]
    return Items(
        sets.records,
        len(there),
        tuple((sets.items[at], int(supports[at])) for at in often),
        tuple(sets.items[at] for at in there),
    )
