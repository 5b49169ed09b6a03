"""What a column may be, from its name and its values: guesses for the steward, who decides.

A name published is a name published, so what names people is looked for in both places; and a column of many
texts or numbers that neither its name nor its values explain is an identifier until somebody says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from privet import hierarchy
from privet.core import Hierarchy, Role
from privet.drafts import lexicon, likely, recognisers, telling
from privet.drafts.bounds import bounded
from privet.drafts.column import FEW_RECORDS, MANY_TEXTS, Seen
from privet.drafts.names import PEOPLE
from privet.drafts.unplaced import free, unplaced
from privet.hierarchy.numbers import read as number

LOOKED_AT = 50_000  # different values of a column that are looked at; more would only take longer
NOTED = 20  # one record in so many has a sentence of its own, the others what there is to choose from
SURNAMES = 8  # more than there are kinds of families
STATES = 10  # of a country; a state of health has fewer
NAME_PARTS = frozenset(["first", "last", "middle", "given", "family"])
OF_NAMES = frozenset(["set", "type", "origin", "kind", "category"])  # "name_origin": of names, and none
SEATS = frozenset(
    ("cabin", "seat", "room", "bed", "gate", "kabine", "zimmer", "platz", "sitz", "zone", "shelf")
)
ILLNESSES = frozenset(("icd", "icd9", "icd10", "cid", "cie", "cim", "code", "codes", "dg", "cause", "reason"))
SHORT = 3  # letters of a country, a currency or a unit
SENTENCE = (5, 25)  # words and characters, at least, of an answer in somebody's own words
SELDOM = 2  # records at most, beside choices that many make
IN_DOUBT = "in doubt, others may know it"
KNOWN = "others may know this about a person"
LABEL = 5  # words of a label that may name a person; longer ones are questions


@dataclass(frozen=True, slots=True)
class Leaning:
    """Which way columns like it lean, for what stands beside it to decide."""

    score: float
    many: str
    explained: bool | None  # by a word of its name; None where a rule is sure


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column may be, and why; for the steward to judge."""

    name: str
    role: Role
    reason: str
    hierarchy: Hierarchy
    label: str = ""
    leaning: Leaning | None = field(default=None, compare=False, repr=False)

    @property
    def leans(self) -> bool:
        """Is it sensitive by what columns like it mostly are, and by nothing that anybody explained?"""
        return self.role is Role.SENSITIVE and self.leaning is not None and self.leaning.explained is not None


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
    role, reason = _role(seen)
    if role is not Role.IDENTIFIER and (found := _told(seen)) is not None:
        role, reason = found
    leaning = None
    if role in {Role.QUASI, Role.SENSITIVE, Role.TARGET}:
        explained = False if reason.startswith(IN_DOUBT) else True if reason.startswith(KNOWN) else None
        named = f"{name} {label}" if len(label.split()) <= LABEL else name
        leaning = Leaning(likely.score(named, likely.looks(seen)), seen.many, explained)
    return Guess(name, role, reason, seen.drafted, label, leaning)


def _role(seen: Seen) -> tuple[Role, str]:
    if not seen.values:
        return Role.OTHER, "no value at all: it tells nothing"
    rules = (_group, _form, _calendar, _people, _staff, _entry, _named) if seen.constant else RULES
    for rule in rules:
        if (found := rule(seen)) is not None:
            return _labelled(seen, found)
    if seen.constant:
        return _constant(seen)
    for rule in (_by_label, unplaced):
        if (found := rule(seen)) is not None:
            return found
    if seen.coded:
        return Role.QUASI, f"codes of one length, such as places ({seen.many})"
    return Role.QUASI, f"{IN_DOUBT} ({seen.many})"


