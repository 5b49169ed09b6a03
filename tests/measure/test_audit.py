import ast
import csv
import io
import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.core import Column, Nulls, Tally
from privet.domain import Value, flat
from privet.errors import PolicyError
from privet.measure import audit as audits
from privet.measure import classes
from privet.measure.audit import EACH, audit
from privet.models.alphak import AlphaKAnonymity
from privet.models.confidence import ConfidenceBounding
from privet.models.kanonymity import KAnonymity
from privet.models.linkage import LinkageModel
from privet.models.lkc import LKC
from privet.models.template import Every
from privet.samples import worked
from privet.testing import models, tallies

HALF = Fraction(1, 2)
few = settings(max_examples=60, deadline=None)


def tally_of(text: str, sensitive: str, quasi: tuple[str, ...] = ("Job", "Sex", "Age")) -> Tally:
    rows = list(csv.DictReader(io.StringIO(text)))

    def column(name: str) -> Column:
        domain = flat(tuple(dict.fromkeys(row[name] for row in rows)))
        return Column(name, domain, domain.column(np.array([domain.codes[row[name]] for row in rows])))

    ones = np.ones(len(rows), dtype=np.int64)
    return Tally(tuple(map(column, quasi)), (column(sensitive),), None, ones)


def records(tally: Tally) -> list[tuple[dict[str, Value], dict[str, Value]]]:
    found = []
    for cell in range(tally.cells):
        pair = tuple(
            {c.name: c.domain.values[int(c.codes[cell])] for c in columns}
            for columns in (tally.quasi, tally.sensitive)
        )
        found.extend([pair] * int(tally.counts[cell]))
    return found  # type: ignore[return-value] # two dicts


def slow_audit(tally: Tally, model: Any) -> dict[int, tuple[int, int, int, Fraction, int]]:
    """Groups, violating ones, the smallest, the largest confidence and records at risk, by definition."""
    bound, rows = model.linkage(), records(tally)
    quasi = [c.name for c in tally.quasi if bound.quasi is None or c.name in bound.quasi]
    guarded = []
    for template in bound.templates:
        every = isinstance(template.value, Every)
        values = {row[1][template.attribute] for row in rows} if every else {template.value}
        guarded += [(template.attribute, value, template.at_most) for value in values]
    wildcard = tally.nulls is Nulls.WILDCARD
    found = {}
    for known in range(1, min(bound.l or len(quasi), len(quasi)) + 1):
        groups = violating = 0
        smallest, confidence, at_risk = len(rows), Fraction(0), set()
        for names in combinations(quasi, known):
            members: dict[Any, list[int]] = defaultdict(list)
            if wildcard:
                concrete = [{row[name] for row, _ in rows} - {None} or {None} for name in names]
                for held in product(*concrete):
                    for at, (row, _) in enumerate(rows):
                        if all(row[n] in (v, None) for n, v in zip(names, held, strict=True)):
                            members[held].append(at)
            else:
                for at, (row, _) in enumerate(rows):
                    members[tuple(row[n] for n in names)].append(at)
            for group in members.values():
                shares = [
                    (Fraction(sum(rows[at][1][name] == value for at in group), len(group)), at_most)
                    for name, value, at_most in guarded
                ]
                groups += 1
                smallest = min(smallest, len(group))
                confidence = max([confidence, *(share for share, _ in shares)])
                if len(group) < bound.k or any(share > at_most for share, at_most in shares):
                    violating += 1
                    at_risk |= set(group)
        found[known] = groups, violating, smallest, confidence, len(at_risk)
    return found


@few
@given(st.data())
def test_the_audit_agrees_with_the_definition(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3, nulls=None))
    model = data.draw(models(tally))
    assert isinstance(model, LinkageModel)
    found = audit(tally, model)
    expected = slow_audit(tally, model)
    assert {
        level.known: (level.groups, level.violating, level.smallest, level.confidence, level.at_risk)
        for level in found.levels
    } == expected
    assert found.holds == (not any(violating for _, violating, *_ in expected.values()))


