"""The worst class by every measure: the figures of the spec, and the models asked one by one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.test_spec09_models import TABLE
from tests.tables import tally_of

from privet.core import Nulls
from privet.measure.summary import worst_classes
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.tcloseness import Distance, TCloseness

S = ("s",)


def test_table_20_3() -> None:
    """4.7: one class of nothing but HIV, so no c is large enough."""
    found = worst_classes(TABLE)["s"]
    assert found == {
        "distinct_l": 1,
        "entropy_l": 1.0,
        "recursive_c": None,
        "variational": 0.5,
        "kl": pytest.approx(0.6931, abs=1e-4),
    }


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("1234")), min_size=1, max_size=20),
    st.booleans(),
)
def test_each_is_what_its_model_finds(rows: list[tuple[str, str]], words: bool) -> None:
    values = [f"v{value}" if words else value for _, value in rows]
    tally = tally_of({"q": [q for q, _ in rows]}, sensitive={"s": values})
    found = worst_classes(tally)["s"]
    one, much = Fraction(1), Fraction(1000)
    assert found["distinct_l"] == DistinctLDiversity(l=1, sensitive=S).check(tally).achieved["l"]
    entropy = EntropyLDiversity(l=1, sensitive=S).check(tally).achieved["l"]
    assert found["entropy_l"] == pytest.approx(float(entropy))
    recursive = RecursiveLDiversity(c=much, l=2, sensitive=S).check(tally).achieved.get("c")
    assert found["recursive_c"] == (None if recursive is None else pytest.approx(float(recursive)))
    for name, distance, t in (
        ("variational", Distance.EQUAL, one),
        ("kl", Distance.KL, much),
        *([] if words else [("ordered", Distance.ORDERED, one)]),
    ):
        reached = TCloseness(t=t, sensitive=S, distance=distance).check(tally).achieved["t"]
        assert found[name] == pytest.approx(float(reached), abs=1e-6)
    assert ("ordered" in found) is not words


def test_overlapping_classes_and_tables_without_secrets_have_none() -> None:
    tally = tally_of({"q": ["a", "a"]}, sensitive={"s": ["1", "2"]})
    assert worst_classes(replace(tally, nulls=Nulls.WILDCARD)) == {}
    assert worst_classes(tally_of({"q": ["a", "a"]})) == {}
