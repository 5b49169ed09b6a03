"""The auditor accepts what the search publishes, and nothing that was tampered with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.anatomised import (
    FIGURE_33,
    FIGURE_34,
    PATIENTS,
    patients,
    published,
    rules,
    seeded,
)
from tests.document.naive_anatomy import SCHEMA, key, some_rules, speaks, trees

from privet.document.anatomy import Anatomize
from privet.document.anatomy_audit import audit
from privet.document.anatomy_measure import (
    query_accuracy,
    sensitive_of,
    suppression,
    suppression_accuracy,
)
from privet.document.anatomy_rules import Rule, Rules
from privet.document.anatomy_truth import anatomy_truth
from privet.document.forest import Forest, Vertex
from privet.document.measures import divergence, sensitive_counts
from privet.document.ordering import are_in_order
from privet.document.publication import Bag, Links, Publication, Published, publish, with_bags
from privet.document.style import Style
from privet.engines.documents.publication_files import read, write
from privet.engines.documents.publication_tables import from_tables, to_tables
from privet.engines.documents.shape import Shape
from privet.errors import InputError, PolicyError

STYLE = st.sampled_from(list(Style))


def made(records: list[Vertex], style: Style, l: int = 2, promised: Rules | None = None) -> Publication:
    how = Anatomize(l, promised or Rules(), style)
    return publish(how.search(Forest.of(SCHEMA, records)), Random(5))[0]


# ---- by the definitions


def confidence(publication: Publication, rule: Rule, l: int) -> Fraction:
    """The definitions 21 and 23, written down once more."""
    worst = Fraction(0)
    for group in publication.groups:
        if publication.style is Style.TREES:
            counts = [Counter(key(v) for v in tree.walk()) for tree in group.sa]
            for k in {k for count in counts for k in count if k is not None and speaks(rule, k)}:
                worst = max(worst, Fraction(sum(c[k] >= rule.m for c in counts), len(group)))
        else:
            bags = [{key(probe(bag.type, v)) for v in bag} for bag in group.bags.values()]
            for k in {k for bag in bags for k in bag if speaks(rule, k)}:
                eta = sum(k in bag for bag in bags)
                ways = [way.bit_count() for way in range(2**eta)]
                chance = sum(
                    (Fraction(1, l) ** n * (1 - Fraction(1, l)) ** (eta - n) for n in ways if n >= rule.m),
                    Fraction(0),
                )
                worst = max(worst, chance)
    return worst


def probe(type_: str, value: str | None) -> Vertex:
    kind = SCHEMA.kind(type_)
    return Vertex(type_, tuple(value if f is kind.sensitive else None for f in kind.published))


@given(st.lists(trees(), min_size=2, max_size=6), some_rules(), STYLE)
@settings(max_examples=60, deadline=None)
def test_rules_are_judged_by_their_definition(records: list[Vertex], promised: Rules, style: Style) -> None:
    """What was grouped without rules is audited with them: some hold and some do not."""
    publication = made(records, style)
    told = audit(publication, 2, promised)
    for rule in promised.rules:
        assert told.confidence[rule] == confidence(publication, rule, 2)
    broken = any(confidence(publication, rule, 2) > rule.p for rule in promised.rules)
    assert told.holds == (not broken)


@given(st.lists(trees(), min_size=3, max_size=9), STYLE, st.integers(2, 3))
@settings(max_examples=40, deadline=None)
def test_truth(records: list[Vertex], style: Style, l: int) -> None:
    found = Anatomize(l, style=style).search(Forest.of(SCHEMA, records))
    publication, links = publish(found, seeded(2))
    linked = anatomy_truth(publication, records, links)
    assert linked.true == len(publication.groups)
    assert linked.holds
    assert anatomy_truth(publication, records).false == 0


# ---- what is tampered with


def changed(figure: Any, change: Callable[[Any], object]) -> Any:
    copy = deepcopy(figure)
    change(copy["groups"][0])
    return copy


def drop_visit(group: Any) -> None:
    group["sa_trees"][0]["visits"].pop()


def same_value(group: Any) -> None:
    group["sa_trees"][0]["visits"][0]["diagnosis"] = "Alcohol P."


TAMPERED_33: list[tuple[str, Callable[[Any], object]]] = [
    ("fewer than l", lambda g: (g["qi_trees"].pop(), g["sa_trees"].pop())),
    ("but 1 of sensitive values", lambda g: g["sa_trees"].pop()),
    ("different shapes", lambda g: g["qi_trees"][0]["visits"].pop()),
    ("not the shape of the others", drop_visit),
    ("share above 1/2", same_value),
    ("carries a sensitive value", lambda g: g["qi_trees"][0].update(blood="0+")),
    ("carries a quasi-identifier", lambda g: g["sa_trees"][0].update(age=4)),
]
TAMPERED_34: list[tuple[str, Callable[[Any], object]]] = [
    ("fewer than l", lambda g: g["aqi_trees"].pop()),
    ("different groups of values", lambda g: g["aqi_trees"][0].update(sag="g0:G1.1")),
    ("names no group", lambda g: [tree.pop("sag") for tree in g["aqi_trees"]]),
    ("named by no vertex", lambda g: [tree.pop("sag") for tree in g["aqi_trees"]]),
    (
        "named twice",
        lambda g: [tree["visits"][0].update(sag=tree["visits"][1]["sag"]) for tree in g["aqi_trees"]],
    ),
    ("of another type", lambda g: [tree.update(sag="g0:G1.1") for tree in g["aqi_trees"]]),
    ("share above 1/2", lambda g: g["sa_groups"]["g0:G1.1"].update(values={"AIDS": 2})),
    ("3 values for 2 people", lambda g: g["sa_groups"]["g0:G1.1"]["values"].update(Flu=1)),
]


@pytest.mark.parametrize(("words", "change"), TAMPERED_33)
def test_tampered_trees(words: str, change: Callable[[Any], object], tmp_path: Path) -> None:
    told = audit(published(tmp_path, changed(FIGURE_33, change)), 2)
    assert any(words in str(finding) for finding in told.findings)
    assert not told.verdict.holds
    assert told.verdict.at_risk > 0


@pytest.mark.parametrize(("words", "change"), TAMPERED_34)
def test_tampered_vertices(words: str, change: Callable[[Any], object], tmp_path: Path) -> None:
    told = audit(published(tmp_path, changed(FIGURE_34, change)), 2)
    assert any(words in str(finding) for finding in told.findings)
    for finding in told.findings:
        assert not any(value in str(finding) for value in ("AIDS", "Flu", "Cold", "2006", "AB-"))


def test_two_groups_share_a_name(tmp_path: Path) -> None:
    twice = {**FIGURE_34, "groups": FIGURE_34["groups"] * 2}
    told = audit(published(tmp_path, twice), 2)
    assert len(told.findings) == 1 + 4
    assert told.people == 4


def test_untrue(tmp_path: Path) -> None:
    for figure in (FIGURE_33, FIGURE_34):
        assert anatomy_truth(published(tmp_path, figure), patients()).holds
    invented = [
        changed(FIGURE_33, lambda g: g["sa_trees"][0]["visits"][0].update(diagnosis="Gout")),
        changed(FIGURE_33, lambda g: g["qi_trees"][0]["visits"][0].update(year=1999)),
        changed(FIGURE_34, lambda g: g["sa_groups"]["g0:G1.3"].update(values={"Cold": 1, "Gout": 1})),
        changed(FIGURE_34, lambda g: g["aqi_trees"][0].update(age=12)),
    ]
    for text in invented:
        told = anatomy_truth(published(tmp_path, text), patients())
        assert (told.true, told.false) == (0, 1)
    # Everybody once: the same group again needs the same people again.
    twice = {**FIGURE_33, "groups": [FIGURE_33["groups"][0], {**FIGURE_33["groups"][0], "id": "other"}]}
    told = anatomy_truth(published(tmp_path, twice), patients())
    assert (told.true, told.undecided, told.holds) == (1, 1, False)
    links = Links(((0, 1), (0, 1)), ())
    assert anatomy_truth(published(tmp_path, twice), patients(), links).false == 1


def test_nobody_stands_in_for_two(tmp_path: Path) -> None:
    group = FIGURE_33["groups"][0]
    alike = {"id": "g0", "qi_trees": [group["qi_trees"][0]] * 2, "sa_trees": [group["sa_trees"][1]] * 2}
    publication = published(tmp_path, {**FIGURE_33, "groups": [alike]})
    assert anatomy_truth(publication, patients()).false == 1
    assert anatomy_truth(publication, patients() + patients()).holds


# ---- files


@given(st.lists(trees(), min_size=2, max_size=6), STYLE)
@settings(max_examples=30, deadline=None)
def test_round_trip(records: list[Vertex], style: Style) -> None:
    publication = made(records, style)
    if not publication.groups:
        return
    assert from_tables(to_tables(publication), SCHEMA, style, 2) == publication
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for name in ("p.json", "p.xml"):
            path = Path(folder) / name
            write(publication, path, Shape())
            assert read(path, SCHEMA) == publication


@pytest.mark.parametrize("figure", [FIGURE_33, FIGURE_34], ids=["t-t", "v-v"])
def test_the_figures_as_files(figure: Any, tmp_path: Path) -> None:
    shape = Shape()
    source = tmp_path / "in.json"
    source.write_text(json.dumps(figure), encoding="utf-8")
    publication = read(source, PATIENTS, shape)
    write(publication, tmp_path / "out.json", shape)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == figure
    write(publication, tmp_path / "out.xml", Shape())
    assert read(tmp_path / "out.xml", PATIENTS) == publication
    text = (tmp_path / "out.xml").read_text(encoding="utf-8")
    names = ("<qi-trees>", "<sa-trees>") if "qi_trees" in figure["groups"][0] else ("<aqi-trees>", "sag=")
    assert all(name in text for name in names)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ({"method": "x-x", "l": 2, "groups": [{}]}, "method is one of"),
        ({"method": "t-t", "l": 2, "groups": [{"id": "g0"}]}, "a group has"),
        ({"method": "t-t", "l": 2, "groups": [{"id": "g0", "qi_trees": 3, "sa_trees": []}]}, "in a list"),
        ({"method": "t-t", "l": "two", "groups": [{}]}, "l is a whole number"),
        ({"method": "t-t", "l": 2, "groups": []}, "not one record at"),
        ({"l": 2, "groups": []}, "not one record at"),
        (changed(FIGURE_34, lambda g: g["sa_groups"].update(new=3)), "has an attribute and values"),
        (
            changed(FIGURE_34, lambda g: g["sa_groups"]["g0:G0.1"].update(attribute="age")),
            "not one sensitive field",
        ),
    ],
)
def test_what_is_no_publication(text: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        published(tmp_path, text)


def test_a_field_that_anatomy_needs() -> None:
    from privet.document.described import described

    schema = described({"types": {"r": {"quasi": ["sag"], "sensitive": "s"}}})
    with pytest.raises(PolicyError, match="called sag"):
        with_bags(schema)


# ---- nothing links the halves


def test_the_order_says_nothing() -> None:
    """Each half is sorted by what it shows, whatever the order of the input and whoever has which half."""
    found = Anatomize(2).search(Forest.of(PATIENTS, patients()))
    other = Anatomize(2).search(Forest.of(PATIENTS, patients()[::-1]))
    seen = []
    for grouping in (found, other):
        publication, links = publish(grouping)
        for group in publication.groups:
            assert are_in_order(group.qi, PATIENTS)
            assert are_in_order(group.sa, PATIENTS)
        seen.append([[tree.values for tree in group.qi] for group in publication.groups])
        assert sorted(sum(links.qi, ())) == sorted(sum(links.sa, ()))
    assert seen[0] == seen[1]


def test_siblings_stand_by_what_is_shown_below_them() -> None:
    """Not as the first member's document had them; chance decides only between those that show the same."""
    found = Anatomize(2).search(Forest.of(PATIENTS, patients()))
    seen = {tuple(v.values[0] for v in publish(found)[0].groups[0].qi[0].children) for _ in range(20)}
    assert len(seen) == 1


