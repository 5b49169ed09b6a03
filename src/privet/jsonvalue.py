"""What a JSON text says, for every file and message that others write for us.

One key with two values says one thing to this reader and another to the next, and what JSON does not know
(`NaN`, `Infinity`) is not a number of anybody's. Both are a ValueError, as a text that is not JSON is.
"""

from __future__ import annotations

import json
from typing import Any


def loads(text: str | bytes) -> Any:
    """The value of a text.

    >>> loads('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: a key stands twice
    """
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
