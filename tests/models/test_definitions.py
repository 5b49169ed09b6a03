"""The four models against their definitions, said naively in tests/oracle.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle

from privet import native
from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.domain import Value, flat
from privet.errors import PolicyError
from privet.models import groups
from privet.models.alphak import AlphaKAnonymity
from privet.models.confidence import ConfidenceBounding
from privet.models.groups import exceeds, largest_share
from privet.models.kanonymity import KAnonymity
from privet.models.lkc import LKC
from privet.models.template import EVERY
from privet.testing import shares, tallies

HALF = Fraction(1, 2)


def models(tally: Tally) -> st.SearchStrategy[PrivacyModel]:
    small = st.integers(1, 5)
    value = st.sampled_from(["a", "b", None, "nobody has it"])
    names = [column.name for column in tally.sensitive]
    plain = st.dictionaries(st.sampled_from(names), st.lists(value, unique=True, max_size=3), max_size=2)
    bounded = st.dictionaries(
        st.sampled_from(names),
        st.dictionaries(value, shares(), min_size=1, max_size=2),
        min_size=1,
        max_size=2,
    )
    sensitive = plain | bounded | st.lists(st.sampled_from(names), unique=True)
    quasi = st.none() | st.lists(
        st.sampled_from([c.name for c in tally.quasi]), min_size=1, max_size=3, unique=True
    ).map(tuple)
    return st.one_of(
        st.builds(KAnonymity, k=small),
        st.builds(LKC, l=small, k=small, c=shares(), sensitive=sensitive),
        st.builds(AlphaKAnonymity, alpha=shares(), k=small, sensitive=sensitive),
        st.builds(ConfidenceBounding, sensitive=bounded, quasi=quasi),
    )


def quasi_of(tally: Tally) -> list[str]:
    return [column.name for column in tally.quasi]


def at_risk(groups: list[list[oracle.Row]]) -> int:
    return len({id(row) for group in groups for row in group})


def telling(tally: Tally, model: PrivacyModel) -> list[str]:
    """The attributes that a promise is about and that can tell records apart: only these are combined."""
    chosen = model.quasi if isinstance(model, ConfidenceBounding) and model.quasi else quasi_of(tally)
    return [column.name for column in tally.quasi if column.name in chosen and column.domain.size > 1]


def largest_groups(tally: Tally, model: PrivacyModel, *, wildcard: bool = False) -> list[list[oracle.Row]]:
    """The groups that break the promise among the combinations that are counted: the largest."""
    rows, names = oracle.rows_of(tally), telling(tally, model)
    l, k, bounds = oracle.parameters(model, rows, quasi_of(tally))
    most = min(l, len(names))
    sizes = {min(size, len(names)) for size in range(1, l + 1)} if wildcard else {most}
    found = [
        group
        for size in sorted(sizes)
        for subset in combinations(names, size)
        for group in oracle.groups(rows, subset, wildcard=wildcard)
    ]
    return [group for group in found if oracle.is_bad(group, k, bounds)]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_null_is_a_value(data: st.DataObject) -> None:
    tally = data.draw(tallies())
    model = data.draw(models(tally))
    rows = oracle.rows_of(tally)
    bad = largest_groups(tally, model)
    verdict = model.check(tally)
    # Spec 4.5, 1: the largest combinations alone decide, and the oracle looks at all of them.
    assert verdict.holds is oracle.holds(rows, quasi_of(tally), model)
    assert verdict.broken == len(bad)
    assert verdict.at_risk == at_risk(bad)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_null_matches_everything(data: st.DataObject) -> None:
    tally = data.draw(tallies(nulls=Nulls.WILDCARD))
    model = data.draw(models(tally))
    rows = oracle.rows_of(tally)
    bad = largest_groups(tally, model, wildcard=True)
    verdict = model.check(tally)
    assert verdict.holds is oracle.holds(rows, quasi_of(tally), model, wildcard=True)
    assert verdict.broken == len(bad)
    assert verdict.at_risk == at_risk(bad)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_is_achieved_is_the_smallest_group_and_the_largest_share(data: st.DataObject) -> None:
    tally = data.draw(tallies())
    rows, quasi = oracle.rows_of(tally), quasi_of(tally)
    l = data.draw(st.integers(1, 4))
    model = LKC(l=l, k=1, c=Fraction(99, 100), sensitive={"s0": ["a", "b"]})
    found = [
        group
        for names in combinations(quasi, min(l, len(quasi)))
        for group in oracle.groups(rows, names, wildcard=False)
    ]
    share = {
        value: max(Fraction(sum(row["s0"] == value for row in group), len(group)) for group in found)
        for value in ("a", "b")
    }
    assert model.check(tally).achieved == {
        "k": min(map(len, found)),
        "c": max(share.values()),
        "c of s0=a": share["a"],
        "c of s0=b": share["b"],
    }


def tally_of(
    quasi: Sequence[Sequence[Value]], sensitive: Sequence[Value], counts: Sequence[int] = ()
) -> Tally:
    def column(name: str, values: Sequence[Value]) -> Column:
        domain = flat(tuple(dict.fromkeys(values)))
        return Column(name, domain, domain.column(np.array([domain.codes[v] for v in values], dtype=np.intp)))

    return Tally(
        quasi=tuple(column(f"q{at}", values) for at, values in enumerate(quasi)),
        sensitive=(column("s", sensitive),),
        target=None,
        counts=np.array(counts or [1] * len(sensitive), dtype=np.int64),
    )


def test_one_record() -> None:
    tally = tally_of([["x"], [None]], ["HIV"])
    assert KAnonymity(k=1).check(tally).holds
    assert KAnonymity(k=2).check(tally).at_risk == 1
    assert not LKC(l=1, k=1, c=Fraction(99, 100), sensitive={"s": ["HIV"]}).check(tally).holds
    assert LKC(l=1, k=1, c=Fraction(1), sensitive={"s": ["HIV"]}).check(tally).holds


def test_equal_records_only() -> None:
    tally = tally_of([["x"] * 5, ["y"] * 5], ["a", "b", "c", "d", "e"])
    for l in range(1, 4):
        verdict = LKC(l=l, k=5, c=Fraction(1, 5), sensitive=["s"]).check(tally)
        assert verdict.holds
        assert verdict.achieved == {"k": 5, "c": Fraction(1, 5)}
        assert not LKC(l=l, k=6, c=Fraction(1, 5), sensitive=["s"]).check(tally).holds


@pytest.mark.parametrize(
    ("c", "holds"),
    [
        (HALF, True),
        (HALF - Fraction(1, 10**18), False),
        (HALF + Fraction(1, 10**18), True),
        (Fraction(10**30 // 2, 10**30), True),
        (Fraction(10**30 // 2 - 1, 10**30), False),
    ],
    ids=str,
)
def test_the_bound_itself_is_allowed_exactly(c: Fraction, holds: bool) -> None:
    tally = tally_of([["x"] * 4], ["HIV", "HIV", "flu", "cold"])
    assert LKC(l=1, k=1, c=c, sensitive={"s": ["HIV"]}).check(tally).holds is holds
    # The same with counts that do not fit a float's 53 bits when they are multiplied out.
    many = tally_of([["x", "x"]], ["HIV", "flu"], [2**31 - 1, 2**31 - 1])
    assert LKC(l=1, k=1, c=c, sensitive={"s": ["HIV"]}).check(many).holds is holds


def test_a_share_of_one_in_a_quintillion_is_not_rounded_away() -> None:
    tiny = Fraction(1, 10**18)
    tally = tally_of([["x", "x"]], ["HIV", "flu"], [1, 10**9])
    assert not LKC(l=1, k=1, c=tiny, sensitive={"s": ["HIV"]}).check(tally).holds
    assert LKC(l=1, k=1, c=Fraction(1, 10**9 + 1), sensitive={"s": ["HIV"]}).check(tally).holds
    assert LKC(l=1, k=1, c=tiny, sensitive={"s": ["nobody"]}).check(tally).holds


counts = st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)), min_size=1, max_size=6)


@given(counts, shares() | st.fractions(Fraction(1, 10**20), 1))
def test_shares_are_compared_exactly(pairs: list[tuple[int, int]], at_most: Fraction) -> None:
    having = np.array([h for h, _ in pairs], dtype=np.int64)
    size = np.array([h + rest for h, rest in pairs], dtype=np.int64)
    assert exceeds(having, size, at_most).tolist() == [h > at_most * (h + rest) for h, rest in pairs]
    exact = max((Fraction(h, h + rest) for h, rest in pairs if h), default=Fraction(0))
    assert largest_share(having, size) == exact


def test_forty_one_quasi_identifiers() -> None:
    rng = np.random.default_rng(41)
    rows = 60
    columns = [[str(v) for v in rng.integers(0, 3, rows)] for _ in range(41)]
    sensitive = [("HIV", "flu", "cold")[v] for v in rng.integers(0, 3, rows)]
    tally = tally_of(columns, sensitive)
    table, quasi = oracle.rows_of(tally), quasi_of(tally)
    for k in (1, 2):
        assert KAnonymity(k=k).check(tally).holds is (k == 1)
    model = LKC(l=2, k=4, c=Fraction(2, 3), sensitive={"s": ["HIV"]})
    bad = [
        group
        for names in combinations(quasi, 2)
        for group in oracle.groups(table, names, wildcard=False)
        if len(group) < 4 or Fraction(sum(r["s"] == "HIV" for r in group), len(group)) > Fraction(2, 3)
    ]
    assert model.check(tally).broken == len(bad)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sorting_and_arrays_count_alike(data: st.DataObject) -> None:
    """The sparse road is taken by large tables only; here by force."""
    tally = data.draw(tallies())
    model = data.draw(models(tally))
    dense = model.check(tally)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "DENSE", 0)
        assert model.check(tally) == dense


@pytest.mark.parametrize("room", [5, 1_000_000], ids=["array", "sorted"])
@given(cells=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(1, 9))))
def test_thousands_of_values_are_counted_at_once(room: int, cells: list[tuple[int, int, int]]) -> None:
    """Value by value a table of 29 columns and 445 amounts took minutes for each look at it."""
    key, value, counts = (np.array([cell[at] for cell in cells], dtype=np.int64) for at in range(3))
    held = groups.Holders(np.arange(len(cells)), value, 3, counts).among(key * (room // 5), room)
    expected: Counter[int] = Counter()
    for group, code, count in cells:
        expected[group * (room // 5) * 3 + code] += count
    pairs = sorted(expected.items())
    assert held.group.tolist() == [at // 3 for at, _ in pairs]
    assert held.count.tolist() == [count for _, count in pairs]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_compiled_and_plain_loops_count_alike(data: st.DataObject) -> None:
    if native.library() is None:
        pytest.skip("the compiled loops are not built")
    tally = data.draw(tallies())
    model = data.draw(models(tally))
    plain = model.check(tally)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "WORTH_CALLING", 0)
        assert model.check(tally) == plain


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_special_cases_of_lkc(data: st.DataObject) -> None:
    """Spec 2.3: the others are LKC with L as large as there are quasi-identifiers."""
    tally = data.draw(tallies())
    l, k, c = len(tally.quasi), data.draw(st.integers(1, 5)), data.draw(shares())
    protected = {"s0": ["a", None]}

    def answer(model: PrivacyModel) -> tuple[bool, int, int]:
        verdict = model.check(tally)
        return verdict.holds, verdict.broken, verdict.at_risk

    assert answer(KAnonymity(k=k)) == answer(LKC(l=l, k=k, c=Fraction(1), sensitive=protected))
    bounded = ConfidenceBounding(sensitive={"s0": {"a": c, None: c}})
    assert answer(bounded) == answer(LKC(l=l, k=1, c=c, sensitive=protected))
    assert answer(AlphaKAnonymity(alpha=c, k=k, sensitive=protected)) == answer(
        LKC(l=l, k=k, c=c, sensitive=protected)
    )


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_asking_more_never_helps(data: st.DataObject) -> None:
    tally = data.draw(tallies())
    l, k, c = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4)), data.draw(shares())
    model = LKC(l=l, k=k, c=c, sensitive=["s0"])
    for harder in (replace(model, l=l + 1), replace(model, k=k + 1), replace(model, c=c / 2)):
        assert model.check(tally).holds or not harder.check(tally).holds


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_nearest_moves_no_further_than_it_must(data: st.DataObject) -> None:
    tally = data.draw(tallies())
    k, c = data.draw(st.integers(1, 9)), data.draw(shares())
    model = LKC(l=2, k=k, c=c, sensitive={"s0": ["a"]})
    near = model.nearest(tally)
    achieved = replace(model, c=min(c, Fraction(99, 100))).check(tally).achieved
    assert near.k == min(k, achieved["k"])
    assert near.c == max(c, achieved["c"])


# Promises are validated when they are signed.


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "2", None])
def test_k_is_a_whole_number(k: object) -> None:
    with pytest.raises(
        PolicyError, match=r"k is a whole number from 1 on|k: is a whole number|k: is missing"
    ):
        KAnonymity(k=k)  # type: ignore[arg-type]


@pytest.mark.parametrize("c", [0, 0.5, "1/2", Fraction(0), Fraction(3, 2), Fraction(-1, 2), 1, True])
def test_c_is_an_exact_share(c: object) -> None:
    with pytest.raises(PolicyError, match=r"exact fraction above 0 and at most 1|c: is an exact fraction"):
        LKC(l=1, k=1, c=c, sensitive=["s"])  # type: ignore[arg-type]


def test_every_wrong_number_is_said_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        LKC(l=0, k=0, c=HALF, sensitive=["s"])
    assert len(caught.value.complaints) == 2


@pytest.mark.parametrize(
    "sensitive", ["surgery", {"surgery": "Transgender"}, {"surgery": {"Transgender": None}}]
)
def test_sensitive_is_no_bare_text(sensitive: object) -> None:
    with pytest.raises(PolicyError, match="sensitive"):
        LKC(l=1, k=1, c=HALF, sensitive=sensitive)  # type: ignore[arg-type]


def test_confidence_bounding_bounds_something() -> None:
    with pytest.raises(PolicyError, match="at least one value"):
        ConfidenceBounding(sensitive={})


def test_a_promise_about_an_attribute_that_is_not_there() -> None:
    tally = tally_of([["x"]], ["HIV"])
    with pytest.raises(PolicyError, match=r"sensitive\.other"):
        LKC(l=1, k=1, c=HALF, sensitive=["other"]).check(tally)
    with pytest.raises(PolicyError, match="quasi: the policy has no quasi-identifier nowhere"):
        ConfidenceBounding(sensitive={"s": {"HIV": HALF}}, quasi=("nowhere",)).check(tally)


def test_every_value_is_bounded_by_itself() -> None:
    tally = tally_of([["x"] * 4], ["a", "a", "b", None])
    assert LKC(l=1, k=1, c=HALF, sensitive={"s": [EVERY]}).check(tally).achieved["c"] == HALF
    assert LKC(l=1, k=1, c=HALF, sensitive=["s"]) == LKC(l=1, k=1, c=HALF, sensitive={"s": [EVERY]})


def test_order_of_values_does_not_matter() -> None:
    one = LKC(l=1, k=1, c=HALF, sensitive={"s": ["a", "b"], "t": ["c"]})
    other = LKC(l=1, k=1, c=HALF, sensitive={"t": ("c",), "s": {"b": HALF, "a": HALF}})
    assert one == other
    assert hash(one) == hash(other)
