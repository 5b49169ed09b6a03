"""(p, m)-privacy: how often a person may be linked to one sensitive value, and with what confidence.

A rule (s, m, p) says: nobody may be linked to m or more occurrences of s with a confidence above p. The
literature wavers between "at least m" and "more than m"; its formal definitions and its examples say at
least. Confidence is an exact fraction: 0.33 and 1/3 are different promises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from privet.declared import settle
from privet.document.forest import NONE, Forest, bucket_of
from privet.document.schema import Kind, Schema
from privet.domain import Value
from privet.equality import key
from privet.errors import InputError, PolicyError, one_of

ANY = "*"
UNBOUNDED = 2**31 - 1  # more occurrences than a person can have


@dataclass(frozen=True, slots=True)
class Rule:
    """`value` of `attribute`: not `m` times or more with a confidence above `p`.

    `*` as value stands for every value, and as attribute for every sensitive field. An attribute is named
    by its field, or as `type.field`; fields of different types are different attributes.
    """

    value: str = field(repr=False)
    m: int
    p: Fraction
    attribute: str = ANY

    def __post_init__(self) -> None:
        settle(self)
        complaints = []
        if self.m < 1:
            complaints.append("rule: m is a whole number of at least 1: so many occurrences are too many")
        if not 0 < self.p <= 1:
            complaints.append("rule: p is above 0 and at most 1")
        if complaints:
            raise PolicyError(*complaints)

    def names(self, kind: Kind) -> bool:
        """Does the rule speak of this type's sensitive field?"""
        sensitive = kind.sensitive
        return sensitive is not None and self.attribute in {
            ANY,
            sensitive.name,
            f"{kind.name}.{sensitive.name}",
        }


def tail(n: int, m: int, share: Fraction) -> Fraction:
    """How likely at least m of n independent trials succeed."""
    return 1 - sum(
        (comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(min(m, n + 1))), start=Fraction(0)
    )


@cache
def eta_max(l: int, m: int, p: Fraction) -> int:
    """In how many groups of values one value may occur: Pr[Binomial(eta, 1/l) >= m] <= p.

    >>> eta_max(2, 2, Fraction(1, 4)), eta_max(3, 1, Fraction(1, 3)), eta_max(3, 1, Fraction("0.33"))
    (2, 1, 0)
    """
    if p == 1:
        return UNBOUNDED
    eta = m - 1  # with fewer groups than occurrences there is nothing to fear
    while tail(eta + 1, m, Fraction(1, l)) <= p:
        eta += 1
    return eta


def at_least(shares: Iterable[Fraction], m: int) -> Fraction:
    """How likely m or more of these independent events happen: the Poisson-binomial tail, exactly."""
    exactly = [Fraction(1)] + [Fraction(0)] * (m - 1)  # of 0 .. m-1 events
    for share in shares:
        for j in range(m - 1, 0, -1):
            exactly[j] += share * (exactly[j - 1] - exactly[j])
        exactly[0] *= 1 - share
    return 1 - sum(exactly, start=Fraction(0))


@dataclass(frozen=True)
class Rules:
    """All rules of a promise; several may speak of one value, and then all hold."""

    rules: tuple[Rule, ...] = ()

    def about(self, kind: Kind, bucket: int, buckets: Mapping[int, int]) -> Iterator[Rule]:
        """The rules about one bucket of one type; `buckets` has the bucket of each rule's own value."""
        for at, rule in enumerate(self.rules):
            if rule.names(kind) and (rule.value == ANY or buckets.get(at) == bucket):
                yield rule

    def bucket(self, kind: Kind, rule: Rule, codes: Mapping[Value, int] | None) -> int | None:
        """The bucket a rule's value is in; None if no value of the data is, or the rule is for all."""
        sensitive = kind.sensitive
        if sensitive is None or rule.value == ANY:
            return None
        if sensitive.buckets is not None:
            return bucket_of(kind, sensitive, sensitive.buckets, rule.value)
        # As the forest does it: of equal values, the first one's code is the bucket of all.
        alike = key(rule.value)
        return (
            None
            if codes is None
            else min((code for value, code in codes.items() if key(value) == alike), default=None)
        )

    def check(self, schema: Schema) -> None:
        """Every rule speaks of a sensitive field that there is."""
        known = [f"{kind.name}.{kind.sensitive.name}" for kind in schema.kinds if kind.sensitive is not None]
        complaints = []
        for rule in self.rules:
            kinds = [kind for kind in schema.kinds if rule.names(kind)]
            if not kinds:
                complaints.append(f"rule: {one_of('attribute', known, rule.attribute)}")
            for kind in kinds:
                try:
                    self.bucket(kind, rule, None)
                except InputError:
                    complaints.append(f"rule: the value is in no bucket of {rule.attribute}")
        if complaints:
            raise PolicyError(*complaints)

    def warnings(self, l: int, forest: Forest | None = None) -> list[str]:
        """What a steward should know before: rules that erase a value, and rules that say nothing."""
        said = []
        for rule in self.rules:
            about = "every value" if rule.value == ANY else "a value"
            about += "" if rule.attribute == ANY else f" of {rule.attribute}"
            if rule.p == 1:
                said.append(f"the rule about {about} has p = 1 and never binds")
            elif rule.m == 1 and rule.p < Fraction(1, l):
                said.append(
                    f"the rule about {about} has m = 1 and p below 1/{l}: it will be erased everywhere"
                )
            elif forest is not None and most(forest, self, rule) < rule.m:
                said.append(f"the rule about {about} never binds: nobody has {rule.m} of it")
        return said


