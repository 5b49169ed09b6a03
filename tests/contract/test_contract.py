"""Every registered model, algorithm and engine keeps the contract of its kind."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import pytest
from tests.contract import pairs
from tests.contract.pairs import installed
from tests.tries import tries

from privet.core import PrivacyModel, Tally, Verdict
from privet.models.alphak import AlphaKAnonymity
from privet.models.confidence import ConfidenceBounding
from privet.models.disclosure import DeltaDisclosure
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.lkc import LKC
from privet.models.personal import PersonalisedPrivacy
from privet.models.presence import DeltaPresence, KMap
from privet.models.psensitive import PSensitiveKAnonymity
from privet.models.risk import (
    AverageRisk,
    MaximumRisk,
    PopulationUniqueness,
    RecordsAtRisk,
    SampleUniqueness,
)
from privet.models.safeharbor import SafeHarbor
from privet.models.tcloseness import Distance, TCloseness
from privet.policy.notation import algorithm
from privet.relational.topdown import Score, Splits, TopDown
from privet.testing import check_algorithm, check_engine, check_model, class_models
from privet.testing.facts import check_algorithm_facts

HALF = Fraction(1, 2)
EXAMPLES = tries(30)  # always the same ones; 300 new ones in `make test-explore`


def checkable(name: str) -> bool:
    """Is a model about a table as it stands? Not about how it was made, nor about who is not in it."""
    model = installed("models")[name].load()
    return not model.spent and not model.population


# Searches that generalise: neither chance nor a road of their own. Means and suppression give up sooner,
# and coincident groups are drawn: tests/relational/test_coincident.py has what they keep.
SEARCHES = [
    name
    for name in pairs.every("algorithms")
    for made in [installed("algorithms")[name].load()]
    if made.spends is None and made.road is None
    if name not in {"coincident", "microaggregation", "suppression"}
]
TREE = {"any": {"x": ["a", "b"], "y": ["c", "d"]}}


def every(tally: Tally) -> tuple[str, ...]:
    return tuple(column.name for column in tally.sensitive)


MODELS: Mapping[str, Callable[[Tally], PrivacyModel]] = {
    "k-anonymity": lambda _: KAnonymity(k=3),
    "lkc-privacy": lambda _: LKC(l=2, k=2, c=HALF, sensitive={"s0": ["a", None]}),
    "confidence-bounding": lambda _: ConfidenceBounding(sensitive={"s0": {"a": HALF, "b": Fraction(1, 3)}}),
    "alpha-k-anonymity": lambda _: AlphaKAnonymity(alpha=Fraction(2, 3), k=2, sensitive=["s0"]),
    "p-sensitive-k-anonymity": lambda tally: PSensitiveKAnonymity(p=2, k=3, sensitive=every(tally)),
    "distinct-l-diversity": lambda tally: DistinctLDiversity(l=2, sensitive=every(tally)),
    "entropy-l-diversity": lambda tally: EntropyLDiversity(l=2, sensitive=every(tally)),
    "recursive-l-diversity": lambda tally: RecursiveLDiversity(c=Fraction(2), l=2, sensitive=every(tally)),
    "t-closeness": lambda tally: TCloseness(t=HALF, sensitive=every(tally), distance=Distance.EQUAL),
    "beta-likeness": lambda tally: BetaLikeness(beta=HALF, sensitive=every(tally)),
    "enhanced-beta-likeness": lambda tally: EnhancedBetaLikeness(beta=HALF, sensitive=every(tally)),
    "delta-disclosure": lambda tally: DeltaDisclosure(delta=HALF, sensitive=every(tally)),
    "personalised-privacy": lambda _: PersonalisedPrivacy(
        at_most=HALF, sensitive=("s0",), guard="s0", tree=TREE
    ),
    "k-map": lambda _: KMap(k=3, subset="s0", values=("a",)),
    "delta-presence": lambda _: DeltaPresence(low=Fraction(1, 5), high=HALF, subset="s0", values=("a",)),
    "average-risk": lambda _: AverageRisk(at_most=HALF),
    "maximum-risk": lambda _: MaximumRisk(at_most=Fraction(2, 5)),
    "records-at-risk": lambda _: RecordsAtRisk(above=Fraction(1, 3), at_most=HALF),
    "safe-harbor": lambda _: SafeHarbor(),
    "sample-uniqueness": lambda _: SampleUniqueness(at_most=Fraction(1, 4)),
    "population-uniqueness": lambda _: PopulationUniqueness(at_most=Fraction(1, 4), fraction=Fraction(1, 5)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [name for name in pairs.every("models") if checkable(name)])
def test_models(name: str) -> None:
    check_model(MODELS[name], examples=EXAMPLES)


def test_a_model_with_several_sensitive_attributes() -> None:
    check_model(
        lambda tally: LKC(l=1, k=1, c=HALF, sensitive={c.name: ["a", "b"] for c in tally.sensitive}),
        examples=EXAMPLES,
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("distance", Distance)
def test_every_form_of_t_closeness(distance: Distance) -> None:
    check_model(
        lambda _: TCloseness(
            t=Fraction(2, 5),
            sensitive=("s0",),
            distance=distance,
            order=("b", "a", "c") if distance is Distance.ORDERED else None,
            tree=TREE if distance is Distance.HIERARCHICAL else None,
            costs={"a": {"b": Fraction(1, 3)}} if distance is Distance.COSTS else None,
        ),
        examples=EXAMPLES,
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SEARCHES)
def test_algorithms(name: str) -> None:
    check_algorithm(installed("algorithms")[name].load(), examples=EXAMPLES)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SEARCHES)
def test_algorithms_with_promises_about_classes(name: str) -> None:
    check_algorithm(installed("algorithms")[name].load(), models_for=class_models, examples=EXAMPLES)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("score", Score)
@pytest.mark.parametrize("splits", Splits)
def test_every_form_of_top_down(score: Score, splits: Splits) -> None:
    check_algorithm(lambda: TopDown(score=score, splits=splits), examples=EXAMPLES // 2)


@pytest.mark.parametrize("name", sorted({*installed("engines")} - {"spark"}))  # tests/engines/test_spark.py
def test_engines(name: str) -> None:
    check_engine(installed("engines")[name].load()(), examples=EXAMPLES)


# The checks themselves must see what they are there for.


@dataclass(frozen=True, slots=True)
class AtMost(PrivacyModel):
    """Lies about monotonicity: small groups are kept small, merging them breaks it."""

    k: int
    name: ClassVar[str] = "at-most"
    monotone: ClassVar[bool] = True

    def check(self, tally: Tally) -> Verdict:
        largest = -KAnonymity(k=1).check(tally).achieved["k"]
        return Verdict({"k": int(-largest)}, int(-largest > self.k))

    def nearest(self, tally: Tally) -> Self:
        return type(self)(max(self.k, int(self.check(tally).achieved["k"])))


def test_a_lie_about_monotonicity_is_caught() -> None:
    with pytest.raises(AssertionError, match="says it is monotone"):
        check_model(AtMost(k=2), shrink=False)


@dataclass(frozen=True, slots=True)
class Chatty(PrivacyModel):
    """Puts a value of the data in its verdict."""

    name: ClassVar[str] = "chatty"
    monotone: ClassVar[bool] = False

    def check(self, tally: Tally) -> Verdict:
        return Verdict({str(tally.quasi[0].domain.values[0]): 1})

    def nearest(self, tally: Tally) -> Self:
        return self


def test_a_value_in_a_verdict_is_caught() -> None:
    with pytest.raises(AssertionError, match="holds a value"):
        check_model(Chatty(), shrink=False)


@dataclass
class Open(PrivacyModel):
    """Can be changed after signing."""

    k: int
    name: ClassVar[str] = "open"
    monotone: ClassVar[bool] = True
    __hash__ = None  # type: ignore[assignment]

    def check(self, tally: Tally) -> Verdict:
        return Verdict({})

    def nearest(self, tally: Tally) -> Self:
        return self


@dataclass(unsafe_hash=True)
class Thawed(Open):
    """The same with a hash."""

    seen: list[int] = field(default_factory=list, compare=False)


def test_a_promise_that_is_not_frozen_is_caught() -> None:
    with pytest.raises(AssertionError, match="freeze it"):
        check_model(Thawed(k=2), shrink=False)


def test_without_hypothesis_it_says_which_extra_brings_it() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import privet.testing"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=600
    )
    assert "pip install 'privet[testing]'" in done.stderr


# What is declared is checked, and what is misspelt is found.


@dataclass(frozen=True, slots=True)
class FirstContract:
    """A promise with four parts, which inherits nothing."""

    k: int
    name: ClassVar[str] = "first-contract"
    monotone: ClassVar[bool] = True

    def check(self, tally: Tally) -> Verdict:
        return KAnonymity(k=self.k).check(tally)

    def nearest(self, tally: Tally) -> Self:
        return type(self)(KAnonymity(k=self.k).nearest(tally).k)


def test_a_promise_of_the_first_contract_keeps_it() -> None:
    first: Any = FirstContract(2)
    check_model(first, examples=10)
    assert (first.kinds, first.spent, first.protects(), first.class_size) == (("table",), False, (), None)


DECLARED: dict[str, tuple[dict[str, Any], str]] = {
    "a word too few": ({"kind": ("table",)}, "nobody asks for kind; did you mean kinds?"),
    "misspelt": ({"monotone_with_supression": True}, "did you mean monotone_with_suppression?"),
    "a text for a tuple": (
        {"kinds": "table"},
        "kinds is a tuple of kinds of data, at least one, not 'table'",
    ),
    "a number for an answer": ({"spent": 0}, "spent is True or False, not 0"),
    "no rows of a population": ({"population": True}, "a promise about a population says which rows leave"),
    "names without keys": ({"protects": lambda self: ("ill",)}, "protects is a tuple of pairs"),
    "a size of nothing": ({"class_size": property(lambda self: 0)}, "class_size is a whole number from 1 on"),
}


@pytest.mark.parametrize("case", DECLARED)
def test_what_a_promise_declares_is_checked(case: str) -> None:
    facts, words = DECLARED[case]
    made: Any = dataclass(frozen=True)(
        type("Declaring", (FirstContract,), {"__module__": __name__, "__doc__": "A plug-in.", **facts})
    )
    with pytest.raises(AssertionError, match=re.escape(words)):
        check_model(made(2), shrink=False)


def test_what_an_algorithm_declares_is_checked() -> None:
    class Spending(TopDown):
        spend = "differential-privacy"

    with pytest.raises(AssertionError, match="nobody asks for spend; did you mean spends"):
        check_algorithm(Spending, examples=1)

    class Elsewhere(TopDown):
        kinds = ()

    with pytest.raises(AssertionError, match="kinds is a tuple of kinds of data, at least one"):
        check_algorithm(Elsewhere, examples=1)


@pytest.mark.parametrize("name", installed("algorithms"))
def test_every_algorithm_declares_its_facts(name: str) -> None:
    check_algorithm_facts(algorithm(name, **pairs.ALGORITHMS.get(name, {})))


def test_there_are_searches_to_check() -> None:
    assert {"top-down", "mondrian", "optimal", "local", "incognito", "samarati"} <= set(SEARCHES)


class Joining(TCloseness):
    """Lies about suppression: a class may be close to the table, and no longer when records join it."""

    monotone_with_suppression: ClassVar[bool] = True


def test_a_lie_about_suppression_is_caught() -> None:
    def made(tally: Tally) -> PrivacyModel:
        return Joining(t=Fraction(1, 4), sensitive=every(tally), distance=Distance.EQUAL)

    with pytest.raises(AssertionError, match="says it is monotone with suppression"):
        check_model(made, examples=400, shrink=False)
