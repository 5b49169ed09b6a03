"""A lattice that nobody enumerates: what `optimal` has found when the time is up.

Twelve numeric columns with eleven levels each make three million million nodes. The search walks down from
the top, better nodes first, and says that there may be a better one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bench.outcome import Cell, Table
from privet.core import Column, Tally
from privet.hierarchy import Intervals
from privet.models.kanonymity import KAnonymity
from privet.relational.lattice import Lattice
from privet.relational.optimal import Optimal

RECORDS, COLUMNS, TOP = 30_000, 12, 1_000
WIDTHS = [2**power for power in range(1, 10)]
SPREAD = (60, 200)  # of every other column


def table(*, full: bool) -> Table:
    """A row for each limit of time."""
    tally = drawn()
    size = Lattice.of(tally).size
    rows: list[list[Cell]] = []
    for seconds in (2, 10, 30) if full else (2, 8):
        search = Optimal(suppression=Fraction(5, 100), time_limit=seconds)
        found = search.solve(tally, [KAnonymity(k=5)])
        rows.append(
            [COLUMNS, f"{size:.1e}", seconds, found.loss, found.suppressed, found.looked_at, found.proven]
        )
    heads = {
        "columns": ",",
        "nodes": "",
        "limit s": ",",
        "NCP": ".4f",
        "suppressed": ",",
        "looked at": ",",
        "proven": "",
    }
    return Table("anytime: k = 5, 5 %, a lattice that cannot be enumerated", heads, rows)


def drawn() -> Tally:
    """Normal numbers, the same on every run."""
    rng = np.random.default_rng(0)
    columns = []
    for at in range(COLUMNS):
        domain = Intervals(width=WIDTHS).domain([str(value) for value in range(TOP)])
        values = np.clip(rng.normal(TOP / 2, SPREAD[at % 2], RECORDS), 0, TOP - 1).astype(int)
        code = np.array([domain.codes[str(value)] for value in range(TOP)], dtype=np.intp)
        columns.append(Column(f"q{at}", domain, domain.column(code[values])))
    return Tally(tuple(columns), (), None, np.ones(RECORDS, dtype=np.int64))
