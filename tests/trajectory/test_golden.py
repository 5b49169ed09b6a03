"""Every worked example of spec 02, section 4: the tables of Mohammed (2012), chapter 4, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import polars as pl
import pytest
from tests.trajectory.naive import read, words

from privet.engines.trajectories.column import PathColumn
from privet.models.confidence import ConfidenceBounding
from privet.models.kanonymity import KAnonymity
from privet.models.linkage import Linkage
from privet.models.lkc import LKC
from privet.trajectory.audit import audit, link
from privet.trajectory.frequent import frequent
from privet.trajectory.known import Knowledge
from privet.trajectory.paths import Paths
from privet.trajectory.suppress import PointScore, Suppress, Thinning, lost
from privet.trajectory.trees import Remaining, branches
from privet.trajectory.violations import violations

TABLE_4_1 = """\
id,path,diagnosis
1,b2 d3 c4 f6 c7,AIDS
2,f6 c7 e8,Flu
3,d3 c4 f6 e8,Fever
4,b2 c5 c7 e8,Flu
5,d3 c7 e8,Fever
6,c5 f6 e8,Diabetes
7,b2 f6 c7 e8,Diabetes
8,b2 c5 f6 c7,AIDS
"""
TABLE_4_2 = """\
id,path,diagnosis
1,d3 f6 c7,AIDS
2,f6 c7 e8,Flu
3,d3 f6 e8,Fever
4,c5 c7 e8,Flu
5,d3 c7 e8,Fever
6,c5 f6 e8,Diabetes
7,f6 c7 e8,Diabetes
8,c5 f6 c7,AIDS
"""
TABLE_4_3 = """\
id,path,status
1,a1 d2,Flu
2,a1 b2,AIDS
3,a1 b2 c3,AIDS
4,a1 b2 c3,Fever
"""
PRUNING = """\
id,path
1,a1 b2 c3
2,a1 b2 c3
3,a1 b2 d4
4,a1 b2 d4
5,a1 b2 c3 d4
"""
HALF, WHOLE = Fraction(1, 2), Fraction(1)
AIDS = {"diagnosis": ["AIDS"]}


def lkc(l: int, k: int, c: Fraction, column: str = "diagnosis") -> Linkage:
    return LKC(l=l, k=k, c=c, sensitive={column: ["AIDS"]}).linkage()


@pytest.fixture(scope="module")
def raw() -> PathColumn:
    return read(TABLE_4_1, sensitive="diagnosis")


@pytest.fixture(scope="module")
def paths(raw: PathColumn) -> Paths:
    return raw.paths


def pairs(*labels: str) -> list[tuple[str | None, str | None]]:
    return [(label[0], label[1:]) for label in labels]


# --- 4.1 ---------------------------------------------------------------------------------------------


def test_instances(paths: Paths) -> None:
    found = dict(zip(paths.points.labels, paths.instances.tolist(), strict=True))
    assert found == {"b2": 4, "d3": 3, "c4": 2, "c5": 3, "f6": 6, "c7": 6, "e8": 6}
    assert paths.dimensions == 7


def test_linkage(paths: Paths) -> None:
    assert link(paths, pairs("f6", "c7")).records == 4
    b2d3 = link(paths, pairs("b2", "d3"))
    assert b2d3.records == 1
    assert b2d3.shares["diagnosis"]["AIDS"] == 1
    b2f6 = link(paths, pairs("b2", "f6"))
    assert b2f6.records == 3
    assert b2f6.shares["diagnosis"]["AIDS"] == Fraction(2, 3)


def test_violating_sequences_of_the_raw_data(paths: Paths) -> None:
    found = {"".join(one.labels): one for one in audit(paths, lkc(2, 2, HALF)).violations}
    assert found["b2c4"].support == 1
    assert found["b2f6"].share == Fraction(2, 3)
    assert "b2c5f6c7" not in found
    longer = {"".join(one.labels) for one in audit(paths, lkc(3, 2, HALF)).violations}
    assert {"b2d3", "b2d3c4"} <= longer
    assert len(longer) == 24


def test_whole_trajectories_that_repeat(paths: Paths) -> None:
    """Two smallest sets where whole paths must occur twice; three points do for every subsequence."""

    def repeats(gone: Sequence[int]) -> bool:
        left = paths.without(gone)
        whole = [left.path(cell) for cell in range(left.cells)]
        return all(path == () or whole.count(path) >= 2 for path in whole)

    labels = paths.points.labels
    smallest = next(
        found
        for size in range(8)
        if (found := [{labels[p] for p in some} for some in combinations(range(7), size) if repeats(some)])
    )
    assert smallest == [{"b2", "d3", "c4", "c5"}, {"d3", "c4", "c5", "f6"}]
    three = [labels.index(label) for label in ("b2", "c7", "e8")]
    assert audit(paths.without(three), KAnonymity(k=2).linkage()).verdict.holds


# --- 4.2 ---------------------------------------------------------------------------------------------

L2 = "b2d3 b2c4 b2f6 c4c7 c4e8"
L3 = f"{L2} b2c5e8 c5c7e8 c5f6c7 c5f6e8 d3c7e8 d3f6c7 d3f6e8"


@pytest.mark.parametrize(
    ("l", "k", "c", "expected"),
    [
        (2, 2, HALF, L2),
        (3, 2, HALF, L3),
        (4, 2, HALF, L3),
        (7, 2, HALF, L3),
        (2, 3, HALF, "c4 b2d3 b2c5 b2f6 b2e8 d3f6 d3c7 d3e8 c5f6 c5c7 c5e8"),
        (2, 2, WHOLE, "b2d3 b2c4 c4c7 c4e8"),
        (2, 1, HALF, "b2d3 b2c4 b2f6 c4c7"),
    ],
)
def test_minimal_violating_sequences(paths: Paths, l: int, k: int, c: Fraction, expected: str) -> None:
    assert words(violations(paths, lkc(l, k, c)).labels()) == set(expected.split())


def test_violating_points(paths: Paths) -> None:
    found = violations(paths, lkc(2, 2, HALF))
    assert {paths.points.labels[p] for p in found.members.tolist()} == {"b2", "d3", "c4", "f6", "c7", "e8"}


# --- 4.3 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (1, "b2d3c4f6c7 d3c4f6e8 b2c5c7e8 d3c7e8 c5f6e8 b2f6c7e8 b2c5f6c7"),
        (2, "b2c5c7 b2f6c7 b2c7e8 d3c4f6 f6c7e8 c5f6 c5e8 d3c7 d3e8"),
        (3, "c5 d3 c7e8 f6e8 b2f6c7"),
        (4, "b2c7 c7e8 f6c7 f6e8"),
    ],
)
def test_maximal_frequent_sequences(paths: Paths, least: int, expected: str) -> None:
    assert words(frequent(paths, least).labels()) == set(expected.split())


# --- 4.4 ---------------------------------------------------------------------------------------------


def test_trees(paths: Paths) -> None:
    bad, good = violations(paths, lkc(2, 2, HALF)), frequent(paths, 2)
    assert str(branches(bad)) == "root:5 [b2:3 [d3:1, c4:1, f6:1], c4:2 [c7:1, e8:1]]"
    assert str(branches(good)) == (
        "root:9 [b2:3 [c5:1 [c7:1], f6:1 [c7:1], c7:1 [e8:1]], d3:3 [c4:1 [f6:1], c7:1, e8:1], "
        "c5:2 [f6:1, e8:1], f6:1 [c7:1 [e8:1]]]"
    )
    c4 = paths.points.labels.index("c4")
    assert str(branches(bad.without([c4]))) == "root:2 [b2:2 [d3:1, f6:1]]"
    assert str(branches(good.without([c4]))) == (
        "root:8 [b2:3 [c5:1 [c7:1], f6:1 [c7:1], c7:1 [e8:1]], d3:2 [c7:1, e8:1], "
        "c5:2 [f6:1, e8:1], f6:1 [c7:1 [e8:1]]]"
    )


def test_scores_before_and_after_c4(paths: Paths) -> None:
    gains, losses = Remaining(violations(paths, lkc(2, 2, HALF))), Remaining(frequent(paths, 2))

    def table() -> dict[str, tuple[int, int, Fraction]]:
        return {
            label: (int(gain), int(loss) + 1, PointScore.GAIN_PER_LOSS.of(int(gain), int(loss)))
            for label, gain, loss in zip(paths.points.labels, gains.counts, losses.counts, strict=True)
            if gain
        }

    assert table() == {
        "b2": (3, 4, Fraction(3, 4)),
        "d3": (1, 4, Fraction(1, 4)),
        "c4": (3, 2, Fraction(3, 2)),
        "f6": (1, 5, Fraction(1, 5)),
        "c7": (1, 6, Fraction(1, 6)),
        "e8": (1, 5, Fraction(1, 5)),
    }
    c4 = paths.points.labels.index("c4")
    gains.remove(c4)
    losses.remove(c4)
    assert table() == {
        "b2": (2, 4, Fraction(1, 2)),
        "d3": (1, 3, Fraction(1, 3)),
        "f6": (1, 4, Fraction(1, 4)),
    }


# --- 4.5 ---------------------------------------------------------------------------------------------


def test_table_4_2(raw: PathColumn) -> None:
    found = Suppress(at_least=2).search(raw.paths, lkc(2, 2, HALF))
    assert [removal.label for removal in found.removals] == ["c4", "b2"]
    published = raw.without(found.suppression.codes(raw.paths.points))
    assert published.equals(pl.read_csv(TABLE_4_2.encode(), infer_schema=False))
    assert audit(read(TABLE_4_2, sensitive="diagnosis").paths, lkc(2, 2, HALF)).verdict.holds


def test_the_other_set_that_the_source_names_passes_too(paths: Paths) -> None:
    gone = [paths.points.labels.index(label) for label in ("b2", "c7", "e8")]
    assert audit(paths.without(gone), lkc(2, 2, HALF)).verdict.holds


def test_table_4_2_fails_at_length_3() -> None:
    found = audit(read(TABLE_4_2, sensitive="diagnosis").paths, lkc(3, 2, HALF))
    expected = {"c5c7e8", "c5f6c7", "c5f6e8", "d3c7e8", "d3f6c7", "d3f6e8"}
    assert {"".join(one.labels) for one in found.violations} == expected
    assert [one.broken for one in found.by_length] == [0, 0, 6]


S1, S2, S3 = PointScore.GAIN_PER_LOSS, PointScore.GAIN, PointScore.LEAST_LOSS
FIVE = "c5e8 c5f6 d3c7 d3e8 f6c7e8"


@pytest.mark.parametrize(
    ("l", "k", "c", "score", "winners", "surviving", "ninths"),
    [
        (2, 2, HALF, S1, "c4/3/1 b2/2/3", FIVE, (4, 2)),
        (2, 2, HALF, S2, "c4/3/1 b2/2/3", FIVE, (4, 2)),
        (2, 2, HALF, S3, "c4/3/1 d3/1/2 b2/1/3", "c5e8 c5f6 f6c7e8", (6, 5)),
        (3, 2, HALF, S1, "c4/3/1 d3/4/2 c5/4/3 b2/1/2", "f6c7e8", (8, 8)),
        (7, 2, WHOLE, S1, "c4/3/1 f6/6/3 e8/3/3 d3/1/1", "b2c5c7", (8, 8)),
        (2, 2, WHOLE, S1, "c4/3/1 d3/1/2", 6, (3, 3)),
        (1, 2, HALF, S1, "", 9, (0, 0)),
        (1, 3, HALF, S1, "c4/1/1", 8, (1, 0)),
        (2, 3, HALF, S1, "d3/4/3 c5/4/3 c4/1/0 b2/2/2", "f6c7e8", (8, 8)),
    ],
)
def test_further_runs(  # noqa: PLR0917 - the columns of the table
    paths: Paths,
    l: int,
    k: int,
    c: Fraction,
    score: PointScore,
    winners: str,
    surviving: str | int,
    ninths: tuple[int, int],
) -> None:
    found = Suppress(at_least=2, score=score).search(paths, lkc(l, k, c))
    assert [f"{r.label}/{r.gain}/{r.loss}" for r in found.removals] == winners.split()
    if isinstance(surviving, int):
        assert len(found.surviving) == surviving
    else:
        assert words(found.surviving.labels()) == set(surviving.split())
    again = frequent(paths.without(r.point for r in found.removals), 2)
    assert (found.loss, lost(len(found.patterns), len(again))) == tuple(Fraction(n, 9) for n in ninths)


def test_what_mining_anew_finds(paths: Paths) -> None:
    found = Suppress(at_least=2).search(paths, lkc(2, 2, HALF))
    again = frequent(paths.without(r.point for r in found.removals), 2)
    assert words(again.labels()) - words(found.patterns.labels()) == {"c5c7", "d3f6"}


# --- 4.6 and 4.7 -------------------------------------------------------------------------------------


def test_pruning_from_four_points_on() -> None:
    """The literal pseudo-code also returns a1b2c3d4."""
    paths = read(PRUNING).paths
    assert words(violations(paths, Linkage(4, 2, ())).labels()) == {"c3d4"}


def test_a_promise_for_three_points_says_nothing_about_two() -> None:
    """Table 4.3; the source prints 100 % for a1b2, it is two thirds."""
    paths = read(TABLE_4_3, sensitive="status").paths
    asked = lkc(3, 2, HALF, "status")
    found = audit(paths, asked)
    assert {"".join(one.labels) for one in found.violations} == {"b2", "d2", "a1b2", "a1d2"}
    assert [one.broken for one in found.by_length] == [2, 2, 0]
    assert next(one.share for one in found.violations if one.labels == ("a1", "b2")) == Fraction(2, 3)
    assert words(violations(paths, asked).labels()) == {"b2", "d2"}


def test_knowing_a_place_without_its_time_can_tell_more() -> None:
    text = "id,path,status\n1,a1,AIDS\n2,a1,AIDS\n3,a2,AIDS\n4,a2,AIDS\n5,a1 a2,n\n6,a1 a2,n\n"
    paths, asked = read(text, sensitive="status").paths, lkc(2, 2, HALF, "status")
    assert audit(paths, asked).verdict.holds
    by_place = audit(paths, asked, Knowledge.PLACES)
    assert not by_place.verdict.holds
    assert by_place.verdict.achieved == {"k": 6, "c": Fraction(2, 3)}
    assert by_place.verdict.at_risk == 6
    assert link(paths, [("a", None)]).shares["status"]["AIDS"] == Fraction(2, 3)
    assert audit(paths, asked, Knowledge.TIMES).verdict.holds


# --- presets -----------------------------------------------------------------------------------------


def test_presets_are_the_models_of_tables(paths: Paths) -> None:
    def same(one: Linkage, other: Linkage) -> None:
        assert violations(paths, one).tuples() == violations(paths, other).tuples()

    same(KAnonymity(k=2).linkage(), lkc(7, 2, WHOLE))
    same(ConfidenceBounding(sensitive={"diagnosis": {"AIDS": HALF}}).linkage(), lkc(7, 1, HALF))


def test_the_log_can_be_shown_like_that_of_any_search(paths: Paths) -> None:
    found: Thinning = Suppress(at_least=2).search(paths, lkc(2, 2, HALF))
    step = found.removals[0].step("path")
    assert (step.attribute, step.label, step.score, step.performed) == ("path", "c4", 1.5, True)
