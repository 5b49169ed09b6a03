"""Too many quasi-identifiers: how coarse values must become before k people share all of them.

Aggarwal, "On k-anonymity and the curse of dimensionality", VLDB 2005. A box that covers a share F of every
one of d ranges covers F**d of the space. To hold k of N people who are spread evenly it needs F**d = k / N,
so F goes to 1 as d grows. People are not spread evenly, so this is a warning and no bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TOO_WIDE = 0.5  # of every range: what is left is hardly worth publishing


def expected_width(records: int, k: int, quasi: int) -> float:
    """The share of every range that a value must cover.

    >>> round(expected_width(10_000, 10, 10), 4), round(expected_width(1_000_000, 10, 50), 4)
    (0.5012, 0.7943)
    """
    if records <= k or not quasi:
        return 1.0 if quasi else 0.0
    return float((k / records) ** (1 / quasi))


def dimensionality(
    records: int, k: int, quasi: int, observed: float | None = None, widths: Sequence[float] | None = None
) -> dict[str, Any]:
    """What is expected for each number of quasi-identifiers, what was found, and whether it is too much.

    `widths`: what boxes of the table itself cover, for each number of quasi-identifiers, if that was tried.
    """
    expected = [expected_width(records, k, d) for d in range(1, quasi + 1)]
    found = observed if observed is not None else [0.0, *(widths or expected)][-1]
    tried = {} if widths is None else {"by_columns": [round(one, 9) for one in widths]}
    return tried | {
        "k": k,
        "quasi_identifiers": quasi,
        "expected": [round(one, 9) for one in expected],
        "observed": observed,
        "too_wide": found > TOO_WIDE,
    }
