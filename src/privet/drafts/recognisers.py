"""What the values of a column look like, whatever it is called.

Addresses of the network, numbers with a check digit, telephone numbers, names of people, free text. Numbers
that carry their own check are tried with `python-stdnum` and telephone numbers with `phonenumbers` where they
are installed (the extra `guess`); without them long numbers count as somebody's, which is the safe side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

from privet.drafts.lexicon import Words
from privet.drafts.names import PEOPLE, plain

LOOKED_AT = 1000  # values that are looked at
MOST = 0.9  # so many of them look like it, where a word for "missing" may stand among them
LONG_TEXT = 40  # characters on average: a sentence rather than a name
WORDY = 5  # words on average

SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("web addresses", re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)),
    ("network addresses", re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:/[0-9]{1,2})?")),
    (
        "network addresses",
        re.compile(r"(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}|(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"),
    ),
    ("UUIDs", re.compile(r"\{?[0-9A-Fa-f]{8}-?(?:[0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}\}?")),
    ("digests or keys", re.compile(r"(?=[0-9A-Fa-f]*[A-Fa-f])(?=[0-9A-Fa-f]*[0-9])[0-9A-Fa-f]{16,}")),
    (
        "coordinates",
        re.compile(r"\(?-?[0-9]{1,3}\.[0-9]{2,}\s*[,; ]\s*-?[0-9]{1,3}\.[0-9]{2,}\)?|POINT\s*\(.+\)"),
    ),
    (
        "telephone numbers",
        re.compile(r"(?:\+|00)[0-9][0-9 ()/.-]{6,}[0-9]|0[0-9]{1,5}[ /.-][0-9 ()/.-]{4,}[0-9]"),
    ),
    ("telephone numbers", re.compile(r"\(?[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}")),
    (
        "names of files",
        re.compile(
            r"\S.*\.(?:pdf|docx?|odt|rtf|xlsx?|jpe?g|png|tiff?|gif|bmp|heic|dcm|wav|mp3|mp4|avi|mov|zip)",
            re.IGNORECASE,
        ),
    ),
)
# Of countries whose codes no five digits are: they say a place, and not who lives there.
POSTAL = re.compile(
    r"[0-9]{2}-[0-9]{3}|[0-9]{5}-[0-9]{3,4}|[0-9]{4}-[0-9]{3}|[0-9]{4} ?[A-Z]{2}|[0-9]{3} [0-9]{2}|"
    r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]"
)
PIN = re.compile(r"[1-9][0-9]{2} ?[0-9]{3}")
MONEY = re.compile(
    r"[-+(]?(?:[$€£¥₽₹]|zł|EUR|USD|GBP|PLN|CHF|TL|R\$) ?-?[0-9][0-9., \u00a0'\u2019]*\)?|"
    r"[-+]?[0-9][0-9., \u00a0\u202f'\u2019]* ?(?:[$€£¥₽₹]|zł|EUR|USD|GBP|PLN|CHF|TL|kr\.?|Kč|Ft|lei)"
)
_ICD = re.compile(r"[A-Z][0-9][0-9AB](?:\.[0-9A-Z]{1,4})?")
_FRACTION = re.compile(r"(?:18[5-9]|19[0-9]|20[0-9])[0-9]\.[0-9]*[1-9][0-9]*")
_LARGE = re.compile(r"-?[0-9]{12,}(?:\.0*)?|[1-9](?:\.[0-9]+)?[eE]\+?(?:1[1-9]|[2-9][0-9])")
_DATELIKE = re.compile(
    r"[0-9]{1,4}[./-] ?[0-9]{1,2}[./-] ?[0-9]{1,4}(?:[T ][0-9:.Z+-]+)?|"
    r"(?:[0-9]{1,2}\.? )?[^\W\d_]{3,12}\.? (?:[0-9]{1,2}\.?,? )?[0-9]{4}|"
    r"[0-9]{1,2}[ -]?[^\W\d_]{3,9}[ -]?[0-9]{2,4}|"
    r"[0-9]{4}[0-9]{2}[0-9]{2}"
)
# Numbers of people and accounts that carry a check; by the module of python-stdnum that knows it.
CHECKED = {
    "iban": "IBANs",
    "luhn": "card numbers",
    "us.ssn": "social security numbers",
    "gb.nhs": "NHS numbers",
    "gb.nino": "national insurance numbers",
    "de.idnr": "tax numbers",
    "fr.nir": "social security numbers",
    "es.dni": "identity numbers",
    "es.nie": "identity numbers",
    "it.codicefiscale": "tax codes",
    "nl.bsn": "citizen numbers",
    "be.nn": "national numbers",
    "pl.pesel": "identity numbers",
    "se.personnummer": "personal numbers",
    "no.fodselsnummer": "personal numbers",
    "dk.cpr": "personal numbers",
    "fi.hetu": "personal numbers",
    "ch.ssn": "social security numbers",
    "at.vnr": "insurance numbers",
    "br.cpf": "tax numbers",
    "cn.ric": "identity numbers",
    "in_.aadhaar": "identity numbers",
    "tr.tckimlik": "identity numbers",
    "za.idnr": "identity numbers",
    "ca.sin": "social insurance numbers",
    "au.tfn": "tax numbers",
    "imei": "device numbers",
}
TITLES = Words("""
    dr prof mr mrs ms miss mx sir dame herr frau fraulein monsieur madame mme mlle sig signor signora dott dra
    sr sra srta don dona pan pani ing mag rev fr sgt cpt capt lt col maj
