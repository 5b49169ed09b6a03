"""Knowing the algorithm: which searches give something away, and by how much."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from tests.tables import tally_of

import privet as pv
from privet.hierarchy import Tree
from privet.relational.anatomy import buckets
from privet.roads.tables.minimality import algorithm_aware, example

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


ILL = pv.Attribute("ill", pv.Role.SENSITIVE)


def policy(algorithm: str) -> pv.Policy:
    return pv.Policy.loads(POLICY + algorithm)


def patients(ill: str) -> pv.Tally:
    ages = list(range(30, 30 + len(ill)))
    widths = policy('type = "top-down"').quasi[0].hierarchy
    assert widths is not None
    return tally_of({"age": ages}, sensitive={"ill": list(ill)}, hierarchies={"age": widths})


def test_the_printed_example_comes_out() -> None:
    assert example() == {"people": 6, "shown": "1/3", "known": "1", "certain": 2, "by": None}


GIVEN_AWAY = {"people": 5, "shown": "2/5", "known": "1", "certain": 2}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        *((name, GIVEN_AWAY) for name in ("top-down", "optimal", "mondrian", "bucketisation")),
        *(
            pytest.param(name, GIVEN_AWAY, marks=pytest.mark.slow)  # they go over a lattice as `optimal` does
            for name in ("incognito", "samarati", "local")
        ),
        # A pair and one more are left out: three people with x, x and y, of whom the pair could not stay.
        ("suppression", {"people": 5, "shown": "2/3", "known": "1", "certain": 3}),
    ],
)
def test_every_other_search_gives_somebody_away_in_a_small_table(
    algorithm: str, expected: dict[str, object]
) -> None:
    found = algorithm_aware(patients("abcabcabc"), policy(f'type = "{algorithm}"'), tries=3)
    assert found["always"] is False
    assert found["example"] == expected | {"by": algorithm}


@pytest.mark.parametrize("score", ["information-gain", "discernibility"])
def test_whatever_the_search_aims_at(score: str) -> None:
    ages = {"age": list(range(6))}
    tally = tally_of(ages, sensitive={"ill": list("abcabc")}, target={"rich": list("ynynyn")})
    found = algorithm_aware(tally, policy(f'type = "top-down"\nscore = "{score}"'), tries=3)
    assert found["example"] == GIVEN_AWAY | {"by": "top-down"}


def test_dealing_to_buckets_by_chance_is_coincident() -> None:
    """Anatomy: over all orders that chance may give, all tables with the same buckets are equally likely."""
    assert algorithm_aware(patients("abcabc"), policy('type = "anatomy"'))["always"] is True
    values = (0, 0, 1, 1, 2)
    likely: dict[tuple[object, ...], Counter[tuple[int, ...]]] = {}
    for mixed in set(permutations(values)):
        for order in permutations(range(5)):
            bucket = buckets(np.array(mixed, dtype=np.intp), 2, np.array(order, dtype=np.intp)).tolist()
            bags = tuple(
                tuple(sorted(v for v, b in zip(mixed, bucket, strict=True) if b == n)) for n in (0, 1)
            )
            likely.setdefault((tuple(bucket), bags), Counter())[mixed] += 1
    assert len(likely) == 10  # ways to choose who is in the larger bucket
    for tables in likely.values():
        assert len(tables) == 12  # 3! orders in it, 2! in the other
        assert len(set(tables.values())) == 1


def test_buckets_are_classes_and_people_left_out_are_one() -> None:
    found = algorithm_aware(patients("aabbc"), policy('type = "bucketisation"'))
    same = algorithm_aware(patients("aabbc"), policy('type = "mondrian"'))
    assert (found["possible"], found["farthest"]) == (same["possible"], same["farthest"])
    jobs = {"job": ["dancer", "dancer", "writer", "cook", "cook"]}
    tally = tally_of(jobs, sensitive={"ill": list("xxyzw")})
    left = replace(policy('type = "suppression"'), attributes=(pv.Attribute("job", pv.Role.QUASI), ILL))
    found = algorithm_aware(tally, left)
    assert (found["how"], found["coincident"]) == ("every exchange of values was tried", False)
    assert found["certain"] == 3


def test_a_search_that_looks_at_no_sensitive_value_tells_nothing_of_them() -> None:
    anonymous = pv.Policy.loads(
        POLICY.replace(
            'type = "distinct-l-diversity"\nl = 2\nsensitive = ["ill"]', 'type = "k-anonymity"\nk = 2'
        )
        + 'type = "mondrian"'
    )
    found = algorithm_aware(patients("aabbcc"), anonymous)
    assert (found["always"], found["coincident"]) == (True, True)
    assert "no promise" in found["how"]


def test_what_works_by_chance_is_not_judged() -> None:
    chance = '[[models]]\ntype = "by-construction"\n[algorithm]\ntype = "pram"\nkeep = "1/2"\n'
    pram = pv.Policy.loads(POLICY.partition("[[models]]")[0] + chance)
    found = algorithm_aware(patients("aabbcc"), pram)
    assert (found["always"], found["coincident"]) == (None, None)
    assert "chance" in found["how"]


def test_the_usual_search_is_found_out() -> None:
    """A pair and a triple were not released apart: most likely the pair has one value twice."""
    jobs = Tree.of({"ANY": {"Artist": ["dancer", "writer"], "Pro": ["cook", "clerk", "judge"]}})
    tally = tally_of(
        {"job": ["dancer", "writer", "cook", "clerk", "judge"]},
        sensitive={"ill": list("xxyzw")},
        hierarchies={"job": jobs},
    )
    search = replace(policy('type = "top-down"'), attributes=(pv.Attribute("job", pv.Role.QUASI, jobs), ILL))
    found = algorithm_aware(tally, search)
    assert found["how"] == "every exchange of values was tried"
    assert found["coincident"] is False
    # The pair has x twice, in any case: the triple cannot have one value three times.
    assert found["certain"] == 2
    assert found["farthest"] == 0.6


def test_searches_that_are_safe_by_construction_say_so() -> None:
    diverse = POLICY.replace("distinct-l-diversity", "entropy-l-diversity")  # the one that both can keep
    for name in ("coincident", "safe-lattice"):
        found = algorithm_aware(patients("ftccpg"), pv.Policy.loads(f'{diverse}type = "{name}"'))
        assert (found["always"], found["coincident"], found["how"]) == (True, True, "by construction")


def test_larger_tables_are_sampled_and_say_nothing_for_certain() -> None:
    found = algorithm_aware(patients("abcd" * 10), policy('type = "top-down"'), tries=5)
    assert found["how"].startswith("5 random exchanges")
    assert found["coincident"] is None  # five draws show nothing
    assert found["how"].endswith("differences of 100%")


@pytest.mark.parametrize(
    ("ill", "says"), [("a" * 12, "nothing can be released"), ("ab" * 2_000, "up to 3000 records")]
)
def test_what_cannot_be_tried_is_said(ill: str, says: str) -> None:
    found = algorithm_aware(patients(ill), policy('type = "top-down"'))
    assert found["coincident"] is None
    assert says in found["how"]
