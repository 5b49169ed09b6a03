"""Answers from a publication alone: what a count is expected to be over all ways to put the halves together.

t-t: every tree of quasi-identifiers belongs to each tree of sensitive values with the same chance, so the
expectation is a mean over pairs; nothing has to be enumerated. v-v: the values of one person's vertices are
independent draws from their bags. Where no vertex can serve two steps of a pattern the chance is a product
(`closed_form`); otherwise the joint distribution over steps is carried up the tree (`joint`), exactly. Only
patterns with absurdly many conditions are sampled (`sampled`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, product
from math import prod
from random import Random

from privet.document.anatomy_rules import at_least
from privet.document.forest import Vertex
from privet.document.publication import Bag, Publication, Published, combined, with_sensitive
from privet.document.query import Conditions, Exact, Query, Step
from privet.document.schema import Schema
from privet.document.style import Style

MOST_STATES = 2**16
ZERO, ONE = Fraction(0), Fraction(1)
SAMPLES = 4_096


def expected(query: Query, publication: Publication, random: Random | None = None) -> Fraction:
    """The expected answer, as an exact fraction; `random` is only used where a pattern must be sampled."""
    return Estimator(publication).expected(query, random)


class Estimator:
    """Answers many questions about one publication: pairs of halves are put together once."""

    def __init__(self, publication: Publication) -> None:
        self.publication = publication
        self._pairs: list[tuple[int, list[Vertex]]] = []
        if publication.style is Style.TREES:
            schema = publication.schema
            self._pairs = [
                (len(group), [combined(qi, sa, schema) for qi in group.qi for sa in group.sa])
                for group in publication.groups
            ]

    def expected(self, query: Query, random: Random | None = None) -> Fraction:
        """The expected answer, exactly; `random` is only used where a pattern must be sampled."""
        query.check(self.publication.schema)
        if self.publication.style is Style.TREES:
            exact = Exact(query, self.publication.schema)
            return sum((Fraction(sum(map(exact.of, pairs)), size) for size, pairs in self._pairs), ZERO)
        random = Random(0) if random is None else random
        return sum((self._group(query, group, random) for group in self.publication.groups), ZERO)

    def _group(self, query: Query, group: Published, random: Random) -> Fraction:
        chances = Chances(query, self.publication.schema, group.bags)
        if query.vertices:
            return sum((chances.ends(query.root, tree) for tree in group.qi), ZERO)
        if is_product(query.root):
            return sum((chances.closed_form(query.root, tree) for tree in group.qi), ZERO)
        if states(query.root) <= MOST_STATES:
            return sum((chances.joint(query.root, tree) for tree in group.qi), ZERO)
        return sampled(query, group, self.publication.schema, random)


def is_product(step: Step) -> bool:
    """Can no vertex serve two steps? True where the steps below each step are of different types."""
    types = [inner.type for inner in step.below]
    return len(set(types)) == len(types) and all(map(is_product, step.below))


def states(step: Step) -> int:
    """How many different outcomes the joint distribution tells apart, at most."""
    return max(prod(inner.at_least + 1 for inner in each.below) for each in step.walk())


class Chances:
    """How likely a tree of quasi-identifiers meets a pattern when its values are drawn from bags."""

    def __init__(self, query: Query, schema: Schema, bags: Mapping[str, Bag]) -> None:
        self.schema, self.bags = schema, bags
        self.conditions = {id(step): Conditions.of(step, schema) for step in query.root.walk()}

    def own(self, step: Step, vertex: Vertex) -> Fraction:
        """The vertex by itself: does it fit, and which share of its bag does?"""
        wanted = self.conditions[id(step)]
        if vertex.type != step.type or not wanted.known(vertex):
            return ZERO
        if wanted.sensitive is None:
            return ONE
        bag = self.bag(vertex)
        return Fraction(sum(n for value, n in bag.values if value in wanted.sensitive), len(bag))

    def bag(self, vertex: Vertex) -> Bag:
        name = vertex.values[-1]
        assert name is not None
        return self.bags[name]

    def closed_form(self, step: Step, vertex: Vertex) -> Fraction:
        """Right where `is_product` holds: children and steps are then independent."""
        chance = self.own(step, vertex)
        for inner in step.below:
            if not chance:
                break
            shares = [self.closed_form(inner, child) for child in vertex.children]
            chance *= at_least(filter(None, shares), inner.at_least)
        return chance

    def ends(self, step: Step, vertex: Vertex) -> Fraction:
        """The expected number of vertices that meet the end of a path."""
        chance = self.own(step, vertex)
        if not chance or not step.below:
            return chance
        return chance * sum((self.ends(step.below[0], child) for child in vertex.children), Fraction(0))

    def joint(self, step: Step, vertex: Vertex) -> Fraction:
        """The same chance without any assumption about the steps."""
        return self.met((step,), vertex).get((True,), Fraction(0))

    def met(self, steps: Sequence[Step], vertex: Vertex) -> dict[tuple[bool, ...], Fraction]:
        """How likely each combination of these steps is met by this very vertex, together."""
        own = self.truths(steps, vertex)
        below = [inner for step in steps for inner in step.below]
        if not below or not any(map(any, own)):
            return own  # nothing below can change it
        firsts = [0, *accumulate(len(step.below) for step in steps)][:-1]
        counts = self.counted(below, vertex)
        found: dict[tuple[bool, ...], Fraction] = {}
        for (truth, chance), (reached, other) in product(own.items(), counts.items()):
            enough = [n >= inner.at_least for inner, n in zip(below, reached, strict=True)]
            met = tuple(
                fits and all(enough[first : first + len(step.below)])
                for step, fits, first in zip(steps, truth, firsts, strict=True)
            )
            found[met] = found.get(met, Fraction(0)) + chance * other
        return found

    def truths(self, steps: Sequence[Step], vertex: Vertex) -> dict[tuple[bool, ...], Fraction]:
        """Which steps the vertex fits by itself, over the draws of its own value."""
        wanted = [self.conditions[id(step)] for step in steps]
        fits = [vertex.type == step.type and w.known(vertex) for step, w in zip(steps, wanted, strict=True)]
        asked = [ok and w.sensitive is not None for ok, w in zip(fits, wanted, strict=True)]
        if not any(asked):
            return {tuple(fits): Fraction(1)}
        bag = self.bag(vertex)
        found: dict[tuple[bool, ...], int] = {}
        for value, n in bag.values:
            truth = tuple(
                ok and (w.sensitive is None or value in w.sensitive)
                for ok, w in zip(fits, wanted, strict=True)
            )
            found[truth] = found.get(truth, 0) + n
        return {truth: Fraction(n, len(bag)) for truth, n in found.items()}

    def counted(self, steps: Sequence[Step], vertex: Vertex) -> dict[tuple[int, ...], Fraction]:
        """How many children meet each step, counted no further than is asked for."""
        found = {(0,) * len(steps): Fraction(1)}
        for child in vertex.children:
            if not any(step.type == child.type for step in steps):
                continue
            hits = self.met(steps, child)
            if not any(map(any, hits)):
                continue  # it meets none for certain
            more: dict[tuple[int, ...], Fraction] = {}
            for (counts, chance), (met, other) in product(found.items(), hits.items()):
                after = tuple(
                    min(n + hit, step.at_least) for n, hit, step in zip(counts, met, steps, strict=True)
                )
                more[after] = more.get(after, Fraction(0)) + chance * other
            found = more
        return found


def sampled(
    query: Query, group: Published, schema: Schema, random: Random, samples: int = SAMPLES
) -> Fraction:
    """The answer on average over random ways to put a group of v-v together."""
    exact = Exact(query, schema)
    whole = sum(sum(map(exact.of, reconstructed(group, schema, random))) for _ in range(samples))
    return Fraction(whole, samples)


def reconstructed(group: Published, schema: Schema, random: Random) -> list[Vertex]:
    """One way to put the halves of a group together, each as likely as any other."""
    if group.sa:
        order = list(group.sa)
        random.shuffle(order)
        return [combined(qi, sa, schema) for qi, sa in zip(group.qi, order, strict=True)]
    dealt = {}
    for name, bag in group.bags.items():
        dealt[name] = list(bag)
        random.shuffle(dealt[name])
    made = []
    for at, tree in enumerate(group.qi):
        names = [vertex.values[-1] for vertex in tree.walk()]
        values = iter([dealt[name][at] for name in names if name is not None])
        made.append(with_sensitive(tree, values, schema))
    return made
