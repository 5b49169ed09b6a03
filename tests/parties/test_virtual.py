"""Distributed Mondrian: the same groups as on all rows in one place, by a naive recursion of the spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import polars as pl
import pytest
from bench import adult, virtual
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.federation import codes
from tests.parties.parties import house, run

from privet.errors import InputError, PartyError, UnsatisfiableError, UnsupportedError
from privet.parties.primitives import ties as spreading
from privet.parties.primitives.around import Around
from privet.parties.primitives.extremes import Rounds, maxima
from privet.parties.transport import Link, together
from privet.parties.virtual.growing import Grown, grown
from privet.parties.virtual.rules import Boxes, Diversity, Halving, Rules, Ties
from privet.parties.virtual.sites import Alone, Among
from privet.parties.virtual.utility import lost
from privet.parties.words import Adding

WIDTHS = (100, 100)


def distributed(  # noqa: PLR0917 - rows, whose they are, and what is agreed on
    rows: Any,
    whose: Any,
    widths: tuple[int, ...],
    rules: Rules,
    adding: Adding = Adding.PAIRWISE,
    sites: int = 3,
) -> list[Grown]:
    return run(sites, lambda link: grown(rows[whose == link.me], widths, rules, Among(link, adding)))


# Spec 08, 4.5 and 4.6.

OUTCOMES = [
    ("strict", 2, 1, "LL LR RL RR"), ("strict", 2, 2, "LL LR RL RR"), ("strict", 2, 3, "L RL RR"),
    ("strict", 3, 1, "L R"), ("mondrian", 3, 1, "LL LR RL RR"), ("mondrian", 3, 2, "LL LR RL RR"),
    ("strict", 4, 2, "L R"), ("mondrian", 4, 2, "L R"),
]  # fmt: skip


@pytest.mark.parametrize("adding", Adding)
@pytest.mark.parametrize(("halving", "k", "sites", "leaves"), OUTCOMES)
def test_example_a(halving: str, k: int, sites: int, leaves: str, adding: Adding) -> None:
    found = distributed(*codes(), WIDTHS, Rules(k, sites, halving=Halving(halving)), adding)
    assert [" ".join(one.paths) for one in found] == [leaves] * 3


def test_boxes_sites_and_measures_of_example_a() -> None:
    found = distributed(*codes(), WIDTHS, Rules(2))
    boxes = [list(zip(low, high, strict=True)) for low, high in zip(found[0].low, found[0].high, strict=True)]
    assert boxes == [
        [(21, 24), (12, 41)], [(26, 29), (43, 48)], [(49, 58), (11, 31)], [(47, 61), (33, 38)],
    ]  # fmt: skip
    held = [{site for site, one in enumerate(found) if leaf in one.leaf} for leaf in range(4)]
    assert held == [{0, 1}, {1, 2}, {0, 1, 2}, {0, 1, 2}]
    four = lost(found[0].low, found[0].high, found[0].sizes)
    assert (four.discernibility, float(four.average), four.groups) == (36, 3.0, 4)
    two = distributed(*codes(), WIDTHS, Rules(4))[0]
    assert lost(two.low, two.high, two.sizes).discernibility == 72
    assert lost(two.low, two.high, two.sizes).average == 6


@pytest.mark.parametrize(("sites", "leaves"), [(1, "LL LR RL RR"), (2, "L RL RR"), (3, "L RL RR")])
def test_example_b_where_one_site_fills_a_group(sites: int, leaves: str) -> None:
    found = distributed(*codes(moved=True), WIDTHS, Rules(2, sites))
    assert " ".join(found[0].paths) == leaves
    if sites == 1:
        assert [0 in one.leaf for one in found] == [True, False, False], "the first group shows whose it is"


def test_the_probes_and_ties_of_example_a() -> None:
    """Spec 08, 4.5: 41, 31, 26, 29, 28 are probed; 29 is the median, 5 below, 6 above, one tie goes left."""
    rows, whose = codes()
    one = house(3)
    sums: list[list[int]] = []

    class Watched(Among):
        def total(self, mine: Any) -> Any:
            found = super().total(mine)
            if found is not None:
                sums.append(found.tolist())
            return found

    together(
        one, [lambda link: grown(rows[whose == link.me], WIDTHS, Rules(4), Watched(link, Adding.RING))] * 3
    )
    assert sums[0] == [12]
    assert sums[1:6] == [[6], [6], [4], [6], [5]]
    assert sums[6] == [5, 6]
    told = [
        np.frombuffer(p, dtype=np.uint32).tolist()
        for _, kind, p in one.links[1].traffic.transcript
        if kind == "ties"
    ]
    assert told == [[1, 1]]


def test_what_cannot_be_published_is_said_and_nothing_comes_out() -> None:
    rows, whose = codes()
    with pytest.raises(UnsatisfiableError, match="fewer than k"):
        distributed(rows, whose, WIDTHS, Rules(13))
    with pytest.raises(UnsatisfiableError, match="fewer sites"):
        distributed(rows[whose < 2], whose[whose < 2], WIDTHS, Rules(2, 3))
    with pytest.raises(UnsupportedError, match="more sites than there are"):
        distributed(rows, whose, WIDTHS, Rules(2, 4))
    with pytest.raises(UnsupportedError, match="three parties or more"):
        distributed(rows, whose % 2, WIDTHS, Rules(2), sites=2)


# A naive recursion, as the spec writes it, on all rows in one place.


def naive(rows: list[tuple[int, ...]], whose: list[int], rules: Rules) -> dict[str, list[int]]:
    """By path the rows of each leaf, ties ordered, depth first; sites counted in the open."""
    root = [max(row[a] for row in rows) - min(row[a] for row in rows) for a in range(len(rows[0]))]
    leaves: dict[str, list[int]] = {}

    def fine(some: list[int]) -> bool:
        return len(some) >= rules.k and rules.diverse(list(Counter(whose[at] for at in some).values()))

    def split(some: list[int], path: str) -> None:
        spans = {
            a: max(rows[at][a] for at in some) - min(rows[at][a] for at in some) for a in range(len(root))
        }
        shares = {a: Fraction(span, root[a]) for a, span in spans.items() if span}
        order = sorted(shares, key=lambda a: (-shares[a], a))
        rest = [*order, *(a for a in range(len(root)) if a not in order)]
        if rules.may_split(len(some)):
            for a in order:
                median = sorted(rows[at][a] for at in some)[(len(some) - 1) // 2]
                keys = [b for b in rest if b != a]
                ranked = sorted(some, key=lambda at: (rows[at][a], [rows[at][b] for b in keys]))
                left, right = ranked[: len(some) // 2], ranked[len(some) // 2 :]
                assert max(rows[at][a] for at in left) <= median <= min(rows[at][a] for at in right)
                if fine(left) and fine(right):
                    split(left, path + "L")
                    split(right, path + "R")
                    return
        leaves[path] = some

    split(list(range(len(rows))), "")
    return leaves


TABLES = st.integers(1, 3).flatmap(
    lambda wide: st.lists(st.tuples(*[st.integers(0, 9)] * wide), min_size=1, max_size=40)
)
RULES = st.builds(Rules, st.integers(1, 6), halving=st.sampled_from(Halving))


@given(rows=TABLES, rules=RULES)
@settings(max_examples=80)
def test_alone_it_is_mondrian(rows: list[tuple[int, ...]], rules: Rules) -> None:
    table = np.array(rows)
    widths = (10,) * table.shape[1]
    if len(rows) < rules.k:
        with pytest.raises(UnsatisfiableError):
            grown(table, widths, rules, Alone())
        return
    found = grown(table, widths, rules, Alone())
    want = naive(rows, [0] * len(rows), rules)
    assert sorted(want) == list(found.paths)
    for leaf, path in enumerate(found.paths):
        mine = sorted(rows[at] for at in np.flatnonzero(found.leaf == leaf))
        assert mine == sorted(rows[at] for at in want[path])
        assert found.low[leaf].tolist() == [min(row[a] for row in mine) for a in range(len(widths))]
        assert found.high[leaf].tolist() == [max(row[a] for row in mine) for a in range(len(widths))]


@pytest.mark.slow
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("k", [2, 5, 10])
def test_hundreds_of_splits(k: int, ties: Ties) -> None:
    """Rows that tie, over 3 to 8 sites; with `shuffle` sizes are those of one place whatever ties do."""
    rng = np.random.default_rng(k)
    for _ in range(50):
        rows = rng.integers(0, [40, 7, 2], size=(int(rng.integers(k, 300)), 3))
        sites = int(rng.integers(3, 9))
        whose = rng.integers(0, sites, size=len(rows))
        found = distributed(rows, whose, (40, 7, 2), Rules(k, ties=ties), Adding.RING, sites)
        counted = np.sum([np.bincount(one.leaf, minlength=len(found[0].sizes)) for one in found], axis=0)
        assert counted.tolist() == found[0].sizes.tolist()
        assert (found[0].sizes >= k).all()
        zero = (found[0].low == found[0].high).all(axis=1)
        assert ((found[0].sizes <= 2 * k) | zero).all()
        if not zero.any():
            alone = grown(rows, (40, 7, 2), Rules(k, ties=ties), Alone())
            if not (alone.low == alone.high).all(axis=1).any():
                assert sorted(alone.sizes.tolist()) == sorted(found[0].sizes.tolist())


@given(
    rows=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), min_size=4, max_size=40, unique=True),
    rules=RULES,
    sites=st.integers(3, 5),
    adding=st.sampled_from(Adding),
    data=st.data(),
)
@settings(max_examples=20)
def test_joint_groups_are_as_large_as_those_of_all_rows_in_one_place(
    rows: list[tuple[int, int]], rules: Rules, sites: int, adding: Adding, data: Any
) -> None:
    """Spec 08, acceptance 8: any split over any sites, of rows that differ; also sites without a row."""
    table, whose = np.array(rows), np.array([data.draw(st.integers(0, sites - 1)) for _ in rows])
    if len(rows) < rules.k:
        return
    found = distributed(table, whose, (30, 30), rules, adding, sites)
    alone = grown(table, (30, 30), rules, Alone())
    assert sorted(found[0].sizes.tolist()) == sorted(alone.sizes.tolist())
    assert found[0].paths == alone.paths
    for one in found[1:]:
        assert (one.low == found[0].low).all()
        assert (one.high == found[0].high).all()
        assert one.sizes.tolist() == found[0].sizes.tolist()
    counted = np.sum([np.bincount(one.leaf, minlength=len(alone.sizes)) for one in found], axis=0)
    assert counted.tolist() == found[0].sizes.tolist()
    most = 2 * rules.k if rules.halving is Halving.STRICT else 2 * rules.k - 1
    zero = (found[0].low == found[0].high).all(axis=1)
    assert ((found[0].sizes >= rules.k) & ((found[0].sizes <= max(most, rules.k)) | zero)).all()


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=6, max_size=40),
    k=st.integers(1, 4),
    sites=st.integers(2, 3),
    diversity=st.sampled_from(Diversity),
    ties=st.sampled_from(Ties),
    boxes=st.sampled_from(Boxes),
    data=st.data(),
)
@settings(max_examples=12)
def test_every_group_keeps_k_and_its_sites(  # noqa: PLR0917 - one of each
    rows: list[tuple[int, int]], k: int, sites: int, diversity: Diversity, ties: Ties, boxes: Boxes, data: Any
) -> None:
    table, whose = np.array(rows), np.array([data.draw(st.integers(0, 2)) for _ in rows])
    c = Fraction(3) if diversity is Diversity.RECURSIVE else None
    rules = Rules(k, sites, diversity, c, ties=ties, boxes=boxes)
    by_site = np.bincount(whose, minlength=3).tolist()
    if len(rows) < k or not rules.diverse(by_site):
        with pytest.raises(UnsatisfiableError):
            distributed(table, whose, (6, 6), rules)
        return
    found = distributed(table, whose, (6, 6), rules)
    for leaf, size in enumerate(found[0].sizes):
        here = [int((one.leaf == leaf).sum()) for one in found]
        assert sum(here) == size >= k
        assert rules.diverse(here)
    for site, one in enumerate(found):
        mine = table[whose == site]
        assert ((mine >= one.low[one.leaf]) & (mine <= one.high[one.leaf])).all()


def test_a_table_of_one_value_is_one_group() -> None:
    rows = np.full((12, 2), 7)
    found = distributed(rows, np.arange(12) % 3, (10, 10), Rules(2))
    assert found[0].paths == ("",)
    assert found[0].sizes.tolist() == [12]


# Site-diversity.


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(2, 4))
def test_entropy_without_logarithms(sizes: list[int], sites: int) -> None:
    total = sum(sizes)
    if not total:
        assert not Rules(1, sites, Diversity.ENTROPY).diverse(sizes)
        return
    entropy = -sum(s / total * log(s / total) for s in sizes if s)
    if abs(entropy - log(sites)) > 1e-9:
        assert Rules(1, sites, Diversity.ENTROPY).diverse(sizes) == (entropy > log(sites))
    else:
        assert Rules(1, sites, Diversity.ENTROPY).diverse(sizes), "equal shares are as many as they are"


@given(
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
    st.integers(1, 3),
    st.sampled_from(Diversity),
)
def test_diversity_survives_merging(one: list[int], other: list[int], sites: int, kind: Diversity) -> None:
    rules = Rules(1, sites, kind, Fraction(2) if kind is Diversity.RECURSIVE else None)
    if rules.diverse(one) and rules.diverse(other) and any(one) and any(other):
        assert rules.diverse([a + b for a, b in zip(one, other, strict=True)])


def test_rules_that_are_none() -> None:
    wrong: list[dict[str, Any]] = [
        {"k": 0}, {"k": 2, "sites": 0}, {"k": 2, "c": Fraction(1)},
        {"k": 2, "diversity": Diversity.RECURSIVE},
    ]  # fmt: skip
    for one in wrong:
        with pytest.raises(UnsupportedError):
            Rules(**one)


# Ties.


@given(
    data=st.data(),
    each=st.lists(st.integers(0, 6), min_size=3, max_size=5).filter(lambda some: sum(some) > 0),
)
@settings(max_examples=15)
def test_ties_go_left_as_often_as_agreed_and_evenly(data: Any, each: Any) -> None:
    total = sum(each)
    left = data.draw(st.integers(0, total))

    def part(link: Link) -> int:
        sizes = (np.array([number]) for number in (each[link.me], left, total))
        return int(spreading.spread(Around(link), *sizes)[0])

    found = run(len(each), part)
    assert sum(found) == left
    for mine, gone in zip(each, found, strict=True):
        assert abs(gone - mine * left / total) < 2, "about its share"


@given(st.integers(1, 12), st.data())
def test_owned_places_are_those_counted_one_by_one(total: int, data: Any) -> None:
    left = data.draw(st.integers(0, total))
    begin, mine = data.draw(st.integers(0, total - 1)), data.draw(st.integers(0, total))
    places = [(begin + step) % total for step in range(mine)]
    want = sum((p + 1) * left // total > p * left // total for p in places)
    arrays = (np.array([number]) for number in (begin, mine, left, total))
    assert spreading.owned(*arrays).tolist() == [want]


def test_a_site_that_counts_other_ties_than_it_has_is_noticed() -> None:
    def part(link: Link) -> Any:
        mine = np.array([2 if link.me == 1 else 1])
        return spreading.spread(Around(link), mine, np.array([1]), np.array([3]))

    with pytest.raises(PartyError, match="not as many as they counted"):
        run(3, part)


# Messages, and what they show.


@pytest.mark.parametrize("sites", [3, 5])
def test_messages_of_the_primitives(sites: int) -> None:
    """Spec 08, 3.10: n for a sum, for what is told and for ties; n (T + 1) for all extremes together."""

    def counted(part: Callable[[Among, Link], Any]) -> int:
        one = house(sites)
        together(one, [lambda link: part(Among(link, Adding.RING), link)] * sites)
        return sum(link.traffic.messages for link in one.links)

    zeros = np.zeros(4, dtype=np.int64)
    assert counted(lambda among, _: among.total(zeros.astype(np.uint32))) == sites
    words = np.zeros(4, dtype=np.uint8)
    assert counted(lambda among, link: among.tell("x", None if link.me else words, 4, np.uint8)) == sites
    assert counted(lambda among, _: among.largest(zeros, zeros == 0, 9)) == sites * (Rounds().rounds + 1)
    assert counted(lambda among, link: among.spread(zeros + (link.me == 0), zeros, zeros + 1)) == sites


def test_rounds_grow_with_depth_and_not_with_width() -> None:
    """Regions of one depth travel together: 8 times the rows, three depths more."""
    rng = np.random.default_rng(1)
    rounds = {}
    for count in (64, 512):
        rows = rng.integers(0, 1000, (count, 2))
        one = house(3, record=False)
        parts = [
            lambda link, r=rows: grown(r[link.me :: 3], (1000, 1000), Rules(4), Among(link, Adding.RING))
        ]
        found = together(one, parts * 3)
        rounds[count] = max(link.traffic.rounds for link in one.links), max(map(len, found[0].paths))
    per_depth = [taken / (depth + 1) for taken, depth in rounds.values()]
    assert rounds[512][1] == rounds[64][1] + 3
    assert max(per_depth) < 1.5 * min(per_depth)


def test_many_extremes_at_once_each_by_a_chance_of_its_own() -> None:
    values = np.arange(3 * 200).reshape(3, 200) % 97
    one = house(3)
    found = together(one, [lambda link: maxima(Around(link), values[link.me], values[link.me] >= 0, 96)] * 3)
    assert all(some.tolist() == values.max(axis=0).tolist() for some in found)
    first = next(
        p for _, kind, p in one.links[Around(one.links[0]).after].traffic.transcript if kind == "value"
    )
    seen = np.frombuffer(first, dtype=np.uint8)
    assert (seen < np.maximum(values[0], 1)).all(), "in the first round nobody tells the truth"
    assert len(set(seen.tolist())) > 20


def test_what_a_site_receives_is_on_the_list() -> None:
    """Spec 08, 3.11: kinds and sizes of all that travels; no row, and no count of one site."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 5000, (90, 2))
    one = house(3)
    together(
        one, [lambda link: grown(rows[link.me :: 3], (5000, 5000), Rules(5, 2), Among(link, Adding.RING))] * 3
    )
    kinds = {kind for link in one.links for _, kind, _ in link.traffic.transcript}
    assert kinds == {
        "ring",
        "root",
        "value",
        "largest",
        "may split",
        "enough",
        "ties",
        "place",
        "commit",
        "kept",
        "sizes",
    }
    extremes = set(rows.min(axis=0).tolist()) | set(rows.max(axis=0).tolist())
    for link in one.links:
        told = {
            int(value)
            for _, kind, p in link.traffic.transcript
            if kind == "largest"
            for value in np.frombuffer(p, dtype=np.uint16)
        }
        both = told | {4999 - value for value in told}
        assert extremes <= both
        for _, kind, payload in link.traffic.transcript:
            for row in rows[np.arange(90) % 3 != link.me]:
                assert row.astype("<i8").tobytes() not in payload
                assert row.astype("<u2").tobytes() not in payload or kind in {
                    "value",
                    "largest",
                    "ring",
                    "place",
                }


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("k", "groups", "squares"), [(25, 1024, 888678), (50, 512, 1776890)])
def test_adult_as_the_spec_counts_it(k: int, groups: int, squares: int) -> None:
    """Spec 08, 4.1 and 5.1: two questions on raw rows; groups of all rows in one place, of 3 sites and 10."""
    try:
        table = adult.load().head(30_162)
    except InputError:
        pytest.skip("Adult is not here and cannot be fetched")
    ages = table["age"].cast(pl.String) == "55"
    assert (ages.sum(), (ages & (table["native-country"] == "Mexico")).sum()) == (386, 2)
    rows, widths = virtual.coded(table)
    found = [grown(rows, widths, Rules(k), Alone())]
    found += [virtual.distributed(rows, widths, Rules(k), sites)[0][0] for sites in (3, 10)]
    for one in found:
        assert (len(one.sizes), int((one.sizes**2).sum())) == (groups, squares)
        assert one.sizes.min() >= k
        assert one.sizes.max() <= 2 * k