def _constant(seen: Seen) -> tuple[Role, str]:
    """One value in every record tells nothing, unless it names somebody; a text that nobody can explain may.

    It goes: its readers lose nothing that records differ in, and as something that others may know it would
    leave as it is, since all records are alike in it.
    """
    value = seen.values[0].strip()
    tells = Role.OTHER, "one value in every record: it tells nothing"
    if lexicon.SENSITIVE.speak(seen.name) or lexicon.TARGETS.speak(seen.name):
        words = len(value.split())
        return (Role.IDENTIFIER, UNEXPLAINED) if seen.texts and words >= SENTENCE[0] else tells
    if lexicon.QUASI.speak(seen.name) or lexicon.THINGS.speak(seen.name) or seen.coded:
        return Role.QUASI, f"{KNOWN} ({seen.many})"
    digits = sum(map(str.isdigit, value))
    if seen.flag or (seen.texts and len(value) <= SHORT) or (seen.numeric and digits <= SMALL_NUMBER):
        return tells
    return Role.IDENTIFIER, UNEXPLAINED


def _told(seen: Seen) -> tuple[Role, str] | None:
    """One value that names somebody is one too many, however rare it is, in whatever column it stands."""
    if not seen.texts or seen.flag:
        return None
    places = lexicon.PLACES.speak(seen.name) or lexicon.THINGS.speak(seen.name)
    if kind := telling.telling(seen.looked, names=not places):
        return Role.IDENTIFIER, f"{kind} stands among its values ({seen.many})"
    if seen.counted is None or seen.records < FEW_RECORDS * len(seen.values):
        return None
    words, marks = SENTENCE
    long = [value for value in seen.looked if len(value) >= marks and len(value.split()) >= words]
    if long and len(long) * 2 <= len(seen.looked) and min(seen.counted(long).values(), default=9) <= SELDOM:
        return (
            Role.IDENTIFIER,
            f"sentences stand in few records, among choices that many make ({seen.many})",
        )
    return None


def _labelled(seen: Seen, found: tuple[Role, str]) -> tuple[Role, str]:
    """What a short label says of a person counts, whatever the name of the column says."""
    if found[0] is Role.IDENTIFIER or not seen.various or not (said := _by_label(seen)):
        return found
    return said if said[0] is Role.IDENTIFIER else found


def _by_label(seen: Seen) -> tuple[Role, str] | None:
    """What a column without a telling name is called in full."""
    if not seen.label:
        return None
    called = replace(seen, name=seen.label, label="")
    if lexicon.OPEN.speak(seen.label) and seen.texts and not seen.flag:
        return Role.IDENTIFIER, f"its label speaks of answers in somebody's own words ({seen.many})"
    short = len(seen.label.split()) <= LABEL
    rules = (_calendar, _staff, _entry, _secret, _named, _known, _perhaps_secret)
    for rule in rules if short else (_calendar, _secret, _perhaps_secret):
        if (found := rule(called)) is not None:
            return found
    return None


def _group(seen: Seen) -> tuple[Role, str] | None:
    """Numbers of teams or companies that several share say which, and name nobody."""
    counters = {"id", *lexicon.COUNTERS} & set(lexicon.taken_apart(seen.name))
    several = len(seen.values) <= MANY_TEXTS and len(seen.values) * 5 <= seen.records
    if counters and several and lexicon.GROUPS.speak(seen.name) and seen.numeric | seen.coded:
        return Role.QUASI, f"the number of a group that several share ({seen.many})"
    return None


def _staff(seen: Seen) -> tuple[Role, str] | None:
    """Whoever wrote a row, or is in charge of it, is a person too."""
    alone = lexicon.nothing_but(lexicon.STAFF_ALONE, seen.name)
    if seen.dated or seen.flag or not (alone or lexicon.STAFF.speak(seen.name)):
        return None
    if seen.texts or (len(seen.values) > FEW_RECORDS and recognisers.codes(seen.looked)):
        return Role.IDENTIFIER, f"the name speaks of a person who works there ({seen.many})"
    return None


