"""How large a sample may be, said before anything is drawn."""

from __future__ import annotations

from typing import Any

from privet.errors import InputError

MOST = 10**9  # rows; numpy would say it in words of its own


def check_size(rows: Any, seed: Any) -> None:
    """Raises InputError for what is not a size or a seed."""
    if any(isinstance(one, bool) or not isinstance(one, int) or one < 0 for one in (rows, seed)):
        raise InputError(f"a sample needs whole numbers rows >= 0 and seed >= 0, not {rows!r} and {seed!r}")
    if rows > MOST:
        raise InputError(f"a sample has at most {MOST:,} rows")
