"""k-map and delta-presence against their definitions; and when they are kept by generalising."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_class_models import table_of
from tests.oracle import rows_of

from privet.core import Nulls, Tally
from privet.errors import PolicyError, UnsupportedError
from privet.models.kanonymity import KAnonymity
from privet.models.presence import DeltaPresence, KMap, OfSubset
from privet.testing import descents, tallies

F = Fraction


def classes_of(tally: Tally) -> list[tuple[int, int]]:
    """Of each class, its people and how many of them have the value a in s0."""
    found: dict[tuple[str | None, ...], list[bool]] = {}
    for row in rows_of(tally):
        found.setdefault(tuple(row[c.name] for c in tally.quasi), []).append(row["s0"] == "a")
    return [(len(group), sum(group)) for group in found.values()]


@settings(max_examples=100, deadline=None)
@given(tallies(quasi=2), st.integers(1, 6))
def test_k_map_counts_the_people_of_classes_that_are_shown(tally: Tally, k: int) -> None:
    verdict = KMap(k=k, subset="s0", values=("a",)).check(tally)
    bad = [(people, shown) for people, shown in classes_of(tally) if shown and people < k]
    assert verdict.broken == len(bad)
    assert verdict.at_risk == sum(shown for _, shown in bad)
    reached = [people for people, shown in classes_of(tally) if shown]
    assert verdict.achieved == {"k": min(reached, default=tally.records)}
    assert KMap(k=k, subset="s0", values=("a",)).nearest(tally).check(tally).holds


@settings(max_examples=100, deadline=None)
@given(tallies(quasi=2), st.fractions(0, 1, max_denominator=6), st.fractions(0, 1, max_denominator=6))
def test_delta_presence_bounds_the_share_of_every_class(tally: Tally, one: F, other: F) -> None:
    model = DeltaPresence(low=min(one, other), high=max(one, other), subset="s0", values=("a",))
    verdict = model.check(tally)
    shares = [(F(shown, people), people) for people, shown in classes_of(tally)]
    bad = [people for share, people in shares if not model.low <= share <= model.high]
    assert (verdict.broken, verdict.at_risk) == (len(bad), sum(bad))
    assert verdict.achieved == {"low": min(s for s, _ in shares), "high": max(s for s, _ in shares)}
    assert model.nearest(tally).check(tally).holds


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_generalising_keeps_them(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3))
    k = data.draw(st.integers(1, 5))
    models = (
        KMap(k=k, subset="s0", values=("a",)),
        DeltaPresence(low=F(1, 5), high=F(2, 3), subset="s0", values=("a",)),
        OfSubset(KAnonymity(k=k), "s0", ("a",)),
    )
    walk = data.draw(descents(tally))
    for model in models:
        assert model.monotone
        kept = [model.check(tally.recoded(recoding)).holds for recoding in walk]
        assert kept == sorted(kept, reverse=True), model.name  # from the top down: once broken, broken


def suppressed(model: KMap | DeltaPresence, classes: Sequence[tuple[str, list[str]]]) -> int:
    """The records of the classes that break it: what suppressing them costs."""
    return sum(len(values) for q, values in classes if not model.check(table_of([(q, values)])).holds)


@pytest.mark.parametrize(
    "model",
    [
        KMap(k=3, subset="s", values=("yes",)),
        DeltaPresence(low=F(0), high=F(1, 2), subset="s", values=("yes",)),
    ],
    ids=["k-map", "delta-presence"],
)
def test_once_records_may_be_dropped_generalising_may_cost_more(model: KMap | DeltaPresence) -> None:
    """The counter-example behind the flag: a class that was kept is joined by one who leaves."""
    fine = ["no"] if isinstance(model, KMap) else ["no", "yes"]
    apart = [("x", fine), ("y", ["yes"])]
    together = [("x", [*fine, "yes"])]
    assert suppressed(model, apart) == 1
    assert suppressed(model, together) > 1
    assert not model.monotone_with_suppression


def test_k_map_is_less_than_k_anonymity_and_a_class_of_one_may_leave() -> None:
    tally = table_of([("x", ["yes", "no", "no", "no"]), ("y", ["no"])])
    assert KMap(k=4, subset="s", values=("yes",)).check(tally).holds  # nobody of y leaves
    assert not KMap(k=5, subset="s", values=("yes",)).check(tally).holds
    assert not OfSubset(KAnonymity(k=2), "s", ("yes",)).check(tally).holds
    assert OfSubset(KAnonymity(k=2), "s", ("yes",)).nearest(tally).model == KAnonymity(k=1)


def test_shares_are_exact() -> None:
    """A third is a third: no float rounds it over the bound."""
    tally = table_of([("x", ["yes", "no", "no"])])
    third = DeltaPresence(low=F(1, 3), high=F(1, 3), subset="s", values=("yes",))
    assert third.check(tally).holds
    over = DeltaPresence(low=F(0), high=F(1, 3) - F(1, 10**30), subset="s", values=("yes",))
    assert not over.check(tally).holds


def test_what_is_refused() -> None:
    for wrong in (
        lambda: KMap(k=0, subset="s", values=("yes",)),
        lambda: KMap(k=2, subset="s", values=()),
        lambda: KMap(k=2, subset="s", values="yes"),  # type: ignore[arg-type]
        lambda: DeltaPresence(low=F(1, 2), high=F(1, 3), subset="s", values=("yes",)),
        lambda: DeltaPresence(low=F(0), high=F(2), subset="s", values=("yes",)),
        lambda: DeltaPresence(low=F(0), high=0.5, subset="s", values=("yes",)),  # type: ignore[arg-type]
    ):
        with pytest.raises(PolicyError):
            wrong()
    tally = table_of([("x", ["yes"])])
    with pytest.raises(PolicyError, match="no sensitive attribute"):
        KMap(k=1, subset="elsewhere", values=("yes",)).check(tally)
    loose = Tally(tally.quasi, tally.sensitive, None, np.ones(1, dtype=np.int64), Nulls.WILDCARD)
    with pytest.raises(UnsupportedError):
        KMap(k=1, subset="s", values=("yes",)).check(loose)
