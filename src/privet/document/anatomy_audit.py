"""Checks a publication from its file alone: shape, halves, diversity, rules. Shares no code with the search.

Both styles have rules of their own, and neither implies the other, so nothing is skipped because the
other style's check would pass. Findings name groups and positions, never values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from privet import equality
from privet.core import Role, Verdict
from privet.document.anatomy_rules import ANY, Rule, Rules, at_least, tail
from privet.document.forest import Vertex, bucket_of
from privet.document.publication import Bag, Publication, Published, sensitive_value
from privet.document.schema import Kind
from privet.document.style import Style
from privet.domain import Value


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: in which group, and at which position of its trees in level order."""

    group: str
    what: str
    position: int | None = None

    def __str__(self) -> str:
        at = "" if self.position is None else f", position {self.position}"
        return f"group {self.group}{at}: {self.what}"


@dataclass(frozen=True)
class Audit:
    """The verdict on a publication. `share` is the surest guess at one vertex, `confidence` of each rule."""

    findings: tuple[Finding, ...]
    groups: int
    people: int
    smallest: int  # people in the smallest group
    share: Fraction
    confidence: Mapping[Rule, Fraction] = field(repr=False)
    at_risk: int = 0

    @property
    def holds(self) -> bool:
        return not self.findings

    @property
    def verdict(self) -> Verdict:
        """In the words of the house: numbers that anybody may see."""
        worst = max(self.confidence.values(), default=Fraction(0))
        broken = len({finding.group for finding in self.findings})
        return Verdict({"l": self.smallest, "share": self.share, "p": worst}, broken, self.at_risk)


Key = tuple[str, Hashable]  # type and bucket: what promises see of a sensitive value


def audit(publication: Publication, l: int, rules: Rules | None = None, *, exact: bool = False) -> Audit:
    """Does this publication keep l-diversity and every rule?

    `exact` computes the confidence of v-v from the true shares in each bag instead of the bound 1/l; in
    groups of exactly l the two are the same.
    """
    rules = Rules() if rules is None else rules
    rules.check(publication.schema)
    checks = _Checks(publication, l, rules, exact=exact)
    findings: list[Finding] = []
    risk = 0
    for group in publication.groups:
        found = list(checks.group(group))
        findings += found
        risk += len(group) if found else 0
    findings += _twice([group.id for group in publication.groups], "another group has the same id")
    findings += _twice(
        [name for group in publication.groups for name in group.bags],
        "another group has a group of values with the same name",
    )
    return Audit(
        tuple(findings),
        len(publication.groups),
        len(publication),
        min(map(len, publication.groups), default=0),
        checks.share,
        checks.confidence,
        risk,
    )


def _twice(names: Sequence[str], what: str) -> Iterator[Finding]:
    for name, count in Counter(names).items():
        if count > 1:
            yield Finding(name.split(":", 1)[0], what)


class _Say:
    """Findings of one group."""

    def __init__(self, group: str) -> None:
        self.group = group

    def __call__(self, what: str, position: int | None = None) -> Finding:
        return Finding(self.group, what, position)


