"""Mondrian against the same cuts made box by box, and against what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.counts.boxing import CellBoxes
from privet.domain import Domain, Node, flat
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.hierarchy import Intervals, Tree
from privet.models.classcheck import ClassCheck
from privet.models.classes import Classes
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity
from privet.recoding import Regions
from privet.relational.judge import Judge
from privet.relational.mondrian import Choice, Cuts, Mondrian, Output
from privet.relational.ranges import covering, labelled
from privet.testing import class_models, policy_for, tallies

STRICT = [
    Mondrian(),
    Mondrian(choice=Choice.BEST),
    Mondrian(cuts=Cuts.HIERARCHY),
    Mondrian(cuts=Cuts.HIERARCHY, choice=Choice.BEST),
]


class Twin:
    """One box after the other, one cut after the other; no arrays."""

    def __init__(self, tally: Tally, promises: Sequence[PrivacyModel], search: Mondrian) -> None:
        self.tally, self.promises, self.search = tally, promises, search
        self.trees = [c.domain.halved for c in tally.quasi]
        self.k = max((p.k for p in promises if isinstance(p, KAnonymity)), default=1)

    def run(self) -> set[frozenset[int]]:
        found, todo = set(), [list(range(self.tally.cells))]
        while todo:
            box = todo.pop()
            parts = self.cut(box)
            if parts is None:
                found.add(frozenset(box))
            else:
                todo += parts
        return found

    def cut(self, box: list[int]) -> list[list[int]] | None:
        wide = []
        for at, column in enumerate(self.tally.quasi):
            codes = [int(column.codes[cell]) for cell in box]
            if min(codes) < max(codes):  # weighed as the search weighs: rounding a product makes ties
                share = 1 / len(self.tally.quasi)
                wide.append((-self.loss(at, min(codes), max(codes)) * share, at))
        for _, at in sorted(wide):
            parts = self.best(at, box)
            if parts is not None and all(map(self.keeps, parts)):
                return parts
        return None

    def loss(self, at: int, low: int, high: int) -> float:
        domain = self.tally.quasi[at].domain
        if self.search.cuts is Cuts.HIERARCHY:
            return domain.loss(covering(self.trees[at], low, high))
        return place(domain, high) - place(domain, low)

    def best(self, at: int, box: list[int]) -> list[list[int]] | None:
        codes = self.tally.quasi[at].codes
        low, high = min(int(codes[c]) for c in box), max(int(codes[c]) for c in box)
        found = None
        for last in range(low, high):
            if self.search.cuts is Cuts.HIERARCHY:
                starts = [child.lo for child in covering(self.trees[at], low, high).children]
                if last + 1 not in starts:
                    continue
            parts = [[c for c in box if codes[c] <= last], [c for c in box if codes[c] > last]]
            left, right = (sum(int(self.tally.counts[c]) for c in part) for part in parts)
            if min(left, right) < self.k or not min(map(len, parts)):
                continue
            score = abs(left - right) * 1.0
            if self.search.choice is Choice.BEST:  # values between the parts that nobody has are in neither
                end, start = max(int(codes[c]) for c in parts[0]), min(int(codes[c]) for c in parts[1])
                score = left * self.loss(at, low, end) + right * self.loss(at, start, high)
            if found is None or score < found[0]:
                found = (score, parts)
        return found[1] if found else None

    def keeps(self, box: list[int]) -> bool:
        """A box as a class beside one that holds all the rest, so that the table is the whole table."""
        here = np.isin(np.arange(self.tally.cells), box)
        for promise in self.promises:
            if isinstance(promise, KAnonymity):
                if int(self.tally.counts[here].sum()) < promise.k:
                    return False
                continue
            two = flat(("in", "out"))
            beside = Tally(
                (Column("box", two, two.column(np.where(here, 0, 1))),),
                self.tally.sensitive,
                None,
                self.tally.counts,
            )

            assert isinstance(promise, ClassCheck)
            classes = Classes.of(beside, "test")
            number = int(classes.of_cell[box[0]])
            if any(promise.read(classes.histogram(beside, name)).bad[number] for name in promise.sensitive):
                return False
        return True


def place(domain: Domain, code: int) -> float:
    scale = domain.scale
    if scale is None or scale.numbers[0] == scale.numbers[-1]:
        return code / max(1, domain.size - 1)
    if code >= len(scale.numbers):
        return 1.0
    low, high = scale.numbers[0], scale.numbers[-1]
    return float((scale.numbers[code] - low) / (high - low))


def boxes(tally: Tally, promises: Sequence[PrivacyModel], search: Mondrian) -> set[frozenset[int]]:
    judge = Judge(tally, promises)
    found = CellBoxes(tally, judge.sensitive)
    search.boxes(tally, found, judge)
    return {frozenset(np.flatnonzero(found.of_cell == at).tolist()) for at in range(found.count)}


@pytest.mark.one_in(2)
@settings(max_examples=25)
@given(st.data())
@pytest.mark.parametrize("search", STRICT)
def test_all_boxes_at_once_are_cut_like_one_by_one(search: Mondrian, data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False, cells=25))
    names = tuple(column.name for column in tally.sensitive)
    others = st.builds(DistinctLDiversity, l=st.integers(1, 2), sensitive=st.just(names))
    promises: list[PrivacyModel] = [KAnonymity(k=data.draw(st.integers(1, 5)))]
    promises += data.draw(st.lists(others, max_size=1))
    assert boxes(tally, promises, search) == Twin(tally, promises, search).run()


@pytest.mark.one_in(2)
@settings(max_examples=25)
@given(st.data())
@pytest.mark.parametrize("search", [*STRICT, Mondrian(relaxed=True)])
def test_every_promise_is_kept_and_every_record_published(search: Mondrian, data: st.DataObject) -> None:
    tally = data.draw(tallies(target=False, cells=25))
    promises = [
        KAnonymity(k=data.draw(st.integers(1, 5))),
        *data.draw(st.lists(class_models(tally), max_size=1)),
    ]
    try:
        recoding = search.search(tally, policy_for(tally, promises, search)).recoding
    except (UnsatisfiableError, UnsupportedError):
        return
    assert isinstance(recoding, Regions)
    published = tally.recoded(recoding)
    assert published.records == tally.records
    assert all(promise.check(published).holds for promise in promises)
    for column in tally.quasi:
        nodes, at = recoding.nodes[column.name], recoding.positions[column.name]
        assert all(nodes[i].lo <= code < nodes[i].hi for i, code in zip(at, column.codes, strict=True))


def points(*rows: tuple[int, int]) -> Tally:
    columns = []
    for at in range(2):
        values = [str(row[at]) for row in rows]
        domain = Intervals().domain(values)
        codes = np.array([domain.codes[value] for value in values], dtype=np.intp)
        columns.append(Column("xy"[at], domain, domain.column(codes)))
    return Tally(tuple(columns), (), None, np.ones(len(rows), dtype=np.int64))


def test_the_best_cut_is_judged_by_the_ranges_that_are_published() -> None:
    # Four a, one b, two d, nobody c. Behind a the parts lose (4 * 0 + 3 * 2) / 4, behind b (5 + 2 * 0) / 4;
    # with c in the one or the other part the second would be 7 / 4 at least, and the first would be taken.
    letters = flat(("a", "b", "c", "d", "e"))
    column = Column("x", letters, letters.column(np.array([0, 1, 3])))
    tally = Tally((column,), (), None, np.array([4, 1, 2]))
    best = boxes(tally, [KAnonymity(k=2)], Mondrian(choice=Choice.BEST))
    assert best == {frozenset({0, 1}), frozenset({2})}


def test_what_could_not_be_cut_in_the_whole_is_tried_again_under_a_lower_node() -> None:
    # Right of ab and cd is one record; where y is p everybody is under ab, and a and b part.
    jobs = Tree.of({"Any": {"ab": ["a", "b"], "cd": ["c", "d"]}}).domain(["a", "b", "c", "d"])
    two = flat(("p", "q"))
    x = Column("x", jobs, jobs.column(np.array([0, 1, 0, 2])))
    y = Column("y", two, two.column(np.array([0, 0, 1, 1])))
    tally = Tally((x, y), (), None, np.array([2, 2, 2, 1]))
    found = boxes(tally, [KAnonymity(k=2)], Mondrian(cuts=Cuts.HIERARCHY))
    assert found == {frozenset({0}), frozenset({1}), frozenset({2, 3})}


CROSS = [(5, 5), (5, 5), (1, 5), (2, 5), (8, 5), (9, 5), (5, 1), (5, 2), (5, 8), (5, 9)]


def test_a_cross_has_no_strict_cut_and_a_relaxed_one() -> None:
    # Spec 09, section 4.12: ten points are m + 2d(k - 1), as many as a strict box can keep.
    tally = points(*CROSS)
    assert len(boxes(tally, [KAnonymity(k=3)], Mondrian())) == 1
    relaxed = boxes(tally, [KAnonymity(k=3)], Mondrian(relaxed=True))
    assert len(relaxed) > 1
    assert all(3 <= len(box) <= 5 for box in relaxed)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40), st.integers(1, 4))
def test_relaxed_boxes_are_small_and_strict_ones_bounded(rows: list[tuple[int, int]], k: int) -> None:
    tally = points(*rows)
    if len(rows) < k:
        return
    for box in boxes(tally, [KAnonymity(k=k)], Mondrian(relaxed=True)):
        alike = len({rows[cell] for cell in box}) == 1
        assert k <= len(box)
        assert len(box) <= 2 * k - 1 or alike
    for box in boxes(tally, [KAnonymity(k=k)], Mondrian()):
        inside = [rows[cell] for cell in box]
        assert k <= len(box) <= max(inside.count(row) for row in inside) + 2 * 2 * (k - 1)


def test_how_boxes_are_published() -> None:
    tally = points((1, 5), (2, 5), (8, 6), (9, 7))
    policy = policy_for(tally, [KAnonymity(k=2)], Mondrian())

    def shown(search: Mondrian) -> list[tuple[Any, ...]]:
        published = tally.recoded(search.search(tally, policy).recoding)
        return [tuple(c.domain.values[int(c.codes[at])] for c in published.quasi) for at in range(4)]

    assert shown(Mondrian()) == [("[1-3)", "5"), ("[1-3)", "5"), ("[8-10)", "[6-8)"), ("[8-10)", "[6-8)")]
    assert shown(Mondrian(output=Output.MEANS)) == [
        ("1.5", "5"),
        ("1.5", "5"),
        ("8.5", "6.5"),
        ("8.5", "6.5"),
    ]


def test_ranges_of_categories_are_their_nodes_or_say_what_is_in_them() -> None:
    jobs = Tree.of({"Any": {"Artist": ["Dancer", "Writer"], "Lawyer": ["Judge", "Notary"]}}).domain(
        ["Judge", None]
    )
    assert labelled(jobs, 0, 1).label == "Artist"
    assert labelled(jobs, 2, 2).label == "Judge"
    assert labelled(jobs, 1, 2) == Node("{Writer, Judge}", 1, 3)
    assert labelled(jobs, 3, 4).label == "{Notary, null}"
    assert labelled(jobs, 4, 4).label is None


def test_what_cannot_work_is_refused() -> None:
    tally = points(*CROSS)
    with pytest.raises(PolicyError, match="relaxed cuts in the middle"):
        Mondrian(relaxed=True, cuts=Cuts.HIERARCHY)
    with pytest.raises(UnsatisfiableError, match="largest feasible k is 10"):
        Mondrian().search(tally, policy_for(tally, [KAnonymity(k=11)], Mondrian()))
    wild = Tally(tally.quasi, (), None, tally.counts, Nulls.WILDCARD)
    with pytest.raises(UnsupportedError, match="wildcard"):
        Mondrian().search(wild, policy_for(wild, [KAnonymity(k=2)], Mondrian()))
