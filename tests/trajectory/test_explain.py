"""The tables of the rounds, as the source prints them, and the promises that go by other names."""

from __future__ import annotations

from fractions import Fraction

from tests.trajectory.naive import Record, promise, read, tally, words
from tests.trajectory.test_golden import TABLE_4_1

from privet.models.confidence import ConfidenceBounding
from privet.models.kanonymity import KAnonymity
from privet.models.lkc import LKC
from privet.trajectory.audit import audit
from privet.trajectory.explain import Round, rounds
from privet.trajectory.suppress import PointScore, Suppress, Thinning

SENSITIVE = {"diagnosis": ["AIDS"]}


def found(l: int = 2) -> Thinning:
    raw = read(TABLE_4_1, sensitive="diagnosis")
    asked = LKC(l=l, k=2, c=Fraction(1, 2), sensitive=SENSITIVE)
    return Suppress(at_least=2).search(raw.paths, asked.linkage())


def table(one: Round) -> dict[str, tuple[int, int, Fraction]]:
    return {c.label: (c.gain, c.loss + 1, c.score) for c in one.candidates}


def test_tables_4_4_and_4_5() -> None:
    first, second = rounds(found(), PointScore.GAIN_PER_LOSS)
    assert table(first) == {
        "b2": (3, 4, Fraction(3, 4)),
        "d3": (1, 4, Fraction(1, 4)),
        "c4": (3, 2, Fraction(3, 2)),
        "f6": (1, 5, Fraction(1, 5)),
        "c7": (1, 6, Fraction(1, 6)),  # the source truncates to 0.16
        "e8": (1, 5, Fraction(1, 5)),
    }
    assert table(second) == {
        "b2": (2, 4, Fraction(1, 2)),
        "d3": (1, 3, Fraction(1, 3)),
        "f6": (1, 4, Fraction(1, 4)),
    }
    assert [first.winner.label, second.winner.label] == ["c4", "b2"]
    assert [first.violations, second.violations] == [5, 2]


def test_lines_hide_values_unless_asked() -> None:
    first, _ = rounds(found(), PointScore.GAIN_PER_LOSS)
    assert first.lines(show_values=True, most=2) == [
        "round 1: 5 violating sequences, 6 points in them",
        "  c4: gain 3, loss 1, score 1.5  <- removed",
        "  b2: gain 3, loss 3, score 0.75",
        "  and 4 more",
    ]
    hidden = "\n".join(first.lines()) + repr(first)
    assert not [label for label in ("b2", "c4", "f6") if label in hidden]


def test_k_anonymity_and_confidence_bounding_are_presets() -> None:
    """L is as long as the longest path; then C is 1, or K is 1 (spec 02, 2.3)."""
    raw = read(TABLE_4_1, sensitive="diagnosis")
    anonymous = Suppress(2).search(raw.paths, KAnonymity(k=2).linkage())
    assert [removal.label for removal in anonymous.removals] == ["c4", "f6", "e8", "d3"]
    longest = LKC(l=7, k=2, c=Fraction(1), sensitive=SENSITIVE).linkage()
    assert anonymous.removals == Suppress(2).search(raw.paths, longest).removals
    half = ConfidenceBounding(sensitive={"diagnosis": {"AIDS": Fraction(1, 2)}})
    bounded = Suppress(2).search(raw.paths, half.linkage())
    same = LKC(l=7, k=1, c=Fraction(1, 2), sensitive=SENSITIVE).linkage()
    assert bounded.removals == Suppress(2).search(raw.paths, same).removals
    assert {"b2d3", "b2c4", "b2f6", "c4c7"} <= words(bounded.violations.labels())
    left = raw.paths.without(removal.point for removal in bounded.removals)
    assert audit(left, half.linkage()).verdict.holds


def test_several_promises_are_kept_together() -> None:
    raw = read(TABLE_4_1, sensitive="diagnosis")
    weak, strong = (
        LKC(l=3, k=2, c=Fraction(1), sensitive=SENSITIVE).linkage(),
        LKC(l=1, k=4, c=Fraction(1, 2), sensitive=SENSITIVE).linkage(),
    )
    both = Suppress(2).search(raw.paths, [weak, strong])
    left = raw.paths.without(removal.point for removal in both.removals)
    assert audit(left, weak).verdict.holds
    assert audit(left, strong).verdict.holds
    # c4, c5 and d3 are in fewer than four records: what violates with them is no longer minimal.
    assert {("c4",), ("c5",), ("d3",)} == {one for one in both.violations.labels() if len(one) == 1}
    assert not [one for one in both.violations.labels() if len(one) > 1 and {"c4", "c5", "d3"} & {*one}]


def test_no_violation_no_round() -> None:
    nothing = Suppress(1).search(tally([(((1, "a"),), "s")]), promise(1, 1, Fraction(1)))
    assert list(rounds(nothing, PointScore.GAIN)) == []


def test_of_equals_the_winner_stands_first() -> None:
    """Both points solve one sequence and cost nothing; the later one is taken, for fewer visit it."""
    rows: list[Record] = [(((1, "a"),), "s"), (((1, "a"),), "s"), (((2, "b"),), "s")]
    thinned = Suppress(3).search(tally(rows), promise(1, 3, Fraction(1)))
    first, second = rounds(thinned, PointScore.GAIN_PER_LOSS)
    assert [one.label for one in first.candidates] == ["b2", "a1"]
    assert first.winner.label == "b2"
    assert [one.label for one in second.candidates] == ["a1"]
    (cut, _) = rounds(thinned, PointScore.GAIN_PER_LOSS, 1)
    assert [one.label for one in cut.candidates] == ["b2"]
    assert cut.points == 2
    assert cut.lines(most=1)[-1] == "  and 1 more"
