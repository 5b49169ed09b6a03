"""A published table as a release: how it is written, and what of it stays with the steward."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privet import parts
from privet.core import Form
from privet.engine import Ahead, Engine, suffix
from privet.evidence import notes as ev
from privet.hierarchy import Tree
from privet.policy.values import Policy
from privet.recoding import Generalization, Perturbation, Recoding, Regions
from privet.release import Release
from privet.roads.stations import in_frame


@dataclass(frozen=True, kw_only=True)
class TableRelease(Release):
    """A published table and the evidence that it keeps the policy."""

    table: Any = field(repr=False)
    engine: Engine[Any] = field(repr=False)
    recoding: Recoding = field(repr=False)
    form: Form = field(repr=False)

    def to_polars(self) -> Any:
        """The data as a polars frame."""
        return in_frame(self.engine, self.table)

    def write_data(self, folder: Path) -> dict[str, Any]:
        data = f"data{suffix(self.form)}"
        self.engine.write(self.table, folder / data, self.form)
        several = {"parts": len(parts.listed(folder / data))} if (folder / data).is_dir() else {}
        return {"file": data, **several, **ev.form_notes(self.form)}

    def digest(self, data: Path) -> str:
        return self.engine.digest(data) if isinstance(self.engine, Ahead) else super().digest(data)

    def published_policy(self) -> Policy:
        """The policy without the leaves of its trees: they are raw values, and nobody needs them to check."""
        attributes = tuple(
            replace(a, hierarchy=_pruned(a.hierarchy, a.name, self.recoding))
            if isinstance(a.hierarchy, Tree)
            else a
            for a in self.policy.attributes
        )
        # A query may name persons, and nobody needs it to check.
        return replace(self.policy, attributes=attributes, form=self.form)

    def private_notes(self) -> dict[str, Any]:
        steps = [
            {
                "attribute": step.attribute,
                "label": step.label,
                "children": list(step.children),
                "score": step.score,
                "performed": step.performed,
                "reason": step.reason,
                "cut": list(cut),
            }
            for step, cut in zip(self.steps, ev.cuts_after(self.steps), strict=True)
        ]
        return {**self.private, "steps": steps}


def _pruned(tree: Tree, name: str, recoding: Recoding) -> Tree:
    match recoding:
        case Generalization():
            return tree.pruned(recoding.cuts[name].labels) if name in recoding.cuts else tree
        case Regions() | Perturbation():
            # Only what a published record has: a label of suppressed records alone would tell of them.
            return tree.above(recoding.labels_of(name))
