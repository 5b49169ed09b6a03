"""The rules of safe harbour for the columns of a draft: what goes, and how coarse the rest is at least.

45 CFR 164.514(b)(2)(i): (B) places smaller than a state, but for three digits of a ZIP code; (C) elements of
dates but the year, and ages above 89. The other kinds are identifiers already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from privet.core import Hierarchy, Role
from privet.drafts import recognisers
from privet.drafts.lexicon import BIRTH, DATE_PARTS, DATES, Words, taken_apart
from privet.hierarchy import Dates, Intervals, Prefix
from privet.hierarchy.numbers import read as number
from privet.models.safeharbor import OLDEST, SMALL_AREAS

ZIP = Words("zip zipcode zipf postcode postal plz postleitzahl -zip- -postalc- zcta cap cep codigopostal")
# Of ages also what they are called inside one word; of lengths of time ("years of service") nothing is lost
# where those above 89 are one group.
AGE = Words("""
    age ages aged -ageat- -ageyr- -agegr- -agecat- -ageband- -ageclass- -agein- alter -altersgr- edad edades
    eta idade leeftijd wiek yas alder ika vek varsta kor anios anos annees jahre lata
    eletkor tuoi umur ålder kora starost vozrast -年龄- -年齡-
    -年齢- -年纪- -나이- -연령- العمر عمر السن возраст ηλικια
    उम्र आयु वय amzius vecums vanus aldur oed
""")
SMALL_PLACES = Words("""
    city town hometown -town- village county district dist borough neighbo- suburb municipal- gemeinde
    precinct ort wohnort stadt ville ciudad citta cidade woonplaats birthplace place location loc area
    station stop site ward community parish tract fips msa cbsa metro congress- school- hospital- clinic-
    klinik- facility branch comune commune municipio gmina miasto ilce mahalle residence wijk buurt quartier
    kreis landkreis kreisfrei- stadtkreis bezirk powiat comte provincia provincie departement departamento
    arrondissement concelho distrito freguesia kommun kommune lan
    fylke megye okres judet jude kabupaten gemeente
    comarca nomos rayon raion район город sehir
    plaats miejscow- poblacion localidad localite localita kaupunki
    kunta mesto obec oras varos 市 县 縣 区 區 郡 城市
    -市区- -区县- المدينة مدينة πολη νομος शहर जिला il ilce center centre
""")
AGES = Intervals(width=(5, 10), top=OLDEST + 1)  # below stand the numbers themselves
AGES_BY_YEAR = Intervals(width=(1, 5, 10), top=OLDEST + 1)  # 30.8446 is an age to the day
YEARS = Intervals(width=(1, 5, 10))  # of days as fractions of a year
# A code under one of these names is of another country, though it may have five digits ("10115").
ELSEWHERE = Words("""
    plz postleitzahl cap cep cp kod -codepostal- -codigopostal- -kodpocz- postnummer postnr postinumero psc
    iranyitoszam -邮编- -郵便番号- -우편번호- индекс
""")
SERIAL = (10_000, 80_000)  # days since 1900 or 1960
EPOCHS = frozenset(("epoch", "unixtime", "ts", "timestamp", "serial", "sas", "excel", "datenum", "ms"))
OLD_AGES = (90, 125)  # so old is the oldest where a column without a name may hold ages
ZIP_DIGITS = re.compile(r"[0-9]{5}|[0-9]{5}-?[0-9]{4}")
MONTHS_AND_DAYS = Words("""
    month mo monat mois mes day tag jour dia week wk kw semaine semana hour time d m quarter qtr weekday
    dow wochentag date dt datum sasdate julian yymmdd ddmmyy mmddyy ddmmyyyy mmddyyyy
