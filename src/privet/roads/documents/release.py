"""Published documents as a release: in the form in which they came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from privet.core import Form
from privet.document.forest import Vertex
from privet.engine import Engine
from privet.engines.documents.tables import Keys, to_frames
from privet.evidence.values import Evidence
from privet.policy.values import Policy
from privet.release import Release
from privet.roads.documents.data import TABLES, Leaving, Written, read_again, shape_of
from privet.roads.stations import Passed


@dataclass(frozen=True, kw_only=True)
class AsideRelease(Release):
    """What lies ready in a folder of its own, to be copied to where it is published."""

    engine: Engine[Any] = field(repr=False)
    aside: Leaving = field(repr=False)
    written: Written = field(repr=False)

    @classmethod
    def of(cls, passed: Passed[Any, Any, Any, Any], evidence: Evidence, private: Mapping[str, Any]) -> Self:
        """At the end of a road on which `files` lie aside in a `form`."""
        return cls(
            policy=passed.policy,
            verdicts=passed.verdicts,
            evidence=evidence,
            engine=passed.asked.engine,
            aside=passed.leaving.files,
            written=passed.leaving.form,
            private=private,
        )

    def write_data(self, folder: Path) -> dict[str, Any]:
        return self.aside.copied(folder)

    def published_policy(self) -> Policy:
        """The policy without hierarchies: their leaves are raw values, and nobody needs them to check."""
        return published_policy(self.policy, self.written)


@dataclass(frozen=True, kw_only=True)
class DocumentRelease(AsideRelease):
    """Published trees, as a file or as tables, and the evidence that they keep the policy."""

    def records(self) -> Iterator[Vertex]:
        """The published records, one at a time."""
        yield from read_again(self.aside.folder, self.aside.notes, self.published_policy(), self.engine)

    def to_frames(self) -> dict[str, Any]:
        """A polars frame for each type, joined by running numbers `record` and `parent`."""
        schema = shape_of(self.published_policy()).schema
        keys = {
            kind.name: Keys("record", None if kind.name == schema.root else "parent") for kind in schema.kinds
        }
        return to_frames(self.records(), schema, keys)

    def to_polars(self) -> Any:
        """The roots of the records; `to_frames` has what stands below them, too."""
        return self.to_frames()[shape_of(self.policy).schema.root]


def published_policy(policy: Policy, written: Written) -> Policy:
    shape = shape_of(policy).published()
    shape = replace(shape, schema=written.schema(shape.schema))
    form = written.form if written.kind == TABLES else Form(format=written.kind, nulls=())
    return replace(policy, shape=shape, attributes=shape.attributes, form=form)
