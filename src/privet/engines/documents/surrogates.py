r"""Halves of surrogate pairs: text that no character stands behind.

JSON can write them (`\ud83d` without its `\ude00`), UTF-8 cannot. The parser of JSON writes a question mark
for any of them, so two different values would become one; they are refused instead.
"""

from __future__ import annotations

import re

HALF = "half of a pair of surrogates (\\ud800 to \\udfff), which stands for no character"
LONGEST = len(rb"\u000")  # of an escape that is cut in two
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(rb"\\u([0-9a-fA-F]{4})|\\[^u]|[^\\]+", re.DOTALL)
_CUT = re.compile(rb"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)\Z")


class Halves:
    """Looks for halves in JSON text that comes in pieces."""

    def __init__(self) -> None:
        self.open = False  # was a first half read, and not yet its second?
        self._rest = b""  # of an escape that a piece cuts in two

    def seen_in(self, piece: bytes) -> bool:
        """Is there one in this piece? The first half of a pair may end a piece."""
        text = self._rest + piece
        # Most pieces end in plain text and hold no such escape: two looks without a pattern tell.
        cut = _CUT.search(text) if b"\\" in text[-LONGEST:] else None
        self._rest = b"" if cut is None else cut[1]
        whole = text[: len(text) - len(self._rest)]
        if not self.open and (b"\\u" not in whole or _SURROGATE.search(whole) is None):
            return False
        for token in _TOKEN.finditer(whole):
            code = int(token[1], 16) if token[1] is not None else 0
            if self.open != (0xDC00 <= code < 0xE000):
                return True
            self.open = 0xD800 <= code < 0xDC00
        return False


def is_half(text: str) -> bool:
    """Does a text hold a half?"""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
