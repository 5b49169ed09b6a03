"""What can be promised about trees that are published whole: checked on what is about to leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from privet.core import Verdict
from privet.document.audit import TreeVerdict, audit
from privet.document.forest import Vertex
from privet.document.schema import Schema
from privet.errors import PolicyError


@dataclass(frozen=True, slots=True)
class DocumentDiversity:
    """Every tree is one of at least `l` that are alike but for sensitive values, and at no vertex has one of
    these a share above 1/l (Ozalp 2017, definitions 12 to 17).

    Stops: finding a person's record, or a sensitive value of one of its vertices, with a chance above 1/l,
    whatever is known of quasi-identifiers and structure.
    Does not stop: learning that a value occurs *somewhere* in a tree, when it does in all of a class.
    """

    l: int

    name: ClassVar[str] = "document-l-diversity"
    diverse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.l < 2:
            raise PolicyError(f"{self.name}: l is at least 2; with 1 nothing is promised")

    @property
    def size(self) -> int:
        """How many records a class must have."""
        return self.l

    def check(self, schema: Schema, release: Iterable[Vertex]) -> Verdict:
        found = audit(schema, release, self.l)
        return Verdict(
            {"k": found.k, "l": found.l}, found.small + found.broken + found.undecided, found.at_risk
        )

    def nearest(self, found: TreeVerdict) -> Self:
        """The promise that a release of this verdict would have kept."""
        return replace(self, l=max(found.l, 2))


@dataclass(frozen=True, slots=True)
class DocumentAnonymity:
    """Every tree is one of at least `k` that are alike but for sensitive values.

    Stops: finding a person's record with a chance above 1/k.
    Does not stop: learning a sensitive value that a whole class has at a vertex; see document-l-diversity.
    """

    k: int

    name: ClassVar[str] = "document-k-anonymity"
    diverse: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.k < 2:
            raise PolicyError(f"{self.name}: k is at least 2; with 1 nothing is promised")

    @property
    def size(self) -> int:
        """How many records a class must have."""
        return self.k

    def check(self, schema: Schema, release: Iterable[Vertex]) -> Verdict:
        found = audit(schema, release, self.k, steps=0)
        return Verdict({"k": found.k}, found.small, found.alone)

    def nearest(self, found: TreeVerdict) -> Self:
        """The promise that a release of this verdict would have kept."""
        return replace(self, k=max(found.k, 2))