MASKED = {"ring", "place", "value", "masked"}  # chance over it: see the tests of sums, ties and extremes


@pytest.mark.parametrize("adding", Adding)
def test_what_a_site_is_told_does_not_depend_on_whose_the_others_rows_are(adding: Adding) -> None:
    """Spec 08, 3.11: beside what is masked a site hears of the union only, so dealing the others' rows anew
    among them changes nothing that it receives; and at sites that do not add up, not a count at all.
    """
    rng = np.random.default_rng(11)
    rows = np.stack([rng.permutation(400)[:60], rng.permutation(400)[:60]], axis=1)  # no two are alike
    mine, others = rows[:20], rows[20:]
    heard: list[dict[int, list[tuple[str, bytes]]]] = []
    for order in (np.arange(40), rng.permutation(40)):
        dealt = others[order]
        parts = [dealt[:13], dealt[13:26], dealt[26:], mine]
        one = house(4)
        together(
            one,
            [lambda link, p=parts: grown(p[link.me], (400, 400), Rules(4), Among(link, adding))] * 4,  # type: ignore[misc]
        )
        heard.append(
            {
                at: [(kind, p) for _, kind, p in one.links[at].traffic.transcript if kind != "key"]
                for at in (0, 3)
            }
        )
    for at in (0, 3):
        plain = [[entry for entry in run_[at] if entry[0] not in MASKED] for run_ in heard]
        assert plain[0] == plain[1]
        assert [(kind, len(p)) for kind, p in heard[0][at]] == [(kind, len(p)) for kind, p in heard[1][at]]
    assert {kind for kind, _ in heard[0][3]} - MASKED == {
        "root", "largest", "may split", "enough", "ties", "commit", "kept", "sizes",
    }  # fmt: skip


def test_measures_merge_leaves_with_the_same_box() -> None:
    low, high = np.array([[0, 0], [0, 0], [5, 0]]), np.array([[4, 9], [4, 9], [9, 9]])
    found = lost(low, high, np.array([3, 4, 5]))
    assert (found.groups, float(found.average), found.discernibility) == (2, 6.0, 49 + 25)
    assert found.ncp == (Fraction(4, 9) * 12 + 12) / 24


def test_a_first_site_that_lies_about_ties_is_noticed() -> None:
    class Lying(Among):
        def tell(self, kind: str, words: Any, count: int, dtype: Any) -> Any:
            if kind == "ties" and words is not None:
                words = words.copy()
                words[count // 2 :] = 0
            return super().tell(kind, words, count, dtype)

    rows, whose = codes()
    with pytest.raises(PartyError, match="not as large as the sites counted"):
        run(3, lambda link: grown(rows[whose == link.me], WIDTHS, Rules(2), Lying(link, Adding.RING)))