def most(forest: Forest, rules: Rules, rule: Rule) -> int:
    """How often the person with most of it has what the rule speaks of."""
    found = 0
    for number, kind in enumerate(forest.schema.kinds):
        if not rule.names(kind):
            continue
        at = np.flatnonzero(forest.kinds == number)
        assert kind.sensitive is not None
        bucket = rules.bucket(kind, rule, forest.domains[kind.name, kind.sensitive.name].codes)
        if rule.value != ANY:
            at = at[forest.buckets[at] == (NONE - 1 if bucket is None else bucket)]
        if len(at):
            key = forest.records[at].astype(np.int64) * (int(forest.buckets.max()) + 2) + forest.buckets[at]
            found = max(found, int(np.unique(key, return_counts=True)[1].max()))
    return found


@dataclass(frozen=True, eq=False)
class Limits:
    """Rules as numbers, for a search over one forest: a key for each sensitive value, bounds for some keys.

    `keys` has the key of each vertex, equal where type and bucket are. `ruled` numbers the keys that a rule
    speaks of; a key has the rules `begins[r] .. begins[r + 1]`, each with its `m` and the most members of a
    group (`mu`) that may have m of it; `eta` is the most groups of values that may hold the key.
    """

    keys: NDArray[np.int32] = field(repr=False)
    ruled: NDArray[np.int32] = field(repr=False)  # by key; NONE where no rule speaks of it
    begins: NDArray[np.int32] = field(repr=False)
    m: NDArray[np.int32] = field(repr=False)
    mu: NDArray[np.int32] = field(repr=False)
    eta: NDArray[np.int32] = field(repr=False)
    bounds: Sequence[tuple[int, Fraction]] = field(default=(), repr=False)  # (m, p) of each rule

    @cached_property
    def keyed(self) -> int:
        """How many keys a rule speaks of."""
        return len(self.begins) - 1

    def of_size(self, size: int) -> NDArray[np.int32]:
        """The bounds `mu` in a group of another size."""
        return np.array([p * size // 1 for _, p in self.bounds], dtype=np.int32)


def limits(forest: Forest, rules: Rules, l: int) -> Limits:
    """The rules of a promise as numbers."""
    rules.check(forest.schema)
    keys = np.full(forest.vertices, NONE, dtype=np.int32)
    offset = 0
    ruled: list[int] = []
    begins = [0]
    bounds: list[tuple[int, Fraction]] = []
    eta: list[int] = []
    for number, kind in enumerate(forest.schema.kinds):
        if kind.sensitive is None:
            continue
        at = np.flatnonzero(forest.kinds == number)
        width = int(forest.buckets[at].max(initial=-1)) + 1
        keys[at] = forest.buckets[at] + offset
        codes = forest.domains[kind.name, kind.sensitive.name].codes
        named = {i: rules.bucket(kind, rule, codes) for i, rule in enumerate(rules.rules) if rule.names(kind)}
        own = {i: bucket for i, bucket in named.items() if bucket is not None}
        for bucket in range(width):
            found = [rule for rule in rules.about(kind, bucket, own) if rule.p < 1]
            ruled.append(len(eta) if found else NONE)
            if found:
                bounds += [(rule.m, rule.p) for rule in found]
                begins.append(len(bounds))
                eta.append(min(eta_max(l, rule.m, rule.p) for rule in found))
        offset += width

    def ints(values: Sequence[int]) -> NDArray[np.int32]:
        return np.array(values, dtype=np.int32)

    return Limits(
        keys=keys,
        ruled=ints(ruled),
        begins=ints(begins),
        m=ints([m for m, _ in bounds]),
        mu=ints([p * l // 1 for _, p in bounds]),
        eta=ints(eta),
        bounds=tuple(bounds),
    )
