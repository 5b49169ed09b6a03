"""What can be promised about published trees: checked on what is about to leave, by the auditors.

Two promises are about trees that are published whole, two about trees that are published in two halves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from privet.core import Verdict
from privet.declared import ModelFacts, settle
from privet.document import anatomy_audit
from privet.document.anatomy_rules import ANY, Rule, Rules
from privet.document.audit import TreeVerdict, audit
from privet.document.forest import Vertex
from privet.document.publication import Publication
from privet.document.schema import Schema
from privet.errors import PolicyError

KINDS = ("documents",)


@dataclass(frozen=True, slots=True)
class DocumentDiversity(ModelFacts):
    """Every tree is one of at least `l` that are alike but for sensitive values, and at no vertex has one of
    these a share above 1/l (Ozalp 2017, definitions 12 to 17).

    Stops: finding a person's record, or a sensitive value of one of its vertices, with a chance above 1/l,
    whatever is known of quasi-identifiers and structure.
    Does not stop: learning that a value occurs *somewhere* in a tree, when it does in all of a class.
    """

    l: int

    name: ClassVar[str] = "document-l-diversity"
    kinds: ClassVar[tuple[str, ...]] = KINDS
    monotone: ClassVar[bool] = False  # a class of trees is not a union of smaller ones
    diverse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        if self.l < 2:
            raise PolicyError(f"{self.name}: l is at least 2; with 1 nothing is promised")

    @property
    def class_size(self) -> int:
        return self.l

    def check(self, schema: Schema, release: Iterable[Vertex]) -> Verdict:
        return self.verdict(self.audited(schema, release))

    def audited(self, schema: Schema, release: Iterable[Vertex]) -> TreeVerdict:
        """What an auditor finds who looks for this promise."""
        return audit(schema, release, self.l)

    def verdict(self, found: TreeVerdict) -> Verdict:
        return Verdict(
            {"k": found.k, "l": found.l}, found.small + found.broken + found.undecided, found.at_risk
        )

    def nearest(self, found: TreeVerdict) -> Self:
        """The promise that a release of this verdict would have kept."""
        return replace(self, l=max(found.l, 2))


@dataclass(frozen=True, slots=True)
class DocumentAnonymity(ModelFacts):
    """Every tree is one of at least `k` that are alike but for sensitive values.

    Stops: finding a person's record with a chance above 1/k.
    Does not stop: learning a sensitive value that a whole class has at a vertex; see document-l-diversity.
    """

    k: int

    name: ClassVar[str] = "document-k-anonymity"
    kinds: ClassVar[tuple[str, ...]] = KINDS
    monotone: ClassVar[bool] = False
    diverse: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self)
        if self.k < 2:
            raise PolicyError(f"{self.name}: k is at least 2; with 1 nothing is promised")

    @property
    def class_size(self) -> int:
        return self.k

    def check(self, schema: Schema, release: Iterable[Vertex]) -> Verdict:
        return self.verdict(self.audited(schema, release))

    def audited(self, schema: Schema, release: Iterable[Vertex]) -> TreeVerdict:
        """What an auditor finds who looks for this promise."""
        return audit(schema, release, self.k, steps=0)

    def verdict(self, found: TreeVerdict) -> Verdict:
        return Verdict({"k": found.k}, found.small, found.alone)

    def nearest(self, found: TreeVerdict) -> Self:
        """The promise that a release of this verdict would have kept."""
        return replace(self, k=max(found.k, 2))


@dataclass(frozen=True, slots=True)
class AnatomyDiversity(ModelFacts):
    """People stand in groups of at least `l` whose trees have one shape, and at no vertex has a sensitive
    value of the group a share above 1/l; which is whose is not said (Ozalp 2017, definitions 20 and 22).

    Stops: linking a person to a sensitive value of one vertex with a chance above 1/l, whatever is known of
    quasi-identifiers and structure.
    Does not stop: finding a person's quasi-identifiers, which are published as they are; learning that a
    value occurs *somewhere* in a tree, see pm-privacy; and in t-t, finding all sensitive values of somebody
    of whom one is known.
    """

    l: int

    name: ClassVar[str] = "anatomy-l-diversity"
    kinds: ClassVar[tuple[str, ...]] = KINDS
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self)
        if self.l < 2:
            raise PolicyError(f"{self.name}: l is at least 2; with 1 nothing is promised")

    @property
    def class_size(self) -> int:
        return self.l

    def check(self, publication: Publication) -> Verdict:
        found = anatomy_audit.audit(publication, self.l)
        broken = len({finding.group for finding in found.findings})
        return Verdict({"l": found.smallest, "share": found.share}, broken, found.at_risk)


@dataclass(frozen=True, slots=True)
class PMPrivacy(ModelFacts):
    """No one can be linked to `m` or more occurrences of a value with a confidence above `p`, for each of the
    `rules` (Ozalp 2017, definitions 19, 21 and 23).

    In v-v the confidence is bounded by that of groups of exactly l; with `exact` it is counted from the true
    shares in each group of values.

    Stops: concluding that somebody has a value somewhere, or several times, from all vertices together.
    Does not stop: what rules do not speak of.
    """

    rules: tuple[Rule, ...]
    exact: bool = False

    name: ClassVar[str] = "pm-privacy"
    kinds: ClassVar[tuple[str, ...]] = KINDS
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self)
        if not self.rules:
            raise PolicyError(f"{self.name}: at least one rule, each with value, m and p")

    def guarded(self) -> tuple[tuple[str, str, str | None], ...]:
        return tuple(("rules", rule.attribute, rule.value) for rule in self.rules if rule.value != ANY)

    def check(self, publication: Publication, l: int) -> Verdict:
        """`l` is that of the promise, whatever the publication says of itself."""
        whole = anatomy_audit.audit(publication, l, Rules(self.rules), exact=self.exact)
        shapes = set(anatomy_audit.audit(publication, l).findings)
        broken = {finding.group for finding in whole.findings if finding not in shapes}
        return self._verdict(whole.confidence, len(broken), _people(publication, broken))

    def _verdict(self, confidence: Mapping[Rule, Fraction], broken: int, at_risk: int) -> Verdict:
        # A group that cannot be read as one has no confidence of its own; anatomy-l-diversity says so.
        return Verdict({"p": max(confidence.values(), default=Fraction(0))}, broken, at_risk)


WHOLE = (DocumentDiversity, DocumentAnonymity)  # promises about trees that are published whole


def _people(publication: Publication, groups: Iterable[str]) -> int:
    wanted = set(groups)
    return sum(len(group) for group in publication.groups if group.id in wanted)
