"""Rules that take a column for an identifier: its values name people, or its name says that they do."""

from __future__ import annotations

from privet.core import Role
from privet.drafts import assigned, lexicon, recognisers, telling
from privet.drafts.calling import may_be_names
from privet.drafts.column import FEW_RECORDS, LOOKED_AT, MANY_TEXTS, Seen
from privet.drafts.forms import among_numbers
from privet.drafts.found import Found, Ground
from privet.drafts.names import PEOPLE
from privet.drafts.unplaced import free

NOTED = 20  # one record in so many has a sentence of its own, the others what there is to choose from
SURNAMES = 8  # more than there are kinds of families
NAME_PARTS = frozenset(["first", "last", "middle", "given", "family"])
OF_NAMES = frozenset(["set", "type", "origin", "kind", "category"])  # "name_origin": of names, and none
SENTENCE = (5, 25)  # words and characters, at least, of an answer in somebody's own words
SELDOM = 2  # records at most, beside choices that many make


def told(seen: Seen) -> Found | None:
    """One value that names somebody is one too many, however rare it is, in whatever column it stands."""
    if seen.numeric and len(seen.values) <= LOOKED_AT and (kind := among_numbers(seen.values)):
        return Found(Role.IDENTIFIER, f"{kind} stands among its numbers ({len(seen.values):,})")
    if not seen.texts or seen.flag:
        return None
    places = lexicon.PLACES.speak(seen.name) or lexicon.THINGS.speak(seen.name)
    if kind := telling.telling(seen.looked, names=not places):
        return Found(Role.IDENTIFIER, f"{kind} stands among its values ({seen.many})")
    if seen.counted is None or seen.records < FEW_RECORDS * len(seen.values):
        return None
    words, marks = SENTENCE
    long = [value for value in seen.looked if len(value) >= marks and len(value.split()) >= words]
    if long and len(long) * 2 <= len(seen.looked) and min(seen.counted(long).values(), default=9) <= SELDOM:
        return Found(
            Role.IDENTIFIER,
            f"sentences stand in few records, among choices that many make ({seen.many})",
        )
    return None


def form(seen: Seen) -> Found | None:
    """Values that have a form of their own name people whatever their column is called."""
    if not seen.dated and seen.numeric and recognisers.large(seen.looked) and not _timed(seen):
        return Found(
            Role.IDENTIFIER, "looks like long numbers, such as accounts and registers have", Ground.FORM
        )
    if seen.dated or seen.measured or postal(seen):
        return None
    if kind := recognisers.recognised(seen.looked):
        return Found(Role.IDENTIFIER, f"looks like {kind}", Ground.FORM)
    if recognisers.addressed(seen.looked):
        return Found(
            Role.IDENTIFIER, f"e-mail or web addresses stand among its values ({seen.many})", Ground.ADDRESSES
        )
    if seen.nearly_unique and recognisers.registered(seen.looked):
        return Found(
            Role.IDENTIFIER,
            f"long numbers of one length, and nearly every record has its own ({seen.many})",
            Ground.REGISTER,
        )
    if seen.records >= FEW_RECORDS and recognisers.counts_rows(seen.looked, seen.records):
        return Found(Role.IDENTIFIER, "every record has its own value: the numbers of the rows", Ground.OWN)
    return None


def _timed(seen: Seen) -> bool:
    return lexicon.DATES.speak(seen.name) or (
        recognisers.seconds(seen.looked) and bool({"ms", "time", "at"} & set(lexicon.taken_apart(seen.name)))
    )


def postal(seen: Seen) -> bool:
    """Codes of places by their form, where letters in it or the name of the column say so."""
    if {"pin", "pincode"} & set(lexicon.taken_apart(seen.name)) and not seen.own_half:
        return recognisers.shaped(seen.looked, recognisers.PIN)  # of India, and not what opens a door
    if not recognisers.shaped(seen.looked, recognisers.POSTAL):
        return False
    lettered = all(any(map(str.isalpha, value)) for value in seen.looked)
    return lettered or lexicon.POSTAL.speak(seen.name)


