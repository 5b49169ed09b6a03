"""Anatomy: every bucket has l different sensitive values, or there is no such dealing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Attribute, PrivacyModel, Role, Terms
from privet.errors import UnsatisfiableError, UnsupportedError
from privet.hierarchy import Auto
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.recoding import Perturbation
from privet.relational.anatomy import Anatomy, buckets


@settings(max_examples=200)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 4), st.randoms())
def test_buckets_are_diverse_exactly_where_that_is_possible(
    values: list[int], l: int, chance: object
) -> None:
    sensitive = np.array(values, dtype=np.intp)
    order = np.random.default_rng(len(values)).permutation(len(values))
    # Each bucket holds a value once, so there must be as many buckets as records with the commonest value.
    possible = max(Counter(values).values()) * l <= len(values)
    if not possible:
        with pytest.raises(UnsatisfiableError, match=f"for l = {l}"):
            buckets(sensitive, l, order)
        return
    found = buckets(sensitive, l, order)
    for bucket in range(int(found.max()) + 1):
        held = [value for value, at in zip(values, found, strict=True) if at == bucket]
        assert len(held) >= l
        assert len(set(held)) == len(held)


def test_who_shares_a_bucket_depends_on_chance_alone() -> None:
    tally = tally_of({"age": list(range(20, 60))}, sensitive={"ill": ["flu", "HIV", "cold", "gout"] * 10})
    policy = Terms(
        (Attribute("age", Role.QUASI, Auto()),),
        (DistinctLDiversity(l=3, sensitive=("ill",)),),
        Anatomy(),
    )
    runs = []
    for _ in range(2):
        recoding = policy.algorithm.search(tally, policy).recoding
        assert isinstance(recoding, Perturbation)
        runs.append(recoding.positions["ill"].tolist())
    assert runs[0] != runs[1]


@pytest.mark.parametrize(
    ("models", "sensitive", "says"),
    [
        ((KAnonymity(k=2),), {"ill": ["a", "b"]}, "needs l-diversity"),
        (
            (DistinctLDiversity(l=2, sensitive=("ill",)),),
            {"ill": ["a", "b"], "rich": ["a", "b"]},
            "one sensitive",
        ),
    ],
)
def test_what_it_cannot_do_is_refused(
    models: tuple[PrivacyModel, ...], sensitive: dict[str, list[str]], says: str
) -> None:
    tally = tally_of({"age": [20, 30]}, sensitive=sensitive)
    with pytest.raises(UnsupportedError, match=says):
        Anatomy().search(tally, Terms((Attribute("age", Role.QUASI, Auto()),), models, Anatomy()))
