"""The auditor against the definition, against weak releases, and apart from the search."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import (
    VALUES,
    Record,
    dense,
    matching,
    occurring,
    promise,
    records,
    tally,
    violating,
)

from privet.errors import PolicyError, UnsupportedError
from privet.models.linkage import Linkage
from privet.models.template import EVERY, Template
from privet.trajectory import audit as auditor
from privet.trajectory import choose, exact, frequent, local, proof, suppress, violations
from privet.trajectory import known as writer
from privet.trajectory.audit import audit, link
from privet.trajectory.known import Knowledge

SHARES = st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)])


def text(known: frozenset[tuple[int, str]]) -> str:
    return "".join(f"{place}{when}" for when, place in sorted(known))


@settings(max_examples=500)
@given(
    records(),
    st.one_of(st.none(), st.integers(1, 5)),
    st.integers(1, 5),
    SHARES,
    st.sets(st.sampled_from(VALUES)),
)
def test_equals_the_definition(
    rows: list[Record], l: int | None, k: int, c: Fraction, protected: set[str]
) -> None:
    asked = promise(l, k, c, sorted(protected))
    found = audit(tally(rows), asked)
    expected = violating(rows, asked)
    assert sorted("".join(one.labels) for one in found.violations) == sorted(map(text, expected))
    assert found.verdict.broken == len(expected)
    assert found.verdict.at_risk == sum(any(known <= set(path) for known in expected) for path, _ in rows)
    every = occurring(rows, l)
    assert sum(one.sequences for one in found.by_length) == len(every)
    sizes = [len(matching(rows, known)) for known in every]
    assert found.verdict.achieved["k"] == min(sizes, default=len(rows))
    if protected and c < 1:
        assert found.verdict.achieved["c"] == max(
            (
                Fraction(sum(s == value for _, s in match), len(match))
                for known in every
                for match in [matching(rows, known)]
                for value in protected
            ),
            default=0,
        )


@settings(max_examples=300)
@given(
    records(times=3),
    st.integers(1, 3),
    st.integers(1, 4),
    SHARES,
    st.sampled_from([Knowledge.PLACES, Knowledge.TIMES]),
)
def test_partial_knowledge_equals_its_definition(
    rows: list[Record], l: int, k: int, c: Fraction, knowledge: Knowledge
) -> None:
    """Forget the time (or the place) of every visit, and ask the same of what is left."""
    part: Callable[[tuple[int, str]], tuple[int, str]] = (
        (lambda visit: (0, visit[1])) if knowledge is Knowledge.PLACES else (lambda visit: (visit[0], "x"))
    )
    forgotten = [(tuple(sorted({part(visit) for visit in path})), status) for path, status in rows]
    asked = promise(l, k, c)
    found = audit(tally(rows), asked, knowledge)
    assert found.verdict.broken == len(violating(forgotten, asked))


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_turns_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    paths = tally(dense(np.random.default_rng(1), rows=60, times=5, places="abc", stays=0.8))
    asked = promise(3, 2, Fraction(1, 2))
    whole = audit(paths, asked)
    monkeypatch.setattr(writer, "AT_ONCE", at_once)
    parts = audit(paths, asked)
    assert (parts.verdict, parts.by_length) == (whole.verdict, whole.by_length)
    assert set(parts.violations) == set(whole.violations)
    assert whole.verdict.broken


@pytest.mark.parametrize("knowledge", Knowledge)
def test_records_of_whom_the_same_is_known_are_counted_together(knowledge: Knowledge) -> None:
    """A cell for each record, or one for all that agree: the same verdict, and the same risk."""
    rows = dense(np.random.default_rng(3), rows=80, times=4, places="ab", stays=0.6)
    asked = promise(3, 60, Fraction(1, 2), ("s", "t"))
    merged, apart = (audit(tally(rows, merge=merge), asked, knowledge) for merge in (True, False))
    assert (merged.verdict, merged.by_length) == (apart.verdict, apart.by_length)
    assert merged.verdict.at_risk > 0


def test_sequences_too_long_for_one_number_are_ranked() -> None:
    """So many points in twelve steps do not fit into 64 bits."""
    rows = dense(np.random.default_rng(2), rows=6, times=13, places="abcd", stays=1)
    asked = promise(13, 2, Fraction(1, 2))
    assert len({visit for path, _ in rows for visit in path}) ** 12 > 2**64
    found = audit(tally(rows), asked)
    twelve = {text(known) for known in violating(rows, asked) if len(known) >= 12}
    assert {"".join(one.labels) for one in found.violations if len(one.labels) >= 12} == twelve
    assert [one.sequences for one in found.by_length][-1] == len({path for path, _ in rows})


def test_numbers_beyond_64_bits_are_compared_exactly() -> None:
    rows: list[Record] = [(((1, "a"),), "s"), (((1, "a"),), "t"), (((1, "a"),), "t")]
    assert not audit(tally(rows), promise(1, 1, Fraction(10**30, 3 * 10**30 + 1))).verdict.holds
    assert audit(tally(rows), promise(1, 1, Fraction(10**30 + 1, 3 * 10**30 + 1))).verdict.holds


def test_nothing_left_to_know_keeps_every_promise() -> None:
    found = audit(tally([((), "s"), ((), "s")]), promise(3, 5, Fraction(1, 10)))
    assert found.verdict.holds
    assert found.by_length == ()


def test_every_value_can_be_protected_at_once() -> None:
    rows: list[Record] = [(((1, "a"),), "u"), (((1, "a"),), "u"), (((1, "a"),), "t")]
    every = Linkage(1, 1, (Template("status", EVERY, Fraction(1, 2)),))
    assert audit(tally(rows), every).verdict.achieved["c"] == Fraction(2, 3)


def test_what_it_cannot_check_it_refuses() -> None:
    rows: list[Record] = [(((1, "a"),), "u")]
    with pytest.raises(PolicyError, match="no sensitive attribute"):
        audit(tally(rows), Linkage(1, 1, (Template("illness", "s", Fraction(1, 2)),)))
    with pytest.raises(UnsupportedError, match="nothing about paths"):
        audit(tally(rows), Linkage(1, 1, (), quasi=("age",)))


@given(
    records(),
    st.lists(
        st.tuples(st.one_of(st.none(), st.sampled_from("ab")), st.one_of(st.none(), st.integers(1, 4))),
        max_size=3,
    ),
)
def test_linking_equals_its_definition(
    rows: list[Record], known: list[tuple[str | None, int | None]]
) -> None:
    match = [
        status
        for path, status in rows
        if all(
            any(place in {None, at} and when in {None, time} for time, at in path) for place, when in known
        )
    ]
    found = link(tally(rows), [(place, None if when is None else str(when)) for place, when in known])
    assert found.records == len(match)
    assert found.shares["status"] == (
        {value: Fraction(match.count(value), len(match)) for value in VALUES} if match else {}
    )
    assert sum(tally(rows).counts[found.cells]) == len(match)


def test_the_auditor_shares_no_code_with_the_search() -> None:
    """Nor do the searches look at how it writes sequences out."""
    assert ours(auditor) == {
        "privet.core",
        "privet.equality",  # when two values are equal is one rule
        "privet.errors",
        "privet.models.linkage",
        "privet.models.template",
        "privet.trajectory.claims",  # what a proof looks like, nothing that searches
        "privet.trajectory.known",
        "privet.trajectory.paths",
    }
    assert ours(writer) == {"privet.trajectory.paths"}
    for search in (choose, exact, frequent, local, proof, suppress, violations):
        assert not ours(search) & {"privet.trajectory.audit", "privet.trajectory.known"}


def ours(module: ModuleType) -> set[str]:
    """The modules of this package that a module imports."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return {name for name in found if name.startswith("privet.")}