def people(seen: Seen) -> Found | None:
    if seen.numeric or seen.dated or lexicon.PLACES.speak(seen.name):
        return None
    few = len(seen.values) < FEW_RECORDS and not recognisers.full_names(seen.looked)
    if lexicon.QUASI.speak(seen.name) and few:
        return None  # a few groups that share a word with names: "White", "Black", "Young"
    if recognisers.initialled(seen.looked) and not lexicon.THINGS.speak(seen.name):
        return Found(Role.IDENTIFIER, f"names with initials or ranks ({seen.many})", Ground.PEOPLE)
    if recognisers.people(seen.looked) or (len(seen.values) < 3 and telling.named(seen.looked, _a_name)):
        return Found(Role.IDENTIFIER, f"names of people ({seen.many})", Ground.PEOPLE)
    return None


def _a_name(value: str) -> bool:
    return not PEOPLE.isdisjoint(lexicon.taken_apart(value))


def staff(seen: Seen) -> Found | None:
    """Whoever wrote a row, or is in charge of it, is a person too."""
    alone = lexicon.nothing_but(lexicon.STAFF_ALONE, seen.name)
    if seen.dated or seen.flag or not (alone or lexicon.STAFF.speak(seen.name)):
        return None
    if seen.texts or (len(seen.values) > FEW_RECORDS and recognisers.codes(seen.looked)):
        return Found(
            Role.IDENTIFIER, f"the name speaks of a person who works there ({seen.many})", Ground.PERSON
        )
    return None


def entry(seen: Seen) -> Found | None:
    """The number of an account, a case or an order; one of few is a kind of them."""
    if lexicon.IDENTIFIERS.speak(seen.name):
        return None  # of a person, which is said so
    many = len(seen.values) > FEW_RECORDS or (seen.constant and not seen.flag)
    own = len(seen.values) * 2 > seen.records and recognisers.numbered(seen.looked)
    if many and own and seen.texts and lexicon.called_entry(seen.name):
        return Found(Role.IDENTIFIER, f"numbers of entries, and most records have their own ({seen.many})")
    if many and not seen.dated and lexicon.an_entry(seen.name) and recognisers.codes(seen.looked):
        return Found(Role.IDENTIFIER, f"the number of an account, a case or an order ({seen.many})")
    return None


def register(seen: Seen) -> Found | None:
    """Numbers of which nearly everybody has one name people, whatever secret they are the numbers of."""
    places = (lexicon.POSTAL, lexicon.PLACES, lexicon.DATES, lexicon.BIRTH)
    if seen.dated or seen.flag or any(words.speak(seen.name) for words in places):
        return None  # which have rules of their own
    long, codes = recognisers.register_numbers(seen.looked), recognisers.codes(seen.looked)
    own = len(seen.values) > FEW_RECORDS and len(seen.values) * 2 > seen.records
    if own and codes and lexicon.numbering(seen.name):
        person = lexicon.IDENTIFIERS.speak(seen.name)
        of = "one person" if person else "numbers, and most records have their own"
        ground = Ground.PERSON if person else Ground.RULE
        return Found(Role.IDENTIFIER, f"the name speaks of {of} ({seen.many})", ground)
    some = seen.nearly_unique or (seen.sparse and len(seen.values) > 1 and seen.own_half)
    given = long and some and not lexicon.amounts(f"{seen.name} {seen.label}")
    if given or (seen.nearly_unique and codes and lexicon.keyed(seen.name)):
        return Found(
            Role.IDENTIFIER, f"numbers as a register gives, and nearly every record its own ({seen.many})"
        )
    return None


