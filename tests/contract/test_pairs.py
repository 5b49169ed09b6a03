"""Every model with every algorithm: a release that keeps its promise, or a clear refusal.

Driven by the registry, so that a new model or algorithm is tried with all others. What is claimed to work
is written down below; the rest must be refused, with the names of what does not go together.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.contract.pairs import easy, every, example, installed, kinds, lacks, policy_of, table_of
from tests.sweep import covering

import privet as pv
from privet.errors import PolicyError, PrivetError, UnsatisfiableError, UnsupportedError
from privet.verification import verify

CLASSES = {
    "alpha-k-anonymity",
    "beta-likeness",
    "confidence-bounding",
    "delta-disclosure",
    "distinct-l-diversity",
    "enhanced-beta-likeness",
    "entropy-l-diversity",
    "k-anonymity",
    "maximum-risk",
    "p-sensitive-k-anonymity",
    "recursive-l-diversity",
    "t-closeness",
}  # about each class over all quasi-identifiers by itself
WHOLE = {
    "average-risk",
    "delta-presence",
    "k-map",
    "lkc-privacy",
    "records-at-risk",
    "safe-harbor",
    "sample-uniqueness",
}  # about more, and kept when values are generalised
VALUES = CLASSES - {"alpha-k-anonymity", "k-anonymity", "maximum-risk", "p-sensitive-k-anonymity"}

CLAIMED: dict[str, set[str]] = {
    "anatomy": {"distinct-l-diversity", "entropy-l-diversity"},
    "auto": CLASSES | WHOLE | {"personalised-privacy", "population-uniqueness"},
    "bucketisation": VALUES,
    "coincident": CLASSES,
    "condensation": {"by-construction"},
    "diffgen": set(),  # with a ledger and public domains only; see tests/dp
    "incognito": CLASSES,
    "local": CLASSES,
    "microaggregation": {"k-anonymity"},
    "mondrian": CLASSES,
    "noisy-contingency": set(),
    "optimal": CLASSES | WHOLE | {"personalised-privacy", "population-uniqueness"},
    "pram": {"by-construction"},
    "rank-swap": {"by-construction"},
    "safe-lattice": {"entropy-l-diversity"},
    "samarati": CLASSES | WHOLE,
    "sampling": {"by-construction"},
    "suppression": CLASSES,
    "top-down": CLASSES | WHOLE,
}
SPLIT = {"anatomy", "bucketisation"}  # two tables for one sensitive attribute
PAIRS = [(model, algorithm) for algorithm in every("algorithms") for model in every("models")]


def claimed(model: str, algorithm: str) -> bool:
    return model in CLAIMED.get(algorithm, set())


@pytest.mark.parametrize("kind", ["models", "algorithms"])
def test_everything_has_an_example(kind: str) -> None:
    assert not {name: lacks(kind, name) for name in every(kind) if lacks(kind, name)}, (
        "tests/contract/pairs.py needs an example of it"
    )


def test_claims_are_about_what_is_installed() -> None:
    assert set(CLAIMED) == set(every("algorithms"))
    assert set().union(*CLAIMED.values()) <= set(every("models"))


@pytest.mark.parametrize(("model", "algorithm"), covering([pair for pair in PAIRS if claimed(*pair)], 10))
def test_a_pair_that_is_claimed_makes_a_release_that_anybody_can_check(
    model: str, algorithm: str, tmp_path: Path
) -> None:
    policy = policy_of([model], algorithm)
    release = pv.publish(easy(), policy)
    assert all(verdict.holds for _, verdict in release.verdicts)
    found = verify(release.write(tmp_path / "out"))
    assert found.holds, found.complaints
    try:
        made = pv.publish(table_of(len(model) + len(algorithm)), policy)
    except UnsatisfiableError:
        return  # of a random table, more than it can keep may be asked
    assert all(verdict.holds for _, verdict in made.verdicts)
    assert made.to_polars().height == made.evidence["records"]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("model", "algorithm"), [pair for pair in PAIRS if not claimed(*pair)])
def test_any_other_pair_is_refused_and_says_what_does_not_go_together(model: str, algorithm: str) -> None:
    with pytest.raises(PolicyError) as refused:  # when the policy is made, before anybody has data
        policy_of([model], algorithm)
    said = " ".join(refused.value.complaints)
    assert algorithm in said


@pytest.mark.parametrize("kind", ["models", "algorithms"])
def test_what_is_for_other_data_is_refused_by_name(kind: str) -> None:
    others = [name for name in installed(kind) if "table" not in kinds(kind, name)]
    for name in others:
        if lacks(kind, name):
            continue  # refused for what it lacks, before anything else
        pair = ([name], "top-down") if kind == "models" else (["k-anonymity"], name)
        with pytest.raises(PolicyError, match=f"{name} is for"):
            policy_of(*pair)


# Several models and several sensitive attributes together.

TOGETHER: dict[str, list[Any]] = {
    "two about classes": ["k-anonymity", "distinct-l-diversity"],
    "three about classes": ["k-anonymity", "t-closeness", "entropy-l-diversity"],
    "one of them about the whole": ["k-anonymity", "average-risk"],
    "several sensitive attributes": [
        "k-anonymity",
        example("models", "distinct-l-diversity", sensitive=["ill", "pay"]),
        example("models", "t-closeness", sensitive=["pay"]),
    ],
    "about the population and those who leave": ["k-map", "k-anonymity"],
    "about values only": ["distinct-l-diversity", "t-closeness"],
    "made by chance, and checked": ["by-construction", example("models", "average-risk", at_most=1)],
}


@pytest.mark.parametrize(("case", "algorithm"), covering(product(TOGETHER, every("algorithms")), 10))
def test_several_promises_are_all_kept_or_clearly_refused(case: str, algorithm: str, tmp_path: Path) -> None:
    columns = {"pay": {"role": "sensitive"}} if "several" in case else {}
    names = [m if isinstance(m, str) else m["type"] for m in TOGETHER[case]]
    refused: PrivetError | None = None
    try:
        release = pv.publish(easy(), policy_of(TOGETHER[case], algorithm, **columns))
    except (PolicyError, UnsupportedError, UnsatisfiableError) as error:
        refused = error
    if refused is not None:
        # Two tables split off one attribute; everything else that is claimed is claimed together, too.
        assert not all(claimed(name, algorithm) for name in names) or (columns and algorithm in SPLIT)
        assert algorithm in " ".join(refused.complaints)
        return
    assert all(verdict.holds for _, verdict in release.verdicts)
    promised = [promise["model"]["type"] for promise in release.evidence["promises"]]
    assert sorted(promised) == sorted(names)
    assert verify(release.write(tmp_path / "out")).holds


@pytest.mark.one_in(2)
@pytest.mark.parametrize("algorithm", [name for name, kept in CLAIMED.items() if kept >= CLASSES])
def test_several_sensitive_attributes_are_kept_by_every_search_over_classes(algorithm: str) -> None:
    """And a promise about one of them alone does not hold for the other by itself."""
    columns = {"pay": {"role": "sensitive"}}
    both = example("models", "distinct-l-diversity", l=3, sensitive=["ill", "pay"])
    for seed in range(3):
        try:
            release = pv.publish(table_of(seed, rows=60), policy_of([both], algorithm, **columns))
        except UnsatisfiableError:
            assert algorithm == "suppression"
            continue
        classes = release.to_polars().group_by("age", "hours").n_unique()
        assert classes["ill"].min() >= 3
        assert classes["pay"].min() >= 3
