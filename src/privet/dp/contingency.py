"""The plain way, for comparison: every combination of raw values counted, noise on each count.

Nothing is generalised, so nothing is searched and the whole epsilon goes into the counts. But there are as
many counts as combinations could be, nearly all of them empty, and noise in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

import numpy as np

from privet.counts.live import LiveCounts
from privet.domain import Node
from privet.dp.budget import LAPLACE, Account
from privet.dp.coded import CodedTable
from privet.dp.leaves import MOST_CELLS, Leaves
from privet.dp.noise import NoiseSource
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import ItemSets, Numbers, PublicDomain
from privet.dp.records import Records
from privet.dp.spend import Payer
from privet.errors import UnsupportedError


def contingency(
    table: CodedTable,
    epsilon: Fraction,
    noise: NoiseSource,
    payer: Payer | None = None,
    live: LiveCounts | None = None,
) -> NoisyTable:
    """The noisy contingency table over the public domains of all predictors and the class."""
    domains = [column.predictor.domain for column in table.columns]
    cells = refuse(domains, len(table.classes))
    account = Account(epsilon, payer)
    account.spend(f"counts of {cells:,} combinations", LAPLACE, epsilon, disjoint=True)
    grid = Leaves([domain.size for domain in domains], []).grid([np.arange(d.size) for d in domains])
    true = (live or Records(table)).leaves(grid)
    counts = true + noise.laplace(1 / epsilon, cells).reshape(true.shape)
    return NoisyTable(
        predictors=tuple(column.predictor for column in table.columns),
        cuts=tuple(finest(domain) for domain in domains),
        node_sets={},
        positions=grid.rank,
        target=table.target,
        classes=table.classes,
        counts=counts,
        scale=1 / epsilon,
        charges=account.charges,
    )


def refuse(domains: Sequence[PublicDomain], classes: int) -> int:
    """How many counts there would be; raises where they are too many or have no place, for nothing yet."""
    if any(isinstance(domain, ItemSets) for domain in domains):
        raise UnsupportedError("a contingency table has no place for a column of sets; leave it out")
    cells = prod(domain.size for domain in domains) * classes
    if cells > MOST_CELLS:
        raise UnsupportedError(
            f"a contingency table of these predictors has {cells:,} counts, and {MOST_CELLS:,} is the most; "
            "leave predictors out, or choose larger units"
        )
    return cells


def finest(domain: PublicDomain) -> tuple[Node, ...]:
    """The cut in which every code is a value of its own."""
    if isinstance(domain, Numbers):
        missing = domain.root.children[1:]
        return (*(domain.node(code, code + 1) for code in range(domain.points)), *missing)
    return tuple(node for node in domain.root.walk() if not node.children)
