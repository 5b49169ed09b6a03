"""Counting that nobody waits for ends between two combinations, without a number; all else is as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from privet import effort, native
from privet.policy.values import Policy
from privet.roads import check

PEOPLE = pl.DataFrame(
    [[f"{n % 7}", f"{n % 5}", f"{n % 3}", f"p{n // 2}", ("flu", "gout")[n % 2]] for n in range(120)],
    schema=["a", "b", "c", "who", "ill"],
    orient="row",
)
LKC = {"type": "lkc-privacy", "l": 2, "k": 9, "c": "1/2", "sensitive": ["ill"]}
ROLES = {name: {"role": "quasi", "hierarchy": {"type": "flat"}} for name in "abc"}


def policy(**more: Any) -> Policy:
    attributes = {**ROLES, "ill": {"role": "sensitive"}, "who": {"role": "identifier"}}
    said = {"policy": 1, "kind": "table", "attributes": attributes, "models": [LKC], **more}
    return Policy.from_document(said, base=Path())


@pytest.mark.parametrize("whose", [{"rows": "persons"}, {"person": "who"}], ids=["records", "persons"])
@pytest.mark.parametrize("compiled", [False, True])
def test_what_nobody_waits_for_ends(
    whose: dict[str, str], compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = policy(**whose)
    expected = check(PEOPLE, asked)
    if compiled and native.library() is None:
        pytest.skip("the compiled loops are not built")
    monkeypatch.setattr(native, "pays", lambda _work: compiled)
    turns = []

    def soon() -> bool:
        turns.append(1)
        return len(turns) > 1

    with pytest.raises(effort.StoppedError), effort.while_wanted(soon):
        check(PEOPLE, asked)
    with effort.while_wanted(lambda: False):
        assert check(PEOPLE, asked) == expected
    assert check(PEOPLE, asked) == expected  # and nothing of it stays
