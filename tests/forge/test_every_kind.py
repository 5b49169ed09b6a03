"""Random forgeries of every kind of release: nothing is accepted that the checker of one file rejects."""

from __future__ import annotations

import pytest
from tests.forge.every import KINDS, run


@pytest.mark.parametrize("kind", KINDS)
def test_both_checkers_judge_forgeries_alike(kind: str) -> None:
    found = run(kind, 16, seed=1, each=8)
    assert found["tried"] == 16
    assert found["wrong"] + found["evidence"] > 6, "forgeries that anybody would notice"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_and_thousands_of_them(kind: str) -> None:
    found = run(kind, 1250, seed=2)
    assert found["tried"] == 1250
    assert found["wrong"] > 500
    assert found["alone 0"] + found["alone 1"] > 800 or kind in {"halves", "noisy"}, (
        "nobody abstains from all"
    )
