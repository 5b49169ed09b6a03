"""The baseline: slower to lose than to check, so the checks are those of every release."""

from __future__ import annotations

from fractions import Fraction

import pytest
from bench.repair import KAnonThenRepair
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.forests import SCHEMA, collections

from privet.document.audit import audit
from privet.document.edits import published
from privet.document.forest import Forest, Vertex
from privet.document.truth import truthful
from privet.errors import PolicyError, UnsatisfiableError


@settings(max_examples=40, deadline=None)
@given(
    collections(4, 10), st.integers(2, 3), st.sampled_from([0, Fraction(1, 2), 1]), st.sampled_from([1, 150])
)
def test_releases_are_safe_and_true(records: list[Vertex], l: int, threshold: Fraction, climit: int) -> None:
    forest = Forest.of(SCHEMA, records)
    edits = KAnonThenRepair(climit=climit, threshold=Fraction(threshold)).cluster(forest, l)
    everybody = sorted([*edits.suppressed, *(m for group in edits.classes for m in group.members)])
    assert everybody == list(range(len(records)))
    release = list(published(forest, edits))
    assert audit(SCHEMA, release, l).holds
    assert truthful(SCHEMA, records, release).holds


def test_what_clashes_is_cut_afterwards() -> None:
    """Alike but for one course in which both have the same grade: it goes, with the book below it."""
    records = [
        Vertex(
            "student",
            (gpa, "1993", "golf"),
            (
                Vertex("course", ("M1", "A", None), (Vertex("book", ("b1", price)),)),
                Vertex("course", ("CS201", grade, None)),
            ),
        )
        for gpa, price, grade in (("0.5", "1", "B"), ("1.5", "2", "C"))
    ]
    forest = Forest.of(SCHEMA, records)
    (group,) = KAnonThenRepair().cluster(forest, 2).classes
    assert [SCHEMA.kinds[kind].name for kind in group.rep.kinds] == ["student", "course"]
    assert group.rep.parents.tolist() == [-1, 0]
    assert group.rep.ends.tolist() == [2, 2]


def test_a_class_whose_roots_clash_joins_another_or_goes() -> None:
    def record(gpa: str) -> Vertex:
        return Vertex("student", (gpa, "1993", "golf"))

    near = Forest.of(SCHEMA, [record(gpa) for gpa in ("0.5", "1.5", "2.5", "2.6")])
    edits = KAnonThenRepair(threshold=Fraction(1)).cluster(near, 2)
    assert [sorted(group.members) for group in edits.classes] == [[0, 1, 2, 3]]
    clash = Forest.of(SCHEMA, [record("2.6") for _ in range(4)])
    assert KAnonThenRepair(threshold=Fraction(1)).cluster(clash, 2).suppressed == (0, 1, 2, 3)


def test_wrong_parameters() -> None:
    with pytest.raises(PolicyError):
        KAnonThenRepair(climit=0)
    with pytest.raises(PolicyError):
        KAnonThenRepair(threshold=Fraction(2))
    with pytest.raises(UnsatisfiableError):
        KAnonThenRepair().cluster(Forest.of(SCHEMA, []), 2)