def named(seen: Seen) -> Found | None:
    if seen.flag:
        return None
    words = lexicon.taken_apart(seen.name)
    if lexicon.IDENTIFIERS.speak(seen.name):
        if "name" in words[:-1] and words[-1] in OF_NAMES and not seen.various:
            return (
                None
                if not recognisers.people(seen.looked)
                else Found(Role.IDENTIFIER, f"names of people ({seen.many})", Ground.PEOPLE)
            )
        only = {"name", "names", "nom", "nombre", "nome"} & set(words)
        if only and lexicon.THINGS.speak(seen.name) and not recognisers.people(seen.looked):
            return (
                None
                if not seen.various
                else Found(Role.IDENTIFIER, f"names, perhaps of people ({seen.many})", Ground.NAMES)
            )
        return Found(Role.IDENTIFIER, f"the name speaks of one person ({seen.many})", Ground.PERSON)
    part = bool(words) and words[-1] in NAME_PARTS and (seen.various or may_be_names(seen.looked))
    if words and seen.texts and (words[-1] == "initial" or part):
        return Found(Role.IDENTIFIER, f"the name speaks of parts of names ({seen.many})", Ground.PARTS)
    register = lexicon.PERHAPS_IDENTIFIERS.speak(seen.name) and not lexicon.POSTAL.speak(seen.name)
    if register and not seen.measured and seen.nearly_unique:
        return Found(
            Role.IDENTIFIER,
            f"the name speaks of a register, and nearly every record has its own ({seen.many})",
            Ground.REGISTER,
        )
    axis = words[-1:] == ["long"] or (len(words) == 1 and words[0] in {"x", "y"})
    if axis and recognisers.to_the_door(seen.looked):
        return Found(Role.IDENTIFIER, f"perhaps a place to the door ({seen.many})", Ground.DOOR)
    if numbers_of_persons(seen):
        return Found(Role.IDENTIFIER, f"numbers of persons or of entries ({seen.many})", Ground.ENTRIES)
    if persons(seen):
        return Found(
            Role.IDENTIFIER,
            f"the name speaks of a person, and it may hold how they are called ({seen.many})",
            Ground.PERSON,
        )
    return None


def numbers_of_persons(seen: Seen) -> bool:
    """Numbers or codes under a name that says whose: several records may have the same, of one person each.

    Beside "hhid" a column "family" of two dozen numbers says which family, and not how many are in it.
    """
    if seen.dated or not recognisers.codes(seen.looked):
        return False
    if lexicon.numbered(seen.name) or lexicon.nothing_but(lexicon.PERSONS, seen.name):
        return True
    if lexicon.key_of_person(seen.name) or (_only_counts(seen.name) and assigned.from_one(seen.looked)):
        return True
    named = lexicon.initialled(seen.name) or lexicon.nothing_but(lexicon.PERHAPS_PERSONS, seen.name)
    return named and len(seen.values) > FEW_RECORDS


def _only_counts(name: str) -> bool:
    words = lexicon.taken_apart(name)
    return bool(words) and all(word in lexicon.COUNTERS for word in words)


def persons(seen: Seen) -> bool:
    """Texts under a name that says who is meant ("driver", "witness"): however often each of them occurs.

    Where there are few of them they might be kinds of persons, too, so it is asked whether they may be names.
    """
    if seen.texts and len(seen.values) >= SURNAMES and lexicon.nothing_but(lexicon.FAMILIES, seen.name):
        return len(seen.values) > FEW_RECORDS or all(value[:1].isupper() for value in seen.looked)
    if not seen.texts or seen.flag or not lexicon.somebody(seen.name):
        return False
    return len(seen.values) > FEW_RECORDS or may_be_names(seen.looked)


def group(seen: Seen) -> Found | None:
    """Numbers of teams or companies that several share say which, and name nobody."""
    counters = {"id", *lexicon.COUNTERS} & set(lexicon.taken_apart(seen.name))
    several = len(seen.values) <= MANY_TEXTS and len(seen.values) * 5 <= seen.records
    if counters and several and lexicon.GROUPS.speak(seen.name) and seen.numeric | seen.coded:
        return Found(Role.QUASI, f"the number of a group that several share ({seen.many})")
    return None


def singled_out(seen: Seen) -> Found | None:
    """Texts of which most records have their own: whatever the column is called, they name somebody."""
    some = len(seen.values) > FEW_RECORDS and len(seen.values) * NOTED > seen.records
    if free(seen) and some:
        return Found(
            Role.IDENTIFIER, f"long texts, which may say anything about a person ({seen.many})", Ground.FREE
        )
    if not seen.texts or not seen.various or len(seen.values) * 2 <= seen.records:
        return None
    return Found(Role.IDENTIFIER, f"texts, and most records have their own ({seen.many})", Ground.TEXTS)
