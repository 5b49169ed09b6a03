"""Edits of a taxonomy: rename, merge, split, move, add; each gives another tree and changes none.

A label stands once in a tree, so a node is named by it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from io import StringIO

from privet.errors import InputError
from privet.hierarchy.tree import Branch


def renamed(root: Branch, old: str, new: str) -> Branch:
    """The same tree with another label in one place.

    >>> tree = Branch("*", (Branch("South", (Branch("Lyon"),)),))
    >>> [node.label for node in renamed(tree, "South", "Midi").walk()]
    ['*', 'Midi', 'Lyon']
    """
    fresh = _label(new)
    node = _found(root, old)
    if not node.children:
        raise InputError("a leaf is a value of the data and keeps its name")
    _refuse_taken(root, fresh, besides=old)
    return _mapped(root, lambda one: replace(one, label=fresh) if one.label == old else one)


def merged(root: Branch, labels: Collection[str], new: str) -> Branch:
    """Some siblings below a new node of their own."""
    fresh = _label(new)
    wanted = set(labels)
    if len(wanted) < 2:
        raise InputError("choose two nodes or more that stand side by side")
    parents = [one for one in root.walk() if wanted & {child.label for child in one.children}]
    if len(parents) != 1 or not wanted <= {child.label for child in parents[0].children}:
        raise InputError("only nodes that stand side by side can be merged; move them first")
    _refuse_taken(root, fresh)

    def change(one: Branch) -> Branch:
        if one.label != parents[0].label:
            return one
        inside = tuple(child for child in one.children if child.label in wanted)
        rest = [child for child in one.children if child.label not in wanted]
        at = next(at for at, child in enumerate(one.children) if child.label in wanted)
        before = [child for child in one.children[:at] if child in rest]
        return replace(one, children=(*before, Branch(fresh, inside), *rest[len(before) :]))

    return _mapped(root, change)


def split(root: Branch, label: str) -> Branch:
    """A node gives way to its children."""
    node = _found(root, label)
    if label == root.label or not node.children:
        raise InputError("the root and the leaves cannot be split")

    def change(one: Branch) -> Branch:
        below = (
            grown
            for child in one.children
            for grown in (child.children if child.label == label else (child,))
        )
        return replace(one, children=tuple(below))

    return _mapped(root, change)


def moved(root: Branch, label: str, under: str) -> Branch:
    """A node with all below it, below another one."""
    node, target = _found(root, label), _found(root, under)
    if label == root.label or under in {one.label for one in node.walk()}:
        raise InputError("a node cannot stand below itself")
    if not target.children:
        raise InputError("a leaf is a value of the data; choose a group")
    without = _mapped(
        root,
        lambda one: replace(one, children=tuple(child for child in one.children if child.label != label)),
    )
    placed = _mapped(
        without, lambda one: replace(one, children=(*one.children, node)) if one.label == under else one
    )
    return _pruned(placed, _leaves(root))


def added(root: Branch, values: Iterable[str]) -> Branch:
    """Values that have no place yet, as leaves below the root."""
    known = {one.label for one in root.walk()}
    fresh = [Branch(value) for value in dict.fromkeys(values) if value not in known]
    return replace(root, children=(*root.children, *fresh))


def counted(root: Branch, many: Mapping[str, int]) -> dict[str, int]:
    """How many records stand below each node; empty where it is not known of the values.

    >>> counted(Branch("*", (Branch("a"), Branch("b"))), {"a": 2, "b": 3})
    {'a': 2, 'b': 3, '*': 5}
    """
    found: dict[str, int] = {}

    def below(node: Branch) -> int:
        total = sum(below(child) for child in node.children) if node.children else many.get(node.label, 0)
        found[node.label] = total
        return total

    if many:
        below(root)
    return found


def rows(root: Branch) -> str:
    """The tree as `privet` and others read it: a row for each leaf, up to the root."""
    text = StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(_ways(root, ()))
    return text.getvalue()


def _ways(node: Branch, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    here = (node.label, *above)
    if not node.children:
        yield here
    for child in node.children:
        yield from _ways(child, here)


def _mapped(node: Branch, change: Callable[[Branch], Branch]) -> Branch:
    return change(replace(node, children=tuple(_mapped(child, change) for child in node.children)))


def _pruned(node: Branch, leaves: set[str]) -> Branch:
    """Without groups that have nothing below them any more."""
    kept = (_pruned(child, leaves) for child in node.children)
    return replace(node, children=tuple(one for one in kept if one.children or one.label in leaves))


def _leaves(root: Branch) -> set[str]:
    return {one.label for one in root.walk() if not one.children}


def _found(root: Branch, label: str) -> Branch:
    found = next((one for one in root.walk() if one.label == label), None)
    if found is None:
        raise InputError("the tree has no such node")
    return found


def _label(given: str) -> str:
    fresh = " ".join(given.split())
    if not fresh:
        raise InputError("a node needs a name")
    return fresh


def _refuse_taken(root: Branch, label: str, besides: str | None = None) -> None:
    if any(one.label == label != besides for one in root.walk()):
        raise InputError("another node of the tree has this name")
