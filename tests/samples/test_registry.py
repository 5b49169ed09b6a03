import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping

import pytest

import privet as pv
from privet.errors import InputError
from privet.samples import SAMPLES, taxonomies
from privet.samples.collections import COLLECTIONS
from privet.samples.plans import Plan, Planned
from privet.samples.taxonomies import Tree

ROLES = {"identifier", "quasi", "sensitive", "target", "other"}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_generates_what_its_plan_says(name: str) -> None:
    sample = SAMPLES[name]
    assert sample.name == name
    assert "\n" not in sample.description
    table = sample.generate(50, seed=3)
    assert table.columns == list(sample.plan.columns)
    assert table.height == 50
    assert table.equals(sample.generate(50, seed=3))


@pytest.mark.parametrize("name", [*SAMPLES, *COLLECTIONS])
def test_what_is_not_a_size_is_refused_by_every_sample(name: str) -> None:
    for odd in ({"rows": -1}, {"rows": 2.5}, {"rows": "3"}, {"rows": True}, {"rows": 10**10}, {"seed": -1}):
        with pytest.raises(InputError, match="a sample "):
            pv.sample(name, **odd)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_policy_names_every_column_in_order(name: str) -> None:
    sample = SAMPLES[name]
    policy = tomllib.loads(sample.policy())
    told = {**policy.get("trajectories", {}), **policy.get("transactions", {})}
    path = told.get("path", told.get("set"))  # which is said there, and has no role
    assert list(policy["attributes"]) == [name for name in sample.plan.columns if name != path]
    for column, attribute in policy["attributes"].items():
        assert attribute["role"] == sample.plan.columns[column].role
        assert attribute["role"] in ROLES
        assert ("hierarchy" in attribute) == (attribute["role"] == "quasi")
        assert attribute.get("hierarchy") == sample.plan.columns[column].hierarchy


@pytest.mark.parametrize("name", SAMPLES)
def test_the_promise_is_about_values_that_occur(name: str) -> None:
    sample = SAMPLES[name]
    (model,) = tomllib.loads(sample.policy())["models"]
    table = sample.generate(2_000, seed=1)
    for column, values in model.get("sensitive", {}).items():
        assert sample.plan.columns[column].role == "sensitive"
        assert set(values) <= set(table[column])


def test_a_policy_takes_other_parameters() -> None:
    policy = tomllib.loads(SAMPLES["census"].policy(l=2, k=100, c="3/10", score="discernibility"))
    (model,) = policy["models"]
    assert (model["l"], model["k"], model["c"]) == (2, 100, "3/10")
    assert model["sensitive"] == {"marital-status": ["Divorced", "Separated"]}
    assert policy["algorithm"] == {"type": "top-down", "score": "discernibility"}


def test_names_that_toml_does_not_take_bare_are_quoted() -> None:
    tree = {
        "*": {"[1-60)": ["[1-30)", "[30-60)"], 'say "sixty"': [], "ÿ.z": [f"long leaf {n}" for n in range(9)]}
    }
    plan = Plan("a\\b", {"an age": Planned("quasi", {"type": "tree", "tree": tree})}, {}, 1, 1, "1")
    policy = tomllib.loads(plan.policy())
    assert policy["attributes"] == {"an age": {"role": "quasi", "hierarchy": {"type": "tree", "tree": tree}}}
    assert policy["purpose"] == "a\\b"


def test_no_policy_line_is_too_long_to_read() -> None:
    for sample in SAMPLES.values():
        assert max(map(len, sample.policy().splitlines())) <= 200


def test_importing_the_registry_loads_no_numbers_and_no_tables() -> None:
    loaded = "import sys, privet.samples as s; s.SAMPLES['census'].policy(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True)
    assert not {"polars", "numpy"} & set(done.stdout.split())


def test_another_process_generates_the_same_rows() -> None:
    program = (
        "from privet.samples import SAMPLES; print(*(s.generate(20, 9).rows() for s in SAMPLES.values()))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


@pytest.mark.parametrize(
    ("column", "number", "depth"),  # table 5.5 of the source; its 40 countries are 41 in the files
    [
        ("relationship", 6, 3),
        ("race", 5, 3),
        ("sex", 2, 2),
        ("marital-status", 7, 4),
        ("native-country", 41, 5),
        ("education", 16, 5),
        ("workclass", 8, 5),
        ("occupation", 14, 3),
    ],
)
def test_the_adult_trees_have_the_leaves_and_levels_of_the_source(
    column: str, number: int, depth: int
) -> None:
    assert len(taxonomies.leaves(taxonomies.ADULT[column])) == number
    assert taxonomies.levels(taxonomies.ADULT[column]) == depth


@pytest.mark.parametrize(
    "trees", [taxonomies.ADULT, taxonomies.PATIENTS, taxonomies.CHAPTER_2, taxonomies.CHAPTER_3]
)
def test_a_tree_has_one_root_and_each_name_once(trees: Mapping[str, Tree]) -> None:
    for tree in trees.values():
        assert len(tree) == 1
        nodes = {path[:length] for path in taxonomies.paths(tree) for length in range(1, len(path) + 1)}
        assert len({node[-1] for node in nodes}) == len(nodes)


def test_patient_trees_have_three_to_five_levels() -> None:
    depths = {column: taxonomies.levels(tree) for column, tree in taxonomies.PATIENTS.items()}
    assert depths.pop("sex") == 2
    assert set(depths.values()) <= {3, 4, 5}
