"""pyCANON, a checker of others, agrees where it has the same definition.

It drops nulls and needs pandas, so the tables here have none of the former. Its alpha is the largest
share of any value of the sensitive attribute, which is (alpha, k)-anonymity with every value protected.

Where it has another definition: its recursive diversity sorts counts upwards, so its c is that of the
rarest value (not compared); its delta leaves out values that a class lacks; its enhanced beta is not
the bound of a promise but the largest of min(beta, -ln q); its entropy l is cut to a whole number.
"""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Attribute, Form, Role, Tally
from privet.engines.embedded import Embedded
from privet.hierarchy import Flat
from privet.models.alphak import AlphaKAnonymity
from privet.models.disclosure import DeltaDisclosure
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity
from privet.models.likeness import BetaLikeness
from privet.models.tcloseness import Distance, TCloseness
from privet.policy.values import Policy
from privet.relational.topdown import TopDown

pd = pytest.importorskip("pandas")
anonymity = pytest.importorskip("pycanon.anonymity")

S = ("s",)
POLICY = Policy(
    attributes=(
        Attribute("a", Role.QUASI, Flat()),
        Attribute("b", Role.QUASI, Flat()),
        Attribute("s", Role.SENSITIVE),
    ),
    models=(KAnonymity(k=1),),
    algorithm=TopDown(),
)
rows = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(["1", "2"]), st.sampled_from(["flu", "HIV", "cold"])),
    min_size=1,
    max_size=15,
)


def both(table: list[tuple[str, str, str]]) -> tuple[Tally, Any]:
    """The table for us and for them."""
    columns = dict(zip(("a", "b", "s"), map(list, zip(*table, strict=True)), strict=True))
    engine = Embedded()
    return engine.tally_published(engine.read(pl.DataFrame(columns), Form()), POLICY), pd.DataFrame(columns)


@settings(max_examples=40)
@given(rows)
def test_diversity_closeness_and_likeness(table: list[tuple[str, str, str]]) -> None:
    tally, theirs = both(table)
    asked = (theirs, ["a", "b"], ["s"])
    l = DistinctLDiversity(l=1, sensitive=S).check(tally).achieved["l"]
    assert anonymity.l_diversity(*asked) == l
    effective = EntropyLDiversity(l=1, sensitive=S).check(tally).achieved["l"]
    # Theirs is cut after rounding, so 3 may be 2.9999 and become 2.
    assert anonymity.entropy_l_diversity(*asked) in {int(effective), int(effective - Fraction(1, 10**6))}
    t = TCloseness(t=Fraction(1), sensitive=S, distance=Distance.EQUAL).check(tally).achieved["t"]
    assert anonymity.t_closeness(*asked) == pytest.approx(float(t), abs=1e-9)
    beta = BetaLikeness(beta=Fraction(9), sensitive=S).check(tally).achieved["beta"]
    assert anonymity.basic_beta_likeness(*asked) == pytest.approx(float(beta), abs=1e-9)
    shares = [sum(row[2] == value for row in table) / len(table) for value in {row[2] for row in table}]
    enhanced = max(min(float(beta), -log(share)) for share in shares)
    assert anonymity.enhanced_beta_likeness(*asked) == pytest.approx(enhanced, abs=1e-9)
    disclosed = DeltaDisclosure(delta=Fraction(99), sensitive=S).check(tally).achieved["delta"]
    assert anonymity.delta_disclosure(*asked) == pytest.approx(float(disclosed), abs=2e-6)


@settings(max_examples=20)
@given(rows.filter(lambda table: len({row[2] for row in table}) > 1))
def test_closeness_of_numbers(table: list[tuple[str, str, str]]) -> None:
    number = {"flu": "1", "HIV": "20", "cold": "3"}
    tally, theirs = both([(a, b, number[s]) for a, b, s in table])
    theirs["s"] = theirs["s"].astype(int)
    t = TCloseness(t=Fraction(1), sensitive=S, distance=Distance.ORDERED).check(tally).achieved["t"]
    assert anonymity.t_closeness(theirs, ["a", "b"], ["s"]) == pytest.approx(float(t), abs=1e-9)


@settings(max_examples=40)
@given(rows)
def test_k_and_alpha(table: list[tuple[str, str, str]]) -> None:
    tally, theirs = both(table)
    k = anonymity.k_anonymity(theirs, ["a", "b"])
    alpha, same_k = anonymity.alpha_k_anonymity(theirs, ["a", "b"], ["s"])
    assert k == same_k
    model = AlphaKAnonymity(alpha=Fraction(1, 2), k=k, sensitive=["s"])
    achieved = model.check(tally).achieved
    assert achieved["k"] == k
    assert float(achieved["c"]) == pytest.approx(alpha)
    assert KAnonymity(k=k).check(tally).holds
    assert not KAnonymity(k=k + 1).check(tally).holds


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["x", "y", None]), st.sampled_from(["1", None]), st.sampled_from(["flu", None])
        ),
        min_size=1,
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_nulls_are_values_and_the_order_of_rows_is_nothing(table: Any, chance: Any) -> None:
    """Where they drop nulls, we do not: ours are their figures once a null is a word of its own."""
    word: Any = [tuple("none" if value is None else value for value in row) for row in table]
    shuffled = list(table)
    chance.shuffle(shuffled)
    ours, theirs = both(shuffled)[0], both(word)[1]
    asked = (theirs, ["a", "b"], ["s"])
    assert KAnonymity(k=1).check(ours).achieved["k"] == anonymity.k_anonymity(theirs, ["a", "b"])
    assert DistinctLDiversity(l=1, sensitive=S).check(ours).achieved["l"] == anonymity.l_diversity(*asked)
    t = TCloseness(t=Fraction(1), sensitive=S, distance=Distance.EQUAL).check(ours).achieved["t"]
    assert anonymity.t_closeness(*asked) == pytest.approx(float(t), abs=1e-9)
    beta = BetaLikeness(beta=Fraction(9), sensitive=S).check(ours).achieved["beta"]
    assert anonymity.basic_beta_likeness(*asked) == pytest.approx(float(beta), abs=1e-9)
