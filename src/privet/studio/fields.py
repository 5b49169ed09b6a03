"""The parameters of promises and searches as inputs of a page, and back: one form for all that is installed.

Types say what is asked: whole numbers, exact fractions, words of a list, columns that are protected. What is
more than that is written as TOML has it, as in the policy itself.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from privet import registry
from privet.drafts.text import inline
from privet.errors import InputError, PolicyError
from privet.models.template import Sensitive
from privet.policy.notation import noted, written
from privet.studio.questions import asked

Said = Mapping[str, Sequence[str]]  # what a form sends

NOT_ASKED = {"levels", "weights"}  # which the lattice explorer sets; a form leaves them as they are
IN_TEXT = "the policy says more of it than this form can: change it in the text of the policy, or look again"


@dataclass(frozen=True)
class Input:
    """One parameter on a page."""

    name: str
    kind: str  # whole, exact, word, flag, protected, columns, toml
    question: str
    value: str
    needed: bool
    words: tuple[str, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)  # of columns: their protected values
    kept: Mapping[str, Kept] = field(default_factory=dict)  # of columns: what only the text can change


@dataclass(frozen=True)
class Kept:
    """Protected values that no list of lines can say, such as bounds of their own; they stay as they are."""

    text: str  # as the policy has it
    mark: str  # by which a form that comes back says that it has shown this


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
        question = asked(name, one.name)
        chosen = _chosen(given) if kind in {"protected", "columns"} else {}
        kept = {} if kind != "protected" or not isinstance(given, Mapping) else _kept(given)
        yield Input(one.name, kind, question, _shown(kind, given), needed, words, chosen, kept)


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


def _kept(given: Mapping[str, Any]) -> dict[str, Kept]:
    """What is said of columns beyond a list of values."""
    beyond = {name: values for name, values in given.items() if not _is_lines(values)}
    return {name: Kept(inline(values), _mark(values)) for name, values in beyond.items()}


def _mark(values: Any) -> str:
    return json.dumps(values, sort_keys=True, default=str)


def _is_lines(values: Any) -> bool:
    """Does one value a line say all that a policy says here?"""
    if not isinstance(values, list):
        return bool(values == "every")
    plain = [v["value"] if isinstance(v, Mapping) and set(v) == {"value"} else v for v in values]
    return bool(plain) and all(isinstance(v, str) and _lines(v) == [v] for v in plain)


def _values(values: Any) -> str:
    if not isinstance(values, list) or not _is_lines(values):
        return ""
    return "\n".join(v["value"] if isinstance(v, Mapping) else v for v in values)


def _lines(said: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if line.strip()]


def _shown(kind: str, given: Any) -> str:
    if given is None or kind in {"protected", "columns"}:
        return ""
    if kind == "toml":
        return inline(given) if given != {} else ""
    return str(given).lower() if isinstance(given, bool) else str(given)


def table_of(group: str, name: str, said: Said, old: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a form said, as the table of a policy; complaints name the parameter.

    `old`: what stands in its place. Whatever the form does not show or did not change stays as it is there.
    """
    table: dict[str, Any] = {"type": name}
    complaints: list[str] = []
    old = old or {}
    for one in inputs(group, name, old):
        try:
            found = _read(one, said, old.get(one.name))
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
    return table | {key: old[key] for key in sorted(NOT_ASKED) if key in old}


def _read(one: Input, said: Said, old: Any) -> Any:
    """One parameter as a form says it; `old`: as the policy has it, None: not at all."""
    if one.kind in {"protected", "columns"}:
        names = [name for name in said.get(one.name, ()) if name]
        if one.kind == "columns":
            return names
        found = {name: _protected(one, name, said, old) for name in names}
        same = isinstance(old, list) and found == dict.fromkeys(old, "every")
        return old if same else found
    given = " ".join(said.get(one.name, ())).strip()
    if old is not None and (one.name not in said or given == one.value.strip()):
        return old
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


def _protected(one: Input, name: str, said: Said, old: Any) -> Any:
    """The protected values of a column; what no form can say is there only as it was."""
    standing, shown = one.kept.get(name), "".join(said.get(f"kept:{name}", ()))
    if shown != ("" if standing is None else standing.mark):
        raise InputError(f"{one.name}.{name}: {IN_TEXT}")
    values = _lines("\n".join(said.get(f"values:{name}", ())))
    if standing is not None and values:
        raise InputError(f"{one.name}.{name}: {IN_TEXT}")
    known = isinstance(old, Mapping) and name in old
    if standing is not None or (known and values == _lines(one.chosen[name])):
        return old[name]
    return [{"value": value} for value in values] if values else "every"