def test_a_seed_gives_the_same() -> None:
    found = Anatomize(2).search(Forest.of(PATIENTS, patients()))
    assert publish(found, Random(7)) == publish(found, Random(7))


# ---- measures


def test_measures() -> None:
    records = patients()
    forest = Forest.of(PATIENTS, records)
    found = Anatomize(2, rules(("AIDS", 1, "1/2"), ("Alcohol P.", 2, "1/2"))).search(forest)
    assert suppression_accuracy(found) == Fraction(4, 5)
    lost = [(one.level, one.type, one.before, one.after, one.share) for one in suppression(found)]
    assert lost == [(0, "patient", 2, 2, Fraction(0)), (1, "visit", 8, 6, Fraction(1, 4))]
    for style in Style:
        publication, _ = publish(Anatomize(2, style=style).search(forest), seeded(1))
        assert sensitive_of(publication) == sensitive_counts(PATIENTS, records)
        moved = divergence(sensitive_of(publication), sensitive_counts(PATIENTS, records))
        assert set(moved.values()) == {0.0}


def test_suppressed_people_count_as_nothing() -> None:
    records = [Vertex("r", ("x", "u")), Vertex("r", ("x", "v")), Vertex("r", ("x", "u"))]
    found = Anatomize(2).search(Forest.of(SCHEMA, records))
    assert suppression_accuracy(found) == Fraction(2, 3)