""").whole
ACADEMIC = frozenset(("dr", "prof"))  # which stand before names, and a practice is named after somebody
FEW = 10  # numbers of which half may be round by chance
SHORTEST_REGISTERED = 8
SHORTEST_CHECKED = 9  # shorter numbers pass a check by chance
REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "AT", "CH", "PL", "BR", "IN", "AU")
LONG_NUMBER = re.compile(r"[0-9]{9,}|[0-9A-Za-z]{2,}(?:[-/ ][0-9A-Za-z]+)*")


def recognised(values: Sequence[str]) -> str | None:
    """What kind of identifying thing the values are; None where they are none that has a form of its own.

    >>> recognised(["ann@example.org", "bob@example.org"]), recognised(["red", "blue"])
    ('e-mail addresses', None)
    """
    some = list(islice(values, LOOKED_AT))
    if not some:
        return None
    for kind, shape in SHAPES:
        if _most(some, shape.fullmatch):
            return kind
    digits = [re.sub(r"[ ./-]", "", value) for value in some]
    if _most(digits, lambda text: len(text) >= SHORTEST_CHECKED and any(map(str.isdigit, text))):
        for module, kind in CHECKED.items():
            if (check := _check(module)) is not None and _most(digits, check):
                return kind
        if _most(some, _is_phone):
            return "telephone numbers"
        if _most(digits, str.isdigit) and not _most(digits, _is_day):
            return "long numbers, such as accounts and registers have"
    return None


def addressed(values: Sequence[str]) -> bool:
    """Does any value hold an address of the network? One that is published is a person who is.

    >>> addressed(["pos", "neg", "ask ann@example.org"]), addressed(["5 mg @ night", "none"])
    (True, False)
    """
    return any(ADDRESS.search(value) for value in values if "@" in value or "/" in value or "www" in value)


def shaped(values: Sequence[str], shape: re.Pattern[str]) -> bool:
    """Have most of them this shape?"""
    some = list(islice(values, LOOKED_AT))
    return bool(some) and _most(some, lambda value: shape.fullmatch(value.strip()))


def diagnoses(values: Sequence[str]) -> int:
    """How sure codes of ICD-10 stand there: 2 with points, 1 without, 0 where there are none.

    >>> diagnoses(["I10", "E11.9", "J45"]), diagnoses(["I10", "E11", "J45"]), diagnoses(["C23", "C25"])
    (2, 1, 0)
    """
    some = list(islice(values, LOOKED_AT))
    if len(some) < 3 or len({value[:1] for value in some}) < 2 or not shaped(some, _ICD):
        return 0
    return 2 if any("." in value for value in some) else 1


def decimal_years(values: Sequence[str]) -> bool:
    """Days as fractions of a year, 1963.89: all between 1850 and 2100, and many with a fraction."""
    some = list(islice(values, LOOKED_AT))
    fractions = sum(bool(_FRACTION.fullmatch(value.strip())) for value in some)
    return (
        bool(some)
        and fractions * 2 > len(some)
        and all(_FRACTION.fullmatch(value.strip()) or _WHOLE_YEAR.fullmatch(value.strip()) for value in some)
    )


def seconds(values: Sequence[str]) -> bool:
    """Seconds or milliseconds since 1970, from 1973 on; also as a spreadsheet writes them."""
    some = list(islice(values, LOOKED_AT))
    return bool(some) and _most(some, lambda value: _EPOCH.fullmatch(value.strip()))


def large(values: Sequence[str]) -> bool:
    """Numbers of twelve digits and more, also as a spreadsheet rounds them ("5.54E+15"): no amounts."""
    some = list(islice(values, LOOKED_AT))
    return bool(some) and _most(some, lambda value: _LARGE.fullmatch(value.strip()))


def dates(values: Sequence[str]) -> bool:
    """Dates each by itself, though perhaps in several forms."""
    return shaped(values, _DATELIKE)


def registered(values: Sequence[str]) -> bool:
    """Whole numbers of one length, too long to be amounts of a person, and no days of a calendar."""
    lengths = {len(value.strip()) for value in values}
    return (
        len(lengths) == 1
        and min(lengths) >= SHORTEST_REGISTERED
        and all(value.strip().isdigit() for value in values)
        and not _most(values, _is_day)
    )


def register_numbers(values: Sequence[str]) -> bool:
    """Whole numbers of four to seven digits, as registers and accounts give them; no years, nothing rounded.

    >>> [register_numbers(some) for some in (["26812", "49121"], ["26800", "49100"], ["1987", "1991"])]
    [True, False, False]
    """
    plain = [_NO_FRACTION.sub("", value.strip()) for value in islice(values, LOOKED_AT)]
    if not plain or not all(map(_DIGITS.fullmatch, plain)):
        return False
    if not _most(plain, lambda digits: 4 <= len(digits) <= 7) or _most(plain, _WHOLE_YEAR.fullmatch):
        return False
    rounded = sum(digits[-1] in "05" for digits in plain)
    return rounded * 20 <= 9 * len(plain) or (len(plain) < FEW and rounded * 2 <= len(plain))


def one_length(values: Iterable[str]) -> bool:
    return len({len(_NO_FRACTION.sub("", value.strip())) for value in values}) == 1


def register_codes(values: Sequence[str]) -> int:
    """How many digits codes of letters and digits have that are all of one shape; 0 where they are not.

    >>> [register_codes(some) for some in (["N00001669", "N00009638"], ["['S8DE00012']"], ["A1", "B"])]
    [8, 6, 0]
    """
    plain = [value.strip().strip("[]'\"()") for value in islice(values, LOOKED_AT)]
    shapes = {re.sub(r"[0-9]", "9", re.sub(r"[A-Za-z]", "A", value)) for value in plain}
    shape = shapes.pop() if len(shapes) == 1 else ""
    if not re.fullmatch(r"(?=.*A)(?=.*999)[A9/.-]{4,}", shape):
        return 0
    if _most(plain, lambda value: _ICD.fullmatch(value) or POSTAL.fullmatch(value) or _YEARLY.search(value)):
        return 0
    return shape.count("9")


def initialled(values: Sequence[str]) -> bool:
    """Surnames beside initials, or behind a rank, where they are most of the values.

    >>> [initialled(some) for some in (["Nagy É.", "Kiss G."], ["st. sierż. Kowal", "Sgt. Lee"], ["Group A"])]
    [True, True, False]
    """
    some = [value.strip() for value in islice(values, LOOKED_AT)]
    called = [value for value in some if _INITIALLED.fullmatch(value) or _ranked(value)]
    return len(called) > 1 and len(called) * 2 > len(some)


def _ranked(value: str) -> bool:
    """Ranks in front, and a word with a capital letter behind them."""
    *before, name = value.split() or [""]  # of blanks alone
    ranks = Words(" ".join(before)).said  # in small letters and without accents
    return (
        0 < len(ranks) <= 3
        and name[:1].isupper()
        and name[1:2].islower()
        and all(rank in RANKS or rank.rstrip(".") in PLAIN_RANKS for rank in ranks)
    )


def to_the_door(values: Sequence[str]) -> bool:
    """Numbers with so many digits behind the point as a coordinate has that says where somebody lives."""
    return _most(list(islice(values, LOOKED_AT)), _DEGREES.fullmatch)


def numbered(values: Sequence[str]) -> bool:
    """Do most hold a number among words, as places to the door do?"""
    return _most(list(islice(values, LOOKED_AT)), lambda value: re.search(r"[0-9]", value))


def people(values: Sequence[str]) -> bool:
    """Are these names of people? So many of them hold a common given or family name.

    >>> people(["Kowalczyk, Jürgen", "Smith, Anna", "Nguyen, Thi"]), people(["round", "square", "oval"])
    (True, False)
    """
    some = [value for value in islice(values, LOOKED_AT) if value.strip()]
    if len(some) < 3 or any(map(str.isdigit, "".join(some[:50]))):
        return False
    worded = _words(some)
    if not _most(worded, lambda words: 1 <= len(words) <= 6):
        return False
    if _most(worded, lambda words: len(words) > 1 and (words[0] in TITLES or not ACADEMIC.isdisjoint(words))):
        return True
    known = sum(any(word in PEOPLE for word in words) for words in worded)
    comma = sum(bool(re.fullmatch(r"[^,]+, ?[^,]+", value)) for value in some)
    return known >= 0.3 * len(some) or (comma >= MOST * len(some) and known >= 0.15 * len(some))


def full_names(values: Sequence[str]) -> bool:
    """Two words or more, of which one is a common name, nearly everywhere: no group is called so.

    >>> full_names(["Ann Lee", "Bob King"]), full_names(["White", "Black"]), full_names(["Never married"])
    (True, False, False)
    """
    worded = _words(islice(values, LOOKED_AT))
    return _most(worded, lambda words: len(words) > 1 and any(word in PEOPLE for word in words))


def free_text(values: Sequence[str]) -> bool:
    """Sentences rather than names: long, or of many words.

    >>> free_text(["came in the morning and complained of the food", "was sent home again at noon"])
    True
    """
    some = list(islice(values, LOOKED_AT))
    if not some:
        return False
    words = sum(len(value.split()) for value in some)
    return sum(map(len, some)) > LONG_TEXT * len(some) or words >= WORDY * len(some)


_DIGITS = re.compile(r"[0-9]+")
_NO_FRACTION = re.compile(r"\.0*$")
_YEARLY = re.compile(r"(?<![0-9])(?:18[5-9]|19[0-9]|20[0-9])[0-9](?![0-9])")
_CAPITAL = r"[^\W\d_a-zß-öø-ÿа-яёα-ω]"
_SURNAME = rf"(?:(?:van|von|de|der|den|di|el|al|O'|Mc)\s?){{0,2}}{_CAPITAL}[\w'\u2019-]+"
_INITIALLED = re.compile(
    rf"{_SURNAME},?\s(?:{_CAPITAL}\.[\s-]?){{1,3}}|(?:{_CAPITAL}\.[\s-]?){{1,3}}\s?{_SURNAME}"
)
# Of police and army, and shortened: some only with their point, since they are other words as well.
PLAIN_RANKS = frozenset(
    Words("""
    sgt ssgt cpl lcpl capt cpt lt ltn insp hptm uffz obfw stfw polhm phk pok pom phm sierz asp podkom kpt por
    ppor kpr plk płk plut det supt dci nadkom podinsp сержант лейтенант капитан маиор
