"""How many rounds: fixed beforehand, or for a sliver of epsilon by how many records there are.

Trying several h on the data and releasing the best looks harmless and is a leak. What is sound, and
enough: buy the noisy number of records, and take the most rounds for which the plan expects no more noise in
all counts together than there are records. The plan is public, so the number is all that is paid for. On
Adult it gives 15, 13, 12 and 10 rounds for an epsilon of 1, 1/2, 1/4 and 1/10, near where accuracy peaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from privet.counts.live import LiveCounts
from privet.dp.budget import LAPLACE, Account
from privet.dp.coded import CodedTable
from privet.dp.diffgen import DiffGen
from privet.dp.noise import NoiseSource
from privet.dp.plan import MOST_H, expect
from privet.dp.publicdomain import Predictor
from privet.dp.records import Records
from privet.dp.spend import Charge, Payer, checked
from privet.errors import PolicyError

SHARE = Fraction(1, 100)
DRAWS = 50  # for each h that is looked at


@dataclass(frozen=True)
class Bought:
    """The parameters for what is left of epsilon, and what choosing them cost."""

    diffgen: DiffGen
    records: int  # noisy
    charges: tuple[Charge, ...]


def planned_h(diffgen: DiffGen, predictors: Sequence[Predictor], classes: int, records: int) -> int:
    """The most rounds, from 1 on, with an expected total error of at most that many records."""
    best = 1
    for h in range(1, MOST_H + 1):
        plan = expect(replace(diffgen, h=h), predictors, classes, records=max(records, 0), draws=DRAWS)
        if plan.total_error > max(records, 0):
            break
        best = h
    return best


def buy_h(
    diffgen: DiffGen,
    table: CodedTable,
    noise: NoiseSource,
    payer: Payer | None = None,
    *,
    share: Fraction = SHARE,
    live: LiveCounts | None = None,
) -> Bought:
    """Pay `share` of epsilon for the number of records, and plan with the rest; `live` as in `DiffGen`."""
    if not 0 < checked(share, "share") < 1:
        raise PolicyError("share: an exact number between 0 and 1")
    price = diffgen.epsilon * share
    account = Account(price, payer)
    account.spend("the number of records, to choose h", LAPLACE, price)
    true = int((live or Records(table)).totals().sum())
    records = true + int(noise.laplace(1 / price, 1)[0])
    rest = replace(diffgen, epsilon=diffgen.epsilon - price)
    predictors = [column.predictor for column in table.columns]
    h = planned_h(rest, predictors, len(table.classes), records)
    return Bought(replace(rest, h=h), records, account.charges)
