"""pyCANON, a checker of others, agrees where it has the same definition.

It drops nulls and needs pandas, so the tables here have none of the former. Its alpha is the largest
share of any value of the sensitive attribute, which is (alpha, k)-anonymity with every value protected.
"""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Attribute, Form, Role
from privet.engines.embedded import Embedded
from privet.hierarchy import Flat
from privet.models.alphak import AlphaKAnonymity
from privet.models.kanonymity import KAnonymity
from privet.policy import Policy
from privet.relational.topdown import TopDown

pd = pytest.importorskip("pandas")
anonymity = pytest.importorskip("pycanon.anonymity")

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


@settings(max_examples=40)
@given(rows)
def test_k_and_alpha(table: list[tuple[str, str, str]]) -> None:
    columns = dict(zip(("a", "b", "s"), map(list, zip(*table, strict=True)), strict=True))
    engine = Embedded()
    tally = engine.tally_published(engine.read(pl.DataFrame(columns), Form()), POLICY)
    theirs = pd.DataFrame(columns)
    k = anonymity.k_anonymity(theirs, ["a", "b"])
    alpha, same_k = anonymity.alpha_k_anonymity(theirs, ["a", "b"], ["s"])
    assert k == same_k
    model = AlphaKAnonymity(alpha=Fraction(1, 2), k=k, sensitive=["s"])
    achieved = model.check(tally).achieved
    assert achieved["k"] == k
    assert float(achieved["c"]) == pytest.approx(alpha)
    assert KAnonymity(k=k).check(tally).holds
    assert not KAnonymity(k=k + 1).check(tally).holds
