"""Blood transfusion records of patients who do not exist.

Shaped like the private "Blood" table of Mohammed (2012), chapter 3: 62 attributes beside the
identifiers, 41 of them quasi-identifiers. The blood group hangs on a handful of these (antibody
titres, the parents' groups, the antibody screen) as strongly as the error figures there ask: about
22 % of groups are guessed wrong with the quasi-identifiers and 44 % without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import polars as pl

from privet.errors import InputError, one_of
from privet.samples import plans
from privet.samples.draw import Floats, Ints, bell, chance, generator, pick, pick_given, tenths, whole, words
from privet.samples.taxonomies import PATIENTS, leaves

GIVEN_NAMES = (
    *("Zoë", "José", "Łukasz", "Søren", "Chloé", "Jürgen", "Aïsha", "Björn", "Anaïs", "Nikolaï", "Đức"),
    *("Ольга", "Νίκος", "陈伟", "さくら", "محمد", "दीपा", "Siân", "Ayşe", "Renée"),
    *("Mary", "John", "Emma", "Liam"),
)
FAMILY_NAMES = (
    *("Müller", "García", "Nowak", "Ångström", "Lefèvre", "Özdemir", "Nguyễn", "Dvořák", "Šimić"),
    *("Ó Súilleabháin", "Петрова", "Παπαδόπουλος", "李", "田中", "حداد", "शर्मा"),
    *("Smith", "van den Berg", "Kowalska-Żak", "O'Neil"),
)

GROUPS = ("O+", "A+", "B+", "AB+", "O-", "A-", "B-", "AB-")
GROUP_SHARES = (56, 18, 11.5, 3.5, 5.5, 3, 1.8, 0.7)  # the first leaves the 44 % that a guess gets wrong

DIAGNOSES = (
    *("Circulatory", "Neoplasm", "Digestive", "Injury", "Blood", "Respiratory", "Genitourinary", "Infection"),
    *("Musculoskeletal", "Endocrine", "Nervous", "Pregnancy", "Mental", "HIV", "Skin"),
)
DIAGNOSIS_SHARES = (
    (4, 5, 10, 22, 9, 8, 5, 8, 8, 4, 4, 0, 9, 1.5, 2.5),  # men under 40
    (3, 6, 8, 9, 10, 6, 6, 6, 6, 5, 4, 18, 9, 1, 3),  # women under 40
    (22, 17, 13, 8, 7, 8, 6, 4, 5, 4, 3, 0, 2, 0.7, 1),  # everybody later
)

SURGERIES = (
    *("General", "Orthopaedic", "Vascular", "Plastic", "Urology", "Cardiac", "Neurosurgery", "Gynaecology"),
    "Transgender",
)
SURGERY_SHARES = (
    (22, 27, 8, 13, 12, 4, 6, 0, 6),  # men under 40
    (20, 14, 6, 16, 6, 3, 5, 25, 4),  # women under 40
    (20, 18, 18, 7, 16, 12, 6, 0, 1),  # men later
    (22, 22, 13, 9, 8, 7, 5, 13, 1),  # women later
)
BLEEDS = np.array([0, 0.6, 1.1, -0.9, -0.6, 1.3, 0.3, 0.1, -0.3])  # log-odds of a transfusion, by surgery

JOB_GIVEN_AGE = (  # in the order of the tree's leaves
    (1, 1, 1, 2, 4, 1, 1, 3, 4, 3, 5, 4, 3, 5, 0, 30, 2),  # under 25
    (4, 5, 7, 7, 9, 6, 7, 7, 8, 6, 7, 8, 8, 6, 1, 2, 6),
    (1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 85, 0, 6),  # over 65
)
MARITAL_GIVEN_AGE = ((70, 2, 0, 12, 16), (20, 15, 4, 48, 13), (6, 14, 25, 50, 5))
MISSING = {  # percent; what clerks and nurses leave out
    "ethnicity": 4,
    "language": 3,
    "height_cm": 6,
    "weight_kg": 5,
    "father_group": 9,
    "discharged_to": 2,
    "inr": 7,
    "alcohol": 5,
    "zip": 1,
}
PLANS = {"all": plans.TRANSFUSIONS, "demo": plans.PATIENTS}


def patients(rows: int, seed: int, columns: Literal["all", "demo"] = "all") -> pl.DataFrame:
    """That many patients, the same for the same seed and size.

    `all` is the wide table; `demo` a few of its columns, in the manner of table 3.1 there.

    >>> patients(2, seed=1, columns="demo").columns[2:]
    ['job', 'sex', 'age', 'zip', 'admitted', 'surgery', 'transfused']
    """
    if columns not in PLANS:
        raise InputError(one_of("columns", list(PLANS), columns))
    rng = generator(rows, seed)
    table = pl.DataFrame({**_people(rng, rows), **_stay(rng, rows)})
    sex, age = (table["sex"] == "F").to_numpy().astype(np.int64), table["age"].to_numpy()
    group = pick(rng, rows, GROUP_SHARES)
    table = table.with_columns(**_body(rng, sex, age), **_groups(rng, group))
    table = table.with_columns(**_treatment(rng, table, sex, age))
    gaps = {name: rng.random(rows) * 100 < percent for name, percent in MISSING.items()}
    return table.with_columns(
        pl.when(pl.Series(gap)).then(None).otherwise(pl.col(name)).alias(name) for name, gap in gaps.items()
    ).select(*PLANS[columns].columns)


def _leaf(rng: np.random.Generator, rows: int, column: str, weights: tuple[float, ...] = ()) -> pl.Series:
    """A leaf of the column's tree; without weights the first are the commonest."""
    values = leaves(PATIENTS[column])
    return words(values, pick(rng, rows, weights or [1 / (at + 2) for at in range(len(values))]))


