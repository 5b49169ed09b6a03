"""Tables 7.1 and 5.2 of Mohammed 2012 for two parties that publish with noise; and cheap transfers."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.dp.small import table
from tests.parties.parties import house

from privet.dp.coded import CodedTable
from privet.dp.diffgen import DiffGen
from privet.dp.exact import Exact
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import Categories, Numbers, Predictor
from privet.hierarchy.tree import Tree
from privet.parties.noisy.joint import Plan, paired, release
from privet.parties.noisy.terms import NoisyTerms, Select
from privet.parties.noisy.terms import Numbers as SplitNumbers
from privet.parties.primitives import oblivious
from privet.parties.primitives.paillier import Sizes
from privet.parties.transport import InProcess, Link, together

TABLE_7_1 = [
    ("Writer", "Male", "30", "N"),
    ("Dancer", "Male", "25", "N"),
    ("Writer", "Male", "35", "Y"),
    ("Dancer", "Female", "37", "N"),
    ("Engineer", "Female", "65", "Y"),
    ("Engineer", "Female", "35", "Y"),
    ("Engineer", "Male", "30", "Y"),
    ("Dancer", "Female", "44", "N"),
    ("Lawyer", "Male", "44", "Y"),
    ("Lawyer", "Female", "44", "Y"),
]
PREDICTORS = (
    Predictor(
        "Job",
        Categories(
            Tree.of({"Any_Job": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Writer", "Dancer"]}})
        ),
    ),
    Predictor("Sex", Categories(Tree.of({"Any_Sex": ["Male", "Female"]}))),
    Predictor("Salary", Numbers(18, 99)),
)
OWNER = (0, 1, 1)  # P1 has Job, P2 has Sex and Salary

# Table 5.2, with Age split at 60 by the contract (spec 05, 4.6).
TABLE_5_2 = [
    ("Janitor", "M", "34", "Y"),
    ("Lawyer", "F", "58", "N"),
    ("Mover", "M", "58", "N"),
    ("Lawyer", "M", "24", "N"),
    ("Mover", "M", "34", "Y"),
    ("Janitor", "M", "44", "Y"),
    ("Doctor", "F", "44", "N"),
    ("Doctor", "M", "58", "N"),
    ("Doctor", "M", "24", "N"),
    ("Carpenter", "F", "63", "Y"),
    ("Technician", "F", "63", "Y"),
]
HOSPITAL = (
    Predictor(
        "Job",
        Categories(
            Tree.of(
                {
                    "ANY_Job": {
                        "Blue-collar": ["Janitor", "Mover", "Carpenter", "Technician"],
                        "White-collar": ["Doctor", "Lawyer"],
                    }
                }
            )
        ),
    ),
    Predictor("Sex", Categories(Tree.of({"ANY_Sex": ["M", "F"]}))),
    Predictor("Age", Numbers(edges=(1, 60, 99))),
)


def one_table(rows: Any = TABLE_7_1) -> CodedTable:
    return table(rows, PREDICTORS)


def hospital(rows: Any) -> CodedTable:
    return table(rows, HOSPITAL)


class Quiet(Exact):
    """No noise in counts; choices by chance as ever."""

    def laplace(self, scale: Fraction, size: int) -> Any:
        return np.zeros(size, dtype=np.int64)


def plan(
    select: str,
    *,
    columns: bool,
    epsilon: Fraction = Fraction(1),
    h: int = 2,
    numbers: str = "halves",
    **more: Any,
) -> Plan:
    """Of tests: a short key, and a polynomial of low degree, which costs no privacy."""
    terms: dict[str, Any] = {"key_bits": 512, "numbers": SplitNumbers(numbers), **more}
    if not columns:
        terms.setdefault("degree", 6)
    with Sizes.for_tests(512):
        agreed = NoisyTerms(Select(select), **terms)
    return Plan(
        DiffGen(epsilon=epsilon, h=h),
        agreed,
        OWNER if columns else None,
        None if columns else 20,
    )


@contextmanager
def quick() -> Iterator[None]:
    """Short keys, and first transfers in the clear: for tests that are not about them."""

    def send(link: Link, other: int, count: int) -> list[tuple[bytes, bytes]]:
        pairs = [(secrets.token_bytes(32), secrets.token_bytes(32)) for _ in range(count)]
        link.send(other, "both keys", b"".join(zero + one for zero, one in pairs))
        return pairs

    def receive(link: Link, other: int, choices: Any) -> list[bytes]:
        raw = link.receive(other, "both keys", 64 * len(choices))
        return [raw[64 * at + 32 * int(c) : 64 * at + 32 * int(c) + 32] for at, c in enumerate(choices)]

    with (
        Sizes.for_tests(512),
        patch.object(oblivious, "base_send", send),
        patch.object(oblivious, "base_receive", receive),
    ):
        yield


def released(
    made: Plan, parts: list[CodedTable], noise: Any = Quiet, within: InProcess | None = None
) -> list[NoisyTable]:
    """Both parties' tables; `noise` makes a source for each."""
    one = within or house(2)

    def part(link: Link) -> NoisyTable:
        mine = parts[link.me]
        return release(paired(link, made, mine), made, mine, noise())

    return together(one, [part] * 2)
