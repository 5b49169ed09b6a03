"""Knowing the algorithm: which searches give something away, and by how much."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.tables import tally_of

import privet as pv
from privet.hierarchy import Tree
from privet.roads.aware import algorithm_aware, example

POLICY = """
policy = 1
[attributes]
age = { role = "quasi", hierarchy = { type = "intervals", width = [2, 4] } }
ill = { role = "sensitive" }
[[models]]
type = "distinct-l-diversity"
l = 2
sensitive = ["ill"]
[algorithm]
"""


def policy(algorithm: str) -> pv.Policy:
    return pv.Policy.loads(POLICY + algorithm)


def patients(ill: str) -> pv.Tally:
    ages = list(range(30, 30 + len(ill)))
    widths = policy('type = "top-down"').quasi[0].hierarchy
    assert widths is not None
    return tally_of({"age": ages}, sensitive={"ill": list(ill)}, hierarchies={"age": widths})


def test_the_printed_example_comes_out() -> None:
    assert example() == {"people": 6, "shown": "1/3", "known": "1", "certain": 2}


def test_the_usual_search_is_found_out() -> None:
    """A pair and a triple were not released apart: most likely the pair has one value twice."""
    jobs = Tree.of({"ANY": {"Artist": ["dancer", "writer"], "Pro": ["cook", "clerk", "judge"]}})
    tally = tally_of(
        {"job": ["dancer", "writer", "cook", "clerk", "judge"]},
        sensitive={"ill": list("xxyzw")},
        hierarchies={"job": jobs},
    )
    search = replace(policy('type = "top-down"'), attributes=(pv.Attribute("job", pv.Role.QUASI, jobs),))
    found = algorithm_aware(tally, search)
    assert found["how"] == "every exchange of values was tried"
    assert found["coincident"] is False
    # The pair has x twice, in any case: the triple cannot have one value three times.
    assert found["certain"] == 2
    assert found["farthest"] == 0.6


def test_searches_that_are_safe_by_construction_say_so() -> None:
    found = algorithm_aware(patients("ftccpg"), policy('type = "coincident"'))
    assert (found["coincident"], found["how"]) == (True, "by construction")


def test_larger_tables_are_sampled_and_say_nothing_for_certain() -> None:
    found = algorithm_aware(patients("abcd" * 10), policy('type = "top-down"'), tries=5)
    assert found["how"].startswith("5 random exchanges")
    assert found["coincident"] is None  # five draws show nothing


@pytest.mark.parametrize(
    ("ill", "says"), [("a" * 12, "nothing can be released"), ("ab" * 2_000, "up to 3000 records")]
)
def test_what_cannot_be_tried_is_said(ill: str, says: str) -> None:
    found = algorithm_aware(patients(ill), policy('type = "top-down"'))
    assert found["coincident"] is None
    assert says in found["how"]