def test_query_accuracy() -> None:
    told = query_accuracy([(10, 8), (10, 35), (0, 4), (4, 4)], least=5)
    assert told.queries == 2
    assert told.mean == pytest.approx(-0.35)
    assert told.clipped == pytest.approx(0.4)
    assert query_accuracy([]).queries == 0


def test_bags_keep_nulls() -> None:
    bag = Bag.of("a", ["y", None, "x", "y"])
    assert bag.values == (("x", 1), ("y", 2), (None, 1))
    assert len(bag) == 4
    assert "x" not in repr(Published("g0", (), bags={"n": bag}))


def test_a_tree_of_sensitive_values_stands_for_one_person_only(tmp_path: Path) -> None:
    """Two people have the same values, the release has them once, and once others that nobody has."""
    original = [Vertex("patient", (age, "0+"), (Vertex("visit", ("2001", "Flu")),)) for age in ("30", "31")]
    group: Any = {
        "id": "g0",
        "qi_trees": [{"age": age, "visits": [{"year": 2001}]} for age in (30, 31)],
        "sa_trees": [{"blood": "0+", "visits": [{"diagnosis": what}]} for what in ("Flu", "Flu")],
    }
    true = published(tmp_path, {"method": "t-t", "l": 2, "groups": [group]})
    assert anatomy_truth(true, original).holds
    group["sa_trees"][1]["visits"][0]["diagnosis"] = "Cold"
    forged = published(tmp_path, {"method": "t-t", "l": 2, "groups": [group]})
    assert anatomy_truth(forged, original).false == 1
