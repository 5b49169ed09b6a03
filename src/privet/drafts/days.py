"""A day or a month of a calendar written in a text, by itself or among other words.

Narrow, since one value is enough: safe harbor lets no element of a date leave but the year. Names of months
are those of fifty languages (`months.txt`, from the Unicode CLDR by way of Babel), without accents: in full,
and behind a blank line in short, which need a day and a year beside them: many are words of something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from privet.drafts.lexicon import unaccented

MONTHS = Path(__file__).with_name("months.txt")
AMBIGUOUS = frozenset(
    ("may", "march", "mars", "maj", "mai", "mei", "mays", "luty", "mart", "machi", "agosti")
)
SHORT = frozenset(  # beside a year alone, as in "Mar 2019"
    (
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez"),
        *("ene", "abr", "ago", "dic", "janv", "avr", "juil", "fev", "giu", "lug", "mrz", "kwi", "maj", "paz"),
    )
)
_YEAR = r"(?:1[89]|20)[0-9]{2}"
_DAY, _MONTH = "(?:0?[1-9]|[12][0-9]|3[01])", "(?:0?[1-9]|1[0-2])"
_BESIDE = r"(?<![\w.,/-])"
_NUMBERS = re.compile(
    "|".join(
        (
            rf"{_BESIDE}{_YEAR} ?[-/.] ?{_MONTH} ?[-/.] ?{_DAY}(?![0-9])",  # 2017-04-24T08:00
            rf"{_BESIDE}{_DAY} ?([./-]) ?{_MONTH} ?\1 ?{_YEAR}(?!\.?[0-9])",  # 24. 04. 2017
            rf"{_BESIDE}{_MONTH} ?([./-]) ?{_DAY} ?\2 ?{_YEAR}(?!\.?[0-9])",
            rf"{_BESIDE}(?:{_DAY}/{_MONTH}|{_MONTH}/{_DAY})/[0-9]{{2}}(?![\w/])",  # 4/24/17
            rf"(?<![0-9]){_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:T[0-9]{{4}}|(?![\w.]))",
            "(?<![0-9])[0-9]{1,2} ?[月월] ?[0-9]{1,2} ?[日일号號]",
            rf"(?<![0-9]){_YEAR} ?[年년] ?[0-9]{{1,2}} ?[月월]",
        )
    )
)
_WORD = re.compile(r"[^\W\d_]+|[0-9]+(?:st|nd|rd|th|\.|º|er)?(?![0-9])")
_ORDINAL = re.compile(rf"{_DAY}(?:st|nd|rd|th|\.|º|er)")
_FEASTS = re.compile(
    r"\b(?:christmas|xmas|boxing day|new year|thanksgiving|halloween|easter|good friday|labor day|"
    r"memorial day|independence day|ramadan|eid|diwali|weihnacht|heiligabend|silvester|neujahr|ostern|"
    r"pfingst|noel|paques|navidad|pascua|natale|pasqua|natal|pascoa|pasen|kerst|wigilia|wielkanoc)"
    r"\w*\W.{0,20}\b(?:(?:1[89]|20)[0-9]{2})\b"
)
_DIGIT = re.compile("[0-9]")
_WITHIN = 3  # words from a month to its day or its year: "5 de maio de 2019"


def written(value: str) -> bool:
    """Does it say a day, a month of a year, or a feast?

    >>> [written(one) for one in ("2017-04-24", "on 24. 4. 2017", "5 maja 2019", "12th of March")]
    [True, True, True, True]
    >>> [written(one) for one in ("2017", "12 out of 20", "may 10 mg", "10-20-30", "1.2.2013.4")]
    [False, False, False, False, False]
    """
    if not _DIGIT.search(value):
        return False
    if _NUMBERS.search(value):
        return True
    plain = unaccented(value).casefold()
    return _among(_WORD.findall(plain)) or _FEASTS.search(plain) is not None


def any_written(values: Iterable[str]) -> bool:
    """Does one of them? A column that leaves may not."""
    return any(map(written, values))


def _among(words: list[str]) -> bool:
    full, short = _months()
    for at, word in enumerate(words):
        if word not in full and word not in short:
            continue
        near = [*words[max(0, at - _WITHIN) : at], *words[at + 1 : at + 1 + _WITHIN]]
        year = any(re.fullmatch(_YEAR, one) for one in near)
        day = any(re.fullmatch(rf"{_DAY}\.?", one) for one in near)
        if word in short or word in AMBIGUOUS:
            ordinal = word in AMBIGUOUS and any(map(_ORDINAL.fullmatch, near))
            beside = word in SHORT and re.fullmatch(_YEAR, words[at + 1] if at + 1 < len(words) else "")
            if ordinal or beside or (year and (day or word in AMBIGUOUS)):
                return True
        elif year or day or any(map(_ORDINAL.fullmatch, near)):
            return True
    return False


@cache
def _months() -> tuple[frozenset[str], frozenset[str]]:
    full, _, short = MONTHS.read_text("utf-8").partition("\n\n")
    return frozenset(full.split()), frozenset(short.split())
