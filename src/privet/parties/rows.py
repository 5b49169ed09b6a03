"""Which rows a party puts in: by a mark that says whether they are the same, and nothing else of them.

A contract says how rows are published, not which rows. Two things would go unseen without more: rows that
were changed after a steward had looked at them and signed; and a contract that is run twice, where a party
has put others in between: who has both tables can take one from the other, and is left with what no promise
covers. So a party may sign for its rows (`signing`), every party tells the others the mark of those that go
in, and those of a run whose search has begun are remembered: every decision tells of the rows, and whoever
has seen a table has it, whether or not it was signed. What came out is remembered, too (`opened`): the same
rows make the same again, so a party that says the same and puts in others is found out, once.

A mark is keyed with its owner's private key and holds the contract's digest: it confirms no guess, and of two
contracts it does not even tell whether the rows were the same.

Trust: a party that lies about its rows is not caught in one run; of two runs, when other rows make another
result. One whose rows were changed unseen is.
Leaks: whether a party's rows are those of an earlier run of the same contract.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from privet.errors import PartyError
from privet.parties.agreement import Agreement
from privet.parties.signing import Key
from privet.parties.transport import Link

SECRET = b"privet joint rows: this is signed to have a secret, and never shown"
SIZE = 32  # bytes of a mark
NONE = bytes(SIZE)  # in a rehearsal, and of a question
OTHERS = (
    "has other rows than when this contract was run before: who has both tables can take one from the other, "
    "and no promise covers what is left; --again does it all the same"
)


def mark(key: Key, contract: Agreement, content: bytes) -> bytes:
    """What rows with this digest are known by under a contract; only the key's owner can make it."""
    secret = sha256(key.sign(SECRET)).digest()
    return hmac.digest(secret, contract.digest + content, "sha256")


def _nowhere(*_: object) -> None:
    """Nothing is remembered."""


@dataclass(frozen=True)
class Rows:
    """The marks of one run, as one party tells, hears and remembers them."""

    mine: bytes = NONE
    signed: Mapping[str, str] = field(default_factory=dict)  # by party the mark that it has signed for
    before: tuple[Mapping[str, str], ...] = ()  # of earlier runs whose result must be this one's
    remember: Callable[[Mapping[str, str]], None] = _nowhere
    opening: Callable[[], None] = _nowhere  # from here on parties may see something of the rows
    paid: Callable[[], None] = _nowhere  # a ledger has it: what is seen from here on has its price
    opened: Callable[[bytes], None] = (
        _nowhere  # what came out; refuses what the same rows did not make before
    )

    def open(self, link: Link) -> None:
        """All parties have read their rows and found nothing wrong; what any of them sees now counts.

        Whoever has to correct its rows first has not made the others see anything.
        """
        link.broadcast_words("rows read", np.ones(1, dtype=np.uint8))
        for party in link.others:
            link.receive_words(party, "rows read", 1, np.uint8)
        self.opening()

    def heard(self, told: Mapping[str, bytes]) -> None:
        """By party what each told; refuses rows that are not those that were signed for, or published."""
        marks = {party: one.hex() for party, one in told.items() if one != NONE}
        for party, one in self.signed.items():
            if marks.get(party) != one:
                raise PartyError(f"{party}: has other rows than those that it has signed for")
        for earlier in self.before:
            if others := _differing(earlier, marks):
                raise PartyError(f"{others[0]}: {OTHERS}")
        if marks:
            self.remember(marks)


def _differing(earlier: Mapping[str, str], marks: Mapping[str, str]) -> list[str]:
    known: Iterable[tuple[str, str]] = earlier.items()
    return [party for party, one in known if marks.get(party) != one]


UNTOLD = Rows()
