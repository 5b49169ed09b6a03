"""Promises that an algorithm cannot keep whatever the data: the policy does not exist."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from privet.core import Attribute, Form, Nulls, Role
from privet.errors import PolicyError
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.models.lkc import LKC
from privet.policy.values import Policy
from privet.registry import find

COLUMNS = (Attribute("a", Role.QUASI), Attribute("b", Role.QUASI), Attribute("s", Role.SENSITIVE))
LKC_OF_ONE = LKC(l=1, k=2, c=Fraction(1, 2), sensitive=("s",))
LKC_OF_ALL = LKC(l=2, k=2, c=Fraction(1, 2), sensitive=("s",))
L = DistinctLDiversity(l=2, sensitive=("s",))
K = KAnonymity(k=2)


def personal() -> Any:
    return find("models", "personalised-privacy")(
        at_most=Fraction(1, 2), sensitive=("s",), guard="wish", tree={"Any": ["x", "y"]}
    )


def made(algorithm: str, *models: Any, **more: Any) -> Policy:
    columns = (*COLUMNS, Attribute("wish", Role.SENSITIVE))
    return Policy(columns, models, find("algorithms", algorithm)(), **more)


@pytest.mark.parametrize("algorithm", ["top-down", "samarati", "incognito", "mondrian", "local"])
def test_a_promise_that_generalising_may_break_needs_a_search_that_looks_everywhere(
    algorithm: str,
) -> None:
    with pytest.raises(PolicyError, match=rf"^algorithm: {algorithm} .*personalised-privacy; use optimal"):
        made(algorithm, personal())
    assert made("optimal", personal()).models


def test_a_policy_that_names_no_search_gets_one_that_can() -> None:
    columns = (*COLUMNS, Attribute("wish", Role.SENSITIVE))
    assert Policy(columns, (personal(),)).algorithm.name == "optimal"
    assert Policy(columns, (K,)).algorithm.name == "top-down"
    said = Policy(columns, (personal(),)).dumps()
    assert Policy.loads(said).algorithm.name == "optimal"


@pytest.mark.parametrize("algorithm", ["mondrian", "local", "incognito", "coincident", "suppression"])
def test_a_promise_about_part_of_what_is_known_needs_more_than_classes(algorithm: str) -> None:
    with pytest.raises(PolicyError, match=f"{algorithm} needs promises about each class by itself; lkc"):
        made(algorithm, LKC_OF_ONE)
    assert made(algorithm, LKC_OF_ALL).models  # whoever knows all of it sees classes


def test_buckets_hide_nobody() -> None:
    with pytest.raises(PolicyError, match="bucketisation publishes quasi-identifiers as they are"):
        made("bucketisation", LKC_OF_ALL)
    assert made("bucketisation", L).models


def test_a_safe_lattice_is_for_one_promise() -> None:
    with pytest.raises(PolicyError, match="safe-lattice serves one promise, entropy-l-diversity"):
        made("safe-lattice", K)


@pytest.mark.parametrize("algorithm", ["samarati", "incognito", "mondrian", "local", "bucketisation"])
def test_nulls_that_match_everything_are_in_several_classes(algorithm: str) -> None:
    with pytest.raises(PolicyError, match="wildcard"):
        made(algorithm, L, nulls=Nulls.WILDCARD)
    assert made("top-down", L, nulls=Nulls.WILDCARD).models


def test_buckets_are_dealt_for_diversity() -> None:
    with pytest.raises(PolicyError, match="the policy needs l-diversity"):
        made("anatomy", K)
    with pytest.raises(PolicyError, match="not for k-anonymity; bucketisation"):
        made("anatomy", L, K)
    assert made("anatomy", L).models


def test_groups_of_k_need_a_k() -> None:
    with pytest.raises(PolicyError, match="the policy needs k-anonymity"):
        made("microaggregation", L)
    assert made("microaggregation", L, K).models


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (Form(delimiter="ab"), "form: a delimiter is one ASCII character, not 'ab'"),
        (Form(delimiter='"'), "form: a delimiter is one ASCII character"),
        (Form(encoding="zz"), "form: there is no encoding 'zz'"),
        (Form(encoding="hex"), "form: there is no encoding 'hex'"),
    ],
)
def test_a_form_in_which_nothing_can_be_written_is_refused(form: Form, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        made("top-down", K, form=form)
    assert made("top-down", K, form=Form(delimiter="\t", encoding="latin-1")).form.delimiter == "\t"
