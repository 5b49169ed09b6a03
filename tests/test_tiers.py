"""`make test` and `make test-more` share the tests: none is lost, and each subject is in the first."""

from __future__ import annotations

import pytest
from tests import tiers

FLOOR, BOTH = 7_000, 10_000  # tests that `make test` runs, and that CI runs: none vanish unseen


@pytest.fixture(scope="module")
def shared(request: pytest.FixtureRequest) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """What is run and what is left, of the whole suite."""
    if request.config.option.file_or_dir:
        pytest.skip("only a part of the tests was collected")
    return request.config.stash[tiers.TIERS]


def test_none_vanish(shared: tuple[list[pytest.Item], list[pytest.Item]]) -> None:
    taken, left = shared
    assert len(taken) >= FLOOR
    assert len(taken) + len(left) >= BOTH


def test_every_file_and_every_name_is_tested_by_default_wherever_it_is_tested(
    shared: tuple[list[pytest.Item], list[pytest.Item]],
) -> None:
    taken, left = shared
    assert tiers.subjects(taken) == tiers.subjects([*taken, *left])


def test_the_list_is_of_these_tests(shared: tuple[list[pytest.Item], list[pytest.Item]]) -> None:
    """One that got another name is run whole until it is measured again: no harm while they are few."""
    taken, left = shared
    listed = set(tiers.listed())
    gone = listed - {tiers.test_of(item) for item in (*taken, *left)}
    assert len(gone) <= len(listed) // 20, "`make test-costs` measures anew"


def test_of_a_dear_test_as_many_cases_are_run_as_cost_what_any_test_may() -> None:
    fair = tiers.FAIR
    assert tiers.Dear(cases=10, seconds=5 * fair).taken(10) == {0, 5}
    assert tiers.Dear(cases=10, seconds=5 * fair).taken(20) == {0, 10}  # it has grown since
    assert tiers.Dear(cases=4, seconds=fair).taken(4) == {0, 1, 2, 3}
    assert tiers.Dear(cases=3, seconds=3.5 * fair).taken(3) == frozenset()