def _people(rng: np.random.Generator, rows: int) -> Mapping[str, pl.Series | Ints]:
    given = words(GIVEN_NAMES, pick(rng, rows, [1] * len(GIVEN_NAMES)))
    family = words(FAMILY_NAMES, pick(rng, rows, [1] * len(FAMILY_NAMES)))
    number = np.argsort(rng.random(rows)) + 1  # not in the order of the file
    width = max(6, len(str(rows)))
    age = whole(52 + 20 * bell(rng, rows), 16, 98)
    grown = np.digitize(age, (25, 66))
    jobs, unions = leaves(PATIENTS["job"]), leaves(PATIENTS["marital_status"])
    area = pick(rng, rows, [1 / (at + 3) for at in range(12)])
    home = 10_000 + area * 7_300 + (rng.random(rows) ** 2 * 60).astype(np.int64) * 10
    return {
        "patient_id": "P" + pl.Series(number).cast(pl.String).str.zfill(width),
        "name": given + " " + family,
        "job": words(jobs, pick_given(rng, grown, JOB_GIVEN_AGE)),
        "sex": _leaf(rng, rows, "sex", (47, 53)),
        "age": age,
        "zip": pl.Series(home).cast(pl.String).str.zfill(5),
        "marital_status": words(unions, pick_given(rng, grown, MARITAL_GIVEN_AGE)),
        "household": pick(rng, rows, (28, 34, 16, 13, 6, 2, 1)) + 1,
        **{
            name: _leaf(rng, rows, name)
            for name in ("ethnicity", "birth_country", "language", "insurance", "residence", "diet")
        },
        "education": _leaf(rng, rows, "education", (2, 8, 18, 30, 20, 12, 8, 2)),
        "smoking": _leaf(rng, rows, "smoking", (52, 26, 14, 8)),
        "alcohol": _leaf(rng, rows, "alcohol", (24, 38, 30, 8)),
    }


def _stay(rng: np.random.Generator, rows: int) -> Mapping[str, pl.Series | Ints]:
    first = np.datetime64("2019-01-01")
    names = ("hospital", "ward", "admission_type", "referred_by", "discharged_to", "anaesthesia", "mobility")
    return {
        "admitted": pl.Series(first + (rng.random(rows) * 3 * 365).astype(np.int64)).cast(pl.Date),
        **{name: _leaf(rng, rows, name) for name in names},
        "stay_days": whole(-5 * np.log1p(-rng.random(rows)) + 1, 1, 90),
    }


def _body(rng: np.random.Generator, sex: Ints, age: Ints) -> Mapping[str, pl.Series | Floats | Ints]:
    rows = len(sex)
    height = 177 - 12.5 * sex - 0.05 * (age - 50) + 7 * bell(rng, rows)
    systolic = 112 + 0.4 * age + 13 * bell(rng, rows)
    haemoglobin = 11.8 - 0.9 * sex - 0.01 * age + 2 * bell(rng, rows)
    return {
        "height_cm": whole(height, 140, 210),
        "weight_kg": whole(24.8 * (height / 100) ** 2 + 12 * bell(rng, rows), 35, 190),
        "systolic": whole(systolic, 70, 230),
        "diastolic": whole(0.55 * systolic + 4 + 7 * bell(rng, rows), 35, 130),
        "pulse": whole(78 + 13 * bell(rng, rows), 40, 160),
        "temperature": tenths(36.9 + 0.5 * bell(rng, rows)),
        "haemoglobin": tenths(np.clip(haemoglobin, 4, 19)),
        "haematocrit": whole(3 * haemoglobin + 1.2 * bell(rng, rows), 12, 60),
        "platelets": whole(245 + 75 * bell(rng, rows), 5, 900),
        "white_cells": tenths(np.exp(2 + 0.35 * bell(rng, rows))),
        "inr": tenths(np.exp(0.1 + 0.15 * bell(rng, rows))),
        "creatinine": whole(np.exp(4.4 + 0.3 * bell(rng, rows)), 30, 900),
    }


