"""Has every line of a text file as many fields? If so, columns that nobody wants need not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.core import Form


def lines(source: Path | bytes, form: Form, fields: int) -> int | None:
    """How many lines there are if all have these fields and no reader could see it otherwise; or None.

    None says nothing: there may be an odd quote, or the compiled loops are not built.
    """
    delimiter = (form.delimiter or ",").encode()
    if native.library() is None or len(delimiter) != 1 or fields == 1:
        return None
    raw = _bytes(source)
    found = native.call("privet_even_lines", raw, len(raw), delimiter[0], fields)
    return None if found < 0 else found


def surely(source: Path | bytes, form: Form, fields: int, records: int) -> bool:
    """Has every line all its delimiters? A quick count that is sure only where nothing is quoted."""
    raw = _bytes(source)
    if np.count_nonzero(raw == ord('"')):
        return False
    delimiters = int(np.count_nonzero(raw == ord(form.delimiter or ",")))
    return delimiters == (fields - 1) * (records + form.header)


def _bytes(source: Path | bytes) -> NDArray[Any]:
    return np.frombuffer(source, np.uint8) if isinstance(source, bytes) else np.memmap(source, np.uint8, "r")
