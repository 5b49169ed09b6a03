"""Top and bottom coding: what is never told apart is not told apart by any algorithm."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.contract.pairs import every, policy_of, table_of
from tests.contract.test_pairs import CLAIMED

import privet as pv
from privet.errors import UnsatisfiableError, UnsupportedError

AGE: dict[str, Any] = {"role": "quasi", "hierarchy": {"type": "intervals", "bottom": 22, "top": 24}}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("algorithm", [name for name in every("algorithms") if CLAIMED[name]])
def test_values_beyond_the_ends_are_published_alike_or_not_at_all(algorithm: str) -> None:
    promise = next(
        name for name in ("k-anonymity", *sorted(CLAIMED[algorithm])) if name in CLAIMED[algorithm]
    )
    said = {"type": "mondrian", "output": "hierarchy"} if algorithm == "mondrian" else algorithm
    policy = policy_of([promise], said, age=AGE)
    raw = table_of(1, rows=200).with_columns(age=20 + pl.int_range(200) % 7)
    try:
        published = pv.publish(raw, policy).to_polars()["age"].cast(pl.String).to_list()
    except UnsupportedError as refused:
        assert "keeps some together" in str(refused)  # noqa: PT017 - either is right
        return
    except UnsatisfiableError:
        pytest.fail("this table keeps the promise")
    assert not {"20", "21", "24", "25", "26"} & set(published)
    assert len({label for label in published if "<" in label or ">" in label}) <= 2


def test_mondrian_says_how_it_can_be_done() -> None:
    with pytest.raises(
        UnsupportedError, match='mondrian without output = "hierarchy" publishes single values'
    ):
        pv.publish(table_of(1), policy_of(["k-anonymity"], "mondrian", age=AGE))
