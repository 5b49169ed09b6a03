"""Plain suppression against records and cells written out."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import rows_of
from tests.relational.enumerated import breaking
from tests.tables import tally_of

from privet.core import PrivacyModel, Tally
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.models.lkc import LKC
from privet.models.personal import PersonalisedPrivacy
from privet.models.tcloseness import Distance, TCloseness
from privet.recoding import Regions
from privet.relational.suppression import Mode, Suppression
from privet.testing import class_models, policy_for, tallies

CELLS = Suppression(mode=Mode.CELLS)


def searched(tally: Tally, promises: tuple[PrivacyModel, ...], how: Suppression) -> Regions | None:
    try:
        found = how.search(tally, policy_for(tally, promises, how)).recoding
    except UnsatisfiableError:
        return None
    assert isinstance(found, Regions)
    return found


def supported(promises: tuple[PrivacyModel, ...]) -> bool:
    return not any("risk" in model.name for model in promises)


@settings(max_examples=150)
@given(st.data())
def test_records_of_classes_that_break_a_promise_go_until_none_does(data: Any) -> None:
    tally = data.draw(tallies())
    promises = tuple(data.draw(st.lists(class_models(tally), min_size=1, max_size=2)))
    if not supported(promises):
        return
    found = searched(tally, promises, Suppression())
    kept = np.ones(tally.cells, dtype=bool)
    while kept.any() and (gone := breaking(tally.where(kept), promises)).any():
        kept[np.flatnonzero(kept)[gone]] = False
    if not kept.any():
        assert found is None
        return
    assert found is not None
    assert (kept if found.kept is None else found.kept).tolist() == kept.tolist()
    for column in tally.quasi:
        nodes = [found.nodes[column.name][at] for at in found.positions[column.name].tolist()]
        assert [n.label for n in nodes] == [column.domain.values[c] for c in column.codes.tolist()]


def cells_by_hand(tally: Tally, k: int, l: int) -> list[list[str | None] | None]:
    """Each record with stars, or None: the cheapest set of columns first, then the leftmost kept."""
    rows, names = rows_of(tally), [column.name for column in tally.quasi]
    tells = [column.domain.size > 1 for column in tally.quasi]
    roots = [column.domain.root.label for column in tally.quasi]
    found: list[list[str | None] | None] = [None] * len(rows)
    free = set(range(len(rows)))
    ways = sorted(product((False, True), repeat=len(names)), key=lambda way: sum(np.array(way) & tells))
    for way in ways:
        groups: dict[tuple[str | None, ...], list[int]] = {}
        for at in sorted(free):
            known = (
                roots[i] if star else rows[at][n] for i, (n, star) in enumerate(zip(names, way, strict=True))
            )
            groups.setdefault(tuple(known), []).append(at)
        for labels, members in groups.items():
            if len(members) >= k and len({rows[at]["s0"] for at in members}) >= l:
                free -= set(members)
                for at in members:
                    found[at] = list(labels)
    return found


@settings(max_examples=150)
@given(tallies(sensitive=1), st.integers(1, 4), st.integers(1, 2))
def test_as_few_cells_are_starred_as_it_takes(tally: Tally, k: int, l: int) -> None:
    promises = (KAnonymity(k=k), DistinctLDiversity(l=l, sensitive=("s0",)))
    expected = cells_by_hand(tally, k, l)
    found = searched(tally, promises, CELLS)
    if not any(expected):
        assert found is None
        return
    assert found is not None
    cells = np.repeat(np.arange(tally.cells), tally.counts)
    kept = np.ones(tally.cells, dtype=bool) if found.kept is None else found.kept
    made = [
        [found.nodes[c.name][int(found.positions[c.name][cell])].label for c in tally.quasi]
        if kept[cell]
        else None
        for cell in cells.tolist()
    ]
    assert made == expected


@settings(max_examples=100)
@given(st.data())
def test_whatever_is_starred_keeps_every_promise(data: Any) -> None:
    tally = data.draw(tallies())
    promises = tuple(data.draw(st.lists(class_models(tally), min_size=1, max_size=2)))
    found = searched(tally, promises, CELLS) if supported(promises) else None
    if found is not None:
        assert all(model.check(tally.recoded(found)).holds for model in promises)


def test_classes_that_only_break_when_others_are_gone_go_too() -> None:
    """t-closeness compares with what is left, and dropping one class moves that."""
    tally = tally_of(
        {"town": ["A"] * 4 + ["B"] * 4 + ["C"] * 8},
        sensitive={"ill": ["x"] * 4 + ["x", "x", "y", "y"] + ["y"] * 5 + ["x"] * 3},
    )
    promise = TCloseness(t=Fraction(1, 4), sensitive=("ill",), distance=Distance.EQUAL)
    found = searched(tally, (promise,), Suppression())
    assert found is not None
    assert promise.check(tally.recoded(found)).holds
    assert tally.recoded(found).records == 12


def test_a_limit_is_a_limit() -> None:
    tally = tally_of({"age": [20, 20, 20, 30]})
    within = Suppression(suppression=Fraction(1, 4))
    assert searched(tally, (KAnonymity(k=2),), within) is not None
    below = Suppression(suppression=Fraction(24, 100))
    with pytest.raises(UnsatisfiableError, match="1 of 4 records break a promise, and 6/25"):
        below.search(tally, policy_for(tally, (KAnonymity(k=2),), below))


@pytest.mark.parametrize("mode", Mode)
def test_a_promise_about_parts_of_the_columns_names_no_class(mode: Mode) -> None:
    tally = tally_of({"age": [20, 30], "town": ["A", "B"]}, sensitive={"ill": ["x", "y"]})
    promise = LKC(l=1, k=2, c=Fraction(1, 2), sensitive=("ill",))
    with pytest.raises(UnsupportedError, match=r"suppression needs .* lkc-privacy"):
        Suppression(mode).search(tally, policy_for(tally, (promise,), Suppression(mode)))


@pytest.mark.parametrize("mode", Mode)
def test_a_promise_that_is_not_about_classes_by_themselves_is_refused(mode: Mode) -> None:
    tally = tally_of({"age": [20, 20, 30, 30]}, sensitive={"ill": ["x", "y", "x", "y"]})
    promise = PersonalisedPrivacy(
        at_most=Fraction(1, 2), sensitive=("ill",), guard="ill", tree={"any": ["x", "y"]}
    )
    with pytest.raises(UnsupportedError, match="personalised-privacy"):
        searched(tally, (promise,), Suppression(mode))


def test_weights_say_which_cells_are_kept() -> None:
    tally = tally_of({"age": [20, 20, 30, 30], "town": ["A", "B", "A", "B"]})

    def starred(weights: dict[str, float]) -> list[str]:
        found = searched(tally, (KAnonymity(k=2),), Suppression(mode=Mode.CELLS, weights=weights))
        assert found is not None
        return [c.name for c in tally.quasi if (found.positions[c.name] == c.domain.size).all()]

    assert starred({"town": 3}) == ["age"]
    assert starred({"age": 3}) == ["town"]
    with pytest.raises(PolicyError, match="age is a number from 0 on"):
        Suppression(weights={"age": -1})