""").said
)
RANKS = frozenset(
    Words("""
    st. ml. mł.
    asp. maj. col. gen. adm. ofc. off. dep. const. pc. sup. kom. post. fw. ofw. hfw. brig. cmdr. cdr.
    adj. mar. mag. isp. app. car. brg. ten. cap. serg. sgto. cb. orm. torm. zls. hadn. szds. orgy. alez. ezds.
    серж. леит. кап. подп. αστυφ. αρχιφ. υπαστ.
""").said
)
_WHOLE_YEAR = re.compile(r"(?:18[5-9]|19[0-9]|20[0-9])[0-9](?:\.0*)?")
_EPOCH = re.compile(r"(?:[1-9][0-9]{8}|[1-3][0-9]{9}|40[0-9]{8})(?:[0-9]{3})?(?:\.[0-9]*)?")
_DEGREES = re.compile(r"-?[0-9]{1,3}\.[0-9]{3,}")
ADDRESS = re.compile(r"\w@[\w-]+\.[A-Za-z]{2,}|https?://|www\.\w", re.IGNORECASE)
# "M01", "308", "308.0" and the letters by which a report calls its patients; not "78.5".
_CODE = re.compile(r"(?!.*\d[.,]\d*[1-9])[\w#./-]*\d[\w#./-]*|[A-Za-z]{1,2}")


def codes(values: Sequence[str]) -> bool:
    """Whole numbers, letters and digits without a blank, or initials: what entries of a list are called.

    >>> codes(["308", "M01"]), codes(["78.5", "70"]), codes(["history", "physics"])
    (True, False, False)
    """
    return _most(values, lambda value: _CODE.fullmatch(value.strip()))


def counts_rows(values: Sequence[str], records: int) -> bool:
    """Is it the number of the row, from 0 or 1 on?"""
    if len(values) != records or not values[0].isascii() or not all(map(str.isdigit, values)):
        return False
    numbers = sorted(map(int, values))
    return numbers[0] in {0, 1} and numbers[-1] - numbers[0] == records - 1


def _words(values: Iterable[str]) -> list[list[str]]:
    return [re.findall(r"[^\W\d_]+", plain(value).casefold()) for value in values]


def _most(values: Sequence[Any], looks_like: Callable[[Any], object]) -> bool:
    """Do most of the values look like it? Nobody asks on where those that are left cannot change it."""
    needed, found = MOST * len(values), 0
    for left, value in zip(range(len(values) - 1, -1, -1), values, strict=True):
        found += bool(looks_like(value))
        if found + left < needed:
            return False
    return True


def _is_day(text: str) -> bool:
    """20240131, or 20240131103000: a long number that is a date."""
    return (
        re.fullmatch(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{0,6}", text)
        is not None
    )


@cache
def _check(module: str) -> Callable[[str], bool] | None:
    try:
        found: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    except (ImportError, AttributeError):
        return None
    return found


@cache
def _phones() -> Any:
    try:
        return import_module("phonenumbers")
    except ImportError:
        return None


def _is_phone(text: str) -> bool:
    library = _phones()
    if library is None:
        return False
    return any(library.is_valid_number(number) for number in _parsed(library, text))


def _parsed(library: Any, text: str) -> Iterator[Any]:
    for region in (None,) if text.startswith("+") else REGIONS:
        try:
            yield library.parse(text, region)
        except library.NumberParseException:
            continue
