"""What a column may be, from its name and its values: guesses for the steward, who decides.

A name published is a name published, so what names people is looked for in both places; and a column of many
texts or numbers that neither its name nor its values explain is an identifier until somebody says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from privet import hierarchy
from privet.core import Hierarchy, Role
from privet.drafts import lexicon, likely, naming, recognisers
from privet.drafts.ages import AGE
from privet.drafts.bounds import bounded
from privet.drafts.column import FEW_RECORDS, LABEL, LOOKED_AT, MANY_TEXTS, Seen
from privet.drafts.found import Found, Ground
from privet.drafts.unplaced import free, unplaced
from privet.hierarchy.numbers import read as number

FEWEST_AGES, OLDEST = 8, 130  # different ones; years
STATES = 10  # of a country; a state of health has fewer
SEATS = frozenset(
    ("cabin", "seat", "room", "bed", "gate", "kabine", "zimmer", "platz", "sitz", "zone", "shelf")
)
ILLNESSES = frozenset(("icd", "icd9", "icd10", "cid", "cie", "cim", "code", "codes", "dg", "cause", "reason"))
SHORT = 3  # letters of a country, a currency or a unit
KNOWN = "others may know this about a person"


@dataclass(frozen=True, slots=True)
class Leaning:
    """Which way columns like it lean, for what stands beside it to decide."""

    score: float
    many: str


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column may be, and why; for the steward to judge."""

    name: str
    role: Role
    reason: str
    hierarchy: Hierarchy
    label: str = ""
    ground: Ground = field(default=Ground.RULE, compare=False, repr=False)
    leaning: Leaning | None = field(default=None, compare=False, repr=False)

    @property
    def leans(self) -> bool:
        """Is it sensitive by what columns like it mostly are, and by nothing that anybody explained?"""
        return self.role is Role.SENSITIVE and self.leaning is not None and self.ground.open


