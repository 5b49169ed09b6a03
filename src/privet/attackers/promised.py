"""What a promise allows an attacker, as one number: derived from its definition, not from its check.

A model's check asks whether every class keeps it. An attacker asks the other way round: how sure may I
become? For a class of n records, of which a value has a share p, and q in the whole table, each definition
bounds p; `ceiling` says by what. Where several promises bound the same, the tightest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, sqrt
from typing import TypeAlias

from privet.core import PrivacyModel
from privet.domain import Value
from privet.models.disclosure import DeltaDisclosure
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.linkage import Linkage, LinkageModel
from privet.models.psensitive import PSensitiveKAnonymity
from privet.models.tcloseness import Distance, TCloseness
from privet.models.template import EVERY

Share: TypeAlias = Fraction | float  # a float where a logarithm decides
SLACK = 1e-9  # what rounding may do to such a float


@dataclass(frozen=True)
class Bound:
    """The most that is allowed, and by which promise."""

    at_most: Share
    promise: str

    def broken_by(self, share: Fraction) -> bool:
        if isinstance(self.at_most, Fraction):
            return share > self.at_most
        return float(share) > self.at_most * (1 + SLACK) + SLACK


@dataclass(frozen=True)
class Seen:
    """One value in one class, as an attacker sees it."""

    attribute: str
    value: Value
    size: int  # records of the class
    table: Fraction  # the value's share in the whole table
    different: int  # values of the attribute in the whole table
    persons: bool = False  # size and shares are of persons, who may have several values


def tightest(bounds: Iterable[Bound | None]) -> Bound | None:
    return min((bound for bound in bounds if bound is not None), key=lambda b: b.at_most, default=None)


def identity(models: Sequence[PrivacyModel], known: Sequence[str]) -> Bound | None:
    """The chance of picking a person's record, for somebody who knows these quasi-identifiers."""
    return tightest(_identity(model, known) for model in models)


def _identity(model: PrivacyModel, known: Sequence[str]) -> Bound | None:
    if isinstance(model, LinkageModel):
        bound = model.linkage()
        k = bound.k if _about(bound, known) else 1
    else:
        k = 0 if model.population or model.spent else model.class_size or 0
    return Bound(Fraction(1, k), model.name) if k > 1 else None


def _about(bound: Linkage, known: Sequence[str]) -> bool:
    """Is an adversary who knows so much one that the promise speaks of?"""
    return (bound.l is None or len(known) <= bound.l) and (
        bound.quasi is None or set(known) <= set(bound.quasi)
    )


def attribute(
    models: Sequence[PrivacyModel], seen: Seen, known: Sequence[str], *, whole: bool
) -> Bound | None:
    """How sure of a value somebody may become who knows these; `whole`: that is every quasi-identifier."""
    return tightest(_attribute(model, seen, known, whole=whole) for model in models)


def _attribute(model: PrivacyModel, seen: Seen, known: Sequence[str], *, whole: bool) -> Bound | None:
    if isinstance(model, LinkageModel):
        bound = model.linkage()
        shares = [
            template.at_most
            for template in bound.templates
            if template.attribute == seen.attribute
            and (template.value is EVERY or template.value == seen.value)
        ]
        # A promise about classes of persons says nothing of their unions, which are what less is known of.
        about = shares and _about(bound, known) and (whole or not seen.persons or bound.l is not None)
        return Bound(min(shares), model.name) if about and min(shares) < 1 else None
    # Classes of fewer known values are unions of classes, in which these promises hold too; but not the
    # numbers of one class, so those are left to whoever knows all.
    if not whole or seen.attribute not in (name for _, name in model.protects()):
        return None
    at_most = ceiling(model, seen)
    return None if at_most is None or at_most >= 1 else Bound(at_most, model.name)


def ceiling(model: PrivacyModel, seen: Seen) -> Share | None:
    """The largest share that a value may have in a class; None: the model bounds none."""
    n, q = seen.size, seen.table
    match model:
        case DistinctLDiversity(l=l) | PSensitiveKAnonymity(p=l):
            # So many have another value; of persons, one may have all of them.
            return Fraction(max(0, n - (min(l, 2) if seen.persons else l) + 1), n)
        case EntropyLDiversity(l=l):
            return _entropy(l, seen.different if seen.persons else min(seen.different, n))
        case RecursiveLDiversity(c=c, l=l):  # r1 < c (r_l + ...), and those are at most all but r1
            return c / (1 + c) if l > 1 else min(Fraction(1), c)
        case BetaLikeness(beta=beta):
            return q * (1 + beta)
        case EnhancedBetaLikeness(beta=beta) if beta is not None:
            return float(q) * (1 + min(float(beta), -log(q)))
        case DeltaDisclosure(delta=delta) if delta is not None:
            return float(q) * exp(delta)
        case TCloseness(distance=Distance.KL) if seen.persons:
            return _diverging(float(q), float(model.t))
        case TCloseness(distance=Distance.ORDERED) if seen.persons:
            return None  # it bounds having a value up to a place
        case TCloseness():
            return q + _moved(model, seen.different)
        case _:
            return None


def _diverging(q: float, t: float) -> float:
    """The largest p with p ln(p / q) - p + q at most t."""
    low, high = q, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * log(middle / q) - middle + q <= t else (low, middle)
    return high


def of_set(models: Sequence[PrivacyModel], name: str, q: Fraction, different: int) -> Bound | None:
    """How sure somebody may become that a value is one of a set, which has the share q in the table."""

    def bound(model: PrivacyModel) -> Bound | None:
        if name not in (protected for _, protected in model.protects()):
            return None
        found: Share
        match model:
            case TCloseness():  # what is moved into the set costs what it costs to move it from next to it
                found = q + _moved(model, different)
            case BetaLikeness(beta=beta) | EnhancedBetaLikeness(beta=beta) if beta is not None:
                found = q * (1 + beta)
            case DeltaDisclosure(delta=delta) if delta is not None:
                found = float(q) * exp(delta)
            case _:
                return None
        return Bound(found, model.name) if found < 1 else None

    return tightest(map(bound, models))


def _moved(model: TCloseness, different: int) -> Share:
    """How much more of a class than of the table one value may have: what is moved there costs something."""
    t = model.t
    match model.distance:
        case Distance.VARIATIONAL | Distance.EQUAL:
            return t
        case Distance.KL:  # Pinsker's inequality
            return sqrt(float(t) / 2)
        case Distance.ORDERED:  # from the next value on
            return t * max(1, different - 1)
        case Distance.HIERARCHICAL:  # from a sibling on
            return t * (model.taxonomy.levels if model.taxonomy is not None else 1)
        case Distance.COSTS:
            cheapest = min((cost for row in (model.costs or {}).values() for cost in row.values()), default=1)
            return t / cheapest if cheapest else Fraction(1)


def _entropy(l: int, different: int) -> float:
    """The largest share with which a class still has an entropy of ln l: the others share the rest alike."""

    def spread(p: float) -> float:
        rest = 1 - p
        return (-p * log(p) if p else 0.0) - (rest * log(rest / max(1, different - 1)) if rest else 0.0)

    if l <= 1 or different < 2:
        return 1.0
    low, high = 1 / different, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if spread(middle) >= log(l) else (low, middle)
    return high