def _register(seen: Seen) -> tuple[Role, str] | None:
    """Numbers of which nearly everybody has one name people, whatever secret they are the numbers of."""
    places = (lexicon.POSTAL, lexicon.PLACES, lexicon.DATES, lexicon.BIRTH)
    if seen.dated or seen.flag or any(words.speak(seen.name) for words in places):
        return None  # which have rules of their own
    long, codes = recognisers.register_numbers(seen.looked), recognisers.codes(seen.looked)
    own = len(seen.values) > FEW_RECORDS and len(seen.values) * 2 > seen.records
    if own and codes and lexicon.numbering(seen.name):
        of = (
            "one person"
            if lexicon.IDENTIFIERS.speak(seen.name)
            else "numbers, and most records have their own"
        )
        return Role.IDENTIFIER, f"the name speaks of {of} ({seen.many})"
    some = seen.nearly_unique or (seen.sparse and len(seen.values) > 1 and seen.own_half)
    given = long and some and not lexicon.amounts(f"{seen.name} {seen.label}")
    if given or (seen.nearly_unique and codes and lexicon.keyed(seen.name)):
        return Role.IDENTIFIER, f"numbers as a register gives, and nearly every record its own ({seen.many})"
    return None


def _entry(seen: Seen) -> tuple[Role, str] | None:
    """The number of an account, a case or an order; one of few is a kind of them."""
    if lexicon.IDENTIFIERS.speak(seen.name):
        return None  # of a person, which is said so
    many = len(seen.values) > FEW_RECORDS or (seen.constant and not seen.flag)
    own = len(seen.values) * 2 > seen.records and recognisers.numbered(seen.looked)
    if many and own and seen.texts and lexicon.called_entry(seen.name):
        return Role.IDENTIFIER, f"numbers of entries, and most records have their own ({seen.many})"
    if many and not seen.dated and lexicon.an_entry(seen.name) and recognisers.codes(seen.looked):
        return Role.IDENTIFIER, f"the number of an account, a case or an order ({seen.many})"
    return None


def _form(seen: Seen) -> tuple[Role, str] | None:
    """Values that have a form of their own name people whatever their column is called."""
    if not seen.dated and seen.numeric and recognisers.large(seen.looked) and not _timed(seen):
        return Role.IDENTIFIER, "looks like long numbers, such as accounts and registers have"
    if seen.dated or seen.measured or _postal(seen):
        return None
    if kind := recognisers.recognised(seen.looked):
        return Role.IDENTIFIER, f"looks like {kind}"
    if recognisers.addressed(seen.looked):
        return Role.IDENTIFIER, f"e-mail or web addresses stand among its values ({seen.many})"
    if seen.nearly_unique and recognisers.registered(seen.looked):
        return (
            Role.IDENTIFIER,
            f"long numbers of one length, and nearly every record has its own ({seen.many})",
        )
    if seen.records >= FEW_RECORDS and recognisers.counts_rows(seen.looked, seen.records):
        return Role.IDENTIFIER, "every record has its own value: the numbers of the rows"
    return None


def _timed(seen: Seen) -> bool:
    return lexicon.DATES.speak(seen.name) or (
        recognisers.seconds(seen.looked) and bool({"ms", "time", "at"} & set(lexicon.taken_apart(seen.name)))
    )


def _postal(seen: Seen) -> bool:
    """Codes of places by their form, where letters in it or the name of the column say so."""
    if {"pin", "pincode"} & set(lexicon.taken_apart(seen.name)) and not seen.own_half:
        return recognisers.shaped(seen.looked, recognisers.PIN)  # of India, and not what opens a door
    if not recognisers.shaped(seen.looked, recognisers.POSTAL):
        return False
    lettered = all(any(map(str.isalpha, value)) for value in seen.looked)
    return lettered or lexicon.POSTAL.speak(seen.name)


def _calendar(seen: Seen) -> tuple[Role, str] | None:
    if seen.dated or (lexicon.DATES.speak(seen.name) and not free(seen) and not seen.flag and seen.numeric):
        return Role.QUASI, f"dates, which others may know ({seen.many})"
    named = lexicon.DATES.speak(seen.name) or lexicon.BIRTH.speak(seen.name)
    if named and seen.texts and recognisers.dates(seen.looked):
        return Role.QUASI, f"dates in several forms, which others may know ({seen.many})"
    if lexicon.DATE_PARTS.speak(seen.name) and not seen.flag and _calendar_numbers(seen):
        return Role.QUASI, f"part of a date, which others may know ({seen.many})"
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


