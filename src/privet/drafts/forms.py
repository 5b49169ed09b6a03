"""Forms that only something of one person has: street addresses, numbers of registers, telephones, computers.

What they have in common: one among many other values is enough, so that they have to be narrow. Every pattern
is bounded and begins where a word begins, so that a value of a hundred thousand characters costs no more than
reading it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_DASHES = re.compile("[\u2010-\u2015\u2212]")

_WORD = r"[^\W\d_a-zß-öø-ÿ][\w'\u2019.-]{1,30}"  # with a capital
_OF = r"(?:(?:de|du|des|d[aeo]s?|del|dei|della|delle|la|las|los|le|les|van|den|der|het|von|y|e|św\.?) ){0,3}"
_STREET = r"Street|St|Str|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Terrace|Crescent"
_ENDING = (
    r"str\.|str|stra(?:ß|ss)e|weg|gasse|platz|allee|straat|laan|gracht|gatan|gata|gaten|vägen|vegen|veien|väg|"
    r"gade|vej|stræde|katu|kuja|polku|[^\W\d_]{4}ntie"
)
_FRENCH = "[Rr]ue|[Aa]venue|[Bb]oulevard|[Cc]hemin|[Qq]uai"
_BEFORE = (
    r"[Aa]venida|[Vv]ia(?:le)?|[Pp]iazza|[Cc]alle|[Rr]ua|[Uu]lica|[Uu]l\.|[Aa]leja|[Ss]traat|"
    "[\u0423\u0443]л\\.|[\u0423\u0443]лица"
)
_STREETS = "|".join(
    (
        # 12 Elm Street, 221B Baker St., 9 North Oak Rd
        rf"(?<![\w.,/-])[0-9]{{1,5}}[A-Za-z]?,? (?:{_WORD} ){{1,3}}(?:{_STREET})\b",
        # 12 ELM STREET, 12 elm street
        (
            r"(?<![\w.,/-])[0-9]{1,5} (?:(?!on |of |the |in |by |off |days |weeks )[^\W\d_]{2,30} ){1,2}"
            r"(?i:street|avenue|boulevard|terrace|crescent|road|lane)\b"
        ),
        r"\b[Pp]\.? ?[Oo]\.? ?[Bb]ox [0-9]{1,6}\b",
        # Hauptstr. 5, Kirchweg 12a, Kerkstraat 4, Storgatan 7
        rf"\b[^\W\d_a-zß-öø-ÿ][\w-]{{1,30}}(?:{_ENDING}) ?[0-9]{{1,4}} ?[a-zA-Z]?\b",
        # Lange Straße 5, Kölner Str. 12
        rf"\b{_WORD} (?:Stra(?:ß|ss)e|Str\.|Gasse|Allee|Weg) [0-9]{{1,4}}\b",
        # 14 Rue de la Paix, 3 bis avenue Foch
        rf"(?<![\w.,/-])[0-9]{{1,4}}(?: ?(?:bis|ter|[a-d]))?,? (?:{_FRENCH}) {_OF}(?:[dl]['\u2019])?{_WORD}",
        # Via Roma 12, calle Mayor, 5, ul. Długa 5, rua das Flores 10
        rf"\b(?:{_FRENCH}|{_BEFORE}) ?{_OF}{_WORD}(?: {_WORD}){{0,2}},? (?:n[°.o]? ?)?[0-9]{{1,4}}\b",
    )
)
_NO_STREET = re.compile(
    r"\b(?:wheel|hard|disk|disc|flash|test|food|supreme|high|district|circuit|tennis|basketball|one|two|bus|"
    r"fast|slow|left|right|middle)\s(?:way|drive|court|lane|st|dr)\b|"
    r"\b(?:arbeits|park|sitz|steh|stell|lager|spiel|studien|start|listen|ausbildungs|um|rund|liege|kinder\w*)"
    r"(?:platz|weg)\b",
    re.IGNORECASE,
)
_DATE = (
    r"(?:[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}|"
    r"[0-9]{1,2}\.? [^\W\d_]{3,10}\.? [0-9]{4}|[^\W\d_]{3,10} [0-9]{1,2},? [0-9]{4})"
)
_BORN = (
    r"\b(?:born|d\.?o\.?b|date of birth|birth ?da(?:y|te)|geb|geboren|née?|nato|nata|nacid[oa]|nascid[oa]|"
    r"ur|født|född|\u0440)\b[.:]?(?: (?:on|am|le|il|el|em|the|is|was))?:? {0,2}" + _DATE + r"(?![\w])"
)
_TLD = r"(?:com|org|net|edu|gov|io|uk|de|fr|nl|eu|info|me|ru|app|dev|ch|pl|es|it|br|in|au|ca|us|jp|cn)"
_SITE = rf"(?<![\w@./-])(?:[\w-]{{2,40}}\.){{1,3}}{_TLD}/[\w~@%-]"
_MAIL = (
    r"\w ?[\[({<] ?at ?[\])}>] ?\w|"
    rf"\w (?-i:AT) [\w-]{{1,60}}(?:\.| ?[\[(]?\bdot\b[\])]? ?){_TLD}\b|"
    rf"\w at [\w-]{{1,60}} ?[\[(]?\bdot\b[\])]? ?{_TLD}\b"
)
_ALONE = r"(?<![\w./-])(?<![0-9] )(?!(?:(?:19|20)[0-9]{2}[ -]){2})"  # and no three years
_REGISTERS = (
    r"(?<![\w-])(?!000|666)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])",  # SSN
    r"(?<![\w-])[A-CEGHJ-TW-Z][A-CEGHJ-NPQR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![\w-])",  # NINO
    r"(?<![\w.-])[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}(?![\w-])",  # CPF
    r"(?<![\w.-])(?:0[1-9]|[12][0-9]|3[01])(?:0[1-9]|1[0-2])[0-9]{2}[-+A][0-9]{3}[0-9A-FHJ-NPR-Y](?![\w-])",
    rf"{_ALONE}[2-9][0-9]{{3}}([ -])[0-9]{{4}}\1[0-9]{{4}}(?! ?[0-9-])",  # Aadhaar
)
_PHONES = (
    r"(?<![\w.,/:+-])0[1-9][0-9]{8,9}(?![\w.,/:-]\w|\w)",  # 07911123456
    r"(?<![\w.,/:+-])1[3-9][0-9]{9}(?![\w.,/:-]\w|\w)",  # 13812345678
)
_LOCAL = re.compile(r"(?<![\w.,/:+-])[2-9][0-9]{2}-(?![0-9]00)[0-9]{3}[1-9](?![\w/-]|[.,]\w)")  # 555-0199
_RANGE = re.compile(r"[0-9] ?(?:-|to) ?[0-9]")
_PAIR = re.compile(
    r"(?<![\w.,-])(?<![\[] )(-?[0-9]{1,3}\.[0-9]{3,15}) ?°? ?[NS]?(?:, ?|; ?|/| )"
    r"(-?[0-9]{1,3}\.[0-9]{3,15})(?![0-9]|[.,]\w)"
)
_FOUR = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
_COMPUTER = re.compile(
    rf"\b(?:ip(?:v4)?|host)\b(?: ?(?:address|addr|adresse))?[ :=]{{0,3}}({_FOUR})(?![\w.])", re.IGNORECASE
)
_FOUR_PARTS = re.compile(_FOUR)
_DOTTED = re.compile(r"v?[0-9]{1,6}(?:\.[0-9]{1,8}){1,6}")
_OF_A_NET = 20  # a part of an address is larger than those of the numbers of chapters and of versions
_DEGREES = (90, 180)
_TELEPHONE, _REGISTER = (10, 13), 19  # digits of a telephone; of a card or an account, at the most


def _any(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(patterns), flags)


_STREETS_FORM = re.compile(_STREETS)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a number of a register", re.compile("|".join(f"(?:{one})" for one in _REGISTERS))),
    ("a telephone number", _any(*_PHONES)),
    ("a date of birth", _any(_BORN, flags=re.IGNORECASE)),
    ("an e-mail or web address", _any(_SITE, _MAIL, flags=re.IGNORECASE)),
)


def folded(value: str) -> str:
    """As it looks: without marks that nobody sees, digits and letters of full width as any others.

    >>> folded("jane\u200broe@example.org")
    'janeroe@example.org'
    """
    if value.isascii():
        return value
    return _DASHES.sub("-", unicodedata.normalize("NFKC", _UNSEEN.sub("", value)))


def formed(values: Sequence[str]) -> str | None:
    """What one of some values has the form of, among the others of its column.

    >>> [formed(["red", value]) for value in ("12 Elm Street", "078-05-1120", "84.23.11.9", "4 Wheel Drive")]
    ['a street address', 'a number of a register', 'the address of a computer', None]
    """
    looked = "\n".join(values)
    for kind, form in _FORMS:
        if form.search(looked):
            return kind
    if any(not _NO_STREET.search(match[0]) for match in _STREETS_FORM.finditer(looked)):
        return "a street address"
    if any(_on_earth(match, looked) for match in _PAIR.finditer(looked)):
        return "a place to the door"
    if any(map(_octets, _COMPUTER.findall(looked))) or _a_computer(values):
        return "the address of a computer"
    return "a telephone number" if any(_local(values)) else None


def _on_earth(match: re.Match[str], looked: str) -> bool:
    """A latitude and a longitude; neither an interval ("(17.999, 28.512]") nor two shares."""
    if (
        looked[match.end() : match.end() + 1] == "]"
        or looked[max(0, match.start() - 1) : match.start()] == "["
    ):
        return False
    one, other = abs(float(match[1])), abs(float(match[2]))
    return one <= _DEGREES[0] and other <= _DEGREES[1] and max(one, other) > 1


def _octets(text: str) -> bool:
    return all(int(part) <= 255 for part in text.split("."))


def _a_computer(values: Sequence[str]) -> bool:
    """Four parts, alone; not where versions or chapters stand beside them (1.2, 10.0.19041.1)."""
    dotted = [value.strip() for value in values if _DOTTED.fullmatch(value.strip())]
    fours = [value for value in dotted if _FOUR_PARTS.fullmatch(value) and _octets(value)]
    if not fours or len(fours) < len(dotted):
        return False
    return any(max(map(int, value.split("."))) > _OF_A_NET for value in fours)


def _local(values: Sequence[str]) -> Iterator[bool]:
    """Seven digits, where no other value is a range of numbers."""
    found = [value for value in values if _LOCAL.search(value)]
    if found and len(found) * 4 <= len(values) + 3:
        ranges = sum(1 for value in values if _RANGE.search(value))
        yield ranges == len(found)


def among_numbers(values: Sequence[str]) -> str | None:
    """What one number is that is as long as a telephone's or a card's, where all others are far shorter.

    >>> [among_numbers(["1", "17", value]) for value in ("7911123456", "4111111111111111", "9999999999")]
    ['a telephone number', 'a number of a register', None]
    """
    lengths = {value: len(value.strip().lstrip("+-").partition(".")[0]) for value in values}
    low, high = _TELEPHONE[0], _REGISTER
    long = [value for value, digits in lengths.items() if low <= digits <= high]
    if len(long) != 1 or len(values) <= 2:
        return None
    telephone = lengths[long[0]] <= _TELEPHONE[1]
    if len(set(long[0].partition(".")[0])) <= (2 if telephone else 1):  # 9999999998: of what is missing
        return None
    rest = max(digits for value, digits in lengths.items() if value != long[0])
    if long[0].partition(".")[2].strip("0") != "" or rest * 3 > lengths[long[0]]:
        return None
    return "a telephone number" if telephone else "a number of a register"
