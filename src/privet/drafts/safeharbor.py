"""The rules of safe harbour for the columns of a draft: what goes, and how coarse the rest is at least.

45 CFR 164.514(b)(2)(i): (B) places smaller than a state, but for three digits of a ZIP code; (C) elements of
dates but the year, and ages above 89. The other kinds are identifiers already.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from privet.core import Role
from privet.drafts import ages, areas, recognisers
from privet.drafts.areas import ELSEWHERE, ZIP, ZIP_DIGITS
from privet.drafts.coarsened import Coarsened, is_whole
from privet.drafts.lexicon import BIRTH, DATE_PARTS, DATES, Words, nothing_but, taken_apart
from privet.drafts.moments import finer_than_years
from privet.hierarchy import Dates, Intervals, Prefix
from privet.hierarchy.numbers import read as number
from privet.models.safeharbor import OLDEST, SMALL_AREAS

__all__ = ["Coarsened", "nothing_found", "safe_harbor"]

# 164.514(b)(2)(i) is about identifiers "of the individual or of relatives, employers, or household members".
EMPLOYERS = Words("""
    employer employers -employername- workplace arbeitgeber arbeitsstelle employeur empleador empregador
    werkgever pracodawca arbetsgivare arbejdsgiver arbeidsgiver company -companyname- firm firma firme
    organization organisation organizacion organizzazione organizacja entreprise empresa azienda impresa
    bedrijf virksomhed bedrift foretag works emp workplc wrkplc betrieb unternehmen работодатель компания
    организация 会社 公司 회사 employed working
""")
KINDS_OF_EMPLOYERS = Words("""
    privat- public- govern- state federal local municipal self- none no non- yes own family employ- unemploy-
    other unknown civil retired student military charity company small large medium