def _ill(seen: Seen) -> tuple[Role, str] | None:
    """Codes of diagnoses by their form; without a point where the name speaks for it."""
    sure = recognisers.diagnoses(seen.looked) if seen.texts else 0
    words = set(lexicon.taken_apart(seen.name))
    if not sure or words & SEATS or lexicon.PLACES.speak(seen.name) or len(seen.values) * 2 > seen.records:
        return None
    if words & ILLNESSES or (sure > 1 and not lexicon.IDENTIFIERS.speak(seen.name)):
        return Role.SENSITIVE, f"codes of diagnoses ({seen.many})"
    return None


def _money(seen: Seen) -> tuple[Role, str] | None:
    if seen.texts and recognisers.shaped(seen.looked, recognisers.MONEY):
        return Role.SENSITIVE, f"amounts of money ({seen.many})"
    if lexicon.moneyed(seen.name) and not (seen.texts or seen.dated or seen.flag):
        return Role.SENSITIVE, f"the name speaks of what somebody earns ({seen.many})"
    return None


def _secret(seen: Seen) -> tuple[Role, str] | None:
    if not lexicon.SENSITIVE.speak(seen.name) or _says_who(seen) or _says_where(seen):
        return None
    if len(seen.values) > FEW_RECORDS and (_numbers_of_persons(seen) or _persons(seen)):
        return None  # "claimant", which begins as "claims" do
    if found := _singled_out(seen):
        return found
    if lexicon.TARGETS.speak(seen.name):
        return Role.TARGET, f"the name speaks of something to predict ({seen.many})"
    reason = "the name speaks of health, money, belief or judgement; a target if recipients predict it"
    return Role.SENSITIVE, f"{reason} ({seen.many})"


def _singled_out(seen: Seen) -> tuple[Role, str] | None:
    """Texts of which most records have their own: whatever the column is called, they name somebody."""
    some = len(seen.values) > FEW_RECORDS and len(seen.values) * NOTED > seen.records
    if free(seen) and some:
        return Role.IDENTIFIER, f"long texts, which may say anything about a person ({seen.many})"
    if not seen.texts or not seen.various or len(seen.values) * 2 <= seen.records:
        return None
    return Role.IDENTIFIER, f"texts, and most records have their own ({seen.many})"


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


def _named(seen: Seen) -> tuple[Role, str] | None:
    if seen.flag:
        return None
    words = lexicon.taken_apart(seen.name)
    if lexicon.IDENTIFIERS.speak(seen.name):
        if "name" in words[:-1] and words[-1] in OF_NAMES and not seen.various:
            return (
                None
                if not recognisers.people(seen.looked)
                else (Role.IDENTIFIER, f"names of people ({seen.many})")
            )
        only = {"name", "names", "nom", "nombre", "nome"} & set(words)
        if only and lexicon.THINGS.speak(seen.name) and not recognisers.people(seen.looked):
            return None if not seen.various else (Role.IDENTIFIER, f"names, perhaps of people ({seen.many})")
        return Role.IDENTIFIER, f"the name speaks of one person ({seen.many})"
    if words and seen.texts and (words[-1] == "initial" or (words[-1] in NAME_PARTS and seen.various)):
        return Role.IDENTIFIER, f"the name speaks of parts of names ({seen.many})"
    register = lexicon.PERHAPS_IDENTIFIERS.speak(seen.name) and not lexicon.POSTAL.speak(seen.name)
    if register and not seen.measured and seen.nearly_unique:
        return (
            Role.IDENTIFIER,
            f"the name speaks of a register, and nearly every record has its own ({seen.many})",
        )
    axis = words[-1:] == ["long"] or (len(words) == 1 and words[0] in {"x", "y"})
    if axis and recognisers.to_the_door(seen.looked):
        return Role.IDENTIFIER, f"perhaps a place to the door ({seen.many})"
    if _numbers_of_persons(seen):
        return Role.IDENTIFIER, f"numbers of persons or of entries ({seen.many})"
    if _persons(seen):
        return (
            Role.IDENTIFIER,
            f"the name speaks of a person, and it may hold how they are called ({seen.many})",
        )
    return None


