from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.models.alphak import AlphaKAnonymity
from privet.models.confidence import ConfidenceBounding
from privet.models.kanonymity import KAnonymity
from privet.models.lkc import LKC
from privet.models.template import EVERY
from privet.policy import describe
from privet.report.numerals import chance, fraction_percent, percent, share
from privet.report.words import MODELS, kept, wording

FIVE = ("age", "job", "sex", "zip", "day")


def promise(model: Any, achieved: dict[str, Any], *, holds: bool = True) -> dict[str, Any]:
    return {"model": describe(model), "holds": holds, "achieved": achieved, "broken": 0, "at_risk": 0}


def test_every_built_in_model_has_words() -> None:
    assert set(MODELS) == {m.name for m in (LKC, KAnonymity, ConfidenceBounding, AlphaKAnonymity)}


def test_lkc() -> None:
    model = LKC(l=4, k=20, c=Fraction(1, 5), sensitive={"surgery": ["Transgender"]})
    told = wording(promise(model, {"k": 25, "c": "1/6"}), FIVE)
    size, share_ = told.claims
    assert size.promised == (
        "Anybody who knows up to 4 of these 5 values of a person finds at least 20 matching records."
    )
    assert size.found == "never fewer than 25 records"
    assert share_.promised == (
        "Among the records they find, at most 20% (exactly 1/5) have “surgery” = “Transgender”."
    )
    assert share_.found == "never more than 16.7% (exactly 1/6)"
    assert size.kept
    assert share_.kept
    assert "more than 4" in told.limits


def test_lkc_of_everything_has_nobody_who_knows_more() -> None:
    model = LKC(l=9, k=2, c=Fraction(1), sensitive={})
    told = wording(promise(model, {"k": 2}), FIVE)
    assert told.claims[0].promised.startswith("Anybody who knows these 5 values of a person finds")
    assert "more than" not in told.limits


def test_each_value_has_its_own_bound_and_finding() -> None:
    model = LKC(l=1, k=2, c=Fraction(1, 2), sensitive={"s": {"a": Fraction(1, 4), None: Fraction(1, 3)}})
    found = {"k": 2, "c": "1/3", "c of s=a": "1/5", "c of s=null": "1/3"}
    first, second = wording(promise(model, found), FIVE).claims[1:]
    assert "25% (exactly 1/4) have “s” = “a”" in first.promised
    assert "20%" in first.found
    assert "“s” = “(missing)”" in second.promised
    assert "33.3% (exactly 1/3)" in second.found
    assert first.kept
    assert second.kept


def test_every_value_of_a_column() -> None:
    model = LKC(l=1, k=2, c=Fraction(1, 2), sensitive={"s": (EVERY,)})
    assert "have any one value of “s”" in wording(promise(model, {"k": 2, "c": 0}), FIVE).claims[1].promised
    listed = AlphaKAnonymity(alpha=Fraction(1, 2), k=2, sensitive=["s"])
    assert "have any one value of “s”" in wording(promise(listed, {"k": 2, "c": 0}), FIVE).claims[1].promised


def test_k_anonymity() -> None:
    told = wording(promise(KAnonymity(k=5), {"k": 1000}), ("age",))
    (claim,) = told.claims
    assert claim.promised == "Anybody who knows this value of a person finds at least 5 matching records."
    assert claim.found == "never fewer than 1,000 records"


def test_confidence_names_its_own_columns() -> None:
    model = ConfidenceBounding(sensitive={"s": {"a": Fraction(3, 4)}}, quasi=("age", "job"))
    told = wording(promise(model, {"k": 1, "c": "2/3"}), FIVE)
    assert tuple(told.known) == ("age", "job")
    (claim,) = told.claims
    assert claim.promised.startswith("Among records that agree in these 2 values of a person, at most 75%")


def test_a_bound_of_one_is_no_bound() -> None:
    model = AlphaKAnonymity(alpha=Fraction(1), k=2, sensitive={"s": ["a"]})
    claim = wording(promise(model, {"k": 2}), FIVE).claims[1]
    assert claim.found == "not limited"
    assert "any number" in claim.promised


def test_an_unknown_model_is_shown_by_its_parameters() -> None:
    strange = {"model": {"type": "t-closeness", "t": "1/5"}, "holds": True, "achieved": {"t": "1/7"}}
    told = wording(strange, FIVE)
    assert told.title == "t-closeness"
    assert (told.claims[0].promised, told.claims[0].found, told.claims[0].kept) == (
        "t = 1/5",
        "t = 1/7",
        True,
    )
    assert kept(strange)


@pytest.mark.parametrize(
    "achieved", [{"k": 19, "c": "1/9"}, {"k": 20, "c": "200001/1000000"}], ids=["too few", "too sure"]
)
def test_numbers_that_contradict_the_verdict_win(achieved: dict[str, Any]) -> None:
    model = LKC(l=4, k=20, c=Fraction(1, 5), sensitive={"s": ["a"]})
    assert not kept(promise(model, achieved))  # although it says that it holds
    assert kept(promise(model, {"k": 20, "c": "1/5"}))


@given(st.fractions(0, 1))
def test_a_share_is_never_rounded_to_all_or_nothing(value: Fraction) -> None:
    shown = percent(str(value))
    assert (shown == "0%") == (value == 0)
    assert (shown == "100%") == (value == 1)
    assert (chance(str(value)) == "certain") == (share(str(value)) == 1)


@pytest.mark.parametrize("value", [None, True, "x", "1/0", "1e999999999", -0.1, 1.1, float("nan"), [], {}])
def test_what_is_no_share_is_left_out(value: Any) -> None:
    assert percent(value) is chance(value) is fraction_percent(value) is None
