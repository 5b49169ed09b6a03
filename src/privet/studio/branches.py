"""Edits of a taxonomy: rename, merge, split, move, add; each gives another tree and changes none.

A label stands once in a tree, so a node is named by it. What an edit does not touch is taken over as it is,
so that one in a tree of many thousand nodes costs little more than finding its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from privet.errors import HierarchyError, InputError
from privet.hierarchy.tree import Branch, Tree

ONCE: Mapping[str, int] = {}  # no label stands on several levels
QUOTE = '"'
# Both delimiters, quotes, whatever ends a line somewhere, blanks at the ends, the mark of a file's beginning.
_ODD = re.compile(r'[;,"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\ufeff]|^\s|\s\Z')


class Edited:
    """A tree while it is edited: who stands below whom, where that has changed."""

    def __init__(self, root: Branch) -> None:
        self.root = root.label
        self._nodes = {node.label: node for node in root.walk()}
        self._above = {child.label: node.label for node in self._nodes.values() for child in node.children}
        self._changed: dict[str, list[str]] = {}  # the children of every node that is made anew

    def tree(self) -> Branch:
        """The tree as it stands now."""
        return self._branch(self.root)

    def _branch(self, label: str) -> Branch:
        if label not in self._changed:
            return self._nodes[label]
        return Branch(label, tuple(map(self._branch, self._changed[label])))

    def _below(self, label: str) -> Collection[str]:
        known = self._changed.get(label)
        return [child.label for child in self._nodes[label].children] if known is None else known

    def _touched(self, label: str) -> list[str]:
        """The children of a node, to be changed; all above it are made anew, too."""
        for one in (label, *self._ways_up(label)):
            if one not in self._changed:
                self._changed[one] = [child.label for child in self._nodes[one].children]
        return self._changed[label]

    def _ways_up(self, label: str) -> Iterable[str]:
        while (above := self._above.get(label)) is not None:
            yield above
            label = above

    def _found(self, label: str) -> str:
        if label not in self._nodes:
            raise InputError("the tree has no such node")
        return label

    def _fresh(self, given: str, besides: str | None = None) -> str:
        label = " ".join(given.split())
        if not label:
            raise InputError("a node needs a name")
        if label in self._nodes and label != besides:
            raise InputError("another node of the tree has this name")
        return label

    def rename(self, old: str, new: str) -> None:
        label = self._fresh(new, besides=old)
        if not self._below(self._found(old)):
            raise InputError("a leaf is a value of the data and keeps its name")
        below = self._changed[label] = self._touched(old)
        for child in below:
            self._above[child] = label
        if old == self.root:
            self.root = label
        else:
            beside = self._changed[self._above[old]]
            beside[beside.index(old)] = label
            self._above[label] = self._above[old]
        self._nodes[label] = self._nodes[old]
        if label != old:
            self._above.pop(old, None)
            del self._nodes[old], self._changed[old]

    def merge(self, labels: Collection[str], new: str) -> None:
        """Some siblings below a new node of their own."""
        wanted = set(labels)
        if len(wanted) < 2:
            raise InputError("choose two nodes or more that stand side by side")
        parents = {self._above.get(self._found(label)) for label in wanted}
        if len(parents) != 1 or (parent := parents.pop()) is None:
            raise InputError("only nodes that stand side by side can be merged; move them first")
        label = self._fresh(new)
        beside = self._touched(parent)
        inside = [one for one in beside if one in wanted]
        at = beside.index(inside[0])
        beside[:] = [*beside[:at], label, *(one for one in beside[at:] if one not in wanted)]
        self._nodes[label], self._changed[label], self._above[label] = Branch(label), inside, parent
        for one in inside:
            self._above[one] = label

    def split(self, label: str) -> None:
        """A node gives way to its children."""
        below = list(self._below(self._found(label)))
        if label == self.root or not below:
            raise InputError("the root and the leaves cannot be split")
        parent = self._above.pop(label)
        beside = self._touched(parent)
        at = beside.index(label)
        beside[at : at + 1] = below
        for child in below:
            self._above[child] = parent
        del self._nodes[label]
        self._changed.pop(label, None)

    def move(self, label: str, under: str) -> None:
        """A node with all below it, below another one."""
        self._found(label)
        if label == self.root or label in {self._found(under), *self._ways_up(under)}:
            raise InputError("a node cannot stand below itself")
        if not self._below(under):
            raise InputError("a leaf is a value of the data; choose a group")
        parent = self._above[label]
        self._touched(parent).remove(label)
        self._touched(under).append(label)
        self._above[label] = under
        while not self._changed[parent]:  # a group with nothing below it any more
            empty, parent = parent, self._above.pop(parent)
            self._changed[parent].remove(empty)
            del self._nodes[empty], self._changed[empty]


def renamed(root: Branch, old: str, new: str) -> Branch:
    """The same tree with another label in one place.

    >>> tree = Branch("*", (Branch("South", (Branch("Lyon"),)),))
    >>> [node.label for node in renamed(tree, "South", "Midi").walk()]
    ['*', 'Midi', 'Lyon']
    """
    made = Edited(root)
    made.rename(old, new)
    return made.tree()


def merged(root: Branch, labels: Collection[str], new: str) -> Branch:
    """Some siblings below a new node of their own."""
    made = Edited(root)
    made.merge(labels, new)
    return made.tree()


def split(root: Branch, *labels: str) -> Branch:
    """Nodes give way to their children, one after the other."""
    made = Edited(root)
    for label in labels:
        made.split(label)
    return made.tree()


def moved(root: Branch, labels: Collection[str], under: str) -> Branch:
    """Nodes with all below them, below another one."""
    made = Edited(root)
    for label in labels:
        made.move(label, under)
    return made.tree()


def added(root: Branch, values: Iterable[str]) -> Branch:
    """Values that have no place yet, as leaves below the root."""
    known = {one.label for one in root.walk()}
    fresh = [Branch(value) for value in dict.fromkeys(values) if value not in known]
    return replace(root, children=(*root.children, *fresh))


def rows(root: Branch, repeat: Mapping[str, int] = ONCE) -> str:
    """The tree as `privet` and others read it: a row for each leaf, up to the root.

    `repeat`: labels that stand on several levels, and on how many.
    """
    ways: list[tuple[str, ...]] = []

    def standing(label: str) -> tuple[str, ...]:
        return (label,) * repeat.get(label, 1)

    def below(node: Branch, above: tuple[str, ...]) -> None:
        here = (*standing(node.label), *above)
        for child in node.children:
            if child.children:
                below(child, here)
            else:
                ways.append((*standing(child.label), *here))

    if root.children:
        below(root, ())
    else:
        ways.append(standing(root.label))
    return "".join(";".join(map(_field, way)) + "\n" for way in ways)


def _field(label: str) -> str:
    """A label in quotes where it could be taken for more, or less, than one field.

    >>> [_field(label) for label in ("a b", "a, b", 'the "a" b')]
    ['a b', '"a, b"', '"the ""a"" b"']
    """
    return f'"{label.replace(QUOTE, QUOTE * 2)}"' if _ODD.search(label) else label


def kept(tree: Tree) -> tuple[str, dict[str, Any]]:
    """The tree as rows, and what a policy says of them; refused unless they are read as this very tree."""
    repeat = {label: times for label, times in tree.repeat if times > 1}
    text = rows(tree.root, repeat)
    said: dict[str, Any] = {"type": "csv"} | ({"null": True} if tree.null else {})
    if not repeat and reads_back(tree.root, text):
        Tree(tree.root).written_as(text)
        return text, said
    try:
        found = Tree.from_csv(text)
    except HierarchyError:
        found = None
    if found is None or found.root != tree.root:
        raise InputError("this tree cannot be kept as a file: a label is empty, or nothing is below the root")
    if dict(found.repeat) != repeat:  # rows of several lengths do not say it
        said |= {"type": Tree.name, "repeat": repeat}
    return text, said


def reads_back(root: Branch, text: str) -> bool:
    """Are these rows, for certain, read as this very tree? Where a label is odd, who reads them has to say.

    >>> tree = Branch("*", (Branch("a"),))
    >>> reads_back(tree, rows(tree))
    True
    """
    return bool(
        root.children
        and '"' not in text  # so nothing is quoted: no label holds a delimiter or the end of a line
        and "," not in root.label  # before which the delimiter is looked for
        and not text.startswith((";", "\ufeff"))
        and not any(empty in text for empty in (";;", ";\n", "\n;"))
        and len(text.splitlines()) == text.count("\n")  # nor any other letter that ends lines
    )
