"""What a publisher's process does, for the tests that kill it: pay, draw, write, mark, put in place.

Run as a program it is a nursery: for each line of input, the name of a folder, it forks a publisher and
says its process id, and when that publisher is gone it says what ended it. So no kill waits for Python
to start.
"""

from __future__ import annotations

import hashlib
import os
import sys
from fractions import Fraction
from pathlib import Path

from privet.dp.exact import Exact
from privet.dp.ledger import Ledger
from privet.dp.spend import Charge
from privet.errors import BudgetError

BUDGET = Fraction(10_000)
EACH = Fraction(1, 10)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def release_until_killed(folder: Path) -> None:
    """Release n, n + 1, ...; beginning with the last name in use, which the ledger must refuse."""
    ledger = Ledger(folder / "ledger.sqlite")
    account = ledger.open("d", BUDGET)
    source = Exact()
    number = max((int(entry.release) for entry in ledger.releases()), default=0)
    while True:
        try:
            paid = account.reserve(str(number), 2 * EACH, purpose="soak")
        except BudgetError:
            number += 1
            continue
        paid.spend(Charge("first", "discrete-laplace", EACH))
        draft = folder / f"{number}.draft"
        draft.write_text(f"{source.laplace(1 / EACH, 4).tolist()}\n")
        paid.spend(Charge("second", "discrete-laplace", EACH))
        with draft.open("a") as more:
            more.write(f"{source.laplace(1 / EACH, 4).tolist()}\n")
        paid.release(digest(draft))
        draft.rename(folder / f"{number}.public")
        number += 1


def nursery() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            release_until_killed(Path(line.rstrip("\n")))
        print(child, flush=True)
        print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    nursery()