""")
AGES = Intervals(width=(5, 10), top=OLDEST + 1)  # below stand the numbers themselves
AGES_BY_YEAR = Intervals(width=(1, 5, 10), top=OLDEST + 1)  # 30.8446 is an age to the day
YEARS = Intervals(width=(1,))  # of days as fractions of a year; wider ones would not meet the oldest year
OLD_AGES = (90, 125)  # so old is the oldest where a column without a name may hold ages
UNSAID = frozenset(("-9", "-99", "-1", "777", "888", "998", "999", "9999"))  # of a missing age
FEW_CODES = 20
# One cell is enough: "aged 94", "born 1921".
_AGED = re.compile(
    r"\b(?:aged?|alter|edad|age of) ?:? ?(?:9[0-9]|1[0-3][0-9])\b|"
    r"\b(?:born|geboren|geb\.?) (?:in )?19[0-2][0-9]\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"((?:18|19|20)[0-9]{2}) ?(?:s|[-\u2013/] ?((?:18|19|20)[0-9]{2}))")
_WHERE = frozenset(
    ("by", "at", "for", "name", "current", "last", "former", "of", "work")
)  # "works_at", "firm_of_work"
_TO = re.compile(r"(?:t|time|days?|weeks?|months?)[_. ]?(?:to|since|until|till|of|from)?[_. ]?(\w+)")
_SHORTLY = re.compile(r"t[A-Z]\w*")
A_LETTER_AND_A_NUMBER = re.compile(r"(?:[A-Za-z]|[Vv]ar|VAR|[Cc]ol|COL|[Ff]ield)[_. -]?[0-9]{1,4}")


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
        years = replace(column.hierarchy, levels=("year",), bottom=oldest_year, step=None)
        return replace(kept, hierarchy=years, reason="dates leave as years"), "dates"
    if isinstance(column.hierarchy, Intervals) and recognisers.decimal_years(column.values):
        return replace(
            kept, hierarchy=replace(YEARS, bottom=oldest_year), reason="dates leave as years"
        ), "dates"
    if _years(column) and (BIRTH.speak(column.called) or _speaks_of_years(column)):
        born = Intervals(width=(5, 10), bottom=oldest_year)
        return replace(kept, hierarchy=born, reason="years that tell a high age leave as one group"), None
    if any(_AGED.search(value) for value in column.values) or _born_in_ranges(column, oldest_year):
        return replace(gone, reason="it tells of somebody that they are above 89"), None
    if finer_than_years(column):
        return replace(gone, reason="an element of a date that is not the year goes"), None
    if ELSEWHERE.speak(column.called) or areas.postal(column):
        return replace(
            gone, reason="postal codes of another country go: the rule knows areas of one only"
        ), None
    if areas.numbered(column):
        return replace(gone, reason="numbers of places smaller than a state go"), None
    if ZIP.speak(column.called) or (column.role is Role.QUASI and isinstance(column.hierarchy, Prefix)):
        if not all(ZIP_DIGITS.fullmatch(value) for value in column.values):
            return replace(
                gone, reason="postal codes that are not all of five digits go; a zero may be lost"
            ), None
        coarse = Prefix(keep=(3,), hide=SMALL_AREAS)
        return replace(kept, hierarchy=coarse, reason="postal codes leave as areas"), "areas"
    if ages.spoken(column) or ages.perhaps(column):
        if not isinstance(column.hierarchy, Intervals):
            return replace(gone, reason="ages that are not all numbers go"), None
        top = AGES if all(is_whole(value) for value in column.values) else AGES_BY_YEAR
        return replace(kept, hierarchy=top, reason="ages above 89 leave as one group"), "ages"
    if column.role is Role.QUASI and (areas.named(column) or areas.valued(column)):
        return replace(gone, reason="a place smaller than a state goes"), None
    if _unnamed(column) and recognisers.to_the_door(column.values):
        return replace(gone, reason="numbers that may say a place to the door go: no name says what"), None
    if _employer(column):
        return replace(gone, reason="who employs somebody goes: the rule names employers too"), None
    if column.role is Role.QUASI and _codes(column):
        # Grown intervals end at bounds, so that 1 of 0 and 1 would leave as [1-10), and no group asks for it.
        return replace(column, hierarchy=Intervals(width=(10,))), None
    return column, None


def _born_in_ranges(column: Coarsened, oldest_year: int) -> bool:
    """Ranges of years or decades, one of them before those who are 89 were born ("1915-1919", "1910s")."""
    ends = [_RANGE.fullmatch(value.strip()) for value in column.values]
    found = [int(match[2] or int(match[1]) + 9) for match in ends if match]
    return len(found) * 2 > len(ends) and min(found) < oldest_year


def _codes(column: Coarsened) -> bool:
    """A few whole numbers, such as sexes and schools, of which each can leave as it is."""
    grown = isinstance(column.hierarchy, Intervals) and not column.hierarchy.width
    return grown and len(column.values) <= FEW_CODES and all(map(is_whole, column.values))


def _unnamed(column: Coarsened) -> bool:
    """`V3`: a letter and a number, and no label that would say more."""
    return not column.label and A_LETTER_AND_A_NUMBER.fullmatch(column.name.strip()) is not None


def _employer(column: Coarsened) -> bool:
    """Names of employers; whether it is a private or a public one says less."""
    return (
        nothing_but(EMPLOYERS, " ".join(word for word in taken_apart(column.name) if word not in _WHERE))
        and not isinstance(column.hierarchy, Intervals)
        and not all(map(KINDS_OF_EMPLOYERS.speak, column.values))
    )


def _perhaps_ages(column: Coarsened) -> bool:
    """Whole numbers from low to high ages, under a number for a name."""
    numbers = [number(value) for value in column.values if value.strip() not in UNSAID]
    found = [int(n) for n in numbers if n is not None and n == int(n) and n >= 0]
    low, high = OLD_AGES
    return (
        column.role is not Role.IDENTIFIER
        and isinstance(column.hierarchy, Intervals)
        and len(found) == len(numbers) > low // 3
        and low <= max(found) <= high
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
