"""What a release does not wait for: other questions, and functions compiled at every start."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from privet.evidence.values import Promise
from privet.roads.answers import Exploration

ROADS = ("tables", "trajectories", "documents", "transactions")


# A process that has loaded what is not ours, and forks for every road.
LOADS = """
import importlib, os, sys, numpy, polars
for kind in sys.argv[1:]:
    if not os.fork():
        importlib.import_module(f"privet.roads.{kind}.road")
        print(kind, *(name for name in sys.modules if "privet.roads" in name), flush=True)
        os._exit(0)
    assert not os.wait()[1]
"""


def test_a_road_does_not_load_what_answers_about_it() -> None:
    command = [sys.executable, "-W", "ignore", "-c", LOADS, *ROADS]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    said = [line.split() for line in run.stdout.splitlines()]
    assert [kind for kind, *_ in said] == list(ROADS)
    for _, *names in said:
        loaded = {name.rpartition(".")[2] for name in names}
        assert "road" in loaded
        assert not loaded & {"exposure", "comparison", "explanation"}


def test_parts_share_their_functions() -> None:
    """A dataclass has three functions compiled for each class: 70 classes took 0.04 s of every run."""
    for kind in (Promise, Exploration):
        assert not {"__init__", "__setattr__", "__delattr__"} & set(vars(kind))


def test_parts_are_frozen_and_know_their_fields() -> None:
    given: dict[str, Any] = {"records": 1, "risk": "a", "loss": "b", "before": {}, "runs": []}
    given |= {"frontier": [], "best": []}
    made = Exploration(**given)
    assert made == given
    with pytest.raises(FrozenInstanceError):
        made.records = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del made.records
    with pytest.raises(TypeError, match="risk is missing"):
        Exploration(**{key: value for key, value in given.items() if key != "risk"})
    with pytest.raises(TypeError, match="colour"):
        Exploration(**given, colour="red")  # type: ignore[call-arg]
