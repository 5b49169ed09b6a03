"""What promises allow: no class that keeps one, by its naive definition, goes beyond its ceiling."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.contract.pairs import policy_of
from tests.models.naive import breaks

import privet as pv
from privet.attackers import promised
from privet.attackers.promised import Seen
from privet.models.tcloseness import Distance

ILL = ("ill",)
BOUNDING: dict[str, Any] = {
    "distinct": pv.DistinctLDiversity(l=3, sensitive=ILL),
    "p-sensitive": pv.PSensitiveKAnonymity(p=2, k=3, sensitive=ILL),
    "entropy": pv.EntropyLDiversity(l=2, sensitive=ILL),
    "recursive": pv.RecursiveLDiversity(c=Fraction(2), l=2, sensitive=ILL),
    "recursive, 3": pv.RecursiveLDiversity(c=Fraction(3, 2), l=3, sensitive=ILL),
    "t, equal": pv.TCloseness(t=Fraction(1, 4), sensitive=ILL, distance=Distance.EQUAL),
    "t, ordered": pv.TCloseness(t=Fraction(1, 9), sensitive=ILL, distance=Distance.ORDERED),
    "t, kl": pv.TCloseness(t=Fraction(1, 10), sensitive=ILL, distance=Distance.KL),
    "beta": pv.BetaLikeness(beta=Fraction(1, 2), sensitive=ILL),
    "enhanced": pv.EnhancedBetaLikeness(beta=Fraction(1), sensitive=ILL),
    "delta": pv.DeltaDisclosure(delta=Fraction(1), sensitive=ILL),
}
GROUPS = st.lists(st.sampled_from("1234"), min_size=1, max_size=9)


def seen(group: list[str], table: list[str], value: str) -> Seen:
    return Seen("ill", value, len(group), Fraction(table.count(value), len(table)), len(set(table)))


def kept(model: Any, group: list[str], table: list[str]) -> bool:
    if getattr(model, "distance", None) in {Distance.ORDERED, Distance.KL}:
        rest = list((Counter(table) - Counter(group)).elements())
        from tests.tables import tally_of

        q = ["in"] * len(group) + ["out"] * len(rest)
        found = model.check(tally_of({"q": q}, sensitive={"ill": [*group, *rest]}))
        return bool(found.holds)
    return not breaks(model, list(group), list(table))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sorted(BOUNDING))
@settings(max_examples=60, deadline=None)
@given(group=GROUPS, rest=GROUPS)
def test_a_class_that_keeps_its_promise_stays_under_the_ceiling(
    name: str, group: list[str], rest: list[str]
) -> None:
    model, table = BOUNDING[name], [*group, *rest]
    assume(kept(model, group, table))
    for value in set(group):
        bound = promised.attribute([model], seen(group, table, value), ["q"], whole=True)
        if bound is not None:
            assert not bound.broken_by(Fraction(group.count(value), len(group)))


@pytest.mark.parametrize(
    ("name", "group", "table"),
    [
        ("distinct", "1112", "111234"),  # one of four others would have to differ twice
        ("p-sensitive", "111", "1112"),
        ("entropy", "11111112", "1111111222"),
        ("recursive", "11112", "1111222"),
        ("t, equal", "1112", "11122222"),
        ("beta", "112", "11222222"),
        ("enhanced", "11112", "1111222222"),
        ("delta", "1112", "111222222222222222"),
    ],
)
def test_a_class_that_does_not_is_above_it(name: str, group: str, table: str) -> None:
    bound = promised.attribute([BOUNDING[name]], seen(list(group), list(table), "1"), ["q"], whole=True)
    assert bound is not None
    assert bound.broken_by(Fraction(group.count("1"), len(group)))
    assert breaks(BOUNDING[name], list(group), list(table))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("distinct", Fraction(6, 8)),
        ("p-sensitive", Fraction(7, 8)),
        ("recursive", Fraction(2, 3)),
        ("recursive, 3", Fraction(3, 5)),
        ("t, equal", Fraction(1, 5) + Fraction(1, 4)),
        ("t, ordered", Fraction(1, 5) + Fraction(3, 9)),
        ("t, kl", pytest.approx(1 / 5 + 0.05**0.5)),
        ("beta", Fraction(3, 10)),
        ("enhanced", pytest.approx(2 / 5)),
        ("delta", pytest.approx(2.718281828 / 5)),
        ("entropy", pytest.approx(0.8107103750584)),  # of four values: h(p) + (1 - p) ln 3 = ln 2
    ],
)
def test_the_ceilings_by_hand(name: str, expected: Any) -> None:
    """A class of eight, a value that a fifth of the table has, four values in all."""
    assert promised.ceiling(BOUNDING[name], Seen("ill", "a", 8, Fraction(1, 5), 4)) == expected


def test_only_knowledge_that_a_promise_speaks_of_is_bounded() -> None:
    (lkc,) = policy_of(
        [{"type": "lkc-privacy", "l": 1, "k": 4, "c": "1/2", "sensitive": {"ill": ["a"]}}], "top-down"
    ).models
    one = Seen("ill", "a", 8, Fraction(1, 4), 4)
    assert promised.identity([lkc], ["age"]) == promised.Bound(Fraction(1, 4), "lkc-privacy")
    assert promised.identity([lkc], ["age", "hours"]) is None
    assert promised.attribute([lkc], one, ["age"], whole=False) == promised.Bound(
        Fraction(1, 2), "lkc-privacy"
    )
    assert promised.attribute([lkc], one, ["age", "hours"], whole=True) is None
    other = Seen("ill", "b", 8, Fraction(1, 4), 4)
    assert promised.attribute([lkc], other, ["age"], whole=False) is None


def test_the_tightest_of_several_promises_counts() -> None:
    both = [pv.KAnonymity(k=3), pv.PSensitiveKAnonymity(p=2, k=5, sensitive=ILL)]
    assert promised.identity(both, ["age"]) == promised.Bound(Fraction(1, 5), "p-sensitive-k-anonymity")
    assert promised.identity([pv.KAnonymity(k=1)], ["age"]) is None
