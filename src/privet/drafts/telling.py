"""What a single value tells about somebody, wherever it stands: a note among choices, once in many rows.

The recognisers ask what *most* values of a column are. Here one is enough: a telephone number, a person with
a title, a relative with a name, the number of an account inside a longer text. It is looked for in the
different values of a column, and only where the column would otherwise leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from privet.drafts.calling import KINDS
from privet.drafts.forms import folded, formed
from privet.drafts.lexicon import somebody
from privet.drafts.names import FAMILY, GIVEN, PEOPLE, known, plain
from privet.drafts.recognisers import ADDRESS

# A capital letter, and a small one behind it; bounded, so that an endless value costs no more than reading.
_NAME = r"[^\W\d_a-zß-öø-ÿ][^\W\d_]{0,30}[a-zß-öø-ÿ][\w'\u2019.-]{0,30}"
_ANY_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w'\u2019.-]+"
_CAPITALS = r"[^\W\d_a-zß-öø-ÿ]{2,30}"


def _listed(words: str) -> list[str]:
    return words.split()


# Before a name, whatever it is; and those that are other words as well, before a name that is known.
_TITLES = _listed("""
    Mr Mrs Mx Ms Dr Dra Prof Herr Herrn Frau
    Fräulein Fraulein Monsieur Madame Mme Mlle Sig Signor Signora Dott
    Dottoressa Sr Sra Srta Señor Señora Senhor Senhora Mevrouw Meneer Dhr Mevr Bayan Fru Pani
""")
_PERHAPS_TITLES = _listed("""
    MR MRS DR PROF FRAU HERR mr mrs ms dr prof frau herr
    mme Miss miss Don Doña Sir Pan pan pani Pt pt Pat
    Patient Patientin patient patientin Hr Fr
""")
_RELATIVES = _listed("""
    mom mum mother dad father wife husband daughter son brother sister spouse partner aunt uncle grandmother
    grandfather grandson granddaughter niece nephew cousin friend neighbor neighbour caregiver carer guardian
    girlfriend boyfriend fiance fiancee roommate landlord boss
    nurse doctor call called told phoned contact ask ring rang
    asked per by attn mutter vater tochter sohn
    ehefrau ehemann bruder schwester freundin freund nachbarin nachbar
    betreuerin betreuer mère mere père pere fille fils frère
    frere soeur sœur mari époux épouse madre padre hijo
    hija hermano hermana esposo esposa marido mujer mãe pai filho filha irmão irmã moglie marito figlio figlia
    fratello sorella matka ojciec córka syn żona mąż brat siostra moeder vader dochter zoon
