"""Could persons be called like this? Asked only of a column whose name says that it is about one.

Under "doctor" or "next of kin" three values are three persons as well as three hundred are, and no list knows
every name. So it is asked what they are not: answers, kinds, or words without a capital.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from privet.drafts.answers import ANSWERS
from privet.drafts.lexicon import Words, somebody, unaccented

FEWEST = 2  # one value may say anything
LOOKED_AT = 1_000
WORDS = 5  # "María de la Cruz Gómez"
KINDLESS = 4  # one value in so many may be a kind of person: "White", "Farmer" and "Priest" are names, too
LETTERS = 3  # of the longest word; of scripts that write a syllable or a word with each sign, one less
# What stands in the place of a name, and what persons are sorted by.
NOBODY = Words(
    "unknown other others missing nobody unbekannt keine inconnu autre otro desconocido sconosciuto"
)
KINDS = Words("""
    yes no true false single- married divorc- widow- separat- cohabit- partner- employ- unemploy- self-
    retire- home- house- student- work- staff part full never left right same different male female both
    either biological adopt- step- foster- natural legal deceas- living unknow- primary secondary tertiary
    high school college university degree- educ- senior junior head chief private public govern- company
    corporat- city state federal local national group type class level grade category team internal external
    new existing individual joint consumer business retail wholesale basic premium standard gold silver
    bronze platinum telephone cellular mobile phone email e-mail mail letter web online person- visit
    registered general special- physio- pediatric- paediatric- cardio- surgic- medic- nurs- practi- bride
    groom white black asian hispanic native mixed race skilled unskilled manual clerical profession- manag-
    farm- trade- engineer- sales- service- admin- technic- clerk- labour- labor- catholic protestant muslim
    jewish buddhist hindu christian
    verheiratet ledig geschieden verwitwet angestellt- arbeit- selbst- rentner- hausfrau- beamt-
    celibataire veuf veuve retraite ouvrier- casado soltero viudo jubilado emplead-
""")
_WORD = r"[^\W\d_]+(?:['\u2019`.-][^\W\d_]+)*\.?"
_CALLED = re.compile(rf"{_WORD}(?:,? {_WORD}){{0,{WORDS - 1}}}")


def may_be_names(values: Sequence[str]) -> bool:
    """Could nearly all of them be what persons are called?

    >>> [may_be_names(one) for one in (["Mamani", "Quispe"], ["王小明", "李娜"], ["Thandeka Zulu", "Eze"])]
    [True, True, True]
    >>> [may_be_names(one) for one in (["Alive", "Dead"], ["oak", "elm"], ["A", "B"], ["Nurse", "RN"])]
    [False, False, False, False]
    """
    some = [unaccented(value.strip()) for value in islice(values, LOOKED_AT)]
    some = [value for value in some if value and not NOBODY.speak(value)]
    if len(some) < FEWEST or sum(map(_a_kind, some)) * KINDLESS > len(some):
        return False
    return sum(map(_may_be_one, some)) * 10 >= len(some) * 9


def _a_kind(value: str) -> bool:
    return ANSWERS.speak(value) or KINDS.speak(value) or somebody(value)


def _may_be_one(value: str) -> bool:
    if not _CALLED.fullmatch(value):
        return False
    words = value.replace(",", " ").split()
    longest, last = max(map(len, words)), words[-1]
    if last.lower() == last.upper():  # a script without capitals
        return longest >= LETTERS - 1
    capitals = sum(word != word.lower() for word in words)  # "realDonaldTrump" has some, too
    return longest >= LETTERS and last != last.lower() and capitals * 2 >= len(words)