@few
@given(st.data())
def test_the_audit_agrees_with_the_models_own_check(data: st.DataObject) -> None:
    tally = data.draw(tallies(quasi=3, nulls=None))
    model = data.draw(models(tally))
    verdict, found = model.check(tally), audit(tally, model)  # type: ignore[arg-type] # see above
    assert verdict.holds == found.holds
    assert verdict.achieved["k"] == min(level.smallest for level in found.levels)
    # The check leaves out attributes of one value: they add no group that is not counted already.
    if tally.nulls is Nulls.VALUE and all(column.domain.size > 1 for column in tally.quasi):
        assert verdict.broken == found.levels[-1].violating
        assert verdict.at_risk == found.levels[-1].at_risk


@few
@given(st.data())
def test_large_domains_are_audited_alike(data: st.DataObject) -> None:
    """Groups are counted in an array where it is small, and by sorting where it is not."""
    tally = data.draw(tallies(quasi=3))
    model = data.draw(models(tally))
    whole = audit(tally, model, show_values=True, most=1000)  # type: ignore[arg-type] # see above
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audits, "roomy", lambda cells: 0)
        patch.setattr(classes, "LIMIT", 3)
        sorted_ = audit(tally, model, show_values=True, most=1000)  # type: ignore[arg-type] # see above
    assert sorted_.levels == whole.levels
    assert set(sorted_.violations) == set(whole.violations)


def test_table_3_2_keeps_its_promise_with_the_groups_that_the_source_has() -> None:
    tally = tally_of(worked.TABLE_3_2, "Surgery")
    found = audit(tally, LKC(l=2, k=2, c=HALF, sensitive={"Surgery": ["Transgender"]}))
    assert found.holds
    assert [level.groups for level in found.levels] == [8, 12]
    assert found.levels[1].smallest == 2
    assert found.levels[1].confidence == HALF
    # Every group of two known values, as the spec lists them: made visible by a bound that all break.
    all_ = audit(
        tally,
        LKC(l=2, k=12, c=HALF, sensitive={"Surgery": ["Transgender"]}),
        show_values=True,
    )
    pairs = {g.values: (g.size, g.confidence) for g in all_.violations if len(g.attributes) == 2}
    assert pairs == {
        ("Non-Technical", "M"): (4, HALF),
        ("Professional", "M"): (3, 0),
        ("Professional", "F"): (2, 0),
        ("Technical", "F"): (2, 0),
        ("Non-Technical", "[30-60)"): (4, HALF),
        ("Professional", "[30-60)"): (3, 0),
        ("Professional", "[1-30)"): (2, 0),
        ("Technical", "[60-99)"): (2, 0),
        ("M", "[30-60)"): (5, Fraction(2, 5)),
        ("M", "[1-30)"): (2, 0),
        ("F", "[30-60)"): (2, 0),
        ("F", "[60-99)"): (2, 0),
    }


def test_table_3_2_is_not_2_anonymous_because_of_one_record() -> None:
    found = audit(tally_of(worked.TABLE_3_2, "Surgery"), KAnonymity(k=2), show_values=True)
    assert found.holds is False
    assert [(g.values, g.size) for g in found.violations] == [(("Professional", "M", "[30-60)"), 1)]
    assert [level.at_risk for level in found.levels] == [0, 0, 1]
    assert found.involved == {"Job": 1, "Sex": 1, "Age": 1}
    # Merging [1-30) and [30-60) makes it 2-anonymous.
    merged = worked.TABLE_3_2.replace("[1-30)", "[1-60)").replace("[30-60)", "[1-60)")
    assert audit(tally_of(merged, "Surgery"), KAnonymity(k=2)).holds


