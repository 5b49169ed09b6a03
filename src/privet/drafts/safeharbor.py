"""The rules of safe harbour for the columns of a draft: what goes, and how coarse the rest is at least.

45 CFR 164.514(b)(2)(i): (B) places smaller than a state, but for three digits of a ZIP code; (C) elements of
dates but the year, and ages above 89. The other kinds are identifiers already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from privet.core import Hierarchy, Role
from privet.drafts.lexicon import DATE_PARTS, Words, taken_apart
from privet.hierarchy import Dates, Intervals, Prefix
from privet.models.safeharbor import OLDEST, SMALL_AREAS

ZIP = Words("zip zipcode postcode postal plz postleitzahl -zipc- -postalc-")
AGE = Words("age ages aged alter edad eta idade leeftijd")
BIRTH = Words("birth- born dob -birth- geburts- naissance nacimiento nascita nascimento")
SMALL_PLACES = Words("""
    city town hometown -town- village county district borough neighbo- suburb municipal- gemeinde precinct ort
    wohnort stadt ville ciudad citta cidade woonplaats birthplace place location area station stop site ward
    community
""")
ZIP_DIGITS = 5
MONTHS_AND_DAYS = frozenset(
    ("month", "mo", "monat", "mois", "mes", "day", "tag", "jour", "dia", "week", "hour", "time", "d", "m")
)


@dataclass(frozen=True)
class Coarsened:
    """A column with its role decided, and its hierarchy."""

    name: str
    role: Role
    hierarchy: Hierarchy
    reason: str


def safe_harbor(
    columns: Sequence[Coarsened], models: Sequence[Mapping[str, Any]], algorithm: Mapping[str, Any]
) -> tuple[list[Coarsened], list[Mapping[str, Any]], dict[str, Any]]:
    """Columns under the rules; the promise with the columns that it speaks of; the search with its limits."""
    found: list[Coarsened] = []
    spoken: dict[str, list[str]] = {"dates": [], "areas": [], "ages": []}
    levels: dict[str, int] = {}
    for column in columns:
        made, kind = _ruled(column)
        found.append(made)
        if made.role is Role.QUASI:
            # The rules say how coarse each column is, so there is nothing to search: a date or a code leaves
            # as its group, and every other value as it is.
            levels[made.name] = int(kind in {"dates", "areas"})
            if kind is not None:
                spoken[kind].append(made.name)
    promised: list[Mapping[str, Any]] = [
        {**model, **{key: names for key, names in spoken.items() if names}} for model in models
    ]
    return found, promised, {**algorithm, **({"levels": levels} if levels else {})}


def _ruled(column: Coarsened) -> tuple[Coarsened, str | None]:
    if column.role not in {Role.QUASI, Role.SENSITIVE, Role.OTHER}:
        return column, None
    birth = BIRTH.speak(column.name)
    oldest_year = datetime.now(tz=UTC).year - OLDEST
    if isinstance(column.hierarchy, Dates):
        years = replace(column.hierarchy, levels=("year",), bottom=oldest_year if birth else None)
        return replace(column, role=Role.QUASI, hierarchy=years, reason="dates leave as years"), "dates"
    if column.role is not Role.QUASI:
        return column, None
    gone = replace(column, role=Role.IDENTIFIER)
    words = set(taken_apart(column.name))
    if words & MONTHS_AND_DAYS and (birth or DATE_PARTS.speak(column.name)):
        return replace(gone, reason="an element of a date that is not the year goes"), None
    if ZIP.speak(column.name) or isinstance(column.hierarchy, Prefix):
        areas = Prefix(keep=(3,), hide=SMALL_AREAS)
        return replace(column, hierarchy=areas, reason="postal codes leave as areas"), "areas"
    if AGE.speak(column.name) and isinstance(column.hierarchy, Intervals):
        top = Intervals(width=(5, 10), top=OLDEST + 1)  # below stand the numbers themselves
        return replace(column, hierarchy=top, reason="ages above 89 leave as one group"), "ages"
    if birth and isinstance(column.hierarchy, Intervals):
        born = Intervals(width=(5, 10), bottom=oldest_year)
        return replace(
            column, hierarchy=born, reason="years of birth of the very old leave as one group"
        ), None
    if SMALL_PLACES.speak(column.name):
        return replace(gone, reason="a place smaller than a state goes"), None
    return column, None
