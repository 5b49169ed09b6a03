"""What privet says of searches and promises in a policy, in the words of the checker of one file.

`python -m tests.forge.grammar` prints the lines of its table that follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from privet import registry
from privet.document.anatomy import COSTS, ORDERS
from privet.errors import PrivetError
from privet.models.template import Sensitive
from privet.policy.notation import build, written

SEVERAL = {"slots": "*s", "grids": "*10..1000000", "ways": "+global,local"}  # what is asked of each, too
NAMES = {"sensitive", "quasi", "antecedent", "consequent", "itemset", "order", "columns"}  # each once
TEXTS = {"order": ORDERS, "cost": COSTS}  # fields of tree-anatomy that are one of a few texts


def lines() -> list[str]:
    """One line for each search and each promise."""
    return [*_lines("algorithms", "search"), *_lines("models", "promise")]


def _lines(kind: str, called: str) -> Iterator[str]:
    for name in registry.installed(kind):
        made = registry.find(kind, name)
        if not made.__module__.startswith("privet."):
            continue  # a plug-in of the test's own
        hints = get_type_hints(made)
        words = []
        for field in written(made):
            hint = hints[field.name]
            folded = get_origin(hint) is Mapping and field.default_factory is not MISSING
            perhaps = "?" * (folded or NoneType in get_args(hint))
            words.append(f"{field.name}{perhaps}={_word(kind, name, field.name, hint)}")
        yield f"{called} {name}: {' '.join(words)}"


def _word(kind: str, name: str, field: str, hint: Any) -> str:
    """The kind of a field's values."""
    if hint == Sensitive:
        return "protected"
    parts = [part for part in get_args(hint) if part is not NoneType]
    if get_origin(hint) in {Union, UnionType} and len(parts) == 1:
        return _word(kind, name, field, parts[0])
    if get_origin(hint) is Literal:
        return ",".join(sorted(parts))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return ",".join(sorted(one.value for one in hint))
    if get_origin(hint) in {tuple, Sequence}:
        return SEVERAL.get(field) or "*" + _word(kind, name, field, parts[0])
    if get_origin(hint) is Mapping:
        plain = {float: "x", int | Sequence[int]: "level"}
        return f"%{plain[parts[1]]}" if parts[1] in plain else "."
    if hint is str and name == "tree-anatomy":
        return ",".join(sorted(TEXTS[field]))
    if hint in {int, Fraction}:
        return _number(kind, name, field, whole=hint is int)
    return {float: "x", str: "w" if field in NAMES else "t", bool: "b"}.get(hint, ".")


def _number(kind: str, name: str, field: str, *, whole: bool) -> str:
    """Which numbers it may be: tried, with all else as it might be."""
    made = registry.find(kind, name)
    hints = get_type_hints(made)
    usual = {int: 2, Fraction: "1/2", Sensitive: {"s": ["a"]}, Fraction | None: "1/2", str: "s"}
    needed: dict[str, Any] = {
        one.name: usual.get(hints[one.name], ["s"])
        for one in written(made)
        if one.default is MISSING and one.default_factory is MISSING
    }
    if name == "t-closeness":
        needed["distance"] = "equal"
    if name == "hidden-rule":
        needed["itemset"] = ["s"]
    if name == "p-sensitive-k-anonymity":
        needed["p"] = 1

    def refused(value: Any) -> bool:
        try:
            build(kind, {"type": name, **needed, field: value})
        except PrivetError:
            return True
        return False

    if refused(needed.get(field, 2 if whole else "1/2")):
        return "n" if whole else "p"  # of promises that need more than one of each
    if whole and (refused(1) or not refused(-1)):
        return "2.." if refused(1) else ".."
    if not whole and refused("3/2") and not refused("2"):
        return "h"
    letters = ("m", "n") if whole else ("q", "p") if refused("2") else ("g", "f")
    return letters[0] if refused(0) else letters[1]


if __name__ == "__main__":
    print(*lines(), sep="\n")
