"""The page of a reconstruction: whole, with every number, and harmless whatever things are called."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from tests.collect import naive
from tests.report.test_html import HOSTILE, Reading

from privet.collect.draw import perturbed
from privet.collect.estimate import estimate
from privet.collect.found import described, paired
from privet.collect.joint import joint
from privet.collect.privacy import stated
from privet.report.collected import render

NUMBER = {"type": "number", "low": 0, "high": 300, "mechanism": "gaussian", "sigma": 20}


def found(plan: Any, **said: Any) -> dict[str, Any]:
    chance = np.random.default_rng(1)
    sent = {
        name: perturbed(
            column.channel, chance.integers(0, column.channel.inputs, 500), random.Random(1).randbytes
        )
        for name, column in plan.columns.items()
    }
    names = list(plan.columns)
    document: dict[str, Any] = {
        "purpose": plan.purpose,
        "records": 500,
        "columns": [described(estimate(plan.columns[name], sent[name], **said)) for name in names],
        "pairs": [],
        "privacy": [stated(plan.columns[name]) for name in names],
    }
    if len(names) > 1:
        pair = joint(*((plan.columns[name], sent[name]) for name in names[:2]))
        document["pairs"] = [paired(pair)]
    return document


def test_every_section_is_there_and_every_bin_has_its_mark() -> None:
    category = {"type": "category", "values": list("abc"), "mechanism": "unary", "epsilon": 1}
    plan = naive.plan_of(age=NUMBER, job=category)
    document = found(plan, bins=12)
    page = render(document)
    Reading(page)
    for heading in (
        "What each answer hides",
        "Reconstructed: age",
        "Reconstructed: job",
        "Together: age and job",
    ):
        assert heading in page
    assert "not finite" in page
    for label in document["columns"][0]["labels"]:
        assert page.count(f"<title>{label}: ") == 2  # estimated, and among the perturbed answers
    assert page.count("How the iteration went") == 1  # a category is not iterated
    assert f"iteration {document['columns'][0]['iterations']:,} was taken" in page


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.isprintable()])
def test_names_and_values_cannot_break_it(text: str) -> None:
    category = {
        "type": "category",
        "values": [text.strip(), "b"],
        "mechanism": "randomised-response",
        "epsilon": 1,
    }
    plan = naive.plan_of(**{text: category, "age": NUMBER})
    reading = Reading(render({**found(plan), "purpose": text}))
    assert not [name for _, name, _ in reading.attributes if name.startswith("on")]
    assert [tag for tag, _ in reading.elements].count("script") == 1
    assert "img" not in {tag for tag, _ in reading.elements}


def test_a_thousand_bins_are_drawn_together() -> None:
    page = render(found(naive.plan_of(age={**NUMBER, "high": 999}), bins=1000, confidence=None))
    Reading(page)
    assert len(re.findall(r'class="mark"', page)) < 400
    assert "The line is how well the estimate fits" in page
