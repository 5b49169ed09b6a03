"""What is finer than a year in a column: months, days, weeks, quarters, by its name or its values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from privet.drafts import recognisers
from privet.drafts.areas import ZIP
from privet.drafts.coarsened import Coarsened, like, whole
from privet.drafts.column import FLAGS, LABEL
from privet.drafts.days import any_written
from privet.drafts.lexicon import AMOUNTS, BIRTH, DATE_PARTS, DATES, Words, moneyed, taken_apart
from privet.hierarchy import Intervals
from privet.hierarchy.numbers import read as number

SERIAL = (10_000, 80_000)  # days since 1900 or 1960
JULIAN = (2_400_001, 2_500_000)  # days since 4713 BC, of 1858 to 2132
EPOCHS = frozenset(("epoch", "unixtime", "ts", "timestamp", "serial", "sas", "excel", "datenum", "ms"))
MONTHS_AND_DAYS = Words("""
    month mo monat mois mes day tag jour dia week wk kw semaine semana hour time d m quarter qtr weekday
    dow wochentag date dt datum sasdate julian yymmdd ddmmyy mmddyy ddmmyyyy mmddyyyy
    месяц месяца день дня неделя 月 日 월 일 miesiac mesiac mesic maned manad kuukausi honap luna ay giorno
    giorni dzien den nap paiva zi gun maand dag trimestre trimestres kwartal kvartal quartal settimana semaine
    semana tydzien viikko vecka uke
""").whole
CALENDAR = Words("""
    week weekday wochentag quarter qtr dow isoweek date dt datum -date- julian
    месяц месяца день дня неделя 月 日 월 일 miesiac mesiac mesic maned manad kuukausi honap luna giorno
    giorni dzien paiva maand dag trimestre trimestres kwartal kvartal quartal settimana semaine semana
    tydzien viikko vecka
