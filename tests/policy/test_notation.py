"""Algorithms as policies write them: tables of attributes, levels, exact shares, and back again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from privet.errors import PolicyError
from privet.policy.notation import build, describe
from privet.registry import installed
from privet.relational.local import Local
from privet.relational.mondrian import Choice, Cuts, Mondrian, Output
from privet.relational.objective import Loss
from privet.relational.optimal import Optimal
from privet.relational.suppression import Mode, Suppression

WHOLE: dict[str, dict[str, Any]] = {
    "samarati": {"suppression": "1/20", "loss": "entropy", "weights": {"age": 2}, "levels": {"sex": 0}},
    "incognito": {
        "suppression": "1/20",
        "loss": "class-size",
        "weights": {"age": 2},
        "levels": {"age": [1, 3]},
    },
    "optimal": {
        "loss": "discernibility",
        "suppression": "1/20",
        "time_limit": 2.5,
        "trim": False,
        "seed": 7,
        "weights": {"age": 2, "zip": 0.5},
        "levels": {"sex": 0, "age": [1, 3]},
    },
    "mondrian": {
        "relaxed": False,
        "cuts": "hierarchy",
        "choice": "best",
        "output": "means",
        "weights": {"age": 0.25},
    },
    "local": {
        "time_limit": 3,
        "refine": 1000,
        "labels": "hierarchy",
        "weights": {"age": 2},
        "levels": {"age": [0, 2]},
    },
    "suppression": {"mode": "cells", "suppression": "1/2", "weights": {"age": 2}},
    "bucketisation": {"relaxed": True, "cuts": "ranges", "choice": "median"},
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_key_is_read_and_written_again(name: str) -> None:
    table: dict[str, Any] = {"type": name, **WHOLE[name]}
    assert describe(build("algorithms", table)) == table
    # Nothing that was read is a default: a key that nobody reads would be found here.
    usual = describe(build("algorithms", {"type": name}))
    same = [key for key, value in table.items() if usual.get(key) == value and key != "type"]
    assert same in ([], ["relaxed"], ["cuts", "choice"], ["labels"])


@pytest.mark.parametrize("name", [n for n in installed("algorithms") if n in WHOLE])
def test_what_was_not_said_is_not_written(name: str) -> None:
    written = describe(build("algorithms", {"type": name}))
    assert not {"weights", "levels", "time_limit", "output"} & set(written)
    assert build("algorithms", written) == build("algorithms", {"type": name})


def test_a_policy_makes_what_python_makes() -> None:
    limits: dict[str, Any] = {"sex": 0, "age": (1, 3)}
    made = build("algorithms", {"type": "optimal", "suppression": "5%", "levels": {"sex": 0, "age": [1, 3]}})
    assert made == Optimal(suppression=Fraction(1, 20), levels=limits)
    assert made.levels == limits
    assert build("algorithms", {"type": "optimal", "loss": "precision"}).loss is Loss.PRECISION
    assert build("algorithms", {"type": "mondrian", **WHOLE["mondrian"]}) == Mondrian(
        cuts=Cuts.HIERARCHY, choice=Choice.BEST, output=Output.MEANS
    )
    assert build("algorithms", {"type": "local", "time_limit": 3}) == Local(time_limit=3)
    assert build("algorithms", {"type": "suppression", "mode": "cells"}) == Suppression(Mode.CELLS)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"suppression": 0.05}, 'suppression: write "0.05" in quotes, so that it is exact'),
        ({"suppression": float("nan")}, 'suppression: is an exact number such as "1/5" or "0.2", not nan'),
        ({"suppression": "\u0660.\u0665"}, "suppression: is an exact number such as"),
        ({"suppression": 2}, 'suppression is an exact share of the records from 0 to 1, such as "5/100"'),
        ({"weights": 2}, "weights: is a table of attributes, such as { age = … }, not 2"),
        ({"weights": {"age": "2"}}, "weights: age: is a number, not '2'"),
        ({"weights": {"age": -1}}, "weights.age is a number from 0 on"),
        ({"levels": {"age": "1"}}, "levels: age: is a whole number or is a list, not '1'"),
        ({"levels": {"age": [2, 1]}}, "levels.age is a level from 0 on, or the lowest and the highest"),
        ({"levels": {"age": [1]}}, "levels.age is a level from 0 on, or the lowest and the highest"),
        ({"levels": {"age": True}}, "levels: age: is a whole number or is a list, not True"),
        ({"time_limit": 0}, "time_limit is a number of seconds above 0"),
        ({"time_limit": "3"}, "time_limit: is a number, not '3'"),
        ({"loss": "all"}, "loss: it is one of lm, entropy, precision, discernibility, class-size, not 'all'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(said: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PolicyError) as refused:
        build("algorithms", {"type": "optimal", **said})
    assert refused.value.complaints[0].startswith(complaint)


def test_every_wrong_entry_of_a_table_is_said_at_once() -> None:
    with pytest.raises(PolicyError) as refused:
        build("algorithms", {"type": "optimal", "weights": {"a": "x", "b": 1, "c": "y"}, "time_limit": "z"})
    assert len(refused.value.complaints) == 3