""").whole
CALENDAR = Words("week weekday wochentag quarter qtr dow isoweek date dt datum -date- julian")
# What is finer than a year, as a text: "03/24", "2023-W26", "2023Q1", "14:30", "20 November 2023", "Tue".
_FINER = re.compile(
    r"""
    \b[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}\b |
    \b(?:0?[1-9]|1[0-2])(?:/(?:19|20)?|[.-](?:19|20))[0-9]{2}\b |
    \b(?:19|20)[0-9]{2}[/.-]?[QqWw]?[0-9]{1,2}(?:\b|T) | \b[0-9]{1,2}:[0-9]{2}\b |
    \b(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|april?|may|june?|july?|aug(?:ust)?)\b |
    \b(?:sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?|m\u00e4rz|mai|juni|juli)\b |
    \b(?:mon|tues?|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?\b |
    \b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
FEW_CODES = 20
_TO = re.compile(r"(?:t|time|days?|weeks?|months?)[_. ]?(?:to|since|until|till|of|from)?[_. ]?(\w+)")
_SHORTLY = re.compile(r"t[A-Z]\w*")
_DIGIT = re.compile("[0-9]")
_STATE = re.compile(r".+, ?[A-Z]{2}(?: [0-9]{5})?")  # "Salem, MA"


@dataclass(frozen=True)
class Coarsened:
    """A column with its role decided, and its hierarchy."""

    name: str
    role: Role
    hierarchy: Hierarchy
    reason: str
    values: Sequence[str] = ()  # the different ones, or as many as were looked at
    label: str = ""  # what statistics files call it in full

    @property
    def called(self) -> str:
        return f"{self.name} {self.label}"


def safe_harbor(
    columns: Sequence[Coarsened],
    models: Sequence[Mapping[str, Any]],
    algorithm: Mapping[str, Any],
    *,
    header: bool = True,
) -> tuple[list[Coarsened], list[Mapping[str, Any]], dict[str, Any]]:
    """Columns under the rules; the promise with the columns that it speaks of; the search with its limits."""
    found: list[Coarsened] = []
    spoken: dict[str, list[str]] = {"dates": [], "areas": [], "ages": []}
    levels: dict[str, int] = {}
    events = beside_events(columns)
    for column in columns:
        made, kind = _ruled(column)
        if made.role is not Role.IDENTIFIER and made.name in events:
            made = replace(
                made,
                role=Role.IDENTIFIER,
                reason="a time counted from an event whose date stands beside it goes",
            )
            kind = None
        elif kind is None and not header and _perhaps_ages(made):
            made, kind = (
                replace(made, role=Role.QUASI, hierarchy=AGES, reason="perhaps ages: no header says"),
                "ages",
            )
        found.append(made)
        if made.role is Role.QUASI:
            # The rules say how coarse each column is, so there is nothing to search: a date, a code or an age
            # to the day leaves as its group, and every other value as it is.
            to_the_day = kind == "ages" and made.hierarchy == AGES_BY_YEAR
            levels[made.name] = int(kind in {"dates", "areas"} or to_the_day)
            if kind is not None:
                spoken[kind].append(made.name)
    promised: list[Mapping[str, Any]] = [
        {**model, **{key: names for key, names in spoken.items() if names}} for model in models
    ]
    return found, promised, {**algorithm, **({"levels": levels} if levels else {})}


def _ruled(column: Coarsened) -> tuple[Coarsened, str | None]:
    """What becomes of a column, whatever is thought of its role: the rules are about what it says."""
    if column.role is Role.IDENTIFIER:
        return column, None
    oldest_year = datetime.now(tz=UTC).year - OLDEST
    kept, gone = replace(column, role=Role.QUASI), replace(column, role=Role.IDENTIFIER)
    if isinstance(column.hierarchy, Dates):
        years = replace(column.hierarchy, levels=("year",), bottom=oldest_year)
        return replace(kept, hierarchy=years, reason="dates leave as years"), "dates"
    if isinstance(column.hierarchy, Intervals) and recognisers.decimal_years(column.values):
        return replace(
            kept, hierarchy=replace(YEARS, bottom=oldest_year), reason="dates leave as years"
        ), "dates"
    if _years(column) and (BIRTH.speak(column.called) or _speaks_of_years(column)):
        born = Intervals(width=(5, 10), bottom=oldest_year)
        return replace(kept, hierarchy=born, reason="years that tell a high age leave as one group"), None
    if _finer_than_years(column):
        return replace(gone, reason="an element of a date that is not the year goes"), None
    if ELSEWHERE.speak(column.called) or _postal(column):
        return replace(
            gone, reason="postal codes of another country go: the rule knows areas of one only"
        ), None
    if ZIP.speak(column.called) or (column.role is Role.QUASI and isinstance(column.hierarchy, Prefix)):
        if not all(ZIP_DIGITS.fullmatch(value) for value in column.values):
            return replace(
                gone, reason="postal codes that are not all of five digits go; a zero may be lost"
            ), None
        areas = Prefix(keep=(3,), hide=SMALL_AREAS)
        return replace(kept, hierarchy=areas, reason="postal codes leave as areas"), "areas"
    if AGE.speak(column.called):
        if not isinstance(column.hierarchy, Intervals):
            return replace(gone, reason="ages that are not all numbers go"), None
        top = AGES if all(_is_whole(value) for value in column.values) else AGES_BY_YEAR
        return replace(kept, hierarchy=top, reason="ages above 89 leave as one group"), "ages"
    if column.role is Role.QUASI and (SMALL_PLACES.speak(column.called) or _like(_STATE.fullmatch, column)):
        return replace(gone, reason="a place smaller than a state goes"), None
    if column.role is Role.QUASI and _codes(column):
        # Grown intervals end at bounds, so that 1 of 0 and 1 would leave as [1-10), and no group asks for it.
        return replace(column, hierarchy=Intervals(width=(10,))), None
    return column, None


def _codes(column: Coarsened) -> bool:
    """A few whole numbers, such as sexes and schools, of which each can leave as it is."""
    grown = isinstance(column.hierarchy, Intervals) and not column.hierarchy.width
    return grown and len(column.values) <= FEW_CODES and all(map(_is_whole, column.values))


def _perhaps_ages(column: Coarsened) -> bool:
    """Whole numbers from low to high ages, under a number for a name."""
    numbers = [number(value) for value in column.values]
    found = [int(n) for n in numbers if n is not None and n == int(n) and n >= 0]
    low, high = OLD_AGES
    return (
        column.role is not Role.IDENTIFIER
        and isinstance(column.hierarchy, Intervals)
        and len(found) == len(numbers) > low // 3
        and low <= max(found) <= high
    )


def _postal(column: Coarsened) -> bool:
    """Postal codes with letters, or of another form than the five digits that the rule is about."""
    return (
        column.role is Role.QUASI
        and not all(ZIP_DIGITS.fullmatch(value) for value in column.values)
        and recognisers.shaped(column.values, recognisers.POSTAL)
    )


def _seconds(column: Coarsened) -> bool:
    """Seconds since 1970 or days since 1900, where numbers of that size are, and hours of no length."""
    if recognisers.seconds(column.values):
        return True
    words = set(taken_apart(column.called))
    numbers = [number(value) for value in column.values]
    return (
        bool(words & EPOCHS)
        and bool(numbers)
        and all(n is not None and SERIAL[0] <= n <= SERIAL[1] for n in numbers)
    )


def beside_events(columns: Sequence[Coarsened]) -> set[str]:
    """Times that are counted to or from an event whose date stands beside them (`DEAD` and `tDEAD`).

    Where there is one, others of the same form (`tR`) are counted from the same day.
    """
    dated = {
        "".join(taken_apart(one.name))
        for one in columns
        if isinstance(one.hierarchy, Dates) or DATES.speak(one.name) or BIRTH.speak(one.name)
    }
    timed = [one for one in columns if isinstance(one.hierarchy, Intervals)]
    named = {one.name: match[1].casefold() for one in timed if (match := _TO.fullmatch(one.name))}
    found = {name for name, event in named.items() if event in dated}
    short = {one.name for one in timed if _SHORTLY.fullmatch(one.name)}
    return found | short if found & short else found


def nothing_found(promised: Sequence[Mapping[str, Any]], *, header: bool) -> list[str]:
    """Rules for which there was no column: by their own names, since nobody is warned by silence."""
    spoken = promised[0] if promised else {}
    if header and (spoken.get("ages") or spoken.get("dates")):
        return []
    why = "" if header else ", and the file has no header that could say which it is"
    return [
        f"safe harbor, {rule}: no column was taken for {kind}{why}; look whether there is one"
        for kind, rule in (("ages", "ages above 89 leave as one group"), ("dates", "dates leave as years"))
        if not spoken.get(kind)
    ]


def _years(column: Coarsened) -> bool:
    """Are all numbers years that somebody who lives, or has lived lately, may have seen?"""
    return isinstance(column.hierarchy, Intervals) and all(
        re.fullmatch(r"(?:18|19|20)[0-9]{2}(?:\.0*)?", value) for value in column.values
    )


def _speaks_of_years(column: Coarsened) -> bool:
    return DATE_PARTS.speak(column.called) or DATES.speak(column.called) or column.role is Role.QUASI


def _finer_than_years(column: Coarsened) -> bool:
    """Months, days, weeks or hours of a calendar, by the name or by what stands there."""
    words = set(taken_apart(column.called))
    flag = len(column.values) <= 2
    if (
        words & MONTHS_AND_DAYS
        and (DATE_PARTS.speak(column.called) or CALENDAR.speak(column.called))
        and not flag
    ):
        return True
    if isinstance(column.hierarchy, Intervals):
        if column.role is Role.QUASI and _seconds(column):
            return True
        return BIRTH.speak(column.called) and _days(column.values)
    return _like(_FINER.search, column) or (BIRTH.speak(column.called) and _like(_DIGIT.search, column))


def _is_whole(value: str) -> bool:
    found = number(value)
    return found is not None and found == int(found)


def _days(values: Sequence[str]) -> bool:
    """Parts of a date as numbers, or all of it as one (19870502); not the weight of a child or its length."""
    numbers = [number(value) for value in values]
    whole = [int(n) for n in numbers if n is not None and n == int(n)]
    return len(whole) == len(numbers) and (max(whole, default=0) <= 99 or min(whole, default=0) > 10_000)


def _like(shape: Callable[[str], object], column: Coarsened) -> bool:
    """Do most of the values have a shape?"""
    return bool(column.values) and sum(bool(shape(value)) for value in column.values) * 2 > len(column.values)
