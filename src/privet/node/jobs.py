"""What a run does under each kind of contract, from the greeting to the result that all have signed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.core import Purse
from privet.engine import Engine
from privet.errors import PrivetError
from privet.evidence.signing import PrivateKey
from privet.parties.agreements import Signed
from privet.parties.contract import Contract
from privet.parties.itemsets import MiningContract
from privet.parties.noisy.known import spent
from privet.parties.rows import UNTOLD, Rows
from privet.parties.transport import Link
from privet.roads.parties.concluding import AllSign, greet
from privet.roads.parties.database import keep_together, make_together
from privet.roads.parties.itemsets import keep_itemsets, mine_together
from privet.roads.parties.party import publish_together


@dataclass(frozen=True)
class Job:
    """One party's part of a run."""

    agreed: Signed
    source: Any
    engine: Engine[Any]
    certificate: bytes  # the digest of the one that this node shows
    key: PrivateKey
    purse: Purse | None = None  # what pays, where the contract spends
    rows: Rows = UNTOLD
    before: Callable[[], None] = lambda: None  # before it is signed, and may refuse
    leaving: Callable[[], None] = lambda: None  # before our signature goes out

    def carried_out(self, link: Link, folder: Path) -> None:
        """Do it with the others; the result stands in the folder, signed by all, or this raises."""
        agreed, source, engine = self.agreed, self.source, self.engine
        sign = AllSign(link, agreed, self.key, self.before, self.leaving)
        if isinstance(agreed, Contract):
            _, release = publish_together(
                link,
                agreed,
                source,
                engine,
                certificate=self.certificate,
                rows=self.rows,
                purse=self.purse,
            )
            try:
                release.write(folder, sign=sign)
            except PrivetError as error:
                if agreed.noisy is None:
                    raise
                raise type(error)(*error.complaints, spent(agreed.policy)) from None
            return
        run = greet(link, self.certificate, self.rows)
        if isinstance(agreed, MiningContract):
            keep_itemsets(folder, agreed, run, mine_together(link, agreed, source, engine, self.rows), sign)
        else:
            keep_together(folder, agreed, run, make_together(link, agreed, source, engine, self.rows), sign)