def _persons(seen: Seen) -> bool:
    """Texts under a name that says who is meant ("driver", "witness"): however often each of them occurs."""
    if seen.texts and len(seen.values) >= SURNAMES and lexicon.nothing_but(lexicon.FAMILIES, seen.name):
        return len(seen.values) > FEW_RECORDS or all(value[:1].isupper() for value in seen.looked)
    if not seen.texts or len(seen.values) <= FEW_RECORDS:
        return False
    return any(
        lexicon.nothing_but(words, seen.name)
        for words in (lexicon.PERSONS, lexicon.PERHAPS_PERSONS, lexicon.RELATIVES)
    )


def _numbers_of_persons(seen: Seen) -> bool:
    """Numbers or codes under a name that says whose: several records may have the same, of one person each.

    Beside "hhid" a column "family" of two dozen numbers says which family, and not how many are in it.
    """
    if seen.dated or not recognisers.codes(seen.looked):
        return False
    if lexicon.numbered(seen.name) or lexicon.nothing_but(lexicon.PERSONS, seen.name):
        return True
    named = lexicon.initialled(seen.name) or lexicon.nothing_but(lexicon.PERHAPS_PERSONS, seen.name)
    return named and len(seen.values) > FEW_RECORDS


def _people(seen: Seen) -> tuple[Role, str] | None:
    if seen.numeric or seen.dated or lexicon.PLACES.speak(seen.name):
        return None
    few = len(seen.values) < FEW_RECORDS and not recognisers.full_names(seen.looked)
    if lexicon.QUASI.speak(seen.name) and few:
        return None  # a few groups that share a word with names: "White", "Black", "Young"
    if recognisers.initialled(seen.looked) and not lexicon.THINGS.speak(seen.name):
        return Role.IDENTIFIER, f"names with initials or ranks ({seen.many})"
    if recognisers.people(seen.looked) or (len(seen.values) < 3 and telling.named(seen.looked, _a_name)):
        return Role.IDENTIFIER, f"names of people ({seen.many})"
    return None


def _a_name(value: str) -> bool:
    return not PEOPLE.isdisjoint(lexicon.taken_apart(value))


def _known(seen: Seen) -> tuple[Role, str] | None:
    if lexicon.TARGETS.speak(seen.name):
        if found := _singled_out(seen):
            return found
        return Role.TARGET, f"the name speaks of something to predict ({seen.many})"
    if free(seen) and seen.various and len(seen.values) * 5 > seen.records:
        return Role.IDENTIFIER, f"long texts, which may say anything about a person ({seen.many})"
    if _postal(seen):
        return Role.QUASI, f"postal codes ({seen.many})"
    if lexicon.QUASI.speak(seen.name):
        doors = not lexicon.PLACES.speak(seen.name) or recognisers.numbered(seen.looked)
        own = seen.nearly_unique or (seen.own_half and len(seen.values) > MANY_TEXTS)
        if own and seen.texts and not seen.coded and doors:
            of = "nearly every record has its" if seen.nearly_unique else "most records have their"
            return Role.IDENTIFIER, f"texts, and {of} own ({seen.many})"
        return Role.QUASI, f"{KNOWN} ({seen.many})"
    return None


def _perhaps_secret(seen: Seen) -> tuple[Role, str] | None:
    if lexicon.PERHAPS_SENSITIVE.speak(seen.name) and not (seen.various and not seen.numeric):
        return Role.SENSITIVE, f"the name may speak of a judgement about a person ({seen.many})"
    return None


UNEXPLAINED = "one text or number in every record that nobody has explained; nothing is lost without it"
SMALL_NUMBER = 5  # digits of a number that may be anything
RULES = (
    *(_group, _form, _calendar, _people, _staff, _entry, _register, _ill, _money, _secret, _named),
    *(_known, _perhaps_secret),
)
