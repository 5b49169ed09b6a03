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
from privet.drafts.lexicon import BIRTH, DATE_PARTS, DATES, Words, moneyed, nothing_but, taken_apart
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
    उम्र आयु वय amzius vecums vanus aldur oed -yearsold- -yrsold- -yrold-
""")
# Ages where nothing else stands in a name but whose they are: "yrs", "pt_yo", and not "yrs_of_schooling".
IN_YEARS = frozenset(("yrs", "yo", "years"))
WHOSE = frozenset(("pt", "pts", "pat", "patient", "subj", "subject", "person", "in", "the"))
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
    -subcount- -subdistrict- -subdivision- township admin2 admin3 admin4 adm2 adm3 adm4 wardno wardnr wardname
    barangay brgy taluka taluk tehsil tahsil woreda kebele lga upazila mandal panchayat beat
""")
NO_PLACES = frozenset(("heart", "pulse", "rate", "nerve", "beta", "bundle", "branch"))  # "heart block"
BLOCKS = Words("block blocks blockgroup")  # of a census; where the name says nothing else
# 164.514(b)(2)(i) is about identifiers "of the individual or of relatives, employers, or household members".
EMPLOYERS = Words("""
    employer employers -employername- workplace arbeitgeber arbeitsstelle employeur empleador empregador
    werkgever pracodawca arbetsgivare arbejdsgiver arbeidsgiver
""")
KINDS_OF_EMPLOYERS = Words("""
    privat- public- govern- state federal local municipal self- none no non- yes own family employ- unemploy-
    other unknown civil retired student military charity company small large medium
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
# Events whose day a study counts from 1960, 1970 or 1900 as a whole number: the days are dates.
EVENTS = Words("""
    diag- death died dead dx dxd surg- op operation event rx admit- admiss- adm onset birth born visit disch-
    enrol- start end entry exit last lastseen lastcontact seen contact followup fu follow relapse progression
    transplant- randomi- treat- consent test hosp- vacc- infect- censor- dose screen- -deathd- -diagd-
""")
# What is measured at an event, and is no day of it.
MEASURED = Words("""
    weight wt length height size cost costs price charge charges fee fees salary wage wages pay income amount
    sum bill total count counts number num n value score rate volume cd4 cells platelets usd eur gbp dollars
    g gr gram grams kg mg ml balance revenue km steps calories kcal sal earn earned earnings loan debt assets
""").whole
DAY_NUMBERS = (3_000, 60_000)
MANY_DAYS = 100  # different values, at least
A_LETTER_AND_A_NUMBER = re.compile(r"(?:[A-Za-z]|[Vv]ar|VAR|[Cc]ol|COL|[Ff]ield)[_. -]?[0-9]{1,4}")
_MONTH_AND_DAY = re.compile(
    r"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12][0-9]|3[01])|(?:0?[1-9]|[12][0-9]|3[01])/(?:0?[1-9]|1[0-2])"
)
_SHARE = frozenset(("1/1", "1/2", "1/3", "2/3", "1/4", "3/4"))
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
        elif kind is None and (not header or _unnamed(made)) and _perhaps_ages(made):
            why = "its name does not say" if header else "no header says"
            made, kind = (
                replace(made, role=Role.QUASI, hierarchy=AGES, reason=f"perhaps ages: {why}"),
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
    if AGE.speak(column.called) or _in_years(column):
        if not isinstance(column.hierarchy, Intervals):
            return replace(gone, reason="ages that are not all numbers go"), None
        top = AGES if all(_is_whole(value) for value in column.values) else AGES_BY_YEAR
        return replace(kept, hierarchy=top, reason="ages above 89 leave as one group"), "ages"
    if column.role is Role.QUASI and (_small_place(column) or _like(_STATE.fullmatch, column)):
        return replace(gone, reason="a place smaller than a state goes"), None
    if _employer(column):
        return replace(gone, reason="who employs somebody goes: the rule names employers too"), None
    if column.role is Role.QUASI and _codes(column):
        # Grown intervals end at bounds, so that 1 of 0 and 1 would leave as [1-10), and no group asks for it.
        return replace(column, hierarchy=Intervals(width=(10,))), None
    return column, None


def _codes(column: Coarsened) -> bool:
    """A few whole numbers, such as sexes and schools, of which each can leave as it is."""
    grown = isinstance(column.hierarchy, Intervals) and not column.hierarchy.width
    return grown and len(column.values) <= FEW_CODES and all(map(_is_whole, column.values))


def _in_years(column: Coarsened) -> bool:
    words = frozenset(taken_apart(column.name))
    return bool(words & IN_YEARS) and words <= IN_YEARS | WHOSE and isinstance(column.hierarchy, Intervals)


def _unnamed(column: Coarsened) -> bool:
    """`V3`: a letter and a number, and no label that would say more."""
    return not column.label and A_LETTER_AND_A_NUMBER.fullmatch(column.name.strip()) is not None


def _small_place(column: Coarsened) -> bool:
    words = frozenset(taken_apart(column.called))
    if words & NO_PLACES and words & {"beat", "block", "branch"}:
        return False
    return SMALL_PLACES.speak(column.called) or nothing_but(BLOCKS, column.name)


def _employer(column: Coarsened) -> bool:
    """Names of employers; whether it is a private or a public one says less."""
    return (
        nothing_but(EMPLOYERS, column.name)
        and not isinstance(column.hierarchy, Intervals)
        and not all(map(KINDS_OF_EMPLOYERS.speak, column.values))
    )


def _day_numbers(column: Coarsened) -> bool:
    """Days counted from 1900, 1960 or 1970, by the name of an event and by their size."""
    words = frozenset(taken_apart(column.name))
    other = words & MEASURED or moneyed(column.name) or ZIP.speak(column.called)
    named = EVENTS.speak(column.called) and not other
    if not named or len(column.values) <= MANY_DAYS:
        return False
    numbers = [number(value) for value in column.values]
    low, high = DAY_NUMBERS
    whole = [n for n in numbers if n is not None and n == int(n)]
    inside = sum(low <= n <= high for n in whole)
    return len(whole) == len(numbers) and inside * 20 >= len(numbers) * 19


def _month_and_day(column: Coarsened) -> bool:
    """`9/11` among a few choices; not the shares of something (7/10, 8/10) nor how well an eye sees (6/9)."""
    if len(column.values) > FEW_CODES:
        return False
    said = {value.strip() for value in column.values if _MONTH_AND_DAY.fullmatch(value.strip())} - _SHARE
    parts = [value.split("/") for value in said]
    alike = any(len({part[side] for part in parts}) == 1 for side in (0, 1))
    return bool(said) and not (alike and len(said) > 1)


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


RULES = {
    "ages": "ages above 89 leave as one group",
    "dates": "dates leave as years",
    "areas": "postal codes leave as areas",
}
SAID = {"ages": "ages", "dates": "dates", "areas": "postal codes"}


def nothing_found(promised: Sequence[Mapping[str, Any]], *, header: bool) -> list[str]:
    """Rules for which there was no column: by their own names, since nobody is warned by silence."""
    spoken = promised[0] if promised else {}
    why = "" if header else ", and the file has no header that could say which it is"
    return [
        f"safe harbor, {rule}: no column was taken for {SAID[kind]}{why}; look whether there is one"
        for kind, rule in RULES.items()
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
    if _day_numbers(column):  # of one length they may be drafted as codes
        return True
    if isinstance(column.hierarchy, Intervals):
        if column.role is Role.QUASI and _seconds(column):
            return True
        return BIRTH.speak(column.called) and _days(column.values)
    return (
        _like(_FINER.search, column)
        or _month_and_day(column)
        or (BIRTH.speak(column.called) and _like(_DIGIT.search, column))
    )


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
