"""Every kind of document that parties sign, from its file; and what each party would learn under it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from privet.core import Form
from privet.parties import learned
from privet.parties.agreement import read
from privet.parties.contract import Contract
from privet.parties.itemsets import MiningContract
from privet.parties.virtual.contract import DatabaseContract

Signed: TypeAlias = Contract | MiningContract | DatabaseContract


def load(path: Path) -> Signed:
    """The document in a file, of whichever kind it says it is."""
    document = read(path)
    if "mining" in document:
        return MiningContract.load(path)
    return DatabaseContract.load(path) if "database" in document else Contract.load(path)


def form(agreed: Signed) -> Form:
    """How files with rows are written, as far as it is agreed on."""
    return agreed.policy.form if isinstance(agreed, Contract) else Form()


def saw(agreed: Signed) -> dict[str, tuple[str, ...]]:
    """By party what it comes to know beside the result, in plain words."""
    if isinstance(agreed, Contract):
        return learned.learned(agreed)
    if isinstance(agreed, MiningContract):
        return dict.fromkeys(agreed.parties, agreed.learned)
    return agreed.learned


def together(agreed: Signed) -> tuple[str, ...]:
    """Who could learn more by putting their notes together."""
    return learned.coalitions(agreed) if isinstance(agreed, Contract) else agreed.coalitions
