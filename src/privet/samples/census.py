"""A census that never took place: the Adult data's columns, shares and dependencies, in any size.

Each column is drawn given those before it, from tables of rounded shares written down by hand: no record
of the real data is in here. Sex and age come first, then marital status and education from them, then
relationship, occupation, workclass, hours, and at last income and capital from all of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from privet.samples.draw import chance, generator, pick, pick_given, spread, whole, words
from privet.samples.taxonomies import ADULT, leaves

SEXES = ("Male", "Female")

# Percent of each sex in the five-year bands from 15-19 (in truth 17-19) to 85-89, and at 90, where ages end.
AGE_BANDS = (
    (3.4, 9.8, 12.2, 14.2, 14.4, 12.9, 10.9, 8.7, 6.1, 3.9, 1.8, 0.9, 0.4, 0.2, 0.05, 0.1),
    (6.9, 15.3, 13.7, 12.6, 12.0, 10.8, 9.8, 6.8, 5.1, 3.5, 1.9, 1.0, 0.4, 0.2, 0.05, 0.1),
)
STAGES = (20, 25, 30, 35, 45, 55, 65)  # ages at which the next of eight stages of life begins

MARITAL = leaves(ADULT["marital-status"])  # married civil, AF, absent; never; divorced, separated, widowed
MARITAL_GIVEN_SEX_AND_STAGE = (
    (2, 0.0, 0.1, 97.5, 0.2, 0.1, 0.1),
    (17, 0.1, 0.5, 80, 1.5, 0.9, 0),
    (42, 0.1, 0.7, 50, 4.5, 2, 0.1),
    (62, 0.1, 1, 26, 8.2, 2.4, 0.3),
    (72, 0.1, 0.9, 13, 11, 2.5, 0.5),
    (79, 0.0, 1.1, 6, 11.5, 1.6, 0.8),
    (82, 0.0, 0.9, 4, 9, 1.3, 2.8),
    (81, 0, 1.3, 4.5, 4.2, 0.8, 8.2),
    (1.2, 0.1, 0.5, 96.7, 0.8, 0.5, 0.2),
    (6, 0.1, 1.1, 87.5, 3.2, 2, 0.1),
    (15, 0.2, 2, 65.5, 13, 4.3, 0.3),
    (19, 0.3, 2, 45, 25, 8, 0.9),
    (21.5, 0.2, 2.3, 26, 39, 8, 3),
    (19, 0.1, 2.3, 15, 45, 8.6, 10),
    (17, 0.1, 2, 10, 37, 5.8, 28),
    (7, 0, 1.2, 9, 23, 1.7, 58),
)
NEVER = MARITAL.index("Never-married")
MARRIED = MARITAL.index("Married-civ-spouse")

RELATIONSHIPS = leaves(
    ADULT["relationship"]
)  # husband, wife, child, other relative; not in family, unmarried
RELATIONSHIP_GIVEN_MARITAL_AND_SEX = (  # two lines, man and woman, for each marital status
    ((99, 0, 0.4, 0.6, 0, 0), (0, 94, 2.5, 3, 0.3, 0.2)),
    ((94, 0, 3, 3, 0, 0), (0, 94, 3, 3, 0, 0)),
    ((0, 0, 12, 10, 60, 18), (0, 0, 9, 6, 43, 42)),
    ((0, 0, 22, 6, 64, 8), (0, 0, 18, 5, 58, 19)),
    ((0, 0, 8, 2.5, 73, 16.5), (0, 0, 6, 2.5, 42, 49.5)),
    ((0, 0, 12, 6, 62, 20), (0, 0, 7.5, 5, 29, 58.5)),
    ((0, 0, 1.5, 4, 62, 32.5), (0, 0, 1.5, 4.5, 52, 42)),
    ((0, 0, 64, 6.5, 27, 2.5), (0, 0, 58, 5, 30, 7)),  # never married and under 25
)

EDUCATIONS = (  # in the order of education-num, 1 to 16
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"),
    *("Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
EDUCATION_GIVEN_STAGE = (  # in the teens, in the early twenties, from 25 and from 55 on
    (0.1, 0.2, 0.5, 1, 2.5, 10.5, 25, 8, 27, 25, 0.2, 0.2, 0.1, 0, 0, 0),
    (0.1, 0.4, 0.9, 0.9, 1.3, 2, 3, 1.4, 32, 38, 3.5, 3, 13, 0.6, 0.1, 0),
    (0.1, 0.5, 0.8, 1.3, 1.3, 2, 2.4, 0.9, 33, 20, 5, 3.8, 19, 6.5, 1.9, 1.5),
    (0.3, 0.9, 1.7, 5, 2.6, 4.4, 2.8, 1, 35, 16.5, 3, 2, 13, 6.5, 2.5, 2.3),
)
SCHOOLING = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 4, 5, 6, 6])  # the line below for each education

OCCUPATIONS = leaves(ADULT["occupation"])  # five of the desk, five of the hand, four others
OCCUPATION_GIVEN_SCHOOLING = (
    (4.5, 3.1, 1.3, 9.5, 0.5, 18, 7, 10, 12.5, 9, 21.5, 1.7, 1.2, 0),
    (13.5, 8, 2.5, 10.5, 1.8, 19.5, 4, 6.5, 10, 8, 13, 0.6, 2.2, 0.1),
    (18, 13, 6.5, 15, 4.3, 12.5, 2.5, 4, 5, 4, 11.5, 0.3, 3.1, 0),
    (16, 13.5, 13, 10.5, 8.5, 15.5, 3, 2.2, 4, 2.5, 7.5, 0.2, 3.4, 0),
    (10, 26, 29, 16.5, 4.4, 4.3, 1.5, 1, 1.1, 1.1, 3.2, 0.1, 1.9, 0),
    (4, 30, 50, 8, 2.3, 1.3, 0.6, 0.3, 0.5, 0.5, 1.4, 0.1, 0.8, 0),
    (1.2, 11, 81, 2.8, 1.2, 0.9, 0.6, 0.1, 0.2, 0.2, 0.7, 0, 0.2, 0),
)
OCCUPATION_LEANS = (  # how much more often than its share each sex works there
    (0.48, 1.08, 0.96, 0.95, 0.9, 1.4, 1.38, 1.3, 1.08, 1.4, 0.67, 0.1, 1.3, 1.4),
    (2.2, 0.88, 1.2, 1.1, 1.2, 0.16, 0.18, 0.38, 0.8, 0.17, 1.7, 2.9, 0.37, 0.1),
)

WORKCLASSES = (
    *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay"),
)
WORKCLASS_GIVEN_OCCUPATION = (
    (75, 1.2, 0.8, 8.8, 7.5, 6.7, 0.1),
    (66, 9.6, 10, 4.4, 5.5, 4.7, 0),
    (55, 9.5, 4, 4, 17.4, 10.2, 0),
    (81, 10.6, 7.5, 0.2, 0.2, 0.3, 0),
    (80, 3, 0.6, 6.6, 4, 6, 0),
    (78, 13, 2.6, 1.5, 3.5, 1.5, 0),
    (45, 44, 5.5, 0.6, 3, 1.6, 0.5),
    (93, 1, 0.3, 1.7, 3, 0.9, 0.2),
    (95.5, 2, 0.5, 0.6, 0.7, 0.6, 0.1),
    (80, 7.7, 1.6, 1.6, 6.7, 2.5, 0.1),
    (82, 5.7, 0.9, 1.1, 6.1, 4, 0),
    (100, 0, 0, 0, 0, 0, 0),
    (30, 0.7, 0.5, 4.7, 46, 18, 0),
    (0, 0, 0, 100, 0, 0, 0),
)

RACES = leaves(ADULT["race"])
RACE_SHARES = (86, 9.4, 2.9, 0.9, 0.8)
COUNTRIES = leaves(ADULT["native-country"])
COUNTRY_GIVEN_RACE: tuple[Mapping[float, tuple[str, ...]], ...] = (  # percent, and whose it is
    {
        93.4: ("United-States",),
        2.1: ("Mexico",),
        0.4: ("Germany", "Canada", "Puerto-Rico", "El-Salvador", "Cuba"),
        0.25: ("England", "Italy", "Poland", "Guatemala", "Columbia"),
        0.12: ("Portugal", "Dominican-Republic", "Greece", "Iran", "Nicaragua", "Ecuador", "Peru"),
        0.07: ("France", "Ireland", "Philippines", "India", "Yugoslavia", "Scotland", "Hungary", "Honduras"),
        0.01: ("Holand-Netherlands",),
    },
    {
        93.7: ("United-States",),
        2.2: ("Jamaica",),
        1.6: ("Haiti",),
        0.4: ("Trinadad&Tobago", "Dominican-Republic", "Puerto-Rico", "Outlying-US(Guam-USVI-etc)"),
        0.15: ("England", "Cuba", "Honduras"),
    },
    {
        30.5: ("United-States",),
        20.5: ("Philippines",),
        8: ("India", "China", "South"),
        6: ("Vietnam",),
        4: ("Taiwan", "Japan"),
        1.7: ("Thailand", "Cambodia", "Hong", "Laos"),
        0.7: ("Iran",),
    },
    {96: ("United-States",), 2.5: ("Mexico",), 0.5: ("South",)},
    {
        48: ("United-States",),
        17: ("Mexico",),
        7: ("Puerto-Rico", "Dominican-Republic"),
        2.5: ("Ecuador", "India", "Columbia", "El-Salvador", "Guatemala"),
        1: ("Nicaragua", "Peru"),
    },
)

HOURS_GIVEN_PROFILE = (  # by tens of hours: teens, early twenties, over 65; then men and women in between
    (4.3, 23, 32, 17, 21, 2, 0.7, 0.2, 0.1, 0.1),
    (1.2, 6.4, 15, 17.5, 50, 6.3, 2.4, 0.5, 0.3, 0.2),
    (6.5, 14, 21, 13, 34, 6.5, 2.5, 1.3, 0.5, 0.7),
    (0.4, 0.8, 2.3, 6, 63, 17, 7.6, 1.9, 0.8, 0.5),
    (0.7, 2.5, 7, 16.5, 61, 8, 2.8, 0.8, 0.4, 0.3),
)
LAST_DIGIT_GIVEN_TENS = (  # people answer in fives
    *((0, 4, 8, 6, 12, 22, 8, 3, 22, 2), (25, 1, 10, 2, 3, 32, 14, 3, 8, 1)),
    *((43, 1, 3, 2, 9, 26, 3, 3, 5, 1), (25, 1, 7, 1, 1, 36, 6, 4, 14, 2)),
    *((82, 0.3, 1, 0.8, 1, 10, 0.5, 0.3, 3, 0.2), (72, 0.3, 3, 1, 1, 18, 2, 0.5, 1.5, 0.3)),
    *((82, 0.2, 1, 0.5, 0.5, 11, 0.8, 0.5, 0.5, 0.2), (65, 0.3, 12, 0.5, 0.5, 18, 0.5, 1, 1, 0.5)),
    *((74, 0.5, 1, 0.5, 18, 4, 1, 0.5, 1, 0.5), (22, 0.5, 1, 0.5, 1, 1, 3, 1, 5, 65)),
)

# Log-odds of a high income: what each circumstance adds.
PAYS = np.array([0.1, 1.2, 0.7, 0.5, 0.6, 0.25, -0.9, -0.9, -0.3, 0.1, -1.2, -2, 0.6, 0])  # by occupation
EMPLOYER_PAYS = np.array([0, -0.1, 0.9, 0.8, 0, -0.1, -1])  # by workclass

GAINS = (
    *(0, 594, 1055, 2174, 2407, 2829, 2885, 3103, 3325, 3411, 3464, 3908, 4064, 4101, 4386, 4416),
    *(4508, 4650, 5013, 5178, 7298, 7688, 8614, 10520, 13550, 14084, 14344, 15024, 20051, 27828, 99999),
)
GAIN_GIVEN_INCOME = (
    (1893, 2, 2, 6, 3, 4, 3, 6, 10, 3, 4, 4, 6, 3, 3, 2, 2, 6, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    (810, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 14, 35, 39, 8, 6, 4, 6, 4, 50, 5, 6, 23),
)
LOSSES = (
    *(0, 1340, 1408, 1485, 1564, 1590, 1602, 1669, 1672, 1719, 1721, 1740, 1741, 1762, 1848, 1876),
    *(1887, 1902, 1977, 1980, 2001, 2042, 2205, 2258, 2415, 2444, 2559, 2824, 4356),
)
LOSS_GIVEN_INCOME = (
    (3251, 2, 4, 3, 0, 9, 10, 7, 9, 6, 5, 9, 7, 4, 0, 9, 0, 0, 0, 6, 6, 3, 5, 0, 0, 0, 0, 0, 0),
    (1445, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 35, 45, 38, 0, 0, 0, 0, 4, 10, 3, 2, 2, 1),
)

# The sampling weight carries no meaning for a single person: only its quantiles are kept.
WEIGHT_SHARES = (0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999, 1)
WEIGHT_VALUES = (13_492, 40_000, 66_000, 117_000, 178_000, 238_000, 328_000, 380_000, 700_000, 1_490_400)


def census(rows: int, seed: int) -> pl.DataFrame:
    """That many people, the same for the same seed and size; no value is missing.

    >>> census(3, seed=1).columns[:4]
    ['age', 'workclass', 'fnlwgt', 'education']
    """
    rng = generator(rows, seed)
    sex = pick(rng, rows, (67.5, 32.5))
    band = pick_given(rng, sex, AGE_BANDS)
    first = np.where(band == 0, 17, 15 + 5 * band)
    years = np.where(band == 0, 3, np.where(band == len(AGE_BANDS[0]) - 1, 1, 5))
    age = first + (rng.random(rows) * years).astype(np.int64)
    stage = np.digitize(age, STAGES)

    marital = pick_given(rng, sex * 8 + stage, MARITAL_GIVEN_SEX_AND_STAGE)
    education = pick_given(rng, np.array([0, 1, 2, 2, 2, 2, 3, 3])[stage], EDUCATION_GIVEN_STAGE)
    young = (marital == NEVER) & (stage < 2)
    ties = np.array(RELATIONSHIP_GIVEN_MARITAL_AND_SEX).reshape(-1, len(RELATIONSHIPS))
    relationship = pick_given(rng, np.where(young, len(MARITAL), marital) * 2 + sex, ties)

    base = np.array(OCCUPATION_GIVEN_SCHOOLING)
    jobs = np.concatenate([base * np.array(lean) for lean in OCCUPATION_LEANS])
    occupation = pick_given(rng, SCHOOLING[education] + len(base) * sex, jobs)
    workclass = pick_given(rng, occupation, WORKCLASS_GIVEN_OCCUPATION)
    race = pick(rng, rows, RACE_SHARES)
    shares = [
        {name: percent for percent, names in line.items() for name in names} for line in COUNTRY_GIVEN_RACE
    ]
    born = [[line.get(name, 0) for name in COUNTRIES] for line in shares]
    country = pick_given(rng, race, born)

    profile = np.where(stage == 0, 0, np.where(stage == 1, 1, np.where(stage == 7, 2, 3 + sex)))
    tens = pick_given(rng, profile, HOURS_GIVEN_PROFILE)
    hours = tens * 10 + pick_given(rng, tens, LAST_DIGIT_GIVEN_TENS)

    ripe = np.interp(age, (17, 25, 35, 50, 62, 75, 90), (-4.5, -1.8, -0.3, 0.3, 0, -0.9, -1.2))
    worked = np.interp(hours, (1, 30, 40, 55, 70, 99), (-1.0, -0.8, 0, 0.9, 0.6, 0.2))
    learned = 0.3 * (education - 9) + np.where(education >= 14, 0.5, 0)
    paid = PAYS[occupation] + EMPLOYER_PAYS[workclass]
    odds = learned + ripe + worked + paid + np.where(marital == MARRIED, 2.35, 0) - 0.1 * sex - 2.85
    income = chance(rng, odds).astype(np.uint8)

    return pl.DataFrame(
        {
            "age": age,
            "workclass": words(WORKCLASSES, workclass),
            "fnlwgt": whole(spread(rng, rows, WEIGHT_SHARES, WEIGHT_VALUES), 13_492, 1_490_400),
            "education": words(EDUCATIONS, education),
            "education-num": education + 1,
            "marital-status": words(MARITAL, marital),
            "occupation": words(OCCUPATIONS, occupation),
            "relationship": words(RELATIONSHIPS, relationship),
            "race": words(RACES, race),
            "sex": words(SEXES, sex),
            "capital-gain": np.array(GAINS)[pick_given(rng, income, GAIN_GIVEN_INCOME)],
            "capital-loss": np.array(LOSSES)[pick_given(rng, income, LOSS_GIVEN_INCOME)],
            "hours-per-week": hours,
            "native-country": words(COUNTRIES, country),
            "income": words(("<=50K", ">50K"), income),
        }
    )