""")
# What is finer than a year, as a text: "03/24", "2023-W26", "2023Q1", "14:30", "20 November 2023", "Tue".
_FINER = re.compile(
    r"""
    \b[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}\b |
    \b(?:0?[1-9]|1[0-2])(?:/(?:19|20)?|[.-](?:19|20))[0-9]{2}\b |
    \b(?:19|20)[0-9]{2}[/.-]?[QqWwHhMmSs]?[0-9]{1,2}(?:\b|T) | \b[0-9]{1,2}:[0-9]{2}\b |
    (?<![a-z])(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|april?|may|june?|july?)(?![a-z]) |
    (?<![a-z])(?:aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)(?![a-z]) |
    (?<![a-z])(?:m\u00e4rz|mai|juni|juli)(?![a-z]) |
    \b(?:janvier|f[e\u00e9]vrier|mars|avril|juin|juillet|ao[u\u00fb]t)\b |
    \b(?:septembre|octobre|novembre|d[e\u00e9]cembre)\b |
    \b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b |
    \b(?:gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre)\b |
    \b(?:janeiro|fevereiro|mar\u00e7o|maio|junho|julho|setembro|outubro|dezembro)\b |
    \b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b |
    \b(?:lunes|martes|mi[e\u00e9]rcoles|jueves|viernes|s[a\u00e1]bado|domingo)\b |
    \b(?:mon|tues?|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?\b |
    \b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DIGIT = re.compile("[0-9]")
# Events whose day a study counts from 1960, 1970 or 1900 as a whole number: the days are dates.
EVENTS = Words("""
    diag- death died dead dx dxd surg- op operation event rx admit- admiss- adm onset birth born visit disch-
    enrol- start end entry exit last lastseen lastcontact seen contact followup fu follow relapse progression
    transplant- randomi- treat- consent test hosp- vacc- infect- censor- dose screen- -deathd- -diagd-
    tx txd when collect- dos doa dod doe
    sampl- report- injur- hosp discharged
    entlass- aufnahme- einweis- sterbe- todes- eintritt- austritt- befund- ingreso- alta egreso- muerte
    defuncion fallec- sortie entree deces hospitalis- ricover- dimission- decess- internac- obito opname
    ontslag overlij- przyjec- wypis- zgon inskriv- utskriv- indlaeg- udskriv- dodsfall kotiutus felvetel
    elbocsat- prijem otpust поступлен- выписк- смерт- рожден- госпитализ- 入院 退院 死亡 出院 입원 퇴원 사망
""")
# What is measured at an event, and is no day of it.
MEASURED = Words("""
    weight wt length height size cost costs price charge charges fee fees salary wage wages pay income amount
    sum bill total count counts number num n value score rate volume cd4 cells platelets usd eur gbp dollars
    g gr gram grams kg mg ml balance revenue km steps calories kcal sal earn earned earnings loan debt assets
""").whole
DAY_NUMBERS = (3_000, 60_000)
MANY_DAYS = 100  # different values, at least
_MONTH_AND_DAY = re.compile(
    r"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12][0-9]|3[01])|(?:0?[1-9]|[12][0-9]|3[01])/(?:0?[1-9]|1[0-2])"
)
_SHARE = frozenset(("1/1", "1/2", "1/3", "2/3", "1/4", "3/4"))
FEW = 20
# What a part of a date may be grown together with: "BMONTH", "ADMMON", "dischday", "mob".
_EVENT = (
    "b|bd|bir(?:th)?|br?th|born|dob|geb|adm(?:it|ission)?|ds?ch|disch?(?:arge|g)?|dis|dsc|dx|diag|dth|death|die|died|"
    "dod|deceased|int(?:er|erview|v|vw)?|i|v|vis(?:it)?|exam|surg|op|proc|enr(?:ol|oll)?|onset|on|event|ev|test|"
    "tx|rx|trt|treat|hosp|reg|start|st|end|svc|serv|dos|samp(?:le)?|coll(?:ect)?|rep(?:ort)?|beg|first|last|fu|"
    "inj|acc|crash|hire|lab|vacc|inf|entry|exit|arr|ref|claim|fill|epi|iso|cal|date|i?year|yr|file|d|m|y|of|in|at|mdc|the"
)
_PARTS = (
    (12, re.compile(r"[a-z]{1,4}mon|mes(?:nac|geb|dat)[a-z]*|mois(?:nais)[a-z]*|month(?:num|no|nr|code|n)")),
    (31, re.compile(r"(?:dia|jour|jr|dag)(?:nac|nais|pac)[a-z]*|dayofmonth|daynum|j(?:nais)[a-z]*")),
    (12, re.compile(rf"[a-z]{{0,12}}(?:month|mnth|mth|monat)|(?:{_EVENT})?(?:mon|mo|mm|mois|mes)")),
    (12, re.compile(rf"(?:month|mnth|mth|monat|mois|mes|mon|mo)(?:of)?(?:{_EVENT})")),
    (
        31,
        re.compile(
            rf"[a-z]{{0,12}}day|(?:{_EVENT})?(?:dd|dy|dom|tag|jour)|(?:day|dd|dy|tag|jour)(?:of)?(?:{_EVENT})"
        ),
    ),
    (
        53,
        re.compile(
            rf"[a-z]{{0,12}}(?:week|woche)|(?:{_EVENT})?(?:wk|kw)|(?:week|wk|kw|woche)(?:of)?(?:{_EVENT})"
        ),
    ),
    (
        4,
        re.compile(
            rf"[a-z]{{0,12}}(?:quarter|qtr|qrtr|quartal|season|seasn)|(?:{_EVENT})q|q|jahreszeit|saison|(?:quarter|qtr)(?:of)?(?:{_EVENT})"
        ),
    ),
    (7, re.compile(rf"(?:{_EVENT})?(?:dow|wday|weekday|wkday|wkdy)")),
)
_SINCE = re.compile(r"(?:days?|weeks?|months?|quarters?|hours?) (?:since|from|after) [12][0-9]{3}")
_DATED = re.compile(rf"(?:{_EVENT})(?:date|datum|dat|dte|dt|fecha)[0-9]*")  # "visitdate", "admdt"
_NO_PARTS = frozenset(
    ("today", "perday", "everyday", "payday", "common", "salmon", "lemon", "sermon", "demon", "mom", "moms")
)
_QUARTER = re.compile(
    r"""
    (?:.*\b)?[Qq](?:tr|uarter|uartal|UARTER|TR)?[ ._-]?[1-4](?:\b.*)? |
    FY['-]?[0-9]{2,4}-?Q[1-4] |
    (?:[Tt][ .-]?)?(?:[1-4]|IV|I{1,3})[ ./-]+(?:[Tt]rim\w*|[KkQq][vw]?[au]rt\w*|(?:19|20)[0-9]{2}) |
    [Tt][1-4] |
    (?:[1-4](?:st|nd|rd|th|\.)?|first|second|third|fourth|last)[ -]?(?:quarter|qtr|quartal|q)\b.* |
    [1-4]Q[ '-]?[0-9]{2,4} |
    (?:early|late|mid)?[ -]?(?:winter|spring|summer|fall|autumn)[ ,'-]*(?:[0-9]{2,4})? |
    fruhling|fr\u00fchling|fr\u00fchjahr|sommer|herbst|hiver|printemps|\u00e9t\u00e9|automne|
    invierno|primavera|verano|oto\u00f1o|inverno|estate|autunno|outono|ver\u00e3o|zomer|herfst|lente|
    zima|wiosna|lato|jesie\u0144
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SHARES = Words("quartil- quintil- tertil- quantil- decil- depriv- imd ses rank- favo- prefer-")
_NUMBERED = frozenset(  # visits, doses and tests have numbers of their own, and are no dates by them
    ("visit", "followup", "fu", "follow", "contact", "test", "dose", "treat", "treatment", "op", "operation")
)
_BESIDE = frozenset(("first", "last", "of", "at", "the", "when", "index", "hospital", "in", "on"))
_BETWEEN = (50, 3_450)  # half-years and weeks since 1960, and months and quarters between them


def finer_than_years(column: Coarsened) -> bool:
    """Months, days, weeks or hours of a calendar, by the name or by what stands there."""
    words = set(taken_apart(column.called))
    flag = {value.strip().casefold() for value in column.values} <= FLAGS
    if (
        words & MONTHS_AND_DAYS
        and (DATE_PARTS.speak(column.called) or CALENDAR.speak(column.called))
        and not flag
    ):
        return True
    if any(map(_part, words)) and _within(column, max(map(_part, words))):
        return True
    if _SINCE.search(" ".join(taken_apart(column.name))):
        return True
    rest = words - {"d", "m"}
    if rest and words != rest and all(EVENTS.speak(word) or BIRTH.speak(word) for word in rest):  # "dod_d"
        return _within(column, 31)
    if any(map(_part, words)) and EVENTS.speak(column.called) and _periods(whole(column.values)):
        return True
    if _of_an_event(column) or _quarters(column):
        return True
    if _day_numbers(column):  # of one length they may be drafted as codes
        return True
    numbers = isinstance(column.hierarchy, Intervals) or whole(column.values)  # of one length: "150114"
    if numbers and _dated_number(column):
        return True
    if isinstance(column.hierarchy, Intervals):
        return BIRTH.speak(column.called) and _days(column.values)
    return (
        any_written(column.values)
        or like(_FINER.search, column)
        or _month_and_day(column)
        or (BIRTH.speak(column.called) and like(_DIGIT.search, column))
    )


def _part(word: str) -> int:
    """How many parts of a year or a month there are of what a word may speak of; 0 where it does not.

    >>> [_part(word) for word in ("bmonth", "admmon", "dischday", "mob", "epiweek", "bqtr", "months", "demo")]
    [12, 12, 31, 12, 53, 4, 0, 0]
    """
    bare = word.rstrip("0123456789")
    if bare in _NO_PARTS or bare.isdigit():
        return 0
    return max((most for most, form in _PARTS if form.fullmatch(bare)), default=0)


def _within(column: Coarsened, most: int) -> bool:
    """Are the values, but for a code or two of what is missing, numbers from 1 to there?"""
    numbers = whole(column.values)
    if numbers is None or set(numbers) <= {0, 1, 2}:
        return False
    inside = sum(1 <= n <= most for n in numbers)
    return inside > 1 and inside >= len(numbers) - 2


def _of_an_event(column: Coarsened) -> bool:
    """Days of a month, months, or periods since 1960, where a name says nothing but the event."""
    words = frozenset(word for word in taken_apart(column.name) if not word.isdigit())
    events = {word for word in words if EVENTS.speak(word)}
    numbers = whole(column.values)
    if numbers is None or not events or not words <= events | _BESIDE:
        return False
    low, high, many = min(numbers), max(numbers), len(set(numbers))
    if low >= 1 and 28 <= high <= 31 and many >= FEW:
        return True
    if events & _NUMBERED and not words - _NUMBERED and words - {"visit"}:
        return False
    if low == 1 and high == 12 and many >= 10:
        return not events & _NUMBERED
    return _periods(numbers)


def _periods(numbers: Sequence[int] | None) -> bool:
    """Months, quarters or weeks since 1960?"""
    if not numbers:
        return False
    low, high = min(numbers), max(numbers)
    return _BETWEEN[0] <= low and high <= _BETWEEN[1] and high < 4 * low and len(set(numbers)) >= 12


def _quarters(column: Coarsened) -> bool:
    """`Q3`, "1st quarter", "Winter"; not the quartiles of an income."""
    called = column.called
    if _SHARES.speak(called) or AMOUNTS.speak(called) or moneyed(column.name):
        return False
    return like(lambda value: _QUARTER.fullmatch(value.strip()), column)


def _day_numbers(column: Coarsened) -> bool:
    """Days since 1900, 1960 or 1970, by the name of an event and by their size; with their hours, too."""
    words = frozenset(taken_apart(column.name))
    other = words & MEASURED or moneyed(column.name) or ZIP.speak(column.called)
    named = EVENTS.speak(column.called) and not other
    if not named or len(column.values) <= MANY_DAYS:
        return False
    numbers = [number(value) for value in column.values]
    inside = [n for n in numbers if n is not None and _a_day(n)]
    return len(inside) * 20 >= len(numbers) * 19


def _a_day(n: Decimal) -> bool:
    low, high = DAY_NUMBERS if n == int(n) else SERIAL
    return low <= n <= high


def _month_and_day(column: Coarsened) -> bool:
    """`9/11` among a few choices; not the shares of something (7/10, 8/10) nor how well an eye sees (6/9)."""
    if len(column.values) > FEW:
        return False
    said = {value.strip() for value in column.values if _MONTH_AND_DAY.fullmatch(value.strip())} - _SHARE
    parts = [value.split("/") for value in said]
    alike = any(len({part[side] for part in parts}) == 1 for side in (0, 1))
    return bool(said) and not (alike and len(said) > 1)


def _dated_number(column: Coarsened) -> bool:
    """Seconds since 1970, days of astronomers, or any number but a year under a name that says date."""
    if AMOUNTS.speak(column.name) and not DATES.speak(column.name):
        return False
    if recognisers.seconds(column.values):
        return True
    numbers = [number(value) for value in column.values]
    low, high = JULIAN
    if numbers and all(n is not None and low <= n <= high for n in numbers):
        return True
    called = column.called if len(column.label.split()) <= LABEL else column.name
    words = taken_apart(called)
    if numbers and EPOCHS & set(words) and all(n is not None and _a_day(n) for n in numbers):
        return True
    return DATES.speak(called) or any(map(_DATED.fullmatch, words))


def _days(values: Sequence[str]) -> bool:
    """Parts of a date as numbers, or all of it as one (19870502); not the weight of a child or its length."""
    numbers = [number(value) for value in values]
    whole = [int(n) for n in numbers if n is not None and n == int(n)]
    return len(whole) == len(numbers) and (max(whole, default=0) <= 99 or min(whole, default=0) > 10_000)
