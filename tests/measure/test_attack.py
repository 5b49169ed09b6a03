import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Attribute, Column, Role, Tally, Terms
from privet.domain import Cut, Value, flat
from privet.errors import InputError
from privet.evidence import notes as ev
from privet.hierarchy import Dates, Intervals, Prefix, Tree
from privet.measure import attack as attacks
from privet.measure.attack import Rows, by_evidence, by_notes, by_recoding, link, simulate
from privet.models.kanonymity import KAnonymity
from privet.recoding import Generalization
from privet.relational.topdown import TopDown
from privet.samples import worked
from privet.testing import recodings, tallies

few = settings(max_examples=60, deadline=None)


def rows_of(text: str) -> Rows:
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def ids(table: Rows, known: dict[str, Value], sensitive: str) -> set[Value]:
    found = link(table, {name: {value} for name, value in known.items()}, [sensitive])
    return {table["id"][row] for row in found.rows}


def test_the_linkages_that_the_source_tells_of() -> None:
    raw = rows_of(worked.TABLE_3_1)
    assert ids(raw, {"Job": "Janitor", "Sex": "M"}, "Surgery") == {"1", "6"}
    assert ids(raw, {"Job": "Mover", "Age": "34"}, "Surgery") == {"3"}
    assert ids(raw, {"Sex": "M", "Age": "34"}, "Surgery") == {"1", "3"}
    sure = link(raw, {"Sex": {"M"}, "Age": {"34"}}, ["Surgery"])
    assert sure.size == 2
    assert sure.confidence == {"Surgery": {"Transgender": 1}}
    chapter2 = rows_of(worked.TABLE_2_1A)
    lawyer = link(chapter2, {"Job": {"Lawyer"}, "Age": {"38"}}, ["Disease"])
    assert {chapter2["id"][row] for row in lawyer.rows} == {"3"}
    assert lawyer.confidence["Disease"] == {"HIV": 1}


def test_nobody_matches_and_nothing_is_known() -> None:
    raw = rows_of(worked.TABLE_3_1)
    nobody = link(raw, {"Job": {"Pilot"}}, ["Surgery"])
    assert (nobody.size, nobody.confidence) == (0, {"Surgery": {}})
    everybody = link(raw, {}, ["Surgery"])
    assert everybody.size == 11
    assert everybody.confidence["Surgery"]["Transgender"] == Fraction(2, 11)
    with pytest.raises(InputError, match="Zip"):
        link(raw, {"Zip": {"1"}}, ["Surgery"])


def test_the_attack_of_the_source_fails_on_the_published_table() -> None:
    evidence = {
        "attributes": {
            "Job": {"values": [{"label": "Non-Technical", "loss": 0.2}, {"label": "Technical", "loss": 0.2}]},
            "Age": {
                "values": [
                    {"label": "[1-30)", "loss": 0.3, "interval": ["1", "30"]},
                    {"label": "[30-60)", "loss": 0.3, "interval": ["30", "60"]},
                ]
            },
        }
    }
    raw, published = rows_of(worked.TABLE_3_1), rows_of(worked.TABLE_3_2)
    found = attacks.attack(raw, published, {"Sex": "M", "Age": "34"}, by_evidence(evidence), ["Surgery"])
    assert (found.before.size, found.before.confidence["Surgery"]) == (2, {"Transgender": Fraction(1)})
    assert (found.after.size, found.after.confidence["Surgery"]["Transgender"]) == (5, Fraction(2, 5))
    assert "Transgender" not in repr(found)
    assert json.dumps(found.after.to_dict())


def private(cut: Cut) -> dict[str, Any]:
    pairs = [(cut.domain.values[at], node.label) for node in cut.nodes for at in range(node.lo, node.hi)]
    return {"published_as": {"a": [{"raw": raw, "published": label} for raw, label in pairs]}}


def note(cut: Cut) -> dict[str, Any]:
    return {"attributes": {"a": {"role": "quasi", "values": ev.node_values(cut.domain, cut.nodes)}}}


def test_a_folder_alone_translates_by_label_interval_and_rule() -> None:
    numbers = Intervals(top=90).domain([*map(str, range(30, 60)), "95"])
    cut = Cut(numbers, numbers.root.children)
    policy = Terms((Attribute("a", Role.QUASI, Intervals(top=90)),), (KAnonymity(k=1),), TopDown())
    assert by_evidence(note(cut), policy)("a", "34") == {"[30-90)"}
    assert by_evidence(note(cut), policy)("a", "97") == {">=90"}
    halves = by_evidence(
        note(Cut(numbers, (*numbers.split(numbers.root.children[0], 10), numbers.root.children[1])))
    )
    assert [halves("a", value) for value in ("30", "39", "40")] == [{"[30-40)"}, {"[30-40)"}, {"[40-90)"}]
    assert by_evidence(note(cut))("a", ">=90") == {">=90"}

    codes = Prefix(keep=(3,)).domain(["53715", "53703", "90210"])
    cut = Cut(codes, codes.root.children)
    policy = Terms((Attribute("a", Role.QUASI, Prefix(keep=(3,))),), (KAnonymity(k=1),), TopDown())
    assert by_evidence(note(cut), policy)("a", "53799") == {"537**"}
    # Without the rule stars are a label like any other: a value may end in one by itself.
    assert by_evidence(note(cut))("a", "53799") == {"537**", "902**"}

    days = Dates(levels=("month",)).domain(["2024-03-05", "2024-04-17"])
    cut = Cut(days, days.root.children)
    policy = Terms((Attribute("a", Role.QUASI, Dates(levels=("month",))),), (KAnonymity(k=1),), TopDown())
    assert by_evidence(note(cut), policy)("a", "2024-04-01") == {"2024-04"}


