"""The parameters of promises and searches as inputs of a page, and back: one form for all that is installed.

Types say what is asked: whole numbers, exact fractions, words of a list, columns that are protected. What is
more than that is written as TOML has it, as in the policy itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import tomli_w

from privet import registry
from privet.errors import PolicyError
from privet.models.template import Sensitive
from privet.policy.notation import noted, written

Said = Mapping[str, Sequence[str]]  # what a form sends

QUESTIONS = {  # LKC's three questions, and those that many promises share
    "l": "How many values of a person may somebody know?",
    "k": "How many records must look alike to them, at least?",
    "c": "What share of those records may have one protected value, at most?",
    "alpha": "What share of a class may have one protected value, at most?",
    "t": "How far may the values of a class be from those of the whole table?",
    "epsilon": "How much does this release spend of the budget?",
    "sensitive": "Which columns are protected?",
    "suppression": "What share of the records may be left out?",
    "time_limit": "After how many seconds is the best so far taken?",
    "score": "What is a good split?",
    "m": "How many items of a person may somebody know?",
    "p": "How many different protected values must a class have, at least?",
    "beta": "How much more frequent may a value be in a class than in the table, relatively?",
    "delta": "How far may the share of a value in a class be from its share in the table, as a logarithm?",
    "low": "How likely must it be, at least, that a person is in the data?",
    "high": "How likely may it be, at most, that a person is in the data?",
    "at_most": "How much of it may there be, at most?",
    "distance": "How is the distance between values measured?",
    "loss": "Which measure of loss is made small?",
    "nodes": "How many nodes of the lattice are looked at, at most?",
    "seed": "Where does chance begin? The same number gives the same release",
    "support": "What share of the people must take a route so that it counts as frequent?",
}
NOT_ASKED = {"levels", "weights"}  # which the lattice explorer sets


@dataclass(frozen=True)
class Input:
    """One parameter on a page."""

    name: str
    kind: str  # whole, exact, word, flag, protected, columns, toml
    question: str
    value: str
    needed: bool
    words: tuple[str, ...] = ()
    chosen: Mapping[str, str] = None  # type: ignore[assignment] # of columns: their protected values


def inputs(group: str, name: str, table: Mapping[str, Any] | None = None) -> Iterator[Input]:
    """What a model or algorithm asks, filled with what a policy says already."""
    made = registry.find(group, name)
    hints = get_type_hints(made)
    for one in written(made):
        if one.name in NOT_ASKED:
            continue
        kind, words = _kind(hints[one.name], one.name)
        needed = one.default is MISSING and one.default_factory is MISSING
        usual = None if one.default is MISSING else one.default
        given = (table or {}).get(one.name, noted(usual))
        question = QUESTIONS.get(one.name, one.name.replace("_", " "))
        chosen = _chosen(given) if kind in {"protected", "columns"} else {}
        yield Input(one.name, kind, question, _shown(kind, given), needed, words, chosen)


def _kind(hint: Any, name: str) -> tuple[str, tuple[str, ...]]:
    if hint == Sensitive:
        return "protected", ()
    if name == "sensitive":
        return "columns", ()
    if get_origin(hint) in {Union, UnionType}:
        parts = [part for part in get_args(hint) if part is not NoneType]
        if len(parts) != 1:
            return "toml", ()
        hint = parts[0]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "word", tuple(str(one.value) for one in hint)
    plain = {int: "whole", Fraction: "exact", bool: "flag", float: "number"}
    return plain.get(hint, "toml"), ()


def _chosen(given: Any) -> dict[str, str]:
    """The protected columns, each with its values, one a line; empty: every value."""
    if isinstance(given, Mapping):
        return {name: _values(values) for name, values in given.items()}
    return dict.fromkeys(map(str, given or ()), "")


def _values(values: Any) -> str:
    if not isinstance(values, list) or any(not isinstance(v, (str, Mapping)) for v in values):
        return ""
    plain = [v.get("value") if isinstance(v, Mapping) else v for v in values]
    return "\n".join(str(v) for v in plain if v is not None)


def _shown(kind: str, given: Any) -> str:
    if given is None or kind in {"protected", "columns"}:
        return ""
    if kind == "toml":
        return (
            tomli_w.dumps({"x": given}).removeprefix("x = ").strip() if not isinstance(given, Mapping) else ""
        )
    return str(given).lower() if isinstance(given, bool) else str(given)


def table_of(group: str, name: str, said: Said) -> dict[str, Any]:
    """What a form said, as the table of a policy; complaints name the parameter."""
    table: dict[str, Any] = {"type": name}
    complaints: list[str] = []
    for one in inputs(group, name):
        try:
            found = _read(one, said)
        except ValueError:
            what = {"whole": "a whole number", "number": "a number"}.get(one.kind, "written as in a policy")
            complaints.append(f"{one.name}: is {what}")
            continue
        if found is not None:
            table[one.name] = found
        elif one.needed:
            complaints.append(f"{one.name} is missing")
    if complaints:
        raise PolicyError(*complaints)
    return table


def _read(one: Input, said: Said) -> Any:
    given = " ".join(said.get(one.name, ())).strip()
    if one.kind in {"protected", "columns"}:
        names = [name for name in said.get(one.name, ()) if name]
        if one.kind == "columns":
            return names
        return {name: _protected("\n".join(said.get(f"values:{name}", ()))) for name in names}
    if one.kind == "flag":
        return given == "true" if one.name in said else None
    if not given:
        return None
    if one.kind == "whole":
        return int(given)
    if one.kind == "number":
        return float(given)
    if one.kind == "toml":
        return tomllib.loads(f"x = {given}")["x"]
    return given


def _protected(lines: str) -> Any:
    values = [line.strip() for line in lines.splitlines() if line.strip()]
    return [{"value": value} for value in values] if values else "every"