class _Checks:
    def __init__(self, publication: Publication, l: int, rules: Rules, *, exact: bool) -> None:
        self.schema, self.style, self.l, self.rules = publication.schema, publication.style, l, rules
        self.exact = exact
        self.share = Fraction(0)
        self.confidence = dict.fromkeys(rules.rules, Fraction(0))

    def group(self, group: Published) -> Iterator[Finding]:
        say = _Say(group.id)
        if len(group) < self.l:
            yield say(f"{len(group)} people, fewer than l = {self.l}")
        if not group.qi:
            return
        trees = [level_order(tree) for tree in group.qi]
        first = shape(trees[0])
        if any(shape(tree) != first for tree in trees):
            yield say("the trees of quasi-identifiers have different shapes")
            return
        if group.qi[0].type != self.schema.root:
            yield say("the trees are of another type than the records")
        if any(self.carries(vertex, sensitive=True) for tree in trees for vertex, _ in tree):
            yield say("a tree of quasi-identifiers carries a sensitive value")
        if self.style is Style.TREES:
            yield from self.trees(group, first, say)
        else:
            yield from self.vertices(group, trees, say)

    def carries(self, vertex: Vertex, *, sensitive: bool) -> bool:
        """Does a vertex have a value of the half it is not in?"""
        fields = self.schema.kind(vertex.type).published
        return any(
            value is not None and (f.role is Role.SENSITIVE) is sensitive
            for f, value in zip(fields, vertex.values, strict=False)
        )

    def trees(self, group: Published, first: object, say: _Say) -> Iterator[Finding]:
        if len(group.sa) != len(group.qi):
            yield say(f"{len(group.qi)} trees of quasi-identifiers, but {len(group.sa)} of sensitive values")
            return
        trees = [level_order(tree) for tree in group.sa]
        if any(shape(tree) != first for tree in trees):
            yield say("the trees of sensitive values have not the shape of the others")
            return
        if any(self.carries(vertex, sensitive=False) for tree in trees for vertex, _ in tree):
            yield say("a tree of sensitive values carries a quasi-identifier")
        keys = [[self.key(vertex) for vertex, _ in tree] for tree in trees]
        for position, column in enumerate(zip(*keys, strict=True)):
            if column[0] is not None and not self.diverse(column):
                yield say(f"a sensitive value has a share above 1/{self.l}", position)
        counted = [Counter(key for key in tree if key is not None) for tree in keys]
        for rule, key in self.touched(set().union(*counted)):
            reach = sum(count[key] >= rule.m for count in counted)
            yield from self.judged(rule, Fraction(reach, len(group)), say)

    def vertices(
        self, group: Published, trees: Sequence[Sequence[tuple[Vertex, int]]], say: _Say
    ) -> Iterator[Finding]:
        names = [[vertex.values[-1] for vertex, _ in tree] for tree in trees]
        if any(tree != names[0] for tree in names):
            yield say("vertices at one position name different groups of values")
            return
        for position, (name, (vertex, _)) in enumerate(zip(names[0], trees[0], strict=True)):
            kind = self.schema.kind(vertex.type)
            if kind.sensitive is None:
                if name is not None:
                    yield say("a vertex without a sensitive field names a group of values", position)
                continue
            if name is None or name not in group.bags:
                yield say("a vertex names no group of values that there is", position)
                continue
            bag = group.bags[name]
            if bag.type != vertex.type:
                yield say("a group of values is of another type than its vertices", position)
            elif len(bag) != len(group):
                yield say(f"a group of {len(bag)} values for {len(group)} people", position)
            elif not self.diverse(self.keys(bag)):
                yield say(f"a sensitive value has a share above 1/{self.l}", position)
        used = [name for name in names[0] if name is not None]
        if len(set(used)) < len(used):
            yield say("a group of values is named twice in one tree")
        if set(group.bags) - set(used):
            yield say("a group of values is named by no vertex")
        keys = [Counter(self.keys(bag)) for bag in group.bags.values()]
        for rule, key in self.touched(set().union(*keys)):
            yield from self.judged(rule, self.linked(rule, key, keys), say)

    def linked(self, rule: Rule, key: Key, bags: Sequence[Counter[Key]]) -> Fraction:
        """How surely a person is linked to m or more of a value, from the bags that hold it."""
        if self.exact:
            return at_least((Fraction(bag[key], bag.total()) for bag in bags if bag[key]), rule.m)
        return tail(sum(1 for bag in bags if bag[key]), rule.m, Fraction(1, self.l))

    def judged(self, rule: Rule, confidence: Fraction, say: _Say) -> Iterator[Finding]:
        self.confidence[rule] = max(self.confidence[rule], confidence)
        if confidence > rule.p:
            yield say(
                f"a value can be linked {rule.m} times or more with confidence {confidence}, above {rule.p}"
            )

    def diverse(self, keys: Sequence[object]) -> bool:
        share = Fraction(max(Counter(keys).values()), len(keys))
        self.share = max(self.share, share)
        return share <= Fraction(1, self.l)

    def key(self, vertex: Vertex) -> Key | None:
        kind = self.schema.kind(vertex.type)
        return None if kind.sensitive is None else self.seen(kind, sensitive_value(vertex, self.schema))

    def keys(self, bag: Bag) -> list[Key]:
        kind = self.schema.kind(bag.type)
        return [self.seen(kind, value) for value in bag]

    def seen(self, kind: Kind, value: Value) -> Key:
        assert kind.sensitive is not None
        buckets = kind.sensitive.buckets
        return kind.name, equality.key(value) if buckets is None else bucket_of(
            kind, kind.sensitive, buckets, value
        )

    def touched(self, keys: set[Key]) -> Iterator[tuple[Rule, Key]]:
        """Every rule with every value in this group that it speaks of."""
        for rule in self.rules.rules:
            for key in keys:
                kind = self.schema.kind(key[0])
                if rule.names(kind) and (rule.value == ANY or self.seen(kind, rule.value) == key):
                    yield rule, key


def level_order(tree: Vertex) -> list[tuple[Vertex, int]]:
    """Vertices level by level, each with the number of its parent: types alone do not fix the shape."""
    found: list[tuple[Vertex, int]] = [(tree, -1)]
    for at, (vertex, _) in enumerate(found):
        found.extend((child, at) for child in vertex.children)
    return found


def shape(tree: Sequence[tuple[Vertex, int]]) -> list[tuple[str, int]]:
    return [(vertex.type, parent) for vertex, parent in tree]
