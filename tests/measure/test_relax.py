import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import cuts_of

from privet.core import Column, Finding, Step, Tally, Terms
from privet.domain import Cut, flat
from privet.errors import UnsatisfiableError
from privet.measure import relax
from privet.measure.relax import relaxations
from privet.measure.utility import losses, mean_lm
from privet.models.confidence import ConfidenceBounding
from privet.models.kanonymity import KAnonymity
from privet.policy.notation import describe
from privet.recoding import Generalization
from privet.relational.topdown import Splits, TopDown
from privet.testing import models, policy_for, tallies

few = settings(max_examples=80, deadline=None)


def searched(data: st.DataObject) -> tuple[Tally, Terms, Finding] | None:
    tally = data.draw(tallies(quasi=3, nulls=None))
    promises = tuple(data.draw(st.lists(models(tally), min_size=1, max_size=2)))
    policy = policy_for(tally, promises, TopDown(splits=data.draw(st.sampled_from(Splits))))
    try:
        return tally, policy, policy.algorithm.search(tally, policy)
    except UnsatisfiableError:
        return None


@few
@given(st.data())
def test_each_refused_split_is_tried_and_the_nearest_promises_allow_it(data: st.DataObject) -> None:
    found = searched(data)
    if found is None:
        return
    tally, policy, finding = found
    entries = relaxations(tally, policy, finding, describe=describe)
    assert json.loads(json.dumps(entries)) == entries
    assert [e["lm_saved"] for e in entries] == sorted((e["lm_saved"] for e in entries), reverse=True)
    refused = {(step.attribute, step.label) for step in finding.steps if not step.performed}
    still = {(name, node.label) for name, cut in cuts_of(finding).items() for node in cut.nodes} & refused
    assert {(e["attribute"], e["label"]) for e in entries} == still
    for entry in entries:
        # The split made for real, by the slow road: recode the raw tally and ask the models.
        after = split(tally, finding, entry["attribute"], entry["label"], entry["children"])
        recoded = tally.recoded(after)
        allowed = [model.nearest(recoded) for model in policy.models]
        assert entry["models"] == [relax._written(describe(model)) for model in allowed]
        moved = {(change["model"], change["parameter"]) for change in entry["changes"]}
        assert bool(moved) == (list(policy.models) != allowed)
        saved = mean_lm(losses(tally, Generalization(cuts_of(finding)))) - mean_lm(losses(tally, after))
        assert entry["lm_saved"] == pytest.approx(saved, abs=1e-8)


def split(
    tally: Tally, finding: Finding, attribute: str, label: object, children: list[object]
) -> Generalization:
    cut = cuts_of(finding)[attribute]
    nodes = []
    for node in cut.nodes:
        if node.label != label:
            nodes.append(node)
        elif [child.label for child in node.children] == children:
            nodes.extend(node.children)
        else:
            halves = [cut.domain.split(node, at) for at in range(node.lo + 1, node.hi)]
            nodes.extend(next(pair for pair in halves if [half.label for half in pair] == children))
    return Generalization({**cuts_of(finding), attribute: Cut(cut.domain, tuple(nodes))})


@few
@given(st.data())
def test_too_much_work_is_left_and_said(data: st.DataObject) -> None:
    found = searched(data)
    if found is None or all(step.performed for step in found[2].steps):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relax, "EFFORT", 0)
        entries = relaxations(*found, describe=describe)
    assert [list(entry) for entry in entries] == [["skipped"]]
    assert "§" not in entries[0]["skipped"]


def test_a_model_that_names_its_attributes_finds_them_though_they_say_nothing() -> None:
    """Attributes of one value are left out of the check, but not one that a model asks for."""
    rows = [("x", "m", "HIV"), ("x", "f", "flu"), ("y", "m", "flu"), ("y", "f", "flu")]

    def column(name: str, at: int) -> Column:
        domain = flat(tuple(dict.fromkeys(row[at] for row in rows)))
        return Column(name, domain, domain.column(np.array([domain.codes[row[at]] for row in rows])))

    tally = Tally((column("a", 0), column("b", 1)), (column("s", 2),), None, np.ones(4, dtype=np.int64))
    quarter, third = Fraction(1, 4), Fraction(1, 3)
    promises = (
        ConfidenceBounding(sensitive={"s": {"HIV": quarter}}, quasi=("a",)),
        ConfidenceBounding(sensitive={"s": {"HIV": third}}, quasi=("b",)),
    )
    policy = policy_for(tally, promises, TopDown())
    finding = policy.algorithm.search(tally, policy)
    found = relaxations(tally, policy, finding, describe=describe)
    assert {entry["attribute"]: entry["changes"] for entry in found} == {
        "a": [_moved("sensitive.s.HIV", "1/4", "1/2")],
        "b": [_moved("sensitive.s.HIV", "1/3", "1/2")],
    }
    assert [entry["lm_saved"] for entry in found] == [0.5, 0.5]


def _moved(parameter: str, old: str, new: str) -> dict[str, str]:
    return {"model": "confidence-bounding", "parameter": parameter, "from": old, "to": new}


def test_splits_that_were_made_are_no_relaxations() -> None:
    """A value that a search left whole by choice, and a log of other searches, give no entry."""
    domain = flat(("x", "y"))
    column = Column("a", domain, domain.column(np.array([0, 1])))
    tally = Tally((column,), (), None, np.ones(2, dtype=np.int64))
    policy = policy_for(tally, [KAnonymity(k=1)], TopDown())
    whole = Generalization({"a": Cut(domain, (domain.root,))})
    made = Step("a", "*", ("x", "y"), 1.0, performed=True)
    other = Step("b", "*", ("x", "y"), 1.0, performed=False, reason="k-anonymity")
    assert relaxations(tally, policy, Finding(whole, (made, other)), describe=describe) == []
