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
from privet.document.forest import Vertex
from privet.document.publication import Links, Publication, Published, combined, sensitive_value
from privet.document.schema import Schema
from privet.document.style import Style
from privet.document.truth import matched
from privet.domain import Value

STEPS = 200_000  # comparisons of vertices for one group, at most
NO_VALUES: Counter[Value] = Counter()


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
                for _ in stock.spend(self, tree, self.original[who]):
                    self.taken |= who in used
                    if who in used:
                        continue
                    chosen.append(who)
                    if choose(at + 1):
                        return True
                    chosen.pop()
            return False

        return tuple(chosen) if choose(0) else None

    def embeds(self, tree: Vertex, original: Vertex) -> bool:
        """Is a whole tree, sensitive values and all, a pruned version of an original?"""
        self.left -= 1
        if self.left < 0:
            raise _TooLongError
        if tree.type != original.type or tree.values != original.values:
            return False
        fits = [
            [at for at, old in enumerate(original.children) if self.embeds(new, old)] for new in tree.children
        ]
        return matched(len(fits), fits.__getitem__) == len(fits)

    def laid(
        self, tree: Vertex, original: Vertex, free: Mapping[str | None, Counter[Value]]
    ) -> Iterator[list[Value]]:
        """Every way to lay a tree over an original: the sensitive values it comes to lie on, in preorder.

        Each of them is still in the bag that its vertex names; without that there would be too many ways.
        """
        self.left -= 1
        if self.left < 0:
            raise _TooLongError
        if tree.type != original.type or self.known(tree) != self.known(original):
            return
        own: list[Value] = []
        if self.schema.kind(tree.type).sensitive is not None:
            own = [sensitive_value(original, self.schema)]
            if not free.get(tree.values[-1], NO_VALUES)[own[0]]:
                return
        for below in self.laid_out(tree.children, list(original.children), free):
            yield own + below

    def laid_out(
        self, trees: Sequence[Vertex], originals: list[Vertex], free: Mapping[str | None, Counter[Value]]
    ) -> Iterator[list[Value]]:
        if not trees:
            yield []
            return
        for at, original in enumerate(originals):
            for first in self.laid(trees[0], original, free):
                for others in self.laid_out(trees[1:], originals[:at] + originals[at + 1 :], free):
                    yield first + others


class _Trees:
    """The trees of sensitive values of a group; each can be spent once."""

    def __init__(self, group: Published, schema: Schema) -> None:
        self.schema = schema
        self.free = Counter(group.sa)

    def spend(self, search: _Search, tree: Vertex, original: Vertex) -> Iterator[None]:
        """Once for every tree that is left and makes a version of the original; it is put back afterwards."""
        for sa in list(self.free):
            try:
                whole = combined(tree, sa, self.schema)
            except ValueError:  # the two are not of one shape
                continue
            if self.free[sa] > 0 and search.embeds(whole, original):
                self.free[sa] -= 1
                yield
                self.free[sa] += 1


class _Bags:
    """The bags of a group; each of their values can be spent once."""

    def __init__(self, group: Published, schema: Schema) -> None:
        self.schema = schema
        self.free: Mapping[str | None, Counter[Value]] = {
            name: Counter(dict(bag.values)) for name, bag in group.bags.items()
        }

    def spend(self, search: _Search, tree: Vertex, original: Vertex) -> Iterator[None]:
        names = [v.values[-1] for v in tree.walk() if self.schema.kind(v.type).sensitive is not None]
        for values in search.laid(tree, original, self.free):
            for name, value in zip(names, values, strict=True):
                self.free[name][value] -= 1
            if all(self.free[name][value] >= 0 for name, value in zip(names, values, strict=True)):
                yield
            for name, value in zip(names, values, strict=True):
                self.free[name][value] += 1
