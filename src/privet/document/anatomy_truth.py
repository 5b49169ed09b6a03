"""Whether a publication tells the truth: every group comes from as many people of the original, each once.

For the steward's eyes, since it needs the original. A tree of quasi-identifiers must be a pruned original,
and the sensitive values of its group must be those of the very people found. Without the secret links this
is a search: for a group, people and alignments are tried until all sensitive values are used up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from privet.core import Role
from privet.document.anatomy_merge import Style
from privet.document.forest import Vertex
from privet.document.publication import Links, Publication, Published, sensitive_value
from privet.document.schema import Schema
from privet.domain import Value

STEPS = 200_000  # comparisons of vertices for one group, at most


@dataclass(frozen=True, slots=True)
class AnatomyTruth:
    """How many groups have people of their own, how many cannot have, and how many are not found out."""

    groups: int
    true: int
    false: int
    undecided: int

    @property
    def holds(self) -> bool:
        return self.true == self.groups


def anatomy_truth(
    publication: Publication, original: Sequence[Vertex], links: Links | None = None, steps: int = STEPS
) -> AnatomyTruth:
    """Match every group with people of the original; with the secret links nobody has to be looked for."""
    search = _Search(publication, original, steps)
    true = false = undecided = 0
    used: set[int] = set()
    for number, group in enumerate(publication.groups):
        try:
            found = search.people(group, used, None if links is None else links.qi[number])
        except _TooLongError:
            undecided += 1
            continue
        if found is not None:
            true += 1
            used.update(found)
        elif search.taken:  # somebody fits who stands in another group: another choice there might help
            undecided += 1
        else:
            false += 1
    if undecided and links is not None:  # with links there is no other choice: somebody is there twice
        false, undecided = false + undecided, 0
    return AnatomyTruth(len(publication.groups), true, false, undecided)


class _TooLongError(Exception):
    """The search was given up."""


class _Search:
    def __init__(self, publication: Publication, original: Sequence[Vertex], steps: int) -> None:
        self.schema, self.style = publication.schema, publication.style
        self.original, self.steps = original, steps
        self.left = 0
        self.taken = False  # did somebody fit who is already used?
        self.quasi = {
            kind.name: [at for at, f in enumerate(kind.published) if f.role is not Role.SENSITIVE]
            for kind in self.schema.kinds
        }
        self.by_root: dict[tuple[Value, ...], list[int]] = {}
        for at, record in enumerate(original):
            self.by_root.setdefault(self.known(record), []).append(at)

    def known(self, vertex: Vertex) -> tuple[Value, ...]:
        return tuple(vertex.values[at] for at in self.quasi[vertex.type])

    def people(self, group: Published, used: set[int], links: Sequence[int] | None) -> tuple[int, ...] | None:
        """One original for each tree, such that the sensitive values come out even; None if there is none."""
        self.left, self.taken = self.steps, False
        stock = _Trees(group, self.schema) if self.style is Style.TREES else _Bags(group, self.schema)
        chosen: list[int] = []

        def choose(at: int) -> bool:
            if at == len(group.qi):
                return True
            tree = group.qi[at]
            candidates = self.by_root.get(self.known(tree), []) if links is None else [links[at]]
            for who in candidates:
                if who in chosen:
                    continue
                for values in self.laid(tree, self.original[who]):
                    for _ in stock.spend(values):
                        self.taken |= who in used
                        if who in used:
                            continue
                        chosen.append(who)
                        if choose(at + 1):
                            return True
                        chosen.pop()
            return False

        return tuple(chosen) if choose(0) else None

    def laid(self, tree: Vertex, original: Vertex) -> Iterator[list[Value]]:
        """Every way to lay a tree over an original: the sensitive values it comes to lie on, in preorder."""
        self.left -= 1
        if self.left < 0:
            raise _TooLongError
        if tree.type != original.type or self.known(tree) != self.known(original):
            return
        own: list[Value] = []
        if self.schema.kind(tree.type).sensitive is not None:
            own = [sensitive_value(original, self.schema)]
        for below in self.laid_out(tree.children, list(original.children)):
            yield own + below

    def laid_out(self, trees: Sequence[Vertex], originals: list[Vertex]) -> Iterator[list[Value]]:
        if not trees:
            yield []
            return
        for at, original in enumerate(originals):
            for first in self.laid(trees[0], original):
                for others in self.laid_out(trees[1:], originals[:at] + originals[at + 1 :]):
                    yield first + others


class _Trees:
    """The trees of sensitive values of a group; each can be spent once."""

    def __init__(self, group: Published, schema: Schema) -> None:
        self.free = Counter(
            tuple(
                sensitive_value(vertex, schema)
                for vertex in tree.walk()
                if schema.kind(vertex.type).sensitive is not None
            )
            for tree in group.sa
        )

    def spend(self, values: Sequence[Value]) -> Iterator[None]:
        """Once if these values are still there; they are put back afterwards."""
        key = tuple(values)
        if self.free[key] > 0:
            self.free[key] -= 1
            yield
            self.free[key] += 1


class _Bags:
    """The bags of a group, in the order in which a tree names them."""

    def __init__(self, group: Published, schema: Schema) -> None:
        names = [
            vertex.values[-1]
            for vertex in group.qi[0].walk()
            if schema.kind(vertex.type).sensitive is not None
        ]
        bags: Mapping[str | None, Counter[Value]] = {
            name: Counter(dict(bag.values)) for name, bag in group.bags.items()
        }
        self.free = [bags.get(name, Counter()) for name in names]

    def spend(self, values: Sequence[Value]) -> Iterator[None]:
        if all(bag[value] > 0 for bag, value in zip(self.free, values, strict=True)):
            for bag, value in zip(self.free, values, strict=True):
                bag[value] -= 1
            yield
            for bag, value in zip(self.free, values, strict=True):
                bag[value] += 1
