"""A taxonomy that somebody wrote down: leaves are values, every node says less than its children."""

from __future__ import annotations

import json
import re
import threading
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, ClassVar, Self

from privet.core import Hierarchy
from privet.declared import settle
from privet.domain import Domain, Node, Value, distinct, refuse
from privet.equality import key
from privet.errors import HierarchyError
from privet.hierarchy.rows import read_rows

DEEPEST = 100  # levels; more is a loop somewhere in what wrote the file
LARGEST = 1 << 28  # bytes of a file: ten million leaves


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a taxonomy; without children it is a leaf."""

    label: str
    children: tuple[Branch, ...] = field(default=(), repr=False)

    def walk(self) -> Iterator[Branch]:
        """This node and all below it, parents first."""
        row = [self]
        while row:
            node = row.pop()
            yield node
            row.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class Tree(Hierarchy):
    """A hierarchy given in full. Leaves without data are kept: they exist, though nobody has them.

    >>> jobs = Tree.of({"Any": {"Artist": ["Dancer", "Writer"], "Lawyer": None}})
    >>> jobs.leaves, jobs.levels
    (('Dancer', 'Writer', 'Lawyer'), 3)
    """

    root: Branch
    null: bool = False  # a missing value is one of those that could be; only where the data must not say it
    repeat: tuple[tuple[str, int], ...] = ()  # labels that stand on several levels, and on how many

    name: ClassVar[str] = "tree"

    def __post_init__(self) -> None:
        settle(self)
        labels = Counter(node.label for node in self.root.walk())
        if repeated := sum(count > 1 for count in labels.values()):
            raise HierarchyError(
                f"{repeated} labels stand in more than one place; give each node its own label"
            )
        if wrong := sum(label not in labels or times < 1 for label, times in self.repeat):
            raise HierarchyError(f"repeat: {wrong} labels are not in the tree, or stand on no level")

    @classmethod
    def of(cls, nested: Mapping[str, object]) -> Self:
        """From a mapping with one key, the root: below a label stands a mapping, a list, or nothing."""
        roots = _branches(nested, 1)
        if len(roots) != 1:
            raise HierarchyError(f"a tree has one root, a mapping with one key, not {len(roots)}")
        return cls(roots[0])

    @classmethod
    def from_csv(cls, source: Path | str) -> Self:
        """From rows `leaf;parent;…;root`: a `Path` names a file, a `str` is the text itself."""
        found: Self = _READ.of_rows(
            cls,
            _text(source, newline="") if isinstance(source, Path) else source,  # a label may hold one
        )
        return found

    def written_as(self, text: str) -> None:
        """Take the word of whoever wrote this tree as these rows: they are not read again to be known."""
        _READ.keep(text, self)

    @classmethod
    def from_json(cls, path: Path) -> Self:
        try:
            nested = json.loads(_text(path), object_pairs_hook=_object)
        except json.JSONDecodeError as error:
            raise HierarchyError(f"line {error.lineno}: not JSON") from None
        except RecursionError:
            raise HierarchyError(_TOO_DEEP) from None
        return cls.of(nested)

    @classmethod
    def from_toml(cls, path: Path) -> Self:
        try:
            nested = tomllib.loads(_text(path))
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"at line (\d+)", str(error))  # the rest of the sentence may quote the file
            raise HierarchyError(f"line {line[1]}: not TOML" if line else "not TOML") from None
        except RecursionError:
            raise HierarchyError(_TOO_DEEP) from None
        return cls.of(nested)

    @property
    def leaves(self) -> tuple[str, ...]:
        return tuple(node.label for node in self.root.walk() if not node.children)

    @property
    def levels(self) -> int:
        """How many nodes the longest way from the root to a leaf has, both included."""

        def below(node: Branch) -> int:
            return 1 + max((below(child) for child in node.children), default=0)

        return below(self.root)

    def domain(self, values: Sequence[Value]) -> Domain:
        texts, null = distinct(values)
        refuse((len(self.uncovered(texts)), "not in the hierarchy", "add them"), of=len(texts))
        leaves = self.leaves

        def node(branch: Branch, lo: int) -> Node:
            children: list[Node] = []
            hi = lo
            for child in branch.children:
                children.append(node(child, hi))
                hi = children[-1].hi
            return Node(branch.label, lo, hi if children else lo + 1, tuple(children))

        root = node(self.root, 0)
        if not null:
            return Domain(leaves, root, repeat=self.repeat)
        size = len(leaves)
        # A root that is a leaf already says nothing, of null too: there is nothing to tell apart.
        children = (*root.children, Node(None, size, size + 1)) if root.children else ()
        return Domain((*leaves, None), Node(root.label, 0, size + 1, children), repeat=self.repeat)

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        leaves = set(self.leaves)
        lost = [value for value in distinct(values)[0] if value not in leaves]
        equals = set(map(key, leaves)) if lost else set()
        return [value for value in lost if key(value) not in equals]

    def pruned(self, cut: Iterable[Value]) -> Self:
        """The tree at and above a cut: what may be published, since it shows no value below.

        >>> jobs = Tree.of({"Any": {"Artist": ["Dancer", "Writer"], "Lawyer": None}})
        >>> jobs.pruned(["Artist", "Lawyer"]).leaves
        ('Artist', 'Lawyer')
        """
        wanted = Counter(label for label in cut if label is not None)  # null hangs below the root of a domain
        found: list[str] = []

        def above(node: Branch) -> Branch:
            if node.label in wanted:
                found.append(node.label)
                return Branch(node.label)
            if not node.children:
                raise HierarchyError("a cut has one label on every way from the root to a leaf")
            return Branch(node.label, tuple(above(child) for child in node.children))

        top = above(self.root)
        if Counter(found) != wanted:
            raise HierarchyError("a cut has one label on every way from the root to a leaf")
        return type(self)(top)

    def above(self, labels: Iterable[Value]) -> Self:
        """The tree at and above some labels, which may stand above each other; all else is left out.

        >>> jobs = Tree.of({"Any": {"Artist": ["Dancer", "Writer"], "Lawyer": None}})
        >>> jobs.above(["Artist", "Dancer"]).leaves
        ('Dancer',)
        """
        wanted = set(labels)

        def kept(node: Branch) -> Branch | None:
            children = tuple(found for child in node.children if (found := kept(child)))
            return Branch(node.label, children) if children or node.label in wanted else None

        return type(self)(kept(self.root) or Branch(self.root.label), self.null)

    @property
    def public_only(self) -> bool:
        """Does it say what only an algorithm with public domains can use?"""
        return self.null

    def to_policy(self) -> dict[str, object]:
        policy: dict[str, object] = {
            "type": self.name,
            "tree": {self.root.label: _nested(self.root.children)},
        }
        if self.repeat:
            policy["repeat"] = dict(self.repeat)
        return policy | {"null": True} if self.null else policy


class _Read:
    """The trees that were read last: one of many values takes a while, and is asked for with every look."""

    MOST = 32

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[type[Tree], str], Any] = {}

    def of_rows(self, cls: type[Tree], text: str) -> Any:
        with self._lock:
            found = self._known.pop((cls, text), None)
        if found is None:
            root, children, repeat = read_rows(text)

            def branch(label: str) -> Branch:
                return Branch(label, tuple(branch(child) for child in children.get(label, ())))

            found = cls(branch(root), repeat=tuple(repeat.items()))
        self.keep(text, found)
        return found

    def keep(self, text: str, tree: Tree) -> None:
        with self._lock:
            self._known[type(tree), text] = tree
            for old in list(self._known)[: -self.MOST]:
                del self._known[old]


_READ = _Read()


_TOO_DEEP = f"the tree is deeper than {DEEPEST} levels"


def _branches(below: object, level: int) -> tuple[Branch, ...]:
    """The children that a nested form says: names, mappings from a name to what is below, or none."""
    if level > DEEPEST:
        raise HierarchyError(_TOO_DEEP)
    if below is None:
        return ()
    if isinstance(below, Mapping):
        return tuple(Branch(_label(key, level), _branches(value, level + 1)) for key, value in below.items())
    if isinstance(below, list | tuple):
        return tuple(
            branch
            for item in below
            for branch in (
                _branches(item, level) if isinstance(item, Mapping) else (Branch(_label(item, level)),)
            )
        )
    raise HierarchyError(f"level {level}: below a label stands a mapping, a list of labels, or nothing")


def _label(label: object, level: int) -> str:
    if isinstance(label, int) and not isinstance(label, bool):
        return str(label)
    if not isinstance(label, str) or not label:
        raise HierarchyError(f"level {level}: a label is text and not empty; put it in quotes")
    return label


def _nested(branches: Sequence[Branch]) -> object:
    """The form that a policy file takes. TOML writes a table's plain entries before its sub-tables (and
    a list of tables is one of those), so children of several sorts become a list: it keeps their order,
    and with it the order of codes.
    """
    if not any(branch.children for branch in branches):
        return [branch.label for branch in branches]
    below = {branch.label: _nested(branch.children) for branch in branches}
    if all(isinstance(value, dict) for value in below.values()):
        return below
    if all(
        branch.children and isinstance(value, list) and all(isinstance(item, str) for item in value)
        for branch, value in zip(branches, below.values(), strict=True)
    ):
        return below
    return [{b.label: below[b.label]} if b.children else b.label for b in branches]


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object whose keys are all different; JSON itself would keep the last of two."""
    if len(dict(pairs)) < len(pairs):
        raise HierarchyError("a label stands twice below the same node; give each node its own label")
    return dict(pairs)


def _text(path: Path, newline: str | None = None) -> str:
    try:
        found = path.stat()
        if found.st_size > LARGEST or not (S_ISREG(found.st_mode) or S_ISDIR(found.st_mode)):
            raise HierarchyError(f"the hierarchy file is not an ordinary file of at most {LARGEST:,} bytes")
        with path.open(encoding="utf-8-sig", newline=newline) as file:  # with or without a byte order mark
            return file.read()
    except UnicodeDecodeError:
        raise HierarchyError("the hierarchy file is not UTF-8 text") from None
    except OSError as error:
        raise HierarchyError(f"the hierarchy file cannot be read ({error.strerror})") from None
