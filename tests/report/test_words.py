from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.evidence.values import Promise
from privet.models.alphak import AlphaKAnonymity
from privet.models.confidence import ConfidenceBounding
from privet.models.disclosure import DeltaDisclosure
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.lkc import LKC
from privet.models.personal import PersonalisedPrivacy
from privet.models.psensitive import PSensitiveKAnonymity
from privet.models.risk import (
    AverageRisk,
    MaximumRisk,
    PopulationUniqueness,
    RecordsAtRisk,
    SampleUniqueness,
)
from privet.models.tcloseness import Distance, TCloseness
from privet.models.template import EVERY
from privet.policy.notation import describe
from privet.registry import BUILT_IN
from privet.report.numerals import chance, fraction_percent, percent, share
from privet.report.words import MODELS, kept, wording

FIVE = ("age", "job", "sex", "zip", "day")


def said(model: Mapping[str, Any], achieved: Mapping[str, Any], *, holds: bool | None = True) -> Promise:
    return Promise(model=model, holds=holds, achieved=achieved, broken=0, at_risk=0)


def promise(model: Any, achieved: dict[str, Any], *, holds: bool = True) -> Promise:
    return said(describe(model), achieved, holds=holds)


def test_every_built_in_model_has_words() -> None:
    assert set(MODELS) == set(BUILT_IN["models"])


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
    strange = said({"type": "u-closeness", "t": "1/5"}, {"t": "1/7"})
    told = wording(strange, FIVE)
    assert told.title == "u-closeness"
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


SIXTH = Fraction(1, 6)
S = ("s", "r")
TREE = {"any": ["a", "b"]}
KEPT: list[tuple[Any, dict[str, Any], list[str]]] = [
    (
        DistinctLDiversity(l=2, sensitive=S),
        {"l": 3, "l of s": 3, "l of r": 4},
        ["at least 2 different", "“r”"],
    ),
    (
        EntropyLDiversity(l=2, sensitive=S),
        {"l": "2749459/1000000"},
        ["as mixed as 2 equally", "2.749"],
    ),
    (
        RecursiveLDiversity(c=Fraction(4), l=3, sensitive=S),
        {"l": 3, "c": "2"},
        ["4 times", "the 2 commonest"],
    ),
    (
        TCloseness(t=Fraction(3, 7), sensitive=S, distance=Distance.EQUAL),
        {"t": "2/7"},
        ["at most 0.4286 (exactly 3/7) away", "0.2857 (exactly 2/7)"],
    ),
    (
        TCloseness(t=Fraction(1, 5), sensitive=("s",), distance=Distance.KL),
        {"t": 0},
        ["in nats", "more than 0"],
    ),
    (BetaLikeness(beta=Fraction(1, 2), sensitive=S), {"beta": "1/3"}, ["more than 0.5 times", "0.3333"]),
    (
        EnhancedBetaLikeness(beta=Fraction(1, 2), sensitive=S),
        {"beta": "1/3", "used": "1/2"},
        ["how rare it is", "0.3333"],
    ),
    (DeltaDisclosure(delta=Fraction(2), sensitive=S), {"delta": "3/2", "absent": 0}, ["below 2", "than 1.5"]),
    (PSensitiveKAnonymity(p=2, k=5, sensitive=S), {"k": 6, "p": 2}, ["at least 5 matching", "2 different"]),
    (
        PersonalisedPrivacy(at_most=Fraction(1, 2), sensitive=("s",), guard="wish", tree=TREE),
        {"share": "1/3"},
        ["“wish”", "at most 50% (exactly 1/2)", "33.3%"],
    ),
    (AverageRisk(at_most=SIXTH), {"risk": "1/7"}, ["on average", "16.7% (exactly 1/6)", "14.3%"]),
    (MaximumRisk(at_most=SIXTH), {"risk": "1/7"}, ["with a chance of at most 16.7%", "14.3%"]),
    (
        RecordsAtRisk(above=Fraction(1, 5), at_most=SIXTH),
        {"share": "1/7"},
        ["At most 16.7% (exactly 1/6) of all records can be found with a chance above 20% (exactly 1/5)"],
    ),
    (SampleUniqueness(at_most=SIXTH), {"share": 0}, ["are the only one", "never more than 0%"]),
    (
        PopulationUniqueness(at_most=SIXTH, fraction=Fraction(1, 5)),
        {"share": "1/7"},
        ["20% (exactly 1/5) of a population", "estimated", "14.3%"],
    ),
]
BROKEN: list[tuple[Any, dict[str, Any]]] = [
    (DistinctLDiversity(l=2, sensitive=S), {"l": 1}),
    (EntropyLDiversity(l=2, sensitive=S), {"l": "1889881/1000000"}),
    (RecursiveLDiversity(c=Fraction(4), l=3, sensitive=S), {"l": 2}),
    (TCloseness(t=Fraction(1, 5), sensitive=S, distance=Distance.EQUAL), {"t": "1/4"}),
    (BetaLikeness(beta=Fraction(1, 2), sensitive=S), {"beta": "2/3"}),
    (DeltaDisclosure(delta=Fraction(1), sensitive=S), {"delta": "3/2"}),
    (PSensitiveKAnonymity(p=2, k=5, sensitive=S), {"k": 6, "p": 1}),
    (AverageRisk(at_most=SIXTH), {"risk": "1/5"}),
    (SampleUniqueness(at_most=SIXTH), {"share": "1/5"}),
]


@pytest.mark.parametrize(("model", "achieved", "said"), KEPT, ids=lambda value: getattr(value, "name", ""))
def test_models_about_classes(model: Any, achieved: dict[str, Any], said: list[str]) -> None:
    told = wording(promise(model, achieved), FIVE)
    text = " ".join([told.title, *(f"{claim.promised} {claim.found}" for claim in told.claims)])
    for words in said:
        assert words in text
    assert "{" not in text
    assert "not stated" not in text
    assert told.limits
    assert kept(promise(model, achieved))


@pytest.mark.parametrize(("model", "achieved"), BROKEN, ids=lambda value: getattr(value, "name", ""))
def test_numbers_about_classes_win_over_the_verdict(model: Any, achieved: dict[str, Any]) -> None:
    assert not kept(promise(model, achieved))


def test_a_claim_whose_number_fits_is_not_called_kept_when_the_promise_is_not() -> None:
    """A class that lacks a value breaks delta-disclosure, whatever the largest logarithm is."""
    broken = promise(DeltaDisclosure(delta=Fraction(2), sensitive=S), {"delta": 1, "absent": 3}, holds=False)
    assert [claim.kept for claim in wording(broken, FIVE).claims] == [None, None]
    assert not kept(broken)


@pytest.mark.parametrize("name", BUILT_IN["models"])
def test_a_promise_with_holes_in_it_is_still_worded(name: str) -> None:
    empty = said({"type": name}, {}, holds=None)
    assert wording(empty, FIVE).title
    assert not kept(empty)
