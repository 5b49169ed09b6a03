"""Which columns say a place smaller than a state: its name, its postal code, or its number in a register."""

from __future__ import annotations

import re

from privet.core import Role
from privet.drafts import recognisers
from privet.drafts.coarsened import Coarsened, like
from privet.drafts.lexicon import AMOUNTS, Words, moneyed, nothing_but, taken_apart

ZIP = Words("""
    zip zipcode zipf postcode postal plz postleitzahl -zip- -postcode- -postcd- pcode zcode -mailcode-
    -poscode- -postco- -postalc- zcta cap cep codigopostal
""")
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
    dest destination catchment hsa hrr -bornin-
    -fips- geoid- -geoid- cnty cnty- -county- insee puma gisjoin- tractce- -censustr- -blockgr- cofips
""")
NO_PLACES = frozenset(("heart", "pulse", "rate", "nerve", "beta", "bundle", "branch"))  # "heart block"
BLOCKS = Words("block blocks blockgroup")  # of a census; where the name says nothing else
# A code under one of these names is of another country, though it may have five digits ("10115").
ELSEWHERE = Words("""
    plz postleitzahl cap cep cp kod -codepostal- -codigopostal- -kodpocz- postnummer postnr postinumero psc
    iranyitoszam -邮编- -郵便番号- -우편번호- индекс fsa outward outcode
""")
ZIP_DIGITS = re.compile(r"[0-9]{5}|[0-9]{5}-?[0-9]{4}")
_STATE = re.compile(r".+, ?[A-Z]{2}(?: [0-9]{5})?")  # "Salem, MA"
_OF_STATES = re.compile(
    r"(?:res|birth|hosp)?(?:st|state)(?:fips|fp|code)*|fips(?:code)?(?:st|state)(?:code)?"
)
_COUNTY = re.compile(r".*\w (?:county|parish|township|borough|municipality)", re.IGNORECASE)
_STARRED = re.compile(r"[0-9]{3,4}(?:\*+|[xX]+)")  # "0360*", of which nobody says how many live there
_FIVE = re.compile(r"[0-9]{5}(?:\.0*)?")
# Other things have codes of five digits.
_CODED = Words("""
    cpt- hcpcs- proc- drg- ndc- naics- sic soc occ- isco- icd- snomed- loinc- atc rxcui- industr- job- course-
    cip product- item- sku model- procedure- visit- wbc platelet- steps fnlwgt -wgt- weight-
""")


def named(column: Coarsened) -> bool:
    """Does the name speak of one, or do the values say one?"""
    words = frozenset(taken_apart(column.called))
    if words & NO_PLACES and words & {"beat", "block", "branch"}:
        return False
    squashed = "".join(taken_apart(column.name))
    if _OF_STATES.fullmatch(squashed) and all(len(value) <= 2 for value in column.values):
        return False
    return SMALL_PLACES.speak(column.called) or nothing_but(BLOCKS, column.name)


def numbered(column: Coarsened) -> bool:
    """Numbers of counties and tracts: their first three digits say more than the state."""
    money = AMOUNTS.speak(column.name) or moneyed(column.name)
    return five_digits(column) and named(column) and not ZIP.speak(column.called) and not money


def valued(column: Coarsened) -> bool:
    """`Salem, MA`, "Dane County", or numbers of five digits that no name explains otherwise."""
    if like(_STARRED.fullmatch, column) or like(_STATE.fullmatch, column):
        return True
    if any(_COUNTY.fullmatch(value.strip()) for value in column.values):
        return True
    return five_digits(column) and not (
        _CODED.speak(column.called) or AMOUNTS.speak(column.called) or moneyed(column.name)
    )


def five_digits(column: Coarsened) -> bool:
    """All of five digits, and not rounded."""
    if not column.values or not all(_FIVE.fullmatch(value.strip()) for value in column.values):
        return False
    rounded = sum(value.strip().partition(".")[0].endswith("00") for value in column.values)
    return rounded * 2 <= len(column.values)


def postal(column: Coarsened) -> bool:
    """Postal codes with letters, or of another form than the five digits that the rule is about."""
    return (
        column.role is Role.QUASI
        and not all(ZIP_DIGITS.fullmatch(value) for value in column.values)
        and recognisers.shaped(column.values, recognisers.POSTAL)
    )
