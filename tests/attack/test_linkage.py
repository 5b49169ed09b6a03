"""The linkage attacker: succeeds on the raw table and on weak releases, fails on ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random

import polars as pl
import pytest

import privet as pv
from privet.core import PrivacyModel
from privet.hierarchy import Intervals, Tree
from privet.measure.attack import attack, by_recoding
from privet.recoding import Generalization
from privet.relational.topdown import Splits
from privet.roads.tables.release import TableRelease

SECRET = "Transgender"
QUASI = ("job", "sex", "age")
L, K, C = 2, 4, Fraction(1, 2)
JOBS = Tree.of(
    {
        "Any": {
            "White": ["Doctor", "Lawyer"],
            "Blue": {"Technical": ["Carpenter", "Welder"], "Other": ["Mover", "Janitor"]},
        }
    }
)


def people(rows: int = 120) -> dict[str, list[str]]:
    """A town where some jobs at some ages go with the secret, and some people are alone in theirs."""
    random = Random(7)
    made: dict[str, list[str]] = {"job": [], "sex": [], "age": [], "surgery": [], "good": []}
    for _ in range(rows):
        job, sex, age = random.choice(JOBS.leaves), random.choice("MF"), random.randint(20, 70)
        likely = 0.9 if (job, sex) == ("Mover", "M") else 0.05
        made["job"].append(job)
        made["sex"].append(sex)
        made["age"].append(str(age))
        made["surgery"].append(SECRET if random.random() < likely else random.choice(["Plastic", "Vascular"]))
        made["good"].append("Y" if age > 45 else "N")
    return made


RAW = people()
POLICY = replace(
    pv.Policy.loads(
        # the order is kept so that the test may follow a person by row
        'policy = 1\nabsent = "allowed"\norder = "kept"\n'
        '[attributes]\nx = "quasi"\n[[models]]\ntype = "k-anonymity"\nk = 1\n'
    ),
    attributes=(
        pv.Attribute("job", pv.Role.QUASI, JOBS),
        pv.Attribute("sex", pv.Role.QUASI, Tree.of({"Any": ["M", "F"]})),
        pv.Attribute("age", pv.Role.QUASI, Intervals()),
        pv.Attribute("surgery", pv.Role.SENSITIVE),
        pv.Attribute("good", pv.Role.TARGET),
    ),
    algorithm=pv.TopDown(splits=Splits.BEST_VALID),  # as fine as the promise allows
)


def published(*models: PrivacyModel) -> tuple[Mapping[str, Sequence[str]], pv.Release]:
    release = pv.publish(pl.DataFrame(RAW), replace(POLICY, models=models))
    return release.to_polars().to_dict(as_series=False), release


def matches(table: Mapping[str, Sequence[str]], known: Mapping[str, str]) -> list[int]:
    rows = range(len(table["job"]))
    return [row for row in rows if all(table[name][row] == value for name, value in known.items())]


def worst(table: Mapping[str, Sequence[str]], most: int) -> tuple[int, Fraction]:
    """The best an adversary does who knows up to `most` published values of anybody: size and confidence.

    Published values of a target's record are what the recoding makes of the raw ones: the adversary has
    the taxonomies, so knowing the raw ones is knowing these.
    """
    smallest, surest = len(table["job"]), Fraction(0)
    for size in range(1, most + 1):
        for names in combinations(QUASI, size):
            groups: dict[tuple[str, ...], list[str]] = {}
            for row, secret in enumerate(table["surgery"]):
                groups.setdefault(tuple(table[name][row] for name in names), []).append(secret)
            smallest = min(smallest, *map(len, groups.values()))
            surest = max(surest, *(Fraction(Counter(group)[SECRET], len(group)) for group in groups.values()))
    return smallest, surest


def test_the_attack_succeeds_on_the_raw_table() -> None:
    smallest, surest = worst(RAW, L)
    assert smallest == 1
    assert surest > C


def test_the_attack_fails_on_the_release() -> None:
    table, release = published(pv.LKC(l=L, k=K, c=C, sensitive={"surgery": [SECRET]}))
    smallest, surest = worst(table, L)
    assert smallest >= K
    assert surest <= C
    assert len({*table["job"], *table["sex"], *table["age"]}) > 3, "not by publishing nothing"
    assert release.verdicts[0][1].achieved == {"k": smallest, "c": surest}


@pytest.mark.parametrize(
    ("weak", "identity", "attribute"),
    [
        (pv.KAnonymity(k=1), True, True),  # promises nothing
        (pv.KAnonymity(k=K), False, True),  # no homogeneity: groups may share the secret
        (pv.ConfidenceBounding(sensitive={"surgery": {SECRET: C}}), True, False),  # groups may be tiny
        (pv.LKC(l=1, k=K, c=C, sensitive={"surgery": [SECRET]}), True, True),  # the adversary knows more
        (pv.LKC(l=L, k=K, c=C, sensitive={"surgery": ["Urology"]}), False, True),  # protects another value
    ],
    ids=["nothing", "k only", "c only", "less knowledge", "another value"],
)
def test_the_attack_succeeds_on_weak_releases(weak: PrivacyModel, identity: bool, attribute: bool) -> None:
    table, _ = published(weak)
    smallest, surest = worst(table, L)
    assert (smallest < K) is identity
    assert (surest > C) is attribute


def test_every_single_person_is_safe_from_every_pair_of_known_values() -> None:
    table, release = published(pv.LKC(l=L, k=K, c=C, sensitive={"surgery": [SECRET]}))
    assert isinstance(release, TableRelease)
    assert isinstance(release.recoding, Generalization)
    translation = by_recoding(release.recoding)
    for row in range(0, len(RAW["job"]), 3):
        for names in combinations(QUASI, L):
            known = {name: RAW[name][row] for name in names}
            result = attack(RAW, table, known, translation, ["surgery"])
            assert row in result.before.rows
            assert row in result.after.rows, "the recoding is not what was published"
            assert result.before.rows == tuple(matches(RAW, known))
            assert result.after.size >= K
            assert result.after.confidence["surgery"].get(SECRET, 0) <= C