def _groups(rng: np.random.Generator, group: Ints) -> Mapping[str, pl.Series | Ints]:
    """The blood group, and the few columns that give it away.

    Plasma holds antibodies against what the own cells lack: group O against A and B, group AB against
    neither. Rhesus shows in the family, and in who was ever immunised.
    """
    rows = len(group)
    abo, negative = group % 4, (group >= 4).astype(np.int64)

    def titre(made: Ints) -> Ints:
        return whole(np.exp2(2.4 + 2.9 * made + 1.3 * bell(rng, rows)), 0, 2048)

    def parent(alike: float) -> pl.Series:
        inherited = rng.random(rows) < alike
        return words(GROUPS, np.where(inherited, group, pick(rng, rows, GROUP_SHARES)))

    screen = ((93, 1, 3, 3), (48, 44, 4, 4))
    return {
        "blood_group": words(GROUPS, group),
        "anti_a_titre": titre(np.isin(abo, (0, 2)).astype(np.int64)),
        "anti_b_titre": titre(np.isin(abo, (0, 1)).astype(np.int64)),
        "mother_group": parent(0.4),
        "father_group": parent(0.3),
        "antibody_screen": words(leaves(PATIENTS["antibody_screen"]), pick_given(rng, negative, screen)),
    }


def _treatment(
    rng: np.random.Generator, table: pl.DataFrame, sex: Ints, age: Ints
) -> Mapping[str, pl.Series | Floats | Ints]:
    """Diagnosis, surgery and what was transfused: nothing here knows the blood group."""
    rows = table.height
    later = (age >= 40).astype(np.int64)
    diagnosis = pick_given(rng, np.where(later == 1, 2, sex), DIAGNOSIS_SHARES)
    surgery = pick_given(rng, later * 2 + sex, SURGERY_SHARES)
    # Heavy work brings heavy injuries: the dependence that table 3.1 shows.
    manual = table["job"].is_in(leaves(PATIENTS["job"], below="Blue-collar")).to_numpy()
    blood = chance(rng, -1.6 + 2.2 * manual + 1.3 * (age > 60) + BLEEDS[surgery])
    reaction = pick_given(rng, blood.astype(np.int64), ((100, 0, 0, 0), (95, 2, 2, 1)))

    def units(*weights: float) -> Ints:
        return np.where(blood, pick(rng, rows, weights), 0)

    def yes(percent: float) -> pl.Series:
        return words(("N", "Y"), pick(rng, rows, (100 - percent, percent)))

    return {
        "diagnosis": words(DIAGNOSES, diagnosis),
        "surgery": words(SURGERIES, surgery),
        "transfused": words(("N", "Y"), blood.astype(np.int64)),
        "red_cell_units": units(5, 30, 40, 12, 8, 5),
        "plasma_units": units(70, 12, 10, 5, 3),
        "platelet_units": units(82, 12, 6),
        "tranexamic_acid": yes(22),
        "cell_salvage": yes(9),
        "warmed": yes(31),
        "irradiated": yes(6),
        "unit_age_days": pick(rng, rows, [1] * 42) + 1,
        "bag_volume_ml": whole(290 + 18 * bell(rng, rows), 200, 400),
        "crossmatch_minutes": whole(42 + 14 * bell(rng, rows), 5, 120),
        "infusion_minutes": whole(115 + 35 * bell(rng, rows), 20, 300),
        "reaction": words(("None-seen", "Fever", "Allergy", "Overload"), reaction),
        "reaction_grade": pl.select(  # a grade only where there was a reaction
            pl.when(pl.Series(reaction > 0)).then(pl.Series(pick(rng, rows, (60, 30, 10)) + 1))
        ).to_series(),
        "prescriber": words(("Junior", "Registrar", "Consultant"), pick(rng, rows, (45, 35, 20))),
        "issue_site": words(("Main-bank", "Satellite", "Theatre-fridge"), pick(rng, rows, (60, 25, 15))),
        "consent": words(("Written", "Oral", "Emergency-waiver"), pick(rng, rows, (74, 20, 6))),
        "audit_week": pick(rng, rows, [1] * 52) + 1,
    }
