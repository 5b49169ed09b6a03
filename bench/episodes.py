"""Stays on a ward that never were: seven categories, sets of diagnosis codes, and whether the patient died.

The shape of the data of Mohammed (2012), section 6.4, which needs credentials; rates are made up, and the
codes are those chapters of ICD-9 with a few codes each, grouped by four so that a node has few children.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from privet.dp.publicdomain import Categories, ItemSets, Predictor
from privet.hierarchy.tree import Tree

CLASSES = ("N", "Y")
TARGET = "died"
TREES: Mapping[str, Mapping[str, object]] = {
    "marital": {"ANY": {"Couple": ["Married", "Partner"], "Alone": ["Single", "Divorced", "Widowed"]}},
    "sex": {"ANY": ["F", "M"]},
    "ethnicity": {"ANY": ["Asian", "Black", "Hispanic", "White"]},
    "payment": {"ANY": {"Public": ["Medicare", "Medicaid"], "Own": ["Private", "Self"]}},
    "religion": {"ANY": ["Catholic", "Jewish", "Protestant", "Unknown"]},
    "admission": {"ANY": {"Planned": ["Elective"], "Unplanned": ["Emergency", "Urgent"]}},
    "source": {"ANY": {"Home": ["Referral", "Walk-in"], "Institution": ["Transfer", "Nursing-home"]}},
}
CODES = {
    "ICD-9": {
        "001-389": {"Infections": ["038", "041"], "Neoplasms": ["162", "197"], "Metabolic": ["250", "276"]},
        "390-519": {"Circulatory": ["401", "410", "427", "428"], "Respiratory": ["486", "518"]},
        "520-799": {"Digestive": ["530", "571"], "Urinary": ["584", "585", "599"]},
        "800-999": {"Injuries": ["820", "852"], "Complications": ["996", "998"]},
    }
}
FREQUENT = {
    "401": 0.35,
    "427": 0.2,
    "428": 0.22,
    "250": 0.2,
    "276": 0.18,
    "584": 0.15,
    "518": 0.16,
    "038": 0.09,
}
DEADLY = {"038": 2.6, "518": 2.4, "584": 1.6, "197": 1.8, "571": 1.2, "410": 0.8, "852": 1.2}
BASE = -4.2


def predictors() -> tuple[Predictor, ...]:
    relational = (Predictor(name, Categories(Tree.of(tree))) for name, tree in TREES.items())
    return *relational, Predictor("codes", ItemSets(Tree.of(CODES)))


def episodes(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    drawn = {name: rng.choice(Tree.of(tree).leaves, size=rows) for name, tree in TREES.items()}
    codes = Tree.of(CODES).leaves
    has = rng.random((rows, len(codes))) < [FREQUENT.get(code, 0.05) for code in codes]
    risk = BASE + has @ np.array([DEADLY.get(code, 0.0) for code in codes])
    risk += 0.8 * (drawn["admission"] == "Emergency") + 0.5 * (drawn["source"] == "Nursing-home")
    died = rng.random(rows) < 1 / (1 + np.exp(-risk))
    sets = ["|".join(np.array(codes)[row]) for row in has]
    return pl.DataFrame({**drawn, "codes": sets, TARGET: np.where(died, "Y", "N")})