def test_table_2_1b_breaks_the_template_in_the_group_that_the_source_names() -> None:
    tally = tally_of(worked.TABLE_2_1B, "Disease")
    assert audit(tally, KAnonymity(k=2)).holds
    assert not audit(tally, KAnonymity(k=3)).holds
    found = audit(tally, ConfidenceBounding(sensitive={"Disease": {"HIV": HALF}}), show_values=True)
    last = [group for group in found.violations if len(group.attributes) == 3]
    told = [(g.values, g.size, g.confidence, g.value) for g in last]
    assert told == [(("Dancer", "*", "30"), 2, Fraction(1), "HIV")]
    assert classes.discernibility(classes.class_sizes(tally)) == 17
    raw = tally_of(worked.TABLE_2_1A, "Disease")
    assert classes.discernibility(classes.class_sizes(raw)) == 7


def test_table_3_2_has_the_discernibility_that_the_spec_derives() -> None:
    sizes = classes.class_sizes(tally_of(worked.TABLE_3_2, "Surgery"))
    assert classes.discernibility(sizes) == 29
    assert classes.discernibility_ratio(sizes) == pytest.approx(0.2397, abs=5e-5)


def test_alpha_k_is_k_anonymity_and_confidence_bounding_at_once() -> None:
    tally = tally_of(worked.TABLE_2_1B, "Disease")
    protected = {"Disease": ["HIV"]}
    assert not audit(tally, AlphaKAnonymity(alpha=HALF, k=2, sensitive=protected)).holds
    assert audit(tally, AlphaKAnonymity(alpha=Fraction(1), k=2, sensitive=protected)).holds
    assert not audit(tally, AlphaKAnonymity(alpha=Fraction(1), k=3, sensitive=protected)).holds


def test_values_are_told_only_to_who_asks() -> None:
    tally = tally_of(worked.TABLE_3_1, "Surgery")
    model = LKC(l=2, k=3, c=HALF, sensitive=["Surgery"])
    quiet, open_ = audit(tally, model), audit(tally, model, show_values=True)
    values = {v for c in (*tally.quasi, *tally.sensitive) for v in c.domain.values if v and v.isalpha()} - {
        "M",
        "F",
    }
    for value in values:
        assert value not in json.dumps(quiet.to_dict()) + repr(quiet) + repr(open_)
    assert "Janitor" in json.dumps(open_.to_dict())
    assert len(quiet.violations) == len(open_.violations)


def test_the_list_of_violations_is_as_long_as_asked_for_and_the_count_is_whole() -> None:
    tally = tally_of(worked.TABLE_3_1, "Surgery")
    model = KAnonymity(k=3)
    short = audit(tally, model, most=2)
    assert len(short.violations) == 2
    assert short.violating == audit(tally, model, most=10**6).violating > 2


def test_an_audit_that_would_take_too_long_says_what_it_left_out() -> None:
    tally = tally_of(worked.TABLE_3_2, "Surgery")
    found = audit(tally, KAnonymity(k=1), effort=3 * EACH)
    assert [level.known for level in found.levels] == [1]
    assert found.skipped == (2, 3)
    assert found.holds is None
    assert audit(tally, KAnonymity(k=9), effort=3 * EACH).holds is False


def test_a_model_about_a_column_that_is_not_there_is_refused() -> None:
    tally = tally_of(worked.TABLE_3_2, "Surgery")
    with pytest.raises(PolicyError, match="quasi"):
        audit(tally, ConfidenceBounding(sensitive={"Surgery": {"Plastic": HALF}}, quasi=("Job", "Zip")))
    with pytest.raises(PolicyError, match="Diagnosis"):
        audit(tally, ConfidenceBounding(sensitive={"Diagnosis": {"Plastic": HALF}}))


def test_templates_over_some_quasi_identifiers_are_audited_on_these_alone() -> None:
    tally = tally_of(worked.TABLE_2_1B, "Disease")
    model = ConfidenceBounding(sensitive={"Disease": {"HIV": HALF}}, quasi=("Sex",))
    found = audit(tally, model, show_values=True)
    assert Counter(group.attributes for group in found.violations) == {("Sex",): 1}


@pytest.mark.parametrize("module", ["audit", "classes"])
def test_the_auditor_shares_no_code_with_what_it_audits(module: str) -> None:
    source = Path(audits.__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    imported = {node.module or "" for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in imported if name.startswith(("privet.models", "privet.relational"))]
