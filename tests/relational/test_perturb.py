"""PRAM, rank swapping and sampling: what they change, what they leave, and how often."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Algorithm, Attribute, Finding, PrivacyModel, Role, Tally, Terms
from privet.errors import PolicyError, UnsatisfiableError
from privet.hierarchy import Auto
from privet.models.construction import ByConstruction
from privet.models.kanonymity import KAnonymity
from privet.recoding import Perturbation
from privet.relational.perturb import Pram, RankSwap, Replacement, Sampling, partners
from privet.relational.randomness import happens

MANY = 20_000
HALF = Fraction(1, 2)


def people(many: int = MANY) -> Tally:
    rng = np.random.default_rng(3)
    return tally_of(
        {
            "age": rng.integers(20, 30, many).tolist(),
            "job": [["cook", "maid", None][at] for at in rng.integers(0, 3, many)],
        },
        sensitive={"ill": rng.choice(["flu", "HIV"], many, p=[0.9, 0.1]).tolist()},
    )


def search(tally: Tally, algorithm: Algorithm, *models: PrivacyModel) -> Finding:
    attributes = tuple(Attribute(column.name, Role.QUASI, Auto()) for column in tally.quasi)
    return algorithm.search(tally, Terms(attributes, (ByConstruction(), *models), algorithm))


def perturbation(finding: Finding) -> Perturbation:
    assert isinstance(finding.recoding, Perturbation)
    return finding.recoding


def close(found: float, expected: float, many: int = MANY) -> bool:
    """Within 6 standard errors: a false alarm once in 5e8 runs."""
    return abs(found - expected) <= 6 * float(np.sqrt(expected * (1 - expected) / many))


def test_pram_keeps_the_share_it_says() -> None:
    tally = people()
    finding = search(tally, Pram(keep=Fraction(7, 10)))
    found = perturbation(finding)
    assert set(found.labels) == {"age", "job"}
    records = tally.by_record()
    for column in records.quasi:
        same = float(np.mean(found.positions[column.name] == column.codes))
        assert close(same, 0.7 + 0.3 / column.domain.size)
    # (keep + change) / change with change = 3/10 / 10 values
    assert finding.claims == {
        "keep": Fraction(7, 10),
        "odds of age": Fraction(73, 3),
        "odds of job": Fraction(8),
    }


def test_pram_by_frequency_keeps_frequencies() -> None:
    tally = people()
    found = perturbation(
        search(tally, Pram(keep=Fraction(0), columns=("ill",), replacement=Replacement.FREQUENCY))
    )
    assert set(found.labels) == {"ill"}
    rare = found.labels["ill"].index("HIV")
    before = float(tally.counts[tally.sensitive[0].codes == rare].sum()) / tally.records
    assert close(float(np.mean(found.positions["ill"] == rare)), before)
    uniform = perturbation(search(tally, Pram(keep=Fraction(0), columns=("ill",))))
    assert close(float(np.mean(uniform.positions["ill"] == rare)), 0.5)


def test_chance_is_not_repeated() -> None:
    tally = people(500)
    runs = [perturbation(search(tally, Pram(keep=HALF))).positions["age"].tolist() for _ in range(2)]
    assert runs[0] != runs[1]


@given(st.fractions(0, 1, max_denominator=7))
def test_happens_is_exact_at_the_ends(share: Fraction) -> None:
    found = happens(np.random.default_rng(1), share, 3_000)
    assert close(float(found.mean()), float(share), 3_000)
    if share in {0, 1}:
        assert found.all() == bool(share)


@settings(max_examples=100)
@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 99))
def test_partners_are_pairs_within_reach(size: int, reach: int, seed: int) -> None:
    found = partners(size, reach, np.random.default_rng(seed))
    assert sorted(found.tolist()) == list(range(size))
    assert (found[found] == np.arange(size)).all()
    assert (np.abs(found - np.arange(size)) <= reach).all()


def test_rank_swapping_keeps_every_columns_distribution_and_moves_no_farther() -> None:
    tally = people(2_000)
    found = perturbation(search(tally, RankSwap(within=Fraction(1, 20))))
    records = tally.by_record()
    for column in records.quasi:
        assert Counter(found.positions[column.name].tolist()) == Counter(column.codes.tolist())
        assert (found.positions[column.name] != column.codes).any()
    ages = records.quasi[0].codes.astype(int)
    # 5 % of ranks is half of one of ten equally frequent ages: nobody moves by two.
    assert np.abs(found.positions["age"] - ages).max() == 1


def test_a_sample_has_the_size_it_says() -> None:
    tally = people(1_000)
    recoding = perturbation(search(tally, Sampling(share=Fraction(1, 3))))
    assert recoding.kept is not None
    assert recoding.kept.sum() == 333
    assert tally.recoded(recoding).records == 333
    with pytest.raises(UnsatisfiableError, match="not one record"):
        search(people(2), Sampling(share=Fraction(1, 3)))


def test_a_promise_that_can_be_checked_is_checked() -> None:
    with pytest.raises(UnsatisfiableError, match="k-anonymity"):
        search(people(50), Pram(keep=HALF), KAnonymity(k=40))
    search(people(50), Pram(keep=HALF), KAnonymity(k=1))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Pram(keep=Fraction(1)),
        lambda: Pram(keep=Fraction(-1, 2)),
        lambda: RankSwap(within=Fraction(0)),
        lambda: RankSwap(within=Fraction(2)),
        lambda: Sampling(share=Fraction(0)),
        lambda: Sampling(share=Fraction(1)),
        lambda: search(people(9), Pram(keep=HALF, columns=("nothing",))),
    ],
)
def test_wrong_parameters_are_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(PolicyError):
        wrong()