def guess(
    name: str,
    values: Sequence[str],
    records: int,
    *,
    blanks: int = 0,
    label: str = "",
    counted: Callable[[Sequence[str]], Mapping[str, int]] | None = None,
) -> Guess:
    """From the different values that a column has, missing ones left out, and the records that have one."""
    looked = values[:: -(-len(values) // LOOKED_AT)] if values else values
    drafted = bounded(f"{name} {label}", hierarchy.draft(looked), values)
    seen = Seen(name, values, looked, records, blanks, drafted, label, counted)
    found = _role(seen)
    if found.role is not Role.IDENTIFIER:
        found = naming.told(seen) or found
    leaning = None
    if found.role in {Role.QUASI, Role.SENSITIVE, Role.TARGET}:
        named = f"{name} {label}" if len(label.split()) <= LABEL else name
        leaning = Leaning(likely.score(named, likely.looks(seen)), seen.many)
    return Guess(name, found.role, found.reason, seen.drafted, label, found.ground, leaning)


def _role(seen: Seen) -> Found:
    if not seen.values:
        return Found(Role.OTHER, "no value at all: it tells nothing")
    for rule in RULES_OF_ONE if seen.constant else RULES:
        if (found := rule(seen)) is not None:
            return _labelled(seen, found)
    if seen.constant:
        return _constant(seen)
    for rule in (_by_label, unplaced):
        if (found := rule(seen)) is not None:
            return found
    if seen.coded:
        return Found(Role.QUASI, f"codes of one length, such as places ({seen.many})")
    return Found(Role.QUASI, f"in doubt, others may know it ({seen.many})", Ground.DOUBT)


def _constant(seen: Seen) -> Found:
    """One value in every record tells nothing, unless it names somebody; a text that nobody can explain may.

    It goes: its readers lose nothing that records differ in, and as something that others may know it would
    leave as it is, since all records are alike in it.
    """
    value = seen.values[0].strip()
    tells = Found(Role.OTHER, "one value in every record: it tells nothing")
    if lexicon.SENSITIVE.speak(seen.name) or lexicon.TARGETS.speak(seen.name):
        words = len(value.split())
        return Found(Role.IDENTIFIER, UNEXPLAINED) if seen.texts and words >= naming.SENTENCE[0] else tells
    if lexicon.QUASI.speak(seen.name) or lexicon.THINGS.speak(seen.name) or seen.coded:
        return Found(Role.QUASI, f"{KNOWN} ({seen.many})", Ground.KNOWN)
    digits = sum(map(str.isdigit, value))
    if seen.flag or (seen.texts and len(value) <= SHORT) or (seen.numeric and digits <= SMALL_NUMBER):
        return tells
    return Found(Role.IDENTIFIER, UNEXPLAINED)


def _labelled(seen: Seen, found: Found) -> Found:
    """What a short label says of a person counts, whatever the name of the column says."""
    if found.role is Role.IDENTIFIER or not seen.various or not (said := _by_label(seen)):
        return found
    return said if said.role is Role.IDENTIFIER else found


def _by_label(seen: Seen) -> Found | None:
    """What a column without a telling name is called in full."""
    if not seen.label:
        return None
    called = replace(seen, name=seen.label, label="")
    if lexicon.OPEN.speak(seen.label) and seen.texts and not seen.flag:
        return Found(Role.IDENTIFIER, f"its label speaks of answers in somebody's own words ({seen.many})")
    short = len(seen.label.split()) <= LABEL
    rules = (_calendar, naming.staff, naming.entry, _secret, naming.named, _known, _perhaps_secret)
    for rule in rules if short else (_calendar, _secret, _perhaps_secret):
        if (found := rule(called)) is not None:
            return found
    return None


def _calendar(seen: Seen) -> Found | None:
    if seen.dated or (lexicon.DATES.speak(seen.name) and not free(seen) and not seen.flag and seen.numeric):
        return Found(Role.QUASI, f"dates, which others may know ({seen.many})")
    named = lexicon.DATES.speak(seen.name) or lexicon.BIRTH.speak(seen.name)
    if named and seen.texts and recognisers.dates(seen.looked):
        return Found(Role.QUASI, f"dates in several forms, which others may know ({seen.many})")
    if lexicon.DATE_PARTS.speak(seen.name) and not seen.flag and _calendar_numbers(seen):
        return Found(Role.QUASI, f"part of a date, which others may know ({seen.many})")
    return None


def _calendar_numbers(seen: Seen) -> bool:
    """Years, months or days of a calendar, and none of the numbers that are only called so."""
    words = set(lexicon.taken_apart(seen.name))
    numbers = [number(value) for value in seen.looked]
    if any(n is None or n != int(n) for n in numbers) or len(numbers) <= 2:
        return False
    whole = [int(n) for n in numbers if n is not None]
    if words & {"year", "yr", "jahr", "annee", "ano"}:
        return all(1000 <= n <= 2200 for n in whole) or all(0 <= n <= 99 for n in whole)
    return all(1 <= n <= 31 for n in whole) or all(1000 <= n <= 2200 for n in whole)


def _ill(seen: Seen) -> Found | None:
    """Codes of diagnoses by their form; without a point where the name speaks for it."""
    sure = recognisers.diagnoses(seen.looked) if seen.texts else 0
    words = set(lexicon.taken_apart(seen.name))
    if not sure or words & SEATS or lexicon.PLACES.speak(seen.name) or len(seen.values) * 2 > seen.records:
        return None
    if words & ILLNESSES or (sure > 1 and not lexicon.IDENTIFIERS.speak(seen.name)):
        return Found(Role.SENSITIVE, f"codes of diagnoses ({seen.many})")
    return None


def _money(seen: Seen) -> Found | None:
    if seen.texts and recognisers.shaped(seen.looked, recognisers.MONEY):
        return Found(Role.SENSITIVE, f"amounts of money ({seen.many})")
    if lexicon.moneyed(seen.name) and not (seen.texts or seen.dated or seen.flag):
        return Found(Role.SENSITIVE, f"the name speaks of what somebody earns ({seen.many})")
    return None


def _secret(seen: Seen) -> Found | None:
    if not lexicon.SENSITIVE.speak(seen.name) or _says_who(seen) or _says_where(seen) or _says_known(seen):
        return None
    if naming.persons(seen) or (len(seen.values) > FEW_RECORDS and naming.numbers_of_persons(seen)):
        return None  # "claimant", which begins as "claims" do, and "médico"
    if found := naming.singled_out(seen):
        return found
    if lexicon.TARGETS.speak(seen.name):
        return Found(Role.TARGET, f"the name speaks of something to predict ({seen.many})")
    reason = "the name speaks of health, money, belief or judgement; a target if recipients predict it"
    return Found(Role.SENSITIVE, f"{reason} ({seen.many})")


def _says_who(seen: Seen) -> bool:
    """Is it the number or name of a secret thing ("charge_id", "loan_number") and not the thing?"""
    words = lexicon.taken_apart(seen.name)
    return (
        (bool({"id", "uuid", "number", "nr", "name", "nummer"} & set(words)) or lexicon.numbered(seen.name))
        and not seen.flag
        and seen.various
    )


def _says_where(seen: Seen) -> bool:
    """Is it where a secret thing happened ("deathCity")? Others know that, and it must not leave as it is."""
    words = lexicon.taken_apart(seen.name)
    state = bool(words) and words[-1] == "state"  # of a country, or of health
    place = bool(lexicon.WHERE & set(words)) or (state and len(seen.values) >= STATES)
    numbered = "precinct" in words or "district" in words
    return place and not seen.flag and (numbered or not seen.numeric)


def _says_known(seen: Seen) -> bool:
    """Is it what others know of a person at a secret thing ("age at diagnosis"), and not the thing?"""
    words = lexicon.taken_apart(seen.name)
    at = next((at for at, word in enumerate(words) if at and word in lexicon.AT), len(words))
    if AGE.speak(seen.name) and not seen.texts:
        numbers = [n for n in map(number, seen.looked) if n is not None]
        return len(numbers) > FEWEST_AGES and max(numbers) <= OLDEST and min(numbers) >= 0
    if lexicon.POSTAL.speak(seen.name) and naming.postal(seen):
        return True
    return words[at - 1 : at] != [] and words[at - 1] in lexicon.OF_ANYBODY


def _known(seen: Seen) -> Found | None:
    if lexicon.TARGETS.speak(seen.name):
        if found := naming.singled_out(seen):
            return found
        return Found(Role.TARGET, f"the name speaks of something to predict ({seen.many})")
    if free(seen) and seen.various and len(seen.values) * 5 > seen.records:
        return Found(
            Role.IDENTIFIER, f"long texts, which may say anything about a person ({seen.many})", Ground.FREE
        )
    if naming.postal(seen):
        return Found(Role.QUASI, f"postal codes ({seen.many})")
    if lexicon.QUASI.speak(seen.name):
        doors = not lexicon.PLACES.speak(seen.name) or recognisers.numbered(seen.looked)
        own = seen.nearly_unique or (seen.own_half and len(seen.values) > MANY_TEXTS)
        if own and seen.texts and not seen.coded and doors:
            of = "nearly every record has its" if seen.nearly_unique else "most records have their"
            return Found(Role.IDENTIFIER, f"texts, and {of} own ({seen.many})", Ground.TEXTS)
        return Found(Role.QUASI, f"{KNOWN} ({seen.many})", Ground.KNOWN)
    return None


def _perhaps_secret(seen: Seen) -> Found | None:
    if lexicon.PERHAPS_SENSITIVE.speak(seen.name) and not (seen.various and not seen.numeric):
        return Found(Role.SENSITIVE, f"the name may speak of a judgement about a person ({seen.many})")
    return None


UNEXPLAINED = "one text or number in every record that nobody has explained; nothing is lost without it"
SMALL_NUMBER = 5  # digits of a number that may be anything
RULES = (
    *(naming.group, naming.form, _calendar, naming.people, naming.staff, naming.entry, naming.register),
    *(_ill, _money, _secret, naming.named, _known, _perhaps_secret),
)
RULES_OF_ONE = (  # of a column with one value
    *(naming.group, naming.form, _calendar, naming.people, naming.staff, naming.entry, naming.named),
)
