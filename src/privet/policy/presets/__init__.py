"""Presets: promises that somebody has written down before, as policy files without columns.

Each file says where its promise comes from, what it promises, and what it does not. Nothing here is a
default: a steward names one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from privet.errors import InputError, one_of


@dataclass(frozen=True)
class Preset:
    """A promise with its source, and what it does not promise."""

    name: str
    title: str
    source: str
    promise: str
    not_promised: Sequence[str]
    models: Sequence[Mapping[str, Any]]
    without_sensitive: Sequence[Mapping[str, Any]]  # what is promised where no column is sensitive
    algorithm: Mapping[str, Any]
    trajectories: Mapping[str, Any] | None  # the same for paths; None: it has nothing to say of them
    rules: str | None  # columns are coarsened by rule, beside the promise

    @classmethod
    def find(cls, name: str) -> Preset:
        """The preset of that name."""
        if name not in names():
            raise InputError(f"--preset: {one_of('it', names(), name)}")
        document = tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
        said = document["preset"]
        return cls(
            name,
            said["title"],
            said["source"],
            " ".join(said["promise"].split()),
            said["not_promised"],
            document["models"],
            said.get("without_sensitive", document["models"]),
            document["algorithm"],
            said.get("trajectories"),
            said.get("rules"),
        )


@cache
def names() -> tuple[str, ...]:
    """What there is, in the order of the alphabet."""
    there = (path.name for path in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in there if name.endswith(".toml")))
