"""Worked examples of hierarchical anatomy: Ozalp (2017), chapter 3, as rebuilt in the specification."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import polars as pl
import pytest
from tests.document.anatomised import (
    FIGURE_33,
    FIGURE_34,
    FIRST,
    PATIENTS,
    SECOND,
    bags,
    joined,
    merged,
    patients,
    published,
    rules,
    seeded,
    sets,
    values,
)

from privet.document.anatomy import Anatomize
from privet.document.anatomy_audit import audit
from privet.document.anatomy_measure import suppression_accuracy
from privet.document.anatomy_merge import Group, Grove, alone, merge
from privet.document.anatomy_rules import eta_max, limits, tail
from privet.document.described import described
from privet.document.estimate import Chances, expected
from privet.document.forest import NONE, Forest, Vertex
from privet.document.posterior import linked, posterior, worlds
from privet.document.publication import publish, sensitive_value, with_sensitive
from privet.document.query import Query, Step, count
from privet.document.style import Style
from privet.engines.documents.publication_tables import to_tables

AIDS = ("AIDS", 1, "1/2")
POISONED = ("Alcohol P.", 2, "1/2")
POISONED_4 = ("Alcohol P.", 2, "1/4")
STYLES = list(Style)


# ---- A1: tables are trees of one vertex

TABLE = described({"types": {"person": {"quasi": ["age", "sex", "nationality"], "sensitive": "disease"}}})
ROWS = [
    ("42", "M", "Ukrainian", "Hearth Disease"),
    ("46", "M", "Romanian", "Flu"),
    ("54", "F", "Turkish", "Bronchitis"),
    ("51", "F", "Italian", "Dyspepsia"),
    ("24", "M", "German", "Pneumonia"),
    ("22", "F", "German", "Gastritis"),
]


def test_a1_tabular_anatomy() -> None:
    forest = Forest.of(TABLE, [Vertex("person", row) for row in ROWS])
    found = Anatomize(2).search(forest)
    assert [group.members for group in found.groups] == [(0, 1), (2, 3), (4, 5)]
    publication, links = publish(found, seeded(1))
    tables = to_tables(publication)
    qi = tables["person"].select("age", "sex", "nationality", "group").sort("age").rows()
    sa = tables["sensitive"].filter(pl.col("type") == "person").select("group", "value", "count")
    number = {
        group.id: {member // 2 + 1 for member in members}.pop()
        for group, members in zip(publication.groups, links.qi, strict=True)
    }
    assert sorted((*row[:3], number[row[3]]) for row in qi) == sorted(
        (*row[:3], at // 2 + 1) for at, row in enumerate(ROWS)
    )
    assert sorted((number[g], v, n) for g, v, n in sa.rows()) == sorted(
        (at // 2 + 1, row[3], 1) for at, row in enumerate(ROWS)
    )
    group = next(g for g in publication.groups if number[g.id] == 1)
    ukrainian = next(at for at, tree in enumerate(group.qi) if tree.values[0] == "42")
    half = Fraction(1, 2)
    assert posterior(publication, group, ukrainian) == [{"Hearth Disease": half, "Flu": half}]


# ---- A2 to A5: two patients


@pytest.mark.parametrize("style", STYLES)
def test_a3_diversity_alone_loses_nothing_and_is_not_enough(style: Style) -> None:
    for records in (patients(), patients()[::-1]):
        group = merged(records, PATIENTS, Anatomize(2, style=style))
        assert group is not None
        assert [set(v) for v in values(group, records, PATIENTS)] == [
            {"0+", "AB-"},
            {"Alcohol P.", "AIDS"},
            {"Alcohol P.", "AIDS"},
            {"Diaria", "Flu"},
            {"AIDS", "Cold"},
        ]
    found = Anatomize(2, style=style).search(Forest.of(PATIENTS, patients()))
    publication, _ = publish(found, seeded(0))
    assert found.cost() == 0
    assert audit(publication, 2).holds
    told = audit(publication, 2, rules(AIDS))
    assert not told.holds
    expected_confidence = Fraction(1) if style is Style.TREES else Fraction(7, 8)
    assert list(told.confidence.values()) == [expected_confidence]
    for tree in range(2):
        assert linked(publication, publication.groups[0], tree, "AIDS", m=1) == expected_confidence


def test_a4_figure_3_3_is_valid(tmp_path: Path) -> None:
    publication = published(tmp_path, FIGURE_33)
    assert audit(publication, 2, rules(AIDS, POISONED)).holds
    assert not audit(publication, 3).holds
    broken = audit(publication, 2, rules(POISONED_4))
    assert not broken.holds
    assert list(broken.confidence.values()) == [Fraction(1, 2)]


def test_a4_the_algorithm_in_t_t() -> None:
    for records in (patients(), patients()[::-1]):
        group = merged(records, PATIENTS, Anatomize(2, rules(AIDS, POISONED)))
        assert group is not None
        assert [set(v) for v in values(group, records, PATIENTS)] == [
            {"0+", "AB-"},
            {"Alcohol P.", "AIDS"},
            {"Alcohol P.", "AIDS"},
            {"Diaria", "Flu"},
        ]
        strict = merged(records, PATIENTS, Anatomize(2, rules(AIDS, POISONED_4)))
        assert strict is not None
        assert [set(v) for v in values(strict, records, PATIENTS)] == [
            {"0+", "AB-"},
            {"Alcohol P.", "AIDS"},
            {"Diaria", "AIDS"},
        ]
    forest = Forest.of(PATIENTS, patients())
    found = Anatomize(2, rules(AIDS, POISONED)).search(forest)
    assert found.cost() == 2
    assert suppression_accuracy(found) == Fraction(4, 5)
    assert Anatomize(2, rules(AIDS, POISONED_4)).search(forest).cost() == 4


def orders() -> list[list[Vertex]]:
    """All 1152 orders of siblings and seeds."""
    ways = [patients(a, b) for a, b in product(permutations(FIRST), permutations(SECOND))]
    return ways + [way[::-1] for way in ways]


FIGURE_33_BAGS = {
    frozenset(pair)
    for pair in (("0+", "AB-"), ("Alcohol P.", "AIDS"), ("Alcohol P.", "Flu"), ("Diaria", "Cold"))
}


def aligned(group: Group | None, forest: Forest) -> bool:
    """Is this the alignment that the figures draw, less the years, which are lost?"""
    assert group is not None
    return bags(group, forest) == FIGURE_33_BAGS


def test_a4_a5_how_often_the_figures_come_out() -> None:
    trees = vertices = 0
    for records in orders():
        forest = Forest.of(PATIENTS, records)
        trees += aligned(joined(forest, Anatomize(2, rules(AIDS, POISONED))), forest)
        vertices += aligned(joined(forest, Anatomize(2, rules(AIDS, POISONED_4), Style.VERTICES)), forest)
    assert (trees, vertices) == (128, 280)


def test_a5_figure_3_4(tmp_path: Path) -> None:
    strict = rules(AIDS, POISONED_4)
    for records in (patients(), patients()[::-1]):
        found = Anatomize(2, strict, Style.VERTICES).search(Forest.of(PATIENTS, records))
        assert found.cost() == 2
        assert sets(found) == [
            [{"0+", "AB-"}, {"AIDS", "Alcohol P."}, {"Alcohol P.", "Flu"}, {"Cold", "Diaria"}]
        ]
        publication, _ = publish(found, seeded(3))
        assert audit(publication, 2, strict).holds
    publication = published(tmp_path, FIGURE_34)
    told = audit(publication, 2, strict)
    assert told.holds
    assert list(told.confidence.values()) == [Fraction(1, 2), Fraction(1, 4)]
    forest = Forest.of(PATIENTS, patients())
    group = Anatomize(2, strict, Style.VERTICES).search(forest).groups[0]
    kept = {int(v) for v in group.vertices.ravel()}
    lost = {forest.values(v) for v in range(forest.vertices) if v not in kept}
    assert lost == {("2008", "AIDS"), ("2006", "AIDS")}


def test_a5_all_sixteen_reconstructions(tmp_path: Path) -> None:
    publication = published(tmp_path, FIGURE_34)
    group = publication.groups[0]
    first = group.qi[0]
    names = [v.values[-1] for v in first.walk()]
    dealt = [list(group.bags[str(name)]) for name in names]
    ways = [with_sensitive(first, iter(pick), PATIENTS) for pick in product(*dealt)]
    assert len(ways) == 16
    ill = [Counter(sensitive_value(v, PATIENTS) for v in tree.walk()) for tree in ways]
    truth = ["0+", "Alcohol P.", "Alcohol P.", "Diaria"]
    right = sum([sensitive_value(v, PATIENTS) for v in tree.walk()] == truth for tree in ways)
    assert (sum(i["AIDS"] >= 1 for i in ill), sum(i["Alcohol P."] >= 2 for i in ill)) == (8, 4)
    assert (sum(i["Alcohol P."] >= 1 for i in ill), right) == (12, 1)
    assert linked(publication, group, 0, "AIDS", m=1) == Fraction(8, 16)
    assert linked(publication, group, 0, "Alcohol P.", m=2) == Fraction(4, 16)
    assert linked(publication, group, 0, "Alcohol P.", m=1) == Fraction(12, 16)
    assert len(list(worlds(published(tmp_path, FIGURE_33), published(tmp_path, FIGURE_33).groups[0]))) == 2


# ---- A6: one known sensitive value


def test_a6_a_known_value(tmp_path: Path) -> None:
    for figure, belief in ((FIGURE_33, 1), (FIGURE_34, Fraction(1, 2))):
        publication = published(tmp_path, figure)
        group = publication.groups[0]
        who = next(at for at, tree in enumerate(group.qi) if tree.values[0] == "46")
        told = posterior(publication, group, who, {(who, 3): "Cold"})
        assert told[1] is not None
        assert told[1]["AIDS"] == belief
        assert told[3] == {"Cold": Fraction(1)}


# ---- A7: neither style implies the other

TYPES = {"r": {"sensitive": "root", "children": {"items": "item"}}, "item": {"sensitive": "value"}}
FLAT = described({"types": TYPES})


def flat(root: str, *items: str) -> Vertex:
    return Vertex("r", (root,), tuple(Vertex("item", (item,)) for item in items))


@pytest.mark.parametrize(
    ("first", "second", "rule", "trees", "vertices"),
    [
        (("s", "s"), ("x", "y"), ("s", 1, "1/2"), Fraction(1, 2), Fraction(3, 4)),
        (("s", "x"), ("y", "s"), ("s", 2, "1/5"), Fraction(0), Fraction(1, 4)),
        (("s", "x"), ("y", "s"), ("s", 1, "3/4"), Fraction(1), Fraction(3, 4)),
    ],
)
def test_a7_incomparable(
    first: tuple[str, ...],
    second: tuple[str, ...],
    rule: tuple[str, int, str],
    trees: Fraction,
    vertices: Fraction,
) -> None:
    forest = Forest.of(FLAT, [flat("A", *first), flat("B", *second)])
    for style, confidence in ((Style.TREES, trees), (Style.VERTICES, vertices)):
        found = Anatomize(2, style=style).search(forest)
        assert found.cost() == 0
        told = audit(publish(found, seeded(0))[0], 2, rules(rule))
        assert list(told.confidence.values()) == [confidence]
        assert told.holds == (confidence <= Fraction(rule[2]))


def test_a7_d(tmp_path: Path) -> None:
    assert not audit(published(tmp_path, FIGURE_33), 2, rules(POISONED_4)).holds
    assert audit(published(tmp_path, FIGURE_34), 2, rules(POISONED_4)).holds


# ---- A8: in how many groups a value may occur

ETA = """
2 1 0 0 1 2
2 2 2 2 3 4
2 3 3 4 5 6
2 5 7 7 9 11
3 1 0 1 1 3
3 2 2 3 4 7
3 3 5 6 7 10
3 5 10 11 13 17
4 1 1 1 2 4
4 2 3 4 6 9
4 3 7 8 10 14
4 5 13 15 18 23
"""


@pytest.mark.parametrize("line", ETA.split("\n")[1:-1])
def test_a8_eta_max(line: str) -> None:
    l, m, *most = map(int, line.split())
    shares = [Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)]
    assert [eta_max(l, m, p) for p in shares] == most
    third = most[1] - (l == 3 and m == 1)
    assert eta_max(l, m, Fraction("0.33")) == third
    for p, eta in zip(shares, most, strict=True):
        assert tail(eta, m, Fraction(1, l)) <= p < tail(eta + 1, m, Fraction(1, l))


def test_a8_settings_of_the_query_experiment() -> None:
    forest = Forest.of(FLAT, [flat("A", "s"), flat("B", "t")])
    for l, p, mu in ((2, "0.5", 1), (3, "0.33", 0), (4, "0.25", 1)):
        found = limits(forest, rules(("*", 2, p)), l)
        assert set(found.mu.tolist()) == {mu}
        assert set(found.eta.tolist()) == {3}


def test_equality_is_not_lost_to_rounding() -> None:
    assert tail(2, 2, Fraction(1, 2)) == Fraction(1, 4)


# ---- A9: scope and denominator


@pytest.mark.parametrize(
    ("p", "left"),
    [
        ("1/3", [("A", "B", "O"), ("s", "y", "u"), ("s", "z", "t"), ("x", "w", "r")]),
        ("0.33", [("A", "B", "O"), ("s", "y", "u"), ("x", "z", "t")]),
    ],
)
def test_a9(p: str, left: list[tuple[str, ...]]) -> None:
    records = [flat("A", "s", "s", "x"), flat("B", "y", "z", "w"), flat("O", "u", "t", "r")]
    group = merged(records, FLAT, Anatomize(3, rules(("s", 2, p))))
    assert group is not None
    assert values(group, records, FLAT) == left


# ---- A10: recursion, types, conflicts at the root

STUDENTS = described(
    {
        "types": {
            "student": {"sensitive": "gpa", "children": {"courses": "course"}},
            "course": {"sensitive": "grade", "children": {"evaluations": "evaluation", "books": "book"}},
            "evaluation": {"sensitive": "score"},
            "book": {"sensitive": "price"},
        },
        "attributes": {"gpa": {"buckets": {"from": 0, "to": 4, "width": "0.5"}}},
    }
)


def book(price: int) -> Vertex:
    return Vertex("book", (str(price),))


def course(grade: str, *below: Vertex) -> Vertex:
    return Vertex("course", (grade,), below)


def student(gpa: str, *courses: Vertex) -> Vertex:
    return Vertex("student", (gpa,), courses)


X = student("3.0", course("A", book(20)), course("B"))
Y = student("2.0", course("A"), course("C", book(20), book(30)))


def test_a10() -> None:
    how = Anatomize(2)
    group = merged([X, Y], STUDENTS, how)
    assert group is not None
    assert values(group, [X, Y], STUDENTS) == [("3.0", "2.0"), ("A", "C"), ("20", "30"), ("B", "A")]
    assert group.parents.tolist() == [NONE, 0, 1, 0]
    other = merged([Y, X], STUDENTS, how)
    assert other is not None
    assert values(other, [Y, X], STUDENTS) == [("2.0", "3.0"), ("A", "B"), ("C", "A"), ("30", "20")]
    found = how.search(Forest.of(STUDENTS, [X, Y]))
    assert found.cost() == 1
    assert suppression_accuracy(found) == Fraction(9, 10)


def test_a10_the_root_and_the_type() -> None:
    alike = student("3.1", course("C"))
    assert merged([X, alike], STUDENTS, Anatomize(2)) is None
    score = Vertex("evaluation", ("1",))
    one, other = student("1.0", course("A", score, book(2))), student("2.0", course("B", book(3)))
    group = merged([one, other], STUDENTS, Anatomize(2))
    assert group is not None
    assert values(group, [one, other], STUDENTS) == [("1.0", "2.0"), ("A", "B"), ("2", "3")]


# ---- A11: level order is not shape


def test_a11_level_order_is_not_shape(tmp_path: Path) -> None:
    def tree(*children: int) -> object:
        return {"gpa": None, "courses": [{"books": [{}] * n} if n else {} for n in children]}

    text = {
        "method": "t-t",
        "l": 2,
        "groups": [{"id": "g0", "qi_trees": [tree(2, 0), tree(1, 1)], "sa_trees": []}],
    }
    told = audit(published(tmp_path, text, STUDENTS), 2)
    assert ["different shapes" in str(finding) for finding in told.findings] == [True]


# ---- A12: queries


def asked(age: str | None = None, *visits: dict[str, str], at_least: int = 1) -> Query:
    below = tuple(
        Step("visit", {k: frozenset([v]) for k, v in one.items()}, at_least=at_least) for one in visits
    )
    return Query(Step("patient", {} if age is None else {"age": frozenset([age])}, below))


QUERIES = [
    (asked("46", {"diagnosis": "AIDS"}), 1, Fraction(1, 2), Fraction(1, 2)),
    (asked("47", {"year": "2006", "diagnosis": "Alcohol P."}), 1, Fraction(1, 2), Fraction(1, 2)),
    (asked(None, {"diagnosis": "AIDS"}, {"diagnosis": "Flu"}), 1, 1, Fraction(1, 2)),
    (asked(None, {"diagnosis": "Alcohol P."}, at_least=2), 1, 1, Fraction(1, 2)),
    (asked(None, {"year": "2007"}), 2, 2, 2),
]


@pytest.mark.parametrize("at", range(len(QUERIES)))
def test_a12_queries(at: int, tmp_path: Path) -> None:
    query, true, trees, vertices = QUERIES[at]
    remaining = [
        patients(FIRST[:3])[0],
        Vertex("patient", ("46", "AB-"), (SECOND[0], SECOND[2], SECOND[3])),
    ]
    assert count(query, remaining, PATIENTS) == true
    assert expected(query, published(tmp_path, FIGURE_33)) == trees
    publication = published(tmp_path, FIGURE_34)
    assert expected(query, publication) == vertices
    group = publication.groups[0]
    chances = Chances(query, PATIENTS, group.bags)
    assert sum(chances.joint(query.root, tree) for tree in group.qi) == vertices


def test_the_grove_is_what_the_search_uses() -> None:
    forest = Forest.of(PATIENTS, patients())
    grove = Grove.of(forest, limits(forest, rules(), 2), Style.TREES)
    assert merge(alone(forest, grove, 0), grove, 1) is not None