def test_a_folder_alone_does_not_know_a_trees_leaves() -> None:
    jobs = Tree.of({"ANY": {"Artist": ["Dancer", "Writer"], "Pro": ["Lawyer", "Doctor"], "Cook": None}})
    domain = jobs.domain(["Dancer", "Lawyer", "Cook"])
    cut = Cut(domain, domain.root.children)
    pruned = Terms((Attribute("a", Role.QUASI, jobs.pruned(cut.labels)),), (KAnonymity(k=1),), TopDown())
    translate = by_evidence(note(cut), pruned)
    assert translate("a", "Dancer") == {"Artist", "Pro", "Cook"}
    assert translate("a", "Cook") == {"Cook"}
    assert translate("unchanged", "x") == {"x"}
    assert by_notes(private(cut), by_evidence(note(cut)))("a", "Dancer") == {"Artist"}
    assert by_notes(private(cut), by_evidence(note(cut)))("a", "Pilot") == {"Artist", "Pro", "Cook"}


@few
@given(st.data())
def test_what_the_folder_says_is_never_less_than_what_the_recoding_does(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=2))
    recoding = data.draw(recodings(tally))
    exact = by_recoding(recoding)
    evidence = {
        "attributes": {
            name: {} if cut.untouched else {"values": ev.node_values(cut.domain, cut.nodes)}
            for name, cut in recoding.cuts.items()
        }
    }
    known = by_evidence(evidence)
    for column in tally.quasi:
        for value in column.domain.values:
            assert len(exact(column.name, value)) == 1
            assert exact(column.name, value) <= known(column.name, value)


def test_by_recoding_knows_every_value_and_no_other() -> None:
    jobs = Tree.of({"ANY": {"Artist": ["Dancer", "Writer"], "Cook": None}}).domain(["Dancer", None])
    translate = by_recoding(Generalization({"job": Cut(jobs, jobs.root.children)}))
    assert translate("job", "Writer") == {"Artist"}
    assert translate("job", None) == {None}
    assert translate("job", "Pilot") == frozenset()
    assert translate("sex", "M") == {"M"}


def columns(text: str) -> Tally:
    rows = rows_of(text)

    def column(name: str) -> Column:
        domain = flat(tuple(dict.fromkeys(rows[name])))
        return Column(name, domain, domain.column(np.array([domain.codes[v] for v in rows[name]])))

    quasi = tuple(column(name) for name in ("Job", "Sex", "Age"))
    return Tally(quasi, (column("Surgery"),), None, np.ones(11, dtype=np.int64))


def itself(attribute: str, raw: Value) -> frozenset[Value]:
    return frozenset({raw})


def test_a_weak_table_falls_and_a_suppressed_one_does_not() -> None:
    raw = columns(worked.TABLE_3_1)
    root = {c.name: Cut(c.domain, (c.domain.root,)) for c in raw.quasi}
    hidden = Generalization(root)
    found = simulate(
        raw,
        raw.recoded(hidden),
        by_recoding(hidden),
        known=3,
        trials=50,
        rng=np.random.default_rng(1),
    )
    assert found.before.pinned == 1.0  # all three values together are unique in the worked example
    assert found.before.identity == found.before.attribute == found.before.group == 1.0
    assert found.after.pinned == 0
    assert found.after.identity == pytest.approx(1 / 11)
    assert found.after.group == 11
    assert found.guess == pytest.approx(4 / 11)


def test_success_on_one_known_value_is_the_mean_over_all_targets() -> None:
    """With many trials the simulation comes near what enumeration gives."""
    raw = columns(worked.TABLE_3_1)
    expected = np.mean(
        [1 / int((c.codes == c.codes[row]).sum()) for c in raw.quasi for row in range(raw.cells)]
    )
    found = simulate(raw, raw, itself, known=1, trials=4000, rng=np.random.default_rng(2))
    assert found.before == found.after
    assert found.before.identity == pytest.approx(expected, abs=0.02)


def test_a_target_is_a_record_and_not_a_cell() -> None:
    raw = columns(worked.TABLE_3_1)
    crowd = replace(raw, counts=np.array([990, *[1] * 10], dtype=np.int64))
    found = simulate(crowd, crowd, itself, known=3, trials=300, rng=np.random.default_rng(5))
    assert found.before.pinned < 0.05  # ten records of a thousand are alone
    assert found.guess == pytest.approx(991 / 1000)


def test_the_same_seed_gives_the_same_attacks_and_nonsense_is_refused() -> None:
    raw = columns(worked.TABLE_3_1)
    one, other = (
        simulate(raw, raw, itself, known=2, trials=20, rng=np.random.default_rng(3)) for _ in range(2)
    )
    assert one == other
    for known, trials in ((0, 1), (4, 1), (1, 0)):
        with pytest.raises(InputError):
            simulate(raw, raw, itself, known=known, trials=trials, rng=np.random.default_rng(3))


def test_a_translation_that_leads_nowhere_finds_nobody() -> None:
    raw = columns(worked.TABLE_3_1)
    found = simulate(
        raw, raw, lambda attribute, raw: frozenset({"nothing"}), known=1, trials=5,
        rng=np.random.default_rng(4),
    )  # fmt: skip
    assert found.after.group == found.after.identity == found.after.attribute == 0
