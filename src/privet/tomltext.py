"""What a TOML text says, for every file that people write for us.

The parser of the standard library ends in three ways besides an answer: it is not TOML, a number has more
digits than Python reads, or lists stand so deep in each other that it gives up. A reader hears one error.
"""

from __future__ import annotations

import tomllib
from typing import Any

from privet.errors import PolicyError


def document(text: str, place: str) -> dict[str, Any]:
    """The tables of a text; `place` is what it is called in a complaint.

    >>> document("a = [1, 2]", "here")
    {'a': [1, 2]}
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:  # no TOML, or a number with more digits than Python reads
        raise PolicyError(f"{place}: {error}") from None
    except RecursionError:
        raise PolicyError(f"{place}: lists or tables stand too deep in each other") from None
