"""The experiments on rules run, and hide what they were asked to; no test looks at a clock."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """bench/ is not an installed package: it is found from the root of the repository."""
    monkeypatch.syspath_prepend(ROOT)


@pytest.mark.slow
def test_every_method_hides_every_rule_and_says_what_it_cost() -> None:
    from bench.rules import generated, hiding

    rows = hiding(generated(400, 40, topics=4), full=False, support=Fraction(1, 20))
    assert [row[0] for row in rows] == [
        "remove transactions",
        *(
            f"{how}, {by}"
            for by in ("support", "confidence", "either")
            for how in ("delete items", "border", "exact")
        ),
    ]
    assert {row[1] for row in rows} == {5}
    assert {row[2] for row in rows} == {0}
    deleted = {str(row[0]): int(str(row[5])) for row in rows}
    assert deleted["border, support"] >= deleted["exact, support"] > 0
    assert deleted["remove transactions"] > deleted["border, support"]
