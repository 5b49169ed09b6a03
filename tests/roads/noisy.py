"""A small table for the tests of noisy releases, with a policy, and a ledger to pay from."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

import privet as pv
from privet.dp.ledger import Ledger
from privet.policy.values import Purse

CANARY = "zqx" + "jkv"
ROWS = 3217  # a number that is not to be found in anything public
ATTRIBUTES = """
policy = 1
purpose = "a test"

[attributes]
name = {{ role = "identifier" }}
job = {{ role = "quasi", hierarchy = {{ type = "tree", tree = {{ Any = {} }} }} }}
age = {{ role = "quasi", hierarchy = {{ type = "intervals", low = 18, high = 65 }} }}
pay = {{ role = "quasi", hierarchy = {{ type = "intervals", low = 0, high = "50.5", unit = "0.5" }} }}
codes = {{ role = "quasi", hierarchy = {{ type = "sets", tree = {{ "**" = {} }} }} }}
ill = {{ role = "target", values = ["yes", "no", "perhaps"] }}
""".format('{ Hand = ["cook", "smith"], Desk = ["clerk"] }', '{ "1*" = ["11", "12"], "2*" = ["21"] }')
MODEL = '\n[[models]]\ntype = "differential-privacy"\nepsilon = "1/2"\n'
DIFFGEN = '\n[algorithm]\ntype = "diffgen"\nnoise = "exact"\nh = 5\n'
TEXT = ATTRIBUTES + MODEL + DIFFGEN


def table(rows: int = ROWS) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "name": [f"{CANARY}-{at}" for at in range(rows)],
            "job": draw.choice(["cook", "smith", "clerk"], rows),
            "age": draw.integers(18, 65, rows),
            "pay": draw.integers(0, 101, rows) / 2,
            "codes": draw.choice(["11|12", "21", "", "12|21"], rows),
            "ill": draw.choice(["yes", "no"], rows),
            "unnamed": [CANARY] * rows,
        }
    )


def ledger(folder: Path, budget: int = 3) -> Path:
    path = folder / "ledger.sqlite"
    Ledger(path).open("ward", Fraction(budget))
    return path


def policy(folder: Path, text: str = TEXT) -> pv.Policy:
    return replace(pv.Policy.loads(text), ledger=Purse(str(folder / "ledger.sqlite"), "ward"))
