"""What goes along a road from station to station, as values: what was asked, and what each station made."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from privet.core import Form, Progress
from privet.engine import Cluster, Engine
from privet.policy.values import Policy
from privet.roads import Verdicts
from privet.roads.stations import settle

Data = TypeVar("Data")  # as it was read
Counts = TypeVar("Counts")  # all that a search may see, and the engine's own notes on it
Found = TypeVar("Found")  # what it decided on
Leaving = TypeVar("Leaving")  # the data that is about to leave
Seen = TypeVar("Seen")  # that data as its recipient will see it


@dataclass(frozen=True)
class Asked:
    """What the steward asked for."""

    source: Any = field(repr=False)
    policy: Policy
    engine: Engine[Any]
    like: Path | None
    output: str | None
    progress: Progress = field(repr=False)
    beside: Executor = field(repr=False)  # for what need not wait

    @cached_property
    def form(self) -> Form:
        """How the source is written, with everything said that can be told from a file."""
        form = settle(self.source, self.policy.form)
        if form.format is None and isinstance(self.engine, Cluster):
            return replace(form, format=self.engine.written)
        return form


class Once(Generic[Data]):
    """Data that is handed over: whoever takes it holds it alone, so that texts go when they are counted."""

    def __init__(self, data: Data) -> None:
        self._data = [data]

    def take(self) -> Data:
        return self._data.pop()


@dataclass(frozen=True)
class Passed(Generic[Counts, Found, Leaving, Seen]):
    """What every station made, for those who measure and release."""

    asked: Asked
    counts: Counts = field(repr=False)
    found: Found = field(repr=False)
    leaving: Leaving = field(repr=False)
    seen: Seen = field(repr=False)
    verdicts: Verdicts

    @property
    def policy(self) -> Policy:
        return self.asked.policy


class Later:
    """A question that a module of the kind's own room answers; a release does not wait until it is loaded."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __set_name__(self, road: type, name: str) -> None:
        self.room, self.name = road.__module__.rpartition(".")[0], name

    def __get__(self, road: object, kind: type) -> Callable[..., Any]:
        answer: Callable[..., Any] = getattr(import_module(f"{self.room}.{self.module}"), self.name)
        return answer
