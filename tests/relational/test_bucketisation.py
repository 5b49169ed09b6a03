"""Bucketisation: the boxes of Mondrian, published as buckets."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models import naive
from tests.tables import tally_of

from privet.core import PrivacyModel, Tally
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.models.confidence import ConfidenceBounding
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity
from privet.models.likeness import BetaLikeness
from privet.models.psensitive import PSensitiveKAnonymity
from privet.models.risk import AverageRisk
from privet.models.tcloseness import Distance, TCloseness
from privet.recoding import Perturbation, Regions
from privet.relational.bucketisation import Bucketisation
from privet.relational.mondrian import Choice, Cuts, Mondrian
from privet.testing import policy_for, tallies

HALF = Fraction(1, 2)


def promises() -> st.SearchStrategy[Any]:
    share = st.fractions(Fraction(1, 10), 1, max_denominator=10)
    return st.one_of(
        st.builds(DistinctLDiversity, l=st.integers(1, 3), sensitive=st.just(("s0",))),
        st.builds(EntropyLDiversity, l=st.integers(1, 2), sensitive=st.just(("s0",))),
        st.builds(TCloseness, t=share, sensitive=st.just(("s0",)), distance=st.just(Distance.EQUAL)),
        st.builds(BetaLikeness, beta=share, sensitive=st.just(("s0",))),
    )


def dealt(tally: Tally, models: tuple[PrivacyModel, ...], how: Bucketisation) -> list[int] | None:
    try:
        found = how.search(tally, policy_for(tally, models, how)).recoding
    except UnsatisfiableError:
        return None
    assert isinstance(found, Perturbation)
    assert list(found.labels) == ["s0"]
    assert len(found.positions["s0"]) == tally.records
    return [int(found.labels["s0"][at] or 0) for at in found.positions["s0"].tolist()]


@settings(max_examples=150)
@given(tallies(sensitive=1), promises())
def test_every_bucket_keeps_the_promise_by_its_definition(tally: Tally, model: Any) -> None:
    found = dealt(tally, (model,), Bucketisation())
    column = tally.sensitive[0]
    values = [column.domain.values[code] for code in np.repeat(column.codes, tally.counts).tolist()]

    def breaks(group: list[str | None]) -> bool:
        return naive.breaks(model, group, values)

    if found is None:
        assert breaks(values)
        return
    assert set(found) == set(range(1, len(set(found)) + 1))
    for bucket in set(found):
        assert not breaks([v for v, at in zip(values, found, strict=True) if at == bucket])


@settings(max_examples=60)
@given(tallies(sensitive=1), st.sampled_from(Cuts), st.sampled_from(Choice))
def test_buckets_are_the_classes_of_mondrian(tally: Tally, cuts: Cuts, choice: Choice) -> None:
    model = DistinctLDiversity(l=2, sensitive=("s0",))
    found = dealt(tally, (model,), Bucketisation(cuts=cuts, choice=choice))
    if found is None:
        return
    search = Mondrian(cuts=cuts, choice=choice)
    regions = search.search(tally, policy_for(tally, (model,), search)).recoding
    assert isinstance(regions, Regions)
    first = np.concatenate([[0], np.cumsum(tally.counts)[:-1]])
    published = list(zip(*(regions.positions[c.name].tolist() for c in tally.quasi), strict=True))
    together = {
        bucket: {published[c] for c, at in enumerate(first) if found[at] == bucket} for bucket in found
    }
    assert all(len(boxes) == 1 for boxes in together.values())


def test_numbers_of_buckets_do_not_follow_the_values() -> None:
    tally = tally_of({"age": list(range(64))}, sensitive={"s0": ["x", "y"] * 32})
    runs = [dealt(tally, (DistinctLDiversity(l=2, sensitive=("s0",)),), Bucketisation()) for _ in range(3)]
    assert len({tuple(run or ()) for run in runs}) > 1


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (KAnonymity(k=2), "not k-anonymity"),
        (AverageRisk(at_most=Fraction(1, 2)), "not average-risk"),
        (PSensitiveKAnonymity(p=2, k=3, sensitive=("s0",)), "not p-sensitive-k-anonymity"),
        (ConfidenceBounding(sensitive={"s0": {"x": HALF}}, quasi=("age",)), "by itself; confidence-bounding"),
    ],
)
def test_what_it_cannot_promise_is_refused(model: PrivacyModel, says: str) -> None:
    tally = tally_of(
        {"age": [20, 20, 30, 30], "town": ["A", "A", "B", "B"]}, sensitive={"s0": ["x", "y", "x", "y"]}
    )
    with pytest.raises(UnsupportedError, match=says):
        dealt(tally, (DistinctLDiversity(l=2, sensitive=("s0",)), model), Bucketisation())


def test_bounds_on_confidence_are_about_values_and_go() -> None:
    tally = tally_of({"age": [20, 21, 30, 31]}, sensitive={"s0": ["x", "y", "x", "y"]})
    found = dealt(tally, (ConfidenceBounding(sensitive={"s0": {"x": Fraction(1, 2)}}),), Bucketisation())
    assert found is not None
    assert len(set(found)) == 2


def test_it_splits_off_one_sensitive_attribute() -> None:
    tally = tally_of({"age": [20, 30]}, sensitive={"s0": ["x", "y"], "s1": ["x", "y"]})
    with pytest.raises(UnsupportedError, match="one sensitive attribute, not 2"):
        dealt(tally, (DistinctLDiversity(l=2, sensitive=("s0",)),), Bucketisation())
    with pytest.raises(PolicyError, match="relaxed cuts in the middle"):
        Bucketisation(relaxed=True, cuts=Cuts.HIERARCHY)