""")
_PHONE = (
    r"(?<![\w./,+-])(?:\+|00)[1-9][0-9]{0,2}[ ()/.-]{0,2}(?:[0-9][ ()/.-]{0,2}){6,12}[0-9](?![\w-])|"
    r"(?<![\w./,-])\(?[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}(?![\w-])|"
    r"(?<![\w./,:-])\(?0[0-9]{1,5}\)?[ /-](?:[0-9][ /-]?){5,9}[0-9](?![\w.,:-])"
)
_CALLED = (
    r"\b(?:tel|phone|ph|mobile|cell|fax|call|callback|r[üu]ckruf|handy|t[ée]l|m[óo]vil)\b"
    r"[^0-9]{0,30}[0-9][0-9 ()/.-]{5,}[0-9]"
)
_NUMBERED = (
    r"\b(?:mrn|ssn|dob|nhs|iban|patient id|pt id|passport|reisepass|passeport|pasaporte|passaporto|paspoort|"
    r"ausweis|personalausweis|driver'?s licen[cs]e|dni|nie|nif|cedula|vin|imei)\b"
    r"[ :#.no]{0,6}(?:[0-9][0-9/ .-]{4,}|(?=[a-z]{0,8}[0-9])[a-z0-9]{6,20}\b)"
)
# "Dr of Medicine", "Prof. degree", "Sr. Developer": a title, and nobody.
_NOBODY = re.compile(
    r"\b(?:manager|developer|engineer|analyst|director|consultant|officer|specialist|architect|administrator|"
    r"scientist|accountant|designer|associate|vice|president|technician|executive|lead|programmer|sales|"
    r"degree|school|schools|services?|specialty|pepper|martens|american|president|secretary|data|software|"
    r"project|product|business|systems?|network|account|hr|it|high|center|centre|hospital|street|st|ave|road|"
    r"avenue|stra(?:ß|ss)e|university|college|clinic|inc|ltd|gmbh|llc|corp|bank|county|city|park|lake|beach|"
    r"mount|fort|port|valley|island|church|isle|cross|memorial|airport|station|hotel|museum|theat(?:er|re)|"
    r"square|plaza|bridge|river|hill|hills)\b",
    re.IGNORECASE,
)
_NUMBERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a telephone number", re.compile(f"{_PHONE}|(?i:{_CALLED})")),
    (
        "a number of a register",
        re.compile(rf"(?i:{_NUMBERED})"),
    ),
)
_ENOUGH = re.compile(r"(?:[0-9][^0-9\n]{0,3}){6}")
_WORD = re.compile(r"[^\W\d_]+")
_NONE: AbstractSet[str] = frozenset()
_TITLED = re.compile(
    rf"\b(?:{'|'.join(_TITLES)})\.?\s+{_ANY_CAPITAL}|(?:^|[,;:(]\s?|\b[a-zà-ÿ]+\s)M\.\s+{_NAME}"
)
_PERHAPS = re.compile(rf"\b(?:{'|'.join(_PERHAPS_TITLES)})\.?\s+([^\W\d_][\w'\u2019-]+)")
_RELATED = re.compile(
    rf"\b((?i:{'|'.join(_RELATIVES)}))\.?:?,?\s+(?:\w{{1,3}}\.?\s+)?({_NAME})(?:\s+({_NAME}))?"
)
# Whoever did it is called by two words, which no list has to know; "Seen by Treating Physician" is nobody.
_DONE = re.compile(
    r"\b(?i:seen|rated|signed|treated|interviewed|entered|collected|recorded|written|reviewed|examined|"
    r"operated|prescribed|coded|assessed|performed|checked|completed|filled in|gesehen|behandelt|untersucht) "
    rf"(?i:by|von) ({_NAME} {_NAME})"
)
# The second word is only looked at, so that it may be the first of the next two ("Patient John Smith").
_FULL = re.compile(
    rf"(?<![\w-])({_NAME}|{_CAPITALS})(?=(,?)\s{{1,9}}(?:[A-Z]\.?\s+)?({_NAME}|{_CAPITALS})(?![\w-]))"
)
_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_CARD = re.compile(r"(?<![\w.-])[2-6](?:[ -]?[0-9]){12,18}(?![\w.-])")
_WEAK = frozenset(_listed("ring rang nurse doctor call called contact ask asked per by attn told phoned"))
_CALLING = frozenset(
    _listed("ring rang call called told phoned contact asked nurse doctor")
)  # two capitals are enough
_FAMILIAR = (
    frozenset(_RELATIVES) - _WEAK
)  # in small letters: "son Peter Novak", and not "Spouse Or Girlfriend"
_BEFORE_NAMES = frozenset(word.casefold() for word in (*_TITLES, *_PERHAPS_TITLES, "M"))
_RELATED_WORDS = frozenset(_RELATIVES)
_DAY = re.compile(
    r"\b(?:[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2})\b"
)
_BOTH = frozenset(GIVEN.split()), frozenset(FAMILY.split())
# How relatives are called, and other words as well: only beside a word for a relative.
_SHORT_NAMES = frozenset(
    _listed("""
    tim bob bill ben sam dan max alex nick pete jim jimmy tommy will rob ron ray ken ed fred ted andy
    tony josh jon jake luke eddie freddie charlie harry oscar leo theo liam mia ella ava zoe ruby lucy
    molly ellie maisie meg peg annie jenny jenn becky katie cathy kathy betsy sally polly maggie rosie
    bea pam pat barb deb jan jo liz lizzie jill gail uli kai jens ralf rolf sven finn emil oskar
    """)
)
# Behind a given name, and no family's: "Christian Democrat", "Angel Dust", "Jack Russell".
_NO_FAMILY = frozenset(
    _listed("""
    up down off democrat democrats orthodox church faith day dust russell collins period hospital science
    union social street house terrier syndrome disease test scale score index method clinic school unit
    ward group center
    """)
)
_CHOICES = 30  # different values at most where one of them stands out by its capitals


def telling(values: Sequence[str], *, names: bool = True) -> str | None:
    """What one of the values tells about somebody; None where none does. `names`: also a bare full name.

    >>> [telling(["ok", value]) for value in ("call daughter Mary Johnson", "see Dr Green", "ask mom")]
    ['a person beside a word for a relative or a call', 'a person with a title', None]
    """
    values = [folded(value) for value in values]
    if kind := formed(values):
        return kind
    numbers = "\n".join(value for value in values if _ENOUGH.search(value))
    for kind, shape in _NUMBERS:
        if any(not _DAY.fullmatch(match[0]) for match in shape.finditer(numbers)):
            return kind
    for shape, right, of in ((_IBAN, _is_iban, "an account"), (_CARD, _is_card, "a card")):
        if any(right(match[0]) for match in shape.finditer(numbers)):
            return f"the number of {of}"
    if any(
        map(ADDRESS.search, (value for value in values if "@" in value or "/" in value or "www" in value))
    ):
        return "an e-mail or web address"
    for value in values:
        words = set(_WORD.findall(value.casefold())) if " " in value else _NONE
        who = _person(value, words, names=names) if len(words) > 1 else None
        if who and not _NOBODY.search(value):
            return who
    return "a name of a person" if names and _stands_out(values) else None


class Labels:
    """Labels of columns, read by the rules by which a single value is: one that names somebody stays."""

    name = "telling"

    def kept_back(self, labels: Mapping[str, str]) -> dict[str, str]:
        """The columns whose labels tell about somebody, and what they tell.

        >>> Labels().kept_back({"sex": "Sex of respondent", "q1": "Rated by Dr. Green"})
        {'q1': 'a person with a title'}
        """
        found = {name: _of_label(label) for name, label in labels.items()}
        return {name: kind for name, kind in found.items() if kind is not None}


@lru_cache(maxsize=1 << 13)  # asked when it is planned, when it is written, and when it is told
def _of_label(label: str) -> str | None:
    return telling([label])


def _stands_out(values: Sequence[str]) -> bool:
    """A given name and another word with a capital, among a few choices that have none."""
    if not 2 < len(values) <= _CHOICES:
        return False
    capitals = [value for value in values if value != value.lower()]
    if len(capitals) * 4 > len(values) + 1:
        return False
    given, _ = _BOTH
    return any(
        known(one, given) and other.casefold() not in _NO_FAMILY and not _NOBODY.search(value)
        for value in map(plain, capitals)
        for match in _FULL.finditer(value)
        for one, other in ((match[1], match[3]), *(((match[3], match[1]),) if match[2] else ()))
    )


def _person(value: str, words: AbstractSet[str], *, names: bool) -> str | None:
    if not words.isdisjoint(_BEFORE_NAMES) and (
        _TITLED.search(value) or any(_known(match[1]) for match in _PERHAPS.finditer(value))
    ):
        return "a person with a title"
    if not words.isdisjoint(_RELATED_WORDS) and any(map(_related, _RELATED.finditer(value))):
        return "a person beside a word for a relative or a call"
    if (done := _DONE.search(value)) and not KINDS.speak(done[1]) and not somebody(done[1].split()[-1]):
        return "a person beside what they did"
    given, family = _BOTH
    bare = plain(value)
    if bare != value:
        words = set(_WORD.findall(bare.casefold()))
    if names and not words.isdisjoint(given) and not words.isdisjoint(family):
        return "a name of a person" if any(map(_called, _FULL.finditer(bare))) else None
    return None


def _known(word: str) -> bool:
    return known(word, PEOPLE)


def _related(match: re.Match[str]) -> bool:
    """A name that is known, or two words with capitals behind a relative."""
    familiar = match[1] in _FAMILIAR and match[2].casefold() in _SHORT_NAMES
    if familiar or _known(match[2]):
        return True
    if match[3] is None:
        return False
    called = match[1].casefold() in _CALLING and not KINDS.speak(f"{match[2]} {match[3]}")
    return match[1] in _FAMILIAR or called or _known(match[3])


def _called(match: re.Match[str]) -> bool:
    """A common given name and a common family name, one behind the other, in either order."""
    one, other = match[1], match[3]
    given, family = _BOTH
    return one.casefold() != other.casefold() and (
        (known(one, given) and known(other, family)) or (known(one, family) and known(other, given))
    )


def _is_iban(text: str) -> bool:
    plain = text.replace(" ", "")
    turned = plain[4:] + plain[:4]
    return len(plain) >= 15 and int("".join(str(int(mark, 36)) for mark in turned)) % 97 == 1


def _is_card(text: str) -> bool:
    digits = [int(mark) for mark in reversed(text) if mark.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def named(values: Iterable[str], holds: Callable[[str], bool]) -> bool:
    """Are the few values all full names, where there are too few of them for a share?"""
    some = [value.strip() for value in values]
    return bool(some) and all(
        holds(value)
        and re.fullmatch(rf"{_NAME}(?:,?\s+{_ANY_CAPITAL}){{1,3}}", value)
        and not _NOBODY.search(value)
        for value in some
    )
