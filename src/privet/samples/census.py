"""A census that never took place: the Adult data's columns, shares and dependencies, in any size.

Each column is drawn given those before it, from tables of rounded shares written down by hand: no record
of the real data is in here. Sex and age come first, then marital status and education from them, then
relationship, occupation, workclass, hours, and at last income and capital from all of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from privet.samples.draw import Ints, chance, generator, pick, pick_given, spread, whole, words
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

RELATIONSHIPS = leaves(ADULT["relationship"])  # husband, wife, child, other relative; not in family, unmarried
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
COUNTRY_GIVEN_RACE: tuple[Mapping[str, float], ...] = (
    {  # White
        "United-States": 93.4,
        **{"Mexico": 2.1, "Germany": 0.5, "Canada": 0.4, "Puerto-Rico": 0.4, "El-Salvador": 0.35, "Cuba": 0.35},
        **{"England": 0.3, "Italy": 0.25, "Poland": 0.2, "Guatemala": 0.2, "Columbia": 0.2, "Portugal": 0.15},
        **{"Dominican-Republic": 0.15, "Greece": 0.12, "Iran": 0.1, "Nicaragua": 0.1, "Ecuador": 0.1, "Peru": 0.1},
        **{"France": 0.1, "Ireland": 0.1, "Philippines": 0.05, "Yugoslavia": 0.06, "Scotland": 0.05},
        **{"Hungary": 0.05, "Honduras": 0.04, "India": 0.05, "Holand-Netherlands": 0.01},
    },
    {  # Black
        "United-States": 93.7,
        **{"Jamaica": 2.2, "Haiti": 1.6, "Trinadad&Tobago": 0.5, "Dominican-Republic": 0.4, "Puerto-Rico": 0.3},
        **{"Outlying-US(Guam-USVI-etc)": 0.2, "England": 0.2, "Cuba": 0.1, "Honduras": 0.1},
    },
    {  # Asian-Pac-Islander
        "United-States": 30.5,
        **{"Philippines": 20.5, "India": 9.3, "China": 8.4, "South": 7.5, "Vietnam": 6.2, "Taiwan": 4, "Japan": 4},
        **{"Thailand": 1.8, "Cambodia": 1.8, "Hong": 1.8, "Laos": 1.6, "Iran": 0.7},
    },
    {"United-States": 96, "Mexico": 2.5, "South": 0.5},  # Amer-Indian-Eskimo
    {  # Other
        **{"United-States": 48, "Mexico": 17, "Puerto-Rico": 8, "Dominican-Republic": 6, "Ecuador": 3.5},
        **{"India": 2.5, "Columbia": 2.5, "El-Salvador": 2.5, "Guatemala": 2.5, "Nicaragua": 1, "Peru": 1},
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

GAIN_GIVEN_INCOME = (
    ((594, 2), (1055, 2), (2174, 6), (2407, 3), (2829, 4), (2885, 3), (3103, 6), (3325, 10), (3411, 3))
    + ((3464, 4), (3908, 4), (4064, 6), (4101, 3), (4386, 3), (4416, 2), (4508, 2), (4650, 6), (5013, 14)),
    ((3103, 9), (4386, 9), (5178, 14), (7298, 35), (7688, 39), (8614, 8), (10520, 6), (13550, 4))
    + ((14084, 6), (14344, 4), (15024, 50), (20051, 5), (27828, 6), (99999, 23)),
)
LOSS_GIVEN_INCOME = (
    ((1340, 2), (1408, 4), (1485, 3), (1590, 9), (1602, 10), (1669, 7), (1672, 9), (1719, 6), (1721, 5))
    + ((1740, 9), (1741, 7), (1762, 4), (1876, 9), (1980, 6), (2001, 6), (2042, 3), (2205, 5)),
    ((1485, 4), (1564, 4), (1848, 9), (1887, 35), (1902, 45), (1977, 38), (2258, 4), (2415, 10), (2444, 3))
    + ((2559, 2), (2824, 2), (4356, 1)),
)
HAS_GAIN, HAS_LOSS = (4.2, 21.2), (3.1, 9.8)  # percent, by income

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
    born = [[shares.get(country, 0) for country in COUNTRIES] for shares in COUNTRY_GIVEN_RACE]
    country = pick_given(rng, race, born)

    profile = np.where(stage == 0, 0, np.where(stage == 1, 1, np.where(stage == 7, 2, 3 + sex)))
    tens = pick_given(rng, profile, HOURS_GIVEN_PROFILE)
    hours = tens * 10 + pick_given(rng, tens, LAST_DIGIT_GIVEN_TENS)

    ripe = np.interp(age, (17, 25, 35, 50, 62, 75, 90), (-4.5, -1.8, -0.3, 0.3, 0, -0.9, -1.2))
    worked = np.interp(hours, (1, 30, 40, 55, 70, 99), (-1.0, -0.8, 0, 0.9, 0.6, 0.2))
    odds = 0.3 * (education - 9) + np.where(education >= 14, 0.5, 0) + np.where(marital <= 1, 2.35, 0) + ripe + worked + PAYS[occupation]
    income = chance(rng, odds + EMPLOYER_PAYS[workclass] - 0.1 * sex - 2.85).astype(np.uint8)

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
            "capital-gain": _capital(rng, income, HAS_GAIN, GAIN_GIVEN_INCOME),
            "capital-loss": _capital(rng, income, HAS_LOSS, LOSS_GIVEN_INCOME),
            "hours-per-week": hours,
            "native-country": words(COUNTRIES, country),
            "income": words(("<=50K", ">50K"), income),
        }
    )


def _capital(
    rng: np.random.Generator,
    income: Ints,
    has: tuple[float, float],
    amounts: tuple[tuple[tuple[int, int], ...], ...],
) -> Ints:
    """Nothing for most people; else one of the sums that the tables know, by income."""
    values = np.array(sorted({0, *(value for line in amounts for value, _ in line)}))
    table = np.zeros((2, len(values)))
    for line, (percent, known) in enumerate(zip(has, amounts, strict=True)):
        total = sum(weight for _, weight in known)
        for value, weight in known:
            table[line, np.searchsorted(values, value)] = weight / total * percent
        table[line, 0] = 100 - percent
    return values[pick_given(rng, income, table)]
