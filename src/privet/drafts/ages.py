"""Which columns may hold ages: by a word, by one with another grown onto it, or by the question of a label.

Those above 89 are one group under safe harbour. Where a name only may speak of ages ("AGEP", "momage"),
little is lost by capping numbers: below 90 they stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from privet.drafts.coarsened import Coarsened
from privet.drafts.lexicon import Words, taken_apart
from privet.hierarchy import Intervals
from privet.hierarchy.numbers import read as number

# Of ages also what they are called inside one word; of lengths of time ("years of service") nothing is lost
# where those above 89 are one group.
AGE = Words("""
    age ages aged -ageat- -ageyr- -agegr- -agecat- -ageband- -ageclass- -agein- alter -altersgr- edad edades
    eta idade leeftijd wiek yas alder ika vek varsta kor anios anos annees jahre lata
    anni ans longevity lifespan eletkor tuoi umur ålder kora starost vozrast -年龄- -年齡-
    -年齢- -年纪- -周岁- -연세- -만나이- usia yoa อายุ -อายุ- גיל سن -나이- -연령- العمر عمر السن возраст ηλικια
    उम्र आयु वय amzius vecums vanus aldur oed -yearsold- -yrsold- -yrold-
""")
# Ages where nothing else stands in a name but whose they are: "yrs", "pt_yo", and not "yrs_of_schooling".
IN_YEARS = frozenset(("yrs", "yo", "years"))
WHOSE = frozenset(("pt", "pts", "pat", "patient", "subj", "subject", "person", "in", "the"))
# English, French and German words that end in "age" and are none.
_OTHERWISE = Words("""
    stage wage usage percentage average village mileage dosage passage language message damage coverage image
    marriage garage postage storage voltage package manage engage encourage courage outrage triage massage
    bandage advantage heritage foliage acreage footage tonnage leakage shortage carriage miscarriage blockage
    hemorrhage haemorrhage cartilage homepage webpage beverage sewage drainage cabbage cottage baggage luggage
    mortgage wattage seepage breakage wastage linkage lineage parentage orphanage vintage hostage sausage
    cleavage savage salvage garbage forage storeage amperage brokerage yardage poundage teenage underage
    overage cidade pager wager adage bondage dotage dressage espionage fuselage homage hermitage meage
    montage mucilage outage
    patronage peerage personage pilgrimage pillage plumage portage presage rampage ravage roughage rummage
    sabotage septage silage spillage steerage stoppage suffrage tillage tutelage umbrage upstage vantage
    visage vicarage voyage wreckage assemblage appendage arbitrage barrage cribbage curettage entourage
    menage etage mariage chomage kilometrage partage pourcentage tirage lavage sevrage depistage tabage
    frage lage anlage umfrage beilage auflage einlage vorlage zulage nachfrage bijdrage carage
    """).whole
_TAILS = tuple(
    Words("""
    percentage average village mileage dosage passage language message damage coverage marriage garage storage
    voltage package carriage orrhage cartilage beverage mortgage linkage vintage percentage webpage homepage
    manage drainage leakage acreage footage blockage triage usage image stage wage frage anlage liegetage
    kentage fehltage eitstage ungstage menage etage
    """).said
)
_WHOSE = (
    "moms?|moth(?:er)?s?|mum|mat(?:ernal)?|dads?|fath?(?:er)?s?|pat(?:ient|ernal)?s?|pts?|resp(?:ondent)?|r|"
    "ch(?:ild)?|kid|baby|inf(?:ant)?|sp(?:ouse)?|hus(?:b|band)?|wife|partner|hh|head|ref|subj?(?:ect)?|"
    "part(?:icipant)?|donor|recip(?:ient)?|case|client|emp(?:loyee)?|person|per|p|user|student|driver|owner|"
    "victim|offender|caregiver|cg|sib(?:ling)?|old(?:est)?|young(?:est)?|min|max|mean|med(?:ian)?|avg|"
    "dx|diag|death|dth|died|die|adm(?:it|ission)?|dis(?:ch|charge)?|onset|sympt?|entry|exit|enro?l?l?|first|"
    "last|base(?:line)?|bl|surv(?:ey)?|int(?:erview|view)?|intv|visit|exam|test|surg(?:ery)?|op|tx|rx|trt|"
    "treat|event|birth|at|of|in|cur(?:r|rent)?|now|start|end|quit|init|index|screen|scr|fu|follow|menarche|"
    "menopause|concept|gest|marr(?:iage)?|retire(?:ment)?|calc|imp(?:uted)?|adj|orig|raw|true|real|exact|"
    "cont|num|new|my|the|d|x|w|v|q|n|s|t|b|m|f|h|c|lab|vacc|inj(?:ury)?|arrest|hire|grad"
)
_GROWN = re.compile(
    rf"(?:{_WHOSE}|hosp(?:ital)?|stroke|cancer|smk|smok(?:e|ing)?)?"
    r"(age|alter|edad|idade|ika|wiek|yas|alder|vek|leeftijd|vozrast|usia|umur|varsta|eletkor)"
)
_BEHIND = re.compile(
    rf"(?:{_WHOSE}|ye?a?rs?|y|mon(?:th)?s?|mths?|mo|mos|days?|wks?|weeks?|gr|grp|gp|group|cat|class|band|bin|"
    rf"code|range|comb|rec|sq|hosp(?:ital)?)$"
)
_STARTS = tuple(
    Words("""
    age alters alterin alterbei alterjahr altermonat alterp leeftijd edad idade vozrast возраст ηλικι varsta
    eletkor amzi starost yasi yasgr ikavuo ikaryh ikaluo wiekp wiekw wieku wiekl wiekr vekp vekv korcsop korev
    alder etaan etapaz etames etaal etadel umur usia tuoi
    """).said
)
_NO_STARTS = ("agenc", "agent", "agend", "agens", "agenes", "alderm", "agetate")
_ENDS = tuple(
    Words("""
    age alter leeftijd edad idade возраст ηλικια varsta eletkor alder wiek starost vozrast usia yasi umur tuoi
    amzius
    """).said
)
_NO_ENDS = tuple(
    Words("""
    halter walter falter psalter zeitalter mittelalter enfermedad propiedad variedad sociedad ansiedad soledad
    novedad gravedad humedad brevedad heredad necedad piedad czlowiek kolwiek
    """).said
)
_LETTERS = (
    "page",
    "cage",
    "sage",
    "rage",
    "mage",
    "gage",
    "tage",
)  # of the father, the child: by what stands there
_OLD = frozenset(("old", "how", "howold", "years", "yrs", "y", "yr", "are", "you", "in", "pt", "patient"))
_ASKED = re.compile(
    r"\b(?:how old|(?:years?|months?|time|days) since birth|years? of (?:age|life)|completed years|wie alt|"
    r"(?:last|next|latest) birthday|years? old|lebensalter|altersjahr\w*|lebensjahr\w*|quel age|hoe oud|"
    r"(?:cuantos|quantos) anos|quanti anni|hur gammal|hvor gammel|kuinka vanha|ile .{0,20}lat|"
    r"how many years have you lived|kolik .{0,12}let|hany eves|cati ani|"
    r"skolko .{0,12}let|сколько .{0,20}лет)\b|"
    r"yas[i\u0131]n[i\u0131d]|多大|几岁|何歳|おいくつ|몇 살|عمر|ποσων ετων"
)
# Of 90 and above, in digits and in words.
_OLDER = re.compile(
    r"(?<![0-9.,])(?:9[0-9]|1[0-4][0-9])(?![0-9])|\b(?:ninet(?:y|ies)|hundred|neunzig|hundert|nonante|cent|cien(?:to)?|"
    r"quatre.vingt.(?:dix|onze|douze|treize|quatorze|quinze|seize)|noventa|novanta|cento|negentig|honderd|"
    r"dziewiecdziesiat|nittio|девяносто|сто|centenarian)",
    re.IGNORECASE,
)
OLDEST_MONTHS = 1_500
LONGEST = 60  # letters of a word that is looked at
LABEL = 6  # words of a label in which one may be grown together; a longer one is a question


def spoken(column: Coarsened) -> bool:
    """Does the name say it, or a label ask for it?"""
    asked = bool(column.label) and _ASKED.search(" ".join(taken_apart(column.label)))
    return AGE.speak(column.called) or in_years(column) or bool(asked)


def perhaps(column: Coarsened) -> bool:
    """May a word of the name speak of ages, and can the values be some?"""
    short = column.label if len(column.label.split()) <= LABEL else ""
    words = taken_apart(f"{column.name} {short}")
    if not any(map(grown, words)) and not _how_old(column):
        return False
    if not isinstance(column.hierarchy, Intervals):
        return any(map(_OLDER.search, column.values))
    numbers = [n for value in column.values if (n := number(value)) is not None]
    inside = sum(-9 <= n <= OLDEST_MONTHS for n in numbers)
    return inside * 2 >= len(numbers) or any(map(_GROWN.match, words))


@lru_cache(maxsize=10_000)
def grown(word: str) -> bool:
    """Has a word for an age another one grown onto it?

    >>> [grown(word) for word in ("agep", "momage", "firstage", "sterbealter", "tumorstage", "agency")]
    [True, True, True, True, False, False]
    """
    word = word.rstrip("0123456789")
    if word in _OTHERWISE or word.startswith(_NO_STARTS) or len(word) > LONGEST:
        return False
    if _GROWN.fullmatch(word) or word in _LETTERS:
        return True
    if word.startswith(_STARTS):
        return True
    # "deathageyrs"
    if any(grown(word[:at]) for at in range(3, len(word)) if _BEHIND.fullmatch(word, at)):
        return True
    return word.endswith(_ENDS) and not word.endswith((*_TAILS, *_NO_ENDS))


def _how_old(column: Coarsened) -> bool:
    words = frozenset(taken_apart(column.name))
    return bool(words & {"old", "howold"}) and words <= _OLD


def in_years(column: Coarsened) -> bool:
    """`yrs`, `pt_yo`: years of the person, where the name says nothing else."""
    words = frozenset(taken_apart(column.name))
    return bool(words & IN_YEARS) and words <= IN_YEARS | WHOSE and isinstance(column.hierarchy, Intervals)
