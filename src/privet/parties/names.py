"""What parties are called: short names that nobody takes for one another.

A steward reads names: in a contract, in a log, in the sentence that says who would learn what. Two names that
differ in a letter of another alphabet, in capitals, or in how an accent is written are two parties to a
machine and one to a reader. So a name is written one way only and in one alphabet, and no two names of the
same contract, or of a node's peers, may look alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

LONGEST = 40  # letters
MOST = 100  # parties: every two of them talk to each other
RULE = "a short name of letters, digits and underscores"

# By what a letter is taken for: those of Cyrillic and Greek, and within one alphabet. Small, without accents.
_TAKEN = {
    "a": "\u0430\u03b1", "b": "\u0432\u03b2", "c": "\u0441\u03f2", "d": "\u0501",
    "e": "\u0435\u0454\u03b5", "g": "\u0261", "h": "\u04bb\u043d\u03b7",
    "i": "1l\u0456\u03b9\u0131\u04cf", "j": "\u0458\u03f3", "k": "\u043a\u03ba", "m": "\u043c",
    "n": "\u043f\u03bd", "o": "0\u043e\u03bf\u03c3", "p": "\u0440\u03c1", "q": "\u051b",
    "s": "\u0455", "t": "\u0442\u03c4", "u": "\u03c5\u03bc", "v": "\u0475", "w": "\u051d\u0448\u03c9",
    "x": "\u0445\u03c7", "y": "\u0443\u03b3\u04af", "z": "\u03b6",
}  # fmt: skip
_LETTERS = str.maketrans({other: letter for letter, others in _TAKEN.items() for other in others})
_PAIRS = (("rn", "m"), ("vv", "w"), ("ci", "d"))
_TOGETHER = {"HIRAGANA", "KATAKANA", "CJK"}  # written in one word


def is_name(name: object) -> bool:
    """Is it a name, written in one way and one alphabet?"""
    if not isinstance(name, str) or not name.isidentifier() or len(name) > LONGEST:
        return False
    return unicodedata.normalize("NFKC", name) == name and len(set(_alphabets(name))) < 2


def alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different names that a reader takes for one another."""
    seen: dict[str, str] = {}
    return [(first, name) for name in names if (first := seen.setdefault(looks(name), name)) != name]


def looks(name: str) -> str:
    """The same for all names that look alike."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    found = plain.casefold().translate(_LETTERS)
    for pair, letter in _PAIRS:
        found = found.replace(pair, letter)
    return found


def _alphabets(name: str) -> Iterator[str]:
    """LATIN, GREEK, CYRILLIC … of every letter: the first word of its name in the standard."""
    for letter in filter(str.isalpha, name):
        word = re.split("[ -]", unicodedata.name(letter, ""))[0]
        yield "CJK" if word in _TOGETHER else word
