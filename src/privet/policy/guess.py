"""What a column may be, from its name and its values: guesses for the steward, who decides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from privet import hierarchy
from privet.core import Hierarchy, Role
from privet.engines import text

LOOKED_AT = 50_000  # different values of a column that are looked at; more would only take longer
FEW_RECORDS = 20  # in fewer, a column of different values says nothing
LONG_TEXT = 40  # characters on average: a sentence rather than a name
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
COMMA = re.compile(r"-?[0-9]{1,3}(?:\.?[0-9]{3})*,[0-9]+")  # 1.234,5: a number in many countries
DAY_FIRST = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{4}")  # 31.12.1990
PHONE = re.compile(r"(?:\+|00|0)[0-9][0-9 ()/.-]{6,}[0-9]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words in a column's name, and what they say about it; the first that fits is the guess.
NAMES: tuple[tuple[Role, str, frozenset[str]], ...] = (
    (
        Role.SENSITIVE,
        "the name speaks of health, money or belief; a target if recipients predict it",
        _words(
            "diagnosis diagnoses disease illness condition symptom symptoms icd icd9 icd10 surgery procedure "
            "operation treatment therapy medication drug drugs hiv mental disability genetic religion belief "
            "politics political union orientation salary wage wages income earnings debt balance credit "
            "criminal conviction offence offense "
            "diagnose diagnosen krankheit befund therapie medikament gehalt lohn einkommen schulden "
            "konfession maladie salaire revenu enfermedad salario ingresos"
        ),
    ),
    (
        Role.IDENTIFIER,
        "the name speaks of one person",
        _words(
            "id uuid guid ssn mrn nhs passport name surname firstname lastname forename email mail phone "
            "telephone tel mobile fax address street iban account licence license plate url ip photo "
            "nachname vorname familienname kundennummer kundennr patientennummer versichertennummer "
            "personalnummer telefon handy adresse anschrift straße strasse kontonummer kennzeichen "
            "nom prénom prenom courriel téléphone nombre apellido apellidos correo teléfono telefono "
            "dirección direccion dni"
        ),
    ),
    (
        Role.TARGET,
        "the name speaks of something to predict",
        _words("target class label outcome survived readmitted transfused transfuse churn"),
    ),
    (
        Role.QUASI,
        "others may know this about a person",
        _words(
            "age sex gender birth born birthday dob birthdate zip zipcode postcode postal plz city town "
            "county region state country nationality native race ethnicity language job occupation "
            "profession workclass employer education degree school marital relationship household children "
            "height weight admitted admission discharged discharge date visit ward "
            "alter geschlecht geburtsdatum geburtsjahr geburtstag postleitzahl ort wohnort stadt land "
            "bundesland staatsangehörigkeit beruf familienstand bildung größe gewicht datum "
            "âge sexe naissance ville pays métier edad sexo nacimiento ciudad país profesión fecha"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column may be, and why; for the steward to judge."""

    name: str
    role: Role
    reason: str
    hierarchy: Hierarchy


def guess(name: str, values: Sequence[str], records: int) -> Guess:
    """From the different values that a column has, missing ones left out."""
    looked = values[:: -(-len(values) // LOOKED_AT)] if values else values
    drafted = hierarchy.draft(looked)
    role, reason = _role(name, values, looked, drafted, records)
    return Guess(name, role, reason, drafted)


def _role(
    name: str, values: Sequence[str], looked: Sequence[str], drafted: Hierarchy, records: int
) -> tuple[Role, str]:
    many = f"{len(values):,} different value{'' if len(values) == 1 else 's'}"
    if len(values) <= 1 and records > 1:
        return Role.OTHER, "one value at most: it tells nothing"
    for looks_like, kind in ((EMAIL, "e-mail addresses"), (PHONE, "telephone numbers")):
        if looked and all(looks_like.fullmatch(value) for value in looked[:1000]):
            return Role.IDENTIFIER, f"looks like {kind}"
    measured = drafted.name == hierarchy.Intervals.name and any("." in value for value in looked)
    dated = drafted.name == hierarchy.Dates.name
    words = frozenset(
        re.findall(r"[^\W\d_]+[0-9]*|[0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())
    )
    for role, reason, speaking in NAMES:
        # "hospital_name" with a dozen values names nobody
        rare = role is Role.IDENTIFIER and len(values) * 10 < records
        if words & speaking and not rare:
            return role, f"{reason} ({many})"
    if records >= FEW_RECORDS and len(values) == records and not measured and not dated:
        return Role.IDENTIFIER, "every record has its own value"
    if len(values) * 2 > records and sum(map(len, looked)) > LONG_TEXT * len(looked):
        return Role.IDENTIFIER, f"long texts, which may say anything about a person ({many})"
    if dated:
        return Role.QUASI, f"dates, which others may know ({many})"
    if drafted.name == hierarchy.Prefix.name:
        return Role.QUASI, f"codes of one length, such as places ({many})"
    return Role.QUASI, f"in doubt, others may know it ({many})"


def foreign(values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Numbers and dates in a notation that is read as text: they would have no intervals and no calendar."""
    for looks_like, what, better in (
        (COMMA, "numbers with a decimal comma are text, without intervals", "with a point: 1234.5"),
        (DAY_FIRST, "dates that do not begin with the year are text, without months", "as 2024-12-31"),
    ):
        found = [
            name
            for name, known in values.items()
            # A word for "missing" that nobody recognised may stand among them.
            if 10 * sum(map(bool, map(looks_like.fullmatch, known[:1000]))) > 9 * len(known[:1000])
        ]
        if found:
            yield f"{text.listed(found)}: {what}; write them {better}"
