"""The table of the docs: which promise bounds which attack is what the attacks themselves say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.attackers.grid import PROMISES, ROWS, attacked, cell

from privet import registry
from privet.attackers.attack import Judged

PAGE = Path(__file__).parents[2] / "docs" / "explain" / "attacks.md"


def table() -> dict[str, list[str]]:
    """The cells of the table "Attack against promise", by attack."""
    text = PAGE.read_text(encoding="utf-8").partition("## Attack against promise")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {first: rest for first, *rest in lines}


def test_the_table_has_every_row_and_promise() -> None:
    assert table()["attack"] == list(PROMISES)
    assert set(table()) == {"attack", *ROWS}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("promise", list(PROMISES))
def test_what_is_bounded_is_bold_in_the_docs(promise: str) -> None:
    at = list(PROMISES).index(promise)
    outcomes = attacked(PROMISES[promise], 400)
    for row, (attack, goal) in ROWS.items():
        one = cell(outcomes, attack, goal)
        if one is None:
            continue  # of so few people there may be too little to try
        assert one.judged is not Judged.BEYOND
        assert (one.judged is Judged.WITHIN) == ("**" in table()[row][at]), (row, promise)


def test_every_attack_is_in_the_docs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert not [name for name in registry.BUILT_IN["attacks"] if f"| `{name}` |" not in text]
