"""Which columns may say whose a row is, where one person may have several."""

from __future__ import annotations

from privet.drafts import lexicon
from privet.drafts.found import Ground
from privet.drafts.guess import Guess
from privet.hierarchy.dates import Dates

FEW_ROWS = 5  # of a person, as far as names alone tell; a name with more is rather of a doctor or a clerk
WHOSE = frozenset(  # words for who a row is about, or for the number of one
    (
        *(
            "name",
            "names",
            "fullname",
            "patient",
            "subject",
            "respondent",
            "participant",
            "ssn",
            "mrn",
            "nhs",
        ),
        *("pesel", "bsn", "aadhaar", "passport", "personnummer", "email", "mail", "username", "login", "nom"),
        *("nome", "nombre", "imie", "nazwisko", "nachname", "surname"),
    )
)


def says_whose(one: Guess, different: int, records: int) -> bool:
    """May rows with one value of it be one person's? By its name, or by names of which there are many."""
    if isinstance(one.hierarchy, Dates) or one.ground in {Ground.FREE, Ground.FORM}:
        return False
    if lexicon.THINGS.speak(one.name) or lexicon.PLACES.speak(one.name) or lexicon.DATES.speak(one.name):
        return False
    words = lexicon.taken_apart(one.name)
    return (
        lexicon.numbered(one.name)
        or lexicon.nothing_but(lexicon.PERSONS, one.name)
        or bool(words and words[-1] in {"id", "uuid", "guid", "pid"})
        or bool(WHOSE & set(words))
        or (one.ground is Ground.PEOPLE and different * FEW_ROWS > records)
    )
